"""threshold: a careful player's rule of thumb with two fixed limits.

It says Dudo when the standing bid holds with less than ``doubt_below``. Else it makes the boldest raise that still
holds with ``raise_above``, to push the others towards bids that do not; without such a raise, the safest one. Calza
is said when it is right more often than not. Knows own dice and nothing of what the others' bids tell.
"""

from __future__ import annotations

import numpy as np

from agents.core.reading import chances_at
from agents.core.seated import SeatedPolicy
from agents.scripted.odds import FloatArray, best_of, right_chances
from perudo_env.engine.actions import CALZA, DUDO, FIRST_BID, PASS
from perudo_env.engine.observation import Layout
from perudo_env.engine.variant import Variant
from perudo_env.policy import Int8Array


class ThresholdPolicy(SeatedPolicy):
    """Doubts below one limit, raises boldly above another; both are chances from 0 to 1."""

    def __init__(
        self,
        variant: Variant | str,
        num_seats: int,
        layout: Layout | None = None,
        doubt_below: float = 0.4,
        raise_above: float = 0.7,
    ) -> None:
        super().__init__(variant, num_seats, layout)
        self.doubt_below, self.raise_above = doubt_below, raise_above

    def probs(self, observations: Int8Array, masks: Int8Array) -> FloatArray:
        """All weight on one legal action, or shared among equals."""
        chances = chances_at(observations, self.sight)
        values = right_chances(chances)
        holds = values[:, FIRST_BID:]
        # bold raises rank above all others, from the least likely up
        values[:, FIRST_BID:] = np.where(holds >= self.raise_above, 2 - holds, holds)
        values[:, DUDO] = np.where(chances.standing_holds < self.doubt_below, 3, 0)
        values[:, CALZA] = np.where(chances.standing_exactly > 0.5, 4, -1)
        values[:, PASS] = 0
        return best_of(values, masks)
