"""Policies under observation: what another policy is asked and what it answers, counted and timed."""

from __future__ import annotations

import time

import numpy as np
import numpy.typing as npt

from perudo_env.game.asking import action_ids
from perudo_env.policy import Int8Array, Policy, UniformPolicy


class Guard:
    """Plays as another policy; an illegal action is counted, and a legal one, drawn uniformly, played instead.

    Raises ``AnswerError`` only for an answer that is not one whole number per row, or drawn from no distribution.
    """

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self.decisions = self.illegal = 0
        self.seconds = self.cpu_seconds = 0.0  # inside ``act`` of the policy: by the clock, and of processor time

    def act(self, observations: Int8Array, masks: Int8Array, rng: np.random.Generator) -> npt.NDArray[np.int64]:
        """The policy's actions, made legal."""
        legal = masks == 1
        shown = observations.copy(), masks.copy()  # which the policy may write into
        begun, cpu_begun = time.perf_counter(), time.process_time()
        given = self.policy.act(*shown, rng)
        self.seconds += time.perf_counter() - begun
        self.cpu_seconds += time.process_time() - cpu_begun
        self.decisions += len(legal)
        actions = action_ids(given, len(legal), self.policy)
        known = (actions >= 0) & (actions < legal.shape[1])
        bad = np.flatnonzero(~(known & legal[np.arange(len(legal)), np.where(known, actions, 0)]))
        if bad.size:
            self.illegal += bad.size
            actions[bad] = UniformPolicy().act(observations[bad], masks[bad], rng)
        return actions

    def probs(self, observations: Int8Array, masks: Int8Array) -> npt.NDArray[np.float64]:
        """As the policy states them."""
        return self.policy.probs(observations, masks)
