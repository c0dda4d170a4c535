"""Random games through the RLlib door, then one PPO iteration with RLlib's action-masking module.

``python -m tests.frameworks.rllib_games``
"""

from __future__ import annotations

import numpy as np
import ray
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule
from ray.rllib.utils.pre_checks.env import check_multiagent_environments

from perudo_env.adapters.rllib import PerudoMultiAgentEnv
from tests.frameworks.games import TABLES, Kept, check


class KeptMultiAgentEnv(PerudoMultiAgentEnv):
    """The door over an environment that keeps its games."""

    def __init__(self, config):
        super().__init__(config)
        self.env = Kept(**config)


def play(variant: str, num_players: int, num_games: int) -> int:
    """Play random legal games and check each; returns how many there were."""
    env = KeptMultiAgentEnv({"variant": variant, "num_players": num_players})
    rng = np.random.default_rng(0)
    env.env.dealt.clear()
    for number in range(num_games):
        seen, _ = env.reset(seed=7 if number == 0 else None)
        actions, returns, over = [], dict.fromkeys(env.possible_agents, 0.0), False
        while not over:
            (agent,) = env.agents if len(env.agents) == 1 else [a for a in seen if seen[a]["action_mask"].any()]
            assert seen[agent] in env.observation_spaces[agent]
            actions.append(int(rng.choice(np.flatnonzero(seen[agent]["action_mask"]))))
            seen, rewards, terminated, truncated, _ = env.step({agent: actions[-1]})
            for paid, reward in rewards.items():
                returns[paid] += reward
            over = terminated["__all__"] or truncated["__all__"]
        check(env.env.dealt[number], actions, list(returns.values()))
    return len({game.seed for game in env.env.finished})


def check_often(variant: str, num_players: int) -> None:
    """RLlib's own check plays one sampled action, which is to be legal every time."""
    for _ in range(200):
        check_multiagent_environments(PerudoMultiAgentEnv({"variant": variant, "num_players": num_players}))


def check_memory() -> None:
    """Hidden dice counts are in an observation, or without memory the viewer's own alone."""
    for memory in ("perfect", "none"):
        env = PerudoMultiAgentEnv({"variant": "box", "num_players": 3, "memory": memory})
        seen, _ = env.reset(seed=4)
        agent = next(agent for agent, shown in seen.items() if shown["action_mask"].any())
        game, seat = env.env.game, env.possible_agents.index(agent)
        told = game.layout.get(seen[agent]["observations"].astype(np.int8), "dice").sum(axis=1)
        dice = np.roll(game.dice, -seat)
        assert told.tolist() == (dice.tolist() if memory == "perfect" else [dice[0], 0, 0])
    said = ""
    try:
        PerudoMultiAgentEnv({"variant": "box", "num_players": 3, "memory": "some"})
    except ValueError as error:
        said = str(error)
    assert "memory = 'some'" in said


def train(variant: str, num_players: int, num_games: int) -> int:
    """One PPO iteration, one policy for all seats, then games of what it learned, each checked; returns their number."""
    algorithm = (
        PPOConfig()
        .environment(KeptMultiAgentEnv, env_config={"variant": variant, "num_players": num_players})
        .env_runners(num_env_runners=0, batch_mode="complete_episodes")
        .learners(num_learners=0)
        .multi_agent(policies={"shared"}, policy_mapping_fn=lambda agent, episode, **_: "shared")
        .rl_module(rl_module_spec=RLModuleSpec(module_class=ActionMaskingTorchRLModule))
        .training(train_batch_size_per_learner=256, minibatch_size=128, num_epochs=2)
        .debugging(seed=7)
        .build_algo()
    )
    learned = algorithm.train()["learners"]["shared"]
    assert np.isfinite(learned["total_loss"])
    assert learned["num_module_steps_trained"] > 0
    kept = algorithm.env_runner.env.envs[0].unwrapped.env
    trained_on = len(kept.finished)
    episodes = algorithm.env_runner.sample(num_episodes=num_games, explore=True)
    games = kept.finished[trained_on:]
    assert len(games) == len(episodes) == num_games
    for game, episode in zip(games, episodes, strict=True):
        turns = [episode.get_actions(t) for t in range(len(episode))]
        returns = [episode.agent_episodes[agent].get_return() for agent in kept.possible_agents]
        check(game, [action for turn in turns for action in turn.values()], returns)
    algorithm.stop()
    return num_games


if __name__ == "__main__":
    print("games", sum(play(*table) for table in TABLES))
    check_often(*TABLES[0][:2])
    check_memory()
    ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False, object_store_memory=100_000_000)
    print("games of the trained module", train(*TABLES[1][:2], 50))
