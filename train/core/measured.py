"""Measured values as records: what was measured, where and of whom, with its 95% interval; a row each of every CSV file of results."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from train.core.run import write_csv
from train.core.table import Table


class Estimate(NamedTuple):
    """A measured value with its two-sided interval; both ends are the value itself where it is exact."""

    value: float
    low: float
    high: float

    def excludes(self, number: float) -> bool:
        """Whether the interval does not hold ``number``."""
        return not self.low <= number <= self.high

    def __str__(self) -> str:
        return f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}]"


TITLES = {
    "nash_conv": "exact NashConv",
    "teacher_nash_conv": "exact NashConv of the teacher",
    "stranger_share": "win share against a stranger",
    "stranger_gap": "win share, baselines less strangers",
    "response_gain": "gain of a short learned response",
    "divergence": "divergence from the teacher, nats",
}


class Measured(NamedTuple):
    """A measured value: ``name`` says what of (win_share, nash_conv), ``table`` where (a variant with its seats or dice)."""

    name: str
    value: float
    low: float
    high: float
    table: str = ""
    agent: str = ""  # whose it is; "" where there is one alone
    against: str = ""  # who sat in the other seats, where that was another agent

    @property
    def estimate(self) -> Estimate:
        """The value and its interval."""
        return Estimate(self.value, self.low, self.high)

    @property
    def where(self) -> str:
        """The table, and who was played against."""
        return f"{self.table}, against {self.against}" if self.against else self.table

    @property
    def tag(self) -> str:
        """The name of its curve in TensorBoard."""
        return "/".join(filter(None, (self.name, self.against, self.table)))

    @property
    def title(self) -> str:
        """The name as people read it."""
        return TITLES.get(self.name, self.name.replace("_", " "))

    def __str__(self) -> str:
        """The value and, where it is not exact, its interval."""
        return f"{self.value:.4f}" if self.low == self.high else str(self.estimate)


SCORED = "win_share", "nash_conv"


def score(found: Sequence[Measured]) -> float | None:
    """How good a point of a curve is: the mean of its win shares, or, where none was measured, minus its mean NashConv.

    None where neither was.
    """
    shares, gains = ([m.value for m in found if m.name == name] for name in SCORED)
    if shares:
        return sum(shares) / len(shares)
    return -sum(gains) / len(gains) if gains else None


def exact(name: str, value: float, table: str, agent: str = "") -> Measured:
    """A value that is computed, not sampled."""
    return Measured(name, value, value, value, table, agent)


def read_measured(row: Mapping[str, str]) -> Measured:
    """The record in a row of a CSV file; raises ``ValueError`` for what is no number or lacks a column."""
    missing = [name for name in Measured._fields if name not in row]
    if missing:
        raise ValueError(f"it lacks the columns {', '.join(missing)}")
    value, low, high = (float(row[end]) for end in ("value", "low", "high"))
    return Measured(row["name"], value, low, high, row["table"], row["agent"], row["against"])


def write_measured(path: Path, found: Iterable[Measured]) -> None:
    """Write records as CSV, whole or not at all: columns name, value, low, high, table, agent, against."""
    write_csv(path, Measured._fields, ([f"{x:.6f}" if isinstance(x, float) else x for x in row] for row in found))


def in_a_line(found: Sequence[Measured]) -> str:
    """Values without their intervals, by what was measured."""
    names = dict.fromkeys(m.title for m in found)
    return "; ".join(
        f"{name} " + ", ".join(f"{m.value:.3f} ({m.where})" for m in found if m.title == name) for name in names
    )


def measured_table(found: Sequence[Measured], title: str = "") -> Table:
    """Records as a table for people, a row each."""
    return Table(("measured", "table", "value, 95% interval"), [(m.title, m.where, m) for m in found], title)
