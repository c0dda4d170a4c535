"""A policy that is shown no hidden dice counts: what was trained without memory, or is to be measured without it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from agents.core.seated import SeatedPolicy
from perudo_env.engine.observation import Layout
from perudo_env.engine.state import shows_counts
from perudo_env.engine.variant import Variant
from perudo_env.policy import Int8Array, Policy


class Forgetful(SeatedPolicy):
    """Asks ``policy``, made for the same table, whose variant hides dice counts, with observations as ``memory="none"`` writes them."""

    def __init__(self, policy: Policy, variant: Variant | str, num_seats: int, layout: Layout | None = None) -> None:
        super().__init__(variant, num_seats, layout)
        self.policy, self.name = policy, getattr(policy, "name", "")

    def probs(self, observations: Int8Array, masks: Int8Array) -> npt.NDArray[np.float64]:
        """The policy's probabilities."""
        return self.policy.probs(self._forgotten(observations), masks)

    def act(self, observations: Int8Array, masks: Int8Array, rng: np.random.Generator) -> npt.NDArray[np.int64]:
        """The policy's choice."""
        return self.policy.act(self._forgotten(observations), masks, rng)

    def _forgotten(self, observations: Int8Array) -> Int8Array:
        self.sight.check(observations)
        shown, lay = observations.copy(), self.sight.layout
        lay.get(shown, "dice")[:, 1:] = 0
        return shown


def remembering(policy: Policy, variant: Variant, num_seats: int, layout: Layout | None, memory: str) -> Policy:
    """The policy, or where ``memory`` leaves dice counts out, what does not show it any; see ``state.shows_counts``."""
    return policy if shows_counts(variant, memory) else Forgetful(policy, variant, num_seats, layout)
