"""Game: what it refuses and how, copies, and seeds."""

from __future__ import annotations

import copy
import os
import pickle
import random
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import perudo_env as pe
from perudo_env import Bid, Game, IllegalActionError
from tests.helpers import PRESETS, play_out, state_of

GAME = """
import random
from perudo_env import Game
from tests.helpers import play_out
for variant, seats in (("classic", 3), ("box:calza=anyone,starting_dice=2", 3), ("evening:starting_dice=2", 2), ("joker", 2)):
    print(play_out(Game(variant, seats, seed=77), random.Random(5)).record())
"""


def test_seeds_give_the_same_game_in_another_process() -> None:
    run = subprocess.run(
        [sys.executable, "-c", GAME],
        env=os.environ | {"PYTHONHASHSEED": "1"},
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    games = (("classic", 3), ("box:calza=anyone,starting_dice=2", 3), ("evening:starting_dice=2", 2), ("joker", 2))
    here = [play_out(Game(v, n, seed=77), random.Random(5)).record() for v, n in games]
    assert "\n".join(here) + "\n" == run.stdout


@pytest.mark.parametrize("preset", PRESETS)
def test_numpys_global_seed_changes_nothing(preset: str) -> None:
    seen = []
    for seed in (1, 2):
        np.random.seed(seed)  # noqa: NPY002 (the global generator is the point)
        random.seed(seed)
        game = Game(preset, 3, seed=9)
        np.random.seed(seed + 5)  # noqa: NPY002
        seen.append(play_out(game, random.Random(3)).record())
    assert seen[0] == seen[1]


def test_without_a_seed_games_differ_and_say_their_seed() -> None:
    games = [Game("classic", 2) for _ in range(5)]
    assert len({game.seed for game in games}) == 5
    again = Game("classic", 2, seed=games[0].seed)
    assert state_of(again) == state_of(games[0])


@pytest.mark.parametrize("seed", [0, 1, 2**63, 2**64 - 1])
def test_every_seed_of_64_bits_works(seed: int) -> None:
    game = Game("classic", 2, seed=seed)
    assert game.seed == seed
    assert Game.replay(game.record()).record() == game.record()


def test_dice_depend_on_seed_round_and_seat_only() -> None:
    """Two bidding histories, the same dice in round 2 for the seats with as many dice."""
    one, two = (Game("pascal", 3, seed=4) for _ in range(2))
    for game, bid in ((one, "1x2"), (two, "15x6")):
        game.act(bid)
        game.act("dudo")
    same = [seat for seat in range(3) if one.dice[seat] == two.dice[seat]]
    assert same
    assert one.round == two.round == 2
    assert all(one.hand(seat) == two.hand(seat) for seat in same)


COPIES = [Game.copy, copy.copy, copy.deepcopy, lambda game: pickle.loads(pickle.dumps(game))]


@pytest.mark.parametrize("duplicate", COPIES, ids=["copy", "copy.copy", "deepcopy", "pickle"])
@pytest.mark.parametrize("preset", PRESETS)
def test_copies_mid_game_are_equal_and_independent(preset: str, duplicate: Any) -> None:
    for steps in (0, 1, 7, 40):
        game = play_out(Game(preset, 3, seed=6), random.Random(steps), steps)
        before = state_of(game)
        twin = duplicate(game)
        assert state_of(twin) == before
        play_out(twin, random.Random(8))
        assert state_of(game) == before
        play_out(game, random.Random(8))
        assert state_of(game) == state_of(twin)


def test_an_illegal_action_in_between_leaves_no_trace() -> None:
    """Illegal, then on, equals a game without it."""
    one, two = (Game("classic", 3, seed=1) for _ in range(2))
    for action in ("2x3", "3x3", "dudo", "1x2"):
        for bad in ("99P", "calza", "pass", "0x3", "99x9", -1, 10**9, None):
            with pytest.raises(ValueError):  # noqa: PT011 (IllegalActionError or NotationError)
                one.act(bad)
        one.act(action)
        two.act(action)
    assert state_of(one) == state_of(two)


BAD_ACTIONS = [
    True, False, np.bool_(True), 1.0, 2.5, None, b"dudo", (5, 3), [], {}, -1, 10**30, np.float64(4), np.array([4]), object,
    Bid(2.5, 3), Bid(2.0, 3), Bid(True, 3), Bid("5", 3), Bid(None, 3), Bid(10**30, 3), Bid(5, 7), Bid(5, 0), Bid(0, 3), Bid(-1, 3), Bid(5, 2.0),
]  # fmt: skip


@pytest.mark.parametrize("action", BAD_ACTIONS, ids=repr)
def test_what_is_no_action_is_refused_with_nothing_changed(action: Any) -> None:
    game = Game("classic", 2, seed=1)
    game.act("1x2")
    before = state_of(game)
    for door in (game.act, game.why_illegal):
        with pytest.raises(IllegalActionError) as caught:
            door(action)
        assert str(caught.value)
    assert state_of(game) == before


def test_numpy_integers_are_whole_numbers() -> None:
    game = Game("classic", np.int64(2), seed=np.uint64(1))
    game.act(np.int8(4))
    game.act(Bid(np.int64(3), np.int64(3)))
    assert Game.replay(game.record()).record() == game.record()


def test_after_the_end_nothing_may_be_said() -> None:
    game = play_out(Game("classic", 2, seed=1), random.Random(1))
    before = state_of(game)
    for action in (pe.DUDO, "1x2", 0, 5):
        with pytest.raises(IllegalActionError, match="over"):
            game.act(action)
    assert (game.legal_actions(), game.seat) == ((), None)
    assert state_of(game) == before


REFUSED = [
    # how, the words of value and remedy
    (lambda: Game("clasic", 2), ("'clasic'", "did you mean 'classic'")),
    (lambda: pe.variant("classic", calsa="off"), ("'calsa'", "did you mean 'calza'")),
    (lambda: pe.variant("classic", calza="both"), ("'both'", "'on_turn'")),
    (lambda: pe.variant("classic", starting_dice=7), ("7", "6")),
    (lambda: pe.variant("classic", starting_dice=3.0), ("3.0", "1, 2")),
    (lambda: pe.variant("classic", starting_dice=True), ("True", "1, 2")),
    (lambda: pe.variant("classic", pacos_wild=1), ("1", "True")),
    (lambda: pe.variant("classic", num_faces=1), ("1", "2, 3")),
    (lambda: pe.variant(None), ("None", "classic")),
    (lambda: Game("classic:calza", 2), ("'calza'", "switch=value")),
    *[((lambda n=n: Game("classic", n)), (repr(n), "2 to 8")) for n in (0, 1, 9, -3, 2.0, True, "4", 10**20)],
    *[((lambda s=s: Game("classic", 2, seed=s)), ("seed", "2**64")) for s in (-1, 2**64, 0.5, True, "x", [1, 2])],
    *[((lambda d=d: Game("classic", 2, dice=d)), ("dice",)) for d in ((5,), (5, 5, 5), (6, 5), (0, 5), (-1, 5), (5.0, 5), (True, 5), (5, "a"), (5, None))],
    *[((lambda d=d: Game("classic", dice=d)), ("dice",)) for d in (5, "55")],
    *[((lambda m=m: Game("classic", 2, max_rounds=m)), ("max_rounds", repr(m))) for m in (0, -1, 1.5, True, "3", 2**31)],
    *[((lambda h=h: Game.from_hands("classic", h)), (word,)) for h, word in (
        ([[1, 2]], "num_seats"), ([[1], []], "two seats"), ([[7], [1]], "7"), ([[0], [1]], "0 is not a face"), ([[1.0], [1]], "1.0"),
        ([[True], [1]], "True"), ([[3, "x"], [2]], "'x'"), ([[1] * 6, [1]], "6"), (5, "hands = 5"), ([3, 2], "hands = [3, 2]"), ([[1]] * 9, "9"))],
    *[((lambda o=o: Game.from_hands("classic", [[1], [2], []], opener=o)), ("opener", "0, 1")) for o in (2, 3, -1, 0.0, True, None)],
    (lambda: Game.from_hands("pascal", [[1], [2]], palifico=True), ("palifico", "override")),
    (lambda: Game.from_hands("classic", [[1, 2], [2]], palifico=True), ("2 dice", "one")),
    (lambda: Game.from_hands("classic", [[1], [2]], palifico="no"), ("'no'", "False")),
    *[((lambda t=t: Game.from_hands("classic", [[1, 2], [2]], total_at_start=t)), ("total_at_start",)) for t in (2, 11, 3.5, True, "3")],
    *[((lambda s=s: Game.from_hands("evening", [[1], [2]], palifico_spent=[s])), ("palifico_spent",)) for s in (2, -1, 0.5, True)],
    (lambda: Game.from_hands("classic", [[1], [2]], palifico_spent=[0]), ("once",)),
    (lambda: Game.from_hands("classic", [[1], [2]], bids=[(1, 2), (1, 2)]), ("1x2 over 1x2",)),
    (lambda: Game.from_hands("classic", [[1], [2]], bids=[(1,)]), ("(1,)",)),
    (lambda: Game.from_hands("classic", [[1], [2]], bids=["1y2"]), ("1y2",)),
    *[((lambda b=b: Game.from_hands("classic", [[1], [2]], bids=b)), ("bids = ", repr(b))) for b in (5, None, "1x2", ["1x2", "dudo"], ["1x2", pe.CALZA], [0])],
    *[((lambda s=s: Game.from_hands("evening", [[1], [2]], palifico_spent=s)), ("palifico_spent = ",)) for s in (5, None, "0")],
    *[((lambda s=s: Game("classic", 2, seed=0).hand(s)), ("seat", "0 to 1")) for s in (2, -1, 0.0, True, None)],
    *[((lambda s=s: Game("classic", 2, seed=0).observation(s)), ("seat", "0 to 1")) for s in (2, -1, 0.0, True, None)],
]  # fmt: skip


@pytest.mark.parametrize(("refused", "words"), REFUSED)
def test_what_cannot_be_is_refused_with_value_and_remedy(refused: Any, words: tuple[str, ...]) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011 (the words are compared below)
        refused()
    for word in words:
        assert word in str(caught.value)


def test_variants_with_equal_switches_are_equal_and_hash_alike() -> None:
    assert pe.variant("box", calza="off") == pe.VARIANTS["box"]
    assert len({pe.variant("box"), pe.VARIANTS["box"], pe.variant("box", calza="anyone")}) == 2
    with pytest.raises(AttributeError):
        pe.VARIANTS["box"].calza = "anyone"  # type: ignore[misc]


def test_deal_puts_given_dice_under_the_cups() -> None:
    game = pe.Game("classic", dice=(2, 1), seed=0)
    game.deal([(6, 1), ()])
    assert game.hand(0) == (1, 6)
    assert game.hand(1) == ()
    game.deal([(6, 1), (3,)])
    assert pe.Game.replay(game.record()).hand(1) == (3,)
    for hands in ([(6,), (3,)], [(6, 1)], [(6, 7), (3,)]):
        with pytest.raises(ValueError, match="hands"):
            game.deal(hands)
    game.act("1x2")
    with pytest.raises(ValueError, match="before the first action"):
        game.deal([(6, 1), (3,)])
