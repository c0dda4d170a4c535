"""A single round between two seats, as the comparison trainers play it and are judged by its exact NashConv."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from rich.console import Console
from torch import Tensor

from agents.core.seated import sight
from agents.learned.neural import MLPPolicy, input_size, network_inputs
from perudo_env.engine.actions import num_actions
from perudo_env.engine.batch import Batch
from perudo_env.engine.observation import layout
from perudo_env.engine.variant import parse_variant
from train.core.config import Count, Pair, Rate, Section, VariantText, Widths
from train.core.measured import Measured, exact
from train.core.sections import RoundSection, RunSection
from train.core.state import Arrays
from train.core.trainer import NetworkTrainer
from train.evaluate.exploitability import nash_conv
from train.evaluate.judge import tree_of
from train.selfplay.checkpoint import write_checkpoint
from train.selfplay.networks import MLP
from train.solver.exact.exploitability import MAX_STATES, refuse_large
from train.solver.exact.payoffs import check_dice

Int8Array = npt.NDArray[np.int8]


class SmallRoundSection(RoundSection):
    """The round: a one-round variant that seat 0 opens."""

    variant: VariantText = "joker:starting_dice=2"
    """A variant of one round, like joker:starting_dice=2."""
    dice: Pair = (1, 1)
    """The dice of seat 0, which opens, and of seat 1."""


class RoundEvaluationSection(Section):
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
        refuse_large(tree_of(section), MAX_STATES)
        self.section = section
        self.layout = layout(2, self.variant.max_quantity(2))
        self.num_inputs, self.num_actions = input_size(self.layout), num_actions(self.layout.max_quantity)
        self.width = self.layout.size + self.num_actions

    def deal(self, count: int, rng: np.random.Generator) -> Batch:
        """``count`` new rounds."""
        seeds = rng.integers(2**63, size=count, dtype=np.uint64)
        if not self.section.endgame:
            return Batch(self.variant, 2, count, seeds, dice=self.dice)
        batch = Batch(self.variant, 2, count, seeds)
        self.deal_again(batch, np.arange(count), seeds)
        return batch

    def deal_again(self, batch: Batch, rows: npt.NDArray[np.int64], seeds: npt.NDArray[np.uint64]) -> None:
        """New rounds in some rows."""
        batch.reset(rows, seeds, np.repeat(np.array([self.dice]), rows.size, axis=0))

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

    def judge(self, weights: Mapping[str, npt.NDArray[Any]]) -> list[Measured]:
        """The exact NashConv of a network's softmax."""
        policy = MLPPolicy(weights, self.variant, 2)
        found = nash_conv(policy, self.variant, self.dice, endgame=self.section.endgame)
        return [exact("nash_conv", found.nash_conv, self.section.name)]


class RoundLearnSection(Section):
    """The algorithm."""

    total_decisions: Count = 300_000
    """Decisions of both seats in the whole run."""
    hidden: Widths = (64, 64)
    """Widths of all networks."""
    minibatch: Count = 256
    """Rows of one optimiser step."""
    learning_rate: Rate = 1e-3
    """Of the networks."""


class RoundConfig(Section):
    """What the trainers on one round are told."""

    round: SmallRoundSection = SmallRoundSection()
    learn: RoundLearnSection = RoundLearnSection()
    evaluation: RoundEvaluationSection = RoundEvaluationSection()
    run: RunSection = RunSection()


class RoundTrainer(NetworkTrainer):
    """A trainer on one :class:`SmallRound`, of networks of one shape."""

    def __init__(self, config: RoundConfig) -> None:
        super().__init__(config.run, config.learn.total_decisions)
        self.game, self.hidden, self.every = SmallRound(config.round), config.learn.hidden, config.evaluation.every

    def new_network(self) -> MLP:
        """A network with an answer for each action."""
        return MLP(self.game.num_inputs, self.hidden, self.game.num_actions)

    def masks(self, rows: Arrays) -> Tensor:
        """What may be done at the ``sights`` of rows of a replay buffer, float32 ``(batch, num_actions)``."""
        return torch.from_numpy(self.game.masks(rows["sights"]).astype(np.float32))


def train_round(trainer: RoundTrainer, folder: Path, console: Console, title: str, command: str) -> list[Measured]:
    """Train in ``folder``, going on from the state there, and write the checkpoint; returns the last evaluation. ``title``
    and ``command`` are for its card."""
    game = trainer.game
    final = trainer.train(folder, lambda: game.judge(trainer.weights()), trainer.every, console)
    write_checkpoint(
        folder / "checkpoint", trainer, title, command, [(game.variant, 2)], final, inputs="observation"
    )  # fmt: skip
    return final
