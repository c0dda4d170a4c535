"""Batch: row i is Game(seed + i), in any order; a refused call changes nothing."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pytest

import perudo_env as pe
from perudo_env import Batch, Game, IllegalActionError
from perudo_env.engine.observation import layout
from tests.helpers import PRESETS, Chooser, content, legal_ids


def legal_action(batch: Batch, i: int, choose: Chooser) -> int:
    return choose(np.flatnonzero(batch.masks([i])[0]).tolist())


def mid_game(num_games: int = 4, preset: str = "marquoir") -> Batch:
    batch = Batch(preset, 3, num_games, seed=5)
    batch.act(np.full(num_games, 4))  # everybody opens with 1x2
    return batch


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("num_seats", [2, 5])
def test_row_i_plays_as_the_game_with_seed_plus_i(preset: str, num_seats: int) -> None:
    batch, rng = Batch(preset, num_seats, 6, seed=100), random.Random(preset)
    games = [Game(preset, num_seats, 100 + i) for i in range(6)]
    choose = Chooser(rng)
    while not batch.is_over.all():
        actions = np.array([0 if g.is_over else choose(legal_ids(g)) for g in games])
        batch.act(actions)
        for game, action in zip(games, actions, strict=True):
            if not game.is_over:
                game.act(int(action))
        observations, masks = batch.observe(), batch.masks()
        for i, game in enumerate(games):
            assert content(batch.states[i : i + 1]) == content(game.states)
            assert (batch.seat[i], tuple(batch.dice[i])) == (-1 if game.seat is None else game.seat, game.dice)
            assert (masks[i] == game.action_mask()).all()
            expected = np.zeros_like(observations[i]) if game.seat is None else game.observation(game.seat)
            assert (observations[i] == expected).all()
    assert batch.returns.tolist() == [list(g.returns or ()) for g in games]
    assert batch.ranks.tolist() == [list(g.ranks or ()) for g in games]


def test_rows_play_the_same_in_any_order() -> None:
    together = Batch("marquoir", 3, 8, seed=1)
    rng = np.random.default_rng(0)
    chosen: list[list[int]] = [[] for _ in range(8)]
    choose = Chooser(random.Random(1))
    while not together.is_over.all():
        actions = np.array([0 if together.is_over[i] else legal_action(together, i, choose) for i in range(8)])
        for i in np.flatnonzero(~together.is_over):
            chosen[i].append(int(actions[i]))
        together.act(actions)
    alone = Batch("marquoir", 3, 8, seed=1)
    for i in rng.permutation(8):  # one row from start to end, then the next
        for action in chosen[i]:
            alone.act([action], [i])
    assert content(alone.states) == content(together.states)
    reversed_seeds = Batch("marquoir", 3, 8, seed=np.arange(8, 0, -1))
    for i in range(8):
        for action in chosen[7 - i]:
            reversed_seeds.act([action], [i])
    assert content(reversed_seeds.states) == content(together.states[::-1])


@pytest.mark.parametrize("bad", [-1, 3, 10**6, 2, 2**31])
def test_act_is_all_or_nothing(bad: int) -> None:
    """Only the third game is at fault (3 is 1P over 1P), and no game moves."""
    batch = mid_game()
    batch.act(np.full(4, 3))
    before = content(batch.states)
    actions = np.zeros(4, np.int64)
    actions[2] = bad
    with pytest.raises(IllegalActionError, match="game 2"):
        batch.act(actions)
    assert content(batch.states) == before


WRONG = [
    True, 0, 0.0, None, "dudo", [0, 0, 0], [0] * 5, [[0] * 4], [True] * 4, [0.0] * 4, [None] * 4, ["dudo"] * 4,
    [np.nan] * 4, [10**30] * 4, np.full(4, 2**63 + 5, np.uint64),
]  # fmt: skip


@pytest.mark.parametrize("actions", WRONG, ids=str)
def test_act_refuses_wrong_types_and_shapes_with_nothing_changed(actions: Any) -> None:
    batch = mid_game()
    before = content(batch.states)
    with pytest.raises(IllegalActionError):
        batch.act(actions)
    assert content(batch.states) == before


def test_act_refuses_a_game_named_twice() -> None:
    batch = mid_game()
    before = content(batch.states)
    with pytest.raises(ValueError, match="twice"):
        batch.act([0, 0], [1, 1])
    assert content(batch.states) == before


@pytest.mark.parametrize("rows", [[4], [-1], [0.5], ["a"], [True], [True] * 5], ids=str)
def test_rows_that_are_no_games_are_refused(rows: Any) -> None:
    batch = mid_game()
    before = content(batch.states)
    for call in (
        lambda: batch.masks(rows),
        lambda: batch.observe(rows),
        lambda: batch.reset(rows, seeds=[1] * len(rows)),
    ):
        with pytest.raises(ValueError, match="rows"):
            call()
    assert content(batch.states) == before


def test_out_that_cannot_be_written_and_viewers_that_are_no_seats_are_refused() -> None:
    batch = mid_game()
    for call in (batch.masks, batch.observe):
        with pytest.raises(ValueError, match="shape"):
            call(out=np.zeros((4, 1), np.int8))
        size = call().shape
        read_only = np.zeros(size, np.int8)
        read_only.flags.writeable = False
        for out, message in (
            (read_only, "read-only"), (np.zeros(size, np.float32), "float32"), (np.zeros(size, np.int64), "int64"),
            (np.zeros(size).tolist(), "list"), (5, "int"),
        ):  # fmt: skip
            with pytest.raises(ValueError, match=f"out is {message}"):
                call(out=out)
    for viewers in (3, [0, 1, 2, 300], 0.5, [True] * 4, "a"):
        with pytest.raises(ValueError, match="seats"):
            batch.observe(viewers=viewers)
    wide = np.full((4, batch.num_actions + 1), 7, np.int8)
    for out in (np.full((4, batch.num_actions), 7, np.int8), wide[:, 1:]):
        assert batch.masks(out=out) is out
        assert (out == batch.masks()).all()
    assert (wide[:, 0] == 7).all()


def test_more_games_than_memory_holds_are_refused_with_how_many_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    for num_games in (10**12, 10**400):
        with pytest.raises(ValueError, match=r"GB of memory: this machine has room for fewer than [\d,]+ games"):
            Batch("classic", 2, num_games)
    monkeypatch.setattr("perudo_env.engine.state._free_memory", lambda: math.inf)  # a system that does not tell
    with pytest.raises(ValueError, match="num_games = 1000000000000000000 needs"):
        Batch("classic", 2, 10**18)


def test_finished_games_stand_still_and_reset_begins_the_game_of_the_seed() -> None:
    batch = Batch("liars_dice", 2, 3, seed=8)
    batch.act([8, 8, 8])
    assert batch.act([0, 9, 0]).tolist() == [True, False, True]
    over = content(batch.states[[0, 2]])
    batch.act([57, 0, -9])
    assert content(batch.states[[0, 2]]) == over
    assert batch.is_over.all()
    batch.reset([1], seeds=[8])
    fresh = Batch("liars_dice", 2, 1, seed=8)
    for name in ("seed", "round", "dice", "hands", "seat", "phase", "num_bids", "last_end", "place"):
        assert (batch.states[name][1] == fresh.states[name][0]).all()
    mask = np.array([True, False, False])
    batch.reset(mask, seeds=[8])
    assert batch.is_over.tolist() == [False, False, True]


def test_reset_without_seeds_goes_on_to_other_games_the_same_in_every_batch() -> None:
    one, two = Batch("classic", 2, 5, seed=3), Batch("classic", 2, 5, seed=3)
    seeds = [one.states["seed"].tolist()]
    for _ in range(3):
        one.reset()
        two.reset()
        seeds.append(one.states["seed"].tolist())
    assert content(one.states) == content(two.states)
    assert len({s for row in seeds for s in row}) == 20


def test_max_rounds_truncates_every_game() -> None:
    batch = Batch("classic", 3, 10, seed=0, max_rounds=2)
    for _ in range(2):
        batch.act(np.full(10, 4))
        batch.act(np.zeros(10, np.int64))
    assert batch.is_over.all()
    assert batch.truncated.all()
    assert (batch.ranks > 0).all()


def test_play_random_goes_on_for_ever_and_is_the_same_again() -> None:
    one, two = (Batch("marquoir", 3, 16, seed=2) for _ in range(2))
    assert one.play_random(500) == two.play_random(500, observe=True) == 8000
    assert content(one.states) == content(two.states)


def test_num_games_and_seeds_that_cannot_be_are_refused() -> None:
    for num_games in (0, -1, 2.0, True, None, "3"):
        with pytest.raises(ValueError, match="num_games"):
            Batch("classic", 2, num_games)  # type: ignore[arg-type]
    for seed in (-1, 2**64, 1.5, True, "7", [1, 2], [-1, 2, 3], np.ones(3)):
        with pytest.raises(ValueError, match="seed"):
            Batch("classic", 2, 3, seed=seed)
    with pytest.raises(ValueError, match="pad_to"):
        Batch("classic", 4, 1, pad_to=layout(3, 20))


def test_a_padded_batch_refuses_what_only_the_larger_table_could_bid() -> None:
    batch = Batch("classic", 2, 1, seed=0, pad_to=layout(6, 30))
    larger = pe.Game("classic", 6, seed=0).num_actions - 1
    assert batch.num_actions == larger + 1
    with pytest.raises(IllegalActionError, match="at most 10"):
        batch.act([larger])
