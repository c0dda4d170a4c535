"""The large tournament: every agent at every table, in tasks with fixed seeds, into one file of results and one page.

    python -m train.evaluate.standings configs/tournament.yaml --workers 2

The run folder holds results.sqlite, page.html and page.png. The same command goes on with a run that was stopped or killed, on
any backend and any number of workers, to the same results; ``games`` may grow, variants and seats may be added.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Annotated

import tyro
from pydantic import Field
from rich.console import Console

import agents as registry
from perudo_env.engine.variant import VARIANTS, parse_variant
from perudo_env.game.files import NotWrittenError, check_writable, make_folder
from train.core.backends import Backend, BackendError, Name, open_backend
from train.core.config import NumTables, Seats, Section, Seed, VariantText, load_config
from train.core.progress import progress
from train.core.sources import PLAYED, digest, fingerprint, matching
from train.evaluate.results import Cell, ResultsFile
from train.evaluate.standings import draw_lineups
from train.evaluate.tasks import Task, cut, play_task
from train.report import tournament as league_page

RESULTS, PAGE = "results.sqlite", "page.html"
SMOKE = (
    "agents=[odds, threshold, uniform]", "variants=[classic, 'pascal:starting_dice=2']", "seats=[2, 3]", "games=24", "task=12",
)  # fmt: skip


class League(Section):
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
class Part:
    """A task and where its games belong."""

    cell: int
    number: int
    task: Task


def run(league: League, folder: Path, backend: Backend, console: Console) -> None:
    """Play what is not yet in the folder's results, and write its page.

    Raises ``ValueError`` for what cannot be run or results that are not of this tournament, ``BackendError`` for workers
    that fail; finished games are kept.
    """
    cells = league.cells()
    check_writable(folder / PAGE)
    make_folder(folder)
    with ResultsFile(folder / RESULTS, league.settings()) as results:
        parts = [
            Part(results.enter(cell), number, task) for cell in cells for number, task in enumerate(league.tasks(cell))
        ]
        known = {(cell, number) for cell in results.cells for number in results.finished(cell)}
        # the first task of every cell first: whoever looks early sees a little of everything
        left = sorted((p for p in parts if (p.cell, p.number) not in known), key=lambda p: p.number)
        total = _games(parts)
        console.print(
            f"{total} games in {len(cells)} cells, {total - _games(left)} of them done; results in {folder / RESULTS}",
            highlight=False,
        )
        try:
            _play(left, results, backend, console, total)
        except BaseException:
            # a stopped run shows what it has, if it can
            with suppress(NotWrittenError):
                league_page.write(results, folder / PAGE)
            raise
        rows = league_page.write(results, folder / PAGE)
        console.print(league_page.overview_table(rows))
    console.print(f"results in {folder / RESULTS}, the page in {folder / PAGE}", highlight=False)


def _play(left: list[Part], results: ResultsFile, backend: Backend, console: Console, total: int) -> None:
    if not left:
        return
    with progress("games", total, console, done=total - _games(left)) as advance, backend:
        for at, done, worker in backend.run(play_task, [part.task for part in left]):
            results.add(left[at].cell, left[at].number, done, worker)
            advance(len(done.played.lineups))


def _games(parts: Iterable[Part]) -> int:
    return sum(len(part.task.seeds) for part in parts)


def main(
    config: tyro.conf.Positional[Path] = Path("configs/tournament.yaml"),
    overrides: tyro.conf.Positional[tuple[str, ...]] = (),
    out: Annotated[Path, tyro.conf.arg(help="run folder; the same folder again goes on")] = Path("runs/tournament"),
    backend: Annotated[Name, tyro.conf.arg(help="where the games are played")] = "local",
    workers: Annotated[int, tyro.conf.arg(help="processes of the local backend, or CPUs of a Ray started here")] = 2,
    address: Annotated[str | None, tyro.conf.arg(help="a running Ray cluster, host:port or auto")] = None,
    smoke: Annotated[bool, tyro.conf.arg(help="a few games, to see that all works")] = False,
) -> int:
    """Rate every agent at every table: a config, and overrides like games=10000."""
    console = Console()
    try:
        league = load_config(League, config, (*(SMOKE if smoke else ()), *overrides))
        run(league, out, open_backend(backend, workers, address), console)
    except ValueError as error:
        print(f"tournament: {error}", file=sys.stderr)
        return 2
    except BackendError as error:
        print(f"tournament: {error}; finished games are kept in {out / RESULTS}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(
            f"tournament: stopped; finished games are kept in {out / RESULTS}, the same command goes on",
            file=sys.stderr,
        )
        return 130
    return 0


def command() -> int:
    """The command line."""
    return tyro.cli(main, prog="python -m train.evaluate.standings")
