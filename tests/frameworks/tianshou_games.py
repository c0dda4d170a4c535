"""Random games through Tianshou's PettingZooEnv and Collector: ``python -m tests.frameworks.tianshou_games``."""

from __future__ import annotations

import numpy as np
from tianshou.algorithm.multiagent.marl import MultiAgentOffPolicyAlgorithm
from tianshou.algorithm.random import MARLRandomDiscreteMaskedOffPolicyAlgorithm
from tianshou.data import Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv, PettingZooEnv

from tests.frameworks.games import TABLES, Kept, check


def play(variant: str, num_players: int, num_games: int) -> int:
    """Play the games at two tables at once and check each; returns how many there were."""
    tables = [Kept(variant, num_players, elimination="wait") for _ in range(2)]
    envs = DummyVectorEnv([lambda raw=raw: PettingZooEnv(raw) for raw in tables])
    shown = PettingZooEnv(Kept(variant, num_players, elimination="wait"))
    agents = [MARLRandomDiscreteMaskedOffPolicyAlgorithm(action_space=shown.action_space) for _ in shown.agents]
    algorithm = MultiAgentOffPolicyAlgorithm(algorithms=agents, env=shown)
    buffer = VectorReplayBuffer(200 * num_games, len(tables))
    for number, raw in enumerate(tables):
        raw.reset(seed=7 + 1000 * number)
    Collector(algorithm, envs, buffer).collect(n_episode=num_games, reset_before_collect=True)
    return sum(check_all(raw.finished, part) for raw, part in zip(tables, buffer.buffers, strict=True))


def check_all(games, buffer) -> int:
    """Check the games of one table against what the framework kept of them."""
    ends = np.flatnonzero(buffer.done[: len(buffer)]) + 1
    assert len(ends) == len(games)
    for game, begin, end in zip(games, [0, *ends[:-1]], ends, strict=True):
        check(game, buffer.act[begin:end].tolist(), buffer.rew[begin:end].sum(axis=0).tolist())
    return len({game.seed for game in games})


if __name__ == "__main__":
    np.random.seed(0)  # noqa: NPY002 - Tianshou's random agent draws from the global generator
    print("games", sum(play(*table) for table in TABLES))
