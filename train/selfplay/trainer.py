"""The base of trainers of one network for every table: its device, and the tables of their configuration."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
import numpy.typing as npt
import torch

from agents.learned import features
from train.core.state import Arrays, load_module, take, under_prefix
from train.core.trainer import NetworkTrainer
from train.selfplay.collector import LEARNER, Tables
from train.selfplay.networks import MLP, annealed, device_of, precision, set_rate
from train.selfplay.options import SelfPlayConfig


class SelfPlayTrainer(NetworkTrainer):
    """A trainer of one actor, whose averaged weights play, on the tables of a configuration."""

    config: SelfPlayConfig

    def __init__(self, config: SelfPlayConfig) -> None:
        super().__init__(config.run, config.learn.total_decisions, config.evaluation.keep)
        self.config = config
        self.device = device_of(config.run.device)
        self.precision = precision(config.run.precision, self.device)
        self.adam = partial(torch.optim.Adam, lr=config.learn.learning_rate, eps=1e-6, fused=True)
        actor = MLP(features.NUM_INPUTS, config.learn.hidden, features.NUM_CELLS).to(self.device)
        self.actor = self.add_network("actor", actor, self.adam)
        self.plays("actor", config.learn.average)
        self.groups: list[Tables] = []

    def add_tables(self, groups: Sequence[Tables]) -> None:
        """Have tables to play at, in the state too."""
        for tables in groups:
            self.keep(f"tables.{len(self.groups)}", partial(_arrays_of, tables), partial(_restore, tables))
            self.groups.append(tables)

    def draw_groups(self) -> npt.NDArray[np.int64]:
        """The kinds of table that the next batch is played at."""
        count = min(self.config.play.groups_per_batch, len(self.groups))
        return self.rng.choice(len(self.groups), count, replace=False)

    @property
    def progress(self) -> float:
        """The share of the run that is done."""
        return self.decisions / self.total

    def set_rates(self, *names: str) -> float:
        """Give networks the learning rate of this point of the run; returns it."""
        rate = annealed(self.config.learn.learning_rate, self.config.learn.final_learning_rate, self.progress)
        for name in names:
            set_rate(self.optimizers[name], rate)
        return rate

    def start_from(self, arrays: Arrays) -> None:
        """Take over the networks of another run's state, nothing else."""
        for name, network in self.networks.items():
            load_module(network, under_prefix(name, arrays))


def _arrays_of(tables: Tables) -> Arrays:
    return {"states": tables.batch.states.view(np.uint8), "lineups": tables.lineups}


def _restore(tables: Tables, arrays: Arrays) -> None:
    tables.batch.restore(arrays["states"])
    tables.lineups[:] = take(arrays, "lineups", tables.lineups, LEARNER, len(tables.pool_weights))
