"""The report of a run: one HTML page with the learning curve, exploitability, ratings and habits of what was trained.

    python -m train report runs/ppo-20260101-120000

RUN is the folder of any trainer here. Read are curve.csv, config.yaml, and checkpoint/, which plays for the ratings and the
habits. The page, RUN/report.html, holds its figures and needs no network.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import isnan
from pathlib import Path
from typing import Any

import yaml
from rich.console import Console
from tyro.conf import Positional

import agents as registry
from agents.core.checkpoint import ABOUT, read_about
from perudo_env.engine.variant import Variant, parse_variant
from perudo_env.game.files import check_writable
from train.core.config import read_yaml
from train.core.curve import Point, draw_curve, last_of, read_curve
from train.core.figures import dots, new_figure, reach
from train.core.options import Seed
from train.core.table import Table
from train.evaluate.habits import BLUFF, KINDS, Habits, habits
from train.evaluate.tournament.arena import Arena, measure
from train.evaluate.tournament.ratings import Ratings
from train.evaluate.tournament.tables import ranked, ratings_table
from train.report import page

TITLES = {"nash_conv": "Exploitability (exact NashConv)", "win_share": "Win share while training"}


@dataclass(frozen=True)
class Report:
    """Write a page about a run."""

    run: Positional[Path]
    """The run folder."""
    games: int = 600
    """Games a table, once for the ratings and once for the habits."""
    tables: int = 2
    """How many of the tables that the checkpoint plays are judged, spread over all of them."""
    baselines: tuple[str, ...] = field(default_factory=lambda: tuple(registry.BASELINES))
    """The agents that it is rated against."""
    seed: Seed = 0
    bluff: float = BLUFF
    """A bid that holds with a smaller chance than this, by own dice alone, is a bluff."""


def run(report: Report) -> None:
    """Write RUN/report.html; raises ``ValueError`` for a folder that holds nothing of a run, or a broken part of one."""
    console = Console()
    if report.games < 1 or report.tables < 1:
        raise ValueError(f"games = {report.games}, tables = {report.tables}: use whole numbers from 1")
    if not 0 < report.bluff <= 1:
        raise ValueError(f"bluff = {report.bluff} is not a chance: use a number above 0, to 1")
    folder = report.run
    if not folder.is_dir():
        raise ValueError(f"{folder} is not a folder: name the folder of a run")
    curve = read_curve(folder / "curve.csv")
    checkpoint = folder / "checkpoint"
    about = read_about(checkpoint) if (checkpoint / ABOUT).exists() else None
    if not curve and about is None:
        raise ValueError(f"{folder} holds neither a curve.csv nor checkpoint/{ABOUT}: it is not the folder of a run")
    path = folder / "report.html"
    check_writable(path)
    parts = [*_made(folder, about), *_curve(curve)]
    if about is None:
        parts.append(page.paragraph("No checkpoint yet: ratings and habits follow when the run has ended."))
    else:
        for variant, seats in _tables(about, report.tables):
            parts += _judged(report, checkpoint, variant, seats, console)
    page.write_page(path, f"Run {folder.resolve().name}", parts)
    print(f"the report is {path}")


def _made(folder: Path, about: dict[str, Any] | None) -> list[page.Html]:
    rows = []
    if about is not None:
        versions = about.get("versions") or {}
        shown = {k: about.get(k) for k in ("trainer", "decisions", "seed", "commit", "weights_hash")}
        shown |= {"plays": f"{', '.join(map(str, about.get('variants', [])))}; seats {about.get('seats')}"}
        shown |= {"versions": ", ".join(f"{k} {v}" for k, v in versions.items() if v)}
        rows = [
            [k, f"{v:,}" if isinstance(v, int) and k == "decisions" else v] for k, v in shown.items() if v is not None
        ]
    parts = [page.table(Table((), rows))] if rows else []
    config = folder / "config.yaml"
    if config.is_file():
        parts.append(page.details("Configuration", yaml.safe_dump(read_yaml(config), sort_keys=False)))
    return parts


def _curve(points: Sequence[Point]) -> list[page.Html]:
    parts = []
    for name in sorted({m.name for _, m in points}):
        mine = [(decisions, m) for decisions, m in points if m.name == name]
        title = TITLES.get(name, mine[0][1].title)
        rows = [(m.where, f"{decisions:,}", m) for decisions, m in last_of(mine).values()]
        parts += [
            page.heading(title),
            page.plot(draw_curve(mine), title),
            page.table(Table(("", "decisions", "last value"), rows)),
        ]
    return parts


def _tables(about: dict[str, Any], most: int) -> list[tuple[Variant, int]]:
    """Tables of a checkpoint, at most ``most``, spread over all it was trained for."""
    try:
        every = [(parse_variant(v), int(n)) for v in about["variants"] for n in about["seats"]]
    except (KeyError, TypeError) as error:
        raise ValueError(f"the checkpoint's {ABOUT} does not say which variants and seats it plays") from error
    if len(every) <= most:
        return every
    return [every[round(i * (len(every) - 1) / max(most - 1, 1))] for i in range(most)]


def _judged(report: Report, checkpoint: Path, variant: Variant, seats: int, console: Console) -> list[page.Html]:
    where, parts = f"{variant}, {seats} seats", []
    if report.baselines:
        arena = Arena(
            (str(checkpoint), *report.baselines), str(variant), seats, report.games, report.seed,
            anchor="odds" if "odds" in report.baselines else None,
        )  # fmt: skip
        rated = measure(arena, arena.checked()[1], console).ratings
        told = ratings_parts(rated) if isinstance(rated, Ratings) else [page.paragraph(f"No ratings: {rated}.")]
        parts = [page.heading(f"Ratings: {where}"), *told]
    agent = registry.load(checkpoint, variant, seats)
    found = habits(agent, variant, seats, report.games, report.seed, bluff=report.bluff)
    return [*parts, page.heading(f"Habits: {where}"), *habits_parts(found)]


def ratings_parts(ratings: Ratings) -> list[page.Html]:
    """Ratings as a figure, and a table with what must be said of them."""
    figure = dots(ranked(ratings), f"points, {ratings.anchor} = 0")
    return [page.plot(figure, "ratings"), page.table(ratings_table(ratings))]


def habits_parts(found: Habits) -> list[page.Html]:
    """Habits as a figure by dice left, and a table with the definitions."""
    figure = new_figure(7, 3.4)
    axis = figure.subplots()
    for kind, name in enumerate(KINDS):
        mine = {dice: row[kind] for dice, row in found.by_dice.items() if not isnan(row[kind].value)}
        if mine:
            middle = [e.value for e in mine.values()]
            axis.errorbar(list(mine), middle, yerr=reach([*mine.values()]), marker="o", capsize=3, label=name)
    axis.set(xlabel="own dice left", ylabel="share", ylim=(0, 1), xticks=list(found.by_dice))
    axis.legend(fontsize=8)
    by_dice = {f"{dice} dice" if dice > 1 else "1 die": row for dice, row in found.by_dice.items()}
    rows = [
        (label, *("no occasion" if isnan(e.value) else e for e in row))
        for label, row in (*by_dice.items(), ("all", found.overall))
    ]
    says = (
        f"The agent in all seats, {found.num_games} games, {found.decisions:,} decisions. A bluff is a bid that holds with a chance below "
        f"{found.bluff:g}, given own dice and fair dice elsewhere. 95% intervals from batches of games."
    )
    return [page.plot(figure, "habits by dice left"), page.table(Table(("own dice", *KINDS), rows, note=says))]
