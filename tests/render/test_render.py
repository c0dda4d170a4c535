"""The table as text and picture: nothing hidden is shown, what must be beaten is."""

import random
from dataclasses import replace

import numpy as np
import pytest

from perudo_env import PASS, Bid, Game, variant
from perudo_env.engine.variant import VARIANTS
from perudo_env.render.picture import picture
from perudo_env.render.scene import last_reveal, raises, scene
from perudo_env.render.sprites import HEIGHT, WIDTH
from perudo_env.render.text import text

HANDS = [[2, 2, 3, 4, 4], [1, 3, 5, 6, 6], [2, 3, 4, 5, 6], [1, 2, 4, 5, 5]]
OTHER = [[2, 2, 3, 4, 4], [4, 4, 4, 6, 6], [1, 1, 1, 1, 1], [3, 3, 3, 3, 6]]


@pytest.mark.parametrize("name", VARIANTS)
@pytest.mark.parametrize("num_seats", [2, 4, 8])
def test_every_preset_renders_from_deal_to_end(name, num_seats):
    r = random.Random(num_seats)
    game = Game(name, num_seats, seed=1)
    frames = 0
    while not game.is_over:
        if frames < 12 or game.round % 9 == 0:
            for viewer in (None, game.seat):
                pixels = picture(game, viewer)
                assert (pixels.shape, pixels.dtype) == ((HEIGHT, WIDTH, 3), np.uint8)
            assert str(game.variant) in text(game, game.seat)
            frames += 1
        actions = game.legal_actions()
        bids = [a for a in actions if isinstance(a, Bid)]
        game.act(r.choice(bids[:6]) if bids and r.random() < 0.7 else r.choice(actions))
    assert frames > 1
    assert "places: " in text(game, 0)
    # over: all is shown to everybody
    assert replace(scene(game, 0), viewer=None) == scene(game)
    assert picture(game, 0).shape == (HEIGHT, WIDTH, 3)


@pytest.mark.parametrize("name", ["classic", "box", "box:calza=anyone", "pascal"])
def test_no_other_seats_dice_are_visible(name):
    """Two games that differ only in the other seats' hands look the same to the viewer, bid by bid."""
    bids = ["2x3", "3x3", "3x5", "3x6"]
    for n in range(len(bids) + 1):
        one, two = (Game.from_hands(name, hands, bids=bids[:n], seed=4) for hands in (HANDS, OTHER))
        assert scene(one, 0) == scene(two, 0)
        assert text(one, 0) == text(two, 0)
        assert np.array_equal(picture(one, 0), picture(two, 0))
        assert text(one) != text(two)
        assert not np.array_equal(picture(one), picture(two))


def test_hidden_dice_counts_are_hidden():
    shorter = [HANDS[0], [6, 6], *HANDS[2:]]
    one, two = (Game.from_hands("box", hands, bids=["2x3"], seed=4) for hands in (HANDS, shorter))
    assert text(one, 0) == text(two, 0)
    assert np.array_equal(picture(one, 0), picture(two, 0))
    public = variant("box", dice_counts="public")
    one, two = (Game.from_hands(public, hands, bids=["2x3"], seed=4) for hands in (HANDS, shorter))
    assert text(one, 0) != text(two, 0)
    assert not np.array_equal(picture(one, 0), picture(two, 0))


def test_big_quantities_are_shown_whole():
    game = Game.from_hands("classic", [[2, 3, 4, 5, 6]] * 6, bids=["27x6"])
    for viewer in (None, 0, 1):
        assert "to beat: 27x6, by seat 0" in text(game, viewer)
        assert "0: 27x6" in text(game, viewer)


def test_the_picture_tells_quantities_and_faces_apart():
    v = variant("evening", starting_dice=6)
    bids = ["7x6", "27x6", "77x6", "97x6", "97x5", "27P"]
    pictures = [
        picture(Game.from_hands(v, [[2] * 6] * 8, bids=[bid], palifico=False)) for bid in bids if "P" not in bid
    ]
    pictures.append(picture(Game.from_hands(v, [[2] * 6] * 8, bids=["5x4", "27P"])))
    assert len({p.tobytes() for p in pictures}) == len(bids)


@pytest.mark.parametrize("name", [*VARIANTS, "box:calza=anyone"])
def test_the_least_raise_per_face_is_the_engines(name):
    r = random.Random(3)
    game = Game(name, 4, seed=2)
    for _ in range(30):
        if game.is_over:
            break
        asked = game.copy()
        while asked.in_calza_window:
            asked.act(PASS)
        legal = [a for a in asked.legal_actions() if isinstance(a, Bid)]
        expected = {f: min(b.quantity for b in legal if b.face == f) for f in {b.face for b in legal}}
        assert {face: least for face, (least, _) in raises(game).items()} == expected
        line = next(words for words in text(game).splitlines() if words.startswith(("least raise", "may open")))
        shown = line.partition(": ")[2].split() if expected else []
        assert sorted(shown) == sorted(str(Bid(q, f)) for f, q in expected.items())
        bids = [a for a in game.legal_actions() if isinstance(a, Bid)]
        game.act(bids[0] if bids and r.random() < 0.8 else r.choice(game.legal_actions()))


def test_a_bid_at_the_top_says_that_nothing_is_left():
    game = Game.from_hands("classic", [[2], [3]], bids=["10x6", "10P"], total_at_start=10)
    assert "least raise: nothing: the bid is as high as it may be" in text(game)


def test_flags_and_turn_are_shown():
    game = Game.from_hands("box:calza=anyone", [[2], [3, 3]], palifico=True, bids=["1x2"])
    assert text(game).splitlines()[0] == "box:calza=anyone, round 1, palifico, Calza window"
    assert "> seat 1  33      to act" in text(game)
    assert "vous, à jouer" in text(game, 1, language="fr")
    plain = Game.from_hands("box:calza=anyone", [[2], [3, 3]], bids=["1x2"])
    assert not np.array_equal(picture(game), picture(plain))


def test_the_reveal_shows_the_round_that_ended():
    game = Game.from_hands("classic", HANDS, bids=["4x6", "5x6"])
    with pytest.raises(ValueError, match="no round of this game has ended"):
        text(game, 0, reveal=True)
    game.act("dudo")
    last = last_reveal(game)
    assert last is not None
    assert (last.count, last.seat, last.change, last.bids[-1]) == (5, 2, -1, (1, Bid(5, 6)))
    shown = text(game, 0, reveal=True)
    assert all("".join(map(str, hand)) in shown for hand in HANDS)
    assert "seat 1 bid 5x6, seat 2 said dudo, the count is 5: seat 2 loses a die" in shown
    # the round that now begins is as secret as ever, and tells how the last one ended
    assert "last round: seat 1 bid 5x6" in text(game, 0)
    assert "?????" in text(game, 0)
    assert not np.array_equal(picture(game, 0, reveal=True), picture(game, 0))


def test_rendering_leaves_the_game_alone():
    game = Game.from_hands("box:calza=anyone", HANDS, bids=["2x3"], seed=4)
    before = game.position
    picture(game, 1)
    text(game, 1)
    assert game.position == before
    first = picture(game, 1)
    first[:] = 0
    assert picture(game, 1).any()


@pytest.mark.parametrize(
    ("preset", "palifico", "bid", "faces"),
    [
        ("classic", False, "2x3", {1, 3}),
        ("classic", True, "2x3", {3}),
        ("pascal", False, "2P", {1}),
        ("classic:pacos_wild=False", False, "2x3", {3}),
    ],
)
def test_the_matching_dice_of_a_reveal_are_those_that_the_rules_count(preset, palifico, bid, faces):
    hands = [[3], [1, 2, 3, 3, 4]] if palifico else [[1, 3, 5], [1, 2, 3, 3, 4]]
    game = Game.from_hands(preset, hands, palifico=palifico, bids=[bid])
    assert scene(game, 0).matching == faces
    game.act("dudo")
    shown = scene(game, 0, reveal=True)
    assert shown.matching == faces
    assert sum(face in shown.matching for hand in shown.hands for face in hand) == shown.last.count
