"""Golden numbers and golden games.

Bid sequences: all ways to bid in one round that are not yet doubted, the empty one included, with a cap of the dice in
play and (unless said) no opening on Pacos. Information states of one round: both seats together, one for each sequence
and each sorted hand of the seat to act; states in which only Dudo is left count. The numbers come from independent
solvers, not from this engine. Golden games are written anew by ``python -m tests.golden``.
"""

from __future__ import annotations

from collections import Counter
from functools import cache
from math import comb

import pytest

import perudo_env as pe
from perudo_env import Bid, Game
from tests.golden.playthrough import FOLDER, playthrough
from tests.helpers import PRESETS, legal_bids

# dice on the table -> sequences
SEQUENCES = {
    "quantity_any_face": {2: 4_093, 3: 262_013},
    "monotone": {2: 765, 3: 27_773, 4: 317_945},
    "one_axis": {2: 569, 3: 20_149, 4: 174_641},
    "palifico": {2: 19, 3: 43, 4: 91},
}
INFORMATION_STATES = {"quantity_any_face": 24_558, "monotone": 4_590, "one_axis": 3_414}


def round_of(rule: str, dice: int, **switches: object) -> Game:
    """A fresh round with so many dice on the table, the opener holding one die only if the round is palifico."""
    palifico = rule == "palifico"
    v = pe.variant("classic", max_bid="dice_in_play", **({} if palifico else {"raise_rule": rule}), **switches)
    sizes = (1, dice - 1) if palifico else ((dice + 1) // 2, dice // 2)
    return Game.from_hands(v, [[2] * size for size in sizes], palifico=palifico, seed=0)


def walk(game: Game) -> int:
    """Count sequences by playing every one of them."""
    total = 1
    for bid in legal_bids(game):
        after = game.copy()
        after.act(bid)
        total += walk(after)
    return total


def count(rule: str, dice: int, **switches: object) -> Counter[int]:
    """Sequences by length parity; what may follow a bid is asked from the engine once, as it depends on that bid alone."""
    start = round_of(rule, dice, **switches)
    after: dict[Bid, Game] = {}

    def collect(game: Game) -> None:
        for bid in legal_bids(game) - after.keys():
            twin = game.copy()
            twin.act(bid)
            after[bid] = twin
            collect(twin)

    collect(start)

    @cache
    def below(bid: Bid | None) -> tuple[int, int]:
        even, odd = 1, 0
        for following in legal_bids(after[bid] if bid else start):
            more = below(following)
            even, odd = even + more[1], odd + more[0]
        return even, odd

    return Counter(dict(enumerate(below(None))))


@pytest.mark.parametrize(
    ("rule", "dice"), [(r, 2) for r in SEQUENCES] + [("palifico", 3), ("palifico", 4), ("monotone", 3)]
)
def test_bid_sequences_played_one_by_one(rule: str, dice: int) -> None:
    assert walk(round_of(rule, dice)) == SEQUENCES[rule][dice]


@pytest.mark.parametrize(("rule", "dice"), [(r, d) for r in SEQUENCES for d in SEQUENCES[r]])
def test_bid_sequences_counted(rule: str, dice: int) -> None:
    assert count(rule, dice).total() == SEQUENCES[rule][dice]


def test_bid_sequences_of_four_dice_under_quantity_any_face_are_16_8_million() -> None:
    assert f"{count('quantity_any_face', 4).total():.3g}" == "1.68e+07"


@pytest.mark.parametrize("dice", range(2, 9))
def test_bids_form_one_total_order_with_opening_on_pacos(dice: int) -> None:
    """quantity_any_face: every set of bids is one sequence, so 2^(6N) of them; p Pacos stand between 2p sixes and 2p + 1 twos."""
    assert count("quantity_any_face", dice, paco_open="always").total() == 2 ** (6 * dice)


@pytest.mark.parametrize("rule", INFORMATION_STATES)
def test_information_states_of_one_die_against_one_by_their_keys(rule: str) -> None:
    """1 v 1: the distinct ``infostate_key`` of the seat to act, over all hands and all ways to bid."""
    v = pe.variant("classic", raise_rule=rule, max_bid="dice_in_play", starting_dice=1)
    keys: set[str] = set()

    def visit(game: Game) -> None:
        assert game.seat is not None
        keys.add(game.infostate_key(game.seat))
        for bid in legal_bids(game):
            after = game.copy()
            after.act(bid)
            visit(after)

    for face in range(1, 7):  # both seats hold the same face: each seat's own hands are still all seen
        visit(Game.from_hands(v, [[face], [face]], seed=0))
    assert len(keys) == INFORMATION_STATES[rule]


@pytest.mark.parametrize(
    ("rule", "dice", "printed"),
    [
        ("quantity_any_face", (2, 1), "3.5e+06"),
        ("monotone", (2, 1), "3.7e+05"),
        ("one_axis", (2, 1), "2.7e+05"),
        ("quantity_any_face", (2, 2), "3.5e+08"),
        ("monotone", (2, 2), "6.7e+06"),
        ("one_axis", (2, 2), "3.7e+06"),
    ],
)
def test_information_states_of_more_dice(rule: str, dice: tuple[int, int], printed: str) -> None:
    """Sequences of even length times the opener's sorted hands, of odd length times the other's."""
    hands = [comb(d + 5, 5) for d in dice]
    sequences = count(rule, sum(dice))
    assert f"{sum(sequences[i] * hands[i] for i in (0, 1)):.2g}" == printed


@pytest.mark.parametrize("preset", PRESETS)
def test_golden_game(preset: str) -> None:
    """Written anew by ``python -m tests.golden``."""
    assert playthrough(preset) == (FOLDER / f"{preset}.txt").read_text(encoding="utf-8")


def test_golden_games_cover_every_preset() -> None:
    assert {path.stem for path in FOLDER.glob("*.txt")} == set(PRESETS)
