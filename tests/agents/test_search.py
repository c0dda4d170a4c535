"""The searching agent: its memory of the round, its beliefs and values by brute force, its effort and its manners."""

from __future__ import annotations

import random
from itertools import product

import numpy as np
import numpy.typing as npt
import pytest

import agents
import perudo_env as pe
from agents.search.hand_beliefs import HandBeliefs
from agents.search.policy import STRENGTH, SearchPolicy, Thought
from perudo_env.engine.hands import FIRST_HAND, HAND_CHANCES, HANDS
from perudo_env.engine.variant import Variant, parse_variant
from perudo_env.policy import Int8Array, Policy, SampledPolicy
from tests.evaluate.test_local_best_response import Telling, likelihood_of
from tests.helpers import PRESETS, play_out, random_dice, random_variant
from train.evaluate.tournament.standings import share_against

QUICK = Thought(tried=4, samples=4)
SLIP = 0.1


def beliefs_of(game: pe.Game, policy: Policy, slip: float = 0.0) -> HandBeliefs:
    """What the seat to act remembers, told by its observation alone."""
    total = int(game.states["total_at_start"][0])
    search = SearchPolicy(policy, game.variant, game.num_seats, Thought(slip=slip), total_at_start=total)
    return search.remembered(game.observation(game.seat))


def positions(num_games: int, variant: Variant | None = None, num_seats: int | None = None) -> list[pe.Game]:
    """Games at decisions in the middle of rounds, by default of any variant with public counts and two to five seats."""
    rng, found = random.Random(0), []
    while len(found) < num_games:
        v, seats = variant or random_variant(rng), num_seats or rng.randint(2, 5)
        if variant is not None or v.dice_counts == "public":
            dice = random_dice(v, seats, rng) if rng.random() < 0.3 else None
            game = play_out(pe.Game(v, seats, seed=rng.getrandbits(60), dice=dice), rng, rng.randint(0, 40))
            if not game.is_over:
                found.append(game)
    return found


def test_an_observation_is_enough_to_play_the_round_again() -> None:
    for game in positions(60):
        batch = beliefs_of(game, pe.UniformPolicy()).batch
        assert (batch.observe()[0] == game.observation(game.seat)).all()
        assert (batch.masks()[0] == game.action_mask()).all()


@pytest.mark.parametrize("v", ["classic:calza=anyone", "evening", "pascal"])
def test_the_belief_is_bayes_rule_on_the_answers_of_the_agent_under_it(v: str) -> None:
    policy, variant, dice = Telling(), parse_variant(v), (2, 1, 2)
    said = [3 + 1, *([2, 2] if variant.calza == "anyone" else []), 3 + 7, *([2] if variant.calza == "anyone" else [])]
    game = pe.Game.from_hands(variant, [[2, 3], [4], [1, 6]], total_at_start=15)
    for action in said:
        game.act(action)
    weights = beliefs_of(game, policy, SLIP).weights[0]
    for relative in range(1, 3):
        seat = (game.seat + relative) % 3
        hands = np.arange(FIRST_HAND[dice[seat]], FIRST_HAND[dice[seat] + 1])
        likelihood = [likelihood_of(policy, variant, dice, said, seat, h, 15, SLIP) for h in hands]
        expected = HAND_CHANCES[6, hands] * likelihood
        assert weights[relative, hands] == pytest.approx(expected / expected.sum(), abs=1e-12)


def test_calls_are_worth_their_mean_over_all_hands_in_chances_to_win() -> None:
    game = pe.Game.from_hands("pascal", [[2, 3, 3], [4, 5], [1, 6]], bids=["1x3", "2x3", "3x3"])
    policy = SearchPolicy(agents.make("odds", "pascal", 3), "pascal", 3, QUICK)
    beliefs = beliefs_of(game, policy.policy, policy.thought.slip)
    mask = game.action_mask()
    values = policy.values(beliefs, mask, mask / mask.sum(), np.random.default_rng(0))
    unit = share((3, 2, 2), 0) - share((2, 2, 2), 0)
    expected = {pe.DUDO: 0.0, pe.CALZA: 0.0}
    numbers = range(FIRST_HAND[2], FIRST_HAND[3])
    for one, two in product(numbers, numbers):
        chance = beliefs.weights[0, 1, one] * beliefs.weights[0, 2, two]
        for call in expected:
            played = pe.Game.from_hands("pascal", [[2, 3, 3], faces(one), faces(two)], bids=["1x3", "2x3", "3x3"])
            played.act(call)
            expected[call] += chance * (share(played.dice, 0) - share((3, 2, 2), 0)) / unit
    for call, value in expected.items():
        assert values[call] == pytest.approx(value)


def faces(hand: int) -> list[int]:
    """The dice of a hand's number."""
    return faces_of(HANDS[hand])


def faces_of(counts: npt.NDArray[np.int8]) -> list[int]:
    """A hand's dice."""
    return [f + 1 for f, count in enumerate(counts) for _ in range(count)]


def share(dice: tuple[int, ...], seat: int) -> float:
    """A seat's chance to win by its dice."""
    return float(STRENGTH[dice[seat]] / STRENGTH[list(dice)].sum())


class Counting(SampledPolicy):
    """Another policy, with the questions it is asked counted."""

    def __init__(self, policy: Policy) -> None:
        self.policy, self.questions = policy, 0

    def probs(self, observations: Int8Array, masks: Int8Array) -> npt.NDArray[np.float64]:
        self.questions += len(observations)
        return self.policy.probs(observations, masks)


class Least(SampledPolicy):
    """Always makes the least bid there is, so that rounds last as long as can be."""

    def probs(self, observations: Int8Array, masks: Int8Array) -> npt.NDArray[np.float64]:
        bids = np.where(masks[:, 3:] > 0, 1.0, 0.0)
        first = 3 + bids.argmax(axis=1)
        return np.eye(masks.shape[1])[np.where(bids.any(axis=1), first, masks.argmax(axis=1))]


@pytest.mark.parametrize("under", [agents.make("inference", "evening", 4), Least()])
def test_a_move_takes_no_more_than_so_many_questions(under: Policy) -> None:
    counting = Counting(under)
    policy = SearchPolicy(counting, "evening", 4, QUICK)
    for bids in ([], ["1x2"], ["1x2", "2x2", "3x4", "4x4", "4x5", "5x2", "6x6"]):
        game = pe.Game.from_hands("evening", [[1, 2, 3, 4, 5]] * 4, bids=bids)
        counting.questions = 0
        policy.probs(game.observation(game.seat)[None], game.action_mask()[None])
        t, hands = policy.thought, FIRST_HAND[6] - FIRST_HAND[5]
        assert counting.questions <= 1 + len(bids) * hands + (t.tried + 9) * t.samples * t.longest
        assert counting.questions > (t.tried if isinstance(under, Least) else 9 * t.samples)


@pytest.mark.parametrize("preset", [*PRESETS, "classic:calza=anyone"])
def test_probabilities_are_legal_and_the_same_whoever_else_asks(preset: str) -> None:
    variant = parse_variant(preset)
    for seats in (2, 3):
        rows = positions(3, variant, seats)
        seen, masks = np.stack([g.observation(g.seat) for g in rows]), np.stack([g.action_mask() for g in rows])
        policy = SearchPolicy(agents.make("inference", variant, seats), variant, seats, QUICK)
        probs = policy.probs(seen, masks)
        assert (probs[masks == 0] == 0).all()
        assert (probs >= 0).all()
        assert probs.sum(axis=1) == pytest.approx(1)
        again = [policy.probs(seen[[k]], masks[[k]])[0] for k in range(len(rows))]
        assert (np.stack(again) == probs).all()
        assert (
            policy.act(seen, masks, np.random.default_rng(1)) == policy.act(seen, masks, np.random.default_rng(1))
        ).all()


def test_where_counts_are_not_known_the_agent_under_it_plays() -> None:
    game, under = pe.Game("box", 3, seed=1, memory="none"), agents.make("inference", "box", 3)
    rows = game.observation(game.seat)[None], game.action_mask()[None]
    assert (agents.make("search:inference", "box", 3).probs(*rows) == under.probs(*rows)).all()


def test_it_beats_the_agent_under_it() -> None:
    variant = pe.variant("pascal", starting_dice=2)
    under = agents.make("odds", variant, 2)
    assert share_against(SearchPolicy(under, variant, 2, QUICK), under, variant, 2, 80, seed=0).low > 0.5


def test_agents_to_search_with() -> None:
    assert isinstance(agents.make("search:odds", "classic", 2), SearchPolicy)
    with pytest.raises(ValueError, match=r"unknown agent 'ods'.*did you mean 'odds'"):
        agents.make("search:ods", "classic", 2)
    with pytest.raises(ValueError, match="states probs"):
        agents.make("search:search:odds", "classic", 2)
