"""Self-play by PPO: one network in all seats, whole games or single rounds paid with continuation values.

    python -m train ppo configs/duel.yaml learn.total_decisions=2000000 --out runs/duel

PPO (Schulman et al. 2017) with an annealed entropy bonus. By ``learn.magnet`` the policy is drawn to another one, which keeps
self-play from circling: its last, its running average, or a reference that is refreshed now and then. By ``learn.critic``
the advantages are those of the action taken (GAE), or of all actions by Expected SARSA(lambda). Sources stand at the
options. The critic sees all dice, in training only. The average of the weights is what plays. The same command goes on with
a run that was killed.
"""

from __future__ import annotations

from copy import deepcopy

import numpy as np
import numpy.typing as npt
import torch

from agents.learned import features
from train.core.backends import Backend
from train.core.loop import Figures
from train.core.state import Arrays, load_module, module_arrays, prefixed, with_prefix
from train.selfplay import critic_features, rollouts
from train.selfplay.collector import Decisions, Rounds
from train.selfplay.critics import CRITICS, Estimates
from train.selfplay.networks import MLP, annealed, entropy, kl, log_probs, log_sizes, mixed, reads_sparse
from train.selfplay.options import PPOConfig, PPOLearnSection, groups_of
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


TITLES = {
    "none": "PPO",
    "last": "Magnetic mirror descent (PPO drawn to its last policy)",
    "average": "PPO drawn to its running average (EMAgnet)",
    "reference": "Nash policy gradient (PPO drawn to a reference that is refreshed)",
}


def title_of(learn: PPOLearnSection) -> str:
    """What an algorithm is called, by its switches."""
    return TITLES[learn.magnet] + (", with a critic over actions" if learn.critic == "action_values" else "")


class PPO(SelfPlayTrainer):
    """Actor, critic, magnet, continuation values, tables and the pool of one run."""

    counts: tuple[str, ...] = ("decisions", "next_snapshot")
    config: PPOConfig

    def __init__(self, config: PPOConfig, backend: Backend | None = None) -> None:
        super().__init__(config)
        inputs = features.NUM_INPUTS + critic_features.NUM_INPUTS
        self.reading = CRITICS[config.learn.critic]
        critic = MLP(inputs, config.learn.critic_hidden, self.reading.num_outputs).to(self.device)
        self.critic = self.add_network("critic", critic, self.adam)
        self._add_magnet()
        self.values = ContinuationValues(config.values.hidden, config.values.learning_rate)
        self.add_network("values", self.values, lambda _: self.values.optimizer)
        self.pool = Pool(config.pool.scripted, config.pool.scripted_share, config.pool.size)
        self.keep("pool", self.pool.arrays, self._restore_pool)
        self.add_tables(groups_of(config.tables, config.play, self.rng, config.pool, self.pool.weights()))
        self.backend = backend
        actor = rollouts.torch_actor(self.actor, self.device, self.precision)
        self.collector = rollouts.collector_of(config, actor, self.pool.policy, self.rng)
        self.next_snapshot = config.pool.every

    def _add_magnet(self) -> None:
        """A network beside the actor for a magnet that is another one; a reference is part of the state."""
        learn = self.config.learn
        self.magnet = deepcopy(self.actor) if learn.magnet in ("average", "reference") else self.actor
        if learn.magnet == "reference":
            self.next_reference = learn.reference_every
            self.counts = (*self.counts, "next_reference")
            self.keep("reference", lambda: module_arrays(self.magnet), lambda arrays: load_module(self.magnet, arrays))

    def step(self) -> Figures:
        """Play one round or game at a share of the tables, and learn from it."""
        decisions, rounds = self.collect(self.draw_groups())
        figures = self.learn(decisions)
        if rounds is not None:
            inputs, targets, squares = map(torch.from_numpy, (rounds.inputs, rounds.targets, rounds.squares))
            figures["loss/values"] = self.values.learn(inputs, targets, squares, 1024)
        self.decisions += len(decisions.chosen)
        self.ema.add(len(decisions.chosen))
        if self.config.learn.magnet == "reference" and self.decisions >= self.next_reference:
            self.next_reference = self.decisions + self.config.learn.reference_every
            load_module(self.magnet, module_arrays(self.actor))
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
        chosen = torch.from_numpy(d.chosen).to(self.device)
        told = self._answers(self.critic, inputs, len(chosen)).numpy()
        worth = self.reading.estimate(told, d, learn.gae_lambda, learn.uniform).to(self.device)
        magnet = self._magnet(d, inputs, sizes)
        sums: dict[str, float] = {}
        count = 0
        for _ in range(learn.epochs):
            for rows in torch.randperm(len(chosen), device=self.device).split(learn.minibatch):
                seen = inputs.pick(rows)
                part = worth.rows(rows)
                drawn_to = None if magnet is None else magnet.index_select(0, rows)
                at = chosen.index_select(0, rows)
                figures = self._actor_step(bonus, seen, sizes.index_select(0, rows), at, part, drawn_to)
                figures["loss/critic"] = self._critic_step(seen, at, part)
                for name, value in figures.items():
                    sums[name] = sums.get(name, 0.0) + value
                count += 1
        return {**{k: v / count for k, v in sums.items()}, "explained": worth.explained, "rate": rate, "bonus": bonus}

    @torch.no_grad()
    def _answers(self, network: MLP, inputs: Inputs, count: int) -> torch.Tensor:
        """What a network says of all rows, float32 on the CPU."""
        with mixed(self.device, self.precision):
            parts = [network(inputs.pick(part)) for part in torch.arange(count).split(8192)]
        return torch.cat(parts).cpu()

    def _magnet(self, d: Decisions, inputs: Inputs, sizes: torch.Tensor) -> torch.Tensor | None:
        """The log-probabilities of what the policy is drawn to, ``(n, NUM_CELLS)``; None without a magnet."""
        if self.config.learn.magnet == "last":
            return torch.from_numpy(d.log_probs).to(self.device)
        if self.config.learn.magnet == "none":
            return None
        if self.config.learn.magnet == "average":
            load_module(self.magnet, self.ema.weights())
        return log_probs(self._answers(self.magnet, inputs, len(sizes)).to(self.device), sizes)

    def _actor_step(
        self,
        bonus: float,
        inputs: Chosen | Columns,
        sizes: torch.Tensor,
        chosen: torch.Tensor,
        worth: Estimates,
        magnet: torch.Tensor | None,
    ) -> Figures:
        learn = self.config.learn
        with mixed(self.device, self.precision):
            log_p = log_probs(self.actor(inputs), sizes)
        ratio = torch.exp(log_p.gather(1, chosen[:, None])[:, 0] - worth.drawn)
        clipped = ratio.clamp(1 - learn.clip, 1 + learn.clip)
        surrogate = torch.minimum(ratio * worth.gains, clipped * worth.gains).mean()
        if worth.advantages is not None:
            surrogate = surrogate + (log_p.exp() * worth.advantages).sum(dim=1).mean()
        uncertainty = entropy(log_p).mean()
        loss = -surrogate - bonus * uncertainty
        if magnet is not None:
            distance = kl(magnet, log_p).mean()
            loss = loss + learn.kl * distance
        else:  # an estimate of the step from the actions taken is enough to look at
            distance = (ratio - 1 - ratio.log()).mean()
        self.optimizer_step("actor", loss)
        return {
            "loss/actor": -surrogate.item(), "entropy": uncertainty.item(), "kl": distance.item(),
            "clipped": (ratio != clipped).float().mean().item(),
        }  # fmt: skip

    def _critic_step(self, inputs: Chosen | Columns, chosen: torch.Tensor, worth: Estimates) -> float:
        with mixed(self.device, self.precision):
            loss = self.reading.loss(self.critic(inputs), chosen, worth.targets, worth.learns)
        return self.optimizer_step("critic", loss)

    def start_from(self, arrays: Arrays) -> None:
        """Take over the networks of another run's state; a critic of another kind begins anew, and a reference from the actor."""
        last = f"critic.layers.{len(self.config.learn.critic_hidden)}.bias"
        if last in arrays and arrays[last].shape != (self.reading.num_outputs,):
            arrays = {**arrays, **with_prefix("critic", module_arrays(self.critic))}
        super().start_from(arrays)
        load_module(self.magnet, module_arrays(self.actor))

    def meet(self, weights: Arrays) -> None:
        """Have a network of these weights as the one opponent of the pool, in all games from now on."""
        self.pool.restore(with_prefix("0", weights), weights)
        self._share_out_pool()
        for tables in self.groups:
            tables.deal(np.arange(tables.batch.num_games))

    def _restore_pool(self, arrays: Arrays) -> None:
        self.pool.restore(arrays, module_arrays(self.actor))
        self._share_out_pool()

    def training_arrays(self) -> Arrays:
        """The weights of all networks, for another run to begin with."""
        networks = {"average": self.weights(), **{name: module_arrays(net) for name, net in self.networks.items()}}
        return prefixed(networks)
