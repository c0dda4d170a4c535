"""The benchmark's card as JSON, as a page, and as tables for the screen."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from perudo_env.game.files import check_writable, write_text
from train.core.run import provenance
from train.evaluate.benchmark import Benchmark, check, tasks_of
from train.evaluate.benchmark_tasks import OPPONENTS, VERSION, run_tasks
from train.evaluate.statistics import Estimate, mean_of
from train.evaluate.tournament.standings import distinct
from train.report import page
from train.report.numbers_tables import NOT_KEPT, table

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


def grid(results: Results, baseline: str, cell: Callable[[dict[str, Any]], Any]) -> tuple[list[str], list[list[Any]]]:
    """Header and rows of a table of presets by seats."""
    mine = [r for r in results if r["kind"] == "win_share" and r["baseline"] == baseline]
    seats, presets = sorted({r["seats"] for r in mine}), list(dict.fromkeys(r["variant"] for r in mine))
    found = {
        (r["variant"], r["seats"]): cell(r) if "win_share" in r else "failed" if "error" in r else "not played"
        for r in mine
    }
    return ["", *(f"{n} seats (fair {1 / n:.3f})" for n in seats)], [
        [v, *(found[v, n] for n in seats)] for v in presets
    ]


def baselines_of(results: Results) -> list[str]:
    """The baselines, weakest first."""
    return list(dict.fromkeys(r["baseline"] for r in reversed(results) if r["kind"] == "win_share"))


def rounds_rows(results: Results) -> list[list[str]]:
    """A row per round: its preset, the dice, NashConv, and the gains of best responses."""
    rows = []
    for r in sorted(
        (r for r in results if r["kind"] == "nash_conv"), key=lambda r: (r["variant"], sum(r["dice"]), r["dice"][::-1])
    ):
        name = f"{r['variant']} {r['dice'][0]}v{r['dice'][1]}"
        if "nash_conv" in r and "states" in r:
            rows.append(
                [name, f"{r['nash_conv']:.4f}", f"{r['gains'][0]:.4f}", f"{r['gains'][1]:.4f}", f"{r['states']:,}"]
            )
        else:
            rows.append([name, "not measured", "", "", r.get("unplayed") or r["error"]])
    return rows


ROUNDS_HEADER = ("round (opener v other)", "NashConv", "gain as opener", "gain as the other", "information states")


def console_tables(card: dict[str, Any]) -> list[Table]:
    """The summary for the screen."""
    head = Table("", "", title=f"{card['benchmark']} ({card['scale']}): {card['agent']}", show_header=False)
    for row in head_rows(card):
        head.add_row(*map(str, row))
    rounds = Table(*ROUNDS_HEADER, title="exact NashConv")
    for row in rounds_rows(card["results"]):
        rounds.add_row(*row)
    return [head, rounds]


def head_rows(card: dict[str, Any]) -> list[list[Any]]:
    """The figures at the head of the card, in words."""

    def value(estimate: dict[str, float] | None) -> str:
        return (
            f"{estimate['value']:+.3f} [{estimate['low']:+.3f}, {estimate['high']:+.3f}]"
            if estimate
            else "nothing played"
        )

    return [
        ["mean return (1 wins always, 0 is fair)", value(card["mean_return"])],
        *([f"against {b}", value(card["mean_return_against"].get(b))] for b in baselines_of(card["results"])),
        ["cells played", f"{card['cells_played']} of {card['cells']}, {card['games_per_cell']} games each"],
        ["illegal actions", f"{card['illegal_actions']:,} of {card['decisions']:,}"],
        ["time of a decision, in bulk", f"{card['microseconds_a_decision_in_bulk']} µs ({card['cpu_microseconds_a_decision_in_bulk']} µs of processor time)"],
        ["time of a decision, asked alone", f"{card['milliseconds_a_decision_alone']} ms"],
        ["processor time in all", f"{card['machine']['cpu_seconds']} s on {card['machine']['workers']} processes"],
        *(["failed", words] for words in card["failures"]),
    ]  # fmt: skip


def _chart(card: dict[str, Any]) -> page.Html:
    from matplotlib.figure import Figure

    names = list(card["mean_return_against"])[::-1]
    values = [card["mean_return_against"][n] for n in names]
    figure = Figure(figsize=(7, 0.5 + 0.45 * len(names)), layout="constrained")
    axis = figure.subplots()
    reach = [[v["value"] - v["low"] for v in values], [v["high"] - v["value"] for v in values]]
    axis.barh(names, [v["value"] for v in values], xerr=reach, capsize=3, color="#4c78a8")
    axis.axvline(0, color="black", linewidth=0.8)
    axis.set(xlabel="mean return against each baseline, 95% intervals")
    return page.plot(figure, "mean return against each baseline")


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
        page.facts(head_rows(card)),
    ]  # fmt: skip
    if card["scale"] == "smoke":
        parts.insert(0, page.paragraph("A smoke run, to see that all works: its figures mean nothing."))
    if card["mean_return"]:
        parts.append(_chart(card))
    for baseline in baselines_of(results):
        parts += [
            page.heading(f"Win share against {baseline}"),
            page.table(*grid(results, baseline, lambda c: page.judged(share_of(c), c["fair"]))),
        ]
    parts += [page.heading("Exact NashConv of small rounds"), page.table(ROUNDS_HEADER, rounds_rows(results))]
    unplayed = dict.fromkeys(r["unplayed"] for r in results if "unplayed" in r)
    parts += [page.paragraph(f"Not played: {words}", note=True) for words in unplayed]
    load = card["machine"]["load_before"]
    parts.append(page.paragraph(
        f"Times are of this run: {card['machine']['cpus']} cores, {card['machine']['workers']} processes, load {load} before it began. On a "
        f"busy machine the clock runs on while the agent waits; its processor time does not.", note=True,
    ))  # fmt: skip
    page.write_page(folder / "benchmark.html", f"{card['benchmark']}: {card['agent']}", parts)


def shares_table(card: dict[str, Any] | None) -> str:
    """The win shares of a card in Markdown, with their 95% intervals: a row per preset and baseline, a column per number of seats."""
    cells = (
        {(c["variant"], c["baseline"], c["seats"]): share_of(c) for c in played_cells(card["results"])} if card else {}
    )
    seats = sorted({n for _, _, n in cells})

    def show(e: Estimate | None) -> str:
        return f"{e.value:.3f} [{e.low:.3f}, {e.high:.3f}]" if e else NOT_KEPT

    rows = [
        [f"`{v}`, `{b}`", *(show(cells.get((v, b, n))) for n in seats)]
        for v, b in dict.fromkeys((v, b) for v, b, _ in cells)
    ]
    return table(["preset, against", *(f"{n} seats (fair {1 / n:.3f})" for n in seats)], rows)


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
    console.print(*console_tables(card))
    console.print(f"results in {folder}: benchmark.html, benchmark.json", highlight=False)
    return 1 if card["failures"] else 0
