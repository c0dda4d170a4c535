"""The sections that the configurations of several trainers have in common."""

from __future__ import annotations

from train.core.config import Count, Pair, Seats, Section, VariantText


class TableSection(Section):
    """A table at which win shares are measured."""

    variant: VariantText
    seats: Seats


class RoundSection(Section):
    """A round between two seats whose exact NashConv is measured."""

    variant: VariantText
    dice: Pair


class EvaluationSection(Section):
    """How often and how well strength is measured."""

    every: Count
    games: Count
    baselines: list[str]
    tables: list[TableSection]
    rounds: list[RoundSection]
