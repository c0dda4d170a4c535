"""RLlib's door (new API stack): a MultiAgentEnv that shows and asks the seat to act, with its mask."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces
from ray.rllib.env.multi_agent_env import MultiAgentEnv

from perudo_env.envs.aec import PerudoAEC

Seen = dict[str, np.ndarray]


class LegalDiscrete(spaces.Discrete):
    """The action ids of an agent; ``sample()`` without a mask is legal, since RLlib's check of an environment plays it."""

    legal: np.ndarray | None = None  # the mask last shown to the agent

    def sample(self, mask: np.ndarray | None = None, probability: np.ndarray | None = None) -> Any:
        """One id, uniform over ``mask``, else drawn by ``probability``, else uniform over what is legal now."""
        if mask is None and probability is None:
            mask = self.legal
        return super().sample(mask=mask, probability=probability)


class PerudoMultiAgentEnv(MultiAgentEnv):
    """Perudo for RLlib; ``config`` holds the arguments of ``perudo_v0.raw_env``.

    An observation is ``Dict(observations=Box, action_mask=Box)``, both float32 and 0 or 1: the names and the dtype that
    RLlib's own action-masking module reads. A step returns the next seat to act and, with their last observation, the
    agents that have ended. Actions are taken, and refused, as by ``raw_env``.
    """

    def __init__(self, config: Mapping[str, Any] | None = None) -> None:
        super().__init__()
        self.env = PerudoAEC(**(config or {}))
        self.possible_agents = self.env.possible_agents[:]
        self.agents = self.possible_agents[:]
        self.observation_spaces: dict[str, spaces.Space[Any]] = {
            agent: self._space(agent) for agent in self.possible_agents
        }
        self.action_spaces = {agent: LegalDiscrete(self.env.action_space(agent).n) for agent in self.possible_agents}
        self.observation_space = spaces.Dict(self.observation_spaces)
        self.action_space = spaces.Dict({**self.action_spaces})

    def _space(self, agent: str) -> spaces.Dict:
        space = self.env.observation_space(agent)
        return spaces.Dict(
            {
                "observations": spaces.Box(0.0, 1.0, space["observation"].shape, np.float32),
                "action_mask": spaces.Box(0.0, 1.0, space["action_mask"].shape, np.float32),
            }
        )

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Seen], dict[str, Any]]:
        """Begin a new game; without a seed, the one that follows the last."""
        self.env.reset(seed=seed)
        self.agents = self.env.agents[:]
        return {self.env.agent_selection: self._seen(self.env.agent_selection)}, {}

    def step(
        self, action_dict: Mapping[str, Any]
    ) -> tuple[dict[str, Seen], dict[str, float], dict[str, bool], dict[str, bool], dict[str, Any]]:
        """Play the action of the agent that was asked; raises ``ValueError`` if it is missing."""
        agent = self.env.agent_selection
        if agent not in action_dict:
            raise ValueError(f"actions of {', '.join(action_dict) or 'nobody'}: it is the turn of {agent}")
        self.env.step(action_dict[agent])
        seen, rewards, terminated, truncated = {}, {}, {}, {}
        while self.env.agents:
            agent = self.env.agent_selection
            seen[agent] = self._seen(agent)
            _, rewards[agent], terminated[agent], truncated[agent], _ = self.env.last(observe=False)
            if not (terminated[agent] or truncated[agent]):
                break
            self.env.step(None)
        self.agents = self.env.agents[:]
        stopped = any(truncated.values())
        terminated["__all__"] = not self.agents and not stopped
        truncated["__all__"] = not self.agents and stopped
        return seen, rewards, terminated, truncated, {}

    def _seen(self, agent: str) -> Seen:
        seen = self.env.observe(agent)
        self.action_spaces[agent].legal = seen["action_mask"]
        return {
            "observations": seen["observation"].astype(np.float32),
            "action_mask": seen["action_mask"].astype(np.float32),
        }

    def render(self) -> Any:
        """As the PettingZoo environment does."""
        return self.env.render()

    def close(self) -> None:
        """Close the window, if one is open."""
        self.env.close()
