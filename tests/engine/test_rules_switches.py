"""Each switch provably changes something, and the first player is drawn as the clause says."""

from __future__ import annotations

import itertools
import random
from typing import Any

import numpy as np
import pytest

import perudo_env as pe
from perudo_env import Batch, Game
from perudo_env.engine.variant import SWITCHES, switch_values
from tests.helpers import Chooser, legal_ids

PAIRS = [(s, a, b) for s in SWITCHES for a, b in itertools.combinations(switch_values(s), 2)]
# 0.999 quantiles of chi-square for 1 to 7 degrees of freedom
CHI2 = {1: 10.83, 2: 13.82, 3: 16.27, 4: 18.47, 5: 20.52, 6: 22.46, 7: 24.32}


def transcript(v: pe.Variant, seed: int) -> list[Any]:
    """All that a random game shows, except the bits that name the variant."""
    # without memory, which knows hidden dice counts too, observations hold what the variant shows
    game, choose = Game(v, 3, seed, memory="none"), Chooser(random.Random(seed))
    bits = game.layout.slices["switches"]
    seen: list[Any] = [game.events]
    while not game.is_over:
        observation = game.observation(game.seat or 0)
        observation[bits] = 0
        legal = legal_ids(game)
        seen += [legal, observation.tobytes(), game.act(choose(legal))]
    return [*seen, game.ranks, game.returns]


@pytest.mark.parametrize(("switch", "one", "other"), PAIRS)
def test_each_switch_changes_something_in_a_random_game(switch: str, one: Any, other: Any) -> None:
    """Same seed, same choices: unlike transcripts within 500 games; and equal variants play alike."""
    base = pe.variant("marquoir", starting_dice=3)
    v, w = (pe.variant(base, **{switch: value}) for value in (one, other))
    assert any(transcript(v, seed) != transcript(w, seed) for seed in range(500))
    assert transcript(v, 1) == transcript(pe.variant(base, **{switch: one}), 1)


def chi_square(counts: np.ndarray) -> float:
    expected = counts.sum() / counts.size
    return float(((counts - expected) ** 2 / expected).sum())


@pytest.mark.parametrize("num_seats", range(2, 9))
@pytest.mark.parametrize("first_player", ["random", "roll_off"])
def test_first_player_every_seat_opens_equally_often(first_player: str, num_seats: int) -> None:
    """S0 rolls off, the others are silent: the distribution over seats is the same (99.9% level, 20,000 games)."""
    batch = Batch(pe.variant("classic", first_player=first_player), num_seats, 20_000, seed=2024)
    counts = np.bincount(batch.states["opener"], minlength=num_seats)
    assert counts.sum() == 20_000
    assert chi_square(counts) < CHI2[num_seats - 1]


@pytest.mark.parametrize("first_player", ["random", "roll_off"])
def test_first_player_a_seat_without_dice_neither_opens_nor_gives_its_share_to_one_neighbour(first_player: str) -> None:
    batch = Batch(pe.variant("classic", first_player=first_player), 5, 20_000, seed=9, dice=(0, 5, 0, 3, 1))
    counts = np.bincount(batch.states["opener"], minlength=5)
    assert counts[[0, 2]].tolist() == [0, 0]
    assert chi_square(counts[[1, 3, 4]]) < CHI2[2]


def test_first_seat_opens_always_the_first_seat_with_dice() -> None:
    assert (Batch("liars_dice", 4, 100, seed=1).states["opener"] == 0).all()
    assert (Batch("liars_dice", 4, 100, seed=1, dice=(0, 0, 1, 1)).states["opener"] == 2).all()


def test_dice_every_face_equally_often_and_seats_independent() -> None:
    batch = Batch("classic", 2, 20_000, seed=5)
    totals = batch.states["hands"][:, :2].sum(axis=(0, 1))
    assert totals.sum() == 200_000
    assert chi_square(totals) < CHI2[5]
    one_die = Batch("liars_dice", 2, 36_000, seed=6, dice=(1, 1)).states["hands"][:, :2].argmax(axis=2)
    joint = np.bincount(one_die[:, 0] * 6 + one_die[:, 1], minlength=36)
    assert chi_square(joint) < 66.62  # 0.999 quantile, 35 degrees of freedom
