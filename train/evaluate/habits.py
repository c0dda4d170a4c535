"""Habits of an agent: how often it bluffs, doubts and says Calza, by the dice it has left.

A *bluff* is a bid that its maker, from its own dice alone, should think more likely false than true: the chance that it
holds, given own dice and fair dice under all other cups (``agents.core.reading.bid_chances``), is below ``BLUFF``. What
earlier bids tell of the others' dice is left out on purpose, so that the word means the same for every agent.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from agents.core.reading import chances_at
from agents.core.seated import sight
from perudo_env.engine.actions import CALZA, DUDO, FIRST_BID
from perudo_env.engine.variant import MAX_STARTING_DICE, Variant
from perudo_env.game.asking import ask
from perudo_env.policy import Int8Array, Policy
from train.core.measured import Estimate
from train.core.rollout import play
from train.evaluate.statistics import share_estimate

BLUFF = 0.5
BATCHES = 20  # of games; each is one sample of the intervals, since decisions of one game are not independent
DOUBT, CALZAS, BLUFFS = range(3)
KINDS = ("doubts, where a bid stands", "says Calza, where it may", "bluffs, of its bids")


@dataclass(frozen=True)
class Habits:
    """Shares with 95% intervals; nan where there was no occasion."""

    variant: str
    num_seats: int
    num_games: int
    decisions: int
    bluff: float  # a bid with a smaller chance to hold is a bluff
    by_dice: dict[int, tuple[Estimate, Estimate, Estimate]]  # own dice -> in the order of KINDS
    overall: tuple[Estimate, Estimate, Estimate]


class Tally:
    """Plays as another policy, counting what it does and what it might have done, per kind and own dice."""

    def __init__(self, policy: Policy, variant: Variant, num_seats: int, bluff: float) -> None:
        self.policy, self.bluff = policy, bluff
        self.sight = sight(variant, num_seats)
        self.done = np.zeros((len(KINDS), MAX_STARTING_DICE + 1))
        self.asked = np.zeros_like(self.done)

    def act(self, observations: Int8Array, masks: Int8Array, rng: np.random.Generator) -> npt.NDArray[np.int64]:
        """The policy's actions."""
        actions = ask(self.policy, observations, masks, rng)
        dice = self.sight.layout.get(observations, "hand").sum(axis=(1, 2), dtype=np.int64)
        holds = chances_at(observations, self.sight).holds.reshape(len(actions), -1)
        bids = actions >= FIRST_BID
        chance = holds[np.arange(len(actions)), np.maximum(actions - FIRST_BID, 0)]
        for kind, (asked, done) in enumerate((
            (masks[:, DUDO] == 1, actions == DUDO), (masks[:, CALZA] == 1, actions == CALZA), (bids, bids & (chance < self.bluff)),
        )):  # fmt: skip
            self.asked[kind] += np.bincount(dice[asked], minlength=MAX_STARTING_DICE + 1)
            self.done[kind] += np.bincount(dice[asked & done], minlength=MAX_STARTING_DICE + 1)
        return actions

    def probs(self, observations: Int8Array, masks: Int8Array) -> npt.NDArray[np.float64]:
        """As the policy states them."""
        return self.policy.probs(observations, masks)


def habits(
    policy: Policy, variant: Variant, num_seats: int, num_games: int, seed: int = 0, *, bluff: float = BLUFF
) -> Habits:
    """Watch ``policy`` in all seats of about ``num_games`` whole games, in ``BATCHES`` batches."""
    each = -(-num_games // BATCHES)
    done, asked, decisions = [], [], 0
    for batch in range(BATCHES):
        tally = Tally(policy, variant, num_seats, bluff)
        lineups = np.zeros((each, num_seats), np.int64)
        seeds = np.random.default_rng([seed, batch]).integers(0, 2**63, each).astype(np.uint64)
        decisions += play([tally], lineups, variant, seeds, seed=seed + batch).decisions
        done.append(tally.done)
        asked.append(tally.asked)
    yes, of = np.array(done), np.array(asked)  # (batches, kinds, dice)

    def estimates(dice: list[int]) -> tuple[Estimate, Estimate, Estimate]:
        a, b, c = (share_estimate(yes[:, k, dice].sum(axis=1), of[:, k, dice].sum(axis=1)) for k in range(len(KINDS)))
        return a, b, c

    present = [d for d in range(MAX_STARTING_DICE + 1) if of[:, :, d].any()]
    by_dice = {d: estimates([d]) for d in present}
    return Habits(str(variant), num_seats, each * BATCHES, decisions, bluff, by_dice, estimates(present))
