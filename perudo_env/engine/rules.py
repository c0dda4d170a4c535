"""The rules of Perudo, once: what may be said and which dice count; jitted functions on one state record.

Legality is stated by :func:`why_illegal` alone; masks, error messages and lists of legal actions all ask it. How rounds
begin and end is in ``rounds.py``. Nothing here knows of environments or of text.

Fields of a record are narrow: compiled, a sum of them is 64 bits wide, but without the compiler it would stay int8 and
overflow at large tables. So what is read to count with becomes an ``int`` where it is read.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np

from perudo_env.engine.actions import FIRST_BID, MAX_FACES, PACO, Call, bid_id, face_of, quantity_of
from perudo_env.engine.jit import inlined, kernel
from perudo_env.engine.state import Phase
from perudo_env.engine.variant import switch_code

Record = Any  # one np.void of state.STATE; numba gives it its real type

ONE_AXIS = switch_code("raise_rule", "one_axis")
MONOTONE = switch_code("raise_rule", "monotone")
PACO_OPEN_ALWAYS = switch_code("paco_open", "always")
PALIFICO_OFF = switch_code("palifico", "off")
PALIFICO_ONCE = switch_code("palifico", "once")
CALZA_OFF = switch_code("calza", "off")
CALZA_ON_TURN = switch_code("calza", "on_turn")
CALZA_ANYONE = switch_code("calza", "anyone")
DICE_IN_PLAY = switch_code("max_bid", "dice_in_play")
UNBOUNDED = switch_code("max_bid", "unbounded")
FIRST_SEAT = switch_code("first_player", "first_seat")
BY_ROLL_OFF = switch_code("first_player", "roll_off")
HALVED = switch_code("paco_bids", "halved")
TOP_FACE = switch_code("paco_bids", "top_face")
ONE_ROUND = switch_code("rounds", "one")


class Reward(IntEnum):
    """What the seats are paid; only the first is the game's objective."""

    ZERO_SUM = 0
    PLACE = 1
    DICE = 2


class Reason(IntEnum):
    """Why an action is illegal; 0 means that it is legal."""

    LEGAL = 0
    GAME_OVER = 1
    UNKNOWN = 2
    NO_STANDING_BID = 3
    NO_CALZA = 4
    CALZA_WINDOW_OVER = 5
    IN_CALZA_WINDOW = 6
    NO_CALZA_WINDOW = 7
    NO_SUCH_FACE = 8
    ABOVE_MAXIMUM = 9
    PACO_OPENING = 10
    PALIFICO_FACE = 11
    PALIFICO_QUANTITY = 12
    NOT_MORE_PACOS = 13
    TOO_FEW_PACOS = 14
    TOO_FEW_AFTER_PACOS = 15
    NOT_HIGHER = 16
    FALLS = 17
    NOT_ONE_AXIS = 18


@inlined
def dice_in_play(s: Record) -> int:
    """The number of dice on the whole table."""
    total = 0
    for seat in range(s["num_seats"]):
        total += int(s["dice"][seat])
    return total


@inlined
def max_quantity(s: Record) -> int:
    """The highest quantity that may be bid in this round."""
    if s["max_bid"] == DICE_IN_PLAY:
        return dice_in_play(s)
    total = int(s["total_at_start"])
    return 2 * total + 1 if s["max_bid"] == UNBOUNDED else total


class Bidding(NamedTuple):
    """All that decides whether the seat to act may make a bid, read from a record once for a whole mask."""

    num_faces: int
    most: int  # highest quantity
    quantity: int  # of the standing bid; 0 before the opening bid
    face: int
    raise_rule: int
    paco_bids: int
    paco_may_open: bool
    is_palifico: bool


@kernel
def bidding(s: Record) -> Bidding:
    """What decides which bids are legal now."""
    quantity, face = 0, 0
    if s["num_bids"] > 0:
        standing = int(s["bids"][s["num_bids"] - 1])
        quantity, face = quantity_of(standing), face_of(standing)
    is_palifico = s["is_palifico"] != 0
    paco_may_open = is_palifico or s["paco_open"] == PACO_OPEN_ALWAYS
    return Bidding(
        int(s["num_faces"]), max_quantity(s), quantity, face, s["raise_rule"], s["paco_bids"], paco_may_open, is_palifico
    )  # fmt: skip


@kernel
def rank_of(face: int, paco_bids: int) -> int:
    """A face's place in the order of bids, where Pacos rank among the ordinary faces."""
    return MAX_FACES + 1 if face == PACO and paco_bids == TOP_FACE else face


class Span(NamedTuple):
    """The quantities that may be bid on one face, ``least`` to ``most`` (none if most < least), and why no others."""

    least: int
    most: int
    why: int  # the Reason against a quantity outside


@kernel
def raise_span(b: Bidding, face: int) -> Span:
    """The quantities of ``face`` that may follow the standing bid."""
    if b.is_palifico:
        if face != b.face:
            return Span(b.most + 1, b.most, Reason.PALIFICO_FACE)
        return Span(b.quantity + 1, b.most, Reason.PALIFICO_QUANTITY)
    if b.paco_bids == HALVED and b.face != PACO and face == PACO:
        return Span((b.quantity + 1) // 2, b.most, Reason.TOO_FEW_PACOS)
    if b.paco_bids == HALVED and b.face == PACO and face == PACO:
        return Span(b.quantity + 1, b.most, Reason.NOT_MORE_PACOS)
    if b.paco_bids == HALVED and b.face == PACO:
        return Span(2 * b.quantity + 1, b.most, Reason.TOO_FEW_AFTER_PACOS)
    rises = rank_of(face, b.paco_bids) - rank_of(b.face, b.paco_bids)
    if b.raise_rule == ONE_AXIS:
        if rises == 0:
            return Span(b.quantity + 1, b.most, Reason.NOT_ONE_AXIS)
        most = b.quantity if rises > 0 else 0
        return Span(b.quantity, most, Reason.NOT_ONE_AXIS)
    if b.raise_rule == MONOTONE:
        if rises < 0:
            return Span(b.most + 1, b.most, Reason.FALLS)
        return Span(b.quantity + int(rises == 0), b.most, Reason.FALLS)
    return Span(b.quantity + int(rises <= 0), b.most, Reason.NOT_HIGHER)


@kernel
def bid_span(b: Bidding, face: int) -> Span:
    """The quantities of ``face`` that the seat to act may bid now, outside a Calza window."""
    if face > b.num_faces:
        return Span(b.most + 1, b.most, Reason.NO_SUCH_FACE)
    if b.quantity > 0:
        return raise_span(b, face)
    if face == PACO and not b.paco_may_open:
        return Span(b.most + 1, b.most, Reason.PACO_OPENING)
    return Span(1, b.most, Reason.LEGAL)


@kernel
def why_illegal_bid(b: Bidding, quantity: int, face: int) -> int:
    """The Reason why the seat to act may not bid now, outside a Calza window."""
    if quantity > b.most and face <= b.num_faces:
        return Reason.ABOVE_MAXIMUM
    span = bid_span(b, face)
    return Reason.LEGAL if span.least <= quantity <= span.most else span.why


@inlined
def why_illegal_call(s: Record, action: int) -> int:
    """The Reason why the seat to act may not say Dudo, Calza or Pass now."""
    in_window = s["phase"] == Phase.WINDOW
    if action == Call.PASS:
        return Reason.LEGAL if in_window else Reason.NO_CALZA_WINDOW
    if action == Call.CALZA and s["calza"] == CALZA_OFF:
        return Reason.NO_CALZA
    if s["num_bids"] == 0:
        return Reason.NO_STANDING_BID
    if action == Call.DUDO:
        return Reason.IN_CALZA_WINDOW if in_window else Reason.LEGAL
    if s["calza"] == CALZA_ANYONE and not in_window:
        return Reason.CALZA_WINDOW_OVER
    return Reason.LEGAL


@kernel
def why_illegal(s: Record, action: int) -> int:
    """The Reason why the seat to act may not choose this action id now; Reason.LEGAL (0) if it may."""
    if s["phase"] == Phase.OVER:
        return Reason.GAME_OVER
    if action < 0:
        return Reason.UNKNOWN
    if action < FIRST_BID:
        return why_illegal_call(s, action)
    if s["phase"] == Phase.WINDOW:
        return Reason.IN_CALZA_WINDOW
    return why_illegal_bid(bidding(s), quantity_of(action), face_of(action))


@kernel
def fill_mask(s: Record, mask: np.ndarray) -> int:
    """Write 1 into the int8 ``mask`` for each legal action id, 0 elsewhere; returns how many, 0 when the game is over."""
    mask[:] = 0
    if s["phase"] == Phase.OVER:
        return 0
    legal = 0
    for action in range(FIRST_BID):
        if why_illegal_call(s, action) == Reason.LEGAL:
            mask[action] = 1
            legal += 1
    if s["phase"] == Phase.WINDOW:
        return legal
    b = bidding(s)
    # From some quantity on, all six faces are legal as a rule: one stretch of ids, filled at once.
    full = 1 if b.num_faces == MAX_FACES else b.most + 1
    for face in range(1, b.num_faces + 1):
        span = bid_span(b, face)
        full = max(full, span.least if span.most == b.most else b.most + 1)
        legal += max(0, span.most - span.least + 1)
    mask[bid_id(full, 1) : bid_id(b.most + 1, 1)] = 1
    for face in range(1, b.num_faces + 1):
        span = bid_span(b, face)
        for quantity in range(span.least, min(span.most + 1, full)):
            mask[bid_id(quantity, face)] = 1
    return legal


@inlined
def matches(s: Record, bid: int) -> int:
    """How many dice on the table count for a bid: its face and, where they are wild, the Pacos."""
    face = face_of(bid)
    wild = s["pacos_wild"] and not s["is_palifico"] and face != PACO
    count = 0
    for seat in range(s["num_seats"]):
        count += int(s["hands"][seat, face - 1])
        if wild:
            count += int(s["hands"][seat, PACO - 1])
    return count
