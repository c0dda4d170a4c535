"""Self-play by PPO and magnetic mirror descent: one network in all seats, whole games or single rounds paid with V.

    python -m train ppo configs/duel.yaml learn.total_decisions=2000000 --out runs/duel

With ``learn.kl`` 0 it is PPO (Schulman et al. 2017) with an annealed entropy bonus; with a KL weight the step is that of
magnetic mirror descent towards the uniform policy (Sokota et al., "A Unified Approach to Reinforcement Learning, Quantal
Response Equilibria, and Two-Player Zero-Sum Games", 2023). The critic sees all dice, in training only. The average of the
weights is what plays. The same command goes on with a run that was killed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch.nn.functional import mse_loss

from agents.learned import relative
from train.core.backends import Backend
from train.core.loop import Figures
from train.core.state import (
    Arrays,
    adam_arrays,
    load_adam,
    load_module,
    load_torch_generator,
    module_arrays,
    take,
    take_count,
    take_weights,
    torch_generator,
    under_prefix,
    with_prefix,
)
from train.selfplay import critic_features as hindsight
from train.selfplay import rollouts
from train.selfplay.collector import LEARNER, Collector, Decisions, Rounds, advantages
from train.selfplay.networks import (
    MLP,
    annealed,
    descend,
    device_of,
    entropy,
    kl,
    log_probs,
    log_sizes,
    mixed,
    precision,
    reads_sparse,
    set_rate,
)
from train.selfplay.options import Config, groups_of
from train.selfplay.pool import Average, Pool
from train.selfplay.sparse import Chosen, Columns, SparseRows, spread, used_columns
from train.selfplay.values import ContinuationValues


class Inputs:
    """The inputs of a batch of decisions, the actor's and behind them the critic's, as first layers read them."""

    def __init__(self, rows: SparseRows, device: torch.device, dtype: torch.dtype) -> None:
        self.rows, self.device, self.dtype = rows, device, dtype
        self.sparse = reads_sparse(device, dtype)
        self.used = used_columns(rows, relative.NUM_INPUTS + hindsight.NUM_INPUTS)

    def pick(self, places: torch.Tensor) -> Chosen | Columns:
        """Some rows, in this order."""
        chosen = Chosen(self.rows, places.cpu().numpy())
        if self.sparse:
            return chosen
        dense = torch.from_numpy(spread(chosen, self.used)).to(self.device, self.dtype)
        return Columns(dense, torch.from_numpy(self.used).to(self.device))


class MMD:
    """Actor, critic, continuation values, tables and the pool of one run."""

    def __init__(self, config: Config, backend: Backend | None = None) -> None:
        torch.manual_seed(config.run.seed)
        torch.set_num_threads(config.run.torch_threads)
        learn = config.learn
        self.config, self.decisions = config, 0
        self.device = device_of(config.run.device)
        self.precision = precision(config.run.precision, self.device)
        self.actor = MLP(relative.NUM_INPUTS, learn.hidden, relative.NUM_CELLS).to(self.device)
        self.critic = MLP(relative.NUM_INPUTS + hindsight.NUM_INPUTS, learn.critic_hidden, 1).to(self.device)
        self.optimizers = {
            "actor": torch.optim.Adam(self.actor.parameters(), lr=learn.learning_rate, eps=1e-6, fused=True),
            "critic": torch.optim.Adam(self.critic.parameters(), lr=learn.learning_rate, eps=1e-6, fused=True),
        }
        self.values = ContinuationValues(config.values.hidden, config.values.learning_rate)
        self.rng = np.random.default_rng(config.run.seed)
        self.pool = Pool(config.pool.scripted, config.pool.scripted_share, config.pool.size)
        self.groups = groups_of(config.tables, config.play, self.rng, config.pool, self.pool.weights())
        self.average: Average | None = None
        self.backend = backend
        self.collector = Collector(
            rollouts.torch_actor(self.actor, self.device, self.precision), self.pool.policy, self.rng
        )
        self.next_snapshot = config.pool.every

    def step(self) -> Figures:
        """Play one round or game at a share of the tables, and learn from it."""
        count = min(self.config.play.groups_per_batch, len(self.groups))
        chosen = self.rng.choice(len(self.groups), count, replace=False)
        decisions, rounds = self.collect(chosen)
        figures = self.learn(decisions)
        if rounds is not None:
            inputs, targets, squares = map(torch.from_numpy, (rounds.inputs, rounds.targets, rounds.squares))
            figures["loss/values"] = self.values.learn(inputs, targets, squares, 1024)
        self.decisions += len(decisions.chosen)
        self._average(len(decisions.chosen))
        if self.config.pool.share > 0 and self.decisions >= self.next_snapshot:
            self.next_snapshot = self.decisions + self.config.pool.every
            self.pool.add(module_arrays(self.actor))
            self._share_out_pool()
        return figures

    def _share_out_pool(self) -> None:
        for tables in self.groups:
            tables.pool_weights = self.pool.weights()

    def collect(self, chosen: npt.NDArray[np.int64]) -> tuple[Decisions, Rounds | None]:
        """Play one round or game at all tables of the ``chosen`` kinds."""
        if self.backend is None:
            paid = self.values if self.config.play.unit == "rounds" else None
            return self.collector.collect([self.groups[i] for i in chosen], self.config.play.unit, paid)
        networks = rollouts.networks_of(self.config, self.precision, self.actor, self.values, self.pool)
        return rollouts.collect(self.backend, networks, self.groups, chosen.tolist(), self.rng)

    def _average(self, batch: int) -> None:
        if self.average is None:  # its horizon is a share of the run, counted in updates
            self.average = Average(self.config.learn.average * self.config.learn.total_decisions / batch)
        self.average.add(module_arrays(self.actor))

    def learn(self, d: Decisions) -> Figures:
        """Some epochs of minibatches over one batch of decisions; returns means over all minibatches."""
        learn = self.config.learn
        progress = self.decisions / learn.total_decisions
        rate = annealed(learn.learning_rate, learn.final_learning_rate, progress)
        bonus = annealed(learn.entropy, learn.final_entropy, progress)
        for optimizer in self.optimizers.values():
            set_rate(optimizer, rate)
        inputs = Inputs(d.inputs, self.device, self.precision)
        sizes = log_sizes(torch.from_numpy(d.sizes).float()).to(self.device)
        old = torch.from_numpy(d.log_probs).to(self.device)
        chosen = torch.from_numpy(d.chosen).to(self.device)
        before = self._values(inputs, len(d.chosen))
        gains = np.empty(len(d.chosen))
        advantages(before, d.who, d.pay, learn.trace, gains)
        targets = torch.from_numpy((gains + before).astype(np.float32)).to(self.device)
        scaled = torch.from_numpy(((gains - gains.mean()) / (gains.std() + 1e-8)).astype(np.float32)).to(self.device)
        sums: dict[str, float] = {}
        count = 0
        for _ in range(learn.epochs):
            for rows in torch.randperm(len(chosen), device=self.device).split(learn.minibatch):
                seen = inputs.pick(rows)
                played = (x.index_select(0, rows) for x in (sizes, old, chosen, scaled))
                figures = self._actor_step(bonus, seen, *played)
                figures["loss/critic"] = self._critic_step(seen, targets[rows])
                for name, value in figures.items():
                    sums[name] = sums.get(name, 0.0) + value
                count += 1
        explained = 1.0 - float(np.var(gains)) / max(float(np.var(gains + before)), 1e-12)
        return {**{k: v / count for k, v in sums.items()}, "explained": explained, "rate": rate, "bonus": bonus}

    @torch.no_grad()
    def _values(self, inputs: Inputs, count: int) -> npt.NDArray[np.float64]:
        rows = torch.arange(count).split(8192)
        with mixed(self.device, self.precision):
            parts = [self.critic(inputs.pick(part))[:, 0] for part in rows]
        return torch.cat(parts).double().cpu().numpy()

    def _actor_step(
        self,
        bonus: float,
        inputs: Chosen | Columns,
        sizes: torch.Tensor,
        old: torch.Tensor,
        chosen: torch.Tensor,
        gains: torch.Tensor,
    ) -> Figures:
        learn = self.config.learn
        with mixed(self.device, self.precision):
            log_p = log_probs(self.actor(inputs), sizes)
        at = chosen[:, None]
        ratio = torch.exp(log_p.gather(1, at) - old.gather(1, at))[:, 0]
        clipped = ratio.clamp(1 - learn.clip, 1 + learn.clip)
        surrogate = torch.minimum(ratio * gains, clipped * gains).mean()
        uncertainty = entropy(log_p).mean()
        loss = -surrogate - bonus * uncertainty
        if learn.kl > 0:
            distance = kl(old, log_p).mean()
            loss = loss + learn.kl * distance
        else:  # an estimate from the actions taken is enough to look at
            distance = (ratio - 1 - ratio.log()).mean()
        descend(self.optimizers["actor"], self.actor, loss)
        return {
            "loss/actor": -surrogate.item(), "entropy": uncertainty.item(), "kl": distance.item(),
            "clipped": (ratio != clipped).float().mean().item(),
        }  # fmt: skip

    def _critic_step(self, inputs: Chosen | Columns, targets: torch.Tensor) -> float:
        with mixed(self.device, self.precision):
            loss = mse_loss(self.critic(inputs)[:, 0], targets)
        return descend(self.optimizers["critic"], self.critic, loss)

    def weights(self) -> Arrays:
        """What plays: the averaged weights of the actor."""
        return self.average.weights if self.average else module_arrays(self.actor)

    def networks(self) -> Arrays:
        """The weights of all networks, for another run to begin with."""
        return {
            **with_prefix("actor", module_arrays(self.actor)), **with_prefix("critic", module_arrays(self.critic)),
            **with_prefix("values", module_arrays(self.values)), **with_prefix("average", self.weights()),
        }  # fmt: skip

    def state(self) -> tuple[Arrays, dict[str, Any]]:
        """See :class:`train.core.loop.Trainer`."""
        arrays: Arrays = {
            **self.networks(), **with_prefix("values_adam", adam_arrays(self.values.optimizer)),
            **with_prefix("actor_adam", adam_arrays(self.optimizers["actor"])),
            **with_prefix("critic_adam", adam_arrays(self.optimizers["critic"])),
            **with_prefix("pool", self.pool.arrays()), **torch_generator(),
        }  # fmt: skip
        for i, tables in enumerate(self.groups):
            arrays |= with_prefix(
                f"tables.{i}", {"states": tables.batch.states.view(np.uint8), "lineups": tables.lineups}
            )
        return arrays, {
            "decisions": self.decisions, "next_snapshot": self.next_snapshot,
            "average": (self.average.horizon, self.average.count) if self.average else None, "rng": self.rng.bit_generator.state,
        }  # fmt: skip

    def restore(self, arrays: Arrays, about: Mapping[str, Any]) -> None:
        """See :class:`train.core.loop.Trainer`."""
        self.start_from(arrays)
        load_adam(self.values.optimizer, under_prefix("values_adam", arrays))
        for name, optimizer in self.optimizers.items():
            load_adam(optimizer, under_prefix(f"{name}_adam", arrays))
        load_torch_generator(arrays)
        self.rng.bit_generator.state = about["rng"]
        self.decisions, self.next_snapshot = take_count(about, "decisions"), take_count(about, "next_snapshot")
        actor = module_arrays(self.actor)
        if about["average"]:
            horizon, count = about["average"]
            self.average = Average(horizon, count, take_weights(under_prefix("average", arrays), actor))
        self.pool.restore(under_prefix("pool", arrays), actor)
        self._share_out_pool()
        for i, tables in enumerate(self.groups):
            kept = under_prefix(f"tables.{i}", arrays)
            tables.batch.restore(kept["states"])
            tables.lineups[:] = take(kept, "lineups", tables.lineups, LEARNER, len(tables.pool_weights))

    def start_from(self, arrays: Arrays) -> None:
        """Take over the networks of another run's state, nothing else."""
        for name, network in (("actor", self.actor), ("critic", self.critic), ("values", self.values)):
            load_module(network, under_prefix(name, arrays))
