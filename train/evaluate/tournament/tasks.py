"""Games cut into tasks: what one worker plays side by side, the same games wherever, whenever and beside whatever."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

import agents as registry
from perudo_env.engine.batch import Batch
from perudo_env.engine.variant import parse_variant
from perudo_env.policy import Policy
from train.core.rollout import CHUNK, Played, SeatArray, play_batch
from train.evaluate.tournament.lineups import games_of
from train.evaluate.tournament.records import Trace, lines


@dataclass(frozen=True)
class Task:
    """Games of one variant and table size; plain data, so that it can travel."""

    variant: str
    names: tuple[str, ...]  # of the agents, as they were given
    agents: tuple[str, ...]  # as agents.make reads them in any folder
    lineups: SeatArray  # (num_games, num_seats): number of the agent in each seat
    seeds: npt.NDArray[np.uint64]  # (num_games,): of the dice
    draws: tuple[int, int]  # seeds the agents' own draws: the seed of the whole, the number of this part
    record: bool = False  # whether to keep the games as text
    memory: str = "perfect"  # of the agents, as agents.make takes it


@dataclass(frozen=True)
class Finished:
    """What a task gives back."""

    played: Played
    records: tuple[str, ...]  # lines of JSON, a game each, where the task asks for them
    seconds: float  # of the worker's clock


def cut(
    variant: str,
    names: tuple[str, ...],
    lineups: SeatArray,
    seed: int,
    chunk: int = CHUNK,
    record: bool = False,
    memory: str = "perfect",
) -> list[Task]:
    """Every rotation of each line-up, ``(num_deals, num_seats)``, in tasks of ``chunk`` games.

    The games, in order, are those of :func:`~train.evaluate.tournament.standings.play_deals` where ``chunk`` is
    ``rollout.CHUNK``; another ``chunk`` gives the agents other draws on the same dice.
    """
    seats, seeds = games_of(lineups, seed)
    agents = tuple(registry.anywhere(name) for name in names)  # a worker may stand in another folder
    return [
        Task(variant, names, agents, seats[at : at + chunk], seeds[at : at + chunk], (seed, number), record, memory)
        for number, at in enumerate(range(0, len(seats), chunk))
    ]


def play_task(task: Task) -> Finished:
    """Play a task; raises ``ValueError`` for an agent that cannot be had here."""
    begun = time.perf_counter()
    variant, num_seats = parse_variant(task.variant), task.lineups.shape[1]
    policies = [_policy(name, task.variant, num_seats, task.memory) for name in task.agents]
    batch = Batch(variant, num_seats, len(task.seeds), task.seeds)
    trace = Trace()
    played = play_batch(
        batch, policies, task.lineups, np.random.default_rng(task.draws), on_actions=trace.add if task.record else None
    )
    records = trace.records(variant, num_seats, task.seeds) if task.record else []
    told = lines(task.variant, task.names, task.lineups, records) if task.record else []
    return Finished(played, tuple(told), time.perf_counter() - begun)


@lru_cache(maxsize=64)
def _policy(name: str, variant: str, num_seats: int, memory: str) -> Policy:
    """An agent, made once per worker and table."""
    return registry.make(name, variant, num_seats, memory=memory)
