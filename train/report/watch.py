"""A view of a training run in the terminal while it goes: how far it is, the time left, and its curve so far.

    python -m train watch runs/duel

Read are the files of the run's folder alone, so that any other process, or another machine that sees the folder, may watch. On a
terminal it goes on until the run is over, or until it is interrupted; elsewhere it is printed once.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.text import Text
from tyro.conf import Positional

from train.core.config import read_yaml
from train.core.curve import Point, last_of, read_curve
from train.core.progress import in_time
from train.core.run import CONFIG, read_csv
from train.core.table import Table

BLOCKS = "▁▂▃▄▅▆▇█"
RECENT = 50  # iterations that the speed is taken from


@dataclass(frozen=True)
class WatchOptions:
    """A run."""

    run: Positional[Path]
    """The folder of a run of ppo, sb3, distil, nfsp or deep-cfr."""
    every: float = 2.0
    """Seconds between two looks."""


@dataclass(frozen=True)
class Seen:
    """What the files of a run say."""

    decisions: int
    total: int
    seconds: float  # of training, judging included, of all its processes
    speed: float  # decisions a second of late; 0 where that is not known yet
    silent: float  # seconds since the last iteration was written
    curve: list[Point]

    @property
    def is_over(self) -> bool:
        """Whether all decisions are made."""
        return self.decisions >= self.total

    def __str__(self) -> str:
        """A line of how far it is."""
        share = f"{self.decisions:,} of {self.total:,} decisions ({min(1.0, self.decisions / self.total):.0%})"
        if self.is_over:
            return f"{share}, over after {in_time(self.seconds)}"
        left = f", about {in_time((self.total - self.decisions) / self.speed)} left" if self.speed else ""
        return f"{share}, {self.speed:,.0f} a second{left}; last heard of {in_time(self.silent)} ago"


def total_of(config: Mapping[str, Any]) -> int:
    """How many decisions a run's configuration asks for; raises ``ValueError`` where it does not say."""
    for section in config.values():
        if isinstance(section, dict) and isinstance(section.get("total_decisions"), int):
            return int(section["total_decisions"])
    raise ValueError("it does not say total_decisions")


def look(folder: Path) -> Seen:
    """Read a run's folder; raises ``ValueError`` for one that holds no run."""
    if not (folder / CONFIG).is_file():
        raise ValueError(f"{folder} is not the folder of a run: it has no {CONFIG}")
    try:
        total = total_of(read_yaml(folder / CONFIG))
    except ValueError as error:
        raise ValueError(f"{folder / CONFIG}: {error}") from error
    metrics = folder / "metrics.csv"
    if not metrics.is_file():
        return Seen(0, total, 0.0, 0.0, time.time() - (folder / CONFIG).stat().st_mtime, [])
    rows = [(int(r["decisions"]), float(r["seconds"])) for r in read_csv(metrics, ended=True)[1]] or [(0, 0.0)]
    (before, at), (decisions, seconds) = rows[-min(RECENT, len(rows))], rows[-1]
    speed = (decisions - before) / (seconds - at) if seconds > at else 0.0
    silent = max(0.0, time.time() - metrics.stat().st_mtime)
    return Seen(decisions, total, seconds, speed, silent, read_curve(folder / "curve.csv"))


def spark(values: Sequence[float]) -> str:
    """Numbers as a line of blocks, the least lowest."""
    low, high = min(values), max(values)
    step = (high - low) / (len(BLOCKS) - 1) or 1.0
    return "".join(BLOCKS[round((value - low) / step)] for value in values)


def view(folder: Path, seen: Seen) -> Group:
    """What is shown of a run."""
    bar = ProgressBar(total=seen.total, completed=min(seen.decisions, seen.total), width=60)
    parts: list[Any] = [Text(f"{folder}: {seen}"), bar]
    rows = [
        (last.title, last.where, last, spark([m.value for _, m in seen.curve if (m.name, m.where) == key]))
        for key, (_, last) in last_of(seen.curve).items()
    ]
    if rows:
        at = max(decisions for decisions, _ in seen.curve)
        parts.append(Text(f"measured after {at:,} decisions:"))
        parts.append(Table(("measured", "table", "value, 95% interval", "so far"), rows).rich())
    return Group(*parts)


def run(options: WatchOptions) -> None:
    """Show a run until it is over."""
    console, folder = Console(), options.run
    seen = look(folder)
    if not console.is_terminal:
        console.print(view(folder, seen))
        return
    with Live(view(folder, seen), console=console, auto_refresh=False) as live:
        while not seen.is_over:
            time.sleep(options.every)
            seen = look(folder)
            live.update(view(folder, seen), refresh=True)
