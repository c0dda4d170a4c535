"""Tables as data: described once, shown on the screen by rich, in Markdown, and in HTML by ``train.report.page``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import rich.table
from rich.console import Group
from rich.text import Text

COLOURS = {"above": "green", "below": "red", "": ""}


class Interval(Protocol):
    """A value's interval."""

    @property
    def low(self) -> float:
        """The lower end."""
        ...

    @property
    def high(self) -> float:
        """The upper end."""
        ...


class Code(str):
    """A cell that is a name as it is typed: in Markdown it stands between backticks."""

    __slots__ = ()


class Judged:
    """A cell with an estimate beside what is fair: ``mark`` says whether its whole interval is above or below that."""

    def __init__(self, estimate: Interval, fair: float) -> None:
        self.estimate = estimate
        self.mark = "above" if estimate.low > fair else "below" if estimate.high < fair else ""

    def __str__(self) -> str:
        return str(self.estimate)


@dataclass(frozen=True)
class Table:
    """A table: cells are shown as ``str`` gives them, None as a dash; without ``columns`` it has no header."""

    columns: Sequence[str]
    rows: Sequence[Sequence[object]]
    title: str = ""
    note: str = ""

    def without_gaps(self) -> Table:
        """The table without the rows that hold nothing but gaps behind their names."""
        rows = [row for row in self.rows if any(cell is not None for cell in row[1:])]
        return Table(self.columns, rows, self.title, self.note)

    def rich(self) -> Group:
        """The table for the screen, its title above it and its note below: what is judged above is green, below red."""
        shown = rich.table.Table(show_header=bool(self.columns))
        for column in self.columns or [""] * max(map(len, self.rows), default=0):
            shown.add_column(Text(column))
        for row in self.rows:
            shown.add_row(*(Text(text(cell), COLOURS[getattr(cell, "mark", "")]) for cell in row))
        above, below = (
            [Text(words, style)] if words else [] for words, style in ((self.title, "bold"), (self.note, "dim"))
        )
        return Group(*above, shown, *below)

    def markdown(self) -> str:
        """The table in Markdown, without its title and note."""
        if not self.rows:
            return "Not measured yet."
        lines = [[_marked_down(cell) for cell in row] for row in (self.columns, *self.rows)]
        head, *body = (f"| {' | '.join(cells)} |" for cells in lines)
        return "\n".join([head, "|---" * len(lines[0]) + "|", *body])


def text(cell: object) -> str:
    """What a cell shows."""
    return "-" if cell is None else str(cell)


def _marked_down(cell: object) -> str:
    return f"`{cell}`" if isinstance(cell, Code) else text(cell)
