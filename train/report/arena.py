"""The arena's results as tables for the screen, CSV files and a picture."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from perudo_env.game.files import check_writable, write_text
from train.core.run import write_csv, write_png
from train.evaluate.statistics import Estimate
from train.evaluate.tournament.arena import Arena, measure
from train.evaluate.tournament.ratings import Ratings
from train.evaluate.tournament.standings import Result

Matrix = Mapping[tuple[int, int], Estimate]


def run(arena: Arena) -> None:
    """Play, print the tables and write the run folder; raises ``ValueError`` for what cannot be run, before any game."""
    console = Console()
    variant, policies = arena.checked()
    folder = arena.out or Path("runs") / f"arena-{variant.name}-{arena.seats}seats-{datetime.now():%Y%m%d-%H%M%S}"
    for path in (folder / "arena.json", *([arena.records] if arena.records is not None else [])):
        check_writable(path)
    found = measure(arena, policies, console)
    result, rest, ratings = found.result, found.rest, found.ratings
    names, fair = result.agents, result.fair_share
    console.print(standings_table(result, str(variant)), matrix_table("placed before", names, result.pairs, 0.5))
    if rest:
        console.print(matrix_table("one seat (row) against the rest (column): win share", names, rest, fair))
    if isinstance(ratings, Ratings):
        console.print(ratings_table(ratings))
    elif ratings is not None:
        console.print(f"no ratings: {ratings}", highlight=False)
    settings = {**vars(arena), "variant": str(variant), "deals": result.num_deals, "agents": list(arena.agents)}
    write(folder, result, rest, settings, ratings if isinstance(ratings, Ratings) else None)
    console.print(f"results in {folder}")


def _judged(estimate: Estimate, fair: float) -> str:
    colour = "green" if estimate.low > fair else "red" if estimate.high < fair else "default"
    return f"[{colour}]{estimate}[/]"


def standings_table(result: Result, variant: str) -> Table:
    """Win shares and mean places, best first; green is above the fair share, red below, by the whole interval."""
    title = f"{variant}, {result.num_seats} seats, {result.num_games} games ({result.num_deals} deals), 95% intervals"
    table = Table("agent", "seats", f"win share (fair {result.fair_share:.3f})", "mean place", title=title)
    for s in sorted(result.standings, key=lambda s: -s.win_share.value):
        table.add_row(s.agent, str(s.seats), _judged(s.win_share, result.fair_share), str(s.mean_place))
    return table


def matrix_table(title: str, names: Sequence[str], matrix: Matrix, fair: float) -> Table:
    """A matrix of estimates, the row's agent against the column's."""
    table = Table("", *names, title=f"{title} (fair {fair:.3f})")
    for a, name in enumerate(names):
        table.add_row(name, *(_judged(matrix[a, b], fair) if (a, b) in matrix else "" for b in range(len(names))))
    return table


def ratings_table(ratings: Ratings) -> Table:
    """Points of each agent, best first."""
    says = f"400 points are ten times the strength; 95% intervals by bootstrap of {ratings.num_groups} deals. {ratings.note}"
    title = f"{ratings.model} ratings, {ratings.anchor} = 0, {ratings.num_games} games"
    table = Table("agent", "points", title=title, caption=says.strip())
    for name, points in sorted(zip(ratings.agents, ratings.points, strict=True), key=lambda row: -row[1].value):
        table.add_row(name, points_text(points))
    return table


def points_text(points: Estimate) -> str:
    """Points with their interval, in whole numbers."""
    return f"{points.value:+.0f} [{points.low:+.0f}, {points.high:+.0f}]"


def write(
    folder: Path, result: Result, rest: Matrix, settings: Mapping[str, Any], ratings: Ratings | None = None
) -> None:
    """Write arena.json, standings.csv, pairs.csv, rest.csv and ratings.csv if there are any, and arena.png into ``folder``."""
    write_text(folder / "arena.json", json.dumps(settings, indent=2, default=str) + "\n")
    _write_csv(
        folder / "standings.csv",
        [
            "agent",
            "seats",
            "win_share",
            "win_share_low",
            "win_share_high",
            "fair_share",
            "mean_place",
            "mean_place_low",
            "mean_place_high",
        ],
        ([s.agent, s.seats, *s.win_share, result.fair_share, *s.mean_place] for s in result.standings),
    )
    _write_matrix(folder / "pairs.csv", "placed_before", result, result.pairs, 0.5)
    if rest:
        _write_matrix(folder / "rest.csv", "win_share", result, rest, result.fair_share)
    if ratings:
        rows = (
            [name, *points, ratings.anchor, ratings.model, ratings.note]
            for name, points in zip(ratings.agents, ratings.points, strict=True)
        )
        _write_csv(
            folder / "ratings.csv", ["agent", "points", "points_low", "points_high", "anchor", "model", "note"], rows
        )
    _draw(folder / "arena.png", result, rest, str(settings["variant"]))


def _write_matrix(path: Path, what: str, result: Result, matrix: Matrix, fair: float) -> None:
    rows = ([result.agents[a], result.agents[b], *estimate, fair] for (a, b), estimate in matrix.items())
    _write_csv(path, ["agent", "against", what, f"{what}_low", f"{what}_high", "fair"], rows)


def _write_csv(path: Path, header: list[str], rows: Iterable[list[Any]]) -> None:
    write_csv(path, header, ([f"{x:.6f}" if isinstance(x, float) else x for x in row] for row in rows))


def _draw(path: Path, result: Result, rest: Matrix, variant: str) -> None:
    # imported here so that no command waits for it before it checks its input; a Figure of its own needs no display
    from matplotlib.figure import Figure

    panels = 3 if rest else 2
    figure = Figure(figsize=(5.5 * panels, 4.5), layout="constrained")
    axes = figure.subplots(1, panels)
    shares = [s.win_share for s in result.standings]
    reach = [[s.value - s.low for s in shares], [s.high - s.value for s in shares]]
    axes[0].bar(result.agents, [s.value for s in shares], yerr=reach, capsize=4, color="#4c78a8")
    axes[0].axhline(result.fair_share, color="black", linestyle="--", linewidth=1, label="fair share")
    axes[0].set(
        title=f"{variant}, {result.num_seats} seats, {result.num_games} games",
        ylabel="win share, 95% intervals",
    )
    axes[0].legend()
    _heat(axes[1], "row placed before column", result.agents, result.pairs, 0.5)
    if rest:
        _heat(
            axes[2],
            "win share of one (row) against the rest (column)",
            result.agents,
            rest,
            result.fair_share,
        )
    axes[0].tick_params(axis="x", rotation=30)
    write_png(path, figure, 120)


def _heat(axis: Any, title: str, names: Sequence[str], matrix: Matrix, fair: float) -> None:
    numbers = range(len(names))
    values = [[matrix[a, b].value if (a, b) in matrix else float("nan") for b in numbers] for a in numbers]
    axis.imshow(values, cmap="RdYlGn", vmin=0, vmax=2 * fair)
    axis.set(title=title, xticks=numbers, yticks=numbers)
    axis.set_xticklabels(names, rotation=30)
    axis.set_yticklabels(names)
    for (a, b), estimate in matrix.items():
        axis.text(b, a, f"{estimate.value:.2f}", ha="center", va="center")
