"""Random games through TorchRL's PettingZooWrapper: ``python -m tests.frameworks.torchrl_games``."""

from __future__ import annotations

import warnings

import torch
from torchrl.envs import MarlGroupMapType, PettingZooWrapper
from torchrl.envs.utils import check_env_specs

from tests.frameworks.games import TABLES, Kept, check


def wrapped(raw: Kept) -> PettingZooWrapper:
    """TorchRL's wrapper; one group, one tensor: a group per agent, the default, takes three times as long."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="PettingZoo in TorchRL is tested using")
        return PettingZooWrapper(raw, use_mask=True, group_map=MarlGroupMapType.ALL_IN_ONE_GROUP)


def play(variant: str, num_players: int, num_games: int) -> int:
    """Play the games and check each; returns how many there were."""
    raw = Kept(variant, num_players, elimination="wait")
    env = wrapped(raw)
    env.set_seed(7)
    raw.dealt.clear()
    for number in range(num_games):
        steps = env.rollout(10_000)
        seats = steps["agents", "mask"].int().argmax(-1, keepdim=True)
        actions = steps["agents", "action"].gather(-1, seats).squeeze(-1)
        returns = steps["next", "agents", "reward"].sum((0, 2))
        check(raw.dealt[number], actions.tolist(), returns.tolist())
    return len({game.seed for game in raw.finished})


if __name__ == "__main__":
    torch.manual_seed(0)
    # it also acts on after its few steps, so in a game that those do not end
    check_env_specs(wrapped(Kept("classic", 4, elimination="wait")))
    print("games", sum(play(*table) for table in TABLES))
