"""Things that choose actions: every agent is a ``perudo_env.policy.Policy``, made for a table by :func:`make`."""

from __future__ import annotations

import os
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.core.checkpoint import read_about
from agents.core.forgetful import remembering
from agents.core.mixture import MIX, MixturePolicy, read_mix, written_mix
from perudo_env.engine.observation import Layout
from perudo_env.engine.variant import Variant, as_variant, nearest, shown, table_size
from perudo_env.game.files import is_folder
from perudo_env.policy import Int8Array, Policy

BASELINES: dict[str, str] = {
    "uniform": "perudo_env.policy:UniformPolicy",
    "odds": "agents.scripted.odds:OddsPolicy",
    "threshold": "agents.scripted.threshold:ThresholdPolicy",
    "bluffer": "agents.scripted.bluffer:BlufferPolicy",
    "inference": "agents.scripted.inference:InferencePolicy",
}
"""The scripted agents: name -> ``module:class(variant, num_seats, layout)``."""

HELD_OUT: dict[str, str] = {
    f"held_out:{style.lower()}": f"agents.scripted.held_out:{style}"
    for style in ("Raiser", "Pacos", "Bully", "Copycat", "Calza", "Honest", "Nervous", "Fraction", "Moody")
}
"""Strangers: scripted agents to be judged against, never to be trained or tuned against; as ``BASELINES``."""

LOADERS: dict[str, str] = {
    "mlp": "agents.learned.neural:load_policy",
    "tabular": "agents.tabular.policy:load_policy",
    "recall": "agents.tabular.policy:load_policy",  # tables of players who remember the last bids only
}
"""How learned agents are read: the ``kind`` in a folder's ``policy.json`` -> ``module:function(folder, variant, num_seats, layout)``."""

SEARCH = "search:"
"""Before the name of an agent that states ``probs``: that agent, thinking ahead at every decision (``agents.search.policy``)."""

CHECKPOINTS = Path(__file__).parent / "checkpoints"
"""Shipped checkpoints: each folder's name is the name of an agent."""


def make(
    name_or_path: str | Path,
    variant: Variant | str,
    num_seats: int,
    layout: Layout | None = None,
    memory: str = "perfect",
) -> Policy:
    """The agent of a name, a checkpoint folder, or ``package.module:factory``, for a table of ``num_seats``.

    ``search:`` before one of these adds search; ``mix:exact=.5,table=.5`` asks several with these shares. A name that is
    known means that agent, whatever folders there are: ``./table`` is a folder beside it. A factory is called as
    ``factory(variant, num_seats)``; what it gives must have ``act``, and may have ``probs``. Where observations are padded
    to a larger ``layout`` (``Batch(pad_to=...)``), the policy is made for that, and a factory is called with it,
    ``layout=...``, besides. Agents read hidden dice counts where an observation holds them; with ``memory="none"`` they are
    never shown those. Raises ``ValueError`` for anything else, naming the nearest known name, and for whatever does not give
    a Policy; what a factory's own code raises is left as it is, with its traceback.
    """
    variant, num_seats = as_variant(variant), table_size(num_seats)
    return remembering(_made(name_or_path, variant, num_seats, layout), variant, num_seats, layout, memory)


def _made(name_or_path: str | Path, variant: Variant, num_seats: int, layout: Layout | None) -> Policy:
    text = str(name_or_path)
    if text.startswith(SEARCH):
        from agents.search.policy import SearchPolicy  # here: it costs a second, and most agents do without

        under = make(text.removeprefix(SEARCH), variant, num_seats, layout)
        if isinstance(under, ActOnly | SearchPolicy):
            raise ValueError(
                f"agent {text!r}: search needs an agent that states probs, and that does not search itself"
            )
        return SearchPolicy(under, variant, num_seats, layout=layout)
    if text.startswith(MIX):
        shares = read_mix(text)
        parts = {name: (make(name, variant, num_seats, layout), share) for name, share in shares.items()}
        silent = [name for name, (policy, _) in parts.items() if isinstance(policy, ActOnly)]
        if silent:
            raise ValueError(f"agent {text!r}: {silent[0]} states no probabilities, so nothing can be mixed with it")
        return _policy(text, MixturePolicy(parts))
    folder = folder_of(name_or_path)
    if folder is not None:
        return load(folder, variant, num_seats, layout)
    scripted = BASELINES | HELD_OUT
    if text in scripted:
        return _policy(text, _imported(scripted[text])(variant, num_seats, layout))
    if text in names():
        return load(CHECKPOINTS / text, variant, num_seats, layout)
    if ":" in text and not text.startswith("held_out:"):
        return _policy(text, _called(text, variant, num_seats, layout))
    raise ValueError(_unknown(text))


def _unknown(text: str) -> str:
    return (
        f"unknown agent {shown(text)}{nearest(text, (*names(), *HELD_OUT))}: use one of {', '.join(names())}, "
        f"a stranger ({', '.join(HELD_OUT)}), a checkpoint folder, or package.module:factory"
    )


def folder_of(name_or_path: str | Path) -> Path | None:
    """The checkpoint folder that is meant, None where a name or a factory is.

    A text with a separator, or one that begins with ``.`` or ``~``, is a path, and so is a ``Path``; any other text is a
    folder only if no agent has that name.
    """
    text = str(name_or_path)
    separators = os.sep, os.altsep or os.sep
    like_a_path = isinstance(name_or_path, Path) or text.startswith((".", "~")) or any(s in text for s in separators)
    if not text or not (like_a_path or text not in (*names(), *HELD_OUT)):  # "" would be the current folder
        return None
    folder = Path(text).expanduser()
    return folder if is_folder(folder) else None


def anywhere(name: str) -> str:
    """The same agent by a name that means it in any folder."""
    if name.startswith(SEARCH):
        return SEARCH + anywhere(name.removeprefix(SEARCH))
    if name.startswith(MIX):
        return written_mix({anywhere(part): share for part, share in read_mix(name).items()})
    folder = folder_of(name)
    return name if folder is None else str(folder.resolve())


def load(
    folder: str | Path,
    variant: Variant | str,
    num_seats: int,
    layout: Layout | None = None,
    memory: str = "perfect",
) -> Policy:
    """The learned agent in a checkpoint folder, for a table of ``num_seats``, whose observations may be padded to ``layout``.

    The folder's ``policy.json`` says of which ``kind`` it is. ``memory`` is as for :func:`make`. Raises ``ValueError`` if
    there is none that is known.
    """
    variant, num_seats = as_variant(variant), table_size(num_seats)
    card = Path(folder) / "policy.json"
    if not card.is_file():
        raise ValueError(f"{str(folder)!r} is not a checkpoint folder: it has no policy.json")
    kind = read_about(card.parent).get("kind")
    if not isinstance(kind, str) or kind not in LOADERS:
        raise ValueError(
            f"{card} has kind {shown(kind)}{nearest(str(kind), LOADERS)}: the kinds known are {', '.join(LOADERS)}"
        )
    loaded = _policy(str(folder), _imported(LOADERS[kind])(Path(folder), variant, num_seats, layout))
    return remembering(loaded, variant, num_seats, layout, memory)


def names() -> tuple[str, ...]:
    """The agents that have a name: the scripted ones, then the shipped checkpoints; without the strangers, ``HELD_OUT``."""
    shipped = sorted(p.parent.name for p in CHECKPOINTS.glob("*/policy.json"))
    return (*BASELINES, *shipped)


def _imported(path: str) -> Any:
    module, _, attribute = path.partition(":")
    try:
        found = getattr(import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise ValueError(
            f"agent {shown(path)} cannot be imported as package.module:factory: {str(error)[:200]}"
        ) from error
    if not callable(found):
        raise ValueError(f"agent {path!r} is not callable: give a factory of (variant, num_seats)")
    return found


def _called(path: str, variant: Variant, num_seats: int, layout: Layout | None) -> Any:
    padded = {} if layout is None else {"layout": layout}  # most factories know of no other layout than their table's
    try:
        return _imported(path)(variant, num_seats, **padded)
    except TypeError as error:
        raise ValueError(
            f"agent {path!r} could not be made by calling it with ({', '.join(('variant', 'num_seats', *padded))}): {error}"
        ) from error


class ActOnly:
    """A policy that chooses but states no probabilities; ``probs`` raises ``NotImplementedError``."""

    def __init__(self, name: str, chooser: Any) -> None:
        self.name, self.chooser = name, chooser

    def act(self, observations: Int8Array, masks: Int8Array, rng: np.random.Generator) -> npt.NDArray[np.int64]:
        """As the chooser acts."""
        actions: npt.NDArray[np.int64] = self.chooser.act(observations, masks, rng)
        return actions

    def probs(self, observations: Int8Array, masks: Int8Array) -> npt.NDArray[np.float64]:
        """None: raises ``NotImplementedError``."""
        raise NotImplementedError(f"agent {self.name!r} has no probs, the probabilities of its actions")


def _policy(name: str, made: Any) -> Policy:
    if isinstance(made, type) or not callable(getattr(made, "act", None)):
        what = (
            f"the class {made.__name__}, not one of it"
            if isinstance(made, type)
            else f"{type(made).__name__}, which has no act"
        )
        raise ValueError(f"agent {name!r} gave {what}: it is not a Policy")
    if not isinstance(made, Policy):
        return ActOnly(name, made)
    if not getattr(made, "name", ""):
        with suppress(AttributeError):  # for messages alone: an agent may have slots, or be frozen
            made.name = name  # type: ignore[attr-defined]
    return made


__all__ = ["BASELINES", "CHECKPOINTS", "HELD_OUT", "LOADERS", "anywhere", "folder_of", "load", "make", "names"]
