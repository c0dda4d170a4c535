"""The gain of a local best response against a frozen agent: a lower bound on what any best response gains.

    python -m train local-best-response --agent inference --variant classic --dice 5 5

The responder sits in one seat and the agent in all others. It keeps an exact belief over every other seat's hand, from
the agent's own probabilities (``agents.search.hand_beliefs``), and takes the action of the best value one step ahead
(``agents.search.lookahead``). That is a strategy as any other: it plays real rounds, and its mean return is an honest estimate of
what can be gained. (Lisy and Bowling, "Equilibrium approximation quality of current no-limit poker bots", 2017.)

Each deal of dice is played once per seat of the responder and once by the agent alone; all of that is one sample of the
95% intervals. Returns are those of the round (the loser of a die -1, the others together +1), or with ``--match`` of the
whole game (winner +1, the others together -1).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
import tyro

import agents as registry
from agents.search.hand_beliefs import HandBeliefs
from agents.search.lookahead import Effort, Lookahead, last_returns
from perudo_env.engine.batch import Batch
from perudo_env.engine.rows import open_row
from perudo_env.engine.variant import Variant, as_variant, parse_variant, table_size
from perudo_env.game.asking import ask_probs, places
from perudo_env.policy import Policy, sample
from train.core.measured import Estimate
from train.core.options import AgentOption, MemoryOption, Seed, VariantOption
from train.core.progress import progress
from train.evaluate.statistics import mean_estimate

CHUNK = 512  # deals that are played side by side; part of what a seed means
FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class RoundOrGame:
    """What is played: one round that seat 0 opens, or a whole game."""

    variant: Variant
    dice: tuple[int, ...]
    palifico: bool = False
    match: bool = False

    def __post_init__(self) -> None:
        table_size(len(self.dice))
        if min(self.dice) < 1:
            raise ValueError(f"dice = {self.dice}: every seat needs at least one die")
        if self.palifico and (self.match or self.dice[0] != 1 or self.variant.palifico == "off"):
            raise ValueError(
                f"palifico with dice = {self.dice} under {self.variant}: a palifico round needs a variant that has them, "
                "its opener has one die, and no game begins with one"
            )

    def deal(self, seeds: npt.NDArray[np.uint64]) -> Batch:
        """A game per seed; equal seeds roll equal dice. Raises ``ValueError`` for dice that the variant does not have."""
        batch = Batch(
            self.variant, len(self.dice), len(seeds), seeds, dice=self.dice, max_rounds=None if self.match else 1
        )
        if not self.match:
            for i in range(len(seeds)):
                open_row(batch.states, i, 0, self.palifico)
        return batch

    def returns(self, batch: Batch) -> FloatArray:
        """What the seats of finished games are paid, ``(num_games, num_seats)``."""
        if self.match:
            return batch.returns
        out = np.empty((batch.num_games, batch.num_seats))
        for seat in range(batch.num_seats):
            last_returns(batch.states, np.full(batch.num_games, seat), out[:, seat])
        return out


@dataclass(frozen=True)
class Gain:
    """What the local best response gains, by the seat it takes; no more than what a best response does."""

    agent_returns: tuple[Estimate, ...]  # of the agent itself in each seat
    gains: tuple[Estimate, ...]  # of the responder in each seat: its return minus the agent's on the same dice
    total: Estimate  # the sum over seats
    num_deals: int

    @property
    def mean(self) -> Estimate:
        """The mean over seats."""
        return Estimate(*(x / len(self.gains) for x in self.total))


def local_best_response(
    policy: Policy,
    table: RoundOrGame,
    deals: int = 2000,
    seed: int = 0,
    effort: Effort | None = None,
    on_progress: Callable[[int], Any] | None = None,
) -> Gain:
    """Measure the gain on ``deals`` deals; ``on_progress`` is called with the number of games just finished.

    Raises ``ValueError`` for a table that cannot be and, naming the information state, for bad probabilities.
    """
    if deals < 2:
        raise ValueError(f"games = {deals}: an interval needs at least 2")
    seeds = np.random.default_rng(seed).integers(0, 2**63, deals).astype(np.uint64)
    n = len(table.dice)
    own, responder = [], []
    for number, at in enumerate(range(0, deals, CHUNK)):
        part, rng = seeds[at : at + CHUNK], np.random.default_rng([seed, number])
        own.append(table.returns(play_alone(policy, table.deal(part), rng)))
        seats = np.tile(np.arange(n), len(part))
        played = play_against(policy, table.deal(np.repeat(part, n)), seats, rng, effort)
        responder.append(table.returns(played)[np.arange(seats.size), seats].reshape(-1, n))
        if on_progress is not None:
            on_progress(len(part) * (n + 1))
    alone, gained = np.concatenate(own), np.concatenate(responder) - np.concatenate(own)
    return Gain(
        tuple(mean_estimate(x, bounds=(-1, 1)) for x in alone.T),
        tuple(mean_estimate(x, bounds=(-2, 2)) for x in gained.T),
        mean_estimate(gained.sum(axis=1), bounds=(-n, n)),  # the agent's own returns sum to zero
        deals,
    )


def play_alone(policy: Policy, batch: Batch, rng: np.random.Generator) -> Batch:
    """Play all games to the end, the policy in every seat."""
    rows = np.flatnonzero(~batch.is_over)
    while rows.size:
        probs = ask_probs(policy, batch.observe(rows), batch.masks(rows), places(batch, rows))
        batch.act(sample(probs, rng), rows)
        rows = rows[~batch.is_over[rows]]
    return batch


def play_against(
    policy: Policy, batch: Batch, seats: npt.NDArray[np.int64], rng: np.random.Generator, effort: Effort | None = None
) -> Batch:
    """Play all games to the end: the responder in ``seats``, one a game, and the policy in all others."""
    beliefs = HandBeliefs(batch, policy)
    responder = Lookahead(beliefs, policy, effort)
    rows = np.flatnonzero(~batch.is_over)
    while rows.size:
        mine = batch.seat[rows] == seats[rows]
        actions = np.zeros(rows.size, np.int64)
        if mine.any():
            actions[mine] = responder.act(rows[mine], rng)
        if not mine.all():
            actions[~mine] = beliefs.act(rows[~mine], rng)
        ended = batch.act(actions, rows)
        going = ~batch.is_over[rows]
        beliefs.begin(rows[ended & going])
        rows = rows[going]
    return batch


@dataclass(frozen=True)
class LocalBestResponse:
    """Measure what a local best response gains against an agent, with 95% intervals."""

    agent: AgentOption
    variant: VariantOption = "classic"
    dice: Annotated[tuple[int, ...], tyro.conf.arg(metavar="DICE DICE [DICE ...]")] = (5, 5)
    """Dice per seat; the first opens the round."""
    palifico: bool = False
    """A palifico round."""
    match: bool = False
    """Whole games that begin with these dice, not a round."""
    games: int = 2000
    """Deals; each is played once per seat of the responder and once by the agent alone."""
    seed: Seed = 0
    memory: MemoryOption = "perfect"
    """Of the agent; the responder knows all counts."""
    effort: Effort = field(default_factory=Effort)

    def table(self) -> RoundOrGame:
        """The table; raises ``ValueError`` for what cannot be played."""
        return RoundOrGame(parse_variant(self.variant), self.dice, self.palifico, self.match)


def describe(options: LocalBestResponse, table: RoundOrGame, gain: Gain) -> str:
    """The result in words."""
    what = "the whole game from" if table.match else "a palifico round of" if table.palifico else "a round of"
    lines = [
        f"{options.agent} under {table.variant}, {what} {' v '.join(map(str, table.dice))} dice: "
        f"{gain.num_deals:,} deals, seed {options.seed}, 95% intervals"
    ]
    for seat, (own, more) in enumerate(zip(gain.agent_returns, gain.gains, strict=True)):
        lines.append(f"seat {seat}: the agent's own return {own}, gain of the local best response {more}")
    if len(table.dice) == 2:
        lines.append(f"both seats together (NashConv is at least this)  {gain.total}")
        lines.append(f"mean of the seats (exploitability is at least this)  {gain.mean}")
    else:
        lines.append(f"mean of the seats (a best response against fixed others gains at least this)  {gain.mean}")
    return "\n".join(lines)


def run(options: LocalBestResponse) -> None:
    """Measure, and say what was found; raises ``ValueError`` for what cannot be played."""
    table = options.table()
    policy = registry.make(options.agent, as_variant(table.variant), len(table.dice), memory=options.memory)
    with progress("games", options.games * (len(table.dice) + 1)) as advance:
        gain = local_best_response(policy, table, options.games, options.seed, options.effort, advance)
    print(describe(options, table, gain))
