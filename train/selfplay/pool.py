"""The opponent pool of self-play: the latest weights, snapshots of earlier ones, and scripted agents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

import agents as registry
from agents.learned.neural import MLPPolicy, Network, RelativePolicy
from perudo_env.engine.variant import Variant, is_whole
from perudo_env.envs.vector import LearnerVectorEnv
from perudo_env.policy import Policy
from train.core.state import take_weights, weights_hash


def check_agents(names: Sequence[str], kinds: Sequence[tuple[Variant, int]]) -> None:
    """Raise ``ValueError`` for an agent that cannot be had at one of these tables: now, not when it is first asked."""
    for name, (v, seats) in product(dict.fromkeys(names), kinds):
        registry.make(name, v, seats)


def _numbered(snapshots: Sequence[Mapping[str, npt.NDArray[Any]]]) -> dict[str, npt.NDArray[Any]]:
    """The arrays of all snapshots under names that begin with their place."""
    return {f"{i}.{name}": array for i, weights in enumerate(snapshots) for name, array in weights.items()}


def _by_number(arrays: Mapping[str, npt.NDArray[Any]]) -> list[dict[str, npt.NDArray[Any]]]:
    """The snapshots of :func:`_numbered`."""
    found: dict[int, dict[str, npt.NDArray[Any]]] = {}
    for key, array in arrays.items():
        place, _, name = key.partition(".")
        found.setdefault(int(place), {})[name] = array
    return [found[place] for place in sorted(found)]


class Average:
    """The running average of a network's weights, which is what plays: the current ones run in circles.

    The mean of the first ``horizon`` updates, then an exponential average that reaches back about as far.
    """

    def __init__(self, horizon: float, count: int = 0, weights: Mapping[str, npt.NDArray[Any]] | None = None) -> None:
        if not horizon > 0 or not is_whole(count) or count < 0:
            raise ValueError(
                f"horizon = {horizon}, count = {count}: an average reaches back over more than 0 of its updates"
            )
        self.horizon, self.count = horizon, count
        self.weights: dict[str, npt.NDArray[Any]] = dict(weights or {})

    def add(self, weights: Mapping[str, npt.NDArray[Any]]) -> None:
        """Take in the weights after one more update."""
        self.count += 1
        rate = 1.0 / max(1.0, min(self.count, self.horizon))
        self.weights = {name: (1 - rate) * self.weights.get(name, w) + rate * w for name, w in weights.items()}


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
        self._snapshots: list[dict[str, npt.NDArray[Any]]] = []

    def add(self, weights: Mapping[str, npt.NDArray[Any]]) -> str:
        """Freeze a copy of ``weights`` into the pool and share out the chances anew; returns its hash."""
        frozen = {name: np.array(array) for name, array in weights.items()}
        self._snapshots.append(frozen)
        self.hashes.append(weights_hash(frozen))
        self.env.add_opponent(MLPPolicy(frozen, self.env.batch.variant, self.env.batch.num_seats))
        self.env.weights = self._chances()
        return self.hashes[-1]

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """All snapshots, for the state of a run."""
        return _numbered(self._snapshots)

    def restore(self, arrays: Mapping[str, npt.NDArray[Any]], like: Mapping[str, npt.NDArray[Any]]) -> None:
        """Take the snapshots of :meth:`arrays` back; raises ``ValueError`` where they do not fit the network ``like``."""
        del self.env.opponents[self.num_scripted :]
        self.hashes.clear()
        self._snapshots.clear()
        for weights in _by_number(arrays):
            self.add(take_weights(weights, like))

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


class Pool:
    """Opponents by number, from 1: scripted agents, then frozen copies of the learner, of which the newest are drawn."""

    def __init__(self, scripted: Sequence[str], scripted_share: float, size: int) -> None:
        self.scripted, self.scripted_share, self.size = tuple(scripted), scripted_share, size
        self.hashes: list[str] = []
        self._snapshots: list[dict[str, npt.NDArray[Any]]] = []
        self._networks: dict[int, Network] = {}  # of snapshots, each shared by its policies at all tables
        self._policies: dict[tuple[int, Variant, int], Policy] = {}

    def add(self, weights: Mapping[str, npt.NDArray[Any]]) -> str:
        """Freeze a copy of ``weights``; returns its hash."""
        self._snapshots.append({name: np.array(array) for name, array in weights.items()})
        self.hashes.append(weights_hash(self._snapshots[-1]))
        return self.hashes[-1]

    def weights(self) -> npt.NDArray[np.float64]:
        """How often each opponent is drawn; sums to 1."""
        out = np.zeros(len(self.scripted) + len(self.hashes))
        drawn = min(self.size, len(self.hashes))
        scripted = (self.scripted_share if drawn else 1.0) if self.scripted else 0.0
        out[: len(self.scripted)] = scripted / max(len(self.scripted), 1)
        out[len(out) - drawn :] = (1.0 - scripted) / max(drawn, 1)
        return out

    def policy(self, number: int, variant: Variant, num_seats: int) -> Policy:
        """Opponent ``number`` for a table."""
        snapshot, key = number - 1 - len(self.scripted), (number, variant, num_seats)
        if key not in self._policies:
            if snapshot >= 0 and number not in self._networks:
                self._networks[number] = Network(self._snapshots[snapshot])
            self._policies[key] = (
                RelativePolicy(self._networks[number], variant, num_seats)
                if snapshot >= 0
                else registry.make(self.scripted[number - 1], variant, num_seats)
            )
        return self._policies[key]

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """All snapshots, for the state of a run."""
        return _numbered(self._snapshots)

    def restore(self, arrays: Mapping[str, npt.NDArray[Any]], like: Mapping[str, npt.NDArray[Any]]) -> None:
        """Take the snapshots of :meth:`arrays` back; raises ``ValueError`` where they do not fit the network ``like``."""
        self.hashes.clear()
        self._snapshots.clear()
        for weights in _by_number(arrays):
            self.add(take_weights(weights, like))
