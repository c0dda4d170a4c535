"""Learned responses: what a network gains against a frozen agent in all other seats, and a short one from the agent's own weights.

A response that learns nothing gains nothing and says nothing; so the short one begins as the agent itself, and what it
gains is a lower bound of what a best response does.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from agents.learned.neural import RelativePolicy
from perudo_env.engine.variant import Variant, parse_variant
from perudo_env.game.asking import ask_probs
from perudo_env.policy import Int8Array, Policy, SampledPolicy
from train.core.config import load_config
from train.core.measured import Estimate, Measured
from train.core.state import Arrays, prefixed, under_prefix
from train.evaluate.tournament.standings import share_against
from train.selfplay.options import PPOConfig, SelfPlayConfig
from train.selfplay.ppo import PPO

CONFIG = Path(__file__).parents[2] / "configs" / "exploiter.yaml"
# Deals of the final measurement, of the choice before it and of the curve never meet: each has a seed of its own.
FINAL_SEED, CHOICE_SEED = 1, 2


class Greedy(SampledPolicy):
    """Always the likeliest action of another policy."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy

    def probs(self, observations: Int8Array, masks: Int8Array) -> npt.NDArray[np.float64]:
        """1 for the first of the likeliest actions."""
        likeliest = ask_probs(self.policy, observations, masks).argmax(axis=1)
        return np.eye(masks.shape[1])[likeliest]


@dataclass(frozen=True)
class LearnedGain:
    """What an exploiter gains against an agent in all other seats; fair is 1 / seats."""

    win_share: Estimate
    seats: int
    greedy: bool  # it plays the likeliest action, or else draws

    @property
    def gain(self) -> Estimate:
        """The gain in win share, the mean over seats."""
        return Estimate(*(x - 1 / self.seats for x in self.win_share))

    @property
    def return_gain(self) -> Estimate:
        """The gain in returns (winner +1, the others together -1)."""
        return Estimate(*(x * self.seats / (self.seats - 1) for x in self.gain))


def measure(
    network: Policy,
    agent: Policy,
    v: Variant,
    seats: int,
    games: int,
    seed: int,
    on_progress: Callable[[int], Any] | None = None,
) -> LearnedGain:
    """The win share on fresh games, after a tenth as many have chosen between drawing and the likeliest action."""
    ways = network, Greedy(network)
    tried = [
        share_against(p, agent, v, seats, max(games // 10, seats), _seed(seed, CHOICE_SEED), on_progress).value
        for p in ways
    ]
    greedy = tried[1] > tried[0]
    share = share_against(ways[greedy], agent, v, seats, games, _seed(seed, FINAL_SEED), on_progress)
    return LearnedGain(share, seats, greedy)


def _seed(seed: int, purpose: int) -> int:
    return int(np.random.SeedSequence([seed, purpose]).generate_state(1)[0])


def response_config(config: SelfPlayConfig, weights: Arrays, variant: str, seats: int) -> PPOConfig:
    """The training of a short response at one table, by configs/exploiter.yaml, on a network as large as the agent's."""
    hidden = [len(weights[name]) for name in sorted(weights) if name.endswith("bias")][:-1]
    return load_config(
        PPOConfig, CONFIG,
        [
            f"tables={json.dumps([{'variants': [variant], 'seats': [seats]}])}", f"learn.hidden={hidden}", "pool.scripted=[]",
            f"learn.total_decisions={config.evaluation.response_decisions}", f"run.seed={config.run.seed}",
            f"run.torch_threads={config.run.torch_threads}", f"run.precision={config.run.precision}", f"run.device={config.run.device}",
        ],
    )  # fmt: skip


def learned_responses(config: SelfPlayConfig, weights: Arrays, networks: Arrays) -> list[Measured]:
    """What a short response gains over its fair share against the agent of ``weights``, at each table of the evaluation.

    ``networks`` are those of the trainer by their prefixes: the response takes over its critic and continuation values where
    they fit. Nothing of the training that goes on is moved, its generators neither.
    """
    found = []
    for table in config.evaluation.tables:
        v, games = parse_variant(table.variant), config.evaluation.games
        with torch.random.fork_rng(devices=[]):
            trainer = PPO(response_config(config, weights, table.variant, table.seats))
            own = {name: under_prefix(name, trainer.training_arrays()) for name in ("critic", "values")}
            for name, arrays in own.items():
                theirs = under_prefix(name, networks)
                if {k: a.shape for k, a in theirs.items()} == {k: a.shape for k, a in arrays.items()}:
                    own[name] = theirs
            trainer.start_from(prefixed({**own, "actor": weights}))
            trainer.meet(weights)
            while trainer.decisions < trainer.total:
                trainer.step()
        response, agent = (RelativePolicy(w, v, table.seats) for w in (trainer.weights(), weights))
        gain = measure(response, agent, v, table.seats, games, config.run.seed).gain
        found.append(Measured("response_gain", *gain, table.name))
    return found
