"""Rule tests, each named after its clause in RULES: Dudo, Calza, Palifico, the next opener, turn order, places, returns.

S0 to S4 are the five rule texts. What may be bid is in ``test_rules.py``.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence

import numpy as np
import pytest

import perudo_env as pe
from perudo_env import Batch, Bid, Game
from perudo_env.engine.rows import settle_row, stop_row
from perudo_env.engine.rules import Reward
from perudo_env.engine.state import Phase, copied
from perudo_env.engine.variant import VARIANTS
from perudo_env.game.events import DieLost, DieRegained, Eliminated, GameOver, Revealed
from tests.helpers import play_out

FULL = [2, 3, 4, 5, 6]


def called(
    v: pe.Variant | str,
    hands: Sequence[Sequence[int]],
    bids: Sequence[str],
    call: str,
    *,
    passes: int = 0,
    **setting: object,
) -> Game:
    """The game after a call that ends the round; earlier seats of a Calza window pass."""
    game = Game.from_hands(v, hands, bids=bids, **setting)  # type: ignore[arg-type]
    for _ in range(passes):
        game.act(pe.PASS)
    while call == "dudo" and game.in_calza_window:
        game.act(pe.PASS)
    game.act(call)
    return game


def last_reveal(game: Game) -> Revealed:
    return [e for e in game.events if isinstance(e, Revealed)][-1]


# --------------------------------------------------------------------------------------------- Dudo


@pytest.mark.parametrize("preset", pe.VARIANTS)
@pytest.mark.parametrize(("quantity", "loser"), [(1, 1), (4, 1), (5, 0), (6, 0)])
def test_dudo_count_at_least_the_quantity_the_doubter_loses_else_the_bidder(
    preset: str, quantity: int, loser: int
) -> None:
    """All five texts; four dice match (two 3s, two Pacos). Always one die, nobody else."""
    game = called(preset, [[3, 1, 2], [3, 1, 5], [2, 4, 6]], [f"{quantity}x3"], "dudo")
    assert last_reveal(game).count == 4
    assert game.dice == tuple(3 - (seat == loser) for seat in range(3))


def test_pacos_are_wild_but_a_bid_on_pacos_counts_only_true_ones() -> None:
    hands = [[1, 1, 2], [1, 5, 5]]
    for bid, count in (("1x2", 4), ("1x3", 3), ("1x5", 5), ("1P", 3)):
        assert last_reveal(called("pascal", hands, [bid], "dudo")).count == count
    not_wild = pe.variant("pascal", pacos_wild=False)
    for bid, count in (("1x2", 1), ("1x3", 0), ("1x5", 2), ("1P", 3)):
        assert last_reveal(called(not_wild, hands, [bid], "dudo")).count == count


# --------------------------------------------------------------------------------------------- Calza


@pytest.mark.parametrize(
    ("hands", "bid", "dice"),
    [
        ([FULL, [2, 3, 4]], "2x2", (5, 4)),  # right: one lost die comes back
        ([FULL, FULL], "2x2", (5, 5)),  # right with a full cup: nothing gained
        ([FULL, [2, 3, 4]], "1x2", (5, 2)),  # wrong, too few said
        ([FULL, [2, 3, 4]], "3x2", (5, 2)),  # wrong, too many said
    ],
)
def test_calza_on_turn_right_takes_a_die_back_wrong_loses_one_the_bidder_is_never_affected(
    hands: list[list[int]], bid: str, dice: tuple[int, ...]
) -> None:
    """S1, S3."""
    game = called("marquoir", hands, [bid], "calza")
    assert game.dice == dice
    assert (game.opener, game.seat) == (1, 1)


@pytest.mark.parametrize("num_seats", range(2, 9))
@pytest.mark.parametrize("exact", [True, False])
def test_calza_anyone_every_window_seat_can_win_and_lose_by_it(num_seats: int, exact: bool) -> None:
    """S2: any living seat but the last bidder, the one nearer to the bidder clockwise is heard."""
    v = pe.variant("box", calza="anyone")
    hands = [[2, 3]] * num_seats
    for bidder, offset in itertools.product(range(num_seats), range(1, num_seats)):
        caller = (bidder + offset) % num_seats
        game = Game.from_hands(v, hands, opener=bidder, bids=[(num_seats - (not exact), 2)])
        for asked in range(1, offset):
            assert game.seat == (bidder + asked) % num_seats
            assert game.legal_actions() == (pe.CALZA, pe.PASS)
            game.act(pe.PASS)
        assert game.seat == caller
        events = game.act(pe.CALZA)
        assert (DieRegained(caller, 3) if exact else DieLost(caller, 1)) in events
        assert game.dice == tuple((3 if exact else 1) if seat == caller else 2 for seat in range(num_seats))
        assert (game.opener, game.seat) == (caller, caller)


def test_calza_anyone_the_bidder_and_the_dead_are_not_asked_then_the_next_seat_speaks() -> None:
    game = Game.from_hands(pe.variant("box", calza="anyone"), [[2], [], [3, 3], [], [4], [5]], opener=2, bids=["1x3"])
    asked = []
    while game.in_calza_window:
        asked.append(game.seat)
        game.act(pe.PASS)
    assert asked == [4, 5, 0]
    assert game.seat == 4
    assert game.why_illegal(pe.CALZA)  # its moment has passed
    assert game.why_illegal(pe.PASS)
    assert game.why_illegal(pe.DUDO) is None


def test_calza_is_allowed_in_a_palifico_round_and_counts_as_dudo_counts_there() -> None:
    hands = [[3], [1, 3, 3, 5], [1, 1, 2]]
    game = called("marquoir", hands, ["3x3"], "calza", palifico=True)
    assert last_reveal(game).count == 3
    assert game.dice == (1, 5, 3)
    assert called("marquoir", hands, ["3x3"], "calza").dice == (1, 3, 3)


# --------------------------------------------------------------------------------------------- Palifico


@pytest.mark.parametrize("preset", ["classic", "box", "marquoir", "evening"])
def test_palifico_trigger_a_seat_drops_from_two_dice_to_one_by_dudo(preset: str) -> None:
    """S0, S2, S3, S4; with two players left as well."""
    bidder_drops = called(preset, [[2, 2], FULL], ["4x6"], "dudo")
    doubter_drops = called(preset, [FULL, [2, 2]], ["1x2"], "dudo")
    for game, seat in ((bidder_drops, 0), (doubter_drops, 1)):
        assert (game.palifico, game.opener, game.seat, game.dice[seat]) == (True, seat, seat, 1)


@pytest.mark.parametrize("preset", ["classic", "box", "marquoir", "evening"])
@pytest.mark.parametrize("calza", ["on_turn", "anyone"])
def test_palifico_trigger_by_a_failed_calza(preset: str, calza: str) -> None:
    game = called(pe.variant(preset, calza=calza), [FULL, [2, 2], FULL], ["1x2"], "calza")
    assert (game.palifico, game.opener, game.dice) == (True, 1, (5, 1, 5))


@pytest.mark.parametrize("preset", ["classic", "box", "marquoir", "evening"])
def test_palifico_starting_with_one_die_or_staying_at_one_is_no_trigger(preset: str) -> None:
    assert not Game(preset, dice=(1, 1, 3), seed=0).palifico
    assert not called(preset, [[3], FULL, FULL], ["1x3"], "dudo").palifico  # seat 0 stays at one, seat 1 has four
    assert not called(preset, [[3], FULL, FULL], ["9x3"], "dudo").palifico  # out, not down to one
    assert not Game(pe.variant(preset, starting_dice=1), 3, seed=0).palifico


def test_palifico_off_no_drop_announces_one() -> None:
    """S1."""
    for preset in ("pascal", "pascal_round"):
        assert not called(preset, [[2, 2], FULL], ["4x6"], "dudo").palifico


def test_palifico_pacos_are_not_wild_in_it_and_only_in_the_next_round() -> None:
    game = called("classic", [[2, 2], FULL, FULL], ["9x6"], "dudo")
    assert game.palifico
    for bid in ("9x6", "10x6"):
        game.act(bid)
    game.act(pe.DUDO)
    assert not game.palifico
    hands = [[3], [1, 1, 3], [2, 2, 2]]
    for palifico, count in ((True, 2), (False, 4)):
        assert last_reveal(called("classic", hands, ["2x3"], "dudo", palifico=palifico)).count == count


def test_palifico_each_drop_again_if_the_seat_wins_a_die_back_and_drops_again_once_only_the_first_time() -> None:
    """each_drop: S0, S2, S3; once: S4. Seat 0 drops, wins a die back by Calza, and drops again."""
    for palifico, second in (("each_drop", True), ("once", False)):
        v = pe.variant("marquoir", palifico=palifico)
        head = f"perudo/1 {v} position seed=1\n"
        dropped = "22/3456 opener=0 9x6 dudo\n"
        won_back = "2/2345 opener=0 palifico 1x2 2x2 calza\n"
        game = Game.replay(head + dropped + won_back + "22/2345 opener=0 9x6 dudo")
        assert game.dice == (1, 4)
        assert (game.round, game.opener, game.palifico) == (4, 0, second)


def test_palifico_once_is_counted_per_seat_and_a_position_can_say_it_is_spent() -> None:
    hands = [[2, 2], [3, 3], FULL]
    assert called("evening", hands, ["9x6"], "dudo").palifico
    assert not called("evening", hands, ["9x6"], "dudo", palifico_spent=[0]).palifico
    assert called("evening", hands, ["9x6"], "dudo", palifico_spent=[1]).palifico


# --------------------------------------------------------------------------------------------- the next opener

ENDS = [
    # call, bid, hands, opener, the seat that speaks last, next opener
    ("dudo", "1x2", [[2, 2], [3, 3], [4, 4]], 0, 1, 1),  # the doubter lost a die
    ("dudo", "5x2", [[2, 2], [3, 3], [4, 4]], 0, 1, 0),  # the bidder did
    ("dudo", "1x2", [[2, 2], [3], [4, 4]], 0, 1, 2),  # the doubter is out: the next living seat
    ("dudo", "5x2", [[2], [3, 3], [4, 4]], 0, 1, 1),  # the bidder is out
    ("dudo", "1x4", [[2], [3, 3], [4, 4]], 2, 0, 1),  # past the last seat
    ("dudo", "5x4", [[2, 2], [3, 3], [4]], 2, 0, 0),
    ("dudo", "1x2", [[2, 2], [3], [], [], [4, 4]], 0, 1, 4),  # over seats that were out before
    ("calza", "2x2", [[2, 2], [3, 3], [4, 4]], 0, 1, 1),  # right
    ("calza", "1x2", [[2, 2], [3, 3], [4, 4]], 0, 1, 1),  # wrong
    ("calza", "1x2", [[2, 2], [3], [4, 4]], 0, 1, 2),  # wrong and out
    ("calza", "1x4", [[2], [], [4, 4], [5, 5]], 3, 0, 2),
]


@pytest.mark.parametrize(("call", "bid", "hands", "opener", "speaker", "following"), ENDS)
@pytest.mark.parametrize("calza", ["on_turn", "anyone"])
def test_opener_the_seat_that_lost_a_die_or_said_calza_if_it_is_out_the_next_living(
    call: str, bid: str, hands: list[list[int]], opener: int, speaker: int, following: int, calza: str
) -> None:
    for preset in ("classic", "pascal", "box", "marquoir", "evening"):
        game = Game.from_hands(pe.variant(preset, calza=calza), hands, opener=opener, bids=[bid])
        while call == "dudo" and game.in_calza_window:
            game.act(pe.PASS)
        assert game.seat == speaker
        game.act(call)
        assert (game.opener, game.seat, game.round) == (following, following, 2)


def test_opener_after_a_calza_out_of_turn_is_the_caller_or_the_next_living_seat() -> None:
    """S2; seat 3 speaks out of turn over seat 0's bid."""
    v = pe.variant("box", calza="anyone")
    for hand, dice, opener in (([5, 5], 1, 3), ([5], 0, 0)):
        game = called(v, [[2, 2], [3, 3], [4, 4], hand], ["1x2"], "calza", passes=2)
        assert (game.dice[3], game.opener, game.seat) == (dice, opener, opener)


# --------------------------------------------------------------------------------------------- turn order and places


def knock_out(game: Game, victim: int) -> None:
    """Steer a game of single dice: a whole lap of raises, then on to the victim, who bids the impossible and is doubted."""
    living = [seat for seat in range(game.num_seats) if game.dice[seat]]
    lap = living[living.index(game.opener) :] + living[: living.index(game.opener)]
    asked: list[int] = []
    number = game.round
    while game.round == number and not game.is_over:
        assert game.seat is not None
        asked.append(game.seat)
        standing = game.standing_bid.quantity if game.standing_bid else 0
        if standing > game.num_seats * 2:
            game.act(pe.DUDO)
        elif game.seat == victim and len(asked) > len(lap):
            game.act(Bid(game.num_seats * 2 + 1, 6))
        else:
            game.act(Bid(standing + 1, 6))
    assert asked[: len(lap)] == lap
    assert all(now == lap[(lap.index(before) + 1) % len(lap)] for before, now in itertools.pairwise(asked))


@pytest.mark.parametrize("num_seats", [3, 4, 5, 6])
def test_turn_order_one_lap_visits_each_living_seat_once_in_all_elimination_orders(num_seats: int) -> None:
    """Places: the first seat out is last, the survivor first."""
    v = pe.variant("evening", starting_dice=1)
    for order in itertools.permutations(range(num_seats)):
        game = Game.from_hands(v, [[2]] * num_seats, opener=order[-1], seed=0)
        for place, victim in zip(range(num_seats, 1, -1), order, strict=False):
            knock_out(game, victim)
            assert game.dice[victim] == 0
            assert [e for e in game.events if isinstance(e, Eliminated)][-1] == Eliminated(victim, place)
        assert game.is_over
        assert game.ranks == tuple(num_seats - order.index(seat) for seat in range(num_seats))
        assert game.returns == tuple(1.0 if seat == order[-1] else -1 / (num_seats - 1) for seat in range(num_seats))


def test_max_rounds_ranks_by_dice_left_ties_shared_and_says_truncated() -> None:
    hands = [FULL, [2, 2, 2], FULL, [3, 3, 3, 3], []]
    game = called("classic", hands, ["15x6"], "dudo", max_rounds=1)  # seat 0 loses one: 4, 3, 5, 4, out before
    assert (game.is_over, game.truncated, game.seat) == (True, True, None)
    assert game.ranks == (2, 4, 1, 2, 5)
    assert game.returns == pytest.approx((-1 / 3, -1 / 3, 1, -1 / 3, 0))
    assert game.payoffs(Reward.PLACE) == pytest.approx((0, -1, 1, 0, 0))
    assert game.events[-1] == GameOver((2, 4, 1, 2, 5), True)
    assert game.action_mask().sum() == 0
    tied = called("classic", [FULL, [2, 2, 2, 2], [3, 3, 3, 3]], ["13x6"], "dudo", max_rounds=1)
    assert tied.ranks == (1, 1, 1)
    assert tied.returns == (0.0, 0.0, 0.0)


def test_max_rounds_a_game_that_ends_in_its_last_round_is_not_truncated() -> None:
    game = called("classic", [[2], [3, 3]], ["3x6"], "dudo", max_rounds=1)
    assert (game.is_over, game.truncated, game.ranks) == (True, False, (2, 1))


# --------------------------------------------------------------------------------------------- a full cup


@pytest.mark.parametrize("calza", ["on_turn", "anyone"])
@pytest.mark.parametrize("num_seats", [2, 4])
def test_calza_a_full_cup_gains_nothing_and_never_exceeds_the_start_in_thousands_of_games(
    calza: str, num_seats: int
) -> None:
    """One die moves in a round at most, and only a right Calza brings one back."""
    num_games = 1500
    batch = Batch(pe.variant("marquoir", calza=calza, starting_dice=3), num_seats, num_games, seed=11)
    rng = np.random.default_rng(5)
    ids = np.arange(batch.num_actions)
    liking = np.where(ids == pe.CALZA, 1.0, np.exp(-0.15 * ids))  # low bids, which are often exact
    before, full, regained = batch.dice.copy(), 0, 0
    while not batch.is_over.all():
        masks = batch.masks()
        weights = masks * liking
        weights /= np.maximum(weights.sum(axis=1, keepdims=True), 1)
        actions = (weights.cumsum(axis=1) < rng.random((num_games, 1)) * 0.999999).sum(axis=1)
        playing = ~batch.is_over
        ended = batch.act(np.minimum(actions, masks.shape[1] - 1))
        change = batch.dice - before
        assert batch.dice.max() <= 3
        assert batch.dice.min() >= 0
        assert (np.abs(change).sum(axis=1) <= ended).all()
        still = ended & (change == 0).all(axis=1)
        assert (batch.states["last_end"][still] == 2).all()
        callers = batch.states["last_caller"][still]
        assert (before[still, callers] == 3).all()  # whoever gains nothing had all its dice
        assert not ended[~playing].any()
        full, regained = full + int(still.sum()), regained + int((change > 0).sum())
        before = batch.dice.copy()
    assert full > 100
    assert regained > 100


# --------------------------------------------------------------------------------------------- one round


@pytest.mark.parametrize(
    ("bid", "call", "returns"),
    [
        ("1x3", "dudo", (0.5, -1, 0.5)),  # the doubter loses
        ("9x3", "dudo", (-1, 0.5, 0.5)),  # the bidder does
        ("1x3", "calza", (0.5, -1, 0.5)),  # wrong
        ("4x3", "calza", (-0.5, 1, -0.5)),  # right: one lost die really comes back
    ],
)
def test_one_round_returns_are_the_change_in_own_dice_the_others_share_the_opposite(
    bid: str, call: str, returns: tuple[float, ...]
) -> None:
    game = called("pascal_round", [[3, 3, 2, 2, 2], [3, 3, 4], [4, 4, 4, 4]], [bid], call)
    assert game.is_over
    assert game.returns == returns
    assert not game.truncated


def test_one_round_a_right_calza_with_all_its_dice_is_0_for_everybody() -> None:
    game = called("pascal_round", [[3, 3, 2, 2, 2], [3, 3, 4, 4, 4]], ["4x3"], "calza")
    assert game.returns == (0.0, 0.0)
    assert game.ranks == (1, 1)


def test_one_round_a_seat_that_is_out_has_no_share_and_the_last_die_ends_nothing_more() -> None:
    game = called("pascal_round", [[3], [3], [], [4, 4]], ["4x3"], "dudo")
    assert game.returns == (-1, 0.5, 0, 0.5)
    assert not [e for e in game.events if isinstance(e, Eliminated)]
    assert game.ranks == (3, 1, 4, 1)


@pytest.mark.parametrize("preset", ["liars_dice", "joker"])
def test_liars_dice_and_joker_the_loser_of_the_round_gets_minus_one_the_other_plus_one(preset: str) -> None:
    assert Game(preset, dice=(1, 1), seed=0).opener == 0
    assert called(preset, [[1], [2]], ["2x2"], "dudo").returns == (1, -1)  # the Paco is wild
    assert called(preset, [[3], [2]], ["2x2"], "dudo").returns == (-1, 1)
    assert set(VARIANTS[preset].__dict__.items()) >= {("rounds", "one"), ("calza", "off"), ("palifico", "off")}


@pytest.mark.parametrize("preset", ["classic", "pascal", "evening", "box:calza=anyone"])
def test_a_round_settled_by_its_outcome_alone_leaves_the_table_as_play_does(preset: str) -> None:
    """The score keeper's question: from who lost or won a die follow dice, places, opener and Palifico."""
    rng = random.Random(5)
    for seed in range(30):
        game = Game(preset, 4, seed)
        twin = copied(game.states)
        while not game.is_over:
            game_round = game.round
            while game.round == game_round and not game.is_over:
                play_out(game, rng, steps=1)
            end = game.states[0]
            # a right Calza with a full cup is entered like any other: the cap is the engine's to know
            change = -1 if end["last_change"] < 0 else 1
            settle_row(twin, 0, int(end["last_seat"]), change)
            for field in (
                "round",
                "dice",
                "place",
                "palifico_spent",
                "opener",
                "is_palifico",
                "phase",
                "last_change",
                "hands",
            ):
                assert np.array_equal(end[field], twin[0][field]), field


def test_a_game_cut_off_between_rounds_ranks_by_dice_and_shares_ties() -> None:
    states = Game("classic", dice=(2, 5, 2, 1), seed=0).states
    settle_row(states, 0, 3, -1)
    stop_row(states, 0)
    assert states[0]["place"][:4].tolist() == [2, 1, 2, 4]
    assert states[0]["truncated"] == 1
    assert states[0]["phase"] == Phase.OVER
