"""Neural fictitious self-play (Heinrich and Silver, "Deep Reinforcement Learning from Self-Play", 2016) on a small round.

    python -m train nfsp configs/nfsp.yaml round.dice=[2,1] --out runs/nfsp

In each round a seat plays, with the anticipatory chance, an epsilon-greedy best response, else the average strategy. A
Q network learns from the newest transitions in a replay buffer (DQN, with a target network); the average network learns
by supervision the best responses' actions from a reservoir of all. The average is what plays. Both seats share the
networks, whose inputs tell them apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from rich.console import Console
from torch.nn.functional import mse_loss
from torch.optim import Adam
from tyro.conf import Positional

from perudo_env.policy import sample
from train.core.config import Count, NumTables, Part, Rate, Share
from train.core.loop import Figures, run_command
from train.core.measured import Measured
from train.core.options import Training
from train.core.state import (
    Arrays,
    take,
)
from train.research.replay import ReplayBuffer
from train.research.small_round import (
    Int8Array,
    RoundConfig,
    RoundLearnSection,
    RoundTrainer,
    train_round,
)
from train.selfplay.networks import log_probs, log_sizes

FloatArray = npt.NDArray[np.float64]
NOTHING = -1  # no decision of a seat waits for what follows


class NFSPLearnSection(RoundLearnSection):
    """The algorithm."""

    tables: NumTables = 256
    """Rounds side by side."""
    steps: Count = 8
    """Decisions per table between updates."""
    anticipatory: Part = 0.5
    """Chance that a seat plays the best response in a round."""
    epsilon: Share = 0.06
    """Exploration of the best response at the start."""
    final_epsilon: Share = 0.0
    """Exploration of the best response at the end."""
    ring: Count = 100_000
    """Newest transitions that Q-learning draws from."""
    reservoir: Count = 500_000
    """Best responses' decisions, an equal sample of all, for the average strategy."""
    updates: Count = 64
    """Optimiser steps of each network after those steps."""
    q_learning_rate: Rate = 1e-3
    """Of the Q network; the other is the average network's."""
    target_every: Count = 50
    """Updates between two copies of the Q network to its target."""
    average: Part = 0.05
    """How far back the average network's averaged weights reach: a share of the run."""


class NFSPConfig(RoundConfig):
    """All of a configuration of ``train.research.nfsp``."""

    learn: NFSPLearnSection = NFSPLearnSection()


SMOKE = (
    "round.dice=[1, 1]", "learn.total_decisions=3000", "learn.tables=32", "learn.steps=8", "learn.updates=2", "evaluation.every=2000",
    "run.save_every=0",
)  # fmt: skip


class NFSP(RoundTrainer):
    """Networks, replay buffers and tables of one run."""

    counts = ("decisions", "updates")

    def __init__(self, config: NFSPConfig) -> None:
        super().__init__(config)
        self.config, self.updates, learn = config, 0, config.learn
        self.q = self.add_network("q", self.new_network(), partial(Adam, lr=learn.q_learning_rate))
        self.target = self.add_network("target", self.new_network())
        self.policy = self.add_network("policy", self.new_network(), partial(Adam, lr=learn.learning_rate))
        self.target.load_state_dict(self.q.state_dict())
        self.plays("policy", learn.average)
        sight, most = (self.game.width, np.int8), {"sights": 1, "after": 1, "actions": self.game.num_actions - 1}
        decision: dict[str, tuple[int, Any]] = {"sights": sight, "actions": (1, np.int64)}
        transition = {**decision, "pay": (1, np.float32), "after": sight}
        self.replay = ReplayBuffer(learn.ring, transition, reservoir=False, most=most)
        self.reservoir = ReplayBuffer(learn.reservoir, decision, reservoir=True, most=most)
        self.keep("replay", self.replay.arrays, self.replay.restore)
        self.keep("reservoir", self.reservoir.arrays, self.reservoir.restore)
        self.batch = self.game.deal(learn.tables, self.rng)
        self.responds = self._draw_modes(learn.tables)
        self.waiting = np.full((learn.tables, 2), NOTHING)  # each seat's last action, and the sight it was taken at
        self.seen = np.zeros((learn.tables, 2, self.game.width), np.int8)
        self.keep("tables", self._tables, self._restore_tables)

    def _tables(self) -> Arrays:
        states = self.batch.states.view(np.uint8)
        return {"states": states, "seen": self.seen, "waiting": self.waiting, "responds": self.responds}

    def _restore_tables(self, arrays: Arrays) -> None:
        self.seen = take(arrays, "seen", self.seen, 0, 1)
        self.waiting = take(arrays, "waiting", self.waiting, NOTHING, self.game.num_actions - 1)
        self.responds = take(arrays, "responds", self.responds)
        self.batch.restore(arrays["states"])

    def _draw_modes(self, count: int) -> npt.NDArray[np.bool_]:
        """Whether each seat plays the best response in a new round, ``(count, 2)``."""
        return self.rng.random((count, 2)) < self.config.learn.anticipatory

    def step(self) -> Figures:
        """Play some steps at all tables, then some updates of both networks."""
        learn = self.config.learn
        for _ in range(learn.steps):
            self._play()
        losses = {"loss/q": 0.0, "loss/average": 0.0}
        for _ in range(learn.updates):
            losses["loss/q"] += self._update_q() / learn.updates
            losses["loss/average"] += self._update_average() / learn.updates
        self.ema.add(learn.tables * learn.steps)
        return {**losses, "epsilon": self._epsilon()}

    def _epsilon(self) -> float:
        """Exploration: from ``epsilon`` to ``final_epsilon``, fast at first (the paper: by the inverse square root of play)."""
        learn = self.config.learn
        return learn.final_epsilon + (learn.epsilon - learn.final_epsilon) * (
            1 - min(1.0, self.decisions / learn.total_decisions) ** 0.5
        )

    @torch.no_grad()
    def _play(self) -> None:
        """One decision at every table, remembered once its seat's next turn or pay is known."""
        everyone = np.arange(self.batch.num_games)
        seats = self.batch.seat.astype(np.int64)
        sights = self.game.sights(self.batch)
        responding = self.responds[everyone, seats]
        actions = self._choose(sights, responding)
        self._remember(everyone, seats, np.zeros(everyone.size), sights)
        if responding.any():
            self.reservoir.add(self.rng, sights=sights[responding], actions=actions[responding])
        self.seen[everyone, seats], self.waiting[everyone, seats] = sights, actions
        self.batch.act(actions)
        over = np.flatnonzero(self.batch.is_over)
        returns = self.batch.returns
        for seat in (0, 1):
            self._remember(
                over, np.full(over.size, seat), returns[over, seat], np.zeros((over.size, self.game.width), np.int8)
            )
        self.waiting[over] = NOTHING
        self.game.deal_again(self.batch, over, self.rng.integers(2**63, size=over.size, dtype=np.uint64))
        self.responds[over] = self._draw_modes(over.size)
        self.decisions += everyone.size

    def _choose(self, sights: Int8Array, responding: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
        """Actions: of the average strategy, or where ``responding`` of the epsilon-greedy best response."""
        masks = self.game.masks(sights)
        inputs = self.game.inputs(sights)
        probs = log_probs(self.policy(inputs), log_sizes(torch.from_numpy(masks).float())).exp().double().numpy()
        rows = np.flatnonzero(responding)
        if rows.size:
            values = np.where(masks[rows] > 0, self.q(inputs[rows]).numpy(), -np.inf)
            epsilon = self._epsilon()
            probs[rows] = epsilon * masks[rows] / masks[rows].sum(axis=1, keepdims=True)
            probs[rows, values.argmax(axis=1)] += 1 - epsilon
        return sample(probs, self.rng)

    def _remember(
        self, rows: npt.NDArray[np.int64], seats: npt.NDArray[np.int64], pay: FloatArray, after: Int8Array
    ) -> None:
        """Note what followed the last decision of one seat of each of ``rows``, where one waits: pay, and what it sees then."""
        known = np.flatnonzero(self.waiting[rows, seats] != NOTHING)
        r, s = rows[known], seats[known]
        self.replay.add(
            self.rng, sights=self.seen[r, s], actions=self.waiting[r, s], pay=pay[known], after=after[known]
        )

    def _update_q(self) -> float:
        """One step of Q-learning; the end of a round is a sight without a legal action."""
        if not len(self.replay):
            return 0.0
        rows = self.replay.sample(self.rng, self.config.learn.minibatch)
        masks = torch.from_numpy(self.game.masks(rows["after"]))
        with torch.no_grad():
            following = self.target(self.game.inputs(rows["after"])).masked_fill(masks == 0, -torch.inf).amax(dim=1)
            target = torch.from_numpy(rows["pay"])[:, 0] + torch.where(masks.any(dim=1), following, 0.0)
        values = self.q(self.game.inputs(rows["sights"])).gather(1, torch.from_numpy(rows["actions"]))[:, 0]
        loss = self.optimizer_step("q", mse_loss(values, target))
        self.updates += 1
        if self.updates % self.config.learn.target_every == 0:
            self.target.load_state_dict(self.q.state_dict())
        return loss

    def _update_average(self) -> float:
        """One supervised step towards the actions of all best responses so far."""
        if not len(self.reservoir):
            return 0.0
        rows = self.reservoir.sample(self.rng, self.config.learn.minibatch)
        log_p = log_probs(self.policy(self.game.inputs(rows["sights"])), log_sizes(self.masks(rows)))
        loss = -log_p.gather(1, torch.from_numpy(rows["actions"])).mean()
        return self.optimizer_step("policy", loss)


def train(config: NFSPConfig, folder: Path, console: Console) -> list[Measured]:
    """Train in ``folder``, going on from the state there; returns the last evaluation."""
    return train_round(NFSP(config), folder, console, "Neural fictitious self-play", "python -m train nfsp")


@dataclass(frozen=True)
class NFSPOptions(Training):
    """A run on a small round."""

    keys = NFSPConfig

    config: Positional[Path] = Path("configs/nfsp.yaml")
    """A YAML file."""


def run(options: NFSPOptions) -> None:
    """Train on a small round."""
    run_command("nfsp", NFSPConfig, options, SMOKE, train)
