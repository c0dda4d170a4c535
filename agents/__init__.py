"""Things that choose actions: every agent is a ``perudo_env.policy.Policy``, made for a table by :func:`make`."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

from agents.checkpoint import read_about
from perudo_env.policy import Policy
from perudo_env.variant import Variant, as_variant, nearest, table_size

BASELINES: dict[str, str] = {
    "uniform": "perudo_env.policy:UniformPolicy",
    "odds": "agents.odds:OddsPolicy",
    "threshold": "agents.threshold:ThresholdPolicy",
    "bluffer": "agents.bluffer:BlufferPolicy",
    "inference": "agents.inference:InferencePolicy",
}
"""The scripted agents: name -> ``module:class``. They read every table, so take no arguments."""

LOADERS: dict[str, str] = {
    "mlp": "agents.neural:load_policy",
    "tabular": "agents.tabular:load_policy",
    "recall": "agents.tabular:load_policy",  # tables of players who remember the last bids only
}
"""How learned agents are read: the ``kind`` in a folder's ``policy.json`` -> ``module:function(folder, variant, num_seats)``."""

CHECKPOINTS = Path(__file__).parent / "checkpoints"
"""Shipped checkpoints: each folder's name is the name of an agent."""


def make(name_or_path: str | Path, variant: Variant | str, num_seats: int) -> Policy:
    """The agent of a name, a checkpoint folder, or ``package.module:factory``, for a table of ``num_seats``.

    A factory is called as ``factory(variant, num_seats)``. Raises ``ValueError`` for anything else, naming the
    nearest known name, and for whatever does not give a Policy.
    """
    variant, num_seats = as_variant(variant), table_size(num_seats)
    text = str(name_or_path)
    if text in BASELINES:
        return _policy(text, _imported(BASELINES[text])())
    if Path(text).is_dir():
        return load(text, variant, num_seats)
    if text in names():
        return load(CHECKPOINTS / text, variant, num_seats)
    if ":" in text:
        return _policy(text, _imported(text)(variant, num_seats))
    raise ValueError(
        f"unknown agent {text!r}{nearest(text, names())}: use one of {', '.join(names())}, a checkpoint folder, or package.module:factory"
    )


def load(folder: str | Path, variant: Variant | str, num_seats: int) -> Policy:
    """The learned agent in a checkpoint folder, for a table of ``num_seats``.

    The folder's ``policy.json`` says of which ``kind`` it is. Raises ``ValueError`` if there is none that is known.
    """
    variant, num_seats = as_variant(variant), table_size(num_seats)
    card = Path(folder) / "policy.json"
    if not card.is_file():
        raise ValueError(f"{str(folder)!r} is not a checkpoint folder: it has no policy.json")
    kind = read_about(card.parent).get("kind")
    if not isinstance(kind, str) or kind not in LOADERS:
        raise ValueError(f"{card} has kind {kind!r}{nearest(str(kind), LOADERS)}: the kinds known are {', '.join(LOADERS)}")
    return _policy(str(folder), _imported(LOADERS[kind])(Path(folder), variant, num_seats))


def names() -> tuple[str, ...]:
    """The agents that have a name: the scripted ones, then the shipped checkpoints."""
    shipped = sorted(p.parent.name for p in CHECKPOINTS.glob("*/policy.json"))
    return (*BASELINES, *shipped)


def _imported(path: str) -> Any:
    module, _, attribute = path.partition(":")
    try:
        found = getattr(import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise ValueError(f"agent {path!r} cannot be imported as package.module:factory: {error}") from error
    if not callable(found):
        raise ValueError(f"agent {path!r} is not callable: give a factory of (variant, num_seats)")
    return found


def _policy(name: str, made: Any) -> Policy:
    if not isinstance(made, Policy):
        raise ValueError(
            f"agent {name!r} gave {type(made).__name__}, which has no act and probs: it is not a Policy"
        )
    return made


__all__ = ["BASELINES", "CHECKPOINTS", "LOADERS", "load", "make", "names"]
