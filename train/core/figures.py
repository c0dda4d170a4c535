"""Figures that reports share: estimates as bars or points with their intervals, and matrices of shares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite, nan
from typing import Any

from train.core.measured import Estimate


def new_figure(width: float, height: float) -> Any:
    """A matplotlib figure, which needs no display; imported when it is drawn, so that no command waits for it before."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def reach(estimates: Sequence[Estimate]) -> list[list[float]]:
    """How far the intervals go below and above their values, as matplotlib takes them."""
    return [[max(0.0, e.value - e.low) for e in estimates], [max(0.0, e.high - e.value) for e in estimates]]


def bars(estimates: Mapping[str, Estimate], fair: float, label: str) -> Any:
    """A figure of horizontal bars, the first on top, with a line at what is fair."""
    found = list(estimates.values())
    figure = new_figure(7.5, 0.6 + 0.4 * len(found))
    axis = figure.subplots()
    axis.barh(list(estimates), [e.value for e in found], xerr=reach(found), capsize=3, color="#4c78a8")
    axis.axvline(fair, color="black", linestyle="--", linewidth=1)
    axis.invert_yaxis()
    axis.set(xlabel=f"{label}, 95% intervals")
    return figure


def dots(estimates: Mapping[str, Estimate], label: str) -> Any:
    """A figure of points with intervals, the first on top; an open end runs to the edge."""
    known = [x for e in estimates.values() for x in e if isfinite(x)]
    low, high = min(known) - 50, max(known) + 50
    found = [Estimate(e.value, max(e.low, low), min(e.high, high)) for e in estimates.values()]
    figure = new_figure(7, 0.6 + 0.4 * len(found))
    axis = figure.subplots()
    axis.errorbar([e.value for e in found], list(estimates), xerr=reach(found), fmt="o", capsize=3)
    axis.axvline(0, color="grey", linewidth=0.8)
    axis.invert_yaxis()
    axis.set(xlabel=label, xlim=(low, high))
    return figure


def heat(
    axis: Any, values: Mapping[tuple[int, int], float], rows: Sequence[str], columns: Sequence[str], fair: float
) -> None:
    """A matrix of shares by row and column: green above what is fair, red below, white where there is none."""
    grid = [[values.get((row, column), nan) for column in range(len(columns))] for row in range(len(rows))]
    axis.imshow(grid, cmap="RdYlGn", vmin=0, vmax=2 * fair, aspect="auto")
    axis.set_xticks(range(len(columns)), columns, fontsize=8)
    axis.set_yticks(range(len(rows)), rows, fontsize=8)
    for (row, column), value in values.items():
        axis.text(column, row, f"{value:.2f}", ha="center", va="center", fontsize=7)
