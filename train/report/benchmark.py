"""The benchmark's card as JSON, as a page, and as tables for the screen."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from rich.console import Console

from perudo_env.game.files import check_writable, write_text
from train.core.figures import bars
from train.core.measured import Estimate
from train.core.run import provenance
from train.core.table import Judged, Table
from train.evaluate.benchmark import Benchmark, check, tasks_of
from train.evaluate.benchmark_tasks import OPPONENTS, VERSION, run_tasks
from train.evaluate.statistics import mean_of
from train.evaluate.tournament.standings import distinct
from train.report import page

Results = Sequence[dict[str, Any]]


def share_of(cell: dict[str, Any]) -> Estimate:
    """The win share of a cell."""
    return Estimate(cell["win_share"], cell["low"], cell["high"])


def mean_return(cells: Results) -> Estimate:
    """The mean over cells of what the agent is paid a game (winner +1, each other -1/(n-1)); the cells are independent."""
    return mean_of([Estimate(*((x - c["fair"]) * c["seats"] / (c["seats"] - 1) for x in share_of(c))) for c in cells])


def played_cells(results: Results) -> list[dict[str, Any]]:
    """The cells of win shares that were measured."""
    return [r for r in results if "win_share" in r]


def summary(results: Results) -> dict[str, Any]:
    """The figures at the head of the card."""
    cells = played_cells(results)
    asked = [r for r in results if "decisions" in r]
    by_baseline = {
        b: mean_return([c for c in cells if c["baseline"] == b])._asdict()
        for b in dict.fromkeys(c["baseline"] for c in cells)
    }
    decisions = sum(c["decisions"] for c in cells)
    alone = next((r["milliseconds"] for r in results if "milliseconds" in r), None)
    return {
        "mean_return": mean_return(cells)._asdict() if cells else None,
        "mean_return_against": by_baseline,
        "cells_played": len(cells),
        "cells": sum(r["kind"] == "win_share" for r in results),
        "decisions": sum(r["decisions"] for r in asked),
        "illegal_actions": sum(r["illegal"] for r in asked),
        "microseconds_a_decision_in_bulk": round(1e6 * sum(c["seconds"] for c in cells) / decisions, 2)
        if decisions
        else None,
        "cpu_microseconds_a_decision_in_bulk": round(1e6 * sum(c["cpu_seconds"] for c in cells) / decisions, 2)
        if decisions
        else None,
        "milliseconds_a_decision_alone": alone,
        "failures": [f"{r['part']}: {r['error']}" for r in results if "error" in r],
    }


def grid(results: Results, baseline: str) -> Table:
    """Win shares against a baseline: a row per preset, a column per number of seats."""
    mine = [r for r in results if r["kind"] == "win_share" and r["baseline"] == baseline]
    seats, presets = sorted({r["seats"] for r in mine}), list(dict.fromkeys(r["variant"] for r in mine))
    found = {(r["variant"], r["seats"]): _share(r) for r in mine}
    return Table(("", *map(_fair, seats)), [(v, *(found[v, n] for n in seats)) for v in presets])


def _share(r: dict[str, Any]) -> object:
    if "win_share" in r:
        return Judged(share_of(r), r["fair"])
    return "failed" if "error" in r else "not played"


def _fair(seats: int) -> str:
    return f"{seats} seats (fair {1 / seats:.3f})"


def baselines_of(results: Results) -> list[str]:
    """The baselines, weakest first."""
    return list(dict.fromkeys(r["baseline"] for r in reversed(results) if r["kind"] == "win_share"))


def rounds_table(results: Results) -> Table:
    """A row per round: its preset, the dice, NashConv, and the gains of best responses."""
    asked = [r for r in results if r["kind"] == "nash_conv"]
    rows = []
    for r in sorted(asked, key=lambda r: (r["variant"], sum(r["dice"]), r["dice"][::-1])):
        name = f"{r['variant']} {r['dice'][0]}v{r['dice'][1]}"
        if "states" in r:
            rows.append((name, *(f"{x:.4f}" for x in (r["nash_conv"], *r["gains"])), f"{r['states']:,}"))
        else:
            rows.append((name, "not measured", "", "", r.get("unplayed") or r["error"]))
    header = ("round (opener v other)", "NashConv", "gain as opener", "gain as the other", "information states")
    return Table(header, rows, "exact NashConv")


def head_table(card: dict[str, Any]) -> Table:
    """The figures at the head of the card, in words."""

    def value(estimate: dict[str, float] | None) -> str:
        return "{value:+.3f} [{low:+.3f}, {high:+.3f}]".format(**estimate) if estimate else "nothing played"

    bulk = f"{card['microseconds_a_decision_in_bulk']} µs ({card['cpu_microseconds_a_decision_in_bulk']} µs of processor time)"
    rows = [
        ("mean return (1 wins always, 0 is fair)", value(card["mean_return"])),
        *((f"against {b}", value(card["mean_return_against"].get(b))) for b in baselines_of(card["results"])),
        ("cells played", f"{card['cells_played']} of {card['cells']}, {card['games_per_cell']} games each"),
        ("illegal actions", f"{card['illegal_actions']:,} of {card['decisions']:,}"),
        ("time of a decision, in bulk", bulk),
        ("time of a decision, asked alone", f"{card['milliseconds_a_decision_alone']} ms"),
        ("processor time in all", f"{card['machine']['cpu_seconds']} s on {card['machine']['workers']} processes"),
        *(("failed", words) for words in card["failures"]),
    ]
    return Table((), rows, f"{card['benchmark']} ({card['scale']}): {card['agent']}")


def write(folder: Path, card: dict[str, Any]) -> None:
    """Write benchmark.json and benchmark.html, each whole or not at all."""
    write_text(folder / "benchmark.json", json.dumps(card, indent=2) + "\n")
    results = card["results"]
    parts = [
        page.paragraph(
            f"{card['benchmark']}, {card['scale']}, commit {card['commit']}. One seat of the agent against the baseline in all others; every "
            "deal is played at all rotations of the seats on the same dice, and counts as one sample of the 95% intervals. Green is above "
            "the fair share by its whole interval, red below.", note=True,
        ),
        page.table(head_table(card)),
    ]  # fmt: skip
    if card["scale"] == "smoke":
        parts.insert(0, page.paragraph("A smoke run, to see that all works: its figures mean nothing."))
    if card["mean_return"]:
        against = dict(reversed(card["mean_return_against"].items()))
        figure = bars({name: Estimate(**e) for name, e in against.items()}, 0, "mean return against each baseline")
        parts.append(page.plot(figure, "mean return against each baseline"))
    for baseline in baselines_of(results):
        parts += [page.heading(f"Win share against {baseline}"), page.table(grid(results, baseline))]
    parts += [page.heading("Exact NashConv of small rounds"), page.table(rounds_table(results))]
    unplayed = dict.fromkeys(r["unplayed"] for r in results if "unplayed" in r)
    parts += [page.paragraph(f"Not played: {words}", note=True) for words in unplayed]
    load = card["machine"]["load_before"]
    parts.append(page.paragraph(
        f"Times are of this run: {card['machine']['cpus']} cores, {card['machine']['workers']} processes, load {load} before it began. On a "
        f"busy machine the clock runs on while the agent waits; its processor time does not.", note=True,
    ))  # fmt: skip
    page.write_page(folder / "benchmark.html", f"{card['benchmark']}: {card['agent']}", parts)


def shares_table(card: dict[str, Any] | None) -> Table:
    """The win shares of a card: a row per preset and baseline, a column per number of seats."""
    cells = (
        {(c["variant"], c["baseline"], c["seats"]): share_of(c) for c in played_cells(card["results"])} if card else {}
    )
    seats = sorted({n for _, _, n in cells})
    rows = [
        (f"`{v}`, `{b}`", *(cells.get((v, b, n)) for n in seats)) for v, b in dict.fromkeys((v, b) for v, b, _ in cells)
    ]
    return Table(("preset, against", *map(_fair, seats)), rows)


def run(benchmark: Benchmark) -> int:
    """Measure, print a summary, write the folder; returns 1 if the agent failed in some part, else 0.

    Raises ``ValueError`` for an agent that cannot be made, or that plays none of the tables.
    """
    console = Console()
    check(benchmark)
    name = distinct([benchmark.agent])[0]
    folder = benchmark.out or Path("runs") / f"bench-{name.replace(':', '-')}-{datetime.now():%Y%m%d-%H%M%S}"
    check_writable(folder / "benchmark.json")
    console.print(f"{VERSION}, {benchmark.scale}; results go to {folder}", highlight=False)
    begun, load = time.monotonic(), os.getloadavg() if hasattr(os, "getloadavg") else None
    results = run_tasks(benchmark.agent, tasks_of(benchmark), folder, benchmark.scale, benchmark.workers, console)
    card = {
        "benchmark": VERSION, "scale": benchmark.scale, "agent": benchmark.agent, "games_per_cell": benchmark.games,
        "opponents": OPPONENTS, **summary(results), "results": results, **provenance(),
        "machine": {
            "cpus": os.cpu_count(), "workers": benchmark.workers, "load_before": load and round(load[0], 1),
            "seconds_of_last_process": round(time.monotonic() - begun, 1), "cpu_seconds": round(sum(r["task_cpu_seconds"] for r in results), 1),
        },
    }  # fmt: skip
    write(folder, card)
    console.print(head_table(card).rich(), rounds_table(results).rich())
    console.print(f"results in {folder}: benchmark.html, benchmark.json", highlight=False)
    return 1 if card["failures"] else 0
