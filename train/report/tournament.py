"""The large tournament and its page: one self-contained HTML file, made from the results file, and its picture as PNG.

    python -m train tournament configs/tournament.yaml --workers 2
    python -m train tournament-page runs/tournament/results.sqlite page.html

The run folder holds results.sqlite, page.html, page.png and page.csv, a row per agent and table. The same command goes on with a run that was stopped or killed, on
any backend and any number of workers, to the same results; ``games`` may grow, variants and seats may be added.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from tyro.conf import Positional

from perudo_env.game.files import NotWrittenError, check_writable, make_folder
from train.core.backends import Backend, BackendError
from train.core.config import load_config
from train.core.figures import bars, heat, new_figure
from train.core.measured import write_measured
from train.core.options import Out, Training, Where, Workers
from train.core.run import write_png
from train.core.table import Table
from train.evaluate.tournament.overall import Overall, PlayedCell, judge, overall, ratings
from train.evaluate.tournament.results import Cell, ResultsFile
from train.evaluate.tournament.schedule import RESULTS, SMOKE, TournamentConfig, play
from train.evaluate.tournament.tables import overview_table, relative_shares, standings_table
from train.report import page

PAGE = "page.html"

HOW = (
    "Win shares are in units of an equal's share: 1 is average, 2 wins twice as often. Brackets are 95% intervals; every deal is "
    "played once per rotation of its agents over the seats, on the same dice, and all its rotations count as one sample."
)


def write(results: ResultsFile, path: Path) -> list[Overall]:
    """Write the page, whole or not at all, and its picture and data beside it; returns its first table."""
    judged = judge(results)
    rated = ratings(judged)
    rows = overall(judged, rated)
    games = sum(len(j.played.lineups) for j in judged)
    figures = []
    if rows:
        label = "win share over fair share, mean of all tables"
        figures = [
            (bars({r.agent: r.relative for r in rows}, 1, label), "win shares"),
            (_heat(judged, [r.agent for r in rows]), "win shares by table"),
        ]
    said = (
        rated
        if isinstance(rated, str)
        else f"Points: {rated.model}, {rated.anchor} = 0, 400 more are ten times the strength. {rated.note}"
    )
    about = Table(
        (), [*results.about.items(), *((f"games played by {w}", f"{n:,}") for w, n in results.workers().items())]
    )
    parts = [
        page.paragraph(f"{games:,} games at {len(judged)} tables. {HOW}"), page.heading("Over all tables"),
        page.table(replace(overview_table(rows), note=said)), *(page.plot(figure, says) for figure, says in figures),
        page.heading("Table by table"), *(part for j in judged for part in _cell(j)), *_left_out(results.cells.values()),
        page.heading("How it was played"), page.table(about),
    ]  # fmt: skip
    page.write_page(path, "A tournament of Perudo", parts)
    write_measured(path.with_suffix(".csv"), relative_shares(judged))
    for figure, _ in figures[-1:]:
        write_png(path.with_suffix(".png"), figure)
    return rows


def _cell(j: PlayedCell) -> list[page.Html]:
    cell, result = j.cell, j.result
    again = (
        f"The same games: python -m train arena --agents {' '.join(cell.agents)} --variant {cell.variant} --seats {cell.seats} "
        f"--games {result.num_games} --seed {cell.seed} --chunk {result.num_games // j.work.tasks}"
    )
    says = f"{cell.variant}, {cell.seats} seats: {result.num_games:,} games"
    return [page.paragraph(says), page.table(replace(standings_table(result), note=again))]


def _left_out(cells: Iterable[Cell]) -> list[page.Html]:
    lines = [[f"{cell.variant}, {cell.seats} seats", why] for cell in cells for why in cell.left_out]
    table = Table(("table", "agent and reason"), lines)
    return [page.heading("Who could not sit where"), page.table(table)] if lines else []


def _heat(judged: Sequence[PlayedCell], agents: Sequence[str]) -> Any:
    """A figure with a panel per variant: an agent a row, a number of seats a column."""
    variants = list(dict.fromkeys(j.cell.variant for j in judged))
    seats = sorted({j.cell.seats for j in judged})
    across = min(4, len(variants))
    down = -(-len(variants) // across)
    figure = new_figure(1.4 + across * (0.9 + 0.55 * len(seats)), down * (0.9 + 0.32 * len(agents)))
    panels = figure.subplots(down, across, squeeze=False, sharey=True).ravel()
    for panel in panels[len(variants) :]:
        panel.set_visible(False)
    columns = [f"{n} seats" if n == seats[0] else str(n) for n in seats]
    for panel, variant in zip(panels, variants, strict=False):
        mine = [j for j in judged if j.cell.variant == variant]
        values = {
            (agents.index(a), seats.index(j.cell.seats)): j.relative(a).value for j in mine for a in j.cell.agents
        }
        heat(panel, {at: share for at, share in values.items() if not np.isnan(share)}, agents, columns, 1)
        panel.set_title(variant, fontsize=9)
    return figure


@dataclass(frozen=True)
class TournamentOptions(Training, Where):
    """A tournament's configuration and folder."""

    keys = TournamentConfig

    config: Positional[Path] = Path("configs/tournament.yaml")
    """A YAML file."""
    out: Out = Path("runs/tournament")
    workers: Workers = 2


def run(options: TournamentOptions) -> None:
    """Play what is not yet in the folder's results, and write its page; finished games are kept, whatever happens."""
    folder = options.out or Path("runs/tournament")
    config = load_config(TournamentConfig, options.config, (*(SMOKE if options.smoke else ()), *options.overrides))
    kept = f"finished games are kept in {folder / RESULTS}"
    try:
        hold(config, folder, options.open_backend(), Console())
    except BackendError as error:
        raise BackendError(f"{error}; {kept}") from error
    except KeyboardInterrupt as error:
        raise KeyboardInterrupt(f"{kept}, the same command goes on") from error


def hold(config: TournamentConfig, folder: Path, backend: Backend, console: Console) -> None:
    """Play what is not yet in the folder's results, and write its page.

    Raises ``ValueError`` for what cannot be run or results that are not of this tournament, ``BackendError`` for workers
    that fail.
    """
    cells = config.cells()
    check_writable(folder / PAGE)
    make_folder(folder)
    with ResultsFile(folder / RESULTS, config.settings()) as results:
        try:
            play(config, cells, results, backend, console)
        except BaseException:
            # a stopped run shows what it has, if it can
            with suppress(NotWrittenError):
                write(results, folder / PAGE)
            raise
        console.print(overview_table(write(results, folder / PAGE)).rich())
    console.print(f"results in {folder / RESULTS}, the page in {folder / PAGE}", highlight=False)


@dataclass(frozen=True)
class PageOptions:
    """The page of a tournament."""

    results: Positional[Path]
    """Its results file."""
    out: Positional[Path] = Path("page.html")
    """The page to write."""


def make_page(options: PageOptions) -> None:
    """Make the page of a tournament from its results file."""
    with ResultsFile(options.results) as file:
        write(file, options.out)
    print(f"the page is in {options.out}")
