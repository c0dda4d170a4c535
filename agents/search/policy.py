"""search: an agent that thinks at the table, on top of any agent that states its probabilities.

At a decision it holds an exact belief about every other hand, from what the agent under it would have said with each
(``hand_beliefs``); values the calls exactly and the likeliest raises by playing the round on, on hands drawn from that
belief with the agent in all seats (``lookahead``); and tilts the agent's own probabilities towards what is worth more.

    search:table     # as the name of an agent, in every command

One step of policy improvement by rollouts (Tesauro and Galperin, NIPS 1996) with a posterior over hidden hands. It needs
every seat's number of dice: where the observation does not hold them, the agent under it plays alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from zlib import crc32

import numpy as np

from agents.core.reading import read_all
from agents.core.seated import SeatedPolicy
from agents.search.hand_beliefs import FloatArray, HandBeliefs, IntArray
from agents.search.lookahead import Effort, Lookahead, Pay, round_pay
from perudo_env.engine.actions import CALZA, DUDO, PASS
from perudo_env.engine.batch import Batch
from perudo_env.engine.observation import Layout
from perudo_env.engine.rows import deal_row, open_row
from perudo_env.engine.state import Phase
from perudo_env.engine.variant import MAX_STARTING_DICE, Variant
from perudo_env.game.asking import ask_probs
from perudo_env.policy import Int8Array, Policy

STRENGTH = np.arange(MAX_STARTING_DICE + 1.0) ** 2.5
"""How much a seat's number of dice counts: its chance to win is its share of the table's sum. In self-play of ``table`` the
powers that fit are 2.9 (classic) and 2.25 (pascal), much alike at 3 to 6 seats."""


@dataclass(frozen=True)
class Thought:
    """How much is thought at a decision, and what comes of it."""

    tried: int = 8
    """Raises (or a pass) that are played out: those the agent finds likeliest."""
    least: float = 0.01
    """A raise that the agent finds less likely than this is not tried."""
    samples: int = 64
    """Rounds played out for each; three times as many more for the best three."""
    longest: int = 40
    """Actions after which a round that is played out is doubted: it bounds the time of a move."""
    temperature: float = 0.5
    """Probabilities are multiplied by exp(value / temperature), values in own dice.

    Here an exact step of search leaves the NashConv of ``table`` about where it was: classic 1 v 1 .638 to .591, 2 v 1 1.069
    to 1.043, 1 v 2 .610 to .633. At .05 it wins more against ``table`` itself, and NashConv is 1.075, 1.571, 1.127
    (``python -m train exploitability --step``).
    """
    slip: float = 0.02
    """The share of other seats' actions that are taken to be no more than chance, so that no hand is ever ruled out."""
    seed: int = 0
    """With the observation, fixes all draws: the same question has the same answer."""


class SearchPolicy(SeatedPolicy):
    """``policy``, made for the same table, improved by search at each decision.

    ``total_at_start`` is T0, on which the highest bid depends; by default all seats began with a full cup.
    """

    def __init__(
        self, policy: Policy, variant: Variant | str, num_seats: int, thought: Thought | None = None,
        layout: Layout | None = None, total_at_start: int | None = None,
    ) -> None:  # fmt: skip
        super().__init__(variant, num_seats, layout)
        self.policy, self.thought = policy, thought or Thought()
        self.total_at_start = total_at_start or self.variant.total_at_start(self.num_seats)
        self.pay = pay_under(self.variant)

    def probs(self, observations: Int8Array, masks: Int8Array) -> FloatArray:
        """The agent's probabilities, tilted by what the search finds; its own where dice counts are not known or nothing is to choose."""
        self.sight.check(observations, masks)
        out = ask_probs(self.policy, observations, masks).copy()
        counts_hidden = read_all(observations, self.sight)["counts_hidden"]
        for i in np.flatnonzero((counts_hidden == 0) & (masks.sum(axis=1) > 1)):
            out[i] = self._tilted(observations[i], masks[i], out[i])
        return out

    def _tilted(self, observation: Int8Array, mask: Int8Array, prior: FloatArray) -> FloatArray:
        rng = np.random.default_rng([self.thought.seed, crc32(observation.tobytes())])
        beliefs = self.remembered(observation)
        values = self.values(beliefs, mask, prior, rng)
        known = np.isfinite(values)
        # a call may be right although the agent would not think of it
        weights = np.where(known, np.maximum(prior, self.thought.least), 0.0)
        weights[known] *= np.exp((values[known] - values[known].max()) / self.thought.temperature)
        return weights / weights.sum()

    def remembered(self, observation: Int8Array) -> HandBeliefs:
        """A game at the position that an observation shows, and what its bids tell of the other hands.

        The viewer is seat 0. The round is played again from its opening, so that every seat's own question can be put.
        """
        lay, seen, n = self.sight.layout, read_all(observation[None], self.sight)[0], self.num_seats
        batch, slip = Batch(self.variant, n, 1, 0, pad_to=lay), self.thought.slip
        batch.reset(dice=seen["dice"][None, :n])
        batch.states["total_at_start"] = self.total_at_start
        open_row(batch.states, 0, int(seen["opener"]), bool(seen["is_palifico"]))
        batch.states["palifico_spent"][0, :n] = lay.get(observation, "palifico_spent")[:n]
        hands = np.zeros((n, seen["own"].size), np.int8)
        hands[0] = seen["own"]
        deal_row(batch.states, 0, hands)
        beliefs = HandBeliefs(batch, self.policy)
        for bid in seen["bids"][: seen["num_bids"]]:
            while batch.states["phase"][0] == Phase.WINDOW:
                _say(beliefs, int(PASS), slip)
            _say(beliefs, int(bid), slip)
        while batch.states["phase"][0] == Phase.WINDOW and not (seen["in_window"] and batch.seat[0] == 0):
            _say(beliefs, int(PASS), slip)
        return beliefs

    def values(self, beliefs: HandBeliefs, mask: Int8Array, prior: FloatArray, rng: np.random.Generator) -> FloatArray:
        """What each action is worth to the seat to act in the one game of ``beliefs``; minus infinity where it was not tried."""
        effort, row = Effort(longest=self.thought.longest), np.zeros(1, np.int64)
        ahead = Lookahead(beliefs, self.policy, effort, self.pay)
        values = ahead.call_values(row, mask[None], *beliefs.chances(row))[0]
        score = np.where(mask > 0, prior, 0.0)
        score[[DUDO, CALZA]] = 0.0
        tried = np.argsort(-score, kind="stable")[: self.thought.tried]
        tried = tried[(score[tried] >= self.thought.least) | (score[tried] > 0) & (np.arange(tried.size) == 0)]
        if tried.size:
            values[tried] = self._played_out(ahead, tried, rng)
        return values

    def _played_out(self, ahead: Lookahead, tried: IntArray, rng: np.random.Generator) -> FloatArray:
        """The value of each of ``tried``: the better of two plans, see ``lookahead``; the best three are played more often."""
        few = self.thought.samples
        same = np.zeros(tried.size, np.int64)
        means = ahead.play_out(same, tried, same, few, rng)
        best = np.argsort(-means.max(axis=1), kind="stable")[:3]
        if tried.size > 1:
            means[best] = (means[best] + 3 * ahead.play_out(same[best], tried[best], same[best], 3 * few, rng)) / 4
        return means.max(axis=1)


def _say(beliefs: HandBeliefs, action: int, slip: float) -> None:
    rows, actions = np.zeros(1, np.int64), np.array([action])
    if beliefs.batch.seat[0] != 0:
        beliefs.learn(rows, actions, slip)
    beliefs.batch.act(actions)


def pay_under(variant: Variant) -> Pay:
    """What search plays for: the return where the game is one round, else the chance to win the game."""
    return round_pay if variant.rounds == "one" else chance_pay


def chance_pay(states: np.ndarray, seats: IntArray) -> FloatArray:
    """How the round that ended last changed a seat's chance to win the game, in units of what a lost die would have cost it.

    Chances are shares of ``STRENGTH``.
    """
    rows = np.arange(states.size)
    before = states["dice"].astype(np.int64)
    before[rows, states["last_seat"]] -= states["last_change"]
    lost = before.copy()
    lost[rows, seats] -= 1
    now, then, worst = (STRENGTH[d][rows, seats] / STRENGTH[d].sum(axis=1) for d in (states["dice"], before, lost))
    return (now - then) / (then - worst)
