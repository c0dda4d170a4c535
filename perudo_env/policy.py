"""The protocol of everything that chooses actions, and the simplest such thing."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from perudo_env.engine.draw import choose_rows, legal_rows
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
        return sample(ask_probs(self, observations, masks), rng)


class UniformPolicy(SampledPolicy):
    """Every legal action is equally likely. It needs to know no table, and takes one as other agents do."""

    def __init__(
        self, variant: Variant | str | None = None, num_seats: int | None = None, layout: Layout | None = None
    ) -> None:
        pass

    def probs(self, observations: Int8Array, masks: Int8Array) -> npt.NDArray[np.float64]:
        """The mask, normalised."""
        return masks / masks.sum(axis=1, keepdims=True)

    def act(self, observations: Int8Array, masks: Int8Array, rng: np.random.Generator) -> npt.NDArray[np.int64]:
        """Draw one legal action a row."""
        return sample_legal(masks, rng)


def sample(probs: npt.NDArray[np.float64], rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """Draw an index per row of ``(batch, n)`` probabilities; never one with probability 0.

    Raises ``ValueError`` for a row that is none: a weight below 0, nan or infinite ones, or nothing above 0.
    """
    chosen = np.empty(len(probs), np.int64)
    bad = choose_rows(np.ascontiguousarray(probs), rng.random(len(probs)), chosen)
    if bad >= 0:
        raise ValueError(
            f"no distribution to draw from: row {bad} of the probabilities sums to {probs[bad].sum()}, its least is {probs[bad].min()}"
        )
    return chosen


def sample_legal(masks: Int8Array, rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """Draw an action per row of ``(batch, n)`` masks, all legal ones equally likely; -1 where there is none."""
    chosen = np.empty(len(masks), np.int64)
    legal_rows(np.ascontiguousarray(masks, np.int8), rng.random(len(masks)), chosen)
    return chosen
