"""Self-play for the trainers: many tables of many kinds, one network in all seats, whole rounds or whole games at a time.

Tables are played until each has finished its round (or its game): every decision's return is known when it is learnt
from, and nothing has to be guessed at the end of a batch. Tables keep their games between batches, so rounds come as
real games bring them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.core.seated import sight
from agents.learned.features import encode, pick_rows
from perudo_env.engine.batch import Batch
from perudo_env.engine.variant import MAX_SEATS, Variant
from perudo_env.game.asking import ask, places
from perudo_env.policy import Policy, sample
from train.selfplay.critic_features import all_dice
from train.selfplay.pay import CALLS, Stakes, Unit
from train.selfplay.sparse import SparseRows, compress, joined
from train.selfplay.values import ContinuationValues

FloatArray = npt.NDArray[np.float64]
Float32Array = npt.NDArray[np.float32]
LEARNER = 0

# (inputs, sizes) -> log-probabilities of the cells, all (batch, ...); the critic's inputs stand behind the actor's
Actor = Callable[[SparseRows, npt.NDArray[np.int16]], Float32Array]
# (number from 1 in the pool, variant, num_seats) -> who plays there
Opponents = Callable[[int, Variant, int], Policy]


class Tables:
    """``num_tables`` tables of one variant and size, with who sits where.

    ``any_dice`` is the share of games that begin with each seat's dice drawn from 1 to a full cup, so that every round
    is met, unless ``dice`` fixes them; at an ``endgame`` of such dice the bids are those of a whole game. In a share ``pool_share`` of games one opponent of the pool holds some seats: all but
    one, or with ``many_learn`` each with an even chance, and at least one seat learns.
    """

    def __init__(
        self, variant: Variant, num_seats: int, num_tables: int, any_dice: float, rng: np.random.Generator, *,
        pool_share: float = 0.0, many_learn: bool = False, dice: Sequence[int] | None = None, endgame: bool = False,
    ) -> None:  # fmt: skip
        self.variant, self.num_seats, self.rng = variant, num_seats, rng
        self.any_dice, self.pool_share, self.many_learn = any_dice, pool_share, many_learn
        self.fixed_dice = dice is not None
        self.batch = Batch(variant, num_seats, num_tables, seed=0, dice=None if endgame else dice)
        self.start = np.array(dice or self.batch.start, np.int8)
        self.lineups = np.zeros((num_tables, num_seats), np.int64)
        self.pool_weights: FloatArray = np.zeros(0)

    def deal(self, rows: npt.NDArray[np.int64]) -> None:
        """Begin new games in ``rows``; each keeps the opponents it draws now to its end."""
        if not rows.size:
            return
        dice = np.repeat(self.start[None], rows.size, axis=0)
        if not self.fixed_dice:
            free = self.rng.random(rows.size) < self.any_dice
            dice[free] = self.rng.integers(1, self.variant.starting_dice + 1, (int(free.sum()), self.num_seats))
        self.batch.reset(rows, self.rng.integers(2**63, size=rows.size, dtype=np.uint64), dice)
        self.lineups[rows] = LEARNER
        if self.pool_weights.size:
            mixed = rows[self.rng.random(rows.size) < self.pool_share]
            opponents = 1 + self.rng.choice(
                self.pool_weights.size, mixed.size, p=self.pool_weights / self.pool_weights.sum()
            )
            learns = self.rng.random((mixed.size, self.num_seats)) < (0.5 if self.many_learn else 0.0)
            learns[np.arange(mixed.size), self.rng.integers(self.num_seats, size=mixed.size)] = True
            self.lineups[mixed] = np.where(learns, LEARNER, opponents[:, None])

    def deal_finished(self) -> None:
        """Begin a new game wherever the last one is over."""
        self.deal(np.flatnonzero(self.batch.is_over))


@dataclass
class Decisions:
    """What the learner decided, in the order in which it did, and what it was paid."""

    inputs: SparseRows  # n rows of features.NUM_INPUTS + critic_features.NUM_INPUTS
    sizes: npt.NDArray[np.int16]  # (n, NUM_CELLS)
    log_probs: Float32Array  # (n, NUM_CELLS): of the policy that played
    chosen: npt.NDArray[np.int64]  # (n,): cells
    who: npt.NDArray[np.int64]  # (n,): table * MAX_SEATS + seat
    pay: FloatArray  # (num_tables * MAX_SEATS,): what each seat of each table is paid at the end
    calls: Float32Array  # (n, 2): what Dudo and Calza would pay, NaN where that is not known; (n, 0) where nobody asked
    finished: int  # rounds or games played to their end


@dataclass
class Rounds:
    """Finished rounds, for the continuation values to learn from."""

    inputs: Float32Array  # (n, values.NUM_INPUTS)
    targets: Float32Array  # (n, MAX_SEATS): chances to win after the round, by place in the state before it
    squares: Float32Array  # (n,): mean square change of a living seat's chance


class Collector:
    """Plays tables and gathers the learner's decisions.

    A share ``uniform`` of them is drawn from all legal cells alike; with ``calls`` it is noted what a call would pay.
    """

    def __init__(
        self, actor: Actor, opponents: Opponents, rng: np.random.Generator, *, uniform: float = 0.0, calls: bool = False
    ) -> None:
        self.actor, self.opponents, self.rng = actor, opponents, rng
        self.uniform, self.calls = uniform, calls
        self._parts: list[tuple[Any, ...]] = []

    def collect(
        self, groups: Sequence[Tables], unit: Unit, values: ContinuationValues | None
    ) -> tuple[Decisions, Rounds | None]:
        """Play one round (or game) at every table; rounds are paid with ``values``, or, of one-round variants, their return."""
        for tables in groups:
            tables.deal_finished()
        self._parts = []
        self._stakes = [Stakes(t.batch, unit, values) for t in groups]
        self._play(groups, unit)
        finished = sum(t.batch.num_games for t in groups)
        pays, found = zip(*(s.settle(t.batch) for s, t in zip(self._stakes, groups, strict=True)), strict=True)
        lessons = [lesson for lesson in found if lesson is not None]
        rows, *rest = zip(*self._parts, strict=True)
        columns: list[Any] = [np.concatenate(c) for c in rest]
        rounds = Rounds(*(np.concatenate(c) for c in zip(*lessons, strict=True))) if lessons else None
        sizes, log_probs, chosen, who, calls = columns
        paid = np.concatenate(pays).reshape(-1)
        return Decisions(joined(rows), sizes, log_probs, chosen, who, paid, calls, finished), rounds

    def _play(self, groups: Sequence[Tables], unit: Unit) -> None:
        rows = [np.arange(t.batch.num_games) for t in groups]
        offsets = np.cumsum([0, *(t.batch.num_games for t in groups)])
        while any(r.size for r in rows):
            asked = []
            for g, tables in enumerate(groups):
                if rows[g].size:
                    asked.append((g, tables, *self._others(tables, rows[g])))
            self._learner(asked, offsets)
            for g, tables, actions, _ in asked:
                ended = tables.batch.act(actions, rows[g])
                rows[g] = rows[g][~ended] if unit == "rounds" else rows[g][~tables.batch.is_over[rows[g]]]

    def _others(self, tables: Tables, rows: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], Any]:
        """The actions of the pool's seats, and what the learner's seats see: places in ``rows``, observations, masks."""
        batch = tables.batch
        masks, seen = batch.masks(rows), batch.observe(rows)
        acting = tables.lineups[rows, batch.seat[rows]]
        actions = np.zeros(rows.size, np.int64)
        for number in np.unique(acting):
            if number != LEARNER:
                mine = np.flatnonzero(acting == number)
                policy = self.opponents(int(number), tables.variant, tables.num_seats)
                actions[mine] = ask(policy, seen[mine], masks[mine], self.rng, places(batch, rows[mine]))
        mine = np.flatnonzero(acting == LEARNER)
        return actions, (mine, rows[mine], seen[mine], masks[mine])

    def _learner(self, asked: list[Any], offsets: npt.NDArray[np.int64]) -> None:
        """Ask the network for all tables at once, and note its decisions."""
        encoded = [encode(seen, masks, sight(t.variant, t.num_seats)) for _, t, _, (_, _, seen, masks) in asked]
        if not any(len(e.inputs) for e in encoded):
            return
        # all dice, for the critic, as the tables stand now
        hindsight = [all_dice(tables.batch, rows) for _, tables, _, (_, rows, _, _) in asked]
        inputs = compress(np.concatenate([e.inputs for e in encoded]), np.concatenate(hindsight))
        sizes = np.concatenate([e.sizes for e in encoded])
        log_p = self.actor(inputs, sizes)
        chosen = sample(played(log_p, sizes, self.uniform), self.rng)
        draws = self.rng.random(len(chosen))
        who, at, calls = [], 0, np.empty((len(chosen), len(CALLS) if self.calls else 0), np.float32)
        for (g, tables, actions, (mine, rows, _, masks)), e in zip(asked, encoded, strict=True):
            here = slice(at, at + mine.size)
            picked = np.zeros(mine.size, np.int64)
            pick_rows(chosen[here], e.cells, masks, draws[here], e.sizes, picked)
            actions[mine] = picked
            who.append((offsets[g] + rows) * MAX_SEATS + tables.batch.seat[rows])
            if self.calls:
                calls[here] = self._stakes[g].calls(tables.batch, rows, masks)
            at += mine.size
        self._parts.append((inputs, sizes, log_p, chosen, np.concatenate(who), calls))


def played(log_probs: Float32Array, sizes: npt.NDArray[np.int16], uniform: float) -> npt.NDArray[Any]:
    """The probabilities of cells with which a policy of ``log_probs`` plays that draws a share ``uniform`` from all alike."""
    probs = np.exp(log_probs)
    return (
        probs
        if uniform == 0
        else (1 - uniform) * probs + uniform * (sizes > 0) / (sizes > 0).sum(axis=1, keepdims=True)
    )
