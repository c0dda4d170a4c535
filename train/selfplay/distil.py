"""Distilling: one network taught what other agents know, solved tables where they reach, earlier networks elsewhere.

    python -m train distil configs/duel-distill.yaml --out runs/duel-distilled

Positions come from the teacher's own play, mixed with uniform decisions so that its answers to strange play are learnt
too; the network learns the teacher's probabilities by cross-entropy. The same command goes on after a kill.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import torch

import agents as registry
from agents.core.seated import sight
from agents.learned import features
from perudo_env.engine.jit import kernel
from perudo_env.game.asking import ask_probs, places
from perudo_env.policy import Policy, sample
from train.core.config import Section, Share
from train.core.loop import Figures
from train.core.state import Arrays, load_module, under_prefix
from train.selfplay.collector import Tables
from train.selfplay.networks import log_probs, log_sizes, mixed
from train.selfplay.options import SelfPlayConfig, groups_of
from train.selfplay.trainer import SelfPlayTrainer


class TeacherSection(Section):
    """Whom it learns from."""

    agent: str = "exact"
    """A name, a checkpoint folder or package.module:factory, that states probabilities."""
    uniform: Share = 0.1
    """Share of decisions that are uniform, to learn the answers to strange play."""


class Config(SelfPlayConfig):
    """All of a configuration of ``train.selfplay.distil``."""

    teacher: TeacherSection = TeacherSection()


SMOKE = (
    "play.tables=64", "learn.total_decisions=1500", "learn.minibatch=256", "evaluation.every=1000", "evaluation.games=8",
    "evaluation.rounds=[{variant: classic, dice: [1, 1]}]", "run.save_every=0",
)  # fmt: skip


@kernel
def gather_rows(probs: np.ndarray, cells: np.ndarray, out: np.ndarray) -> None:
    """Write the probability of each cell: the sum over its actions."""
    out[:] = 0
    for i in range(probs.shape[0]):
        for action in range(probs.shape[1]):
            out[i, cells[i, action]] += probs[i, action]


class Distiller(SelfPlayTrainer):
    """Student, teacher and tables of one run."""

    config: Config

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self.add_tables(groups_of(config.tables, config.play, self.rng))
        kinds = {(t.variant, t.num_seats) for t in self.groups}
        self.teachers = {(v, n): registry.make(config.teacher.agent, v, n) for v, n in kinds}
        if any(isinstance(t, registry.ActOnly) for t in self.teachers.values()):
            raise ValueError(
                f"teacher.agent = {config.teacher.agent!r} states no probabilities, which are what is learnt"
            )

    def step(self) -> Figures:
        """Let the teacher play one round at a share of the tables, and learn its choices."""
        parts = [part for i in self.draw_groups() for part in self._round(self.groups[i])]
        inputs, sizes, wanted = (torch.from_numpy(np.concatenate(c)).to(self.device) for c in zip(*parts, strict=True))
        loss = self.learn(inputs.to(self.precision), log_sizes(sizes.float()), wanted)
        self.decisions += len(inputs)
        self.ema.add(len(inputs))
        return {"loss/divergence": loss}

    def _round(self, tables: Tables) -> list[tuple[npt.NDArray[Any], ...]]:
        """Play every table to the end of its round; returns inputs, sizes and the teacher's cell probabilities, by step."""
        tables.deal_finished()
        teacher: Policy = self.teachers[tables.variant, tables.num_seats]
        batch, rows = tables.batch, np.arange(tables.batch.num_games)
        found: list[tuple[npt.NDArray[Any], ...]] = []
        while rows.size:
            seen, masks = batch.observe(rows), batch.masks(rows)
            probs = ask_probs(teacher, seen, masks, places(batch, rows))
            encoded = features.encode(seen, masks, sight(tables.variant, tables.num_seats))
            cells = np.empty((rows.size, features.NUM_CELLS), np.float32)
            gather_rows(probs, encoded.cells, cells)
            found.append((encoded.inputs, encoded.sizes, cells))
            astray = (self.rng.random(rows.size) < self.config.teacher.uniform)[:, None]
            rows = rows[
                ~batch.act(sample(np.where(astray, masks / masks.sum(axis=1, keepdims=True), probs), self.rng), rows)
            ]
        return found

    def learn(self, inputs: torch.Tensor, sizes: torch.Tensor, wanted: torch.Tensor) -> float:
        """Some epochs of minibatches; returns the mean divergence of the student from the teacher."""
        learn = self.config.learn
        self.set_rates("actor")
        total, count = 0.0, 0
        for _ in range(learn.epochs):
            for rows in torch.randperm(len(inputs), device=self.device).split(learn.minibatch):
                with mixed(self.device, self.precision):
                    log_p = log_probs(self.actor(inputs[rows]), sizes[rows])
                known = wanted[rows]
                loss = (known * (torch.log(known.clamp(min=1e-30)) - log_p)).sum(dim=1).mean()
                total += self.optimizer_step("actor", loss)
                count += 1
        return total / count

    def start_from(self, arrays: Arrays) -> None:
        """Take over the averaged actor of another run's state, nothing else."""
        load_module(self.actor, under_prefix("average", arrays))
