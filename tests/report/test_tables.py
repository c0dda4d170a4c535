"""Tables described once and shown in three ways, and measured values kept as rows of CSV."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from rich.console import Console

from train.core.measured import Estimate, Measured, exact, measured_table, read_measured, write_measured
from train.core.table import Code, Judged, Table
from train.report import page

TABLE = Table(
    ("agent", "win share"),
    [
        (Code("odds"), Judged(Estimate(0.6, 0.55, 0.65), 0.5)),
        ("<b>[red]x", Judged(Estimate(0.4, 0.35, 0.45), 0.5)),
        ("equal", Judged(Estimate(0.5, 0.45, 0.55), 0.5)),
        ("absent", None),
    ],
    "who wins",
    "on 40 games & more",
)
FOUND = [
    exact("nash_conv", 0.25, "classic 1v1"),
    Measured("win_share", 0.597, 0.57, 0.62, "classic, 2 seats", against="odds"),
]


def test_one_description_gives_the_same_cells_everywhere() -> None:
    assert TABLE.markdown().splitlines() == [
        "| agent | win share |", "|---|---|", "| `odds` | 0.600 [0.550, 0.650] |", "| <b>[red]x | 0.400 [0.350, 0.450] |",
        "| equal | 0.500 [0.450, 0.550] |", "| absent | - |",
    ]  # fmt: skip
    html = page.table(TABLE)
    assert "<th>agent</th><th>win share</th>" in html
    assert "<tr><td>odds</td><td class=above>0.600 [0.550, 0.650]</td></tr>" in html
    assert "<tr><td>&lt;b&gt;[red]x</td><td class=below>0.400 [0.350, 0.450]</td></tr>" in html
    assert "<tr><td>equal</td><td>0.500 [0.450, 0.550]</td></tr><tr><td>absent</td><td>-</td></tr>" in html
    assert html.endswith("<p class=note>on 40 games &amp; more</p>")
    console = Console(width=80, color_system="standard", force_terminal=True)
    with console.capture() as captured:
        console.print(TABLE.rich())
    shown = captured.get()
    for words in ("who wins", "<b>[red]x", "on 40 games & more"):
        assert words in shown
    assert "\x1b[32m0.600 [0.550, 0.650]" in shown
    assert "\x1b[31m0.400 [0.350, 0.450]" in shown


def test_rows_of_gaps_and_tables_without_rows_are_said() -> None:
    assert [row[0] for row in TABLE.without_gaps().rows] == ["odds", "<b>[red]x", "equal"]
    assert Table(("a", "b"), [("x", None)]).without_gaps().markdown() == "Not measured yet."


def test_a_measured_value_is_one_row_with_its_interval_for_people_and_in_csv(tmp_path: Path) -> None:
    assert measured_table(FOUND).markdown().splitlines()[2:] == [
        "| exact NashConv | classic 1v1 | 0.2500 |",
        "| win share | classic, 2 seats, against odds | 0.597 [0.570, 0.620] |",
    ]
    path = tmp_path / "results.csv"
    write_measured(path, FOUND)
    assert path.read_text().splitlines()[0] == "name,value,low,high,table,agent,against"
    with path.open() as file:
        assert [read_measured(row) for row in csv.DictReader(file)] == FOUND
    with pytest.raises(ValueError, match="lacks the columns value, low"):
        read_measured({"name": "x", "high": "1", "table": "", "agent": "", "against": ""})
    with pytest.raises(ValueError, match="much"):
        read_measured(FOUND[0]._asdict() | {"value": "much"})
