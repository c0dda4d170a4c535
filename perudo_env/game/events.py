"""Events of a game, for people to see: one small frozen dataclass per kind of event; all are public.

The functions below read the events out of a game's record.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from perudo_env.engine.actions import ACTIONS, DUDO, PASS, Action, Bid
from perudo_env.engine.rng import roll_off_sum
from perudo_env.engine.rules import BY_ROLL_OFF, ONE_ROUND
from perudo_env.engine.state import Phase

Hands = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class RolledOff:
    """Each seat in ``rolls`` rolled two dice for the first turn: (seat, sum) pairs; the highest opens, ties roll again."""

    rolls: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class RoundStarted:
    """All dice were rolled; ``opener`` bids first, in a palifico round or an ordinary one. Rounds count from 1."""

    round: int
    opener: int
    palifico: bool


@dataclass(frozen=True)
class BidMade:
    """``seat`` raised to ``bid``, or opened with it."""

    seat: int
    bid: Bid


@dataclass(frozen=True)
class Passed:
    """``seat``, asked for Calza, let it pass."""

    seat: int


@dataclass(frozen=True)
class DudoSaid:
    """``seat`` doubts the standing bid."""

    seat: int


@dataclass(frozen=True)
class CalzaSaid:
    """``seat`` says that the standing bid is exact."""

    seat: int


@dataclass(frozen=True)
class Revealed:
    """All dice were shown: ``count`` of them match the ``bid`` of ``bidder``; ``hands`` holds sorted faces per seat."""

    bidder: int
    bid: Bid
    hands: Hands
    count: int


@dataclass(frozen=True)
class DieLost:
    """``seat`` lost a die and has ``left``."""

    seat: int
    left: int


@dataclass(frozen=True)
class DieRegained:
    """``seat`` took a lost die back and has ``left``."""

    seat: int
    left: int


@dataclass(frozen=True)
class Eliminated:
    """``seat`` has no dice left and ends at ``place`` (1 is the winner's)."""

    seat: int
    place: int


@dataclass(frozen=True)
class GameOver:
    """The game ended with these ``ranks`` per seat; ``truncated`` if a limit of rounds stopped it."""

    ranks: tuple[int, ...]
    truncated: bool


Event = (
    RolledOff
    | RoundStarted
    | BidMade
    | Passed
    | DudoSaid
    | CalzaSaid
    | Revealed
    | DieLost
    | DieRegained
    | Eliminated
    | GameOver
)


def faces(counts: npt.NDArray[np.int8]) -> tuple[int, ...]:
    """Face counts as sorted faces."""
    return tuple(face for face, count in enumerate(counts.tolist(), 1) for _ in range(count))


def all_faces(s: np.void, field: str) -> Hands:
    """The hands of all seats, from ``hands`` or ``last_hands`` of a record."""
    return tuple(faces(s[field][seat]) for seat in range(s["num_seats"]))


def roll_offs(s: np.void) -> list[Event]:
    """The rolls for the first turn of a game, if it was decided by roll-off."""
    if s["first_player"] != BY_ROLL_OFF:
        return []
    events: list[Event] = []
    rolling = [seat for seat in range(s["num_seats"]) if s["dice"][seat] > 0]
    while len(rolling) > 1:
        rolls = tuple((seat, int(roll_off_sum(s["seed"], len(events), seat))) for seat in rolling)
        events.append(RolledOff(rolls))
        best = max(total for _, total in rolls)
        rolling = [seat for seat, total in rolls if total == best]
    return events


def round_started(s: np.void) -> Event:
    """The beginning of the round the record is in."""
    return RoundStarted(int(s["round"]), int(s["opener"]), bool(s["is_palifico"]))


def round_end(s: np.void) -> list[Event]:
    """From the reveal to the next round or the end of the game, as the record ``s`` tells after it."""
    seat, bid = int(s["last_seat"]), ACTIONS[s["last_bid"]]
    assert isinstance(bid, Bid)
    events: list[Event] = [Revealed(int(s["last_bidder"]), bid, all_faces(s, "last_hands"), int(s["last_count"]))]
    left = int(s["dice"][seat])
    if s["last_change"] != 0:
        events.append(DieLost(seat, left) if s["last_change"] < 0 else DieRegained(seat, left))
    if left == 0 and s["rounds"] != ONE_ROUND:
        events.append(Eliminated(seat, int(s["place"][seat])))
    if s["phase"] == Phase.OVER:
        ranks = tuple(int(place) for place in s["place"][: s["num_seats"]])
        return [*events, GameOver(ranks, bool(s["truncated"]))]
    return [*events, round_started(s)]


def said(seat: int, action: Action) -> Event:
    """An action as an event."""
    if isinstance(action, Bid):
        return BidMade(seat, action)
    if action == PASS:
        return Passed(seat)
    return DudoSaid(seat) if action == DUDO else CalzaSaid(seat)
