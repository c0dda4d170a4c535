"""The configuration of ``train.selfplay.ppo``, and the tables that it asks for."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from pydantic import Field

from perudo_env.engine.variant import Variant, parse_variant, table_size, variant
from train.core.config import Section
from train.selfplay.collector import Tables
from train.selfplay.judging import EvaluationSection


class TablesSection(Section):
    """Tables of every combination of these."""

    variants: list[str]
    calza: list[str] = []  # noqa: RUF012 - pydantic copies it
    seats: list[int]
    starting_dice: list[int] = []  # noqa: RUF012
    dice: list[int] = []  # noqa: RUF012 - per seat, for single rounds of one split


class PlaySection(Section):
    """How play is cut into batches."""

    unit: Literal["rounds", "games"]
    tables: int = Field(gt=0)
    groups_per_batch: int = Field(gt=0)
    any_dice: float = Field(ge=0, le=1)
    parts: int = Field(default=1, gt=0)


class LearnSection(Section):
    """The algorithm."""

    total_decisions: int = Field(gt=0)
    hidden: list[int]
    critic_hidden: list[int]
    minibatch: int = Field(gt=0)
    epochs: int = Field(gt=0)
    learning_rate: float = Field(gt=0)
    final_learning_rate: float = Field(gt=0)
    clip: float = Field(gt=0)
    kl: float = Field(ge=0)
    entropy: float = Field(ge=0)
    final_entropy: float = Field(ge=0)
    trace: float = Field(ge=0, le=1)
    average: float = Field(gt=0, le=1)


class ValuesSection(Section):
    """The continuation values that rounds are paid with."""

    hidden: list[int]
    learning_rate: float = Field(gt=0)


class MixedPoolSection(Section):
    """Whom the learner meets besides itself."""

    share: float = Field(ge=0, le=1)
    learners: Literal["one", "some"]
    every: int = Field(gt=0)
    size: int = Field(gt=0)
    scripted: list[str]
    scripted_share: float = Field(ge=0, le=1)


class MMDRunSection(Section):
    """The run."""

    seed: int
    torch_threads: int = Field(gt=0)
    device: str
    precision: Literal["auto", "float32", "bfloat16"]
    save_every: float
    start_from: str = ""


class Config(Section):
    """All of a configuration of ``train.selfplay.ppo``."""

    tables: list[TablesSection]
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
