"""Critic features: all dice, which the critic sees in training and no player ever does.

A critic with all dice explains far more of a round's return than one with the own hand (Pinto et al., "Asymmetric Actor
Critic for Image-Based Robot Learning", 2018, is the idea); the actor it teaches sees only its own.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from agents.core.reading import matches_in
from agents.learned.features import BELOW, ROWS, expected
from perudo_env.engine.actions import FIRST_BID, quantity_of
from perudo_env.engine.batch import Batch
from perudo_env.engine.jit import kernel
from perudo_env.engine.rules import matches
from perudo_env.engine.variant import MAX_FACES, MAX_SEATS

NUM_INPUTS = MAX_SEATS * MAX_FACES + ROWS * MAX_FACES + 2


@kernel
def hindsight_rows(states: np.ndarray, rows: np.ndarray, out: np.ndarray) -> None:
    """Write, for the seat to act: the other living seats' hands clockwise, which bids hold, what the standing bid is."""
    out[:] = 0
    for k in range(rows.size):
        s = states[rows[k]]
        viewer, n = s["seat"], s["num_seats"]
        place, others = 0, 0
        for r in range(1, n):
            seat = (viewer + r) % n
            if s["dice"][seat] > 0:
                others += s["dice"][seat]
                for f in range(MAX_FACES):
                    out[k, place * MAX_FACES + f] = s["hands"][seat, f] / 3.0
                place += 1
        at = MAX_SEATS * MAX_FACES
        wild = s["pacos_wild"] and not s["is_palifico"]
        for f in range(s["num_faces"]):
            own = matches_in(s["hands"][viewer], f + 1, wild)
            showing = matches(s, FIRST_BID + f) - own - expected(others, wild, s["num_faces"], f + 1)
            for r in range(ROWS):
                out[k, at + r * MAX_FACES + f] = showing >= r - BELOW
        if s["num_bids"] > 0:
            bid = s["bids"][s["num_bids"] - 1]
            excess = matches(s, bid) - quantity_of(bid)
            out[k, at + ROWS * MAX_FACES] = excess >= 0
            out[k, at + ROWS * MAX_FACES + 1] = excess == 0


def all_dice(batch: Batch, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
    """The critic's extra inputs in ``rows``, float32 ``(num_rows, NUM_INPUTS)``."""
    out = np.empty((rows.size, NUM_INPUTS), np.float32)
    hindsight_rows(batch.states, rows, out)
    return out
