"""The generated parts of README and of the site, as Markdown: tables from the code, the rulebook and the data in ``docs/data``."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import fields
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

import yaml
from pydantic import BaseModel

from agents import HELD_OUT
from agents.__main__ import main as agents_door
from agents.core.command import Command
from perudo_env.engine.observation import LAYOUT
from perudo_env.engine.variant import RULE_TEXTS, SWITCHES, VARIANTS, Variant, switch_values
from perudo_env.game.door import Door
from perudo_env.rulebook.texts import PRESET_SOURCE, SILENT, SOURCES
from train.__main__ import main as train_door
from train.core.config import options_of
from train.core.measured import Estimate, Measured, read_measured
from train.core.run import read_csv
from train.core.table import Code, Table
from train.evaluate.tournament.tables import by_seats, over_all
from train.report.benchmark import shares_table
from train.report.demo import range_table, read_demos
from train.report.numbers import read
from train.report.numbers_tables import (
    agents_table,
    matches_table,
    palifico_table,
    recall_table,
    rounds_table,
)
from train.research.compare import last_points, read_points

ROOT = Path(__file__).parent.parent
DATA = ROOT / "docs" / "data"
CONFIGURED = ("ppo", "sb3", "distil", "nfsp", "deep-cfr")
"""Commands that a YAML file configures, and whose keys the site lists."""

IDEAS = {
    "uniform": "every legal action alike",
    "odds": "the chance that each bid holds, given its own dice",
    "threshold": "bids what holds with a fixed chance, doubts what does not",
    "bluffer": "the odds, with a bluff now and then",
    "inference": "reads the others' dice from their bids by Bayes, looks one step ahead",
    "exact": "solved tables of small two-seat rounds, `inference` elsewhere",
    "duel": "two seats: solved tables, tables by recall-limited CFR, a network",
    "table": "2 to 6 seats: one network, by self-play",
}


# ---------------------------------------------------------------------------------------------- from the code


def layout_table() -> Table:
    """The observation's blocks."""
    return Table(("block", "shape", "1 means"), [(Code(b.name), " x ".join(map(str, b.dims)), b.says) for b in LAYOUT])


def presets_table() -> Table:
    """The five texts and their presets."""
    rows = [(s, SOURCES[s].en, Code(preset)) for preset, s in PRESET_SOURCE.items()]
    return Table(("short name", "source", "preset"), rows)


def variants_table() -> Table:
    """What every preset of the five texts plays; a star where its text is silent."""
    rows = [
        (Code(s), *(f"{getattr(VARIANTS[p], s)}{'*' * (s in SILENT.get(p, ()))}" for p in RULE_TEXTS)) for s in SWITCHES
    ]
    return Table(("switch", *RULE_TEXTS), rows)


def switches_table() -> Table:
    """Every switch, its line and its values."""
    says = {f.name: f.metadata["says"] for f in fields(Variant) if f.name in SWITCHES}
    rows = [(Code(s), ", ".join(f"`{v}`" for v in switch_values(s)), says[s]) for s in SWITCHES]
    return Table(("switch", "values", "what it decides"), rows)


def commands_table(door: Door) -> Table:
    """The commands of a package, by kind."""
    rows = [
        (Code(f"{door.prog} {name}"), kind, command.says)
        for kind, commands in door.kinds.items()
        for name, command in commands.items()
    ]
    return Table(("command", "to", "what it makes"), rows)


def options_table(name: str) -> Table:
    """Every key of the YAML file of a command of ``train``, its default and its line."""
    command = next(commands[name] for commands in train_door.kinds.values() if name in commands)
    assert isinstance(command, Command)
    return Table(("key", "default", "what it is"), list(_option_rows(command.found()[1].keys)))


def _option_rows(kind: type[BaseModel]) -> Iterator[tuple[object, object, str]]:
    for key, default, says in options_of(kind):
        given = "" if default is ... else yaml.safe_dump([default], default_flow_style=True, width=10**6)[1:-2]
        line = " ".join(says.replace("``", "`").replace("|", "\\|").split())
        yield Code(key), Code(given) if 0 < len(given) <= 60 else "several" if given else "", line


def configs_table() -> Table:
    """Every configuration by its first comment."""
    rows = []
    for path in sorted((ROOT / "configs").glob("*.yaml")):
        says, _, command = path.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ").rpartition(": ")
        rows.append((Code(f"configs/{path.name}"), says, Code(command)))
    return Table(("file", "what it trains or plays", "command"), rows)


def held_out_list() -> str:
    """The strangers that judge and never train."""
    return ", ".join(f"`{name}`" for name in HELD_OUT)


# ---------------------------------------------------------------------------------------------- from docs/data


@cache
def rows_of(name: str) -> list[dict[str, str]]:
    """The rows of a CSV file in ``docs/data``."""
    return read_csv(DATA / name)[1]


def _shown(row: dict[str, str]) -> str:
    """A measured value: exact, between two certified ends, or with its 95% interval."""
    value, low, high = row["value"], row["low"], row["high"]
    if not low:
        return _number(value) if value.isdigit() else f"{float(value):.3f}"
    return f"{float(low):.3f} to {float(high):.3f}" if not value else str(Estimate(*map(float, (value, low, high))))


def measured_table(name: str) -> Table:
    """A table of ``measured.csv``: its rows and columns as the file has them, and below how it was made."""
    mine = [row for row in rows_of("measured.csv") if row["table"] == name]
    columns = list(dict.fromkeys(row["column"] for row in mine))
    found = {(row["row"], row["column"]): row for row in mine}
    games, seeds = ({row[key] for row in mine if row[key]} for key in ("games", "seed"))
    counts = [_number(row["games"]) for row in mine]
    wide = len(games) > 1
    rows = [
        [r, *(_shown(found[r, c]) if (r, c) in found else None for c in columns)]
        + ([_number(next(row["games"] for row in mine if row["row"] == r))] if wide else [])
        for r in dict.fromkeys(row["row"] for row in mine)
    ]
    how = [f"{counts[0]} games each" if games and not wide else "", f"seed {', '.join(sorted(seeds))}" if seeds else ""]
    note = f"`python -m train {mine[0]['command']}`" + "".join(f"; {part}" for part in how if part)
    return Table(("", *columns, *(["games"] if wide else [])), rows, note=f"Made, in its first cell, by {note}.")


def _number(text: str) -> str:
    return f"{int(text):,}" if text.isdigit() else text


def speed_table(kind: str) -> Table:
    """What ``make bench`` found: rates and their ratio."""
    rows = [
        (
            row["what"], f"{int(row['ours']):,}", f"{int(row['peer']):,}",
            f"{float(row['ratio']):g} [{float(row['lowest']):g}, {float(row['highest']):g}]",
        )
        for row in rows_of("speed.csv") if row["kind"] == kind
    ]  # fmt: skip
    return Table(("", "ours, decisions/s", "peer, decisions/s", "ratio"), rows)


def shares() -> list[Measured]:
    """Win share over fair share of every agent at every table of the tournament."""
    return [read_measured(row) for row in rows_of("tournament.csv")]


class Judged(NamedTuple):
    """An agent's strength, its win share over fair share in the tournament, and its safety, exact NashConv of a small round."""

    agent: str
    strength: Estimate
    nash_conv: float | None


def judged() -> list[Judged]:
    """Every agent of the tournament, the strongest first."""
    kept = read()
    return [
        Judged(agent, share, kept.get(f"agent/classic/2v1/{agent}", {}).get("nash_conv"))
        for agent, share in over_all(shares()).items()
    ]


def strength_table() -> Table:
    """Every named agent: its idea, its strength and its safety."""
    rows = [
        (Code(j.agent), IDEAS[j.agent], j.strength, None if j.nash_conv is None else f"{j.nash_conv:.3f}")
        for j in judged()
    ]
    return Table(("agent", "idea", "strength", "NashConv at 2 v 1 dice"), rows)


def benchmark_table(name: str) -> Table:
    """What ``python -m train benchmark`` found of a champion."""
    return shares_table(json.loads((DATA / f"benchmark-{name}.json").read_text(encoding="utf-8")))


def compare_table() -> Table:
    """The last points of all trainers, if they are measured."""
    path = DATA / "compare.csv"
    return last_points(read_points(path) if path.exists() else [])


def demo_table() -> Table:
    """What the demo wins, over its seeds, if it is measured."""
    path = DATA / "demo.csv"
    return range_table(read_demos(path)) if path.exists() else Table((), [])


PARTS: dict[str, Callable[[], Table | str]] = {
    "layout": layout_table,
    "presets": presets_table,
    "variants": variants_table,
    "switches": switches_table,
    "agents_commands": lambda: commands_table(agents_door),
    "train_commands": lambda: commands_table(train_door),
    "configs": configs_table,
    "held_out": held_out_list,
    **{f"options_{name}": partial(options_table, name) for name in CONFIGURED},
    "rounds": lambda: rounds_table(read()),
    "palifico": lambda: palifico_table(read()),
    "matches": lambda: matches_table(read()),
    "agents_exact": lambda: agents_table(read()),
    "recall": lambda: recall_table(read()),
    "benchmark_duel": lambda: benchmark_table("duel"),
    "benchmark_table": lambda: benchmark_table("table"),
    "compare": compare_table,
    "demo": demo_table,
    "tournament": lambda: by_seats(shares()),
    "strength": strength_table,
    "speed": lambda: speed_table("play"),
    "speed_training": lambda: speed_table("training"),
    **{
        f"measured_{name}": partial(measured_table, name)
        for name in dict.fromkeys(row["table"] for row in rows_of("measured.csv"))
    },
}
"""Every generated part by its name: README holds some between comments, the site's pages name them."""


def made(name: str) -> str:
    """A generated part in Markdown, with the note of its table below it."""
    part = PARTS[name]()
    return part if isinstance(part, str) else part.markdown() + (f"\n\n{part.note}" if part.note else "")
