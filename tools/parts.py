"""The generated parts of README and of the site, as Markdown: tables from the code, the rulebook and the data in ``docs/data``."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel

from agents import BASELINES, HELD_OUT
from agents.__main__ import main as agents_door
from perudo_env.engine.observation import LAYOUT
from perudo_env.engine.variant import RULE_TEXTS, SWITCHES, VARIANTS, switch_values
from perudo_env.rulebook.texts import PRESET_SOURCE, SILENT, SOURCES
from train.__main__ import main as train_door
from train.core.config import options_of
from train.evaluate.statistics import Estimate, mean_of
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

ROOT = Path(__file__).parent.parent
DATA = ROOT / "docs" / "data"
CONFIGS = {
    "ppo": "train.selfplay.options:Config",
    "sb3": "train.selfplay.sb3:Quickstart",
    "distil": "train.selfplay.distil:Config",
    "nfsp": "train.research.nfsp:NFSPConfig",
    "deep_cfr": "train.research.deep_cfr:DeepCFRConfig",
}
"""What each trainer is told: its command -> the model of its configuration."""

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


def markdown(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table in Markdown; a None is a dash."""
    lines = [["-" if cell is None else str(cell) for cell in row] for row in rows]
    head, *body = (f"| {' | '.join(cells)} |" for cells in [list(columns), *lines])
    return "\n".join([head, "|---" * len(columns) + "|", *body])


# ---------------------------------------------------------------------------------------------- from the code


def layout_table() -> str:
    """The observation's blocks."""
    return markdown(
        ("block", "shape", "1 means"), [(f"`{b.name}`", " x ".join(map(str, b.dims)), b.says) for b in LAYOUT]
    )


def presets_table() -> str:
    """The five texts and their presets."""
    return markdown(
        ("short name", "source", "preset"), [(s, SOURCES[s].en, f"`{preset}`") for preset, s in PRESET_SOURCE.items()]
    )


def variants_table() -> str:
    """What every preset of the five texts plays; a star where its text is silent."""
    rows = (
        (f"`{s}`", *(f"{getattr(VARIANTS[p], s)}{'*' * (s in SILENT.get(p, ()))}" for p in RULE_TEXTS))
        for s in SWITCHES
    )
    return markdown(("switch", *RULE_TEXTS), rows)


def switches_table() -> str:
    """Every switch, its line and its values."""
    from dataclasses import fields

    from perudo_env.engine.variant import Variant

    says = {f.name: f.metadata["says"] for f in fields(Variant) if f.name in SWITCHES}
    return markdown(
        ("switch", "values", "what it decides"),
        [(f"`{s}`", ", ".join(f"`{v}`" for v in switch_values(s)), says[s]) for s in SWITCHES],
    )


def commands_table(door: Any) -> str:
    """The commands of a package, by kind."""
    rows = [
        (f"`{door.prog} {name}`", kind, command.says)
        for kind, commands in door.kinds.items()
        for name, command in commands.items()
    ]
    return markdown(("command", "to", "what it makes"), rows)


def options_table(where: str) -> str:
    """Every key of a trainer's configuration, its default and its line."""
    module, _, name = where.partition(":")
    kind: type[BaseModel] = getattr(import_module(module), name)
    return markdown(("key", "default", "what it is"), _option_rows(kind))


def _option_rows(kind: type[BaseModel]) -> Iterator[tuple[str, str, str]]:
    for key, default, says in options_of(kind):
        given = "" if default is ... else yaml.safe_dump([default], default_flow_style=True, width=10**6)[1:-2]
        line = " ".join(says.replace("``", "`").replace("|", "\\|").split())
        yield f"`{key}`", f"`{given}`" if 0 < len(given) <= 60 else "see the source" if given else "", line


def held_out_list() -> str:
    """The strangers that judge and never train."""
    return ", ".join(f"`{name}`" for name in HELD_OUT)


# ---------------------------------------------------------------------------------------------- from docs/data


@cache
def rows_of(name: str) -> list[dict[str, str]]:
    """The rows of a CSV file in ``docs/data``."""
    with (DATA / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _shown(row: dict[str, str]) -> str:
    """A measured value: exact, between two certified ends, or with its 95% interval."""
    value, low, high = row["value"], row["low"], row["high"]
    if not low:
        return f"{float(value):.3f}"
    return f"{float(low):.3f} to {float(high):.3f}" if not value else str(Estimate(*map(float, (value, low, high))))


def measured_table(name: str) -> str:
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
    return markdown(("", *columns, *(["games"] if wide else [])), rows) + f"\n\nFirst cell: {note}."


def _number(text: str) -> str:
    return f"{int(text):,}" if text.isdigit() else text


def speed_table(kind: str) -> str:
    """What ``make bench`` found: rates and their ratio."""
    rows = [
        (
            row["what"], f"{int(row['ours']):,}", f"{int(row['peer']):,}",
            f"{float(row['ratio']):g} [{float(row['lowest']):g}, {float(row['highest']):g}]",
        )
        for row in rows_of("speed.csv") if row["kind"] == kind
    ]  # fmt: skip
    return markdown(("", "ours, decisions/s", "peer, decisions/s", "ratio"), rows)


def _shares() -> dict[str, dict[int, list[Estimate]]]:
    """By agent and seats, its win share over fair share at every table of the tournament."""
    found: dict[str, dict[int, list[Estimate]]] = {}
    for row in rows_of("tournament.csv"):
        seats = int(row["table"].rpartition(", ")[2].split()[0])
        share = Estimate(*(float(row[end]) for end in ("value", "low", "high")))
        found.setdefault(row["agent"], {}).setdefault(seats, []).append(share)
    return found


def _ranked() -> dict[str, Estimate]:
    """By agent, its win share over fair share in the mean of all tables, best first."""
    over = {agent: mean_of([s for shares in tables.values() for s in shares]) for agent, tables in _shares().items()}
    return dict(sorted(over.items(), key=lambda item: -item[1].value))


def tournament_table() -> str:
    """The standings of the tournament, with their intervals."""
    shares = _shares()
    seats = sorted({n for tables in shares.values() for n in tables})
    rows = [
        (f"`{agent}`", *(mean_of(shares[agent][n]) if n in shares[agent] else None for n in seats), overall)
        for agent, overall in _ranked().items()
    ]
    return markdown(("agent", *(f"{n} seats" for n in seats), "all"), rows)


def strength_table() -> str:
    """Every named agent: its idea, its strength in the tournament, its safety in a small round and against a local best response."""
    kept = read()
    rows = []
    for agent, share in _ranked().items():
        conv = kept.get(f"agent/classic/2v1/{agent}", {}).get("nash_conv")
        rows.append((f"`{agent}`", IDEAS[agent], share, None if conv is None else f"{conv:.3f}"))
    return markdown(("agent", "idea", "strength", "NashConv at 2 v 1 dice"), rows)


def benchmark_table(name: str) -> str:
    """What ``python -m train benchmark`` found of a champion."""
    return str(shares_table(json.loads((DATA / f"benchmark-{name}.json").read_text(encoding="utf-8"))))


def compare_table() -> str:
    """The last points of all trainers."""
    return str(last_points(read_points(DATA / "compare.csv")))


PARTS: dict[str, Callable[[], str]] = {
    "layout": layout_table,
    "presets": presets_table,
    "variants": variants_table,
    "switches": switches_table,
    "agents_commands": lambda: commands_table(agents_door),
    "train_commands": lambda: commands_table(train_door),
    "held_out": held_out_list,
    **{f"options_{name}": lambda where=where: options_table(where) for name, where in CONFIGS.items()},  # type: ignore[misc]
    "rounds": lambda: str(rounds_table(read())),
    "palifico": lambda: str(palifico_table(read())),
    "matches": lambda: str(matches_table(read())),
    "agents_exact": lambda: str(agents_table(read())),
    "recall": lambda: str(recall_table(read())),
    "benchmark_duel": lambda: benchmark_table("duel"),
    "benchmark_table": lambda: benchmark_table("table"),
    "compare": compare_table,
    "tournament": tournament_table,
    "strength": strength_table,
    "speed": lambda: speed_table("play"),
    "speed_training": lambda: speed_table("training"),
    **{
        f"measured_{name}": lambda name=name: measured_table(name)  # type: ignore[misc]
        for name in dict.fromkeys(row["table"] for row in rows_of("measured.csv"))
    },
}
"""Every generated part by its name: README holds some between comments, the site's pages name them."""

assert set(BASELINES) <= set(IDEAS)
