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
from train.core.config import Count, Dice, NumTables, Rate, Seats, Section, Share, VariantText, Weight, Widths
from train.core.sections import EvaluationSection, NetworkSection, RunSection
from train.selfplay.collector import Tables
from train.selfplay.networks import device_of


def _device(name: str) -> str:
    device_of(name)
    return name


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


class TablesSection(Section):
    """Tables of every combination of these; one network plays all."""

    variants: tuple[VariantText, ...] = Field(default=("classic", "pascal"), min_length=1)
    """Presets, or like box:calza=anyone."""
    calza: tuple[str, ...] = ()
    """off, on_turn, anyone (in YAML the word off needs quotes); []: as the variant has it."""
    seats: tuple[Seats, ...] = Field(default=(2,), min_length=1)
    """2 to 8."""
    starting_dice: tuple[Dice, ...] = ()
    """1 to 6; []: as the variant has it."""
    dice: tuple[int, ...] = ()
    """The dice of each seat, the opener first, for single rounds of one split; []: as games bring them."""
    endgame: bool = False
    """Whether rounds of these dice have the bids of a whole game's starting dice."""

    @model_validator(mode="after")
    def _can_be(self) -> TablesSection:
        """Every combination is a table."""
        if self.endgame and not self.dice:
            raise ValueError("endgame: it takes dice, of a round late in the game")
        for v, seats in kinds_of([self]):
            starting_dice(v, seats, self.dice or None)
        return self


class PlaySection(Section):
    """How play is cut into batches."""

    unit: Literal["rounds", "games"] = "rounds"
    """Rounds, paid with continuation values, or games."""
    tables: NumTables = 4096
    """Tables that play a round (or game) for one batch."""
    groups_per_batch: Count = 16
    """Kinds of table in one batch, drawn anew each time."""
    any_dice: Share = 0.5
    """Share of games that begin with dice drawn from 1 to a full cup per seat."""
    parts: NumTables = 1
    """Parts of a batch, for as many workers; part of what the seed means."""


class PPOLearnSection(NetworkSection):
    """PPO (Schulman et al. 2017), with a magnet that the policy is drawn to, if wanted."""

    magnet: Literal["none", "last", "average", "reference"] = "none"
    """What KL(policy || magnet), weighted by kl, draws to: none (PPO); last, the policy that played the batch: with the entropy bonus
    the step of magnetic mirror descent (Sokota et al. 2023, arXiv 2206.05825); average, the averaged weights (EMAgnet, Maidment et
    al. 2026, arXiv 2606.23995); reference, a copy made every reference_every decisions (NashPG, Yu et al. 2025, arXiv 2510.18183)."""
    kl: Weight = 0.0
    """Weight of the magnet, like 0.3; 0 without one."""
    reference_every: Count = 500_000
    """Decisions after which the reference is made anew."""
    critic: Literal["value", "action_values"] = "value"
    """The critic, which sees all dice, tells: value, that of the state (GAE); action_values, that of each action, for Expected
    SARSA(lambda) and the policy gradient over all actions (Fan and Farina 2026, arXiv 2605.19235)."""
    critic_hidden: Widths = (128, 128)
    """Widths of the critic."""
    uniform: Annotated[float, Field(ge=0, lt=1)] = 0.0
    """Share of decisions drawn from all legal cells alike, so that the values of other actions are learnt; for action_values."""
    clip: Rate = 0.2
    """PPO's clip."""
    entropy: Weight = 0.1
    """Weight of the entropy bonus at the start."""
    final_entropy: Weight = 0.02
    """Weight of the entropy bonus at the end."""
    gae_lambda: Share = 0.95
    """Lambda of the generalised advantage (GAE), or of Expected SARSA."""

    @model_validator(mode="after")
    def _fits(self) -> PPOLearnSection:
        """A magnet has a weight, and only one that is there."""
        if (self.magnet == "none") != (self.kl == 0):
            raise ValueError(
                f"kl = {self.kl} with magnet = {self.magnet}: a magnet needs a weight above 0, and a weight a magnet"
            )
        if self.uniform > 0 and self.critic == "value":
            raise ValueError(
                f"uniform = {self.uniform} with critic = value: only action_values weigh what the policy did not choose"
            )
        return self


class ValuesSection(Section):
    """The continuation values that rounds are paid with."""

    hidden: Widths = (64, 64)
    """Widths of their network."""
    learning_rate: Rate = 1e-3
    """Of their network, all the time."""


class MixedPoolSection(Section):
    """Whom the learner meets besides itself."""

    share: Share = 0.0
    """Share of games in which an opponent of the pool holds seats."""
    learners: Literal["one", "some"] = "some"
    """Seats that learn in them: one, or some, each with an even chance."""
    every: Count = 1_000_000
    """Decisions between two snapshots."""
    size: Count = 10
    """Newest snapshots that are drawn."""
    scripted: tuple[str, ...] = ()
    """Scripted agents in the pool; one that is named twice is drawn twice as often."""
    scripted_share: Share = 0.2
    """How often one of them is drawn."""

    @property
    def met(self) -> tuple[str, ...]:
        """The scripted agents that the learner meets."""
        return self.scripted if self.share > 0 else ()


class SelfPlayRunSection(RunSection):
    """The run."""

    device: Annotated[str, AfterValidator(_device)] = "auto"
    """Where networks learn; auto: cuda if there is one, else cpu."""
    precision: Literal["auto", "float32", "bfloat16"] = "auto"
    """Of hidden layers; auto: bfloat16 where the CPU has tiles for it, else float32."""
    start_from: str = ""
    """The state.safetensors or training.safetensors of another run whose networks to begin with; none: new ones."""


class SelfPlayConfig(Section):
    """What the trainers of one network for every table are told."""

    tables: tuple[TablesSection, ...] = Field(default=(TablesSection(),), min_length=1)
    play: PlaySection = PlaySection()
    learn: NetworkSection = NetworkSection()
    evaluation: EvaluationSection = EvaluationSection()
    run: SelfPlayRunSection = SelfPlayRunSection()


class PPOConfig(SelfPlayConfig):
    """All of a configuration of ``train.selfplay.ppo``."""

    learn: PPOLearnSection = PPOLearnSection()
    values: ValuesSection = ValuesSection()
    pool: MixedPoolSection = MixedPoolSection()


SMOKE = (
    "play.tables=64", "learn.total_decisions=1500", "learn.minibatch=256", "evaluation.every=1000", "evaluation.games=8",
    "pool.every=500", "run.save_every=0",
)  # fmt: skip


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
    kinds = list(dict.fromkeys((*kind, s.dice, s.endgame) for s in sections for kind in kinds_of([s])))
    each = max(1, play.tables // min(play.groups_per_batch, len(kinds)))
    chosen = kinds if numbers is None else [kinds[number] for number in numbers]
    return [
        Tables(v, seats, each, play.any_dice, rng, dice=dice or None, endgame=endgame, **met)
        for v, seats, dice, endgame in chosen
    ]
