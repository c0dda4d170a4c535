"""What happens in a game, for people to see: one small frozen dataclass per kind of event; all are public."""

from __future__ import annotations

from dataclasses import dataclass

from perudo_env.actions import Bid

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
    RolledOff | RoundStarted | BidMade | Passed | DudoSaid | CalzaSaid | Revealed | DieLost | DieRegained | Eliminated | GameOver
)
