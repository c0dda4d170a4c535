"""The configuration of ``train.selfplay.ppo``, and the tables that it asks for."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Annotated, Any, Literal

import numpy as np
import numpy.typing as npt
from pydantic import AfterValidator, Field, model_validator

from perudo_env.engine.batch import starting_dice
from perudo_env.engine.variant import Variant, parse_variant, table_size, variant
from train.core.config import (
    Count,
    Dice,
    NumTables,
    Part,
    Rate,
    Seats,
    Section,
    Seed,
    Share,
    Threads,
    VariantText,
    Weight,
    Widths,
)
from train.core.sections import EvaluationSection
from train.selfplay.collector import Tables
from train.selfplay.networks import device_of


def _device(name: str) -> str:
    device_of(name)
    return name


class TablesSection(Section):
    """Tables of every combination of these."""

    variants: list[VariantText] = Field(min_length=1)
    calza: list[str] = []  # noqa: RUF012 - pydantic copies it
    seats: list[Seats] = Field(min_length=1)
    starting_dice: list[Dice] = []  # noqa: RUF012
    dice: list[int] = []  # noqa: RUF012 - per seat, for single rounds of one split

    @model_validator(mode="after")
    def _can_be(self) -> TablesSection:
        """Every combination is a table."""
        for v, seats in kinds_of([self]):
            starting_dice(v, seats, self.dice or None)
        return self


class PlaySection(Section):
    """How play is cut into batches."""

    unit: Literal["rounds", "games"]
    tables: NumTables
    groups_per_batch: Count
    any_dice: Share
    parts: NumTables = 1


class LearnSection(Section):
    """The algorithm."""

    total_decisions: Count
    hidden: Widths
    critic_hidden: Widths
    minibatch: Count
    epochs: Count
    learning_rate: Rate
    final_learning_rate: Rate
    clip: Rate
    kl: Weight
    entropy: Weight
    final_entropy: Weight
    trace: Share
    average: Part


class ValuesSection(Section):
    """The continuation values that rounds are paid with."""

    hidden: Widths
    learning_rate: Rate


class MixedPoolSection(Section):
    """Whom the learner meets besides itself."""

    share: Share
    learners: Literal["one", "some"]
    every: Count
    size: Count
    scripted: list[str]
    scripted_share: Share


class MMDRunSection(Section):
    """The run."""

    seed: Seed
    torch_threads: Threads
    device: Annotated[str, AfterValidator(_device)]
    precision: Literal["auto", "float32", "bfloat16"]
    save_every: Weight
    start_from: str = ""


class Config(Section):
    """All of a configuration of ``train.selfplay.ppo``."""

    tables: list[TablesSection] = Field(min_length=1)
    play: PlaySection
    learn: LearnSection
    values: ValuesSection
    pool: MixedPoolSection
    evaluation: EvaluationSection
    run: MMDRunSection


SMOKE = (
    "play.tables=64", "learn.total_decisions=1500", "learn.minibatch=256", "evaluation.every=1000", "evaluation.games=8",
    "pool.every=500", "run.save_every=0",
)  # fmt: skip


def kinds_of(sections: Sequence[TablesSection]) -> list[tuple[Variant, int]]:
    """Every (variant, number of seats) that the sections name, once each, in their order."""
    found: dict[tuple[Variant, int], None] = {}
    for section in sections:
        given = {
            s: values for s, values in (("calza", section.calza), ("starting_dice", section.starting_dice)) if values
        }
        for name, seats in product(section.variants, section.seats):
            for chosen in product(*given.values()):
                found[variant(parse_variant(name), **dict(zip(given, chosen, strict=True))), table_size(seats)] = None
    return list(found)


def groups_of(
    sections: Sequence[TablesSection], play: PlaySection, rng: np.random.Generator, pool: MixedPoolSection | None = None,
    pool_weights: npt.NDArray[np.float64] | None = None,
) -> list[Tables]:  # fmt: skip
    """The tables of a configuration, dealt: as many of each kind as make ``play.tables`` in a batch."""
    groups = empty_groups(sections, play, rng, pool)
    for tables in groups:
        if pool_weights is not None:
            tables.pool_weights = pool_weights
        tables.deal(np.arange(tables.batch.num_games))
    return groups


def empty_groups(
    sections: Sequence[TablesSection], play: PlaySection, rng: np.random.Generator, pool: MixedPoolSection | None = None,
    numbers: Sequence[int] | None = None,
) -> list[Tables]:  # fmt: skip
    """The tables of a configuration before their first deal, or of the kinds of these ``numbers`` alone."""
    met: dict[str, Any] = {"pool_share": pool.share, "many_learn": pool.learners == "some"} if pool else {}
    kinds = list(dict.fromkeys((*kind, tuple(s.dice)) for s in sections for kind in kinds_of([s])))
    each = max(1, play.tables // min(play.groups_per_batch, len(kinds)))
    chosen = kinds if numbers is None else [kinds[number] for number in numbers]
    return [Tables(v, seats, each, play.any_dice, rng, dice=dice or None, **met) for v, seats, dice in chosen]
