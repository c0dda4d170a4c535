"""Standings, ratings and whole tournaments as tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from train.core.measured import Estimate
from train.core.table import Code, Judged, Table
from train.evaluate.tournament.overall import Overall, judge, overall
from train.evaluate.tournament.ratings import Ratings
from train.evaluate.tournament.results import ResultsFile
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


def by_seats(results: ResultsFile) -> Table:
    """Win share over fair share, the mean of all variants, by number of seats and over all tables, best first."""
    judged = judge(results)
    seats = sorted({j.cell.seats for j in judged})
    columns = [{r.agent: r.relative for r in overall([j for j in judged if j.cell.seats == n], "")} for n in seats]
    rows = [
        (Code(row.agent), *(f"{c[row.agent].value:.2f}" if row.agent in c else None for c in columns), row.relative)
        for row in overall(judged, "")
    ]
    return Table(("agent", *(f"{n} seats" for n in seats), "all"), rows)
