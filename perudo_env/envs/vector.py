"""Many tables in one process, as Gymnasium ``VectorEnv``; both reset a finished table in the same step.

Arguments beside those of their docstrings, ``memory`` too, are those of ``Batch``.

``SelfPlayVectorEnv`` hands out the acting seat of every table at each step. ``LearnerVectorEnv`` hands out one
learning seat per table and plays the others by policies.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from perudo_env.engine.batch import Batch, Int8Array
from perudo_env.engine.observation import Layout
from perudo_env.engine.state import check_memory
from perudo_env.engine.variant import Variant, is_whole, whole
from perudo_env.envs.registration import GYMNASIUM_ID
from perudo_env.game.asking import ask, places
from perudo_env.policy import Policy, UniformPolicy

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]


class _TableVectorEnv(VectorEnv[Any, Any, Any]):
    """The batch of tables, its spaces and its seeding."""

    metadata = {"autoreset_mode": AutoresetMode.SAME_STEP, "render_modes": []}  # noqa: RUF012 - Gymnasium's convention

    def __init__(
        self,
        num_envs: int,
        variant: Variant | str,
        num_players: int,
        dice: Sequence[int] | None,
        max_rounds: int | None,
        pad_to: Layout | None,
        memory: str,
    ) -> None:
        self.batch = Batch(
            variant, num_players, num_envs, dice=dice, max_rounds=max_rounds, pad_to=pad_to, memory=memory
        )
        self.num_envs = self.batch.num_games
        # beside the records: the space of observations has four arrays of their shape, and a step shows old and new ones
        check_memory(self.num_envs, 8 * self.batch.layout.size + 4 * self.batch.num_actions)
        self.single_observation_space = spaces.Box(0, 1, (self.batch.layout.size,), np.int8)
        self.single_action_space = spaces.Discrete(self.batch.num_actions)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self.dealt = False  # whether there are games to go on with

    def _begin(self, seed: Any) -> None:
        """Seed the tables' one generator and deal them all."""
        if seed is not None and whole(seed) is None:
            raise ValueError(
                f"seed = {seed!r}: all tables share one generator, so give one whole number; a seed per table is for "
                f"gymnasium.make_vec({GYMNASIUM_ID!r}, ..., vectorization_mode='sync')"
            )
        super().reset(seed=None if seed is None else whole(seed))
        self._deal(np.arange(self.num_envs))
        self.dealt = True

    def _act(self, actions: npt.ArrayLike) -> None:
        if not self.dealt:
            raise RuntimeError("no game yet: call reset() before step()")
        self.batch.act(actions)

    def _deal(self, rows: npt.NDArray[np.int64]) -> None:
        self.batch.reset(rows, self.np_random.integers(2**63, size=rows.size, dtype=np.int64))

    def action_masks(self) -> Int8Array:
        """The mask of each table's acting seat, int8 ``(num_envs, num_actions)``."""
        return self.batch.masks()


class SelfPlayVectorEnv(_TableVectorEnv):
    """All seats learn: each step takes an action for, and shows, the acting seat of every table.

    ``infos["seat"]`` tells which seat that is, ``infos["action_mask"]`` what it may do. When a game ends its table is
    dealt anew in the same step, ``infos["final_returns"]``, float ``(num_envs, num_players)``, holds what its seats are
    paid (zeros for games that go on), and the reward is the pay of the seat that just acted. Illegal actions raise.
    """

    def __init__(
        self,
        num_envs: int = 1,
        variant: Variant | str = "classic",
        num_players: int = 2,
        *,
        dice: Sequence[int] | None = None,
        max_rounds: int | None = None,
        pad_to: Layout | None = None,
        memory: str = "perfect",
    ) -> None:
        super().__init__(num_envs, variant, num_players, dice, max_rounds, pad_to, memory)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Int8Array, dict[str, Any]]:
        """Deal all tables; one ``seed`` fixes them all. ``options`` has no meaning here."""
        self._begin(seed)
        return self.batch.observe(), self._info()

    def step(
        self, actions: npt.NDArray[np.int64]
    ) -> tuple[Int8Array, FloatArray, BoolArray, BoolArray, dict[str, Any]]:
        """Play one action id per table."""
        acted = self.batch.seat.copy()
        self._act(actions)
        over, truncated = self.batch.is_over, self.batch.truncated
        done = np.flatnonzero(over)
        returns = np.zeros((self.num_envs, self.batch.num_seats))
        if done.size:
            returns[done] = self.batch.returns[done]
            self._deal(done)
        rewards = returns[np.arange(self.num_envs), acted]
        return self.batch.observe(), rewards, over & ~truncated, truncated, {**self._info(), "final_returns": returns}

    def _info(self) -> dict[str, Any]:
        return {"seat": self.batch.seat.copy(), "action_mask": self.batch.masks()}


class LearnerVectorEnv(_TableVectorEnv):
    """One seat of each table learns; it is drawn anew each game, and the others play by ``opponents``.

    Each game draws, for each other seat, one of ``opponents`` with ``weights`` (equal by default), which it keeps to its
    end; :meth:`add_opponent` adds one for games to come. An episode ends when the learner is out or the game is over;
    its reward is the learner's return. A finished table is dealt anew in the same step; ``infos["final_obs"]`` holds
    the last observation of each finished one. ``max_episode_steps`` truncates after so many of the learner's decisions.
    ``gymnasium.make_vec`` makes this environment; ``illegal`` and ``render_mode`` have the one value that it can do, and
    ``vectorization_mode="sync"`` is for the others, and for a seed per table. Illegal actions raise.
    """

    def __init__(
        self,
        num_envs: int = 1,
        variant: Variant | str = "classic",
        num_players: int = 2,
        opponents: Sequence[Policy] = (),
        *,
        weights: Sequence[float] | None = None,
        dice: Sequence[int] | None = None,
        max_rounds: int | None = None,
        pad_to: Layout | None = None,
        max_episode_steps: int | None = None,
        illegal: str = "raise",
        render_mode: str | None = None,
        memory: str = "perfect",
    ) -> None:
        super().__init__(num_envs, variant, num_players, dice, max_rounds, pad_to, memory)
        for name, value, only in (("illegal", illegal, "raise"), ("render_mode", render_mode, None)):
            if value != only:
                raise ValueError(
                    f"{name} = {value!r}: many tables in one batch know {only!r} alone; single environments side by side do "
                    f"that: gymnasium.make_vec({GYMNASIUM_ID!r}, ..., vectorization_mode='sync')"
                )
        if max_episode_steps is not None and (not is_whole(max_episode_steps) or max_episode_steps < 1):
            raise ValueError(f"max_episode_steps = {max_episode_steps!r}: use None or a whole number from 1")
        self.max_episode_steps = np.inf if max_episode_steps is None else int(max_episode_steps)
        self.steps = np.zeros(self.num_envs, np.int64)  # the learner's decisions in this episode
        self.opponents: list[Policy] = list(opponents) or [UniformPolicy()]
        self.weights = list(weights) if weights is not None else [1.0] * len(self.opponents)
        if len(self.weights) != len(self.opponents) or min(self.weights) < 0 or sum(self.weights) <= 0:
            raise ValueError(
                f"weights = {self.weights}: give one number >= 0 per opponent ({len(self.opponents)}), not all 0"
            )
        self.learner = np.zeros(self.num_envs, np.int8)
        self.drawn = np.zeros((self.num_envs, num_players), np.int64)

    def add_opponent(self, policy: Policy, weight: float = 1.0) -> None:
        """Let games to come draw ``policy`` as well; games that run keep theirs."""
        self.opponents.append(policy)
        self.weights.append(weight)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Int8Array, dict[str, Any]]:
        """Deal all tables and play each up to its learner's first turn; one ``seed`` fixes them all."""
        self._begin(seed)
        return self.batch.observe(viewers=self.learner), self._info()

    def step(
        self, actions: npt.NDArray[np.int64]
    ) -> tuple[Int8Array, FloatArray, BoolArray, BoolArray, dict[str, Any]]:
        """Play the learners' action ids, then the others up to each learner's next turn."""
        self._act(actions)
        self.steps += 1
        self._play_others(np.arange(self.num_envs))
        out, everyone = self._learner_is_out(), np.arange(self.num_envs)
        ended = out | self.batch.is_over
        cut = ~ended & (self.steps >= self.max_episode_steps)
        over, truncated = ended | cut, (self.batch.truncated & ~out) | cut
        rewards = np.where(over, self.batch.returns[everyone, self.learner], 0.0)
        info: dict[str, Any] = {}
        done = np.flatnonzero(over)
        if done.size:
            final = np.zeros((self.num_envs, self.batch.layout.size), np.int8)
            final[done] = self.batch.observe(done, viewers=self.learner[done])
            info = {"final_obs": final, "_final_obs": over}
            self._deal(done)
        return self.batch.observe(viewers=self.learner), rewards, over & ~truncated, truncated, {**self._info(), **info}

    def _info(self) -> dict[str, Any]:
        return {"seat": self.learner.copy(), "action_mask": self.batch.masks()}

    def _learner_is_out(self) -> BoolArray:
        return self.batch.dice[np.arange(self.num_envs), self.learner] == 0

    def _deal(self, rows: npt.NDArray[np.int64]) -> None:
        """New games in ``rows``, with a seat for the learner and opponents for the others, up to the learner's turn."""
        waiting = rows
        while waiting.size:
            super()._deal(waiting)
            self.steps[waiting] = 0
            chance = np.array(self.weights) / sum(self.weights)
            seats = self.batch.num_seats
            self.learner[waiting] = self.np_random.integers(seats, size=waiting.size)
            self.drawn[waiting] = self.np_random.choice(len(chance), (waiting.size, seats), p=chance)
            self._play_others(waiting)
            # A single round, or one of one die each, may end before the learner has had a turn: nothing to learn from.
            waiting = waiting[(self._learner_is_out() | self.batch.is_over)[waiting]]

    def _play_others(self, rows: npt.NDArray[np.int64]) -> None:
        while True:
            ends = self._learner_is_out() | self.batch.is_over | (self.batch.seat == self.learner)
            rows = rows[~ends[rows]]
            if not rows.size:
                return
            playing = self.drawn[rows, self.batch.seat[rows]]
            for i in np.unique(playing):
                mine = rows[playing == i]
                seen, masks = self.batch.observe(mine), self.batch.masks(mine)
                actions = ask(self.opponents[i], seen, masks, self.np_random, places(self.batch, mine))
                self.batch.act(actions, mine)
