"""Random choices of actions, a row each: of a legal one, or by given probabilities. The draws come from outside, in [0, 1)."""

from __future__ import annotations

import numpy as np

from perudo_env.engine.jit import kernel


@kernel
def rank_of_draw(draw: float, count: int) -> int:
    """Which of ``count`` equally likely things, from 0, a draw means; the order is that of :func:`choose`."""
    return int(np.ceil((1.0 - draw) * count)) - 1


@kernel
def nth_legal(mask: np.ndarray, n: int) -> int:
    """The ``n``-th action id, from 0, that ``mask`` allows; -1 if it allows fewer."""
    at, size = 0, mask.size
    # by eights while the one looked for lies further on
    while at + 8 <= size:
        here = 0
        for k in range(8):
            here += mask[at + k]
        if here > n:
            break
        n -= here
        at += 8
    for action in range(at, size):
        n -= mask[action]
        if n < 0:
            return action
    return -1


@kernel
def choose(probs: np.ndarray, draw: float) -> int:
    """An index drawn in proportion to ``probs``, never one of 0.

    Sums are of the type of ``probs``, from the first on, as ``numpy.cumsum`` forms them.
    """
    total = probs[0]
    for k in range(1, probs.size):
        total += probs[k]
    # (0, total]: a draw of 0 would choose a leading index of probability 0
    reach = (1.0 - draw) * total
    at, reached = 0, probs[0]
    while reached < reach and at + 1 < probs.size:
        at += 1
        reached += probs[at]
    return at


@kernel
def choose_rows(probs: np.ndarray, draws: np.ndarray, out: np.ndarray) -> int:
    """:func:`choose` for every row; returns the first row that is no distribution, or -1.

    That is one with a weight below 0 or none above, or with one that is not finite.
    """
    for i in range(draws.size):
        total, least = 0.0, 0.0
        for p in probs[i]:
            total += p
            least = min(least, p)
        if not 0.0 < total < np.inf or least < 0.0:
            return i
        out[i] = choose(probs[i], draws[i])
    return -1


@kernel
def legal_rows(masks: np.ndarray, draws: np.ndarray, out: np.ndarray) -> None:
    """One of the actions that each row of ``masks`` allows, all equally likely; -1 where there is none."""
    for i in range(draws.size):
        count = 0
        for action in range(masks.shape[1]):
            count += masks[i, action]
        out[i] = nth_legal(masks[i], rank_of_draw(draws[i], count)) if count > 0 else -1
