"""The arithmetic under the trainers: advantages, continuation values, losses, relative inputs, the critic's features, replay buffers."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
import torch

import perudo_env as pe
from agents.core.seated import sight
from agents.learned import features
from agents.learned.neural import RelativePolicy
from perudo_env.engine.actions import PACO
from perudo_env.engine.batch import Batch
from perudo_env.engine.observation import layout
from tests.helpers import PRESETS, play_out
from train.research.deep_cfr import match_regrets
from train.research.replay import ReplayBuffer
from train.selfplay import critic_features
from train.selfplay.collector import Tables
from train.selfplay.estimates import advantages, expected_sarsa
from train.selfplay.networks import entropy, kl, log_probs, log_sizes
from train.selfplay.pay import CALLS, Stakes
from train.selfplay.pool import SnapshotPool
from train.selfplay.values import ContinuationValues, RoundStates

# ---------------------------------------------------------------------------------------------- advantages


def gained(values: list[float], who: list[int], pay: list[float], trace: float) -> list[float]:
    out = np.empty(len(values))
    advantages(np.array(values), np.array(who), np.array(pay, np.float64), trace, out)
    return out.tolist()


def test_without_a_trace_an_advantage_reaches_to_the_own_next_turn() -> None:
    # seats 0 and 1 in turn, then seat 0 once more; paid +1 and -1
    assert gained([0.5, -0.25, 0.75], [0, 1, 0], [1, -1], 0.0) == [0.25, -0.75, 0.25]


def test_with_a_full_trace_an_advantage_is_the_pay_less_the_value() -> None:
    values, who, pay = [0.5, -0.25, 0.75, 0.1], [0, 1, 0, 1], [1, -1]
    assert gained(values, who, pay, 1.0) == pytest.approx([pay[w] - v for v, w in zip(values, who, strict=True)])


def test_a_trace_weights_later_errors_by_its_powers() -> None:
    errors = [0.2 - 0.5, 0.9 - 0.2, 1 - 0.9]
    assert gained([0.5, 0.2, 0.9], [0, 0, 0], [1], 0.5)[0] == pytest.approx(
        errors[0] + 0.5 * errors[1] + 0.25 * errors[2]
    )


def targets(
    values: list[float], chosen: list[float], cuts: list[float], who: list[int], pay: list[float], trace: float
) -> list[float]:
    out = np.empty(len(values))
    expected_sarsa(*map(np.array, (values, chosen, cuts)), np.array(who), np.array(pay, np.float64), trace, out)
    return out.tolist()


def test_expected_sarsa_without_a_trace_is_the_mean_value_of_the_own_next_turn() -> None:
    assert targets([0.5, -0.25, 0.75], [0.1, 0.2, 0.3], [1, 1, 1], [0, 1, 0], [1, -1], 0.0) == [0.75, -1, 1]


def test_expected_sarsa_of_a_critic_that_is_right_is_right_under_any_trace() -> None:
    """Its errors are 0, so nothing is carried: what GAE leaves, the luck of the actions drawn, is gone."""
    for trace in (0.0, 0.5, 1.0):
        assert targets([0.1, 0.2, 0.4], [0.2, 0.4, 1.0], [1, 1, 1], [0, 0, 0], [1], trace) == pytest.approx(
            [0.2, 0.4, 1.0]
        )


def test_a_trace_is_cut_where_the_policy_would_hardly_have_gone() -> None:
    """Retrace: target = next value + lambda x cut x error of the next action's value."""
    found = targets([0.0, 0.3], [0.0, -0.5], [1.0, 0.25], [0, 0], [1], 0.9)
    assert found == pytest.approx([0.3 + 0.9 * 0.25 * (1 - -0.5), 1])


# ---------------------------------------------------------------------------------------------- the value of a call


@pytest.mark.parametrize("unit", ["rounds", "games"])
@pytest.mark.parametrize("variant", ["joker", "marquoir:starting_dice=2,calza=anyone"])
def test_a_call_pays_what_was_said_before_it(unit: Any, variant: str) -> None:
    """The tables themselves then make the call, and are paid."""
    batch, rng, said = Batch(variant, 2, 200, 1), np.random.default_rng(0), 0
    torch.manual_seed(0)
    values = ContinuationValues([8], 1e-3)
    for _ in range(20):
        stakes, masks = Stakes(batch, unit, values), batch.masks()
        living = np.flatnonzero(~batch.is_over)
        before = batch.states.copy()
        told = stakes.calls(batch, living, masks[living])
        assert (batch.states == before).all()
        for column, call in enumerate(CALLS):
            rows = living[masks[living, call] == 1]
            after = batch.take(np.arange(batch.num_games))
            seats = after.seat.astype(int)
            ended = after.act(np.full(rows.size, call), rows)
            pay, _ = stakes.settle(after)
            mine = told[masks[living, call] == 1, column]
            known = ended if unit == "rounds" or batch.variant.rounds == "one" else after.is_over[rows]
            assert (np.isfinite(mine) == known).all()
            assert mine[known] == pytest.approx(pay[rows, seats[rows]][known], abs=1e-6)
            said += int(known.sum())
        assert np.isnan(told[masks[living][:, list(CALLS)] == 0]).all()
        batch.act(pe.UniformPolicy().act(batch.observe(), batch.masks(), rng)[living], living)
    assert said > 100


# ---------------------------------------------------------------------------------------------- continuation values


def test_a_round_is_seen_from_its_opener_and_only_the_living_count() -> None:
    game = pe.Game.from_hands("classic", [[1, 2], [], [3], [4, 4, 5]], opener=2)
    states = RoundStates(game.states, 4, game.variant)
    assert states.seats[0].tolist()[:3] == [2, 3, 0]
    assert states.dice[0].tolist() == [1, 3, 2, 0]
    by_seat = np.array([[10.0, 11.0, 12.0, 13.0]])
    assert states.by_place(by_seat)[0, :3].tolist() == [12, 13, 10]
    assert states.by_seat(states.by_place(by_seat)).tolist() == by_seat.tolist()


def test_who_is_out_makes_no_difference_to_a_round() -> None:
    games = [
        pe.Game.from_hands("classic", hands, opener=0) for hands in ([[1, 2], [], [3], [4]], [[1, 2], [3], [4], []])
    ]
    one, other = (RoundStates(g.states, 4, g.variant).inputs for g in games)
    assert (one == other).all()


def test_chances_are_a_distribution_over_the_living() -> None:
    torch.manual_seed(0)
    values = ContinuationValues([8], 1e-3)
    game = pe.Game.from_hands("classic", [[1, 2], [], [3], [4, 4, 5]], opener=2)
    states = RoundStates(game.states, 4, game.variant)
    chances, scale = values.judge(states)
    assert chances.sum() == pytest.approx(1)
    assert chances[0, 1] == pytest.approx(0, abs=1e-12)
    # before anything is learnt they go nearly as dice
    assert chances[0] == pytest.approx([2 / 6, 0, 1 / 6, 3 / 6], abs=0.02)
    assert (scale > 0).all()


# ---------------------------------------------------------------------------------------------- losses


def test_log_probs_share_by_sizes_and_leave_out_the_illegal() -> None:
    p = log_probs(torch.zeros(1, 4), log_sizes(torch.tensor([[1.0, 0.0, 2.0, 1.0]]))).exp()
    assert p.tolist() == [pytest.approx([0.25, 0, 0.5, 0.25])]


def test_entropy_and_kl_are_those_of_the_textbook_and_have_finite_gradients() -> None:
    logits = torch.tensor([[0.3, -1.0, 2.0, 0.7]], requires_grad=True)
    sizes = log_sizes(torch.tensor([[1.0, 0.0, 1.0, 1.0]]))
    new, old = log_probs(logits, sizes), log_probs(torch.tensor([[1.0, 5.0, 0.0, 0.2]]), sizes)
    legal = [0, 2, 3]
    mine, theirs = (
        torch.distributions.Categorical(logits=new[:, legal]),
        torch.distributions.Categorical(logits=old[:, legal]),
    )
    assert entropy(new).item() == pytest.approx(mine.entropy().item(), abs=1e-6)
    assert kl(old, new).item() == pytest.approx(torch.distributions.kl_divergence(mine, theirs).item(), abs=1e-6)
    assert kl(new, new).item() == pytest.approx(0, abs=1e-7)
    (entropy(new) + kl(old, new)).sum().backward()
    assert torch.isfinite(logits.grad).all()
    assert logits.grad[0, 1] == 0


def test_one_legal_choice_has_no_entropy() -> None:
    one = log_probs(torch.randn(1, 5), log_sizes(torch.tensor([[0.0, 0.0, 3.0, 0.0, 0.0]])))
    assert entropy(one).item() == pytest.approx(0, abs=1e-6)


def test_regrets_are_matched_where_positive_and_else_the_highest_is_played() -> None:
    masks = np.array([[1, 1, 1, 0]] * 3, np.int8)
    regrets = np.array([[1.0, -2.0, 3.0, 9.0], [-1.0, -2.0, -3.0, 9.0], [0.0, 0.0, 0.0, 0.0]])
    assert match_regrets(regrets, masks) == pytest.approx(
        np.array([[0.25, 0, 0.75, 0], [1, 0, 0, 0], [1 / 3, 1 / 3, 1 / 3, 0]])
    )


# ---------------------------------------------------------------------------------------------- relative inputs


def some_weights(seed: int = 0, hidden: int = 16) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    widths = [features.NUM_INPUTS, hidden, features.NUM_CELLS]
    weights = {f"layers.{i}.weight": rng.normal(0, 0.3, (widths[i + 1], widths[i])) for i in range(2)}
    return {**weights, **{f"layers.{i}.bias": rng.normal(0, 0.3, widths[i + 1]) for i in range(2)}}


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("num_seats", range(2, 9))
def test_one_network_plays_every_table(preset: str, num_seats: int) -> None:
    batch, policy = pe.Batch(preset, num_seats, 8, seed=num_seats), RelativePolicy(some_weights(), preset, num_seats)
    met = 0
    for _ in range(12):
        live = np.flatnonzero(~batch.is_over)
        if not live.size:
            break
        seen, masks = batch.observe(live), batch.masks(live)
        encoded = features.encode(seen, masks, policy.sight)
        assert (encoded.sizes.sum(axis=1) == masks.sum(axis=1)).all()
        assert np.isfinite(encoded.inputs).all()
        probs = policy.probs(seen, masks)
        assert probs.sum(axis=1) == pytest.approx(np.ones(live.size))
        assert (probs[masks == 0] == 0).all()
        assert (probs[masks == 1] > 0).all()
        batch.act(policy.act(seen, masks, np.random.default_rng(met)), live)
        met += live.size
    assert met > 8


def test_the_layout_of_a_larger_table_changes_nothing() -> None:
    small = pe.Batch("pascal", 2, 32, seed=1)
    padded = pe.Batch("pascal", 2, 32, seed=1, pad_to=layout(5, 25))
    for _ in range(6):
        assert (small.states == padded.states).all()
        live = np.flatnonzero(~small.is_over)
        one, other = (
            features.encode(b.observe(live), b.masks(live), sight(b.variant, 2, b.layout)) for b in (small, padded)
        )
        assert (one.inputs == other.inputs).all()
        assert (one.sizes == other.sizes).all()
        actions = pe.UniformPolicy().act(small.observe(live), small.masks(live), np.random.default_rng(0))
        small.act(actions, live)
        padded.act(actions, live)


def test_which_seats_are_out_changes_nothing() -> None:
    policy = RelativePolicy(some_weights(), "classic", 5)
    tables = [[[2, 3, 3], [1, 6], [4], [], []], [[2, 3, 3], [], [1, 6], [], [4]], [[2, 3, 3], [1, 6], [], [4], []]]
    games = [pe.Game.from_hands("classic", hands, opener=0, bids=["2x3", "2x5"]) for hands in tables]
    seen = [g.observation(g.seat)[None] for g in games]
    masks = [g.action_mask()[None] for g in games]
    inputs = [features.encode(o, m, policy.sight).inputs for o, m in zip(seen, masks, strict=True)]
    assert (inputs[0] == inputs[1]).all()
    assert (inputs[0] == inputs[2]).all()
    assert (policy.probs(seen[0], masks[0]) == policy.probs(seen[1], masks[1])).all()
    other = pe.Game.from_hands("classic", [[2, 3, 3], [1, 6], [4, 4], [], []], opener=0, bids=["2x3", "2x5"])
    assert (
        features.encode(other.observation(other.seat)[None], other.action_mask()[None], policy.sight).inputs
        != inputs[0]
    ).any()


# ---------------------------------------------------------------------------------------------- critic features


@pytest.mark.parametrize("preset", ["classic", "pascal", "box"])
def test_hindsight_is_what_a_count_of_all_dice_says(preset: str) -> None:
    rng, checked = random.Random(preset), 0
    for seed in range(30):
        game = play_out(pe.Game(preset, num_seats=3, seed=seed), rng, steps=rng.randrange(40))
        if game.is_over:
            continue
        out = np.empty((1, critic_features.NUM_INPUTS), np.float32)
        critic_features.hindsight_rows(game.states, np.array([0]), out)
        viewer, wild = game.seat, not game.palifico
        others = [s for s in ((viewer + r) % 3 for r in (1, 2)) if game.dice[s]]
        for place, seat in enumerate(others):
            faces = out[0, place * 6 : place * 6 + 6] * 3
            assert faces.tolist() == pytest.approx([game.hand(seat).count(f) for f in range(1, 7)], abs=1e-5)
        table = [die for s in range(3) for die in game.hand(s)]

        def count(dice: tuple[int, ...] | list[int], face: int, wild: bool = wild) -> int:
            return sum(d == face or (wild and d == PACO) for d in dice)

        truths = out[0, 48 : 48 + features.ROWS * 6].reshape(features.ROWS, 6)
        for face in range(1, 7):
            chance_base = sum(game.dice[s] for s in others) * (2 if wild and face != PACO else 1) // 6
            for row in range(features.ROWS):
                quantity = count(game.hand(viewer), face) + chance_base + row - features.BELOW
                assert truths[row, face - 1] == (count(table, face) >= quantity)
        if game.standing_bid:
            excess = count(table, game.standing_bid.face) - game.standing_bid.quantity
            assert out[0, -2:].tolist() == [excess >= 0, excess == 0]
            checked += 1
    assert checked > 5


# ---------------------------------------------------------------------------------------------- tables, memories, pools


def test_tables_of_one_split_deal_nothing_else() -> None:
    tables = Tables(pe.variant("joker"), 2, 50, 0.5, np.random.default_rng(0), dice=[2, 1])
    tables.deal(np.arange(50))
    assert (tables.batch.dice == [2, 1]).all()
    assert (tables.batch.seat == 0).all()


def test_copies_of_a_batch_go_their_own_way() -> None:
    batch = pe.Batch("classic", 2, 3, seed=5)
    before = batch.states.copy()
    twins = batch.take([2, 2, 0])
    assert (twins.observe() == batch.observe([2, 2, 0])).all()
    masks = twins.masks()
    twins.act([int(np.flatnonzero(masks[0])[0]), int(np.flatnonzero(masks[1])[-1]), int(np.flatnonzero(masks[2])[0])])
    assert (twins.observe()[0] != twins.observe()[1]).any()
    assert (batch.states == before).all()
    with pytest.raises(ValueError, match="the games are 0 to 2"):
        batch.take([3])


def test_a_ring_holds_the_newest() -> None:
    ring, rng = ReplayBuffer(5, {"x": (1, np.int64)}, reservoir=False), np.random.default_rng(0)
    for k in range(4):
        ring.add(rng, x=np.arange(3 * k, 3 * k + 3))
    assert sorted(ring.arrays()["x"][:, 0].tolist()) == [7, 8, 9, 10, 11]
    again = ReplayBuffer(5, {"x": (1, np.int64)}, reservoir=False)
    again.restore(ring.arrays())
    for memory in (ring, again):
        memory.add(rng, x=np.array([12]))
    assert (ring.arrays()["x"] == again.arrays()["x"]).all()


def test_a_reservoir_holds_an_equal_sample_of_all() -> None:
    rng, kept = np.random.default_rng(0), np.zeros(100)
    for _ in range(600):
        reservoir = ReplayBuffer(20, {"x": (1, np.int64)}, reservoir=True)
        for k in range(10):
            reservoir.add(rng, x=np.arange(10 * k, 10 * k + 10))
        assert len(reservoir) == 20
        kept[reservoir.arrays()["x"][:, 0]] += 1
    # each row is kept with the chance 1/5: 120 times, with a standard deviation of 9.8
    assert np.abs(kept - 120).max() < 4.5 * 9.8
    assert np.abs(kept.reshape(10, 10).mean(axis=1) - 120).max() < 4.5 * 9.8 / 10**0.5


def test_a_pool_comes_back_with_its_snapshots_and_chances() -> None:
    from perudo_env.envs.vector import LearnerVectorEnv

    pools = [SnapshotPool(LearnerVectorEnv(2, "classic", 2), 3, 0.5, 0.2) for _ in range(2)]
    for k in range(3):
        pools[0].add(some_weights(k))
    pools[1].restore(pools[0].arrays(), some_weights(0))
    assert pools[1].hashes == pools[0].hashes
    assert pools[1].env.weights == pools[0].env.weights
    assert len(pools[1].env.opponents) == 4
