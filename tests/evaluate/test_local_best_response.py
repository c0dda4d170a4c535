"""The local best response: its beliefs by Bayes' rule step by step, its gain against the exact one."""

from __future__ import annotations

import numpy as np
import pytest

import agents
import perudo_env as pe
from agents.search.hand_beliefs import HandBeliefs
from agents.search.lookahead import Effort, Lookahead, call_pay, deal_rows, last_returns
from perudo_env.engine.hands import FIRST_HAND, HANDS
from perudo_env.engine.variant import parse_variant
from perudo_env.policy import Int8Array, SampledPolicy
from train.__main__ import main as command
from train.evaluate.exploitability import nash_conv
from train.evaluate.local_best_response import RoundOrGame, local_best_response
from train.solver.exact.match import match_exploitability

UNIFORM = pe.UniformPolicy()
QUICK = Effort(raises=8, samples=4)


class Telling(SampledPolicy):
    """A lopsided policy that never doubts with some hands and bids by all that it sees."""

    def probs(self, observations: Int8Array, masks: Int8Array) -> np.ndarray:
        held = (observations[:, :36] * np.arange(1, 37)).sum(axis=1, keepdims=True)
        weights = masks * (1.0 + (held + 3 * np.arange(masks.shape[1])) % 7)
        weights[:, 12:] *= 0.1
        weights[(held[:, 0] % 3 == 0) & (masks[:, 3:].any(axis=1)), 0] = 0
        return weights / weights.sum(axis=1, keepdims=True)


@pytest.mark.parametrize(
    ("v", "dice", "steps"), [("box:calza=anyone", (2, 1, 2), 7), ("evening", (2, 2), 4), ("pascal", (1, 2, 1), 4)]
)
def test_the_belief_is_bayes_rule_on_the_policy_s_answers(v: str, dice: tuple[int, ...], steps: int) -> None:
    variant, policy, rng = parse_variant(v), Telling(), np.random.default_rng(4)
    batch = RoundOrGame(variant, dice).deal(np.arange(30, dtype=np.uint64))
    beliefs = HandBeliefs(batch, policy)
    prior = beliefs.weights.copy()
    said: list[list[int]] = [[] for _ in range(30)]
    for _ in range(steps):
        rows = np.flatnonzero(~batch.is_over)
        actions = beliefs.act(rows, rng)
        batch.act(actions, rows)
        for row, action in zip(rows, actions, strict=True):
            said[row].append(int(action))
    longest = sorted(np.flatnonzero(~batch.is_over), key=lambda row: -len(said[row]))[:3]
    assert len(said[longest[0]]) == steps
    for row in longest:
        for seat, d in enumerate(dice):
            numbers = np.arange(FIRST_HAND[d], FIRST_HAND[d + 1])
            likelihood = [
                likelihood_of(policy, variant, dice, said[row], seat, h, int(batch.states["total_at_start"][0]))
                for h in numbers
            ]
            expected = prior[row, seat, numbers] * likelihood
            assert beliefs.weights[row, seat, numbers] == pytest.approx(expected / expected.sum(), abs=1e-12)
            assert beliefs.weights[row, seat].sum() == pytest.approx(1)


def likelihood_of(
    policy: SampledPolicy,
    v: pe.Variant,
    dice: tuple[int, ...],
    said: list[int],
    seat: int,
    hand: int,
    total: int,
    slip: float = 0.0,
) -> float:
    """The chance that a seat with this hand says what it has said, one question after the other; at random with chance ``slip``."""
    dealt = [[2] * d for d in dice]
    dealt[seat] = [face + 1 for face in range(6) for _ in range(HANDS[hand, face])]
    game, chance = pe.Game.from_hands(v, dealt, total_at_start=total), 1.0
    for action in said:
        if game.seat == seat:
            mask = game.action_mask()
            chance *= (1 - slip) * policy.probs(game.observation(seat)[None], mask[None])[0, action] + slip * mask[
                action
            ] / mask.sum()
        game.act(action)
    return chance


def test_calls_are_worth_their_mean_over_hands_drawn_from_the_belief() -> None:
    policy, rng, samples = agents.make("inference", "pascal", 3), np.random.default_rng(0), 20_000
    batch = RoundOrGame(pe.variant("pascal"), (4, 3, 5)).deal(np.arange(8, dtype=np.uint64))
    beliefs = HandBeliefs(batch, policy)
    for _ in range(3):
        rows = np.flatnonzero(~batch.is_over)
        batch.act(beliefs.act(rows, rng), rows)
    rows = np.flatnonzero(~batch.is_over)[:3]
    holds, exactly = beliefs.chances(rows)
    pay = call_pay(batch.states[rows])
    for k, row in enumerate(rows):
        standing = batch.states["bids"][row, batch.states["num_bids"][row] - 1]
        true = holds[k, standing]
        for call, value in (
            (pe.DUDO, true * pay[k, 0] + (1 - true) * pay[k, 1]),
            (pe.CALZA, (1 - exactly[k]) * pay[k, 2] + exactly[k] * pay[k, 3]),
        ):
            many = np.full(samples, row)
            played = batch.take(many)
            me = played.seat.astype(np.int64)
            deal_rows(played.states, many, me, rng.random((samples, 3)), beliefs.weights, HANDS, FIRST_HAND)
            played.act(np.full(samples, int(call)))
            returns = np.empty(samples)
            last_returns(played.states, me, returns)
            assert returns.mean() == pytest.approx(value, abs=4 * returns.std() / samples**0.5 + 1e-9)


@pytest.mark.parametrize(
    ("agent", "v", "dice", "share"),
    [
        ("uniform", "classic", (2, 1), 0.8),
        ("odds", "classic", (2, 1), 0.6),
        ("inference", "classic", (2, 1), 0.6),
        ("odds", "box:calza=anyone", (1, 1), 0.5),
    ],
)
def test_it_gains_no_more_than_a_best_response_and_not_much_less(
    agent: str, v: str, dice: tuple[int, int], share: float
) -> None:
    policy = agents.make(agent, v, 2)
    exact, measured = (
        nash_conv(policy, v, dice),
        local_best_response(policy, RoundOrGame(parse_variant(v), dice), 250, effort=QUICK),
    )
    assert measured.total.low <= exact.nash_conv
    assert measured.total.value >= share * exact.nash_conv
    error = (measured.agent_returns[0].high - measured.agent_returns[0].low) / 3.92
    assert measured.agent_returns[0].value == pytest.approx(exact.value, abs=3.3 * error)
    for gain, most in zip(measured.gains, exact.gains, strict=True):
        assert gain.value - 3.3 * (gain.high - gain.low) / 3.92 <= most


def test_nothing_is_gained_against_a_solved_round() -> None:
    measured = local_best_response(
        agents.make("exact", "classic", 2), RoundOrGame(pe.variant("classic"), (1, 1)), 150, effort=QUICK
    )
    assert measured.total.low <= 2e-3
    assert measured.total.value == pytest.approx(measured.gains[0].value + measured.gains[1].value)


def test_three_seats_and_whole_games() -> None:
    three = local_best_response(UNIFORM, RoundOrGame(pe.variant("classic"), (2, 2, 2)), 100, effort=QUICK)
    assert sum(e.value for e in three.agent_returns) == pytest.approx(0, abs=1e-9)
    assert three.mean.low > 0.2
    v = pe.variant("classic", starting_dice=2, num_faces=3, max_bid="dice_in_play")
    exact, measured = (
        match_exploitability(UNIFORM, v),
        local_best_response(UNIFORM, RoundOrGame(v, (2, 2), match=True), 100, effort=QUICK),
    )
    assert 0.6 * exact.nash_conv < measured.total.value
    assert measured.total.low <= exact.nash_conv


def test_the_seed_fixes_all() -> None:
    table, odds = RoundOrGame(pe.variant("classic"), (1, 2), palifico=True), agents.make("odds", "classic", 2)
    runs = [local_best_response(odds, table, 50, seed, QUICK) for seed in (1, 1, 2)]
    assert runs[0] == runs[1] != runs[2]
    assert 0 < runs[0].gains[0].high <= 1


class Undecided(SampledPolicy):
    """Answers nothing with a hand of two fours, after a bid."""

    def probs(self, observations: Int8Array, masks: Int8Array) -> np.ndarray:
        out = UNIFORM.probs(observations, masks)
        out[(observations[:, 3 * 6 + 1] == 1) & (masks[:, 0] == 1)] = np.nan
        return out


def test_bad_probabilities_are_refused_naming_the_information_state() -> None:
    with pytest.raises(
        ValueError,
        match=r"not finite at the information state 'seat=1 perudo/1 classic position total=4\\n\?\?/44 opener=0 ",
    ):
        local_best_response(Undecided(), RoundOrGame(pe.variant("classic"), (2, 2)), 20, effort=QUICK)


def test_the_best_action_is_legal_in_a_calza_window() -> None:
    batch = RoundOrGame(parse_variant("box:calza=anyone"), (3, 2, 2)).deal(np.arange(20, dtype=np.uint64))
    beliefs, rows, rng = HandBeliefs(batch, UNIFORM), np.arange(20), np.random.default_rng(0)
    batch.act(np.full(20, 3 + 1))
    chosen = Lookahead(beliefs, UNIFORM, QUICK).act(rows, rng)
    assert set(chosen.tolist()) <= {int(pe.CALZA), int(pe.PASS)}


def test_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--agent", "odds", "--games", "20", "--effort.raises", "3", "--effort.samples", "2", "--dice"]
    assert command(["local-best-response", *words, "1", "1"]) == 0
    assert "NashConv is at least this" in capsys.readouterr().out
    assert command(["local-best-response", *words, "1", "1", "1"]) == 0
    assert "against fixed others gains at least" in capsys.readouterr().out
    for bad, why in (
        (["0", "1"], "at least one die"),
        (["9", "1"], "0 to starting_dice = 5"),
        (["1"], "out of range"),
        (["2", "1", "--palifico"], "one die"),
    ):
        assert command(["local-best-response", *words, *bad]) == 2
        assert why in capsys.readouterr().err
