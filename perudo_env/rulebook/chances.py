"""The chance that a bid holds, as one seat sees it: own dice known, all others fair and unread.

Which dice match a bid is asked of the rules: this module only counts and draws.
"""

from __future__ import annotations

from math import comb
from typing import NamedTuple

from perudo_env.engine.actions import Bid, to_id
from perudo_env.engine.rules import matches
from perudo_env.engine.state import copied
from perudo_env.game.game import Game


class Chance(NamedTuple):
    """From 0 to 1: that at least as many dice match as a bid says, and that exactly so many do."""

    holds: float
    exactly: float


def binomial(n: int, p: float) -> list[float]:
    """The chances of 0 to ``n`` successes in ``n`` trials of chance ``p``."""
    return [comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1)]


def chance(game: Game, seat: int, bid: Bid) -> Chance:
    """The chance that ``bid`` holds in this round, given only the dice of ``seat``.

    Where dice counts are hidden it uses them all the same: every loss was public.
    """
    own = len(game.hand(seat))
    unseen = sum(game.dice) - own
    needed = bid.quantity - _matches(game, bid, seat)
    p = _matches_of_each_face(game, bid) / game.variant.num_faces
    pmf = binomial(unseen, p)
    if needed < 0:
        return Chance(1.0, 0.0)
    return Chance(min(1.0, sum(pmf[needed:])) if needed else 1.0, pmf[needed] if needed <= unseen else 0.0)


def _matches(game: Game, bid: Bid, seat: int) -> int:
    """How many dice of ``seat`` alone match."""
    states = copied(game.states)
    states["hands"][0, [s for s in range(game.num_seats) if s != seat]] = 0
    return int(matches(states[0], to_id(bid)))


def _matches_of_each_face(game: Game, bid: Bid) -> int:
    """How many match of one die of each face."""
    states = copied(game.states)
    states["hands"][0] = 0
    states["hands"][0, 0, : game.variant.num_faces] = 1
    return int(matches(states[0], to_id(bid)))
