"""The arena's results as tables for the screen, a CSV file and a picture."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from rich.console import Console

from perudo_env.game.files import check_writable, write_text
from train.core.measured import write_measured
from train.core.run import write_png
from train.evaluate.tournament.arena import Arena, Outcome, measure
from train.evaluate.tournament.ratings import Ratings
from train.report.figures import heat, new_figure, reach
from train.report.standings import matrix_table, ratings_table, standings_table


def run(arena: Arena) -> None:
    """Play, print the tables and write the run folder; raises ``ValueError`` for what cannot be run, before any game."""
    console = Console()
    variant, policies = arena.checked()
    folder = arena.out or Path("runs") / f"arena-{variant.name}-{arena.seats}seats-{datetime.now():%Y%m%d-%H%M%S}"
    for path in (folder / "arena.json", *([arena.records] if arena.records is not None else [])):
        check_writable(path)
    found = measure(arena, policies, console)
    result, ratings = found.result, found.ratings
    title = f"{variant}, {result.num_seats} seats, {result.num_games} games ({result.num_deals} deals), 95% intervals"
    tables = [standings_table(result, title), matrix_table("placed before", result.agents, result.pairs, 0.5)]
    if found.rest:
        says = "one seat (row) against the rest (column): win share"
        tables.append(matrix_table(says, result.agents, found.rest, result.fair_share))
    if isinstance(ratings, Ratings):
        tables.append(ratings_table(ratings))
    console.print(*(table.rich() for table in tables))
    if isinstance(ratings, str):
        console.print(f"no ratings: {ratings}", highlight=False)
    settings = {**vars(arena), "variant": str(variant), "deals": result.num_deals, "agents": list(arena.agents)}
    write(folder, found, settings)
    console.print(f"results in {folder}")


def write(folder: Path, found: Outcome, settings: Mapping[str, Any]) -> None:
    """Write arena.json, results.csv and arena.png into ``folder``."""
    told = dict(settings)
    if isinstance(found.ratings, Ratings):
        told["ratings"] = {key: getattr(found.ratings, key) for key in ("model", "anchor", "note")}
    table = f"{settings['variant']}, {found.result.num_seats} seats"
    write_text(folder / "arena.json", json.dumps(told, indent=2, default=str) + "\n")
    write_measured(folder / "results.csv", found.measured(table))
    write_png(folder / "arena.png", _drawn(found, f"{table}, {found.result.num_games} games"), 120)


def _drawn(found: Outcome, title: str) -> Any:
    result = found.result
    matrices = [("row placed before column", result.pairs, 0.5)]
    if found.rest:
        matrices.append(("win share of one (row) against the rest (column)", found.rest, result.fair_share))
    figure = new_figure(5.5 * (1 + len(matrices)), 4.5)
    first, *others = figure.subplots(1, 1 + len(matrices))
    shares = [s.win_share for s in result.standings]
    first.bar(result.agents, [s.value for s in shares], yerr=reach(shares), capsize=4, color="#4c78a8")
    first.axhline(result.fair_share, color="black", linestyle="--", linewidth=1, label="fair share")
    first.set(title=title, ylabel="win share, 95% intervals")
    first.legend()
    first.tick_params(axis="x", rotation=30)
    for axis, (says, matrix, fair) in zip(others, matrices, strict=True):
        heat(axis, {pair: e.value for pair, e in matrix.items()}, result.agents, result.agents, fair)
        axis.set(title=says)
        axis.tick_params(axis="x", rotation=30)
    return figure
