"""Estimates of what decisions are worth, from a critic and from what was paid in the end; gamma is 1.

Each seat's decisions are followed from own turn to own turn. ``who`` names each decision's seat at its table, in the order
of play; ``pay`` is what that seat is paid at the end.
"""

from __future__ import annotations

import numpy as np

from perudo_env.engine.jit import kernel


@kernel
def advantages(values: np.ndarray, who: np.ndarray, pay: np.ndarray, trace: float, out: np.ndarray) -> None:
    """Write the generalised advantage of each decision (Schulman et al. 2016), given its state's value."""
    following, carried = pay.copy(), np.zeros(pay.size)
    for k in range(values.size - 1, -1, -1):
        w = who[k]
        carried[w] = following[w] - values[k] + trace * carried[w]
        following[w] = values[k]
        out[k] = carried[w]


@kernel
def expected_sarsa(
    values: np.ndarray,
    chosen: np.ndarray,
    cuts: np.ndarray,
    who: np.ndarray,
    pay: np.ndarray,
    trace: float,
    out: np.ndarray,
) -> None:
    """Write the Expected-SARSA(lambda) target of each decision (Fan and Farina 2026, arXiv 2605.19235).

    ``values`` are the policy's mean over the critic's action values at each decision, ``chosen`` the value of the action
    taken, ``cuts`` what is left of a trace that passes it: min(1, pi / mu) where another policy mu has chosen (Munos et
    al. 2016, Retrace). What the policy would do next is averaged, not sampled.
    """
    following, carried = pay.copy(), np.zeros(pay.size)
    for k in range(values.size - 1, -1, -1):
        w = who[k]
        out[k] = following[w] + trace * carried[w]
        carried[w] = cuts[k] * (out[k] - chosen[k])
        following[w] = values[k]
