"""The PettingZoo AEC environment."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from pettingzoo import AECEnv

from perudo_env.engine.clauses import IllegalActionError, action_id
from perudo_env.engine.rng import next_seed
from perudo_env.engine.rounds import round_return
from perudo_env.engine.variant import Variant, as_variant, table_size
from perudo_env.envs.arguments import ELIMINATIONS, ILLEGAL, REWARDS, one_of
from perudo_env.envs.window import Canvas
from perudo_env.game.game import Game

_INT8 = np.dtype(np.int8)  # an array is made sooner of a dtype than of its name


class PerudoAEC(AECEnv):
    """Perudo as an AEC environment, without wrappers; ``perudo_v0.env`` documents the arguments.

    ``game`` is the game being played; all of the rules are there. Raises ``ValueError`` for an argument that cannot be.
    """

    metadata = {  # noqa: RUF012 - PettingZoo's convention
        "name": "perudo_v0",
        "render_modes": ["ansi", "rgb_array", "human"],
        "is_parallelizable": True,
        "render_fps": 2,
    }

    def __init__(
        self,
        variant: Variant | str = "classic",
        num_players: int = 4,
        render_mode: str | None = None,
        elimination: str = "terminate",
        reward: str = "zero_sum",
        max_rounds: int | None = None,
        illegal: str = "raise",
        memory: str = "perfect",
    ) -> None:
        super().__init__()
        self.variant = as_variant(variant)
        self.num_players = table_size(num_players)
        self._canvas = Canvas(render_mode, self.metadata)
        self.render_mode = render_mode
        self.elimination = one_of("elimination", elimination, ELIMINATIONS)
        self.reward = one_of("reward", reward, REWARDS)
        self.illegal = one_of("illegal", illegal, ILLEGAL)
        self.max_rounds, self.memory = max_rounds, memory
        self.possible_agents = [f"player_{i}" for i in range(self.num_players)]
        self._seats = {agent: i for i, agent in enumerate(self.possible_agents)}
        self._seed: int | None = None
        self._to_act: str | None = None
        self._shown: dict[str, npt.NDArray[np.int8]] | None = None  # what the agent to act has not asked for yet
        self.reset()
        n = self.game.num_actions
        self.observation_spaces = {
            agent: spaces.Dict(
                {
                    "observation": spaces.Box(0, 1, (self.game.layout.size,), np.int8),
                    "action_mask": spaces.Box(0, 1, (n,), np.int8),
                }
            )
            for agent in self.possible_agents
        }
        self.action_spaces = {agent: spaces.Discrete(n) for agent in self.possible_agents}

    def observation_space(self, agent: str) -> spaces.Dict:
        """``Dict(observation=Box, action_mask=Box)``, both int8 and 0 or 1; the same object at each call."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Discrete:
        """``Discrete(number of action ids)``; the same object at each call."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin a new game; without a seed, the one that follows the last. ``options`` has no meaning here."""
        if seed is None and self._seed is not None:
            seed = int(next_seed(np.uint64(self._seed)))
        self.game = Game(self.variant, self.num_players, seed, max_rounds=self.max_rounds, memory=self.memory)
        self._seed, self._num_actions = self.game.seed, self.game.num_actions
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos = {agent: {"action_mask": self._no_mask()} for agent in self.agents}
        self._paid = False  # whether the last step has left anything in rewards
        self._skip_agent_selection = None
        opener = self.game.states["seat"].item()
        self._select(opener, self.game.action_mask(), self.game.observation(opener))
        if self.render_mode == "human":
            self.render()

    def observe(self, agent: str) -> dict[str, npt.NDArray[np.int8]]:
        """What an agent may see now, at any time and for any possible agent; the mask is all 0 unless it is to act."""
        if agent == self._to_act and self._shown is not None:
            # nobody else holds these arrays; who asks again gets others
            shown, self._shown = self._shown, None
            return shown
        if agent not in self._seats:
            raise ValueError(f"agent {agent!r} is not at this table: use one of {', '.join(self.possible_agents)}")
        mask = self.game.action_mask() if agent == self._to_act else self._no_mask()
        return {"observation": self.game.observation(self._seats[agent]), "action_mask": mask}

    def step(self, action: Any) -> None:
        """Play the selected agent's action id, a whole number of any kind; None for an agent that is out.

        An id that is illegal now raises ``IllegalActionError`` and changes nothing, or, with ``illegal="terminate"``,
        ends the game: the agent gets -1 and the others 0. What is no id of the table raises and changes nothing.
        """
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        try:
            seat, someone_left, round_ended, mask, seen = self.game.step(action)
        except IllegalActionError:
            if self.illegal == "raise":
                raise
            action_id(action, self.game.num_actions)  # raises as well: only an id of the table is paid for
            self._forfeit(agent)
            return
        self._cumulative_rewards[agent] = 0.0
        self.infos[agent]["action_mask"] = np.zeros(self._num_actions, _INT8)
        if self._paid:
            self._clear_rewards()
        self._paid = round_ended and (someone_left or self.reward == "dice") and self._settle()
        self._select(seat, mask, seen)
        if self._paid:
            self._accumulate_rewards()
            self._deads_step_first()
        if self.render_mode == "human":
            self.render()

    def _settle(self) -> bool:
        """End whom the last round ended, and pay; returns whether anybody was ended or paid."""
        dice, over = self.game.states["dice"][0].tolist(), self.game.is_over
        truncated = over and self.game.truncated
        out = [
            agent
            for agent in self.agents
            if over or (self.elimination == "terminate" and dice[self._seats[agent]] == 0)
        ]
        for agent in out:
            ended = self.truncations if truncated and dice[self._seats[agent]] > 0 else self.terminations
            ended[agent] = True
        if self.reward == "dice":
            record = self.game.states[0]
            self.rewards = {agent: round_return(record, self._seats[agent]) for agent in self.agents}
        elif out:
            pay = self.game.payoffs(REWARDS[self.reward])
            for agent in out:
                self.rewards[agent] = pay[self._seats[agent]]
        return bool(out) or self.reward == "dice"

    def _forfeit(self, agent: str) -> None:
        self._clear_rewards()
        self._cumulative_rewards[agent] = 0.0
        self.rewards[agent] = -1.0
        self.terminations = dict.fromkeys(self.agents, True)
        self._accumulate_rewards()
        self._deads_step_first()

    def _select(self, seat: int, mask: npt.NDArray[np.int8], seen: npt.NDArray[np.int8]) -> None:
        """Point at the seat to act, who is shown ``mask`` and ``seen``; at the end of the game (-1), at anybody still there."""
        if seat < 0:
            self._to_act, self._shown, self.agent_selection = None, None, self.agents[0]
            return
        self._to_act = self.agent_selection = agent = self.possible_agents[seat]
        self._shown = {"observation": seen, "action_mask": mask}
        self.infos[agent]["action_mask"] = mask.copy()

    def _no_mask(self) -> npt.NDArray[np.int8]:
        return np.zeros(self._num_actions, _INT8)

    def render(self) -> str | npt.NDArray[np.uint8] | None:
        """The open table as text (``ansi``) or as uint8 ``(H, W, 3)`` (``rgb_array``), or in a window (``human``)."""
        return self._canvas.draw(self.game, None)

    def close(self) -> None:
        """Close the window, if one is open; closing twice does no harm."""
        self._canvas.close()
