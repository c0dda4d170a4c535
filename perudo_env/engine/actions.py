"""Action ids and what they stand for.

0 is Dudo, 1 Calza, 2 Pass, then come the bids, ascending by (quantity, face 1..6):
``id = 3 + 6 * (quantity - 1) + (face - 1)``. Every quantity has six ids whatever the dice, so that an id means the
same at every table and a small table's ids are a prefix of a large one's.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from perudo_env.engine.jit import inlined
from perudo_env.engine.variant import MAX_FACES, MAX_SEATS, MAX_STARTING_DICE, highest_quantity

FIRST_BID = 3
MAX_QUANTITY = highest_quantity("unbounded", MAX_SEATS * MAX_STARTING_DICE)
MAX_BIDS = MAX_FACES * MAX_QUANTITY
PACO = 1


class Call(IntEnum):
    """The actions that are not bids; their values are their action ids."""

    DUDO = 0
    CALZA = 1
    PASS = 2

    def __str__(self) -> str:
        return self.name.lower()


DUDO, CALZA, PASS = Call.DUDO, Call.CALZA, Call.PASS


class Bid(NamedTuple):
    """At least ``quantity`` dice on the whole table show ``face`` (1 is the Paco)."""

    quantity: int
    face: int

    def __str__(self) -> str:
        return f"{self.quantity}P" if self.face == PACO else f"{self.quantity}x{self.face}"


Action = Bid | Call


@inlined
def bid_id(quantity: int, face: int) -> int:
    """The action id of a bid."""
    return FIRST_BID + MAX_FACES * (quantity - 1) + (face - 1)


@inlined
def quantity_of(action: int) -> int:
    """The quantity of a bid's action id."""
    return (action - FIRST_BID) // MAX_FACES + 1


@inlined
def face_of(action: int) -> int:
    """The face, 1 to 6, of a bid's action id."""
    return (action - FIRST_BID) % MAX_FACES + 1


def num_actions(max_quantity: int) -> int:
    """How many action ids a table has on which at most ``max_quantity`` may be bid."""
    return FIRST_BID + MAX_FACES * max_quantity


ACTIONS: tuple[Action, ...] = (
    *Call,
    *(Bid(quantity, face) for quantity in range(1, MAX_QUANTITY + 1) for face in range(1, MAX_FACES + 1)),
)
"""The action of every id; the inverse of :func:`to_id`."""


def to_id(action: Action) -> int:
    """The id of an action."""
    return int(action) if isinstance(action, Call) else int(bid_id(action.quantity, action.face))
