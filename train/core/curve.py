"""The learning curve of a run: the measured values in its curve.csv, a row each, read and drawn over decisions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from train.core.figures import new_figure
from train.core.measured import Measured, read_measured
from train.core.run import read_csv

COLUMNS = ("decisions", "seconds", *Measured._fields)
Point = tuple[int, Measured]  # after so many decisions
LIMITS: dict[str, tuple[float, float | None]] = {"win_share": (0, 1), "nash_conv": (0, None)}


def points_of(rows: Iterable[Mapping[str, Any]]) -> list[Point]:
    """The points in rows of a curve.csv."""
    return [(int(row["decisions"]), read_measured(row)) for row in rows]


def read_curve(path: Path) -> list[Point]:
    """The points of a curve.csv up to the first row that is not whole, none if there is no such file.

    Raises ``ValueError`` naming the file, and the line of what is no number.
    """
    if not path.is_file():
        return []
    columns, rows = read_csv(path)
    if columns != list(COLUMNS):
        raise ValueError(f"{path} has the columns {', '.join(columns)}: a learning curve has {', '.join(COLUMNS)}")
    points = []
    for line, row in enumerate(rows, 2):
        try:
            points += points_of([row])
        except ValueError as error:
            raise ValueError(f"{path}, line {line}: {error}") from error
    return points


def last_of(points: Iterable[Point]) -> dict[tuple[str, str], Point]:
    """The last point of every line of the curve, by name and where it was measured."""
    return {(m.name, m.where): (decisions, m) for decisions, m in points}


def draw_curve(points: Sequence[Point]) -> Any:
    """A matplotlib figure: a panel per name, a line with its interval per table and opponent."""
    names = list(dict.fromkeys(m.name for _, m in points))
    figure = new_figure(7, 3.6 * len(names))
    for axis, name in zip(figure.subplots(len(names), squeeze=False)[:, 0], names, strict=True):
        mine = [(decisions, m) for decisions, m in points if m.name == name]
        for where in dict.fromkeys(m.where for _, m in mine):
            decisions, found = zip(*((d, m) for d, m in mine if m.where == where), strict=True)
            axis.plot(decisions, [m.value for m in found], marker="o", markersize=3, label=where)
            axis.fill_between(decisions, [m.low for m in found], [m.high for m in found], alpha=0.15)
        axis.set(xlabel="decisions", ylabel=mine[0][1].title, ylim=LIMITS.get(name))
        axis.legend(fontsize=7)
    return figure
