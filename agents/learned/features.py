"""Features and outputs of a network that plays every table: bids counted from what dice are expected to show.

Quantities are compared with an expectation, so that a bid of 9 at a table of 25 dice looks like one of 4 at a table of 10
and one small network can play all tables. Two origins are used:

* own: matches in the own hand + floor(dice of others x chance of a match), for what may be bid and for chances;
* public: floor(dice in play x chance of a match), for what has been bid.

A *cell* is a call or a (relative quantity, face); quantities beyond the window share its border row. The network gives a
logit per cell; the legal actions of a cell share its probability equally. Up to 5 v 5 nearly every bid has its own cell.
"""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from math import prod
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from agents.core.reading import SEEN, TAIL, Seen, chance_of_more, matches_in, read
from agents.core.seated import Sight
from perudo_env.engine.actions import FIRST_BID, PACO, face_of, quantity_of
from perudo_env.engine.jit import kernel
from perudo_env.engine.observation import LAYOUT, switch_slices
from perudo_env.engine.variant import MAX_FACES, MAX_SEATS, MAX_STARTING_DICE, switch_values
from perudo_env.policy import Int8Array

Float32Array = npt.NDArray[np.float32]

ROWS = 12  # relative quantities of the window
BELOW = 6  # how many of them lie below the origin
NUM_CELLS = FIRST_BID + ROWS * MAX_FACES
ROLES = 4  # who bid: me, the seat before me, the seat after me, anybody else
ME, BEFORE, AFTER, ELSE = range(ROLES)

_NUM_SWITCH_BITS = sum(s.stop - s.start for s in switch_slices().values())
_BLOCKS: dict[str, tuple[int, ...]] = {
    "hand": (MAX_FACES, MAX_STARTING_DICE),  # [f, k] own dice show face f + 1 more than k times
    "legal": (ROWS, MAX_FACES),  # [r, f] a bid of this cell, from the own origin, is legal
    "standing": (ROWS, MAX_FACES),  # the standing bid, from the own origin
    "holds": (2, ROWS),  # [p, r] chance that a bid of row r holds; p = 1: on Pacos
    "exactly": (2, ROWS),  # and that it is exact
    "standing_chances": (2,),  # that the standing bid holds, and that it is exact
    "history": (ROWS, MAX_FACES, ROLES),  # the bids of the round, from the public origin, with who made them
    "dice": (MAX_SEATS, MAX_STARTING_DICE),  # [j, k] the j-th living seat from the viewer has more than k dice
    "marks": (MAX_SEATS, 3),  # it opened, it made the standing bid, it may have no more palifico
    "highest": (MAX_SEATS, MAX_FACES),  # the row of its highest bid on a face, from the public origin, + 1, / ROWS
    "flags": (3 + MAX_FACES,),  # palifico, calza window, wild Pacos, the locked face
    "alive": (MAX_SEATS,),  # how many seats live, one-hot
    "totals": (2,),  # dice in play, dice of others, / 36
    "switches": (_NUM_SWITCH_BITS,),  # as in the observation, but dice_counts: public where the observation holds them
}
_SIZES = np.array([prod(shape) for shape in _BLOCKS.values()])
_STARTS = np.concatenate([[0], np.cumsum(_SIZES)])
NUM_INPUTS = int(_STARTS[-1])
(
    _HAND, _LEGAL, _STANDING, _HOLDS, _EXACTLY, _CHANCES, _HISTORY, _DICE, _MARKS, _HIGHEST, _FLAGS, _ALIVE, _TOTALS, _SWITCHES,
) = (int(s) for s in _STARTS[:-1])  # fmt: skip
SWITCHES_AT = _SWITCHES  # where the block of the switches begins
_COUNTS_PUBLIC, _COUNTS_HIDDEN = (
    SWITCHES_AT + switch_slices()["dice_counts"].start + switch_values("dice_counts").index(value)
    for value in ("public", "hidden")
)
_MOST_DICE = 36.0

_NAMES = [block.name for block in LAYOUT]
_SEEN_ALIVE, _SEEN_SPENT, _SEEN_SWITCHES = (_NAMES.index(n) for n in ("alive", "palifico_spent", "switches"))


@kernel
def expected(num_dice: int, wild: int, num_faces: int, face: int) -> int:
    """How many of ``num_dice`` fair dice match a face, rounded down."""
    return (num_dice * (2 if wild and face != PACO else 1)) // num_faces


@kernel
def row_of(quantity: int, origin: int) -> int:
    """The row of the window in which a quantity lies, from 0 to ``ROWS`` - 1."""
    return min(max(quantity - origin + BELOW, 0), ROWS - 1)


@kernel
def fill_chances(seen: Seen, tail: np.ndarray, own_origin: np.ndarray, out: np.ndarray) -> None:
    """Write the chances of each row, and of the standing bid."""
    for paco in range(2):
        face = PACO if paco else PACO + 1
        base = expected(seen["num_others"], seen["wild"], seen["num_faces"], face)
        for r in range(ROWS):
            needed = base + r - BELOW  # matches that the others must show
            at_least = chance_of_more(tail, seen, face, seen["num_others"], needed)
            more = chance_of_more(tail, seen, face, seen["num_others"], needed + 1)
            out[_HOLDS + paco * ROWS + r] = at_least
            out[_EXACTLY + paco * ROWS + r] = at_least - more
    if seen["num_bids"] > 0:
        bid = seen["bids"][seen["num_bids"] - 1]
        quantity, face = quantity_of(bid), face_of(bid)
        needed = quantity - matches_in(seen["own"], face, seen["wild"])
        at_least = chance_of_more(tail, seen, face, seen["num_others"], needed)
        out[_CHANCES] = at_least
        out[_CHANCES + 1] = at_least - chance_of_more(tail, seen, face, seen["num_others"], needed + 1)
        out[_STANDING + row_of(quantity, own_origin[face - 1]) * MAX_FACES + face - 1] = 1


@kernel
def fill_history(seen: Seen, place: np.ndarray, out: np.ndarray) -> None:
    """Write the bids of the round and each seat's highest; ``place`` is a relative seat's number among the living."""
    alive, dice = seen["num_alive"], seen["num_others"] + seen["dice"][0]
    for i in range(seen["num_bids"]):
        bid, who = seen["bids"][i], place[seen["bidders"][i]]
        face = face_of(bid)
        row = row_of(quantity_of(bid), expected(dice, seen["wild"], seen["num_faces"], face))
        role = ME if who == 0 else BEFORE if who == alive - 1 else AFTER if who == 1 else ELSE
        out[_HISTORY + (row * MAX_FACES + face - 1) * ROLES + role] = 1
        out[_HIGHEST + who * MAX_FACES + face - 1] = (row + 1) / ROWS
    if seen["num_bids"] > 0:
        out[_MARKS + place[seen["bidder"]] * 3 + 1] = 1
    if seen["opener"] >= 0 and place[seen["opener"]] >= 0:
        out[_MARKS + place[seen["opener"]] * 3] = 1


@kernel
def fill_seats(row: np.ndarray, starts: np.ndarray, seats: int, seen: Seen, place: np.ndarray, out: np.ndarray) -> None:
    """Number the living seats clockwise into ``place`` and write what each has."""
    living = 0
    for r in range(seats):
        place[r] = -1
        if row[starts[_SEEN_ALIVE] + r]:
            place[r] = living
            for k in range(seen["dice"][r]):
                out[_DICE + living * MAX_STARTING_DICE + k] = 1
            out[_MARKS + living * 3 + 2] = row[starts[_SEEN_SPENT] + r]
            living += 1
    if living > 0:
        out[_ALIVE + living - 1] = 1


@kernel
def encode_row(
    row: np.ndarray, mask: np.ndarray, starts: np.ndarray, seats: int, quantities: int, order: np.ndarray, tail: np.ndarray, seen: Seen,
    place: np.ndarray, own_origin: np.ndarray, out: np.ndarray, sizes: np.ndarray, cells: np.ndarray,
) -> None:  # fmt: skip
    """Write one row's inputs, the number of legal actions of each cell, and the cell of each action."""
    out[:] = 0
    sizes[:] = 0
    read(row, starts, seats, quantities, order, seen)
    for face in range(1, MAX_FACES + 1):
        own_origin[face - 1] = matches_in(seen["own"], face, seen["wild"]) + expected(
            seen["num_others"], seen["wild"], seen["num_faces"], face
        )
        for k in range(seen["own"][face - 1]):
            out[_HAND + (face - 1) * MAX_STARTING_DICE + k] = 1
    for action in range(mask.size):
        cell = action
        if action >= FIRST_BID:
            face = face_of(action)
            cell = FIRST_BID + row_of(quantity_of(action), own_origin[face - 1]) * MAX_FACES + face - 1
        cells[action] = cell
        if mask[action]:
            sizes[cell] += 1
            if action >= FIRST_BID:
                out[_LEGAL + cell - FIRST_BID] = 1
    fill_seats(row, starts, seats, seen, place, out)
    fill_chances(seen, tail, own_origin, out)
    fill_history(seen, place, out)
    out[_FLAGS] = seen["is_palifico"]
    out[_FLAGS + 1] = seen["in_window"]
    out[_FLAGS + 2] = seen["wild"]
    if seen["is_palifico"] and seen["num_bids"] > 0:
        out[_FLAGS + 3 + face_of(seen["bids"][0]) - 1] = 1
    out[_TOTALS] = (seen["num_others"] + seen["dice"][0]) / _MOST_DICE
    out[_TOTALS + 1] = seen["num_others"] / _MOST_DICE
    switches = starts[_SEEN_SWITCHES]
    for k in range(_NUM_SWITCH_BITS):
        out[_SWITCHES + k] = row[switches + k]
    # what is remembered is as good as what is seen: one game, one input
    out[_COUNTS_PUBLIC], out[_COUNTS_HIDDEN] = 1 - seen["counts_hidden"], seen["counts_hidden"]


@kernel
def encode_rows(
    observations: np.ndarray, masks: np.ndarray, starts: np.ndarray, seats: int, quantities: int, order: np.ndarray, tail: np.ndarray,
    scratch: np.ndarray, out: np.ndarray, sizes: np.ndarray, cells: np.ndarray,
) -> None:  # fmt: skip
    """:func:`encode_row` for every row."""
    place, own_origin = np.zeros(MAX_SEATS, np.int64), np.zeros(MAX_FACES, np.int64)
    for i in range(observations.shape[0]):
        encode_row(
            observations[i],
            masks[i],
            starts,
            seats,
            quantities,
            order,
            tail,
            scratch[0],
            place,
            own_origin,
            out[i],
            sizes[i],
            cells[i],
        )


class Encoded(NamedTuple):
    """Inputs of a network for every row, and how its answer becomes actions."""

    inputs: Float32Array  # (batch, NUM_INPUTS)
    sizes: npt.NDArray[np.int16]  # (batch, NUM_CELLS): how many legal actions each cell has
    cells: npt.NDArray[np.int16]  # (batch, num_actions): the cell of each action


def encode(observations: Int8Array, masks: Int8Array, at: Sight) -> Encoded:
    """The inputs and cells of ``(batch, size)`` observations of a table and their masks."""
    at.check(observations, masks)
    batch = len(observations)
    out = Encoded(
        np.empty((batch, NUM_INPUTS), np.float32),
        np.empty((batch, NUM_CELLS), np.int16),
        np.empty(masks.shape, np.int16),
    )
    encode_rows(observations, masks, *at.places, TAIL, np.zeros(1, SEEN), *out)
    return out


@kernel
def spread_rows(
    cell_probs: np.ndarray, sizes: np.ndarray, cells: np.ndarray, masks: np.ndarray, out: np.ndarray
) -> None:
    """Write the probability of each action: its cell's, shared by the cell's legal actions."""
    for i in range(masks.shape[0]):
        for action in range(masks.shape[1]):
            out[i, action] = cell_probs[i, cells[i, action]] / sizes[i, cells[i, action]] if masks[i, action] else 0.0


@kernel
def pick_rows(
    chosen: np.ndarray, cells: np.ndarray, masks: np.ndarray, draws: np.ndarray, sizes: np.ndarray, out: np.ndarray
) -> None:
    """Write a legal action of each row's chosen cell; ``draws`` in [0, 1) say which."""
    for i in range(masks.shape[0]):
        left = int(draws[i] * sizes[i, chosen[i]])
        for action in range(masks.shape[1]):
            if masks[i, action] and cells[i, action] == chosen[i]:
                if left == 0:
                    out[i] = action
                    break
                left -= 1


@cache
def hash_of_inputs(switch_bits: int = _NUM_SWITCH_BITS) -> str:
    """A short digest of the names and shapes of all inputs, for checkpoints to compare; theirs may know fewer switches."""
    blocks = {**_BLOCKS, "switches": (switch_bits,)}
    return sha256(repr((blocks, ROWS, BELOW, NUM_CELLS)).encode()).hexdigest()[:12]
