"""The loop that every trainer of ours runs in: metrics, evaluation, progress, and a state to go on from after a kill.

A run folder holds config.yaml (resolved), metrics.csv (a row per iteration), curve.csv and curve.png (a row per measured
value of an evaluation), TensorBoard events, state.safetensors (to go on from) and checkpoint/ (what plays).
"""

from __future__ import annotations

import csv
import math
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np
from rich.console import Console
from torch.utils.tensorboard import SummaryWriter

from agents.core.switches import known_today
from perudo_env.game.files import written
from train.core.config import C, load_config
from train.core.curve import COLUMNS, draw_curve, points_of
from train.core.measured import Measured, in_a_line, measured_table
from train.core.options import Training
from train.core.progress import progress
from train.core.run import open_run, read_csv, take_back, write_csv, write_png
from train.core.state import Arrays, load_state, save_state, take_count

STATE = "state.safetensors"
T = TypeVar("T")
Figures = dict[str, float]
Judge = Callable[[], list[Measured]]


class Trainer(Protocol):
    """What the loop needs of an algorithm."""

    @property
    def decisions(self) -> int:
        """Decisions of learning seats so far."""
        ...

    def step(self) -> Figures:
        """One iteration: play, then learn; returns its figures."""
        ...

    def weights(self) -> Arrays:
        """The network that plays."""
        ...

    def state(self) -> tuple[Arrays, dict[str, Any]]:
        """All that a later process needs to go on to the same curve: arrays, and what JSON holds."""
        ...

    def restore(self, arrays: Arrays, about: Mapping[str, Any]) -> None:
        """Go on from :meth:`state`."""
        ...


class DivergenceError(ValueError):
    """Training has run off to numbers that are none; nothing of them is kept."""


class GrowingCSV:
    """A CSV file that grows by rows; its columns are those of its first row, or ``columns``, of which ``texts`` hold no numbers."""

    def __init__(self, path: Path, keep: int, columns: Sequence[str] = (), texts: Sequence[str] = ()) -> None:
        """Go on after the first ``keep`` rows of what is there; raises ``ValueError`` where they are not there whole."""
        self.path, self.columns = path, list(columns)
        self.rows: list[dict[str, Any]] = []
        self._begun = False
        if keep and path.exists():
            there, rows = read_csv(path, ended=True)
            self.rows, self.columns = list(rows[:keep]), self.columns or there
            numbers = [c for c in self.columns if c not in texts]
            if len(self.rows) < keep or there != self.columns or not all(_are_numbers(r, numbers) for r in self.rows):
                raise ValueError(
                    f"{path} does not hold the {keep} rows that it had when the state was saved: put it back as it was, or "
                    "remove it to go on without them"
                )

    def add(self, *rows: Mapping[str, Any]) -> None:
        """Append rows; the first that come replace what was beyond those kept."""
        self.rows += map(dict, rows)
        self.columns = self.columns or list(self.rows[0])
        if self._begun:
            with self.path.open("a", newline="", encoding="utf-8") as file:
                csv.writer(file).writerows([[row.get(c, "") for c in self.columns] for row in rows])
            return
        write_csv(self.path, self.columns, [[r.get(c, "") for c in self.columns] for r in self.rows])
        self._begun = True


def _are_numbers(row: Mapping[str, str], columns: Sequence[str]) -> bool:
    try:
        return bool([float(row[c]) for c in columns if row[c]])
    except ValueError:
        return False


def resume(trainer: Trainer, path: Path) -> dict[str, Any]:
    """Let a trainer go on from the state in a file; returns what is told about it. Raises ``ValueError`` for any other file."""
    arrays, about = load_state(path)
    try:
        trainer.restore(arrays, about["trainer"])
        first, second = about["rows"]
        told = {"rows": (first, second), "next_point": about["next_point"], "seconds": float(about["seconds"])}
        told["cpu_seconds"] = float(about.get("cpu_seconds", 0.0))
        for name, count in (("next_point", told["next_point"]), ("rows", first), ("rows", second)):
            take_count({name: count}, name)
        for name in ("seconds", "cpu_seconds"):
            if not 0 <= told[name] < float("inf"):
                raise ValueError(f"{name} = {told[name]} is no time")
    except KeyError as error:
        raise ValueError(f"{path} is not a state of this trainer: it lacks {error}") from error
    # a generator's state above all, which NumPy itself reads
    except (ValueError, TypeError, LookupError, ArithmeticError, AttributeError) as error:
        raise ValueError(f"{path} is not a state of this trainer: {error}") from error
    return told


@contextmanager
def events(folder: Path, step: int) -> Iterator[SummaryWriter]:
    """TensorBoard's writer. Its thread may meet a full disk, which the next figure raises here: it need not print it too."""
    hook = threading.excepthook
    threading.excepthook = lambda told: None if isinstance(told.exc_value, OSError) else hook(told)
    try:
        board = SummaryWriter(str(folder), purge_step=step)
        try:
            yield board
        except BaseException:
            with suppress(OSError):
                board.close()
            raise
        board.close()
    finally:
        threading.excepthook = hook


class Loop:
    """Runs a trainer to ``total`` decisions in a run folder, going on from the state there if there is one.

    ``judge`` measures what would play now, every ``every`` decisions and at the end; the state is saved then and every
    ``save_seconds``.
    """

    def __init__(
        self,
        trainer: Trainer,
        folder: Path,
        total: int,
        judge: Judge,
        every: int,
        save_seconds: float,
        console: Console,
    ) -> None:
        self.trainer, self.folder, self.total, self.judge, self.every = trainer, folder, total, judge, every
        self.save_seconds, self.console = save_seconds, console
        self.seconds = self.cpu_seconds = 0.0  # of all processes of this run together; the second of training alone
        self.next_point = every
        rows = 0, 0
        if (folder / STATE).exists():
            about = resume(trainer, folder / STATE)
            self.seconds, self.next_point, rows = about["seconds"], about["next_point"], about["rows"]
            self.cpu_seconds = about["cpu_seconds"]
            console.print(f"going on from {trainer.decisions:,} decisions in {folder}", highlight=False)
        self.metrics = GrowingCSV(folder / "metrics.csv", rows[0])
        self.curve = GrowingCSV(folder / "curve.csv", rows[1], COLUMNS, ("name", "table", "agent", "against"))

    def run(self) -> list[Measured]:
        """Train to the end; returns the last evaluation."""
        trainer, begun, saved = self.trainer, time.monotonic() - self.seconds, time.monotonic()
        with (
            written(self.folder),
            events(self.folder, trainer.decisions) as board,
            progress("decisions", self.total, self.console, done=trainer.decisions) as bar,
        ):
            while trainer.decisions < self.total:
                before, cpu = trainer.decisions, time.process_time()
                figures = self._step()
                self.cpu_seconds += time.process_time() - cpu
                self.seconds = time.monotonic() - begun
                self.metrics.add({**self._now(), **figures})
                self._show(board, figures)
                bar(trainer.decisions - before)
                if trainer.decisions >= self.next_point or trainer.decisions >= self.total:
                    self.next_point = (trainer.decisions // self.every + 1) * self.every
                    self._point(board, figures)
                    saved = 0.0
                if time.monotonic() - saved >= self.save_seconds:
                    self.save()
                    saved = time.monotonic()
            if not self.curve.rows:  # the run was over, and the file was removed
                self._point(board, {})
            self.save()
        points = points_of(self.curve.rows)
        return [m for decisions, m in points if decisions == points[-1][0]]

    def _step(self) -> Figures:
        """One iteration; raises ``DivergenceError`` for losses or weights that are no finite numbers."""
        figures = self._asked(self.trainer.step)
        lost = [name for name, value in figures.items() if "loss" in name and not math.isfinite(value)]
        if lost:
            raise self._diverged(f"{lost[0]} is {figures[lost[0]]}")
        self._check_finite(self.trainer.weights())
        return figures

    def _asked(self, call: Callable[[], T]) -> T:
        """The figures of a step or a judgement; what fails on networks that are lost is a ``DivergenceError``."""
        try:
            with np.errstate(invalid="ignore"):  # what comes of it is looked at
                return call()
        except (ValueError, RuntimeError) as error:
            self._check_finite(self.trainer.state()[0])
            if re.search(r"\bnan\b", str(error)):  # weights may be finite still, and what they answer not
                raise self._diverged("the network answers nan") from error
            raise

    def _check_finite(self, arrays: Arrays) -> None:
        for name, array in arrays.items():
            if array.dtype.kind == "f" and not np.isfinite(array).all():
                raise self._diverged(f"{name} is no longer finite")

    def _diverged(self, how: str) -> DivergenceError:
        kept = (
            f"the state before is kept in {self.folder}" if (self.folder / STATE).exists() else "nothing of it is kept"
        )
        return DivergenceError(
            f"training diverged after {self.trainer.decisions:,} decisions: {how}; {kept}; a lower learning rate may help"
        )

    def save(self) -> None:
        """Write the state to go on from; raises ``DivergenceError``, and leaves the last one, if there is none."""
        arrays, about = self.trainer.state()
        self._check_finite(arrays)
        rows = len(self.metrics.rows), len(self.curve.rows)
        save_state(
            self.folder / STATE,
            arrays,
            {
                "trainer": about,
                "seconds": self.seconds,
                "cpu_seconds": self.cpu_seconds,
                "next_point": self.next_point,
                "rows": rows,
                "switches": known_today(),
            },
        )

    def _point(self, board: SummaryWriter, figures: Figures) -> None:
        judged = self._asked(self.judge)
        self.curve.add(*({**self._now(), **m._asdict()} for m in judged))
        self._show(board, {m.tag: m.value for m in judged})
        if judged:
            write_png(self.folder / "curve.png", draw_curve(points_of(self.curve.rows)), 130)
        speed = self.trainer.decisions / max(self.seconds, 1e-9)
        learnt = ", ".join(f"{name} {value:.3g}" for name, value in figures.items())
        self.console.print(
            f"{self.trainer.decisions:>10,} decisions, {speed:,.0f} a second; {in_a_line(judged)}; {learnt}",
            highlight=False,
        )

    def _now(self) -> Figures:
        return {"decisions": self.trainer.decisions, "seconds": round(self.seconds, 2)}

    def _show(self, board: SummaryWriter, figures: Figures) -> None:
        for name, value in figures.items():
            board.add_scalar(name, value, self.trainer.decisions)


def run_command(
    name: str,
    kind: type[C],
    options: Training,
    smoke: Sequence[str],
    train: Callable[[C, Path, Console], list[Measured]],
) -> None:
    """What a trainer's command does: read the configuration, open the folder, train, say what came.

    ``smoke`` are overrides of a smoke run, below the user's own. A new folder in which nothing could begin is taken back.
    """
    console, begun = Console(), None
    try:
        new = options.out is None or not options.out.exists()
        resolved = load_config(kind, options.config, (*(smoke if options.smoke else ()), *options.overrides))
        folder = open_run(name, resolved, options.out, resume=True)
        begun = folder if new else None
        console.print(
            f"results go to {folder}; the same command with --out {folder} goes on after a kill", highlight=False
        )
        final = train(resolved, folder, console)
    except (ValueError, OSError, MemoryError):
        if begun is not None:
            take_back(begun)
        raise
    console.print(measured_table(final, "measured at the end").rich())
    console.print(f"run folder {folder}: checkpoint/, curve.png, curve.csv, metrics.csv")
