"""The curves of a run, out of the CSV files that trainers write."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from train.core.run import read_csv

KINDS = ("nash_conv", "win_share")
DECISIONS = ("decisions", "time/total_timesteps")  # the second is what stable-baselines3 calls them


@dataclass
class Curve:
    """A figure over decisions; ``low`` and ``high`` are empty where no interval was written."""

    decisions: list[float] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    low: list[float] = field(default_factory=list)
    high: list[float] = field(default_factory=list)


def read_curves(folder: Path) -> dict[str, Curve]:
    """The curves in curve.csv and, for what is not there, metrics.csv, by names like ``win_share/odds``.

    Raises ``ValueError`` naming the file and line of what is no number.
    """
    found: dict[str, Curve] = {}
    for name in ("curve.csv", "metrics.csv"):
        if (folder / name).is_file():
            found = {**_curves_of(folder / name), **found}
    return found


def kinds_of(curves: Mapping[str, Curve]) -> list[str]:
    """The kinds of figures there are, in the order of KINDS."""
    return [k for k in KINDS if any(name.startswith(f"{k}/") for name in curves)]


def _curves_of(path: Path) -> dict[str, Curve]:
    columns, rows = read_csv(path)
    at = next((c for c in DECISIONS if c in columns), None)
    if at is None:
        return {}
    found: dict[str, Curve] = {}
    for line, row in enumerate(rows, 2):
        for name, ends in _figures(columns, row):
            if row[at] and all(ends):  # stable-baselines3 leaves what it did not measure empty
                _add(found.setdefault(name, Curve()), f"{path}, line {line}", row[at], ends)
    return found


def _figures(columns: Iterable[str], row: Mapping[str, Any]) -> Iterable[tuple[str, list[str]]]:
    """The figures of a row: name, and value with or without its interval."""
    if row.get("baseline"):  # a row per baseline
        yield f"win_share/{row['baseline']}", [row.get(c) or "" for c in ("win_share", "low", "high")]
    for column in columns:
        if column.partition("/")[0] in KINDS and column.count("/") == 1:
            ends = [f"{column}/{end}" for end in ("low", "high") if f"{column}/{end}" in row]
            yield column, [row[c] for c in (column, *ends)]


def _add(curve: Curve, where: str, decisions: str, ends: list[str]) -> None:
    try:
        number, value, *interval = [float(x) for x in (decisions, *ends)]
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from error
    curve.decisions.append(number)
    curve.values.append(value)
    if len(interval) == 2:
        curve.low.append(interval[0])
        curve.high.append(interval[1])


def draw_curves(curves: Mapping[str, Curve], kind: str) -> Any:
    """A matplotlib figure of curves of one kind, over decisions."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 3.8), layout="constrained")
    axis = figure.subplots()
    for name, curve in curves.items():
        axis.plot(curve.decisions, curve.values, marker="o", markersize=3, label=name.partition("/")[2])
        if curve.low:
            axis.fill_between(curve.decisions, curve.low, curve.high, alpha=0.15)
    limits: dict[str, Any] = {"ylim": (0, 1)} if kind == "win_share" else {"ylim": (0, None)}
    axis.set(xlabel="decisions", ylabel=kind.replace("_", " "), **limits)
    axis.legend(fontsize=7)
    return figure
