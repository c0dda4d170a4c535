"""Deep CFR (Brown, Lerer, Gross and Sandholm, "Deep Counterfactual Regret Minimization", 2019) on a round between two seats.

    python -m train deep-cfr configs/deep_cfr.yaml round.dice=[2,1] --out runs/deep-cfr

Each iteration walks the round many times for each seat by external sampling: all actions of that seat are explored, one
of the other's. A network per seat learns the regrets found there, weighted by iteration (linear CFR), and the next
strategy matches its answer; another learns the average of all strategies, which is what plays.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from rich.console import Console
from torch import Tensor
from torch.optim import Adam
from tyro.conf import Positional

from perudo_env.policy import sample
from train.core.config import Count, NumTables
from train.core.loop import Figures, run_command
from train.core.measured import Measured
from train.core.options import Training
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
REGRETS, POLICY = ("regrets0", "regrets1"), "policy"  # networks: of each seat, and of the average strategy


class DeepCFRLearnSection(RoundLearnSection):
    """The algorithm."""

    total_decisions: Count = 600_000
    """Decisions met on all walks."""
    walks: NumTables = 400
    """Deals walked per seat and iteration."""
    memory: Count = 300_000
    """Rows of each of the three replay buffers."""
    minibatch: Count = 1024
    """Rows of one optimiser step."""
    regret_steps: Count = 150
    """Optimiser steps per seat and iteration on the regrets."""
    average_steps: Count = 150
    """Optimiser steps per iteration on the average strategy."""
    afresh: bool = False
    """Whether each iteration's regret network begins anew, as in the paper."""


class DeepCFRConfig(RoundConfig):
    """All of a configuration of ``train.research.deep_cfr``."""

    learn: DeepCFRLearnSection = DeepCFRLearnSection()


SMOKE = (
    "learn.total_decisions=4000", "learn.walks=20", "learn.regret_steps=10", "learn.average_steps=10", "evaluation.every=2000",
    "run.save_every=0",
)  # fmt: skip


def match_regrets(regrets: FloatArray, masks: Int8Array) -> FloatArray:
    """Probabilities in proportion to positive regrets; where there is none, the actions of the highest (Brown et al., 4.1)."""
    positive = np.maximum(regrets, 0) * masks
    total = positive.sum(axis=1, keepdims=True)
    legal = np.where(masks > 0, regrets, -np.inf)
    highest = (legal == legal.max(axis=1, keepdims=True)).astype(np.float64)
    return np.where(total > 0, positive / np.where(total > 0, total, 1), highest / highest.sum(axis=1, keepdims=True))


@dataclass
class Level:
    """Rounds in which equally many actions have been taken, and what was tried in them."""

    sights: Int8Array
    mine: npt.NDArray[np.bool_]  # (n,): the seat walked for acts
    probs: FloatArray  # (n, num_actions)
    parents: npt.NDArray[np.int64]  # (children,): rows of this level
    actions: npt.NDArray[np.int64]  # (children,)
    pay: FloatArray  # (children,): to the seat walked for, where the round is over
    goes_on: npt.NDArray[np.int64]  # the children that are the next level


class DeepCFR(RoundTrainer):
    """Networks and replay buffers of one run: the regrets of each seat, and the average strategy."""

    counts = ("decisions", "iterations")

    def __init__(self, config: DeepCFRConfig) -> None:
        super().__init__(config)
        self.config, self.iterations = config, 0
        self.adam = partial(Adam, lr=config.learn.learning_rate)
        columns: dict[str, tuple[int, Any]] = {
            "sights": (self.game.width, np.int8), "targets": (self.game.num_actions, np.float32), "weight": (1, np.float32),
        }  # fmt: skip
        self.buffers = {
            name: ReplayBuffer(config.learn.memory, columns, reservoir=True, most={"sights": 1})
            for name in (*REGRETS, POLICY)
        }
        for name in REGRETS:  # their Adam begins anew in each iteration
            network = self.add_network(name, self.new_network())
            torch.nn.init.zeros_(network.layers[-1].weight)  # type: ignore[arg-type]  # the first strategy is uniform
        self.add_network(POLICY, self.new_network(), self.adam)
        self.plays(POLICY)
        for name, buffer in self.buffers.items():
            self.keep(f"{name}_buffer", buffer.arrays, buffer.restore)

    def step(self) -> Figures:
        """One iteration: both seats in turn."""
        learn, figures = self.config.learn, {}
        self.iterations += 1
        for seat, name in enumerate(REGRETS):
            self.decisions += self._walk(seat)
            if learn.afresh:
                self.networks[name] = self.new_network()
            self.optimizers[name] = self.adam(self.networks[name].parameters())
            figures[f"loss/regrets {seat}"] = self._fit(name, learn.regret_steps, squares)
        figures["loss/average"] = self._fit(POLICY, learn.average_steps, cross_entropy)
        return {**figures, "iterations": float(self.iterations)}

    def strategy(self, sights: Int8Array, seats: npt.NDArray[np.int8]) -> FloatArray:
        """What the latest networks play, ``(n, num_actions)``."""
        regrets = np.zeros((len(sights), self.game.num_actions))
        with torch.no_grad():
            for seat, name in enumerate(REGRETS):
                rows = np.flatnonzero(seats == seat)
                if rows.size:
                    regrets[rows] = self.networks[name](self.game.inputs(sights[rows])).numpy()
        return match_regrets(regrets, self.game.masks(sights))

    def _walk(self, seat: int) -> int:
        """Walk for ``seat`` from new deals down, level by level, and back; remembers what was found, returns decisions met."""
        levels, batch = [], self.game.deal(self.config.learn.walks, self.rng)
        while batch.num_games:
            sights, mine = self.game.sights(batch), batch.seat == seat
            probs = self.strategy(sights, batch.seat)
            explored = self.game.masks(sights) * mine[:, None]
            others = np.flatnonzero(~mine)
            explored[others, sample(probs[others], self.rng)] = 1
            parents, actions = np.nonzero(explored)
            children = batch.take(parents)
            children.act(actions)
            goes_on = np.flatnonzero(~children.is_over)
            levels.append(Level(sights, mine, probs, parents, actions, children.returns[:, seat], goes_on))
            batch = children.take(goes_on)
        worth = np.zeros(0)
        for level in reversed(levels):
            level.pay[level.goes_on] = worth
            worth = self._remember(seat, level)
        return sum(len(level.sights) for level in levels)

    def _remember(self, seat: int, level: Level) -> FloatArray:
        """What each round of a level is worth to ``seat``; its regrets, and the other's strategy, go to the replay buffers."""
        values = np.zeros_like(level.probs)
        values[level.parents, level.actions] = level.pay
        # of the other seat one action was drawn: its value stands for all
        worth = np.where(level.mine, (level.probs * values).sum(axis=1), values.sum(axis=1))
        regrets = (values - worth[:, None]) * self.game.masks(level.sights)
        for name, rows, targets in (
            (REGRETS[seat], level.mine, regrets), (POLICY, ~level.mine, level.probs),
        ):  # fmt: skip
            weight = np.full(int(rows.sum()), self.iterations)
            self.buffers[name].add(self.rng, sights=level.sights[rows], targets=targets[rows], weight=weight)
        return worth

    def _fit(self, name: str, steps: int, loss_of: Callable[..., Tensor]) -> float:
        """Minibatches of a network's replay buffer, each row weighted by its iteration; returns the mean loss."""
        total = 0.0
        for _ in range(steps):
            rows = self.buffers[name].sample(self.rng, self.config.learn.minibatch)
            answers = self.networks[name](self.game.inputs(rows["sights"]))
            losses = loss_of(answers, torch.from_numpy(rows["targets"]), self.masks(rows))
            loss = (torch.from_numpy(rows["weight"])[:, 0] / self.iterations * losses).mean()
            total += self.optimizer_step(name, loss)
        return total / steps


def squares(answers: Tensor, targets: Tensor, masks: Tensor) -> Tensor:
    """The squared error over legal actions, ``(batch,)``."""
    return ((answers - targets) ** 2 * masks).sum(dim=1)


def cross_entropy(answers: Tensor, targets: Tensor, masks: Tensor) -> Tensor:
    """Between the softmax over legal actions and target probabilities, ``(batch,)``; its minimum is their mean."""
    return -(targets * log_probs(answers, log_sizes(masks))).sum(dim=1)


def train(config: DeepCFRConfig, folder: Path, console: Console) -> list[Measured]:
    """Train in ``folder``, going on from the state there; returns the last evaluation."""
    return train_round(DeepCFR(config), folder, console, "Deep CFR", "python -m train deep-cfr")


@dataclass(frozen=True)
class DeepCFROptions(Training):
    """A run on a small round."""

    keys = DeepCFRConfig

    config: Positional[Path] = Path("configs/deep_cfr.yaml")
    """A YAML file."""


def run(options: DeepCFROptions) -> None:
    """Train on a small round."""
    run_command("deep_cfr", DeepCFRConfig, options, SMOKE, train)
