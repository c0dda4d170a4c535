"""MaskablePPO (sb3-contrib) by self-play against a pool of its own snapshots.

    python -m train sb3 configs/quickstart.yaml ppo.total_decisions=500000

Runs in the loop of our other trainers: the same run folder, and evaluation.csv (at the end); checkpoint/ is an agent's
name in every other command: ``--agents RUN/checkpoint``. The same command with ``--out RUN`` goes on after a kill.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from pydantic import model_validator
from sb3_contrib import MaskablePPO
from stable_baselines3.common.logger import Logger

import agents as registry
from agents.core.seated import sight
from agents.learned.neural import network_inputs
from perudo_env.adapters.sb3 import Sb3VecEnv
from perudo_env.engine.variant import parse_variant
from perudo_env.envs.vector import LearnerVectorEnv
from train.core.config import Count, NumTables, Part, Rate, Seats, Section, Share, VariantText, Weight, Widths
from train.core.loop import Figures
from train.core.sections import Keep, RunSection
from train.core.state import Arrays, load_numpy_generator, numpy_generator, take, take_count
from train.core.trainer import EMAWeights, NetworkTrainer
from train.selfplay.networks import annealed
from train.selfplay.pool import SnapshotPool


class GameSection(Section):
    """The table."""

    variant: VariantText = "marquoir:starting_dice=3"
    """A preset, or like box:calza=anyone."""
    num_seats: Seats = 2
    """2 to 8."""


class PPOSection(Section):
    """What MaskablePPO is told."""

    total_decisions: Count = 1_700_000
    """Decisions of the learner; its opponents' come on top."""
    num_envs: NumTables = 128
    """Tables side by side in one process."""
    num_steps: Count = 64
    """Decisions per table between two updates."""
    batch_size: Count = 2048
    """Decisions of one optimiser step."""
    num_epochs: Count = 4
    """Passes over each batch of decisions."""
    learning_rate: Rate = 1e-3
    """At the start."""
    final_learning_rate: Rate = 1e-4
    """At the end, falling by equal factors."""
    clip_range: Rate = 0.2
    """PPO's clip."""
    entropy: Weight = 0.05
    """Weight of the entropy bonus at the start."""
    final_entropy: Weight = 0.02
    """Weight of the entropy bonus at the end, falling by equal factors."""
    gamma: Share = 1.0
    """Discount; a game is won or lost, time does not matter."""
    gae_lambda: Share = 0.95
    """Lambda of the generalised advantage (GAE)."""
    hidden: Widths = (128, 128)
    """Widths of actor and critic."""
    average: Part = 0.1
    """How far back the averaged weights, which play, reach: a share of the run."""

    @model_validator(mode="after")
    def _has_spread(self) -> PPOSection:
        """SB3 divides each minibatch's advantages by their spread, which a single one does not have."""
        rows = self.num_envs * self.num_steps
        if 1 in (self.batch_size, rows % self.batch_size):
            raise ValueError(
                f"num_envs * num_steps = {rows} leaves a minibatch of one decision with batch_size = {self.batch_size}: change either"
            )
        return self


class PoolSection(Section):
    """Whom the learner plays."""

    every: Count = 80_000
    """Decisions between two snapshots of the learner."""
    size: Count = 12
    """Newest snapshots that are drawn as opponents."""
    latest_share: Share = 0.5
    """Of learned opponents, how often the newest."""
    scripted: tuple[str, ...] = ("odds", "threshold")
    """Scripted agents in the pool; []: self-play alone."""
    scripted_share: Share = 0.2
    """How often a scripted one is drawn."""


class JudgeSection(Section):
    """How often and how well its strength is measured."""

    every: Count = 300_000
    """Decisions between two points of the curve."""
    games: Count = 400
    """Games against each baseline, for a point of the curve."""
    final_games: Count = 4000
    """Games against each baseline, at the end."""
    baselines: tuple[str, ...] = ("uniform", "odds", "threshold", "bluffer", "inference")
    """Agents against which win shares are measured."""
    keep: Keep = "last"
    """The weights that are kept to play: the last, or those of the point of the curve with the best mean win share."""


class SB3Config(Section):
    """All of ``configs/quickstart.yaml``."""

    game: GameSection = GameSection()
    ppo: PPOSection = PPOSection()
    pool: PoolSection = PoolSection()
    evaluation: JudgeSection = JudgeSection()
    run: RunSection = RunSection()


SMOKE = (
    "ppo.total_decisions=2048", "ppo.num_envs=8", "ppo.num_steps=64", "ppo.batch_size=128", "pool.every=600",
    "evaluation.every=1000", "evaluation.games=8", "evaluation.final_games=8", "run.save_every=0",
)  # fmt: skip


def actor_weights(model: MaskablePPO) -> dict[str, npt.NDArray[Any]]:
    """The actor of an SB3 policy, as ``agents.learned.neural`` lays networks out."""
    policy: Any = model.policy
    linear = [m for m in policy.mlp_extractor.policy_net if isinstance(m, torch.nn.Linear)]
    weights = {}
    for i, layer in enumerate([*linear, policy.action_net]):
        weights[f"layers.{i}.weight"] = layer.weight.detach().cpu().numpy().copy()
        weights[f"layers.{i}.bias"] = layer.bias.detach().cpu().numpy().copy()
    return weights


class SB3(NetworkTrainer):
    """MaskablePPO, its tables and its pool."""

    counts = ("decisions", "updates", "next_snapshot")

    def __init__(self, config: SB3Config) -> None:
        super().__init__(config.run, config.ppo.total_decisions, config.evaluation.keep)
        self.config = config
        ppo, variant, seats = config.ppo, parse_variant(config.game.variant), config.game.num_seats
        scripted = [registry.make(name, variant, seats) for name in config.pool.scripted]
        env = LearnerVectorEnv(ppo.num_envs, variant, seats, scripted)
        if not scripted:
            env.opponents.clear()
        self.pool = SnapshotPool(env, config.pool.size, config.pool.latest_share, config.pool.scripted_share)
        self.door = Sb3VecEnv(env, lambda seen, _: network_inputs(seen, sight(variant, seats)))
        self.model = MaskablePPO(
            "MlpPolicy", self.door, n_steps=ppo.num_steps, batch_size=ppo.batch_size, n_epochs=ppo.num_epochs,
            learning_rate=ppo.learning_rate, clip_range=ppo.clip_range,
            ent_coef=ppo.entropy, gamma=ppo.gamma, gae_lambda=ppo.gae_lambda, seed=config.run.seed, device="cpu",
            policy_kwargs={"net_arch": {"pi": ppo.hidden, "vf": ppo.hidden}, "activation_fn": torch.nn.ReLU},
        )  # fmt: skip
        # SB3's own schedule counts from the call of learn(), of which each iteration is one
        self.model.lr_schedule = lambda _: annealed(ppo.learning_rate, ppo.final_learning_rate, self._progress())
        self.model.set_logger(Logger(None, []))
        self.ema = EMAWeights(lambda: actor_weights(self.model), ppo.average * self.total)
        self.updates, self.next_snapshot = 0, config.pool.every
        self.pool.add(actor_weights(self.model))
        policy: Any = self.model.policy
        self.add_network("policy", policy, lambda _: policy.optimizer)
        self.keep("pool", self.pool.arrays, lambda arrays: self.pool.restore(arrays, actor_weights(self.model)))
        self.keep("numpy", numpy_generator, load_numpy_generator)
        self.keep("tables", self._tables, self._restore_tables)

    def step(self) -> Figures:
        """One rollout and what is learnt from it, by SB3."""
        ppo = self.config.ppo
        rollout = ppo.num_envs * ppo.num_steps
        self.model.ent_coef = annealed(ppo.entropy, ppo.final_entropy, self._progress())
        self.model.learn(rollout, log_interval=None, reset_num_timesteps=False)  # type: ignore[arg-type]
        self.decisions, self.updates = self.model.num_timesteps, self.model._n_updates
        self.ema.add(rollout)
        if self.decisions >= self.next_snapshot:
            self.next_snapshot += self.config.pool.every
            self.pool.add(actor_weights(self.model))
        figures = {name: float(value) for name, value in self.model.logger.name_to_value.items()}
        episodes = self.model.ep_info_buffer or ()
        for name, key in (("rollout/ep_rew_mean", "r"), ("rollout/ep_len_mean", "l")):
            figures[name] = float(np.mean([e[key] for e in episodes])) if episodes else float("nan")
        return {**figures, "pool/snapshots": float(len(self.pool.hashes))}

    def _progress(self) -> float:
        return self.model.num_timesteps / self.total

    def state(self) -> tuple[Arrays, dict[str, Any]]:
        """See :class:`train.core.loop.Trainer`."""
        arrays, about = super().state()
        drawn = self.door.env.np_random.bit_generator.state
        return arrays, {**about, "episodes": list(self.model.ep_info_buffer or ()), "env_rng": drawn}

    def restore(self, arrays: Arrays, about: Mapping[str, Any]) -> None:
        """See :class:`train.core.loop.Trainer`."""
        super().restore(arrays, about)
        model = self.model
        model.num_timesteps, model._n_updates = self.decisions, self.updates
        episodes = [{**e, "r": float(e["r"]), "l": take_count(e, "l")} for e in about["episodes"]]
        model.ep_info_buffer, model.ep_success_buffer = deque(episodes, maxlen=model._stats_window_size), deque()
        self.door.env.np_random.bit_generator.state = about["env_rng"]

    def _tables(self) -> Arrays:
        env = self.door.env
        states = env.batch.states.view(np.uint8)
        return {"states": states, "learner": env.learner, "drawn": env.drawn, "lengths": self.door.lengths}

    def _restore_tables(self, arrays: Arrays) -> None:
        env, lengths = self.door.env, self.door.lengths
        env.batch.restore(arrays["states"])
        env.learner[:] = take(arrays, "learner", env.learner, 0, env.batch.num_seats - 1)
        env.drawn[:] = take(arrays, "drawn", env.drawn, 0, len(env.opponents) - 1)
        lengths[:] = take(arrays, "lengths", lengths, 0)
        if (env.batch.seat != env.learner).any():
            raise ValueError("learner should name the seats to act")
        env.steps[:], env.dealt = lengths, True
        self.model._last_obs, self.model._last_episode_starts = self.door.show(), lengths == 0
