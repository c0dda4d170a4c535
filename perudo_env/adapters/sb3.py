"""The Stable-Baselines3 adapter: a ``LearnerVectorEnv`` as a ``VecEnv``, with its masks at hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from stable_baselines3.common.vec_env import VecEnv

from perudo_env.envs.vector import LearnerVectorEnv

Features = Callable[[npt.NDArray[np.int8], npt.NDArray[np.int8]], npt.NDArray[np.float32]]
"""(observations, masks) -> what a network is fed, float32 ``(batch, width)``, 0 to 1."""


def as_they_are(observations: npt.NDArray[np.int8], masks: npt.NDArray[np.int8]) -> npt.NDArray[np.float32]:
    """The observations, as float32."""
    return observations.astype(np.float32)


class Sb3VecEnv(VecEnv):
    """A ``LearnerVectorEnv`` for SB3: float32 ``features``, masks from :meth:`action_masks`, in one process.

    sb3-contrib asks ``env_method("action_masks")`` per env; the answer comes from the batch, without a loop over envs.
    """

    def __init__(self, env: LearnerVectorEnv, features: Features = as_they_are) -> None:
        self.env, self.features = env, features
        shape = features(env.batch.observe([0]), env.batch.masks([0])).shape[1:]
        super().__init__(env.num_envs, spaces.Box(0.0, 1.0, shape, np.float32), spaces.Discrete(env.batch.num_actions))
        self._seed: int | None = None
        self._masks = np.zeros((env.num_envs, env.batch.num_actions), np.int8)
        self._actions = np.zeros(env.num_envs, np.int64)
        self._lengths = np.zeros(env.num_envs, np.int64)

    def action_masks(self) -> npt.NDArray[np.int8]:
        """The mask of each learner, int8 ``(num_envs, num_actions)``."""
        return self._masks

    def reset(self) -> npt.NDArray[np.float32]:
        """Deal all tables."""
        observation, info = self.env.reset(seed=self._seed)
        self._seed = None
        self._masks = info["action_mask"]
        self._lengths[:] = 0
        return self.features(observation, self._masks)

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """How many decisions each episode is old."""
        return self._lengths

    def show(self) -> npt.NDArray[np.float32]:
        """What the learners see now: what :meth:`step_wait` showed last, also of tables that were put back."""
        self._masks = self.env.action_masks()
        return self.features(self.env.batch.observe(viewers=self.env.learner), self._masks)

    def step_async(self, actions: npt.NDArray[np.int64]) -> None:
        """Take the learners' actions."""
        self._actions = actions

    def step_wait(
        self,
    ) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32], npt.NDArray[np.bool_], list[dict[str, Any]]]:
        """Play them."""
        observation, rewards, terminated, truncated, info = self.env.step(self._actions)
        self._masks = info["action_mask"]
        self._lengths += 1
        done = terminated | truncated
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        ends = np.flatnonzero(done)
        if ends.size:
            final = self.features(info["final_obs"][ends], self._masks[ends])
            for k, i in enumerate(ends):
                infos[i] = {
                    "terminal_observation": final[k],
                    "TimeLimit.truncated": bool(truncated[i]),
                    "episode": {"r": float(rewards[i]), "l": int(self._lengths[i]), "t": 0.0},
                }
            self._lengths[ends] = 0
        return self.features(observation, self._masks), rewards.astype(np.float32), done, infos

    def seed(self, seed: int | None = None) -> Sequence[int | None]:
        """Seed the next reset."""
        self._seed = seed
        return [seed] * self.num_envs

    def close(self) -> None:
        """Nothing is open."""

    def has_attr(self, attr_name: str) -> bool:
        """Whether the tables have it: ``action_masks`` alone."""
        return attr_name in ("action_masks", "render_mode")

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """An attribute of each env, or of those of ``indices``."""
        if attr_name == "action_masks":
            return self._of(self._masks, indices)
        if attr_name == "render_mode":
            return self._of([None] * self.num_envs, indices)
        raise AttributeError(f"the tables have no attribute {attr_name!r}")

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Refused: the tables are one batch."""
        raise AttributeError(f"{attr_name!r} cannot be set: the tables are one batch")

    def env_method(self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any) -> list[Any]:
        """Only ``action_masks``, of each env, or of those of ``indices``."""
        if method_name != "action_masks":
            raise AttributeError(f"the tables have no method {method_name!r}")
        return self._of(self._masks, indices)

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        """Never; episodes are reported in the infos as a Monitor would."""
        return self._of([False] * self.num_envs, indices)

    def _of(self, values: Sequence[Any] | npt.NDArray[Any], indices: Any) -> list[Any]:
        """The values of the envs that ``indices`` names as SB3 does: None for all, a number, or several."""
        return [values[i] for i in self._get_indices(indices)]
