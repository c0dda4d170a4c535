"""bluffer: the odds player, who lies on purpose now and then.

With ``bluff_rate`` it ignores its dice and makes any raise that may pass for true, one that holds with a chance
between ``least`` and ``most``; else, and where no such raise is legal, it plays the odds.
"""

from __future__ import annotations

import numpy as np

from agents.core.reading import chances_at
from agents.core.seated import SeatedPolicy
from agents.scripted.odds import FloatArray, best_of, right_chances
from perudo_env.engine.actions import FIRST_BID
from perudo_env.engine.observation import Layout
from perudo_env.engine.variant import Variant
from perudo_env.policy import Int8Array


class BlufferPolicy(SeatedPolicy):
    """Plays the odds, and with ``bluff_rate`` a raise of doubtful truth."""

    def __init__(
        self,
        variant: Variant | str,
        num_seats: int,
        layout: Layout | None = None,
        bluff_rate: float = 0.2,
        least: float = 0.2,
        most: float = 0.6,
    ) -> None:
        super().__init__(variant, num_seats, layout)
        self.bluff_rate, self.least, self.most = bluff_rate, least, most

    def probs(self, observations: Int8Array, masks: Int8Array) -> FloatArray:
        """The odds player's distribution, mixed with an even one over all plausible lies."""
        values = right_chances(chances_at(observations, self.sight))
        honest = best_of(values, masks)
        lies = (masks > 0) & (values >= self.least) & (values <= self.most)
        lies[:, :FIRST_BID] = False
        num_lies = lies.sum(axis=1, keepdims=True)
        rate = np.where(num_lies > 0, self.bluff_rate, 0.0)
        return (1 - rate) * honest + rate * lies / np.maximum(num_lies, 1)
