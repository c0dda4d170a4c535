"""Observations: the encoder against a slow re-statement from ``Game.view``, rotation, padding, and no leaks."""

from __future__ import annotations

import random
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import perudo_env as pe
from perudo_env import Batch, Game
from perudo_env.engine.observation import LAYOUT, layout, switch_slices
from perudo_env.engine.state import MEMORIES
from perudo_env.engine.variant import SWITCHES, switch_values
from perudo_env.game.events import RoundStarted
from tests.helpers import PRESETS, Chooser, legal_ids, play_out, random_dice, random_variant

SEEDS = st.integers(0, 2**32)
few = settings(max_examples=100)


def restated(game: Game, viewer: int) -> np.ndarray:
    """The observation once more, slowly, from the view in words, the public events and what was to be remembered."""
    view, n = game.view(viewer), game.num_seats
    out = np.zeros(game.layout.size, np.int8)
    blocks = {block.name: game.layout.get(out, block.name) for block in LAYOUT}

    def rel(seat: int) -> int:
        return (seat - viewer) % n

    for face in set(view.hand):
        blocks["hand"][face - 1, : view.hand.count(face)] = 1
    for seat in range(n):
        count = view.dice[seat] if game.memory == "none" else game.dice[seat]
        blocks["dice"][rel(seat), : count or 0] = 1
        blocks["alive"][rel(seat)] = view.alive[seat]
    blocks["opener"][rel(view.opener)] = 1
    blocks["is_palifico"][:] = view.palifico
    blocks["calza_window"][:] = view.in_calza_window
    if view.variant.palifico == "once":
        for event in game.events:
            if isinstance(event, RoundStarted) and event.palifico:
                blocks["palifico_spent"][rel(event.opener)] = 1
    for switch in SWITCHES:
        values = switch_values(switch)
        blocks["switches"][switch_slices()[switch].start + values.index(getattr(view.variant, switch))] = 1
    if view.bids:
        bidder, (quantity, face) = view.bids[-1]
        blocks["bidder"][rel(bidder)] = 1
        blocks["standing"][quantity - 1, face - 1] = 1
        if view.palifico:
            blocks["locked_face"][face - 1] = 1
    for seat, (quantity, face) in view.bids:
        blocks["bids"][quantity - 1, face - 1, rel(seat)] = 1
    return out


def some_game(seed: int, *, steps: int | None = None) -> Game:
    """A game of any mixture of switches and memory, from a fresh deal, some steps in."""
    rng = random.Random(seed)
    v, num_seats = random_variant(rng), rng.randint(2, 8)
    dice, memory = rng.choice((None, random_dice(v, num_seats, rng))), rng.choice(MEMORIES)
    game = Game(v, num_seats, rng.getrandbits(64), dice=dice, memory=memory)
    return play_out(game, rng, rng.randint(0, 60) if steps is None else steps)


@few
@given(SEEDS)
def test_the_encoder_writes_what_the_view_says(seed: int) -> None:
    game = some_game(seed)
    if game.is_over:
        return  # a view of a finished game is compared below
    for viewer in range(game.num_seats):
        assert (game.observation(viewer) == restated(game, viewer)).all()


@pytest.mark.parametrize("preset", PRESETS)
def test_every_step_of_a_game_and_its_end(preset: str) -> None:
    game, choose = Game(preset, 3, seed=3), Chooser(random.Random(1))
    while not game.is_over:
        for viewer in range(3):
            assert (game.observation(viewer) == restated(game, viewer)).all()
        game.act(choose(legal_ids(game)))
    for viewer in range(3):
        assert set(np.unique(game.observation(viewer))) == {0, 1}


def test_the_layout_is_a_named_table_without_gaps() -> None:
    for seats, quantity in ((2, 2), (6, 30), (8, 97)):
        table = layout(seats, quantity)
        ends = [(s.start, s.stop) for s in table.slices.values()]
        assert ends[0][0] == 0
        assert ends[-1][1] == table.size
        assert all(a[1] == b[0] for a, b in pairwise(ends))
        assert list(table.slices) == [block.name for block in LAYOUT]


@few
@given(SEEDS, st.integers(1, 7))
def test_rotation_the_same_table_turned_round_looks_the_same(seed: int, turn: int) -> None:
    rng = random.Random(seed)
    v = random_variant(rng)
    n = rng.randint(2, 8)
    dice = random_dice(v, n, rng)
    hands = [[rng.randint(1, v.num_faces) for _ in range(d)] for d in dice]
    opener = rng.choice([s for s in range(n) if dice[s]])
    here = Game.from_hands(v, hands, opener=opener)
    there = Game.from_hands(v, [hands[(s - turn) % n] for s in range(n)], opener=(opener + turn) % n)
    choose = Chooser(rng)
    while True:
        assert (here.action_mask() == there.action_mask()).all()
        for seat in range(n):
            assert (here.observation(seat) == there.observation((seat + turn) % n)).all()
        bids = [a for a in legal_ids(here) if a >= 2]
        if not bids:
            break
        action = choose(bids)
        here.act(action)
        there.act(action)


@few
@given(SEEDS)
def test_padding_keeps_every_block_and_leaves_the_rest_zero(seed: int) -> None:
    rng = random.Random(seed)
    v, n = random_variant(rng), rng.randint(2, 5)
    quantity = v.max_quantity(n)
    larger = layout(rng.randint(n, 8), rng.randint(quantity, 97))
    small, large = Batch(v, n, 3, seed), Batch(v, n, 3, seed, pad_to=larger)
    choose = Chooser(rng)
    for _ in range(12):
        masks = small.masks()
        wide = large.masks()
        assert (wide[:, : small.num_actions] == masks).all()
        assert wide.sum() == masks.sum()
        for viewer in range(n):
            near, far = small.observe(viewers=viewer), large.observe(viewers=viewer)
            assert near.sum() == far.sum()
            for block in LAYOUT:
                inner = small.layout.get(near, block.name)
                outer = larger.get(far, block.name)
                corner = (slice(None), *(slice(0, size) for size in inner.shape[1:]))
                assert (outer[corner] == inner).all()
        actions = np.array([choose(np.flatnonzero(mask).tolist()) if mask.any() else 0 for mask in masks])
        small.act(actions)
        large.act(actions)


@few
@given(SEEDS)
def test_no_leak_of_another_seats_hand(seed: int) -> None:
    """Other hands, the same bytes: observation, mask and key of the viewer, whoever acts and until the reveal."""
    rng = random.Random(seed)
    v = random_variant(rng)
    n = rng.randint(2, 8)
    dice = random_dice(v, n, rng)
    viewer = rng.choice([s for s in range(n) if dice[s]])
    hands = [[rng.randint(1, v.num_faces) for _ in range(d)] for d in dice]
    others = [hand if s == viewer else [rng.randint(1, v.num_faces) for _ in hand] for s, hand in enumerate(hands)]
    opener = rng.choice([s for s in range(n) if dice[s]])
    one, two = (Game.from_hands(v, h, opener=opener, seed=s) for s, h in ((1, hands), (2, others)))
    choose = Chooser(rng)
    while True:
        assert one.observation(viewer).tobytes() == two.observation(viewer).tobytes()
        assert one.action_mask(viewer).tobytes() == two.action_mask(viewer).tobytes()
        assert one.infostate_key(viewer) == two.infostate_key(viewer)
        assert one.view(viewer) == two.view(viewer)
        going_on = [a for a in legal_ids(one) if a >= 2]
        if not going_on:
            break
        action = choose(going_on)
        one.act(action)
        two.act(action)


@few
@given(SEEDS)
def test_no_leak_of_hidden_dice_counts(seed: int) -> None:
    """Hidden counts, no memory: how many dice the others have, and how they are shared out, shows nowhere but in the key."""
    rng = random.Random(seed)
    v = pe.variant(random_variant(rng), max_bid=rng.choice(("starting_dice", "unbounded")), dice_counts="hidden")
    n = rng.randint(3, 8)
    viewer = rng.randrange(n)
    alive = [s == viewer or s == (viewer + 1) % n or rng.random() < 0.7 for s in range(n)]
    own = [rng.randint(1, v.num_faces) for _ in range(rng.randint(1, v.starting_dice))]

    def deal() -> list[list[int]]:
        sizes = [rng.randint(1, v.starting_dice) if here else 0 for here in alive]
        return [own if s == viewer else [rng.randint(1, v.num_faces) for _ in range(sizes[s])] for s in range(n)]

    opener = rng.choice([s for s in range(n) if alive[s]])
    total = n * v.starting_dice
    one, two = (Game.from_hands(v, deal(), opener=opener, total_at_start=total, memory="none") for _ in range(2))
    choose = Chooser(rng)
    while True:
        assert one.observation(viewer).tobytes() == two.observation(viewer).tobytes()
        assert one.action_mask().tobytes() == two.action_mask().tobytes()
        assert one.view(viewer) == two.view(viewer)
        going_on = [a for a in legal_ids(one) if a >= 2]
        if not going_on:
            break
        action = choose(going_on)
        one.act(action)
        two.act(action)


@pytest.mark.parametrize("counts", ["public", "hidden"])
@pytest.mark.parametrize("memory", MEMORIES)
def test_dice_counts_are_told_where_they_are_public_or_remembered(counts: str, memory: str) -> None:
    v = pe.variant("box", dice_counts=counts)
    game = Game.from_hands(v, [[1, 2, 3], [4], [], [5, 6]], memory=memory)
    told = [3, 0, 0, 0] if (counts, memory) == ("hidden", "none") else [3, 1, 0, 2]
    assert game.layout.get(game.observation(0), "dice").sum(axis=1).tolist() == told
    assert game.layout.get(game.observation(0), "alive").tolist() == [1, 1, 0, 1]
    batch = pe.Batch(v, 4, 1, 0, dice=game.dice, memory=memory)
    assert batch.layout.get(batch.observe(viewers=0)[0], "dice").sum(axis=1).tolist() == told
    assert game.view(0).dice == ((3, 1, 0, 2) if counts == "public" else (3, None, None, None)), "people see no more"


def test_with_memory_hidden_counts_are_public_ones_but_for_the_switch() -> None:
    """As a game the two are one: the observations differ in the two bits of dice_counts alone."""
    hidden, public = (
        play_out(Game(pe.variant("box", dice_counts=c), 4, seed=9), random.Random(1), 60) for c in ("hidden", "public")
    )
    differing = np.flatnonzero(hidden.observation(0) != public.observation(0))
    where, bits = hidden.layout.slices["switches"], switch_slices()["dice_counts"]
    assert differing.tolist() == list(range(where.start + bits.start, where.start + bits.stop))


def test_an_unknown_memory_is_refused_by_name() -> None:
    for make in (lambda: Game("box", 3, memory="some"), lambda: pe.Batch("classic", 3, memory="some")):
        with pytest.raises(ValueError, match="memory = 'some' is unknown: use one of 'perfect', 'none'"):
            make()


# --------------------------------------------------------------------------------------------- information states


@pytest.mark.parametrize("preset", PRESETS)
def test_infostate_key_perfect_recall_it_changes_with_every_action_and_never_comes_back(preset: str) -> None:
    game, choose = Game(preset, 3, seed=12), Chooser(random.Random(2))
    seen: list[set[str]] = [set(), set(), set()]
    while True:
        for seat in range(3):
            key = game.infostate_key(seat)
            assert key not in seen[seat]
            seen[seat].add(key)
        if game.is_over:
            break
        game.act(choose(legal_ids(game)))


@few
@given(SEEDS)
def test_infostate_key_equal_keys_equal_view_observation_and_mask(seed: int) -> None:
    """A key forgets nothing that the observation holds: games that differ in the observation differ in the key."""
    rng = random.Random(seed)
    v = pe.variant(random_variant(rng), starting_dice=1, num_faces=2)
    by_key: dict[str, tuple[bytes, bytes]] = {}
    for number in range(60):
        game, choose = Game(v, 2, seed=number), Chooser(rng)
        while not game.is_over:
            for seat in (0, 1):
                sees = (game.observation(seat).tobytes(), game.action_mask(seat).tobytes())
                assert by_key.setdefault(game.infostate_key(seat), sees) == sees
            game.act(choose(legal_ids(game)))
    assert len(by_key) > 4


def test_infostate_key_remembers_the_reveals_of_earlier_rounds_and_the_own_hand() -> None:
    def after_round(other: list[int], own: int) -> str:
        head = f"perudo/1 pascal position seed=1\n12/{''.join(map(str, other))} opener=0 1x2 dudo\n"
        return Game.replay(head + f"1{own}/3 opener=1").infostate_key(0)

    assert after_round([2, 3], 2) != after_round([2, 4], 2)  # what was shown
    assert after_round([2, 3], 2) != after_round([2, 3], 3)  # what one holds
    assert after_round([2, 3], 2) == after_round([3, 2], 2)  # hands are sorted


def test_infostate_key_holds_neither_seed_nor_the_other_hand_before_the_reveal() -> None:
    game = Game("classic", 2, seed=987654321)
    assert "987654321" not in game.infostate_key(0)
    words = game.infostate_key(0).split("\n")[-1].split(" ")[0].split("/")
    assert words == ["".join(map(str, game.hand(0))), "?????"]


def test_bids_of_a_round_with_their_bidders_are_perfect_recall_within_it() -> None:
    """The set of bids orders itself, so the block forgets nothing: unlike histories, unlike observations."""
    v = pe.variant("pascal_round", max_bid="dice_in_play", starting_dice=1)
    seen: dict[bytes, tuple[object, ...]] = {}

    def visit(game: Game) -> None:
        history = game.bids
        assert seen.setdefault(game.observation(0).tobytes(), history) == history
        for action in legal_ids(game):
            if action >= 3:
                twin = game.copy()
                twin.act(action)
                visit(twin)

    visit(Game.from_hands(v, [[2], [3]]))
    assert len(seen) == 2**12
