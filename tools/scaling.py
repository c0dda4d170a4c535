"""The growth of cost with workers: measured here, and worked out on paper for more cores.

    python -m tools.scaling --write docs/scaling.md

Games are those of the arena; updates are those of ``train.selfplay.ppo``, whose learner stays on one machine. The table goes to the
screen and, with ``--write``, between the marks of that file.
"""

from __future__ import annotations

import os
import platform
import re
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import tyro

from perudo_env.game.files import check_writable, write_text
from perudo_env.game.printing import printing
from train.core.backends import Backend, BackendError, Name, open_backend
from train.core.config import load_config
from train.core.table import Table
from train.evaluate.tournament.lineups import draw_lineups
from train.evaluate.tournament.results import Cell, ResultsFile
from train.evaluate.tournament.tasks import Finished, Task, cut, play_task
from train.selfplay import ppo
from train.selfplay.options import PPOConfig

AGENTS, VARIANT, SEATS, CHUNK, SEED = ("inference", "odds", "threshold", "bluffer"), "classic", 4, 256, 1
CONFIG = Path(__file__).parents[1] / "configs" / "ppo.yaml"
NETWORK = 125e6
"""Bytes a second that the paper gives the driver's network: one gigabit."""
MARKS = re.compile(r"(<!-- measured -->\n).*?(<!-- /measured -->)", flags=re.DOTALL)


@dataclass(frozen=True)
class Row:
    """One measurement."""

    backend: Name
    workers: int
    games: float  # a second
    decisions: float  # a second, of the games
    rollout: float  # decisions a second of self-play for train.selfplay.ppo, without learning
    batch: float  # decisions an update
    moved: float | None  # bytes an update moves between driver and workers; None: not counted


@dataclass(frozen=True)
class Serial:
    """What only the driver can do."""

    entering: float  # seconds to enter one game into a tournament's results
    learning: float  # seconds to learn from one decision


def arena_speed(backend: Backend, workers: int, tasks: list[Task]) -> tuple[float, float, Finished]:
    """Games and decisions a second, and the last task's games; workers are warm before the clock starts."""
    for _ in backend.run(
        play_task, cut(VARIANT, AGENTS, draw_lineups(len(AGENTS), SEATS, 4 * workers, SEED), SEED, 2 * SEATS)
    ):
        pass
    begun = time.perf_counter()
    done = [finished for _, finished, _ in backend.run(play_task, tasks)]
    seconds = time.perf_counter() - begun
    games, decisions = sum(len(d.played.lineups) for d in done), sum(d.played.decisions for d in done)
    return games / seconds, decisions / seconds, done[-1]


def rollout_speed(backend: Backend, config: PPOConfig, updates: int) -> tuple[float, float, float | None, Any]:
    """Decisions of self-play a second and per update, bytes moved per update, and the trainer with its last batch."""
    trainer = ppo.PPO(config, backend)
    everything = np.arange(len(trainer.groups))
    trainer.collect(everything)
    before, begun = getattr(backend, "moved", None), time.perf_counter()
    batches = [trainer.collect(everything)[0] for _ in range(updates)]
    seconds = time.perf_counter() - begun
    moved = None if before is None else (backend.moved - before) / updates  # type: ignore[attr-defined]
    decisions = sum(len(b.chosen) for b in batches)
    return decisions / seconds, decisions / updates, moved, (trainer, batches[-1])


def measure(
    backends: tuple[Name, ...], workers: tuple[int, ...], games: int, updates: int, tables: int
) -> tuple[list[Row], Serial]:
    """Measure each backend with each number of workers, and what the driver alone does."""
    deals = -(-games // SEATS)
    tasks = cut(VARIANT, AGENTS, draw_lineups(len(AGENTS), SEATS, deals, SEED), SEED, CHUNK)
    config = load_config(PPOConfig, CONFIG, (f"play.parts={max(workers)}", f"play.tables={tables}"))
    rows = []
    for name in backends:
        for count in workers:
            with open_backend(name, count) as backend:
                per_second, decisions, finished = arena_speed(backend, count, tasks)
                rollout, batch, moved, last = rollout_speed(backend, config, updates)
            rows.append(Row(name, count, per_second, decisions, rollout, batch, moved))
    return rows, Serial(_entering(finished), _learning(*last))


def _entering(finished: Finished, times: int = 20) -> float:
    with tempfile.TemporaryDirectory() as folder, ResultsFile(Path(folder) / "results.sqlite", {}) as results:
        cell = results.enter(Cell(VARIANT, SEATS, AGENTS, SEED))
        begun = time.perf_counter()
        for number in range(times):
            results.add(cell, number, finished, "here")
        return (time.perf_counter() - begun) / (times * len(finished.played.lineups))


def _learning(trainer: ppo.PPO, batch: Any) -> float:
    trainer.learn(batch)
    begun = time.perf_counter()
    trainer.learn(batch)
    return (time.perf_counter() - begun) / len(batch.chosen)


def table(rows: list[Row]) -> Table:
    """What was measured."""
    header = (
        "backend",
        "workers",
        "games/s",
        "decisions/s",
        "self-play, decisions/s",
        "decisions per update",
        "bytes moved per update",
    )
    cells = [
        (r.backend, r.workers, *(f"{x:,.0f}" for x in (r.games, r.decisions, r.rollout, r.batch)), "" if r.moved is None else f"{r.moved:,.0f}")
        for r in rows
    ]  # fmt: skip
    return Table(header, cells)


def paper(row: Row, serial: Serial, cores: tuple[int, ...] = (1, 10, 100, 1000)) -> Table:
    """What more cores would give, worked out from one worker's figures.

    Games: as many as the cores play, or as the driver can enter. Training: play is shared, then the learner learns while
    the others wait, and the batch crosses the driver's network.
    """
    alone, most = serial.learning + (row.moved or 0.0) / row.batch / NETWORK, 1 / serial.entering
    cells = []
    for n in cores:
        whole = 1 / (row.rollout * n) + alone
        cells.append(
            (f"{n:,}", f"{min(n * row.games, most):,.0f}", f"{most:,.0f}", f"{1 / whole:,.0f}", f"{alone / whole:.0%}")
        )
    header = ("cores", "games/s", "the driver enters at most", "training, decisions/s", "of which learner and network")
    return Table(header, cells)


def main(
    backends: Annotated[tuple[Name, ...], tyro.conf.arg(help="what to measure")] = ("local", "ray"),
    workers: Annotated[tuple[int, ...], tyro.conf.arg(help="numbers of workers on this machine")] = (1, 2),
    games: Annotated[int, tyro.conf.arg(help="of the arena, per measurement")] = 8192,
    updates: Annotated[int, tyro.conf.arg(help="batches of self-play, per measurement")] = 5,
    tables: Annotated[int, tyro.conf.arg(help="in a batch of self-play")] = 4096,
    write: Annotated[Path | None, tyro.conf.arg(help="a Markdown file with marks, whose figures to replace")] = None,
    note: Annotated[str, tyro.conf.arg(help="a word on the machine, beside the figures")] = "",
) -> int:
    """Measure how games and self-play grow with workers."""
    try:
        if min(games, updates, tables, *workers) < 1:
            raise ValueError("games, updates, tables and workers are whole numbers from 1")
        text = "" if write is None else marked(write)
        rows, serial = measure(backends, workers, games, updates, tables)
        said = report(rows, serial, games, tables, note)
        print(said)
        if write is not None:
            write_text(write, MARKS.sub(lambda m: f"{m[1]}{said}\n{m[2]}", text))
    except ValueError as error:
        print(f"scaling: {error}", file=sys.stderr)
        return 2
    except BackendError as error:
        print(f"scaling: {error}", file=sys.stderr)
        return 1
    return 0


def marked(path: Path) -> str:
    """A file's text, which has marks around what is measured; ``ValueError`` if it has not, or cannot be written."""
    check_writable(path)
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    if not MARKS.search(text):
        raise ValueError(f"{path} has no <!-- measured --> marks: name a Markdown file with them, like docs/scaling.md")
    return text


def report(rows: list[Row], serial: Serial, games: int, tables: int, note: str) -> str:
    """All figures, as Markdown."""
    base = next((r for r in rows if r.moved is not None), rows[0])
    machine = f"{platform.machine()}, {os.cpu_count()} cores{', ' + note if note else ''}"
    return (
        f"Measured on one machine ({machine}): {games:,} games of {', '.join(AGENTS)} at {SEATS} seats of {VARIANT}, seed {SEED}; "
        f"self-play at {tables:,} tables of `configs/ppo.yaml`.\n\n{table(rows).markdown()}\n\n"
        f"The driver alone enters a game in {1e6 * serial.entering:.0f} us and learns from a decision in {1e6 * serial.learning:.0f} us.\n\n"
        f"On paper, from the figures of one worker ({base.backend}):\n\n{paper(base, serial).markdown()}"
    )


if __name__ == "__main__":
    with printing():
        sys.exit(tyro.cli(main, prog="python -m tools.scaling"))
