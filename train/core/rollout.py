"""Many games between given policies at given seats: the one loop that plays them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from perudo_env.engine.batch import Batch
from perudo_env.engine.observation import Layout
from perudo_env.engine.variant import Variant, as_variant, table_size
from perudo_env.game.asking import ask, places
from perudo_env.policy import Policy

CHUNK = 4096
"""Games that are played side by side; part of what a seed means."""

SeatArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Played:
    """Finished games, a row each; columns are seats."""

    lineups: SeatArray  # (num_games, num_seats): number of the policy in each seat
    places: npt.NDArray[np.int8]  # (num_games, num_seats): 1 is the winner
    returns: FloatArray  # (num_games, num_seats): winner +1, others -1/(n-1), or the return of a single round
    rounds: npt.NDArray[np.int32]  # (num_games,): rounds played
    decisions: int  # of all games together

    @property
    def wins(self) -> FloatArray:
        """What each seat has of the win, ``(num_games, num_seats)``: seats that share the first place share it."""
        first = self.places == 1
        return first / first.sum(axis=1, keepdims=True)


def play(
    policies: Sequence[Policy],
    lineups: npt.ArrayLike,
    variant: Variant | str,
    seeds: npt.ArrayLike,
    *,
    seed: int = 0,
    dice: Sequence[int] | None = None,
    max_rounds: int | None = None,
    pad_to: Layout | None = None,
    on_progress: Callable[[int], Any] | None = None,
) -> Played:
    """Play one game per row of ``lineups``, ``(num_games, num_seats)``: the number of the policy in each seat.

    ``seeds`` ``(num_games,)`` fix the dice: rows of one seed roll the same dice for the same seats in every round,
    whoever sits there. ``seed`` fixes the policies' own draws, so equal arguments give equal games. ``on_progress``
    is called with the number of games just finished. Raises ``ValueError`` for line-ups that do not fit.
    """
    variant = as_variant(variant)
    seats, game_seeds = _checked(policies, lineups, seeds)
    parts = []
    for number, at in enumerate(range(0, len(seats), CHUNK)):
        part, rng = slice(at, at + CHUNK), np.random.default_rng([seed, number])
        batch = Batch(
            variant, seats.shape[1], len(seats[part]), game_seeds[part], dice=dice, max_rounds=max_rounds, pad_to=pad_to
        )
        parts.append(play_batch(batch, policies, seats[part], rng, on_progress))
    return joined(parts)


def play_batch(
    batch: Batch,
    policies: Sequence[Policy],
    seats: SeatArray,
    rng: np.random.Generator,
    on_progress: Callable[[int], Any] | None = None,
    on_actions: Callable[[SeatArray, SeatArray], Any] | None = None,
) -> Played:
    """Play fresh games side by side to their ends; ``seats`` ``(num_games, num_seats)`` number the policy in each seat.

    ``on_progress`` is called with the number of games just finished, ``on_actions`` with the rows that act and what
    they choose, both ``(num_acting,)``.
    """
    decisions = 0
    for done, rows, actions in _steps(batch, policies, seats, rng):
        decisions += rows.size
        if on_actions is not None:
            on_actions(rows, actions)
        if on_progress is not None and done:
            on_progress(done)
    return Played(seats, batch.ranks.copy(), batch.returns, batch.states["round"].copy(), decisions)


def rotations(lineups: npt.ArrayLike) -> SeatArray:
    """Every rotation of each line-up, ``(num_deals * num_seats, num_seats)``, those of one deal together."""
    deals = np.asarray(lineups, np.int64)
    num_seats = deals.shape[1]
    turned = (np.arange(num_seats)[:, None] + np.arange(num_seats)) % num_seats
    return deals[:, turned].reshape(-1, num_seats)


def _steps(
    batch: Batch, policies: Sequence[Policy], seats: SeatArray, rng: np.random.Generator
) -> Iterator[tuple[int, SeatArray, SeatArray]]:
    """Play a batch to its end; yields, per step, how many games it finished, which rows acted, and how."""
    rows = np.arange(batch.num_games)
    while rows.size:
        masks, seen = batch.masks(rows), batch.observe(rows)
        acting = seats[rows, batch.seat[rows]]
        actions = np.zeros(rows.size, np.int64)
        for number, policy in enumerate(policies):
            mine = np.flatnonzero(acting == number)
            if mine.size:
                actions[mine] = ask(policy, seen[mine], masks[mine], rng, places(batch, rows[mine]))
        batch.act(actions, rows)
        left = rows[~batch.is_over[rows]]
        yield rows.size - left.size, rows, actions
        rows = left


def joined(parts: Sequence[Played]) -> Played:
    """Games played apart, at tables of one size, as one set."""
    return Played(
        np.concatenate([p.lineups for p in parts]),
        np.concatenate([p.places for p in parts]),
        np.concatenate([p.returns for p in parts]),
        np.concatenate([p.rounds for p in parts]),
        sum(p.decisions for p in parts),
    )


def _checked(
    policies: Sequence[Policy], lineups: npt.ArrayLike, seeds: npt.ArrayLike
) -> tuple[SeatArray, npt.NDArray[np.uint64]]:
    seats = np.asarray(lineups, np.int64)
    if seats.ndim != 2 or len(seats) == 0:
        raise ValueError(f"lineups of shape {seats.shape}: give (num_games, num_seats) with at least one game")
    table_size(seats.shape[1])
    if seats.min() < 0 or seats.max() >= len(policies):
        raise ValueError(
            f"lineups name policies {seats.min()} to {seats.max()}, but there are {len(policies)}: use 0 to {len(policies) - 1}"
        )
    game_seeds = np.asarray(seeds)
    if game_seeds.shape != (len(seats),) or game_seeds.dtype.kind not in "ui":
        raise ValueError(
            f"seeds of shape {game_seeds.shape} and type {game_seeds.dtype}: give {len(seats)} whole numbers, one per game"
        )
    return seats, game_seeds.astype(np.uint64)
