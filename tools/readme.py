"""The generated parts of README: ``python -m tools.readme`` writes them anew, a test compares."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from perudo_env.engine.observation import LAYOUT
from perudo_env.engine.variant import RULE_TEXTS, SWITCHES, VARIANTS
from perudo_env.rulebook.texts import SILENT
from train.core.table import Code, Table
from train.evaluate.tournament.results import ResultsFile
from train.evaluate.tournament.tables import by_seats
from train.report.benchmark import shares_table
from train.report.numbers import read
from train.report.numbers_tables import (
    agents_table,
    matches_table,
    palifico_table,
    recall_table,
    rounds_table,
)
from train.research.compare import last_points, read_points

CHAMPIONS = ("duel", "table")
NUMBERS = (rounds_table, palifico_table, matches_table, agents_table, recall_table)
ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"


def layout_table() -> Table:
    """The observation's blocks."""
    return Table(("block", "shape", "1 means"), [(Code(b.name), " x ".join(map(str, b.dims)), b.says) for b in LAYOUT])


def variants_table() -> Table:
    """The presets of the five texts."""
    rows = [
        (Code(switch), *(f"{getattr(VARIANTS[p], switch)}{'*' * (switch in SILENT.get(p, ()))}" for p in RULE_TEXTS))
        for switch in SWITCHES
    ]
    return Table(("switch", *RULE_TEXTS), rows)


def card_of(name: str) -> dict[str, Any] | None:
    """What ``python -m train benchmark`` found of a champion, if it is kept."""
    path = ROOT / "docs" / f"benchmark-{name}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def tournament_table() -> Table:
    """The standings of the tournament that is kept."""
    with ResultsFile(ROOT / "docs" / "tournament.sqlite") as results:
        return by_seats(results)


def filled(text: str) -> str:
    """README with its generated parts made anew."""
    kept = read()
    made_of_numbers = [(t.__name__.removesuffix("_table"), t(kept)) for t in NUMBERS]
    champions = [(name, shares_table(card_of(name))) for name in CHAMPIONS]
    parts = [("layout", layout_table()), ("variants", variants_table()), *made_of_numbers, *champions]
    parts.append(("compare", last_points(read_points(ROOT / "docs" / "compare.csv"))))
    parts.append(("tournament", tournament_table()))
    for name, made in parts:
        before, begin, rest = text.partition(f"<!-- {name} -->\n")
        _, end, after = rest.partition(f"<!-- /{name} -->")
        text = f"{before}{begin}{made.markdown()}\n{end}{after}"
    return text


if __name__ == "__main__":
    README.write_text(filled(README.read_text(encoding="utf-8")), encoding="utf-8")
