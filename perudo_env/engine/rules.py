"""The rules of Perudo, once: jitted functions on one state record.

Legality is stated by :func:`why_illegal` alone; masks, error messages and lists of legal actions all ask it.
Nothing here knows of environments or of text.

Fields of a record are narrow: compiled, a sum of them is 64 bits wide, but without the compiler it would stay int8 and
overflow at large tables. So what is read to count with becomes an ``int`` where it is read.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np

from perudo_env.engine.actions import FIRST_BID, MAX_FACES, PACO, Call, bid_id, face_of, quantity_of
from perudo_env.engine.jit import inlined, kernel
from perudo_env.engine.rng import FIRST_PLAYER, below, draw, roll_die, roll_off_sum
from perudo_env.engine.state import NOBODY, Phase, RoundEnd
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


# ---------------------------------------------------------------------------------------------- legality


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


# ---------------------------------------------------------------------------------------------- rounds


@inlined
def next_alive(s: Record, seat: int) -> int:
    """The next seat clockwise that still has dice."""
    other = seat
    for _ in range(s["num_seats"]):
        # no modulo: a division costs more than all the rest
        other = other + 1 if other + 1 < s["num_seats"] else 0
        if s["dice"][other] > 0:
            return other
    return NOBODY


@inlined
def num_alive(s: Record) -> int:
    """How many seats still have dice."""
    alive = 0
    for seat in range(s["num_seats"]):
        if s["dice"][seat] > 0:
            alive += 1
    return alive


@kernel
def roll_off_winner(s: Record) -> int:
    """The seat that opens the first round by roll-off: the highest sum; the tied seats roll again."""
    in_it = np.ones(s["num_seats"], dtype=np.bool_)
    for seat in range(s["num_seats"]):
        in_it[seat] = s["dice"][seat] > 0
    attempt = 0
    while True:
        best, winner, tied = 0, 0, 0
        for seat in range(s["num_seats"]):
            if in_it[seat]:
                rolled = roll_off_sum(s["seed"], attempt, seat)
                tied = tied + 1 if rolled == best else tied
                if rolled > best:
                    best, winner, tied = rolled, seat, 1
        if tied == 1:
            return winner
        for seat in range(s["num_seats"]):
            in_it[seat] = in_it[seat] and roll_off_sum(s["seed"], attempt, seat) == best
        attempt += 1


@kernel
def first_opener(s: Record) -> int:
    """The seat that opens the first round (first_player)."""
    if s["first_player"] == BY_ROLL_OFF:
        return roll_off_winner(s)
    start = s["num_seats"] - 1
    if s["first_player"] != FIRST_SEAT:
        # count only the living, so that an empty seat gives nobody a larger share
        for _ in range(1 + below(draw(s["seed"], FIRST_PLAYER, 0, 0), num_alive(s))):
            start = next_alive(s, start)
        return start
    return next_alive(s, start)


@kernel
def start_round(s: Record, opener: int) -> None:
    """Roll all dice and give the word to ``opener``."""
    s["round"] += 1
    s["opener"] = opener
    s["is_palifico"] = s["palifico_next"]
    s["palifico_next"] = 0
    s["phase"] = Phase.BID
    s["seat"] = opener
    s["bidder"] = NOBODY
    s["num_bids"] = 0
    hands = s["hands"]
    hands[:] = 0
    # read once: the compiler cannot know that hands are not stored over the seed
    seed, round_number, num_faces = s["seed"], s["round"], s["num_faces"]
    for seat in range(s["num_seats"]):
        for die in range(s["dice"][seat]):
            hands[seat, roll_die(seed, round_number, seat, die, num_faces) - 1] += 1


@kernel
def start_game(s: Record, seed: np.uint64, dice: np.ndarray) -> None:
    """Begin a game with ``dice`` (int8, a count per seat; 0: the seat is out) on a record whose table is set."""
    s["seed"] = seed
    s["round"] = 0
    s["palifico_next"] = 0
    s["truncated"] = 0
    s["last_end"] = RoundEnd.NONE
    s["palifico_spent"][:] = 0
    s["dice"][:] = 0
    s["place"][:] = 0
    for seat in range(s["num_seats"]):
        s["dice"][seat] = dice[seat]
    s["num_players"] = num_alive(s)
    for seat in range(s["num_seats"]):
        if dice[seat] == 0:
            s["place"][seat] = s["num_players"] + 1
    start_round(s, first_opener(s))


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


# ---------------------------------------------------------------------------------------------- the end of a round


@kernel
def lose_die(s: Record, seat: int) -> None:
    """Take a die from a seat; a drop from two to one announces a palifico round, a drop to none ends its game."""
    s["dice"][seat] -= 1
    if s["rounds"] == ONE_ROUND:
        return
    if s["dice"][seat] == 0:
        s["place"][seat] = num_alive(s) + 1
    elif s["dice"][seat] == 1 and s["palifico"] != PALIFICO_OFF:
        if s["palifico"] == PALIFICO_ONCE:
            if s["palifico_spent"][seat]:
                return
            s["palifico_spent"][seat] = 1
        s["palifico_next"] = 1


@inlined
def was_in_round(s: Record, seat: int) -> bool:
    """Whether a seat held dice in the round that ended last."""
    held = 0
    for face in range(MAX_FACES):
        held += s["last_hands"][seat, face]
    return held > 0


@kernel
def round_return(s: Record, seat: int) -> float:
    """The return of the round that ended last: own dice lost or won; the other seats in it share the opposite."""
    if seat == s["last_seat"]:
        return float(s["last_change"])
    in_round = 0
    for other in range(s["num_seats"]):
        in_round += was_in_round(s, other)
    return -s["last_change"] / (in_round - 1) if was_in_round(s, seat) else 0.0


@inlined
def merit(s: Record, seat: int) -> int:
    """What ranks the seats still in when a game stops: the sign of the return of a single round, else the dice left."""
    if s["rounds"] == ONE_ROUND:
        return s["last_change"] if seat == s["last_seat"] else -s["last_change"]
    return s["dice"][seat]


@kernel
def finish_game(s: Record) -> None:
    """Close the game and give every seat that still plays its place; equal merit shares the better one."""
    s["phase"] = Phase.OVER
    s["seat"] = NOBODY
    s["palifico_next"] = 0
    # A new place is negative until all are given: only then do the others still show who had none.
    place, n = s["place"], s["num_seats"]
    for seat in range(n):
        if place[seat] == 0:
            own, better = merit(s, seat), 0
            for other in range(n):
                better += place[other] <= 0 and merit(s, other) > own
            place[seat] = -1 - better
    for seat in range(n):
        place[seat] = abs(place[seat])


@kernel
def final_return(s: Record, seat: int, scheme: int) -> float:
    """What a placed seat is paid under a Reward scheme; tied seats share the pay of the places they take.

    ZERO_SUM: +1 to the winner, -1/(n-1) to the others, or the return of the round where only one is played.
    PLACE: linear from +1 for the first of n to -1 for the last. A seat that never had dice gets 0.
    """
    place, num_players = s["place"][seat], s["num_players"]
    if place == 0 or place > num_players:
        return 0.0
    if scheme == Reward.ZERO_SUM and s["rounds"] == ONE_ROUND:
        return round_return(s, seat)
    sharing = 0
    for other in range(s["num_seats"]):
        sharing += s["place"][other] == place
    if scheme == Reward.PLACE:
        return 1.0 - (2 * (place - 1) + (sharing - 1)) / (num_players - 1)
    loss = -1.0 / (num_players - 1)
    return (1.0 + (sharing - 1) * loss) / sharing if place == 1 else loss


@kernel
def stop_game(s: Record) -> None:
    """Cut the game off between two rounds."""
    s["truncated"] = 1
    finish_game(s)


@kernel
def settle(s: Record, seat: int, change: int) -> None:
    """Move one die of ``seat``, lost (-1) or taken back (+1), and start the next round or finish the game."""
    if change > 0:
        # a right Calza never fills the cup beyond starting_dice
        change = int(s["dice"][seat] < s["starting_dice"])
    s["last_seat"] = seat
    s["last_change"] = change
    if change < 0:
        lose_die(s, seat)
    else:
        s["dice"][seat] += change
    if s["rounds"] == ONE_ROUND or num_alive(s) == 1:
        finish_game(s)
    elif s["max_rounds"] > 0 and s["round"] >= s["max_rounds"]:
        stop_game(s)
    else:
        # the seat that lost a die, or said Calza; if it is out, the next living seat clockwise
        start_round(s, seat if s["dice"][seat] > 0 else next_alive(s, seat))


@kernel
def end_round(s: Record, how: int, caller: int) -> None:
    """Reveal, count, and :func:`settle` whose die is at stake."""
    bid = int(s["bids"][s["num_bids"] - 1])
    count = matches(s, bid)
    quantity = quantity_of(bid)
    s["last_end"] = how
    s["last_bid"] = bid
    s["last_bidder"] = s["bidder"]
    s["last_caller"] = caller
    s["last_count"] = count
    s["last_hands"][:] = s["hands"]
    if how == RoundEnd.DUDO:
        settle(s, caller if count >= quantity else s["bidder"], -1)
    else:
        settle(s, caller, 1 if count == quantity else -1)


@kernel
def apply(s: Record, action: int) -> bool:
    """Play a legal action id for the seat to act; returns whether it ended the round. Legality is not asked again."""
    seat = s["seat"]
    if action == Call.DUDO:
        end_round(s, RoundEnd.DUDO, seat)
        return True
    if action == Call.CALZA:
        end_round(s, RoundEnd.CALZA, seat)
        return True
    following = next_alive(s, seat)
    if action == Call.PASS:
        if following == s["bidder"]:
            # everybody was asked: the seat after the bidder speaks
            s["phase"] = Phase.BID
            following = next_alive(s, following)
    else:
        s["bids"][s["num_bids"]] = action
        s["bidders"][s["num_bids"]] = seat
        s["num_bids"] += 1
        s["bidder"] = seat
        if s["calza"] == CALZA_ANYONE:
            s["phase"] = Phase.WINDOW
    s["seat"] = following
    return False
