"""Rule tests, each named after its clause in RULES: raising, Pacos, opening, Palifico's bids, the highest bid, the start.

S0 to S4 are the five rule texts. How rounds end is in ``test_rules_rounds.py``.
"""

from __future__ import annotations

import pytest

import perudo_env as pe
from perudo_env import Bid, Game, IllegalActionError
from perudo_env.engine.actions import ACTIONS, num_actions, to_id
from perudo_env.engine.observation import encode_switches
from perudo_env.engine.variant import RULE_TEXTS, SWITCHES, VARIANTS, switch_values
from tests.helpers import HALVED_PRESETS, PRESETS, legal_bids, legal_ids, state_of, switches_of

SIX_FULL_CUPS = [[2, 3, 4, 5, 6]] * 6  # 30 dice
FACES = range(2, 7)
QUANTITIES = range(1, 31)
RAISE_RULES = switch_values("raise_rule")


def after(v: pe.Variant, *bids: Bid, hands: list[list[int]] = SIX_FULL_CUPS, **setting: object) -> set[Bid]:
    """The legal bids once these were made; a Calza window before the answer is passed."""
    game = Game.from_hands(v, hands, bids=bids, **setting)  # type: ignore[arg-type]
    while game.in_calza_window:
        game.act(pe.PASS)
    return legal_bids(game)


def after_pacos(v: pe.Variant, pacos: int, **setting: object) -> set[Bid]:
    """The legal bids over so many Pacos, which were reached as the variant allows."""
    way = (Bid(pacos, 1),) if v.paco_open == "always" else (Bid(1, 2), Bid(pacos, 1))
    return after(v, *way, **setting)  # type: ignore[arg-type]


# --------------------------------------------------------------------------------------------- raise_rule


def test_one_axis_exactly_one_of_quantity_and_face_goes_up_the_other_stays() -> None:
    """S2."""
    for face in FACES:
        for quantity in (1, 2, 5, 29, 30):
            legal = {b for b in after(VARIANTS["box"], Bid(quantity, face)) if b.face != 1}
            more = {Bid(q, face) for q in range(quantity + 1, 31)}
            higher = {Bid(quantity, f) for f in range(face + 1, 7)}
            assert legal == more | higher


def test_monotone_neither_falls_and_not_both_are_equal() -> None:
    """S0."""
    for face in FACES:
        for quantity in (1, 2, 5, 29, 30):
            legal = {b for b in after(VARIANTS["classic"], Bid(quantity, face)) if b.face != 1}
            assert legal == {Bid(q, f) for q in range(quantity, 31) for f in range(face, 7)} - {Bid(quantity, face)}


def test_quantity_any_face_more_with_any_face_or_as_many_with_a_higher() -> None:
    """S1; S3 and S4 are read so too."""
    for face in FACES:
        for quantity in (1, 2, 5, 29, 30):
            for preset in ("pascal", "marquoir", "pascal_round"):
                legal = {b for b in after(VARIANTS[preset], Bid(quantity, face)) if b.face != 1}
                more = {Bid(q, f) for q in range(quantity + 1, 31) for f in FACES}
                assert legal == more | {Bid(quantity, f) for f in range(face + 1, 7)}


@pytest.mark.parametrize("preset", PRESETS)
def test_raise_rules_are_strictly_nested_in_this_order(preset: str) -> None:
    one, mono, any_face = (pe.variant(preset, raise_rule=rule) for rule in RAISE_RULES)
    strictly = [False, False]
    for quantity in (1, 2, 7, 15, 30):
        for face in FACES:
            legal = [after(v, Bid(quantity, face)) for v in (one, mono, any_face)]
            assert legal[0] <= legal[1] <= legal[2]
            strictly = [strictly[i] or legal[i] < legal[i + 1] for i in (0, 1)]
    assert strictly == [True, True]


# --------------------------------------------------------------------------------------------- Pacos


@pytest.mark.parametrize("preset", HALVED_PRESETS)
def test_from_dice_of_a_face_to_pacos_at_least_half_rounded_up(preset: str) -> None:
    """All five texts; a minimum, never an exact amount. Three Pacos answer six 3s."""
    v = VARIANTS[preset]
    most = v.max_quantity(6)
    for quantity in QUANTITIES:
        for face in (2, 6):
            pacos = {b.quantity for b in after(v, Bid(quantity, face)) if b.face == 1}
            assert pacos == set(range(-(-quantity // 2), most + 1))


@pytest.mark.parametrize("preset", HALVED_PRESETS)
def test_from_pacos_to_a_face_at_least_twice_plus_one_any_face(preset: str) -> None:
    """All five texts; S2's example (4 Pacos to 9 dice) says twice plus one. Six 2s do not answer three Pacos."""
    v = VARIANTS[preset]
    most = v.max_quantity(6)
    for pacos in QUANTITIES:
        legal = after_pacos(v, pacos)
        assert {b for b in legal if b.face != 1} == {Bid(q, f) for q in range(2 * pacos + 1, most + 1) for f in FACES}


@pytest.mark.parametrize("preset", PRESETS)
def test_from_pacos_to_more_pacos(preset: str) -> None:
    v = VARIANTS[preset]
    for pacos in QUANTITIES:
        legal = after_pacos(v, pacos)
        assert {b.quantity for b in legal if b.face == 1} == set(range(pacos + 1, v.max_quantity(6) + 1))


def test_paco_bids_top_face_rank_as_the_highest_ordinary_face() -> None:
    """Research: OpenSpiel's liars_dice, its highest face relabelled as our 1."""
    v = VARIANTS["liars_dice"]
    for quantity in QUANTITIES:
        for face in FACES:
            assert {b.quantity for b in after(v, Bid(quantity, face)) if b.face == 1} == set(range(quantity, 31))
        legal = {b for b in after(v, Bid(quantity, 1)) if b.face != 1}
        assert legal == {Bid(q, f) for q in range(quantity + 1, 31) for f in FACES}


def test_paco_bids_low_face_rank_as_the_lowest_face() -> None:
    v = VARIANTS["joker"]
    for quantity in QUANTITIES:
        for face in FACES:
            assert {b.quantity for b in after(v, Bid(quantity, face)) if b.face == 1} == set(range(quantity + 1, 31))
        assert {b for b in after(v, Bid(quantity, 1)) if b.face != 1} == {
            Bid(q, f) for q in range(quantity, 31) for f in FACES
        }


def test_three_pacos_over_six_threes_and_six_twos_over_three_pacos() -> None:
    """The case another program had the wrong way round."""
    for preset in HALVED_PRESETS:
        assert Bid(3, 1) in after(VARIANTS[preset], Bid(6, 3))
        legal = after(VARIANTS[preset], Bid(6, 3), Bid(3, 1))
        assert Bid(6, 2) not in legal
        assert Bid(7, 2) in legal


# --------------------------------------------------------------------------------------------- the opening bid


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("paco_open", switch_values("paco_open"))
def test_paco_open_may_a_round_open_with_a_bid_on_pacos(preset: str, paco_open: str) -> None:
    """S1: always; S0 and S2: in a palifico round only."""
    v = pe.variant(preset, paco_open=paco_open)
    legal = after(v)
    assert {b.face for b in legal} == {*FACES, *([1] if paco_open == "always" else [])}
    assert {b.quantity for b in legal} == set(range(1, v.max_quantity(6) + 1))


def test_paco_open_of_each_preset() -> None:
    opens_on_pacos = {preset for preset in PRESETS if Bid(1, 1) in after(VARIANTS[preset])}
    assert opens_on_pacos == {"pascal", "pascal_round", "liars_dice", "joker"}


@pytest.mark.parametrize("preset", PRESETS)
def test_dudo_and_calza_need_a_standing_bid(preset: str) -> None:
    game = Game.from_hands(VARIANTS[preset], SIX_FULL_CUPS)
    assert all(isinstance(a, Bid) for a in game.legal_actions())
    for call in (pe.DUDO, pe.CALZA, pe.PASS):
        assert game.why_illegal(call)


# --------------------------------------------------------------------------------------------- palifico's bids


@pytest.mark.parametrize("preset", ["classic", "box", "marquoir", "evening"])
def test_palifico_the_opener_may_open_on_any_face_pacos_included(preset: str) -> None:
    hands = [[3], *SIX_FULL_CUPS[1:]]
    assert {b.face for b in after(VARIANTS[preset], hands=hands, palifico=True)} == {1, *FACES}
    assert {b.face for b in after(VARIANTS[preset], hands=hands)} == set(FACES)


@pytest.mark.parametrize("preset", ["classic", "box", "marquoir", "evening"])
def test_palifico_the_face_is_fixed_for_everybody_only_the_quantity_rises(preset: str) -> None:
    """S0, S2: for everybody, so for seats with one die as well."""
    v = VARIANTS[preset]
    for face in range(1, 7):
        hands = [[3], [4], *SIX_FULL_CUPS[2:]]
        for bids in ([Bid(2, face)], [Bid(2, face), Bid(4, face)], [Bid(1, face), Bid(2, face), Bid(5, face)]):
            legal = after(v, *bids, hands=hands, palifico=True)
            assert legal == {Bid(q, face) for q in range(bids[-1].quantity + 1, v.max_quantity(6) + 1)}


# --------------------------------------------------------------------------------------------- max_bid


@pytest.mark.parametrize("preset", RULE_TEXTS)
def test_max_bid_the_dice_in_play_the_dice_at_the_start_or_beyond(preset: str) -> None:
    """S4: nothing forbids a bid above the dice on the table; T0 is 30 here, 22 dice are left."""
    hands = [[2, 3, 4, 5], [2, 3, 4], *SIX_FULL_CUPS[2:5], []]
    for max_bid, most in (("dice_in_play", 22), ("starting_dice", 30), ("unbounded", 61)):
        v = pe.variant(preset, max_bid=max_bid, dice_counts="public")
        game = Game.from_hands(v, hands, bids=[(1, 2)])
        while game.in_calza_window:
            game.act(pe.PASS)
        assert max(b.quantity for b in legal_bids(game)) == most
        why = game.why_illegal(Bid(most + 1, 2))
        assert why is not None
        assert str(most) in why


def test_max_bid_dice_in_play_falls_with_every_lost_die() -> None:
    v = pe.variant("classic", max_bid="dice_in_play", first_player="first_seat")
    game = Game(v, 3, seed=1)
    for left in range(15, 10, -1):
        assert max(b.quantity for b in legal_bids(game)) == left
        game.act(Bid(left, 6))
        game.act(pe.DUDO)


def test_max_bid_unbounded_even_a_bid_of_t0_pacos_can_be_left() -> None:
    v = VARIANTS["evening"]
    assert after(v, Bid(1, 2), Bid(30, 1)) == {Bid(q, 1) for q in range(31, 62)} | {Bid(61, f) for f in FACES}
    assert Game(v, 6, seed=0).num_actions == num_actions(61)


def test_max_bid_t0_is_the_sum_of_unequal_starting_dice() -> None:
    game = Game("pascal", dice=(5, 2, 1), seed=3)
    assert max(b.quantity for b in legal_bids(game)) == 8


# --------------------------------------------------------------------------------------------- actions and sizes


@pytest.mark.parametrize("preset", PRESETS)
def test_action_ids_decode_encode_and_fit_every_table(preset: str) -> None:
    for num_seats in range(2, 9):
        game = Game(preset, num_seats, seed=0)
        quantity = game.variant.max_quantity(num_seats)
        assert game.num_actions == len(game.action_mask()) == 3 + 6 * quantity
        assert [to_id(ACTIONS[a]) for a in range(game.num_actions)] == list(range(game.num_actions))
        bids = [ACTIONS[a] for a in range(3, game.num_actions)]
        assert bids == sorted(bids)
        assert [ACTIONS[a] for a in range(3)] == [pe.DUDO, pe.CALZA, pe.PASS]
        assert (bids[0], bids[-1]) == (Bid(1, 1), Bid(quantity, 6))
        for action in range(game.num_actions):
            assert (game.why_illegal(action) is None) == (action in legal_ids(game))


def test_big_quantities_are_shown_whole() -> None:
    assert (str(Bid(27, 6)), str(Bid(12, 1))) == ("27x6", "12P")
    game = Game.from_hands("pascal", SIX_FULL_CUPS, bids=["27x6"])
    assert "27x6" in game.record()
    assert "27x6" in (game.why_illegal("26x6") or "")


@pytest.mark.parametrize("num_faces", range(2, 7))
def test_num_faces_no_die_and_no_bid_beyond_it(num_faces: int) -> None:
    v = pe.variant("marquoir", num_faces=num_faces)
    faces = {face for seed in range(40) for seat in (0, 1) for face in Game(v, 2, seed).hand(seat)}
    assert faces == set(range(1, num_faces + 1))
    assert {b.face for b in after(v, hands=[[2], [2]])} == set(range(2, num_faces + 1))
    if num_faces < 6:
        with pytest.raises(IllegalActionError, match="no face 6"):
            Game(v, 2, seed=0).act("1x6")


def test_why_illegal_speaks_both_languages_and_changes_nothing() -> None:
    game = Game.from_hands("box", SIX_FULL_CUPS, bids=["3x3"])
    before = state_of(game)
    english = {game.why_illegal(a) for a in range(game.num_actions)}
    french = {game.why_illegal(a, "fr") for a in range(game.num_actions)}
    assert len(english) == len(french) > 10
    assert english & french == {None}
    assert state_of(game) == before


def test_presets_are_the_table_of_the_rules_page() -> None:
    from tests.reference_presets import PRESETS as PRINTED

    assert {name: switches_of(v) for name, v in VARIANTS.items()} == PRINTED


def test_hidden_with_dice_in_play_is_refused_it_would_leak_the_total() -> None:
    for preset in PRESETS:
        with pytest.raises(ValueError, match="contradicts"):
            pe.variant(preset, dice_counts="hidden", max_bid="dice_in_play")


def test_every_switch_value_has_its_own_bits() -> None:
    seen = set()
    for preset in PRESETS:
        bits = encode_switches(VARIANTS[preset])
        assert set(bits.tolist()) == {0, 1}
        assert bits.sum() == len(SWITCHES)
        seen.add(bits.tobytes())
    assert len(seen) == len(PRESETS)
    for switch in SWITCHES:
        # a preset that no value contradicts
        own = {encode_switches(pe.variant("classic", **{switch: value})).tobytes() for value in switch_values(switch)}
        assert len(own) == len(switch_values(switch))
