"""Readings of observations by agents, against the engine's own records and counts."""

from itertools import product

import numpy as np
import pytest

import agents
import perudo_env as pe
from agents.core.reading import TAIL, bid_chances, read_all
from agents.core.seated import sight
from perudo_env.engine.actions import bid_id
from perudo_env.engine.observation import layout
from perudo_env.engine.rules import matches
from perudo_env.engine.state import shows_counts
from perudo_env.engine.variant import RULE_TEXTS, VARIANTS

ALL = [
    *VARIANTS,
    "box:calza=anyone",
    "classic:starting_dice=2,dice_counts=hidden",
    "marquoir:num_faces=4,starting_dice=6",
]


def walk(variant, num_seats, num_games=40, steps=60, seed=3):
    """Batches of random play, one per decision."""
    batch = pe.Batch(variant, num_seats, num_games, seed)
    for _ in range(steps):
        yield batch
        batch.play_random(1)


@pytest.mark.parametrize("variant", ALL)
@pytest.mark.parametrize("num_seats", [2, 3, 6, 8])
def test_a_record_is_read_back_from_its_observation(variant, num_seats):
    seen_bids = 0
    for batch in walk(variant, num_seats):
        live = np.flatnonzero(~batch.is_over)
        read = read_all(batch.observe(), sight(batch.variant, num_seats))
        for i in live:
            s, r = batch.states[i], read[i]
            n, me = int(s["num_bids"]), int(s["seat"])
            seen_bids += n
            assert r["num_bids"] == n
            assert (r["bids"][:n] == s["bids"][:n]).all(), "bids in the order in which they were made"
            assert (r["bidders"][:n] == (s["bidders"][:n] - me) % num_seats).all()
            assert (r["own"] == s["hands"][me]).all()
            assert r["opener"] == (s["opener"] - me) % num_seats
            assert r["bidder"] == ((s["bidder"] - me) % num_seats if n else -1)
            assert (r["is_palifico"], r["in_window"]) == (s["is_palifico"], s["phase"] == 1)
            assert (r["num_faces"], r["starting_dice"]) == (s["num_faces"], s["starting_dice"])
            dice = np.roll(s["dice"][:num_seats], -me)
            assert r["num_alive"] == (dice > 0).sum()
            assert ((r["dice"][:num_seats] > 0) == (dice > 0)).all()
            if shows_counts(batch.variant, batch.memory):
                assert (r["dice"][:num_seats] == dice).all()
                assert r["counts_hidden"] == 0
    assert seen_bids > 0


def test_hidden_counts_are_assumed_from_the_observation_alone():
    for dice, assumed in (((5, 5, 2), 4), ((1, 5, 5), 2), ((3, 1, 1), 3)):
        game = pe.Game("box", 3, 1, dice=dice, memory="none")
        read = read_all(game.observation(0)[None], sight(game.variant, 3))[0]
        assert read["counts_hidden"] == 1
        assert read["dice"].tolist() == [dice[0], assumed, assumed, 0, 0, 0, 0, 0]
    hands = [[2, 2, 3], [4], [1, 1]]
    palifico = pe.Game.from_hands("box", hands, opener=1, palifico=True, bids=["1x4", "2x4"], memory="none")
    read = read_all(palifico.observation(0)[None], sight(palifico.variant, 3))[0]
    assert read["dice"][:3].tolist() == [3, 1, 3], "the opener of a palifico round holds one die"


CASES = [
    ("liars_dice", (1, 2), False, 6), ("classic", (2, 2), False, 6), ("classic", (1, 2), True, 6),
    ("joker:pacos_wild=false", (1, 2), False, 6), ("pascal:num_faces=3,starting_dice=4", (1, 2, 2), False, 3),
    ("evening:num_faces=2,starting_dice=6", (2, 4), False, 2),
]  # fmt: skip


@pytest.mark.parametrize(("variant", "dice", "palifico", "faces"), CASES)
def test_chances_equal_a_count_over_all_hands_by_the_engine(variant, dice, palifico, faces):
    """P(holds | own dice) is the share of the others' hands for which the engine's own ``matches`` reaches the bid."""
    own = list(range(1, dice[0] + 1))
    outcomes = []
    for hidden in product(range(1, faces + 1), repeat=sum(dice[1:])):
        others, at = [], 0
        for d in dice[1:]:
            others.append(list(hidden[at : at + d]))
            at += d
        game = pe.Game.from_hands(
            variant, [own[: dice[0]], *others], opener=dice.index(1) if palifico else 0, palifico=palifico
        )
        outcomes.append([matches(game.states[0], bid_id(1, f)) for f in range(1, faces + 1)])
    counts = np.array(outcomes)
    chances = bid_chances(game.observation(0)[None], variant, len(dice))
    for quantity in range(1, sum(dice) + 1):
        for face in range(1, faces + 1):
            assert chances.holds[0, quantity - 1, face - 1] == pytest.approx(
                (counts[:, face - 1] >= quantity).mean(), abs=1e-6
            )
            assert chances.exactly[0, quantity - 1, face - 1] == pytest.approx(
                (counts[:, face - 1] == quantity).mean(), abs=1e-6
            )
    assert (chances.holds[0, :, faces:] == 0).all()
    assert (chances.holds[0, sum(dice) :] == 0).all()


def test_chances_of_the_standing_bid_equal_the_outcomes_of_dudo():
    """Over all hands of the others, Dudo costs the doubter a die as often as ``standing_holds`` says."""
    lost = exact = 0
    for a, b, c in product(range(1, 7), repeat=3):
        game = pe.Game.from_hands("marquoir", [[a, b], [1, 4], [c]], opener=0, bids=["2x4"])
        chances = bid_chances(game.observation(1)[None], "marquoir", 3)
        called = game.copy()
        game.act("dudo")
        lost += game.dice == (2, 1, 1)
        called.act("calza")
        exact += called.dice == (2, 3, 1)
    assert chances.standing_holds[0] == pytest.approx(lost / 216, abs=1e-6)
    assert chances.standing_exactly[0] == pytest.approx(exact / 216, abs=1e-6)


@pytest.mark.parametrize("variant", [*RULE_TEXTS, "box:calza=anyone"])
@pytest.mark.parametrize("num_seats", [2, 5])
def test_padding_changes_nothing(variant, num_seats):
    big = layout(8, 97)
    for batch in walk(variant, num_seats, num_games=20, steps=25):
        padded = pe.Batch(variant, num_seats, 20, 3, pad_to=big)
        padded.states[:] = batch.states
        live = ~batch.is_over
        near, far = (
            bid_chances(batch.observe()[live], variant, num_seats),
            bid_chances(padded.observe()[live], variant, num_seats, big),
        )
        size = near.holds.shape[1]
        assert (near.holds == far.holds[:, :size]).all()
        assert (near.exactly == far.exactly[:, :size]).all()
        assert (far.holds[:, batch.variant.total_at_start(num_seats) :] == 0).all()
        assert (near.standing == far.standing).all()


def test_before_the_opening_bid_nothing_can_be_doubted():
    game = pe.Game("classic", 3, 1)
    chances = bid_chances(game.observation(game.seat)[None], "classic", 3)
    assert (chances.standing[0], chances.standing_holds[0], chances.standing_exactly[0]) == (-1, 1.0, 0.0)


def test_the_tail_table_is_a_table_of_chances():
    assert (TAIL >= 0).all()
    assert (TAIL <= 1).all()
    assert (np.diff(TAIL, axis=-1) <= 0).all()


def test_observations_of_another_table_are_refused():
    game = pe.Game("classic", 3, 1)
    seen, mask = game.observation(0)[None], game.action_mask()[None]
    with pytest.raises(ValueError, match=rf"widths \[{seen.shape[1]}\].*4 seats and quantities to 20"):
        bid_chances(seen, "classic", 4)
    with pytest.raises(ValueError, match="pad_to holds 2 seats"):
        sight(game.variant, 3, layout(2, 15))
    for name in ("odds", "threshold", "bluffer", "inference", "exact", "table", "search:odds"):
        for policy in (agents.make(name, "classic", 2), agents.make(name, "classic", 3, layout(3, 16))):
            with pytest.raises(ValueError, match="made for"):
                policy.probs(seen, mask)
