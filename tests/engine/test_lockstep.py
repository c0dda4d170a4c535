"""The oracle walks in lockstep: random play through Game, Batch and the reference referee, compared after each step.

Every test plays until its own budget of actions is spent; the budgets sum to more than 100,000.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from perudo_env import Batch, Game, Variant
from perudo_env.engine.variant import SWITCHES, VARIANTS, switch_values
from perudo_env.game.events import RolledOff, RoundStarted
from tests.helpers import (
    PRESETS,
    Chooser,
    as_tuple,
    content,
    legal_ids,
    random_dice,
    random_variant,
    single_overrides,
    switches_of,
)
from tests.reference import Referee

PER_PRESET, PER_VALUE, PER_MIXTURE, FROM_POSITIONS = 3000, 1500, 3000, 12000
SWITCH_VALUES = [(switch, value) for switch in SWITCHES for value in switch_values(switch)]
MIXTURES = range(8)


class Pair:
    """One game and its referee, who is handed the engine's dice."""

    def __init__(self, game: Game, rng: random.Random, max_rounds: int | None, **setting: Any) -> None:
        self.game, self.choose, self.viewers = game, Chooser(rng), random.Random(game.seed)
        self.referee = Referee(
            switches_of(game.variant), game.num_seats, lambda _round, seat, _n: game.hand(seat),
            max_rounds=max_rounds, **setting,
        )  # fmt: skip
        started = [e for e in game.events if isinstance(e, RoundStarted)]
        assert [as_tuple(e) for e in started] == self.referee.start_events
        self.compare()

    def compare(self) -> None:
        """Everything both sides know, after each step."""
        game, ref = self.game, self.referee
        hands = [list(game.hand(seat)) for seat in range(game.num_seats)]
        ours = (game.seat, game.round, game.opener, game.palifico, game.standing_bid, game.bidder, list(game.dice))
        assert ours == (ref.seat, ref.round, ref.opener, ref.is_palifico, ref.standing, ref.bidder, ref.dice)
        assert hands == ref.hands
        assert [(seat, *bid) for seat, bid in game.bids] == ref.bids
        assert game.in_calza_window == ref.in_window
        assert game.is_over == ref.over
        assert game.truncated == ref.truncated
        assert legal_ids(game) == ref.legal_ids()
        viewer = self.viewers.randrange(game.num_seats)
        told = np.roll(game.layout.get(game.observation(viewer), "dice").sum(axis=1), viewer)
        assert ref.over or told.tolist() == ref.counts_told(viewer, game.memory)
        if ref.over:
            assert game.ranks == tuple(ref.ranks)
            assert game.returns == pytest.approx(ref.returns, abs=1e-12)
            assert sum(game.returns) == pytest.approx(0, abs=1e-12)

    def step(self) -> int:
        """Play one random action on both sides; returns its id."""
        action = self.choose(legal_ids(self.game))
        events = self.game.act(action)
        assert [as_tuple(e) for e in events] == self.referee.act(action)
        self.compare()
        return action


def check_roll_off(game: Game) -> None:
    """The highest sum opens; the tied seats, and only they, roll again."""
    rolls = [e.rolls for e in game.events if isinstance(e, RolledOff)]
    assert bool(rolls) == (game.variant.first_player == "roll_off")
    rolling = [seat for seat in range(game.num_seats) if game.dice[seat] > 0]
    for sums in rolls:
        assert [seat for seat, _ in sums] == rolling
        assert all(2 <= total <= 12 for _, total in sums)
        rolling = [seat for seat, total in sums if total == max(t for _, t in sums)]
    if rolls:
        assert rolling == [game.opener]


def play_table(v: Variant, rng: random.Random, num_games: int = 2) -> int:
    """Play a batch of games to the end beside single games and referees; returns the number of actions."""
    num_seats, seed = rng.randint(2, 8), rng.getrandbits(62)
    dice = random_dice(v, num_seats, rng) if rng.random() < 0.3 else None
    max_rounds = rng.randint(1, 6) if rng.random() < 0.2 else None
    memory = "none" if seed % 3 == 0 else "perfect"
    batch = Batch(v, num_seats, num_games, seed, dice=dice, max_rounds=max_rounds, memory=memory)
    pairs = []
    for i in range(num_games):
        game = Game(v, num_seats, seed + i, dice=dice, max_rounds=max_rounds, memory=memory)
        check_roll_off(game)
        pairs.append(Pair(game, rng, max_rounds, dice=dice, first_opener=game.opener))
    played = 0
    while not batch.is_over.all():
        actions = np.zeros(num_games, np.int64)
        rounds = [pair.game.round for pair in pairs]
        active = [i for i, pair in enumerate(pairs) if not pair.game.is_over]
        for i in active:
            actions[i] = pairs[i].step()
        ended = batch.act(actions)
        masks, viewers = batch.masks(), np.maximum(batch.seat, 0)
        seen = batch.observe(viewers=viewers)
        for i, pair in enumerate(pairs):
            game = pair.game
            assert content(batch.states[i : i + 1]) == content(game.states)
            assert (masks[i] == game.action_mask()).all()
            assert (seen[i] == game.observation(viewers[i])).all()
            assert ended[i] == (i in active and (game.is_over or game.round > rounds[i]))
        played += len(active)
    assert batch.returns.tolist() == [list(pair.game.returns) for pair in pairs]
    assert batch.ranks.tolist() == [list(pair.game.ranks) for pair in pairs]
    return played


def spend(budget: int, variants: Iterator[Variant], rng: random.Random) -> None:
    """Play tables of these variants until ``budget`` actions are played."""
    played = 0
    while played < budget:
        played += play_table(next(variants), rng)


@pytest.mark.parametrize("preset", PRESETS)
def test_presets(preset: str) -> None:
    rng = random.Random(f"preset {preset}")
    spend(PER_PRESET, iter(lambda: VARIANTS[preset], None), rng)


@pytest.mark.parametrize(("switch", "value"), SWITCH_VALUES)
def test_each_value_on_top_of_the_presets(switch: str, value: Any) -> None:
    rng = random.Random(f"{switch}={value}")
    variants = [
        v
        for preset in PRESETS
        for s, x, v in single_overrides(preset)
        if s == switch and x == value and type(x) is type(value)
    ]
    assert len(variants) >= len(PRESETS) - 2  # only hidden counts with a cap of the dice in play are refused
    rng.shuffle(variants)
    played = sum(play_table(v, rng) for v in variants)
    spend(PER_VALUE - played, (rng.choice(variants) for _ in iter(int, 1)), rng)


@pytest.mark.parametrize("seed", MIXTURES)
def test_any_mixture_of_switches(seed: int) -> None:
    rng = random.Random(seed)
    spend(PER_MIXTURE, (random_variant(rng) for _ in iter(int, 1)), rng)


def play_from_position(rng: random.Random) -> int:
    """Play on from random hands, with a palifico round, spent palificos and T0 at random; returns the actions."""
    v = random_variant(rng)
    num_seats = rng.randint(2, 8)
    dice = random_dice(v, num_seats, rng)
    hands = [[rng.randint(1, v.num_faces) for _ in range(d)] for d in dice]
    opener = rng.choice([seat for seat in range(num_seats) if dice[seat] > 0])
    palifico = v.palifico != "off" and dice[opener] == 1 and rng.random() < 0.7
    spent = [s for s in range(num_seats) if rng.random() < 0.3] if v.palifico == "once" else []
    total = rng.randint(sum(dice), num_seats * v.starting_dice)
    max_rounds = rng.randint(1, 6) if rng.random() < 0.2 else None
    game = Game.from_hands(
        v, hands, opener=opener, palifico=palifico, seed=rng.getrandbits(62), total_at_start=total,
        palifico_spent=spent, max_rounds=max_rounds,
    )  # fmt: skip
    pair = Pair(game, rng, max_rounds, dice=dice, opener=opener, palifico=palifico, total_at_start=total)
    pair.referee._had_palifico.update(spent)
    played = 0
    while not game.is_over:
        pair.step()
        played += 1
    return played


def test_positions() -> None:
    rng = random.Random("positions")
    played = 0
    while played < FROM_POSITIONS:
        played += play_from_position(rng)


def test_the_budgets_sum_to_100_000_actions() -> None:
    mixtures, values = len(MIXTURES) * PER_MIXTURE, len(SWITCH_VALUES) * PER_VALUE
    assert len(PRESETS) * PER_PRESET + values + mixtures + FROM_POSITIONS >= 100_000
