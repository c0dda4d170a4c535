"""The sections that the configurations of several trainers have in common."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from train.core.config import Count, Pair, Part, Rate, Seats, Section, Seed, Threads, VariantText, Weight, Widths

Keep = Literal["last", "best"]


class TableSection(Section):
    """A table at which win shares are measured."""

    variant: VariantText
    """A preset, or like box:calza=anyone."""
    seats: Seats
    """2 to 8."""

    @property
    def name(self) -> str:
        """The table in words."""
        return f"{self.variant}, {self.seats} seats"


class RoundSection(Section):
    """A round between two seats whose exact NashConv is measured."""

    variant: VariantText
    """A preset, or like box:calza=anyone."""
    dice: Pair
    """The dice of seat 0, which opens, and of seat 1."""
    endgame: bool = False
    """Whether it is the round as a whole game comes to it, with the bids of its starting dice."""

    @property
    def name(self) -> str:
        """The round in words."""
        return f"{self.variant} {'v'.join(map(str, self.dice))}{', endgame' if self.endgame else ''}"


class EvaluationSection(Section):
    """How often and how well strength is measured."""

    every: Count = 2_000_000
    """Decisions between two points of the curve."""
    games: Count = 1000
    """Games per win share."""
    baselines: tuple[str, ...] = ("odds", "inference")
    """Agents against which win shares are measured."""
    strangers: tuple[str, ...] = ()
    """Agents that no training and no choice meets: their win shares stand beside those of the baselines, with the mean gap."""
    response_decisions: Annotated[int, Field(ge=0, le=10**12)] = 0
    """Decisions of a short best response, trained from the agent's own weights at each point; its gain is on the curve. 0: none."""
    tables: tuple[TableSection, ...] = (
        TableSection(variant="classic", seats=2),
        TableSection(variant="pascal", seats=2),
    )
    """Where win shares are measured."""
    rounds: tuple[RoundSection, ...] = (
        RoundSection(variant="classic", dice=(1, 1)),
        RoundSection(variant="classic", dice=(2, 1)),
        RoundSection(variant="pascal", dice=(1, 1)),
    )
    """Rounds whose exact NashConv is measured."""
    keep: Keep = "last"
    """The weights that are kept to play: the last, or those of the curve's best point: by the mean win share against the
    baselines, or, where none is measured, the least mean NashConv."""


class NetworkSection(Section):
    """How a network learns from batches of decisions."""

    total_decisions: Count = 12_000_000
    """Decisions of the learning seats in the whole run."""
    hidden: Widths = (256, 256)
    """Widths of the network that plays."""
    minibatch: Count = 4096
    """Decisions of one optimiser step."""
    epochs: Count = 1
    """Passes over each batch."""
    learning_rate: Rate = 1e-3
    """At the start."""
    final_learning_rate: Rate = 1e-4
    """At the end, falling by equal factors."""
    average: Part = 0.1
    """How far back the averaged weights, which play, reach: a share of the run."""


class RunSection(Section):
    """The run."""

    seed: Seed = 1
    """Of everything: dice, weights, play."""
    torch_threads: Threads = 1
    """Cores for PyTorch."""
    save_every: Weight = 300.0
    """Seconds between two saves of the state to go on from."""
