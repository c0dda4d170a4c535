"""The protocol of everything that chooses actions, and the simplest such thing."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from perudo_env.engine.observation import Layout
from perudo_env.engine.variant import Variant
from perudo_env.game.asking import ask_probs

Int8Array = npt.NDArray[np.int8]


@runtime_checkable
class Policy(Protocol):
    """Chooses actions for many tables at once, from what the seats to act may see.

    ``observations`` are int8 ``(batch, layout.size)``, ``masks`` int8 ``(batch, num_actions)`` with at least one 1 a row.
    """

    def act(self, observations: Int8Array, masks: Int8Array, rng: np.random.Generator) -> npt.NDArray[np.int64]:
        """Legal action ids, int64 ``(batch,)``."""
        ...

    def probs(self, observations: Int8Array, masks: Int8Array) -> npt.NDArray[np.float64]:
        """The distribution that :meth:`act` draws from, ``(batch, num_actions)``: rows sum to 1, illegal actions have 0."""
        ...


class SampledPolicy:
    """A base for policies that state ``probs`` and draw from them."""

    def probs(self, observations: Int8Array, masks: Int8Array) -> npt.NDArray[np.float64]:
        """The distribution over actions; see :class:`Policy`."""
        raise NotImplementedError

    def act(self, observations: Int8Array, masks: Int8Array, rng: np.random.Generator) -> npt.NDArray[np.int64]:
        """Draw one action a row; raises ``AnswerError`` if the probabilities are no distribution over legal actions."""
        return _draw(np.cumsum(ask_probs(self, observations, masks), axis=1), rng)


class UniformPolicy(SampledPolicy):
    """Every legal action is equally likely. It needs to know no table, and takes one as other agents do."""

    def __init__(
        self, variant: Variant | str | None = None, num_seats: int | None = None, layout: Layout | None = None
    ) -> None:
        pass

    def probs(self, observations: Int8Array, masks: Int8Array) -> npt.NDArray[np.float64]:
        """The mask, normalised."""
        return masks / masks.sum(axis=1, keepdims=True)


def sample(probs: npt.NDArray[np.float64], rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """Draw an index per row of ``(batch, n)`` probabilities; never one with probability 0.

    Raises ``ValueError`` for a row that is none: a weight below 0, nan or infinite ones, or nothing above 0.
    """
    cumulative = np.cumsum(probs, axis=1)
    total = cumulative[:, -1]
    if not ((total > 0) & (total < np.inf)).all() or probs.min(initial=0) < 0:
        raise ValueError(
            f"no distribution to draw from: rows of probabilities sum to {total.min()} to {total.max()}, the least is {probs.min()}"
        )
    return _draw(cumulative, rng)


def _draw(cumulative: npt.NDArray[np.float64], rng: np.random.Generator) -> npt.NDArray[np.int64]:
    # (0, total]: a draw of 0 would choose a leading action of probability 0
    draws = (1.0 - rng.random(len(cumulative))) * cumulative[:, -1]
    return (cumulative >= draws[:, None]).argmax(axis=1)
