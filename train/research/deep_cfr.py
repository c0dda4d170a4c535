"""Deep CFR (Brown, Lerer, Gross and Sandholm, "Deep Counterfactual Regret Minimization", 2019) on a round between two seats.

    python -m train deep-cfr configs/deep_cfr.yaml round.dice=[2,1] --out runs/deep-cfr

Each iteration walks the round many times for each seat by external sampling: all actions of that seat are explored, one
of the other's. A network per seat learns the regrets found there, weighted by iteration (linear CFR), and the next
strategy matches its answer; another learns the average of all strategies, which is what plays.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from rich.console import Console
from torch import Tensor
from tyro.conf import Positional

from perudo_env.policy import sample
from train.core.config import Count, NumTables, Rate, Section, Widths
from train.core.loop import Figures, run_command
from train.core.options import Training
from train.core.sections import RunSection
from train.core.state import (
    Arrays,
    adam_arrays,
    load_adam,
    load_module,
    load_torch_generator,
    module_arrays,
    take_count,
    torch_generator,
    under_prefix,
    with_prefix,
)
from train.research.memory import Memory
from train.research.small_round import Int8Array, JudgeSection, SmallRound, SmallRoundSection, train_round
from train.selfplay.networks import MLP, descend, log_probs, log_sizes

FloatArray = npt.NDArray[np.float64]


class LearnSection(Section):
    """The algorithm."""

    total_decisions: Count = 600_000
    """Decisions met on all walks."""
    walks: NumTables = 400
    """Deals walked per seat and iteration."""
    hidden: Widths = (64, 64)
    """Widths of all networks."""
    memory: Count = 300_000
    """Rows of each of the three memories."""
    minibatch: Count = 1024
    """Rows of one optimiser step."""
    regret_steps: Count = 150
    """Optimiser steps per seat and iteration on the regrets."""
    average_steps: Count = 150
    """Optimiser steps per iteration on the average strategy."""
    afresh: bool = False
    """Whether each iteration's regret network begins anew, as in the paper."""
    learning_rate: Rate = 1e-3
    """Of all networks."""


class Config(Section):
    """All of a configuration of ``train.research.deep_cfr``."""

    round: SmallRoundSection = SmallRoundSection()
    learn: LearnSection = LearnSection()
    evaluation: JudgeSection = JudgeSection()
    run: RunSection = RunSection()


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


class DeepCFR:
    """Networks and memories of one run."""

    def __init__(self, config: Config) -> None:
        torch.manual_seed(config.run.seed)
        torch.set_num_threads(config.run.torch_threads)
        self.config, self.decisions, self.iterations = config, 0, 0
        self.game = SmallRound(config.round)
        self.rng = np.random.default_rng(config.run.seed)
        width, actions = (self.game.width, np.int8), (self.game.num_actions, np.float32)
        columns: dict[str, tuple[int, Any]] = {"sights": width, "targets": actions, "weight": (1, np.float32)}
        size = config.learn.memory
        self.regret_memories = [Memory(size, columns, reservoir=True) for _ in range(2)]
        self.average_memory = Memory(size, columns, reservoir=True)
        self.regret_nets = [self._network() for _ in range(2)]
        for network in self.regret_nets:  # the first strategy is uniform
            torch.nn.init.zeros_(network.get_parameter(f"layers.{len(network.layers) - 1}.weight"))
        self.average_net = self._network()
        self.average_adam = torch.optim.Adam(self.average_net.parameters(), lr=config.learn.learning_rate)

    def _network(self) -> MLP:
        return MLP(self.game.num_inputs, self.config.learn.hidden, self.game.num_actions)

    def step(self) -> Figures:
        """One iteration: both seats in turn."""
        learn, figures = self.config.learn, {}
        self.iterations += 1
        for seat in (0, 1):
            self.decisions += self._walk(seat)
            if learn.afresh:
                self.regret_nets[seat] = self._network()
            adam = torch.optim.Adam(self.regret_nets[seat].parameters(), lr=learn.learning_rate)
            memory = self.regret_memories[seat]
            figures[f"loss/regrets {seat}"] = self._fit(
                self.regret_nets[seat], adam, memory, learn.regret_steps, squares
            )
        figures["loss/average"] = self._fit(
            self.average_net, self.average_adam, self.average_memory, learn.average_steps, cross_entropy
        )
        return {**figures, "iterations": float(self.iterations)}

    def strategy(self, sights: Int8Array, seats: npt.NDArray[np.int8]) -> FloatArray:
        """What the latest networks play, ``(n, num_actions)``."""
        regrets = np.zeros((len(sights), self.game.num_actions))
        with torch.no_grad():
            for seat, network in enumerate(self.regret_nets):
                rows = np.flatnonzero(seats == seat)
                if rows.size:
                    regrets[rows] = network(self.game.inputs(sights[rows])).numpy()
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
        """What each round of a level is worth to ``seat``; its regrets, and the other's strategy, go to the memories."""
        values = np.zeros_like(level.probs)
        values[level.parents, level.actions] = level.pay
        # of the other seat one action was drawn: its value stands for all
        worth = np.where(level.mine, (level.probs * values).sum(axis=1), values.sum(axis=1))
        regrets = (values - worth[:, None]) * self.game.masks(level.sights)
        for memory, rows, targets in (
            (self.regret_memories[seat], level.mine, regrets), (self.average_memory, ~level.mine, level.probs),
        ):  # fmt: skip
            weight = np.full(int(rows.sum()), self.iterations)
            memory.add(self.rng, sights=level.sights[rows], targets=targets[rows], weight=weight)
        return worth

    def _fit(
        self, network: MLP, adam: torch.optim.Optimizer, memory: Memory, steps: int, loss_of: Callable[..., Tensor]
    ) -> float:
        """Minibatches from a memory, each row weighted by its iteration; returns the mean loss."""
        total = 0.0
        for _ in range(steps):
            rows = memory.sample(self.rng, self.config.learn.minibatch)
            masks = torch.from_numpy(self.game.masks(rows["sights"]).astype(np.float32))
            losses = loss_of(network(self.game.inputs(rows["sights"])), torch.from_numpy(rows["targets"]), masks)
            loss = (torch.from_numpy(rows["weight"])[:, 0] / self.iterations * losses).mean()
            total += descend(adam, network, loss)
        return total / steps

    def weights(self) -> Arrays:
        """What plays: the network of the average strategy."""
        return module_arrays(self.average_net)

    def _parts(self) -> tuple[dict[str, MLP], dict[str, Memory]]:
        networks = {"regrets0": self.regret_nets[0], "regrets1": self.regret_nets[1], "average": self.average_net}
        memories = {
            "memory0": self.regret_memories[0],
            "memory1": self.regret_memories[1],
            "memory": self.average_memory,
        }
        return networks, memories

    def state(self) -> tuple[Arrays, dict[str, Any]]:
        """See :class:`train.core.loop.Trainer`."""
        networks, memories = self._parts()
        arrays = {**with_prefix("adam", adam_arrays(self.average_adam)), **torch_generator()}
        for name, network in networks.items():
            arrays |= with_prefix(name, module_arrays(network))
        for name, memory in memories.items():
            arrays |= with_prefix(name, memory.arrays())
        return arrays, {"decisions": self.decisions, "iterations": self.iterations, "rng": self.rng.bit_generator.state}

    def restore(self, arrays: Arrays, about: Mapping[str, Any]) -> None:
        """See :class:`train.core.loop.Trainer`."""
        networks, memories = self._parts()
        for name, network in networks.items():
            load_module(network, under_prefix(name, arrays))
        for name, memory in memories.items():
            memory.restore(under_prefix(name, arrays), {"sights": 1})
        load_adam(self.average_adam, under_prefix("adam", arrays))
        load_torch_generator(arrays)
        self.decisions, self.iterations = take_count(about, "decisions"), take_count(about, "iterations")
        self.rng.bit_generator.state = about["rng"]


def squares(answers: Tensor, targets: Tensor, masks: Tensor) -> Tensor:
    """The squared error over legal actions, ``(batch,)``."""
    return ((answers - targets) ** 2 * masks).sum(dim=1)


def cross_entropy(answers: Tensor, targets: Tensor, masks: Tensor) -> Tensor:
    """Between the softmax over legal actions and target probabilities, ``(batch,)``; its minimum is their mean."""
    return -(targets * log_probs(answers, log_sizes(masks))).sum(dim=1)


def train(config: Config, folder: Path, console: Console) -> Figures:
    """Train in ``folder``, going on from the state there; returns the last evaluation."""
    return train_round(
        DeepCFR(config), folder, config.learn.total_decisions, console, "Deep CFR", "python -m train deep-cfr"
    )


@dataclass(frozen=True)
class DeepCfrOptions(Training):
    """A run on a small round."""

    config: Positional[Path] = Path("configs/deep_cfr.yaml")
    """A YAML file."""


def run(options: DeepCfrOptions) -> None:
    """Train on a small round."""
    run_command("deep_cfr", Config, options, SMOKE, train)
