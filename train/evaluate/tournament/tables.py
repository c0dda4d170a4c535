"""Standings, ratings and whole tournaments as tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isnan

from train.core.measured import Estimate, Measured
from train.core.table import Code, Judged, Table
from train.evaluate.statistics import mean_of
from train.evaluate.tournament.overall import Overall, PlayedCell
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


def overview_table(rows: Sequence[Overall]) -> Table:
    """Every agent over its tables."""
    shown = [(r.agent, r.cells, Judged(r.relative, 1.0), in_points(r.points)) for r in rows]
    return Table(
        ("agent", "tables", "win share / fair share", "points"), shown, "over all tables, 95% intervals (1 is average)"
    )


def relative_shares(judged: Sequence[PlayedCell]) -> list[Measured]:
    """Win share over fair share of every agent at every table where it has one."""
    found = ((j, agent, j.relative(agent)) for j in judged for agent in dict.fromkeys(j.cell.agents))
    return [
        Measured("relative_win_share", *share, f"{j.cell.variant}, {j.cell.seats} seats", agent)
        for j, agent, share in found
        if not isnan(share.value)
    ]


def over_all(shares: Sequence[Measured]) -> dict[str, Estimate]:
    """The mean over all tables by agent, best first; tables weigh alike and are independent samples."""
    names = dict.fromkeys(m.agent for m in shares)
    means = {name: mean_of([m.estimate for m in shares if m.agent == name]) for name in names}
    return dict(sorted(means.items(), key=lambda item: -item[1].value))


def by_seats(shares: Sequence[Measured]) -> Table:
    """Win share over fair share, the mean of all variants, by number of seats and over all tables, best first."""
    columns = sorted({m.table.rpartition(", ")[2] for m in shares})
    means = {column: over_all([m for m in shares if m.table.endswith(f", {column}")]) for column in columns}
    rows = [(Code(name), *(means[c].get(name) for c in columns), share) for name, share in over_all(shares).items()]
    return Table(("agent", *columns, "all"), rows)
