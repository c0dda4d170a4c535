"""The opponent pool of self-play: the latest weights, snapshots of earlier ones, and scripted agents."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.neural import MLPPolicy
from perudo_env.envs.vector import LearnerVectorEnv


def weights_hash(weights: Mapping[str, npt.NDArray[Any]]) -> str:
    """A short digest of a network's weights."""
    digest = sha256()
    for name in sorted(weights):
        digest.update(name.encode() + np.ascontiguousarray(weights[name]).tobytes())
    return digest.hexdigest()[:12]


class SnapshotPool:
    """Adds frozen copies of the learner to the opponents of a vector env, the newest drawn most often.

    The env's first ``num_scripted`` opponents stay as they are, together drawn with the chance ``scripted_share``. Of
    the snapshots the newest is drawn with ``latest_share``, the others, at most ``size`` - 1, equally. A game that runs
    keeps the opponents it drew.
    """

    def __init__(self, env: LearnerVectorEnv, size: int, latest_share: float, scripted_share: float) -> None:
        self.env, self.size = env, size
        self.latest_share, self.scripted_share = latest_share, scripted_share
        self.num_scripted = len(env.opponents)
        self.hashes: list[str] = []

    def add(self, weights: Mapping[str, npt.NDArray[Any]]) -> str:
        """Freeze a copy of ``weights`` into the pool and share out the chances anew; returns its hash."""
        frozen = {name: np.array(array) for name, array in weights.items()}
        self.hashes.append(weights_hash(frozen))
        self.env.add_opponent(MLPPolicy(frozen))
        self.env.weights = self._chances()
        return self.hashes[-1]

    def _chances(self) -> list[float]:
        snapshots = len(self.hashes)
        older = min(snapshots - 1, self.size - 1)
        learned = 1.0 - (self.scripted_share if self.num_scripted else 0.0)
        latest = self.latest_share if older else 1.0
        chances = [(1.0 - learned) / max(self.num_scripted, 1)] * self.num_scripted + [0.0] * snapshots
        chances[-1] = learned * latest
        for i in range(older):
            chances[-2 - i] = learned * (1.0 - latest) / older
        return chances
