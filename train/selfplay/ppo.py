"""Self-play by PPO and magnetic mirror descent: one network in all seats, whole games or single rounds paid with V.

    python -m train ppo configs/duel.yaml learn.total_decisions=2000000 --out runs/duel

With ``learn.kl`` 0 it is PPO (Schulman et al. 2017) with an annealed entropy bonus; with a KL weight the step is that of
magnetic mirror descent towards the uniform policy (Sokota et al., "A Unified Approach to Reinforcement Learning, Quantal
Response Equilibria, and Two-Player Zero-Sum Games", 2023). The critic sees all dice, in training only. The average of the
weights is what plays. The same command goes on with a run that was killed.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import torch
from torch.nn.functional import mse_loss

from agents.learned import features
from train.core.backends import Backend
from train.core.loop import Figures
from train.core.state import Arrays, module_arrays, with_prefix
from train.selfplay import critic_features, rollouts
from train.selfplay.collector import Collector, Decisions, Rounds, advantages
from train.selfplay.networks import MLP, annealed, entropy, kl, log_probs, log_sizes, mixed, reads_sparse
from train.selfplay.options import Config, groups_of
from train.selfplay.pool import Pool
from train.selfplay.sparse import Chosen, Columns, SparseRows, spread, used_columns
from train.selfplay.trainer import SelfPlayTrainer
from train.selfplay.values import ContinuationValues


class Inputs:
    """The inputs of a batch of decisions, the actor's and behind them the critic's, as first layers read them."""

    def __init__(self, rows: SparseRows, device: torch.device, dtype: torch.dtype) -> None:
        self.rows, self.device, self.dtype = rows, device, dtype
        self.sparse = reads_sparse(device, dtype)
        self.used = used_columns(rows, features.NUM_INPUTS + critic_features.NUM_INPUTS)

    def pick(self, places: torch.Tensor) -> Chosen | Columns:
        """Some rows, in this order."""
        chosen = Chosen(self.rows, places.cpu().numpy())
        if self.sparse:
            return chosen
        dense = torch.from_numpy(spread(chosen, self.used)).to(self.device, self.dtype)
        return Columns(dense, torch.from_numpy(self.used).to(self.device))


class PPO(SelfPlayTrainer):
    """Actor, critic, continuation values, tables and the pool of one run."""

    counts = ("decisions", "next_snapshot")
    config: Config

    def __init__(self, config: Config, backend: Backend | None = None) -> None:
        super().__init__(config)
        inputs = features.NUM_INPUTS + critic_features.NUM_INPUTS
        critic = MLP(inputs, config.learn.critic_hidden, 1).to(self.device)
        self.critic = self.add_network("critic", critic, self.adam)
        self.values = ContinuationValues(config.values.hidden, config.values.learning_rate)
        self.add_network("values", self.values, lambda _: self.values.optimizer)
        self.pool = Pool(config.pool.scripted, config.pool.scripted_share, config.pool.size)
        self.keep("pool", self.pool.arrays, self._restore_pool)
        self.add_tables(groups_of(config.tables, config.play, self.rng, config.pool, self.pool.weights()))
        self.backend = backend
        self.collector = Collector(
            rollouts.torch_actor(self.actor, self.device, self.precision), self.pool.policy, self.rng
        )
        self.next_snapshot = config.pool.every

    def step(self) -> Figures:
        """Play one round or game at a share of the tables, and learn from it."""
        decisions, rounds = self.collect(self.draw_groups())
        figures = self.learn(decisions)
        if rounds is not None:
            inputs, targets, squares = map(torch.from_numpy, (rounds.inputs, rounds.targets, rounds.squares))
            figures["loss/values"] = self.values.learn(inputs, targets, squares, 1024)
        self.decisions += len(decisions.chosen)
        self.ema.add(len(decisions.chosen))
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

    def learn(self, d: Decisions) -> Figures:
        """Some epochs of minibatches over one batch of decisions; returns means over all minibatches."""
        learn = self.config.learn
        rate = self.set_rates("actor", "critic")
        bonus = annealed(learn.entropy, learn.final_entropy, self.progress)
        inputs = Inputs(d.inputs, self.device, self.precision)
        sizes = log_sizes(torch.from_numpy(d.sizes).float()).to(self.device)
        old = torch.from_numpy(d.log_probs).to(self.device)
        chosen = torch.from_numpy(d.chosen).to(self.device)
        before = self._values(inputs, len(d.chosen))
        gains = np.empty(len(d.chosen))
        advantages(before, d.who, d.pay, learn.gae_lambda, gains)
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
        self.optimizer_step("actor", loss)
        return {
            "loss/actor": -surrogate.item(), "entropy": uncertainty.item(), "kl": distance.item(),
            "clipped": (ratio != clipped).float().mean().item(),
        }  # fmt: skip

    def _critic_step(self, inputs: Chosen | Columns, targets: torch.Tensor) -> float:
        with mixed(self.device, self.precision):
            loss = mse_loss(self.critic(inputs)[:, 0], targets)
        return self.optimizer_step("critic", loss)

    def _restore_pool(self, arrays: Arrays) -> None:
        self.pool.restore(arrays, module_arrays(self.actor))
        self._share_out_pool()

    def training_arrays(self) -> Arrays:
        """The weights of all networks, for another run to begin with."""
        networks = {"average": self.weights(), **{name: module_arrays(net) for name, net in self.networks.items()}}
        return {key: array for name, arrays in networks.items() for key, array in with_prefix(name, arrays).items()}
