"""Distilling: one network taught what other agents know: solved tables, earlier networks, a mix of them by shares.

    python -m train distil configs/duel-distill.yaml --out runs/duel-distilled
    python -m train distil configs/duel-distill.yaml teacher.agent=mix:exact=.5,table=.5

Positions come from the teacher's own play, mixed with uniform decisions so that its answers to strange play are learnt
too; the network learns the teacher's probabilities by cross-entropy. A position counts by the chance that the teacher in the
seat to act would have come to it, given what the others did: strange play of others is answered, its own is not
dwelt on. The same command goes on after a kill.
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
    """A name, a checkpoint folder, package.module:factory, or a mix like mix:exact=.5,table=.5, that states probabilities."""
    uniform: Share = 0.1
    """Share of decisions that are uniform, to learn the answers to strange play."""
    by_reach: bool = True
    """Whether positions count by the chance that the teacher would have come there by its own earlier actions of the round."""


class DistilConfig(SelfPlayConfig):
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

    config: DistilConfig

    def __init__(self, config: DistilConfig) -> None:
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
        columns = (torch.from_numpy(np.concatenate(c)).to(self.device) for c in zip(*parts, strict=True))
        inputs, sizes, wanted, counts = columns
        loss = self.learn(inputs.to(self.precision), log_sizes(sizes.float()), wanted, counts)
        self.decisions += len(inputs)
        self.ema.add(len(inputs))
        return {"loss/divergence": loss}

    def _round(self, tables: Tables) -> list[tuple[npt.NDArray[Any], ...]]:
        """Play every table to the end of its round; returns by step inputs, sizes, the teacher's cell probabilities, and how
        much each position counts."""
        tables.deal_finished()
        teacher: Policy = self.teachers[tables.variant, tables.num_seats]
        batch, rows = tables.batch, np.arange(tables.batch.num_games)
        found: list[tuple[npt.NDArray[Any], ...]] = []
        reach = np.ones(
            (batch.num_games, tables.num_seats), np.float32
        )  # the teacher's, over that of what is played here
        while rows.size:
            seen, masks = batch.observe(rows), batch.masks(rows)
            probs = ask_probs(teacher, seen, masks, places(batch, rows))
            encoded = features.encode(seen, masks, sight(tables.variant, tables.num_seats))
            cells = np.empty((rows.size, features.NUM_CELLS), np.float32)
            gather_rows(probs, encoded.cells, cells)
            at, seats = np.arange(rows.size), batch.seat[rows].astype(np.int64)
            found.append((encoded.inputs, encoded.sizes, cells, reach[rows, seats]))
            uniform, share = masks / masks.sum(axis=1, keepdims=True), self.config.teacher.uniform
            astray = (self.rng.random(rows.size) < share)[:, None]
            chosen = sample(np.where(astray, uniform, probs), self.rng)
            if self.config.teacher.by_reach:
                drawn = (1 - share) * probs[at, chosen] + share * uniform[at, chosen]
                reach[rows, seats] *= probs[at, chosen] / drawn
            rows = rows[~batch.act(chosen, rows)]
        return found

    def learn(self, inputs: torch.Tensor, sizes: torch.Tensor, wanted: torch.Tensor, counts: torch.Tensor) -> float:
        """Some epochs of minibatches; returns the mean divergence of the student from the teacher, by what positions count."""
        learn = self.config.learn
        self.set_rates("actor")
        total, count = 0.0, 0
        for _ in range(learn.epochs):
            for rows in torch.randperm(len(inputs), device=self.device).split(learn.minibatch):
                with mixed(self.device, self.precision):
                    log_p = log_probs(self.actor(inputs[rows]), sizes[rows])
                known = wanted[rows]
                apart = (known * (torch.log(known.clamp(min=1e-30)) - log_p)).sum(dim=1)
                loss = (counts[rows] * apart).sum() / counts[rows].sum().clamp(min=1e-6)
                total += self.optimizer_step("actor", loss)
                count += 1
        return total / count

    def start_from(self, arrays: Arrays) -> None:
        """Take over the averaged actor of another run's state, nothing else."""
        load_module(self.actor, under_prefix("average", arrays))
