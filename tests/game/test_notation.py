"""Text: what is printed reads back to the same and prints the same; garbage is a NotationError that names the bad token."""

from __future__ import annotations

import random
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import perudo_env as pe
from perudo_env import Bid, Game, NotationError, perudo_v0
from perudo_env.adapters.speech import hear
from perudo_env.engine.actions import ACTIONS as ALL_ACTIONS
from perudo_env.engine.actions import MAX_QUANTITY, to_id
from perudo_env.engine.variant import parse_variant
from perudo_env.game import notation
from tests.helpers import legal_ids, play_out, random_dice, random_variant, state_of

ACTIONS = st.one_of(st.sampled_from(list(pe.Call)), st.builds(Bid, st.integers(1, MAX_QUANTITY), st.integers(1, 6)))
SEEDS = st.integers(0, 2**32)
TOKENS = st.sampled_from(
    [
        "perudo/1",
        "classic",
        "box:calza=anyone",
        "evening",
        "position",
        "seed=7",
        "seed=-1",
        "seed=",
        "total=9",
        "spent=0",
        "spent=0,1",
        "max_rounds=3",
        "max_rounds=0",
        "133/26",
        "22/-",
        "-/-",
        "7/1",
        "opener=0",
        "opener=1",
        "opener=9",
        "opener=x",
        "palifico",
        "2x3",
        "3P",
        "0x3",
        "999x6",
        "2x7",
        "dudo",
        "calza",
        "pass",
        "\n",
        "\n",
    ]
)
SCRAPS = st.lists(st.one_of(TOKENS, st.text(max_size=8)), max_size=12).map(" ".join)
few = settings(max_examples=150)


def random_game(seed: int) -> Game:
    """A game of any mixture of switches, from a fresh deal or a position, played for a while or to its end."""
    rng = random.Random(seed)
    v, num_seats = random_variant(rng), rng.randint(2, 8)
    dice = random_dice(v, num_seats, rng)
    max_rounds = rng.choice((None, None, 3))
    if rng.random() < 0.5:
        game = Game(v, num_seats, rng.getrandbits(64), dice=rng.choice((None, dice)), max_rounds=max_rounds)
    else:
        hands = [[rng.randint(1, v.num_faces) for _ in range(d)] for d in dice]
        opener = rng.choice([seat for seat in range(num_seats) if dice[seat]])
        palifico = v.palifico != "off" and dice[opener] == 1
        spent = [s for s in range(num_seats) if v.palifico == "once" and rng.random() < 0.3]
        game = Game.from_hands(
            v, hands, opener=opener, palifico=palifico, seed=rng.getrandbits(64), palifico_spent=spent,
            total_at_start=rng.randint(sum(dice), num_seats * v.starting_dice), max_rounds=max_rounds,
        )  # fmt: skip
    return play_out(game, rng, rng.choice((0, 3, 10, 40, None)))


@given(ACTIONS)
def test_actions_print_and_read_back(action: pe.Action) -> None:
    assert notation.parse_action(str(action)) == action
    assert notation.parse_action(str(action).upper()) == action
    assert ALL_ACTIONS[to_id(action)] == action
    assert eval(repr(action).split(":")[0].lstrip("<"), {"Bid": Bid, "Call": pe.Call}) == action


TYPED: dict[pe.Action, str] = {
    Bid(5, 3): "5x3, 5 3,  5 X 3 , 5×3, 5*3",
    Bid(3, 1): "3P, 3p, 3x1, 3 1, 3 pacos, 3 Aces, 3as",
    Bid(1, 1): "1 paco",
    Bid(27, 6): "27x6",
    pe.DUDO: "dudo, d, D, doute, dudu, DUDO, liar, menteur",
    pe.CALZA: "calza, c, exact",
    pe.PASS: "pass, passe",
}


def test_actions_are_read_as_people_type_them_at_every_door() -> None:
    for action, texts in TYPED.items():
        for text in texts.split(","):
            assert notation.parse_action(text) == action, text
            # a language model's answer says more than two numbers
            if not text.replace(" ", "").isdigit():
                assert hear(text) == action, text
    for text in ("", "5", "x3", "5x7", "0x3", "cinq 3", "5x3 dudo", "5 33", "53", "3 pacoss"):
        with pytest.raises(NotationError):
            notation.parse_action(text)


@given(st.lists(st.lists(st.integers(1, 6), max_size=6), min_size=1, max_size=8))
def test_hands_print_and_read_back(hands: list[list[int]]) -> None:
    expected = tuple(tuple(sorted(hand)) for hand in hands)
    text = "/".join(map(notation.format_hand, expected))
    assert notation.parse_hands(text) == expected


@few
@given(SEEDS)
def test_variants_print_and_read_back(seed: int) -> None:
    v = random_variant(random.Random(seed))
    assert parse_variant(str(v)) == v
    assert str(parse_variant(str(v))) == str(v)


def test_a_variant_under_a_name_of_its_own_is_kept_as_custom():
    v = pe.Variant(name="mine", calza="anyone")
    assert parse_variant(str(v)) == v
    assert pe.Game.replay(pe.Game(v, 3, seed=1).record()).variant == v


def test_every_door_reads_the_text_of_a_variant_alike() -> None:
    """``pe.variant`` reads what the environments read, and overrides it; a text that says a switch twice, or none, is none."""
    v = pe.variant("marquoir:starting_dice=3")
    assert v == parse_variant("marquoir:starting_dice=3") == Game("marquoir:starting_dice=3").variant
    assert (str(v), v) == ("marquoir:starting_dice=3", pe.variant("marquoir", starting_dice=3))
    assert str(pe.variant("box:calza=anyone,starting_dice=3", calza="off")) == "box:starting_dice=3"
    assert pe.variant("custom:calza=anyone") == pe.Variant(calza="anyone")
    for text, message in {
        "classic:calza=anyone,calza=off": "says calza twice",
        "classic:calza=off,calza=off": "says calza twice",
        "classic:": "'' in variant 'classic:' is not of the form",
        "classic:,": "not of the form",
        "classic:calza=off,": "not of the form",
        ":calza=off": "unknown variant ''",
        "clasic:calza=off": "'clasic' .did you mean 'classic'",
    }.items():
        for door in (
            pe.variant,
            parse_variant,
            Game,
            perudo_v0.raw_env,
            lambda t: Game.replay(f"perudo/1 {t} seed=1\n1/1 opener=0"),
        ):
            with pytest.raises(ValueError, match=message):
                door(text)
    assert eval(repr(v), {"Variant": pe.Variant}) == v


@few
@given(SEEDS)
def test_positions_print_and_read_back(seed: int) -> None:
    """A finished game's position is its last round; what follows it depends on max_rounds, which a position has not."""
    game = random_game(seed)
    text = game.position
    again = Game.from_position(text)
    if game.is_over:
        assert again.events[1].bid == game.bids[0][1]
        return
    assert again.position == text
    same = ("variant", "seat", "opener", "palifico", "standing_bid", "bidder", "dice", "bids", "in_calza_window")
    assert [getattr(again, name) for name in same] == [getattr(game, name) for name in same]
    assert legal_ids(again) == legal_ids(game)
    for seat in range(game.num_seats):
        assert again.hand(seat) == game.hand(seat)
        assert again.observation(seat).tobytes() == game.observation(seat).tobytes()


@few
@given(SEEDS)
def test_records_print_and_read_back_and_go_on_with_the_same_dice(seed: int) -> None:
    game = random_game(seed)
    again = Game.replay(game.record())
    assert state_of(again) == state_of(game)
    play_out(game, random.Random(seed))
    play_out(again, random.Random(seed))
    assert state_of(again) == state_of(game)


@few
@given(SEEDS, st.data())
def test_a_record_with_one_token_changed_is_read_or_refused(seed: int, data: st.DataObject) -> None:
    record = random_game(seed).record()
    lines = [line.split(" ") for line in record.split("\n")]
    line = data.draw(st.integers(0, len(lines) - 1))
    word = data.draw(st.integers(0, len(lines[line]) - 1))
    lines[line][word] = data.draw(st.one_of(TOKENS, st.text(max_size=6)))
    text = "\n".join(map(" ".join, lines))
    try:
        game = Game.replay(text)
    except NotationError:  # any other error fails the test
        return
    assert Game.replay(game.record()).record() == game.record()


@settings(max_examples=300)
@given(st.one_of(SCRAPS, st.text(max_size=40)))
def test_garbage_is_a_notation_error_never_another(text: str) -> None:
    doors = (
        notation.parse_action,
        notation.parse_hands,
        notation.parse_round,
        notation.parse_position,
        notation.parse_record,
        Game.from_position,
        Game.replay,
    )
    for door in doors:
        for fed in (text, "perudo/1 " + text, "classic " + text, "perudo/1 classic seed=7\n" + text):
            with suppress(NotationError):  # any other error fails the test
                door(fed)


BAD = [
    # door, text, the token that the message names
    ("parse_action", "5y3", "5y3"),
    ("parse_action", "0x3", "0x3"),
    ("parse_action", "98x3", "98x3"),
    ("parse_action", "5x7", "5x7"),
    ("parse_action", "\u0665x3", "\u0665x3"),
    ("parse_action", "", "''"),
    ("parse_hands", "133/7", "133/7"),
    ("parse_round", "133/26 opener=9", "opener=9"),
    ("parse_round", "133/26 opener=0 palifico foo", "foo"),
    ("parse_record", "chess/1 classic", "chess/1"),
    ("parse_record", "perudo/1 clasic\n1/1", "did you mean 'classic'"),
    ("parse_record", "perudo/1 classic:calsa=off\n1/1", "did you mean 'calza'"),
    ("parse_record", "perudo/1 classic seed=-3\n1/1", "seed=-3"),
    ("parse_record", "perudo/1 classic seed=1 seed=2\n1/1", "seed=2"),
    ("parse_record", "perudo/1 classic seed=" + "0" * 5000 + "\n1/1", "seed="),
    ("parse_record", "perudo/1 classic sed=3\n1/1", "sed=3"),
    ("parse_position", "classic spent=x 1/1", "spent=x"),
    ("parse_position", "classic opener=0", "no hands"),
]


@pytest.mark.parametrize(("door", "text", "named"), BAD)
def test_the_message_names_the_bad_token(door: str, text: str, named: str) -> None:
    with pytest.raises(NotationError) as caught:
        getattr(notation, door)(text)
    assert named in str(caught.value)


@pytest.mark.parametrize("thing", [None, 5, b"5x3", ["5x3"], 2.5])
def test_what_is_no_text_is_refused(thing: object) -> None:
    for door in (
        notation.parse_action,
        notation.parse_position,
        notation.parse_record,
        Game.replay,
        Game.from_position,
    ):
        with pytest.raises(NotationError):
            door(thing)  # type: ignore[operator]


CONTRADICTIONS = [
    ("perudo/1 liars_dice seed=1\n12345/12345 opener=1", "opener=1"),
    ("perudo/1 pascal position seed=1\n22/33 opener=0 1x2 dudo\n22/33 opener=1", "round 2"),
    ("perudo/1 pascal position seed=1\n22/33 opener=0 1x2 1x2", "1x2 over 1x2"),
    ("perudo/1 pascal position seed=1\n22/33 opener=0 1x2 dudo 1x2", "after the end"),
    ("perudo/1 pascal position seed=1\n22/33 opener=0 1x2\n22/33 opener=0", "not ended"),
    ("perudo/1 pascal position seed=1\n2/3 opener=0 1x2 dudo\n2/- opener=0", "over"),
    ("perudo/1 pascal position seed=1\n2/3 opener=0 palifico", "palifico"),
    ("perudo/1 pascal:num_faces=4 position seed=1\n26/33 opener=0", "6"),
    ("perudo/1 pascal seed=1 spent=0\n12345/12345 opener=0", "spent"),
    ("perudo/1 pascal seed=1 total=9\n12345/12345 opener=0", "total"),
]


@pytest.mark.parametrize(("text", "named"), CONTRADICTIONS)
def test_a_record_that_contradicts_the_rules_is_refused(text: str, named: str) -> None:
    with pytest.raises(NotationError) as caught:
        Game.replay(text)
    assert named in str(caught.value)
