"""The arena: agents play each other at rotated seats on the same dice, and every number comes with its interval.

    python -m train arena --agents inference odds threshold --variant classic --seats 4 --games 2000

A deal is one set of dice. It is played once per rotation of its line-up over the seats, each rotation on the same
dice, and all its rotations together are one sample of the intervals: ``--games`` counts games and is rounded up to
whole deals. With more agents than seats, every set of agents that fits sits down in turn; with fewer, all sit equally
often and every choice of agents takes the seats left over in turn. Who sits next to whom is drawn per deal.

``--workers 2`` plays in two processes, ``--backend ray`` on the CPUs here or, with ``--address``, of a Ray cluster: the
games are the same. ``--records FILE`` keeps every game as a line of JSON.

An agent is a name (uniform, odds, ...), a checkpoint folder, or ``package.module:factory``; or a stranger, held out of
all training (held_out:raiser, held_out:bully, ...; all in ``agents.HELD_OUT``). One named twice is two agents. Results: tables on the screen and, in the run folder, arena.json (what was run), results.csv (a measured value a row:
name, value, low, high, table, agent, against) and arena.png.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import datetime
from itertools import islice, permutations
from pathlib import Path
from typing import Annotated, Any

import tyro
from rich.console import Console

import agents as registry
from perudo_env.engine.variant import Variant, parse_variant, table_size
from perudo_env.game.files import check_writable, write_text
from perudo_env.policy import Policy
from train.core.backends import BackendError
from train.core.figures import heat, new_figure, reach
from train.core.measured import Estimate, Measured, exact, write_measured
from train.core.options import MemoryOption, Seed, VariantOption, Where
from train.core.rollout import CHUNK, Played, joined
from train.core.run import write_png
from train.evaluate.tournament.lineups import deals_for, draw_lineups, one_seat
from train.evaluate.tournament.ratings import Ratings, rate
from train.evaluate.tournament.records import RecordsFile
from train.evaluate.tournament.schedule import play_tasks
from train.evaluate.tournament.standings import Result, distinct, standing_of, summarise
from train.evaluate.tournament.tables import matrix_table, ratings_table, standings_table
from train.evaluate.tournament.tasks import Task, cut

MOST_GAMES = 10**8  # their line-ups and dice are drawn before the first is played


@dataclass(frozen=True)
class Arena(Where):
    """Let agents play each other and say who is stronger, with 95% intervals."""

    agents: Annotated[tuple[str, ...], tyro.conf.arg(metavar="AGENT [AGENT ...]")] = (
        "inference",
        "odds",
        "threshold",
    )
    """Names, checkpoint folders, or package.module:factory; at least one."""
    variant: VariantOption = "classic"
    seats: int = 4
    """Seats at a table, 2 to 8."""
    games: int = 2000
    """Games in all, rounded up to whole deals; with --rest, as many again for each cell of its table."""
    seed: Seed = 0
    rest: bool = False
    """Also play one seat of each agent against all other seats of each other agent."""
    anchor: str | None = None
    """The agent that has 0 points in the ratings; by default the last one named."""
    out: Path | None = None
    """The run folder; by default runs/arena-VARIANT-SEATSseats-TIME."""
    records: Path | None = None
    """A file for every game played, a line of JSON each: variant, seats, agents, and a record that Game.replay reads."""
    memory: MemoryOption = "perfect"
    chunk: int = CHUNK
    """Games that a worker plays side by side; part of what a seed means."""

    def checked(self) -> tuple[Variant, list[Policy]]:
        """The variant and the agents; raises ``ValueError`` for whatever cannot be run."""
        variant, num_seats = parse_variant(self.variant), table_size(self.seats)
        if not 1 <= self.games <= MOST_GAMES:
            raise ValueError(
                f"games = {self.games} is not a number of games: use a whole number from 1 to {MOST_GAMES:,}"
            )
        if self.seed < 0:
            raise ValueError(f"seed = {self.seed} is out of range: use a whole number from 0")
        if not self.agents:
            raise ValueError(f"no agents: name at least one of {', '.join(registry.names())}")
        if self.rest and len(self.agents) < 2:
            raise ValueError("--rest needs at least two agents")
        if self.anchor is not None and self.anchor not in distinct(self.agents):
            raise ValueError(
                f"anchor {self.anchor!r} is not among the agents: use one of {', '.join(distinct(self.agents))}"
            )
        if self.chunk < 1:
            raise ValueError(f"chunk = {self.chunk} is not a number of games: use a whole number from 1")
        return variant, [registry.make(name, variant, num_seats, memory=self.memory) for name in self.agents]


@dataclass(frozen=True)
class Outcome:
    """What the games of an arena say."""

    result: Result
    rest: dict[tuple[int, int], Estimate]
    ratings: Ratings | str | None  # in words why they could not be told; None for a single agent

    def measured(self, table: str) -> list[Measured]:
        """All of it as records; ``placed_before`` is of ``agent`` and ``against``, ``win_share_of_one`` of one seat against the rest."""
        names, found = self.result.agents, []
        for s in self.result.standings:
            found.append(exact("seats_held", s.seats, table, s.agent))
            found.append(Measured("win_share", *s.win_share, table, s.agent))
            found.append(Measured("mean_place", *s.mean_place, table, s.agent))
        for name, matrix in (("placed_before", self.result.pairs), ("win_share_of_one", self.rest)):
            found += [Measured(name, *e, table, names[a], names[b]) for (a, b), e in matrix.items()]
        if isinstance(self.ratings, Ratings):
            pairs = zip(self.ratings.agents, self.ratings.points, strict=True)
            found += [Measured("points", *points, table, name) for name, points in pairs]
        return found


def measure(arena: Arena, policies: list[Policy], console: Console) -> Outcome:
    """Play all games of an arena whose agents are ``policies``."""
    names = distinct(arena.agents)
    games = _play(arena, _cells(arena, len(policies), deals_for(arena.games, arena.seats)), console)
    played = games.pop(None)
    rest = {pair: standing_of(0, "", cell).win_share for pair, cell in games.items() if pair is not None}
    return Outcome(summarise(names, played), rest, _ratings(arena, names, played))


def _ratings(arena: Arena, names: list[str], played: Played) -> Ratings | str | None:
    if len(names) < 2:
        return None
    try:
        return rate(names, [played], arena.anchor or names[-1], seed=arena.seed)
    except ValueError as error:  # too few games for so many agents
        return str(error)


Pairing = tuple[int, int] | None
"""A set of games: None is the tournament, (a, b) one seat of agent a against b."""


def _cells(arena: Arena, num_agents: int, deals: int) -> dict[Pairing, list[Task]]:
    variant, keep = str(parse_variant(arena.variant)), arena.records is not None
    lineups = draw_lineups(num_agents, arena.seats, deals, arena.seed)
    cells: dict[Pairing, list[Task]] = {
        None: cut(variant, arena.agents, lineups, arena.seed, arena.chunk, keep, arena.memory)
    }
    one = one_seat(deals, arena.seats)
    for a, b in permutations(range(num_agents), 2) if arena.rest else ():
        cells[a, b] = cut(variant, (arena.agents[a], arena.agents[b]), one, arena.seed, arena.chunk, keep, arena.memory)
    return cells


def _play(arena: Arena, cells: dict[Pairing, list[Task]], console: Console) -> dict[Pairing, Played]:
    tasks = [task for cell in cells.values() for task in cell]
    finished: dict[int, Played] = {}
    with RecordsFile(arena.records) if arena.records is not None else nullcontext() as file:
        try:
            for number, done, _ in play_tasks(tasks, arena.open_backend(), console):
                finished[number] = done.played
                if file is not None:
                    file.add(number, done.records)
        except BackendError as error:
            raise BackendError(f"{error}{file.kept() if file is not None else ''}") from error
    in_order = iter([finished[number] for number in range(len(tasks))])
    return {cell: joined(list(islice(in_order, len(mine)))) for cell, mine in cells.items()}


def run(arena: Arena) -> None:
    """Play, print the tables and write the run folder; raises ``ValueError`` for what cannot be run, before any game."""
    console = Console()
    variant, policies = arena.checked()
    folder = arena.out or Path("runs") / f"arena-{variant.name}-{arena.seats}seats-{datetime.now():%Y%m%d-%H%M%S}"
    for path in (folder / "arena.json", *([arena.records] if arena.records is not None else [])):
        check_writable(path)
    found = measure(arena, policies, console)
    result, ratings = found.result, found.ratings
    title = f"{variant}, {result.num_seats} seats, {result.num_games} games ({result.num_deals} deals), 95% intervals"
    tables = [standings_table(result, title), matrix_table("placed before", result.agents, result.pairs, 0.5)]
    if found.rest:
        says = "one seat (row) against the rest (column): win share"
        tables.append(matrix_table(says, result.agents, found.rest, result.fair_share))
    if isinstance(ratings, Ratings):
        tables.append(ratings_table(ratings))
    console.print(*(table.rich() for table in tables))
    if isinstance(ratings, str):
        console.print(f"no ratings: {ratings}", highlight=False)
    settings = {**vars(arena), "variant": str(variant), "deals": result.num_deals, "agents": list(arena.agents)}
    write(folder, found, settings)
    console.print(f"results in {folder}")


def write(folder: Path, found: Outcome, settings: Mapping[str, Any]) -> None:
    """Write arena.json, results.csv and arena.png into ``folder``."""
    told = dict(settings)
    if isinstance(found.ratings, Ratings):
        told["ratings"] = {key: getattr(found.ratings, key) for key in ("model", "anchor", "note")}
    table = f"{settings['variant']}, {found.result.num_seats} seats"
    write_text(folder / "arena.json", json.dumps(told, indent=2, default=str) + "\n")
    write_measured(folder / "results.csv", found.measured(table))
    write_png(folder / "arena.png", _drawn(found, f"{table}, {found.result.num_games} games"), 120)


def _drawn(found: Outcome, title: str) -> Any:
    result = found.result
    matrices = [("row placed before column", result.pairs, 0.5)]
    if found.rest:
        matrices.append(("win share of one (row) against the rest (column)", found.rest, result.fair_share))
    figure = new_figure(5.5 * (1 + len(matrices)), 4.5)
    first, *others = figure.subplots(1, 1 + len(matrices))
    shares = [s.win_share for s in result.standings]
    first.bar(result.agents, [s.value for s in shares], yerr=reach(shares), capsize=4, color="#4c78a8")
    first.axhline(result.fair_share, color="black", linestyle="--", linewidth=1, label="fair share")
    first.set(title=title, ylabel="win share, 95% intervals")
    first.legend()
    first.tick_params(axis="x", rotation=30)
    for axis, (says, matrix, fair) in zip(others, matrices, strict=True):
        heat(axis, {pair: e.value for pair, e in matrix.items()}, result.agents, result.agents, fair)
        axis.set(title=says)
        axis.tick_params(axis="x", rotation=30)
    return figure
