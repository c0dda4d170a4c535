"""The schedule of a tournament: every agent at every table, in tasks with fixed seeds, into one file of results."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Annotated

from pydantic import Field
from rich.console import Console

import agents as registry
from perudo_env.engine.variant import VARIANTS, parse_variant
from train.core.backends import Backend
from train.core.config import NumTables, Seats, Section, Seed, VariantText
from train.core.progress import progress
from train.core.sources import PLAYED, digest, fingerprint, matching
from train.evaluate.tournament.lineups import draw_lineups
from train.evaluate.tournament.results import Cell, ResultsFile
from train.evaluate.tournament.tasks import Finished, Task, cut, play_task

RESULTS = "results.sqlite"
SMOKE = (
    "agents=[odds, threshold, uniform]", "variants=[classic, 'pascal:starting_dice=2']", "seats=[2, 3]", "games=24", "task=12",
)  # fmt: skip


class TournamentConfig(Section):
    """A tournament."""

    agents: tuple[str, ...] = ()
    """Names, checkpoint folders or package.module:factory; []: every agent with a name."""
    variants: tuple[VariantText, ...] = ()
    """Presets, or like box:calza=anyone; []: every preset."""
    seats: tuple[Seats, ...] = Field(default=(2, 3, 4, 5, 6), min_length=1)
    """2 to 8."""
    games: Annotated[int, Field(gt=0, le=10**9)] = 2000
    """Per variant and number of seats, rounded up to whole tasks; may grow later."""
    task: NumTables = 256
    """Games that a worker plays in one go; part of what the seed means."""
    seed: Seed = 1
    """Of dice, line-ups and the agents' own draws."""

    def cells(self) -> list[Cell]:
        """Every variant and number of seats with the agents that can sit there; ``ValueError`` for what is not known."""
        variants = {str(parse_variant(v)): None for v in self.variants or VARIANTS}
        seats = dict.fromkeys(self.seats)
        return [self._cell(variant, n) for variant in variants for n in seats]

    def _cell(self, variant: str, seats: int) -> Cell:
        sitting, left_out = [], []
        for name in dict.fromkeys(self.agents) or registry.names():
            try:
                registry.make(name, variant, seats)
            except ValueError as error:
                if self.agents:
                    raise
                left_out.append(f"{name}: {error}")
            else:
                sitting.append(name)
        # of its own, so that cells are independent samples
        seed = int.from_bytes(sha256(f"{self.seed} {variant} {seats}".encode()).digest()[:4], "big")
        return Cell(variant, seats, tuple(sitting), seed, tuple(left_out))

    def tasks(self, cell: Cell) -> list[Task]:
        """The tasks of a cell, of whole deals; more ``games`` give more tasks after the same ones."""
        deals = -(-self.task // cell.seats)
        count = -(-self.games // (deals * cell.seats))
        lineups = draw_lineups(len(cell.agents), cell.seats, count * deals, cell.seed)
        return cut(cell.variant, cell.agents, lineups, cell.seed, deals * cell.seats)

    def settings(self) -> dict[str, str | int]:
        """What all games of a results file share."""
        folders = {a: registry.folder_of(a.removeprefix(registry.SEARCH)) for a in self.agents}
        weights = {f"files of {a}": digest(f, matching(f, PLAYED)) for a, f in folders.items() if f is not None}
        return {"seed": self.seed, "task": self.task, "made by": fingerprint(play_task.__module__), **weights}


@dataclass(frozen=True)
class PlacedTask:
    """A task and where its games belong."""

    cell: int
    number: int
    task: Task


def play(config: TournamentConfig, cells: list[Cell], results: ResultsFile, backend: Backend, console: Console) -> None:
    """Play what ``results`` does not hold of the tournament's cells yet; ``BackendError`` for workers that fail."""
    parts = [
        PlacedTask(results.enter(cell), number, task)
        for cell in cells
        for number, task in enumerate(config.tasks(cell))
    ]
    known = {(cell, number) for cell in results.cells for number in results.finished(cell)}
    # the first task of every cell first: whoever looks early sees a little of everything
    left = sorted((p for p in parts if (p.cell, p.number) not in known), key=lambda p: p.number)
    total, to_play = _games(p.task for p in parts), _games(p.task for p in left)
    console.print(
        f"{total} games in {len(cells)} cells, {total - to_play} of them done; results in {results.path}",
        highlight=False,
    )
    if left:
        for at, done, worker in play_tasks([part.task for part in left], backend, console, total - to_play):
            results.add(left[at].cell, left[at].number, done, worker)


def play_tasks(
    tasks: Sequence[Task], backend: Backend, console: Console, done: int = 0
) -> Iterator[tuple[int, Finished, str]]:
    """Play tasks on a backend: yields (number of the task, its games, name of the worker) in any order, and shows progress,
    with ``done`` games behind us."""
    with progress("games", done + _games(tasks), console, done=done) as advance, backend:
        for number, finished, worker in backend.run(play_task, tasks):
            yield number, finished, worker
            advance(len(finished.played.lineups))


def _games(tasks: Iterable[Task]) -> int:
    return sum(len(task.seeds) for task in tasks)
