"""Standings and ratings as tables, for the arena, the tournament and the page about a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from train.core.measured import Estimate
from train.core.table import Judged, Table
from train.evaluate.tournament.ratings import Ratings
from train.evaluate.tournament.standings import Result


def standings_table(result: Result, title: str = "") -> Table:
    """Win shares and mean places, best first, judged against the fair share."""
    rows = [
        (s.agent, s.seats, Judged(s.win_share, result.fair_share), s.mean_place)
        for s in sorted(result.standings, key=lambda s: -s.win_share.value)
    ]
    return Table(("agent", "seats held", f"win share (fair {result.fair_share:.3f})", "mean place"), rows, title)


def matrix_table(title: str, names: Sequence[str], matrix: Mapping[tuple[int, int], Estimate], fair: float) -> Table:
    """A matrix of estimates, the row's agent against the column's."""
    numbers = range(len(names))
    rows = [(names[a], *(Judged(matrix[a, b], fair) if (a, b) in matrix else "" for b in numbers)) for a in numbers]
    return Table(("", *names), rows, f"{title} (fair {fair:.3f})")


def ratings_table(ratings: Ratings) -> Table:
    """Points of each agent, best first."""
    says = (
        f"{ratings.model} by maximum likelihood; {ratings.num_games} games, 95% intervals by bootstrap of {ratings.num_groups} deals. "
        f"400 points are ten times the strength. {ratings.note}"
    )
    rows = [(name, in_points(points)) for name, points in ranked(ratings).items()]
    return Table(("agent", "points"), rows, f"{ratings.model} ratings, {ratings.anchor} = 0", says.strip())


def ranked(ratings: Ratings) -> dict[str, Estimate]:
    """Points by agent, best first."""
    return dict(sorted(zip(ratings.agents, ratings.points, strict=True), key=lambda row: -row[1].value))


def in_points(points: Estimate | None) -> str | None:
    """A rating in whole points."""
    return None if points is None else f"{points.value:+.0f} [{points.low:+.0f}, {points.high:+.0f}]"
