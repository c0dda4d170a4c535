"""The demo: an agent that learns a short game by playing itself, how strong it became, and the line that plays against it.

    python -m train demo
    python -m train demo --by sb3 --seeds 1 2 3 4 5 --out runs/demo-sb3

Of several seeds the range is shown, and all that was measured is in demo.csv of the folder.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

from rich.console import Console

import agents
from train.core.config import load_config
from train.core.curve import read_curve
from train.core.measured import Measured, read_measured
from train.core.options import Out, Smoke
from train.core.run import open_run, read_csv, write_csv
from train.core.table import Table
from train.evaluate.judge import judge_agent
from train.evaluate.training import train_ppo, train_sb3
from train.report.watch import spark
from train.selfplay import options, sb3

CONFIGS = Path(__file__).parents[2] / "configs"
FINAL_GAMES = 2000  # against each baseline: other games than those that chose the weights
COLUMNS = ("by", "seed", "cpu_seconds", *Measured._fields)
By = Literal["ppo", "sb3"]
HELLO = (
    "An agent learns a short game of Perudo (two seats, three dice each, rules of marquoir) by playing itself: about "
    "{minutes} minutes on one core."
)
MINUTES: dict[By, int] = {"ppo": 3, "sb3": 4}


@dataclass(frozen=True)
class DemoOptions:
    """The trainer, and how often it is tried."""

    by: By = "ppo"
    """Our own trainer, or Stable-Baselines3's MaskablePPO."""
    seeds: tuple[int, ...] = (1,)
    """A run for each; of several, the range is shown and written to demo.csv."""
    out: Out = None
    smoke: Smoke = False


@dataclass(frozen=True)
class Demo:
    """A run of the demo: what is in demo.csv of it."""

    by: str
    seed: int
    cpu_seconds: float  # of this process, judging included
    shares: tuple[Measured, ...]  # win shares against the baselines


def train_demo(
    command: DemoOptions, seed: int, out: Path | None, console: Console
) -> tuple[Path, tuple[Measured, ...]]:
    """Train in ``out``, or in a new folder; returns the folder and the win shares of what came, over fresh games."""
    given, games = [f"run.seed={seed}"], 8 if command.smoke else FINAL_GAMES
    if command.by == "sb3":
        asked = [*(sb3.SMOKE if command.smoke else ()), *given, f"evaluation.final_games={games}"]
        quick = load_config(sb3.SB3Config, CONFIGS / "quickstart.yaml", asked)
        folder = open_run("demo", quick, out, resume=True)
        return folder, tuple(train_sb3(quick, folder, console))
    config = load_config(options.PPOConfig, CONFIGS / "demo.yaml", [*(options.SMOKE if command.smoke else ()), *given])
    folder = open_run("demo", config, out, resume=True)
    train_ppo(config, folder, console)
    fresh = config.evaluation.model_copy(update={"games": games})
    return folder, tuple(judge_agent(partial(agents.load, folder / "checkpoint"), fresh, seed + 1))


def shares_table(shares: Sequence[Measured], folder: Path) -> Table:
    """Win shares, each with the way that it came while the agent learnt."""
    curve = read_curve(folder / "curve.csv")
    rows = [(m.against, m, spark([x.value for _, x in curve if x.against == m.against])) for m in shares]
    return Table(("against", "win share, 95% interval", "while it learnt"), rows, "fair is .500")


def read_demos(path: Path) -> list[Demo]:
    """The runs in a demo.csv."""
    runs: dict[tuple[str, int, float], list[Measured]] = {}
    for row in read_csv(path)[1]:
        runs.setdefault((row["by"], int(row["seed"]), float(row["cpu_seconds"])), []).append(read_measured(row))
    return [Demo(*key, tuple(shares)) for key, shares in runs.items()]


def range_table(demos: Sequence[Demo]) -> Table:
    """The mean over seeds, and the lowest and the highest, of win shares and minutes of processor time, for each trainer."""
    mine = {by: [d for d in demos if d.by == by] for by in dict.fromkeys(d.by for d in demos)}
    rows = [
        (
            against,
            *(_range([m.value for d in runs for m in d.shares if m.against == against]) for runs in mine.values()),
        )
        for against in dict.fromkeys(m.against for d in demos for m in d.shares)
    ]
    minutes = ("minutes of one core", *(_range([d.cpu_seconds / 60 for d in runs], 1) for runs in mine.values()))
    heads = [f"{by}, mean of {len(runs)} seeds (lowest to highest)" for by, runs in mine.items()]
    return Table(("win share against", *heads), [*rows, minutes])


def _range(values: Sequence[float], digits: int = 3) -> str:
    return "{:.{d}f} ({:.{d}f} to {:.{d}f})".format(sum(values) / len(values), min(values), max(values), d=digits)


def run(command: DemoOptions) -> None:
    """Train, judge, and say how to play against the result."""
    console, demos = Console(), []
    console.print(HELLO.format(minutes=MINUTES[command.by] * len(command.seeds)), highlight=False)
    for seed in command.seeds:
        begun = time.process_time()
        out = command.out / f"seed-{seed}" if command.out and len(command.seeds) > 1 else command.out
        folder, shares = train_demo(command, seed, out, console)
        demos.append(Demo(command.by, seed, time.process_time() - begun, shares))
        console.print(shares_table(shares, folder).rich())
    if len(demos) > 1:
        console.print(range_table(demos).rich())
        rows = [(d.by, d.seed, f"{d.cpu_seconds:.1f}", *share) for d in demos for share in d.shares]
        write_csv((command.out or folder.parent) / "demo.csv", COLUMNS, rows)
    python = os.path.relpath(sys.executable) if Path(sys.executable).is_relative_to(Path.cwd()) else sys.executable
    console.print(
        f"\nPlay against it in the browser:\n  {python} -m agents play --agents {folder}/checkpoint",
        highlight=False, soft_wrap=True,
    )  # fmt: skip
