"""Evenings to keep the score of, and all that a sheet shows of one: shared by the tests of the score keeper."""

from __future__ import annotations

from perudo_env.play.score.entries import (
    Entry,
    GameStarted,
    Lost,
    Opened,
    table_variant,
)
from perudo_env.play.score.evening import Evening


def opened(
    *players: str, preset: str = "marquoir", dice: int = 5, calza: bool | None = None, scoring: str = "places"
) -> Opened:
    return Opened(players, str(table_variant(preset, dice, calza)), scoring)


def evening(*entries: Entry, first: Opened | None = None) -> Evening:
    return Evening([first or opened("Ann", "Bo", "Cy", dice=3), *entries])


def losses(*names: str) -> list[Entry]:
    return [Lost(name) for name in names]


def won_by(winner: str, *others: str) -> list[Entry]:
    """A game of three dice: ``others`` go out in this order."""
    return [GameStarted(opener=winner), *losses(*(name for other in others for name in (other,) * 3))]


def shown(e: Evening) -> list[object]:
    """All that a sheet shows."""
    return [(t.first, t.lines, t.dice, t.places, t.opener, t.palifico) for t in e.tables] + list(e.standings())
