"""The legal bids after every standing bid, as tables: the rules fill them once per kind of table, and a batch reads them."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from perudo_env.engine.actions import FIRST_BID, num_actions
from perudo_env.engine.jit import inlined, kernel
from perudo_env.engine.rules import Reason, Record, fill_mask, max_quantity, why_illegal_call
from perudo_env.engine.state import Phase, new_states
from perudo_env.engine.variant import MAX_FACES, Variant


class LegalBids(NamedTuple):
    """Which bids may follow a standing bid, ``[is_palifico, standing]``; ``standing`` is 0 at the opening, else the bid's place + 1.

    A bid's place is its id - ``FIRST_BID``. The dice of a full table are assumed; fewer only cut the highest quantities off.
    """

    masks: npt.NDArray[np.int8]  # (2, 1 + bids, bids): 1 where the bid is legal
    ids: npt.NDArray[np.int16]  # (2, 1 + bids, bids): the action ids of the legal ones, ascending; then zeros
    counts: npt.NDArray[np.int16]  # (2, 1 + bids, quantities + 1): how many legal ones have at most this quantity


@cache
def legal_bids(variant: Variant, num_seats: int) -> LegalBids:
    """The tables of a variant at a table of ``num_seats``."""
    quantities = variant.max_quantity(num_seats)
    bids = MAX_FACES * quantities
    states = new_states(variant, num_seats, variant.total_at_start(num_seats), 0)
    states["dice"][:, :num_seats] = variant.starting_dice
    legal = LegalBids(
        np.zeros((2, 1 + bids, bids), np.int8),
        np.zeros((2, 1 + bids, bids), np.int16),
        np.zeros((2, 1 + bids, quantities + 1), np.int16),
    )
    fill_tables(states, np.empty(num_actions(quantities), np.int8), legal)
    return legal


@kernel
def fill_tables(states: np.ndarray, mask: np.ndarray, legal: LegalBids) -> None:
    """Ask the rules about every standing bid in the one record of ``states``; ``mask`` is scratch."""
    s = states[0]
    s["phase"] = Phase.BID
    for palifico in range(2):
        s["is_palifico"] = palifico
        for standing in range(legal.masks.shape[1]):
            s["num_bids"] = min(standing, 1)
            s["bids"][0] = FIRST_BID + standing - 1
            fill_mask(s, mask)
            count = 0
            for place in range(legal.masks.shape[2]):
                if mask[FIRST_BID + place]:
                    legal.masks[palifico, standing, place] = 1
                    legal.ids[palifico, standing, count] = FIRST_BID + place
                    count += 1
                legal.counts[palifico, standing, place // MAX_FACES + 1] = count


@inlined
def standing_of(s: Record) -> int:
    """The second index of the tables."""
    return s["bids"][s["num_bids"] - 1] - FIRST_BID + 1 if s["num_bids"] > 0 else 0


@inlined
def read_mask(s: Record, masks: np.ndarray, counts: np.ndarray, mask: np.ndarray) -> int:
    """:func:`fill_mask`, with the bids read from the tables ``masks`` and ``counts``."""
    phase = s["phase"]
    count = 0
    for action in range(FIRST_BID):
        may = phase != Phase.OVER and why_illegal_call(s, action) == Reason.LEGAL
        mask[action] = may
        count += may
    palifico, standing = s["is_palifico"], standing_of(s)
    most = max_quantity(s) if phase == Phase.BID else 0
    end = MAX_FACES * most
    for place in range(end):
        mask[FIRST_BID + place] = masks[palifico, standing, place]
    for action in range(FIRST_BID + end, mask.size):
        mask[action] = 0
    return count + counts[palifico, standing, most]


@inlined
def count_legal(s: Record, counts: np.ndarray) -> int:
    """How many action ids are legal, by the table ``counts``; 0 when the game is over."""
    if s["phase"] == Phase.OVER:
        return 0
    count = 0
    for action in range(FIRST_BID):
        count += why_illegal_call(s, action) == Reason.LEGAL
    most = max_quantity(s) if s["phase"] == Phase.BID else 0
    return count + counts[s["is_palifico"], standing_of(s), most]


@inlined
def nth_action(s: Record, ids: np.ndarray, n: int) -> int:
    """The ``n``-th legal action id, from 0, by the table ``ids``; ``n`` is below :func:`count_legal`."""
    for action in range(FIRST_BID):
        if why_illegal_call(s, action) == Reason.LEGAL:
            if n == 0:
                return action
            n -= 1
    return ids[s["is_palifico"], standing_of(s), n]
