"""The observation of one seat, as 0/1 numbers: its layout, as a named table, and its encoder.

The observation is rotated: relative seat 0 is the viewer, 1 the next seat clockwise. It holds nothing that a player at
the table does not know: by default that is a player who remembers every lost die, and so all dice counts. A layout depends on the seats and the highest quantity alone; encoding a small table into the
layout of a larger one leaves the rows of absent seats and quantities empty, so one network can play every table.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import prod

import numpy as np

from perudo_env.engine.actions import FIRST_BID, face_of
from perudo_env.engine.jit import inlined
from perudo_env.engine.rules import Record
from perudo_env.engine.state import NOBODY, Phase
from perudo_env.engine.variant import MAX_FACES, MAX_STARTING_DICE, SWITCHES, Variant, switch_values


@dataclass(frozen=True)
class Block:
    """One named part of an observation; a dimension is a number, or ``seats`` or ``quantities`` of the layout."""

    name: str
    dims: tuple[int | str, ...]
    says: str


_NUM_VALUES = np.array([len(switch_values(s)) for s in SWITCHES])
_NUM_SWITCH_BITS = int(_NUM_VALUES.sum())
# [c, k] 1 where c dice are more than k
_UNARY = np.tri(MAX_STARTING_DICE + 1, MAX_STARTING_DICE, -1, np.int8)

LAYOUT: tuple[Block, ...] = (
    Block("hand", (MAX_FACES, MAX_STARTING_DICE), "[f, k] own dice show face f + 1 more than k times"),
    Block(
        "dice",
        ("seats", MAX_STARTING_DICE),
        "[r, k] relative seat r has more than k dice; hidden counts without memory: own row only",
    ),
    Block("alive", ("seats",), "relative seat r still has dice"),
    Block("opener", ("seats",), "who opened this round"),
    Block("bidder", ("seats",), "who made the standing bid"),
    Block("palifico_spent", ("seats",), "who may have no more palifico round (palifico = once)"),
    Block("is_palifico", (1,), "this is a palifico round"),
    Block("locked_face", (MAX_FACES,), "the face that the opening bid of a palifico round fixed"),
    Block("calza_window", (1,), "the seats are asked for Calza before the bid may be raised (calza = anyone)"),
    Block("switches", (_NUM_SWITCH_BITS,), "the variant: for each switch, in order, one bit per value"),
    Block("standing", ("quantities", MAX_FACES), "[q, f] the standing bid is (q + 1) x (f + 1)"),
    Block("bids", ("quantities", MAX_FACES, "seats"), "[q, f, r] relative seat r bid (q + 1) x (f + 1) in this round"),
)


class Layout:
    """Where each block of ``LAYOUT`` lies for a number of seats and a highest quantity."""

    def __init__(self, num_seats: int, max_quantity: int) -> None:
        self.num_seats, self.max_quantity = num_seats, max_quantity
        sizes = {"seats": num_seats, "quantities": max_quantity}
        self.shapes = {b.name: tuple(sizes[d] if isinstance(d, str) else d for d in b.dims) for b in LAYOUT}
        self.slices: dict[str, slice] = {}
        at = 0
        for name, shape in self.shapes.items():
            self.slices[name] = slice(at, at + prod(shape))
            at += prod(shape)
        self.size = at

    def get(self, observations: np.ndarray, name: str) -> np.ndarray:
        """A block of ``(..., size)`` observations, reshaped to ``(..., *block shape)``; a view where NumPy can."""
        return observations[..., self.slices[name]].reshape(*observations.shape[:-1], *self.shapes[name])


@cache
def layout(num_seats: int, max_quantity: int) -> Layout:
    """The layout for a table of ``num_seats`` at which at most ``max_quantity`` may be bid."""
    return Layout(num_seats, max_quantity)


def table_layout(variant: Variant, num_seats: int, pad_to: Layout | None = None) -> Layout:
    """The layout of a table's observations: its own, or the larger one ``pad_to`` that they are written in.

    Raises ``ValueError`` if that does not hold the table.
    """
    quantity = variant.max_quantity(num_seats)
    found = pad_to or layout(num_seats, quantity)
    if found.num_seats < num_seats or found.max_quantity < quantity:
        raise ValueError(
            f"pad_to holds {found.num_seats} seats and quantities to {found.max_quantity}: "
            f"this table needs {num_seats} and {quantity}"
        )
    return found


def switch_slices() -> dict[str, slice]:
    """Where each switch's bits lie inside the block ``switches``."""
    ends = np.cumsum(_NUM_VALUES)
    return {s: slice(int(e - n), int(e)) for s, e, n in zip(SWITCHES, ends, _NUM_VALUES, strict=True)}


@cache
def encode_switches(variant: Variant) -> np.ndarray:
    """The ``switches`` block of a variant, int8, read-only."""
    bits = np.zeros(_NUM_SWITCH_BITS, np.int8)
    for switch, where in switch_slices().items():
        bits[where.start + switch_values(switch).index(getattr(variant, switch))] = 1
    bits.flags.writeable = False
    return bits


@inlined
def relative(seat: int, viewer: int, num_seats: int) -> int:
    """A seat as the viewer counts: 0 is its own, 1 the next clockwise."""
    return seat - viewer + (num_seats if seat < viewer else 0)


@inlined
def encode(s: Record, viewer: int, switches: np.ndarray, seats: int, quantities: int, out: np.ndarray) -> None:
    """Write what ``viewer`` knows into the int8 row ``out``, by the layout of ``seats`` and ``quantities``.

    ``switches`` is :func:`encode_switches` of its variant. Blocks follow in LAYOUT's order.
    """
    out[:] = 0
    # read once: the compiler cannot know that what is written to out does not change the record
    n, dice, spent, bids, bidders = int(s["num_seats"]), s["dice"], s["palifico_spent"], s["bids"], s["bidders"]
    num_bids, shows_all = int(s["num_bids"]), s["counts_known"]
    for f in range(MAX_FACES):
        held = s["hands"][viewer, f]
        for k in range(MAX_STARTING_DICE):
            out[f * MAX_STARTING_DICE + k] = _UNARY[held, k]
    # a slice per block: places in it are plainly not negative, which spares a test at each
    cups = out[MAX_FACES * MAX_STARTING_DICE :]
    marks = cups[seats * MAX_STARTING_DICE :]
    for r in range(n):
        seat = viewer + r - (n if viewer + r >= n else 0)
        shown = dice[seat] if shows_all or r == 0 else 0
        for k in range(MAX_STARTING_DICE):
            cups[r * MAX_STARTING_DICE + k] = _UNARY[shown, k]
        marks[r] = dice[seat] > 0
        marks[3 * seats + r] = spent[seat]
    marks[seats + relative(s["opener"], viewer, n)] = 1
    if s["bidder"] != NOBODY:
        marks[2 * seats + relative(s["bidder"], viewer, n)] = 1
    flags = marks[4 * seats :]
    flags[0] = s["is_palifico"]
    if s["is_palifico"] and num_bids > 0:
        flags[face_of(bids[0])] = 1
    flags[1 + MAX_FACES] = s["phase"] == Phase.WINDOW
    for k in range(_NUM_SWITCH_BITS):
        flags[MAX_FACES + 2 + k] = switches[k]
    if num_bids == 0:
        return
    standing = flags[MAX_FACES + 2 + _NUM_SWITCH_BITS :]
    standing[bids[num_bids - 1] - FIRST_BID] = 1
    made = standing[quantities * MAX_FACES :]
    for i in range(num_bids):
        made[(bids[i] - FIRST_BID) * seats + relative(bidders[i], viewer, n)] = 1
