"""The report of a run: one HTML page with the learning curve, exploitability, ratings and habits of what was trained.

    python -m train report runs/ppo-20260101-120000

RUN is the folder of any trainer here. Read are curve.csv and metrics.csv (columns ``decisions``, ``nash_conv/ROUND`` and
``win_share/BASELINE`` with ``/low`` and ``/high``, or rows of a baseline each), config.yaml, and checkpoint/, which plays
for the ratings and the habits. The page, RUN/report.html, holds its plots and needs no network.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import Any

import yaml
from rich.console import Console
from tyro.conf import Positional

import agents as registry
from agents.core.checkpoint import ABOUT, read_about
from perudo_env.engine.variant import Variant, parse_variant
from perudo_env.game.files import check_writable
from perudo_env.policy import Policy
from train.core.config import read_yaml
from train.core.options import Seed
from train.core.progress import progress
from train.evaluate.habits import BLUFF, KINDS, Habits, habits
from train.evaluate.statistics import Estimate
from train.evaluate.tournament.ratings import Ratings, rate
from train.evaluate.tournament.standings import deals_for, draw_lineups, play_deals
from train.report import page
from train.report.arena import points_text
from train.report.curves import Curve, draw_curves, kinds_of, read_curves

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
    """Whom it is rated with."""
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
    curves = read_curves(folder)
    checkpoint = folder / "checkpoint"
    about = read_about(checkpoint) if (checkpoint / ABOUT).exists() else None
    if not curves and about is None:
        raise ValueError(
            f"{folder} holds neither curve.csv nor metrics.csv nor checkpoint/{ABOUT}: it is not the folder of a run"
        )
    path = folder / "report.html"
    check_writable(path)
    parts = [*_made(folder, about), *_curves(curves)]
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
    parts = [page.facts(rows)] if rows else []
    config = folder / "config.yaml"
    if config.is_file():
        words = page.text(yaml.safe_dump(read_yaml(config), sort_keys=False))
        parts.append(page.Html(f"<details><summary>Configuration</summary><pre>{words}</pre></details>"))
    return parts


def _curves(curves: dict[str, Curve]) -> list[page.Html]:
    parts = []
    for kind in kinds_of(curves):
        mine = {name: curve for name, curve in curves.items() if name.startswith(f"{kind}/")}
        title = TITLES.get(kind, kind.replace("_", " "))
        rows = [[name.partition("/")[2], f"{c.decisions[-1]:,.0f}", _last(c)] for name, c in mine.items()]
        parts += [
            page.heading(title),
            page.plot(draw_curves(mine, kind), title),
            page.table(("", "decisions", "last value"), rows),
        ]
    return parts


def _last(curve: Curve) -> str:
    return str(Estimate(curve.values[-1], curve.low[-1], curve.high[-1])) if curve.low else f"{curve.values[-1]:.4g}"


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
    agent = registry.load(checkpoint, variant, seats)
    where = f"{variant}, {seats} seats"
    parts = [page.heading(f"Ratings: {where}")]
    names = ["this run", *report.baselines]
    policies = [agent, *(registry.make(b, variant, seats) for b in report.baselines)]
    if len(names) > 1:
        parts += ratings_parts(_rated(names, policies, variant, seats, report, console))
    parts += [
        page.heading(f"Habits: {where}"),
        *habits_parts(habits(agent, variant, seats, report.games, report.seed, bluff=report.bluff)),
    ]
    return parts


def _rated(
    names: Sequence[str], policies: Sequence[Policy], variant: Variant, seats: int, report: Report, console: Console
) -> Ratings:
    deals = deals_for(report.games, seats)
    lineups = draw_lineups(len(policies), seats, deals, report.seed)
    with progress(f"games of {variant}, {seats} seats", deals * seats, console) as advance:
        played = play_deals(policies, lineups, variant, report.seed, advance)
    return rate(names, [played], "odds" if "odds" in names else names[-1], seed=report.seed)


def ratings_parts(ratings: Ratings) -> list[page.Html]:
    """Ratings as a plot, a table and what must be said of them."""
    from matplotlib.figure import Figure

    rows = sorted(zip(ratings.agents, ratings.points, strict=True), key=lambda row: row[1].value)
    figure = Figure(figsize=(7, 0.6 + 0.4 * len(rows)), layout="constrained")
    axis = figure.subplots()
    known = [x for _, p in rows for x in p if isfinite(x)]
    edges = min(known) - 50, max(known) + 50
    # an open end runs to the edge
    reach = [[p.value - max(p.low, edges[0]) for _, p in rows], [min(p.high, edges[1]) - p.value for _, p in rows]]
    axis.errorbar(
        [p.value for _, p in rows],
        [n for n, _ in rows],
        xerr=[[max(0.0, r) for r in side] for side in reach],
        fmt="o",
        capsize=3,
    )
    axis.set_xlim(edges)
    axis.axvline(0, color="grey", linewidth=0.8)
    axis.set(xlabel=f"points, {ratings.anchor} = 0")
    says = (
        f"{ratings.model} by maximum likelihood; {ratings.num_games} games, 95% intervals by bootstrap of {ratings.num_groups} deals. "
        f"400 points are ten times the strength. {ratings.note}"
    )
    table = page.table(("agent", "points"), [[n, points_text(p)] for n, p in reversed(rows)])
    return [page.plot(figure, "ratings"), table, page.paragraph(says, note=True)]


def habits_parts(found: Habits) -> list[page.Html]:
    """Habits as a plot by dice left, a table and the definitions."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 3.4), layout="constrained")
    axis = figure.subplots()
    for kind, name in enumerate(KINDS):
        points = [(d, e[kind]) for d, e in found.by_dice.items() if e[kind].value == e[kind].value]
        if points:
            middle = [e.value for _, e in points]
            reach = [[max(0.0, e.value - e.low) for _, e in points], [max(0.0, e.high - e.value) for _, e in points]]
            axis.errorbar([d for d, _ in points], middle, yerr=reach, marker="o", capsize=3, label=name)
    axis.set(xlabel="own dice left", ylabel="share", ylim=(0, 1), xticks=list(found.by_dice))
    axis.legend(fontsize=8)
    rows = [[label, *("no occasion" if e.value != e.value else str(e) for e in row)] for label, row in [
        *((f"{d} dice" if d > 1 else "1 die", row) for d, row in found.by_dice.items()), ("all", found.overall),
    ]]  # fmt: skip
    says = (
        f"The agent in all seats, {found.num_games} games, {found.decisions:,} decisions. A bluff is a bid that holds with a chance below "
        f"{found.bluff:g}, given own dice and fair dice elsewhere. 95% intervals from batches of games."
    )
    return [
        page.plot(figure, "habits by dice left"),
        page.table(("own dice", *KINDS), rows),
        page.paragraph(says, note=True),
    ]
