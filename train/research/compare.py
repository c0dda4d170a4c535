"""Exact NashConv at equal processor time: every trainer, recall-limited CFR and tabular DCFR, on the same small rounds.

    python -m train compare configs/compare.yaml seeds=[1,2,3] cpu_minutes=[5] --out runs/compare

Counted is the processor time of training alone, all threads together; judging is left out. A trainer's schedules end with its
budget: how many decisions that makes is measured first, on a trial of a few seconds, and the time that was really taken stands
beside the result. The same command goes on after a kill.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Annotated, NamedTuple

from pydantic import Field
from rich.console import Console
from tyro.conf import Positional

from perudo_env.engine.variant import nearest
from perudo_env.game.files import check_writable, make_folder, write_text
from perudo_env.policy import UniformPolicy
from train.core.config import Count, Rate, Section, Seed, load_config, read_yaml
from train.core.curve import read_curve
from train.core.figures import new_figure
from train.core.loop import STATE
from train.core.options import Training
from train.core.run import CONFIG, open_run, read_csv, write_csv, write_png
from train.core.sections import RoundSection
from train.core.state import load_state
from train.core.table import Code, Table
from train.research.entrants import CONFIGS, LEARNERS, SOLVERS, Learner, gain
from train.research.small_round import SmallRound

JOKER, CLASSIC = "joker:starting_dice=2", "classic:rounds=one,first_player=first_seat"
TRIAL = 1_000_000  # decisions that a trial, and the check of the configurations, are told


class CompareConfig(Section):
    """All of ``configs/compare.yaml``."""

    rounds: tuple[RoundSection, ...] = Field(
        default=(
            RoundSection(variant=JOKER, dice=(1, 1)),
            RoundSection(variant=JOKER, dice=(2, 1)),
            RoundSection(variant=CLASSIC, dice=(1, 1), endgame=True),
            RoundSection(variant=CLASSIC, dice=(2, 1), endgame=True),
        ),
        min_length=1,
    )
    """Rounds of one-round variants that seat 0 opens."""
    seeds: tuple[Seed, ...] = Field(default=(1, 2, 3, 4, 5), min_length=1)
    """Each trainer runs once per seed."""
    trainers: tuple[str, ...] = Field(default=(*LEARNERS, *SOLVERS), min_length=1)
    """Those to run."""
    cpu_minutes: tuple[Annotated[float, Field(gt=0, le=10**5)], ...] = Field(default=(5.0,), min_length=1)
    """Budgets of processor time, judging left out; a run each."""
    points: Count = 8
    """Points of each curve."""
    trial_seconds: Rate = 10.0
    """Processor time of the trial by which a budget is turned into decisions."""
    overrides: dict[str, tuple[str, ...]] = Field(default={})
    """Of a trainer's configuration: nfsp: [learn.learning_rate=1e-3]; {tenth} stands for a tenth of its decisions."""
    table: str = ""
    """Where the numbers go; "": the run folder."""
    figure: str = ""
    """Where the figure goes; "": the run folder."""


SMOKE = (
    "rounds=[{variant: 'joker:starting_dice=2', dice: [1, 1]}]", "seeds=[1]", "cpu_minutes=[0.02]", "points=2", "trial_seconds=0.2",
    "overrides={}", "table=''", "figure=''",
)  # fmt: skip


class Point(NamedTuple):
    """A point of the curve of one run; a row of compare.csv."""

    trainer: str
    round: str
    cpu_minutes: float  # the budget
    seed: int
    steps: int  # decisions of a trainer, iterations of a solver
    cpu_seconds: float  # taken
    nash_conv: float


class Task(NamedTuple):
    """One run."""

    trainer: str
    round_: RoundSection
    minutes: float
    seed: int

    @property
    def folder(self) -> str:
        """Its folder's name."""
        words = f"{self.trainer} {self.round_.name} {self.minutes:g}min {self.seed}"
        return "".join(c if c.isalnum() or c in "._" else "-" for c in words.replace(", ", "-"))

    def point(self, steps: int, cpu_seconds: float, nash_conv: float) -> Point:
        """A point of its curve."""
        return Point(self.trainer, self.round_.name, self.minutes, self.seed, steps, cpu_seconds, nash_conv)


class Speeds:
    """Decisions a second of processor time by trainer and round, measured once and kept in a file."""

    def __init__(self, path: Path, seconds: float) -> None:
        self.path, self.seconds = path, seconds
        self.known: dict[str, float] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}

    def of(self, task: Task, learner: Learner, more: Sequence[str], smoke: bool) -> float:
        """The speed of a task's trainer, from a trial if need be; what is compiled first does not count."""
        key = f"{task.trainer} {task.round_.name}"
        if key not in self.known:
            trainer = learner.make(learner.resolved(task.round_, TRIAL, 1, task.seed, more, smoke))
            trainer.step()
            trainer.step()
            begun, before = time.process_time(), trainer.decisions
            while time.process_time() - begun < self.seconds:
                trainer.step()
            self.known[key] = (trainer.decisions - before) / (time.process_time() - begun)
            write_text(self.path, json.dumps(self.known, indent=1) + "\n")
        return self.known[key]


def run_learner(
    task: Task, config: CompareConfig, folder: Path, speeds: Speeds, console: Console, smoke: bool
) -> list[Point]:
    """Train for a budget, or go on with that, and read the curve."""
    learner, more = LEARNERS[task.trainer], config.overrides.get(task.trainer, ())
    if (folder / CONFIG).exists():
        total = int(read_yaml(folder / CONFIG)["learn"]["total_decisions"])
    else:
        total = max(1, round(60 * task.minutes * speeds.of(task, learner, more, smoke)))
    resolved = learner.resolved(task.round_, total, config.points, task.seed, more, smoke)
    learner.train(resolved, open_run(task.trainer, resolved, folder, resume=True), console)
    spent = float(load_state(folder / STATE)[1]["cpu_seconds"])
    curve = [(at, m.value) for at, m in read_curve(folder / "curve.csv") if m.name == "nash_conv"]
    return [task.point(at, spent * at / curve[-1][0], value) for at, value in curve]


def run_solver(task: Task, config: CompareConfig, folder: Path, console: Console) -> list[Point]:
    """Solve for a budget; the points are kept in a file when it is over."""
    kept = folder / "points.csv"
    if kept.exists():
        return read_points(kept)
    solver, judge = SOLVERS[task.trainer](task.round_, task.seed)
    points, spent, budget = [], 0.0, 60 * task.minutes
    for k in range(config.points):
        while spent < budget * (k + 1) / config.points:
            begun = time.process_time()
            solver.iterate()
            spent += time.process_time() - begun
        points.append(task.point(solver.iterations, spent, judge()))
    make_folder(folder)
    write_points(kept, points)
    console.print(f"NashConv {points[-1].nash_conv:.3g} after {solver.iterations} iterations", highlight=False)
    return points


def write_points(path: Path, points: Sequence[Point]) -> None:
    """Write points as CSV, whole or not at all."""
    write_csv(path, Point._fields, [[*p[:5], f"{p.cpu_seconds:.1f}", f"{p.nash_conv:.6g}"] for p in points])


def read_points(path: Path) -> list[Point]:
    """The points of a table that :func:`compare` wrote."""
    return [
        Point(
            r["trainer"], r["round"], float(r["cpu_minutes"]), int(r["seed"]), int(r["steps"]), float(r["cpu_seconds"]),
            float(r["nash_conv"]),
        )
        for r in read_csv(path)[1]
    ]  # fmt: skip


def last_points(points: Sequence[Point]) -> Table:
    """The end of every curve: the median over seeds, the lowest and highest, and by how much it has risen from its lowest point."""
    columns = list(dict.fromkeys((p.round, p.cpu_minutes) for p in points))
    rows = []
    for name in dict.fromkeys(p.trainer for p in points):
        cells: list[object] = [Code(name)]
        for column in columns:
            curves: dict[int, list[float]] = {}
            for p in points:
                if (p.trainer, (p.round, p.cpu_minutes)) == (name, column):
                    curves.setdefault(p.seed, []).append(p.nash_conv)
            cells += _ends(list(curves.values()))
        rows.append(cells)
    heads = (f"{round_}, {minutes:g} min" for round_, minutes in columns)
    return Table(("", *(head for words in heads for head in (f"{words}: NashConv", "risen by"))), rows)


def _ends(curves: Sequence[Sequence[float]]) -> list[object]:
    if not curves:
        return [None, None]
    ends = [curve[-1] for curve in curves]
    spread = f" ({min(ends):.3f} to {max(ends):.3f})" if len(ends) > 1 else ""
    return [f"{median(ends):.3f}{spread}", f"{median(curve[-1] - min(curve) for curve in curves):.3f}"]


def draw_comparison(path: Path, points: Sequence[Point], uniform: Mapping[str, float]) -> None:
    """NashConv over processor time, log-log, a panel per round and a line per run; ``uniform`` is that of uniform play by round."""
    trainers = list(dict.fromkeys(p.trainer for p in points))
    figure = new_figure(5 * len(uniform), 4.2)
    for axis, (round_, level) in zip(figure.subplots(1, len(uniform), squeeze=False)[0], uniform.items(), strict=True):
        axis.axhline(level, color="grey", linewidth=0.8, linestyle="--", label="uniform")
        mine = [p for p in points if p.round == round_]
        for run in dict.fromkeys(p[:4] for p in mine):
            line = [(p.cpu_seconds, p.nash_conv) for p in mine if p[:4] == run]
            label = None if any(x.get_label() == run[0] for x in axis.lines) else run[0]
            axis.plot(
                *zip(*line, strict=True),
                linewidth=0.8,
                marker="o",
                markersize=2,
                color=f"C{trainers.index(run[0])}",
                label=label,
            )
        axis.set(xscale="log", yscale="log", xlabel="seconds of processor time", ylabel="exact NashConv", title=round_)
        axis.legend(fontsize=7)
    write_png(path, figure, 130)


def compare(config: CompareConfig, folder: Path, console: Console, smoke: bool) -> tuple[Path, Path]:
    """Run all, write table and figure after each run; returns where they are."""
    known = [*LEARNERS, *SOLVERS]
    for key in (*config.trainers, *config.overrides):
        if key not in known:
            raise ValueError(f"{key!r} is no trainer{nearest(key, known)}: use {', '.join(known)}")
    table, figure = Path(config.table or folder / "compare.csv"), Path(config.figure or folder / "compare.png")
    for path in (table, figure):
        check_writable(path)
    for round_ in config.rounds:
        SmallRound(round_)  # refuses what cannot be judged
        for name in set(config.trainers) & set(LEARNERS):  # a wrong override is told now, not after hours
            LEARNERS[name].resolved(round_, TRIAL, config.points, 1, config.overrides.get(name, ()), smoke)
    make_folder(folder)
    speeds, points = Speeds(folder / "speeds.json", config.trial_seconds), list[Point]()
    uniform = {r.name: gain(UniformPolicy(), r) for r in config.rounds}
    # seeds last: what is there after a kill is every trainer with fewer seeds
    tasks = [
        Task(name, round_, minutes, seed)
        for seed in config.seeds for minutes in config.cpu_minutes for round_ in config.rounds for name in config.trainers
    ]  # fmt: skip
    for number, task in enumerate(tasks, 1):
        console.print(f"{number} of {len(tasks)}: {task.folder}", highlight=False)
        if task.trainer in LEARNERS:
            points += run_learner(task, config, folder / task.folder, speeds, console, smoke)
        else:
            points += run_solver(task, config, folder / task.folder, console)
        write_points(table, points)
    draw_comparison(figure, points, uniform)
    return table, figure


@dataclass(frozen=True)
class CompareOptions(Training):
    """A comparison."""

    keys = CompareConfig

    config: Positional[Path] = CONFIGS / "compare.yaml"
    """A YAML file."""


def run(options: CompareOptions) -> None:
    """Compare the trainers by exact NashConv."""
    console, out = Console(), options.out or Path("runs/compare")
    resolved = load_config(CompareConfig, options.config, (*(SMOKE if options.smoke else ()), *options.overrides))
    table, figure = compare(resolved, out, console, options.smoke)
    console.print(last_points(read_points(table)).rich())
    console.print(f"{table}, {figure}; runs in {out}", highlight=False, soft_wrap=True)
