"""A reading of observations, as quantities: own dice, counts, bids in order, and the chance that each bid holds.

All reading of observations by scripted agents, and the derived inputs of learned ones, is here. Observations may be
padded to a larger layout: absent seats read as seats without dice, absent quantities are never bid.

Hidden dice counts: under ``dice_counts = hidden`` an observation holds the counts that a player who remembers every lost
die knows, and they are read. With ``memory="none"`` it shows only who is alive; each other living seat is then taken to hold 0.6 of the viewer's own dice and 0.28 of a full cup, rounded: the straight line through the means of
others' dice per own dice, 1.9 to 4.3 for 1 to 5, in 3,000 ``box`` games of threshold agents at 2, 4 and 6 seats. The
opener of a palifico round is taken to hold one die.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from agents.core.seated import Sight, sight
from perudo_env.engine.actions import FIRST_BID, MAX_BIDS, PACO
from perudo_env.engine.jit import kernel
from perudo_env.engine.observation import LAYOUT, Layout, switch_slices
from perudo_env.engine.variant import MAX_FACES, MAX_SEATS, MAX_STARTING_DICE, Variant, as_variant
from perudo_env.rulebook.chances import binomial

Int8Array = npt.NDArray[np.int8]
Float32Array = npt.NDArray[np.float32]
Seen = Any  # one np.void of SEEN; numba gives it its real type

NOBODY = -1
MAX_OTHERS = (MAX_SEATS - 1) * MAX_STARTING_DICE

SEEN = np.dtype(
    [
        ("own", np.int8, (MAX_FACES,)),  # own dice per face; column 0 holds the Pacos
        (
            "dice",
            np.int8,
            (MAX_SEATS,),
        ),  # dice per relative seat (0 is the viewer), assumed where hidden; 0: out or absent
        ("num_others", np.int16),  # dice of all other seats together, assumed where hidden
        ("num_alive", np.int8),  # seats with dice, the viewer included
        ("counts_hidden", np.int8),  # 1: the other counts in `dice` are assumed
        ("opener", np.int8),  # relative seat that opened the round; NOBODY if absent
        ("bidder", np.int8),  # relative seat of the standing bid; NOBODY before the opening bid
        ("is_palifico", np.int8),
        ("in_window", np.int8),  # 1: asked for Calza or pass before the bid may be raised
        ("wild", np.int8),  # 1: Pacos count for the other faces in this round
        ("num_faces", np.int8),
        ("starting_dice", np.int8),  # the most dice a seat may hold
        ("num_bids", np.int16),  # bids of this round
        ("bids", np.int16, (MAX_BIDS,)),  # their action ids, in the order in which they were made
        ("bidders", np.int8, (MAX_BIDS,)),  # the relative seats that made them
    ],
    align=True,
)

_NAMES = [block.name for block in LAYOUT]
_HAND, _DICE, _ALIVE, _OPENER, _BIDDER = map(_NAMES.index, ("hand", "dice", "alive", "opener", "bidder"))
_IS_PALIFICO, _WINDOW, _SWITCHES = map(_NAMES.index, ("is_palifico", "calza_window", "switches"))
_STANDING, _BIDS = map(_NAMES.index, ("standing", "bids"))

_STARTING_DICE_BITS = switch_slices()["starting_dice"].start
_NUM_FACES_BITS = switch_slices()["num_faces"].start
_PACOS_WILD_BITS = switch_slices()["pacos_wild"].start


def tail_table() -> npt.NDArray[np.float64]:
    """P(X >= k) of a binomial X over n dice, as ``[num_faces, wild, n, k]``; a die matches with chance (1 + wild) / num_faces."""
    table = np.zeros((MAX_FACES + 1, 2, MAX_OTHERS + 1, MAX_OTHERS + 2))
    for faces in range(2, MAX_FACES + 1):
        for wild in range(2):
            p = (1 + wild) / faces
            for n in range(MAX_OTHERS + 1):
                pmf = np.array(binomial(n, p))
                # from the small end, and capped, so that rounding never makes a chance above 1
                table[faces, wild, n, : n + 1] = np.minimum(np.cumsum(pmf[::-1])[::-1], 1.0)
                table[faces, wild, n, 0] = 1.0
    return table


TAIL = tail_table()


# ---------------------------------------------------------------------------------------------- reading one row


@kernel
def first_bit(row: np.ndarray, start: int, size: int) -> int:
    """The place, from 0, of the first 1 among ``size`` numbers from ``start``; -1 if there is none."""
    for k in range(size):
        if row[start + k]:
            return k
    return -1


@kernel
def read_bids(row: np.ndarray, starts: np.ndarray, seats: int, quantities: int, order: np.ndarray, seen: Seen) -> None:
    """Write the bids of the round, in order, and their bidders."""
    count = 0
    standing = first_bit(row, starts[_STANDING], quantities * MAX_FACES)
    if standing >= 0:
        for bid in order:
            seat = first_bit(row, starts[_BIDS] + bid * seats, seats)
            if seat >= 0:
                seen["bids"][count] = FIRST_BID + bid
                seen["bidders"][count] = seat
                count += 1
            if bid == standing:
                break
    seen["num_bids"] = count


@kernel
def read_dice(row: np.ndarray, starts: np.ndarray, seats: int, seen: Seen) -> None:
    """Write the dice per relative seat, and who is alive; assumed counts where they are hidden (see the module)."""
    seen["dice"][:] = 0
    seen["counts_hidden"] = 0
    seen["num_others"] = 0
    seen["num_alive"] = 0
    own = 0
    for face in range(MAX_FACES):
        own += seen["own"][face]
    for r in range(seats):
        if not row[starts[_ALIVE] + r]:
            continue
        count = 0
        for k in range(MAX_STARTING_DICE):
            count += row[starts[_DICE] + r * MAX_STARTING_DICE + k]
        if count == 0:
            seen["counts_hidden"] = 1
            usual = max(1, int(0.6 * own + 0.28 * seen["starting_dice"] + 0.5))
            count = 1 if seen["is_palifico"] and r == seen["opener"] else usual
        seen["dice"][r] = count
        seen["num_alive"] += 1
        if r > 0:
            seen["num_others"] += count


@kernel
def read(row: np.ndarray, starts: np.ndarray, seats: int, quantities: int, order: np.ndarray, seen: Seen) -> None:
    """Read one int8 observation row into a SEEN record; what lies where is told by the places of a ``Sight``."""
    for face in range(MAX_FACES):
        count = 0
        for k in range(MAX_STARTING_DICE):
            count += row[starts[_HAND] + face * MAX_STARTING_DICE + k]
        seen["own"][face] = count
    switches = starts[_SWITCHES]
    seen["starting_dice"] = 1 + first_bit(row, switches + _STARTING_DICE_BITS, MAX_STARTING_DICE)
    seen["num_faces"] = 2 + first_bit(row, switches + _NUM_FACES_BITS, MAX_FACES - 1)
    seen["is_palifico"] = row[starts[_IS_PALIFICO]]
    seen["in_window"] = row[starts[_WINDOW]]
    seen["wild"] = row[switches + _PACOS_WILD_BITS + 1] and not seen["is_palifico"]
    seen["opener"] = first_bit(row, starts[_OPENER], seats)
    seen["bidder"] = first_bit(row, starts[_BIDDER], seats)
    read_dice(row, starts, seats, seen)
    read_bids(row, starts, seats, quantities, order, seen)


@kernel
def matches_in(hand: np.ndarray, face: int, wild: int) -> int:
    """How many dice of a hand, face counts ``(6,)``, count for a bid on ``face``."""
    return hand[face - 1] + (hand[PACO - 1] if wild and face != PACO else 0)


@kernel
def chance_of_more(tail: np.ndarray, seen: Seen, face: int, num_dice: int, needed: int) -> float:
    """P(at least ``needed`` of ``num_dice`` unseen dice match ``face``)."""
    if needed <= 0:
        return 1.0
    if needed > num_dice:
        return 0.0
    return tail[seen["num_faces"], 1 if seen["wild"] and face != PACO else 0, num_dice, needed]


# ---------------------------------------------------------------------------------------------- many rows


@kernel
def read_rows(
    observations: np.ndarray, starts: np.ndarray, seats: int, quantities: int, order: np.ndarray, out: np.ndarray
) -> None:
    """Read every row into a SEEN record."""
    for i in range(observations.shape[0]):
        read(observations[i], starts, seats, quantities, order, out[i])


@kernel
def chances_rows(
    observations: np.ndarray,
    starts: np.ndarray,
    seats: int,
    quantities: int,
    order: np.ndarray,
    tail: np.ndarray,
    scratch: np.ndarray,
    holds: np.ndarray,
    exactly: np.ndarray,
    standing: np.ndarray,
) -> None:
    """Write P(holds), P(exactly) of each bid and the standing bid's id for every row."""
    for i in range(observations.shape[0]):
        seen = scratch[0]
        read(observations[i], starts, seats, quantities, order, seen)
        standing[i] = seen["bids"][seen["num_bids"] - 1] if seen["num_bids"] > 0 else -1
        for face in range(1, MAX_FACES + 1):
            if face > seen["num_faces"]:
                holds[i, :, face - 1] = 0.0
                exactly[i, :, face - 1] = 0.0
                continue
            own = matches_in(seen["own"], face, seen["wild"])
            for quantity in range(1, quantities + 1):
                at_least = chance_of_more(tail, seen, face, seen["num_others"], quantity - own)
                more = chance_of_more(tail, seen, face, seen["num_others"], quantity - own + 1)
                holds[i, quantity - 1, face - 1] = at_least
                exactly[i, quantity - 1, face - 1] = at_least - more


def read_all(observations: Int8Array, at: Sight) -> npt.NDArray[Any]:
    """Every observation of ``(batch, size)`` as a SEEN record, ``(batch,)``."""
    at.check(observations)
    out = np.zeros(len(observations), SEEN)
    read_rows(observations, *at.places, out)
    return out


class Chances(NamedTuple):
    """How likely bids are, given own dice and fair dice elsewhere, from no other information."""

    holds: Float32Array  # (batch, quantities, 6): at least that many dice match; 0 for a face that dice lack
    exactly: Float32Array  # (batch, quantities, 6): exactly that many dice match
    standing: npt.NDArray[np.int64]  # (batch,): action id of the standing bid, -1 before the opening bid

    @property
    def standing_holds(self) -> Float32Array:
        """P(the standing bid holds), ``(batch,)``; 1 before the opening bid."""
        return self._of_standing(self.holds, 1.0)

    @property
    def standing_exactly(self) -> Float32Array:
        """P(the standing bid is exact), ``(batch,)``; 0 before the opening bid."""
        return self._of_standing(self.exactly, 0.0)

    def _of_standing(self, table: Float32Array, before: float) -> Float32Array:
        flat = table.reshape(len(table), -1)
        bid = np.maximum(self.standing - FIRST_BID, 0)
        return np.where(self.standing < 0, np.float32(before), flat[np.arange(len(flat)), bid])


def bid_chances(
    observations: Int8Array, variant: Variant | str, num_seats: int, layout: Layout | None = None
) -> Chances:
    """P(bid holds | own dice) and P(bid is exact | own dice) of every bid, by exact binomial sums.

    The observations are those of a table of ``num_seats``, or padded to a larger ``layout``. Bids that are not legal have
    their chances as well.
    """
    return chances_at(observations, sight(as_variant(variant), num_seats, layout))


def chances_at(observations: Int8Array, at: Sight) -> Chances:
    """:func:`bid_chances` of a table whose ``Sight`` is known."""
    at.check(observations)
    batch = len(observations)
    holds = np.empty((batch, at.layout.max_quantity, MAX_FACES), np.float32)
    exactly = np.empty_like(holds)
    standing = np.empty(batch, np.int64)
    chances_rows(observations, *at.places, TAIL, np.zeros(1, SEEN), holds, exactly, standing)
    return Chances(holds, exactly, standing)
