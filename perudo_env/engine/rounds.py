"""The beginning and end of rounds by the rules, and the returns of a game; jitted functions on one state record, as in ``rules.py``."""

from __future__ import annotations

import numpy as np

from perudo_env.engine.actions import MAX_FACES, Call, quantity_of
from perudo_env.engine.jit import inlined, kernel
from perudo_env.engine.rng import FIRST_PLAYER, below, draw, roll_die, roll_off_sum
from perudo_env.engine.rules import (
    BY_ROLL_OFF,
    CALZA_ANYONE,
    FIRST_SEAT,
    ONE_ROUND,
    PALIFICO_OFF,
    PALIFICO_ONCE,
    Record,
    Reward,
    matches,
)
from perudo_env.engine.state import NOBODY, Phase, RoundEnd


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
