"""Teach one network what other agents know: solved tables where they reach, earlier networks elsewhere.

    python -m train distil configs/duel-distill.yaml --out runs/duel-distilled

Positions come from the teacher's own play, mixed with uniform decisions so that its answers to strange play are learnt
too; the network learns the teacher's probabilities by cross-entropy. The same command goes on after a kill.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from pydantic import Field

import agents as registry
from agents.core.seated import sight
from agents.learned import relative
from perudo_env.engine.jit import kernel
from perudo_env.game.asking import ask_probs, places
from perudo_env.policy import Policy, sample
from train.core.config import Section, Share
from train.core.loop import Figures
from train.core.sections import EvaluationSection, NetworkSection
from train.core.state import (
    Arrays,
    adam_arrays,
    load_adam,
    load_module,
    load_torch_generator,
    module_arrays,
    take_count,
    take_weights,
    torch_generator,
    under_prefix,
    with_prefix,
)
from train.selfplay.collector import Tables
from train.selfplay.networks import MLP, annealed, descend, device_of, log_probs, log_sizes, mixed, precision, set_rate
from train.selfplay.options import PlaySection, SelfPlayRunSection, TablesSection, groups_of
from train.selfplay.pool import Average


class TeacherSection(Section):
    """Whom it learns from."""

    agent: str = "exact"
    """A name, a checkpoint folder or package.module:factory, that states probabilities."""
    uniform: Share = 0.1
    """Share of decisions that are uniform, to learn the answers to strange play."""


class Config(Section):
    """All of a configuration of ``train.selfplay.distil``."""

    tables: tuple[TablesSection, ...] = Field(default=(TablesSection(),), min_length=1)
    play: PlaySection = PlaySection()
    teacher: TeacherSection = TeacherSection()
    learn: NetworkSection = NetworkSection()
    evaluation: EvaluationSection = EvaluationSection()
    run: SelfPlayRunSection = SelfPlayRunSection()


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


class Distiller:
    """Student, teacher and tables of one run."""

    def __init__(self, config: Config) -> None:
        torch.manual_seed(config.run.seed)
        torch.set_num_threads(config.run.torch_threads)
        self.config, self.decisions = config, 0
        self.device = device_of(config.run.device)
        self.precision = precision(config.run.precision, self.device)
        self.student = MLP(relative.NUM_INPUTS, config.learn.hidden, relative.NUM_CELLS).to(self.device)
        self.optimizer = torch.optim.Adam(
            self.student.parameters(), lr=config.learn.learning_rate, eps=1e-6, fused=True
        )
        self.rng = np.random.default_rng(config.run.seed)
        self.groups = groups_of(config.tables, config.play, self.rng)
        kinds = {(t.variant, t.num_seats) for t in self.groups}
        self.teachers = {(v, n): registry.make(config.teacher.agent, v, n) for v, n in kinds}
        if any(isinstance(t, registry.ActOnly) for t in self.teachers.values()):
            raise ValueError(
                f"teacher.agent = {config.teacher.agent!r} states no probabilities, which are what is learnt"
            )
        self.average: Average | None = None

    def step(self) -> Figures:
        """Let the teacher play one round at a share of the tables, and learn its choices."""
        count = min(self.config.play.groups_per_batch, len(self.groups))
        parts = [
            part
            for i in self.rng.choice(len(self.groups), count, replace=False)
            for part in self._round(self.groups[i])
        ]
        inputs, sizes, wanted = (torch.from_numpy(np.concatenate(c)).to(self.device) for c in zip(*parts, strict=True))
        loss = self.learn(inputs.to(self.precision), log_sizes(sizes.float()), wanted)
        self.decisions += len(inputs)
        if self.average is None:
            self.average = Average(self.config.learn.average * self.config.learn.total_decisions / len(inputs))
        self.average.add(module_arrays(self.student))
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
            encoded = relative.encode(seen, masks, sight(tables.variant, tables.num_seats))
            cells = np.empty((rows.size, relative.NUM_CELLS), np.float32)
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
        set_rate(
            self.optimizer,
            annealed(learn.learning_rate, learn.final_learning_rate, self.decisions / learn.total_decisions),
        )
        total, count = 0.0, 0
        for _ in range(learn.epochs):
            for rows in torch.randperm(len(inputs), device=self.device).split(learn.minibatch):
                with mixed(self.device, self.precision):
                    log_p = log_probs(self.student(inputs[rows]), sizes[rows])
                known = wanted[rows]
                loss = (known * (torch.log(known.clamp(min=1e-30)) - log_p)).sum(dim=1).mean()
                total += descend(self.optimizer, self.student, loss)
                count += 1
        return total / count

    def weights(self) -> Arrays:
        """What plays: the averaged weights."""
        return self.average.weights if self.average else module_arrays(self.student)

    def state(self) -> tuple[Arrays, dict[str, Any]]:
        """See :class:`train.core.loop.Trainer`."""
        arrays: Arrays = {
            **with_prefix("actor", module_arrays(self.student)), **with_prefix("adam", adam_arrays(self.optimizer)),
            **with_prefix("average", self.weights()), **torch_generator(),
        }  # fmt: skip
        for i, tables in enumerate(self.groups):
            arrays[f"tables.{i}"] = tables.batch.states.view(np.uint8)
        average = (self.average.horizon, self.average.count) if self.average else None
        return arrays, {"decisions": self.decisions, "average": average, "rng": self.rng.bit_generator.state}

    def restore(self, arrays: Arrays, about: Mapping[str, Any]) -> None:
        """See :class:`train.core.loop.Trainer`."""
        load_module(self.student, under_prefix("actor", arrays))
        load_adam(self.optimizer, under_prefix("adam", arrays))
        load_torch_generator(arrays)
        self.rng.bit_generator.state = about["rng"]
        self.decisions = take_count(about, "decisions")
        if about["average"]:
            horizon, count = about["average"]
            self.average = Average(
                horizon, count, take_weights(under_prefix("average", arrays), module_arrays(self.student))
            )
        for i, tables in enumerate(self.groups):
            tables.batch.restore(arrays[f"tables.{i}"])
