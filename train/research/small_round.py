"""A single round between two seats, as the comparison trainers play it and are judged by its exact NashConv."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import torch
from rich.console import Console
from torch import Tensor

from agents.core.seated import sight
from agents.learned.neural import MLPPolicy, input_size, network_inputs
from agents.tabular.public_tree import PublicTree
from perudo_env.engine.actions import num_actions
from perudo_env.engine.batch import Batch
from perudo_env.engine.observation import layout
from perudo_env.engine.variant import parse_variant
from train.core.config import Count, Pair, Section, VariantText
from train.core.loop import Figures, Loop, Trainer
from train.core.sections import RoundSection, RunSection
from train.evaluate.exploitability import nash_conv
from train.selfplay.checkpoint import write_checkpoint
from train.solver.exact.exploitability import MAX_STATES, refuse_large
from train.solver.exact.payoffs import check_dice

Int8Array = npt.NDArray[np.int8]


class SmallRoundSection(RoundSection):
    """The round: a one-round variant that seat 0 opens."""

    variant: VariantText = "joker:starting_dice=2"
    """A variant of one round, like joker:starting_dice=2."""
    dice: Pair = (1, 1)
    """The dice of seat 0, which opens, and of seat 1."""


class JudgeSection(Section):
    """When the exact NashConv of the average strategy is computed."""

    every: Count = 75_000
    """Decisions between two points of the curve."""


class SmallRound:
    """The round that seat 0 opens. Raises ``ValueError`` for a variant of whole games, and for a round too large to judge.

    A *sight* is what a seat sees and may do, its observation and its mask, as one row of bytes of ``width``.
    """

    def __init__(self, section: RoundSection) -> None:
        self.variant, self.dice = parse_variant(section.variant), check_dice(section.dice)
        if self.variant.rounds != "one" or self.variant.first_player != "first_seat":
            raise ValueError(
                f"{self.variant} with rounds = {self.variant.rounds!r}, first_player = {self.variant.first_player!r} is no single "
                "round that seat 0 opens: use joker or liars_dice, or add rounds=one,first_player=first_seat"
            )
        refuse_large(PublicTree(self.variant, self.dice), MAX_STATES)
        self.layout = layout(2, self.variant.max_quantity(2))
        self.num_inputs, self.num_actions = input_size(self.layout), num_actions(self.layout.max_quantity)
        self.width = self.layout.size + self.num_actions
        self.name = f"nash_conv/{self.variant} {self.dice[0]}v{self.dice[1]}"

    def deal(self, count: int, rng: np.random.Generator) -> Batch:
        """``count`` new rounds."""
        return Batch(self.variant, 2, count, rng.integers(2**63, size=count, dtype=np.uint64), dice=self.dice)

    def sights(self, batch: Batch) -> Int8Array:
        """What the seat to act sees at every table, int8 ``(num_games, width)``; zeros where the round is over."""
        return np.concatenate([batch.observe(), batch.masks()], axis=1)

    def masks(self, sights: Int8Array) -> Int8Array:
        """What may be done, int8 ``(batch, num_actions)``."""
        return sights[:, self.layout.size :]

    def inputs(self, sights: Int8Array) -> Tensor:
        """What a network is fed, float32 ``(batch, num_inputs)``."""
        return torch.from_numpy(
            network_inputs(np.ascontiguousarray(sights[:, : self.layout.size]), sight(self.variant, 2))
        )

    def judge(self, weights: Mapping[str, npt.NDArray[Any]]) -> dict[str, float]:
        """The exact NashConv of a network's softmax, by its name in ``curve.csv``."""
        return {self.name: nash_conv(MLPPolicy(weights, self.variant, 2), self.variant, self.dice).nash_conv}


class RoundConfig(Protocol):
    """What the configurations of these trainers have in common."""

    @property
    def evaluation(self) -> JudgeSection:
        """When it is judged."""
        ...

    @property
    def run(self) -> RunSection:
        """The run."""
        ...


class RoundTrainer(Trainer, Protocol):
    """A trainer on one :class:`SmallRound`."""

    game: SmallRound

    @property
    def config(self) -> RoundConfig:
        """Its configuration."""
        ...


def train_round(trainer: RoundTrainer, folder: Path, total: int, console: Console, title: str, name: str) -> Figures:
    """Train to ``total`` decisions in ``folder``, going on from the state there, and write the checkpoint; returns the last
    evaluation. ``title`` and ``name`` are for its card."""
    game, run = trainer.game, trainer.config.run
    every = trainer.config.evaluation.every
    final = Loop(trainer, folder, total, lambda: game.judge(trainer.weights()), every, run.save_every, console).run()
    write_checkpoint(
        folder / "checkpoint", title, [(game.variant, 2)], trainer.weights(), name, run.seed, trainer.decisions, final,
        inputs="observation",
    )  # fmt: skip
    return final
