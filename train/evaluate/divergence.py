"""The divergence of one policy from another, along the other's own play: what a taught network has not learnt."""

from __future__ import annotations

import numpy as np

from perudo_env.engine.batch import Batch
from perudo_env.engine.variant import Variant
from perudo_env.game.asking import ask_probs
from perudo_env.policy import Policy, sample
from train.core.measured import Estimate
from train.evaluate.statistics import ratio_estimate

LEAST = 1e-12  # a probability below this counts as this


def divergence(teacher: Policy, student: Policy, v: Variant, seats: int, games: int, seed: int) -> Estimate:
    """The mean of KL(teacher || student) over the decisions of whole games that the teacher plays in all seats, in nats.

    Each game is one sample of the 95% interval. Actions are compared, so what a network cannot tell apart counts too.
    """
    batch, rng = Batch(v, seats, games, seed), np.random.default_rng(seed)
    sums, decisions = np.zeros(games), np.zeros(games)
    rows = np.arange(games)
    while rows.size:
        seen, masks = batch.observe(rows), batch.masks(rows)
        wanted, given = (ask_probs(policy, seen, masks) for policy in (teacher, student))
        logs = np.log(np.maximum(wanted, LEAST)) - np.log(np.maximum(given, LEAST))
        sums[rows] += (wanted * logs).sum(axis=1)
        decisions[rows] += 1
        batch.act(sample(wanted, rng), rows)
        rows = rows[~batch.is_over[rows]]
    return ratio_estimate(sums, decisions)
