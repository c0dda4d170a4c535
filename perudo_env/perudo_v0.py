"""The PettingZoo door: ``env``, ``raw_env`` and ``parallel_env``."""

from __future__ import annotations

from typing import Any

from pettingzoo import AECEnv, ParallelEnv
from pettingzoo.utils.conversions import turn_based_aec_to_parallel

from perudo_env.envs.aec import PerudoAEC as raw_env
from perudo_env.envs.wrappers import AssertOutOfBounds, OrderEnforcing, TerminateIllegal

__all__ = ["env", "parallel_env", "raw_env"]


def env(**arguments: Any) -> AECEnv:
    """The environment with PettingZoo's wrappers: an action illegal now ends the game, and the order of calls is checked.

    What is no action id of the table raises ``IllegalActionError`` and changes nothing, here and everywhere.

    Arguments, as of ``raw_env``, which is three times as fast and what to train on:

    - variant: a preset, ``"box:calza=anyone"``, or a ``Variant``
    - num_players: 2 to 8
    - render_mode: None, ``"ansi"``, ``"rgb_array"`` or ``"human"``; all dice are shown
    - elimination: ``"terminate"`` ends an agent when it loses its last die; ``"wait"`` ends all agents with the game
    - reward: ``"zero_sum"`` (winner +1, others -1/(n-1)), ``"place"`` (linear from +1 to -1), or ``"dice"`` (dice won and
      lost, each round: shaped, and not the objective)
    - max_rounds: truncate after so many rounds; None plays to the end
    - memory: under hidden dice counts, ``"perfect"`` shows all counts, as known to who remembers every lost die; ``"none"``
      does not
    - illegal (``raw_env`` alone matters): ``"raise"`` an error and change nothing, or ``"terminate"`` as the wrapper does
    """
    return OrderEnforcing(AssertOutOfBounds(TerminateIllegal(raw_env(**arguments), illegal_reward=-1)))


def parallel_env(**arguments: Any) -> ParallelEnv:
    """The environment as a ``ParallelEnv``: everybody hands in an action, and that of the agent to act counts."""
    return turn_based_aec_to_parallel(env(**arguments))
