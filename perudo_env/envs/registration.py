"""The environments' names in Gymnasium's registry and, where it has one (from 1.27), PettingZoo's."""

from __future__ import annotations

import gymnasium
import pettingzoo

GYMNASIUM_ID = "perudo/Perudo-v0"
PETTINGZOO_ID = "perudo_v0"


def register_envs() -> None:
    """Register what is not registered yet; ``import perudo_env`` does it."""
    if GYMNASIUM_ID not in gymnasium.registry:
        gymnasium.register(
            GYMNASIUM_ID,
            entry_point="perudo_env.envs.single:PerudoEnv",
            vector_entry_point="perudo_env.envs.vector:LearnerVectorEnv",
        )
    if PETTINGZOO_ID not in getattr(pettingzoo, "aec_registry", {PETTINGZOO_ID}):
        pettingzoo.register("aec", PETTINGZOO_ID, "perudo_env.perudo_v0:env")
        pettingzoo.register("parallel", PETTINGZOO_ID, "perudo_env.perudo_v0:parallel_env")
