"""odds: believes nothing but the probabilities.

Each option is worth the chance that it is right, given the own dice and fair dice elsewhere: a raise that its bid
holds, Dudo that the standing bid does not, Calza that it is exact. It takes the best one, and splits ties evenly.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from agents.core.reading import Chances, chances_at
from agents.core.seated import SeatedPolicy
from perudo_env.engine.actions import CALZA, DUDO, FIRST_BID, PASS
from perudo_env.policy import Int8Array

FloatArray = npt.NDArray[np.float64]


class OddsPolicy(SeatedPolicy):
    """The option that is right most often."""

    def probs(self, observations: Int8Array, masks: Int8Array) -> FloatArray:
        """All weight on the likeliest legal action; ties share it."""
        return best_of(right_chances(chances_at(observations, self.sight)), masks)


def right_chances(chances: Chances) -> FloatArray:
    """The chance that each action is right, ``(batch, num_actions)``; passing is right where Calza is wrong."""
    batch = len(chances.holds)
    values = np.empty((batch, FIRST_BID + chances.holds[0].size))
    values[:, DUDO] = 1 - chances.standing_holds
    values[:, CALZA] = chances.standing_exactly
    values[:, PASS] = 1 - chances.standing_exactly
    values[:, FIRST_BID:] = chances.holds.reshape(batch, -1)
    return values


def best_of(values: FloatArray, masks: Int8Array) -> FloatArray:
    """The distribution with all weight on the highest of the legal ``values``; ties share it evenly."""
    legal = np.where(masks > 0, values, -np.inf)
    best = legal == legal.max(axis=1, keepdims=True)
    return best / best.sum(axis=1, keepdims=True)
