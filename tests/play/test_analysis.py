"""A finished game step by step: every decision in order, what was known then, and what an agent would have done."""

from __future__ import annotations

import numpy as np
import pytest

import agents
from perudo_env import DUDO, Bid, Game
from perudo_env.engine.actions import to_id
from perudo_env.game.notation import parse_record
from perudo_env.play.analysis import opinion, steps
from perudo_env.play.table import Player, Table
from perudo_env.rulebook.chances import chance


def finished(variant: str) -> Game:
    table = Table(variant, [Player("A", "odds"), Player("B", "threshold"), Player("C", "bluffer")], agents.make, 3)
    table.play_agents()
    return table.game


@pytest.mark.parametrize("variant", ["classic:starting_dice=2", "box:calza=anyone,starting_dice=2"])
def test_the_steps_are_the_decisions_of_the_game_and_lead_to_its_end(variant):
    game = finished(variant)
    found = list(steps(game.record()))
    assert [s.action for s in found] == [action for told in parse_record(game.record())[1] for action in told.actions]
    events = list(found[0].game.events)
    for step in found:
        assert step.seat == step.game.seat
        events += step.after.events[len(step.game.events) :]
    assert tuple(events) == tuple(game.events)
    assert found[-1].after.ranks == game.ranks


def test_chances_are_those_of_who_decided_with_the_dice_of_then():
    for step in steps(finished("classic:starting_dice=2").record()):
        bid = step.game.standing_bid
        assert step.standing == (None if bid is None else chance(step.game, step.seat, bid))
        assert step.made == (chance(step.game, step.seat, step.action) if step.action != DUDO else None)
        if isinstance(step.action, Bid):
            assert step.made is not None
            assert 0 <= step.made.exactly <= step.made.holds <= 1


@pytest.mark.parametrize("name", ["odds", "uniform", "table"])
def test_an_opinion_is_what_the_agent_states_at_that_moment(name):
    game = finished("classic:starting_dice=3")
    policy = agents.make(name, game.variant, game.num_seats)
    found = list(steps(game.record()))
    for step in found[:: max(1, len(found) // 4)]:
        probs = policy.probs(step.game.observation(step.seat)[None], step.game.action_mask()[None])[0]
        told = opinion(step, policy)
        assert told.done == pytest.approx(probs[to_id(step.action)])
        assert [p for _, p in told.choices] == pytest.approx(sorted(probs, reverse=True)[: len(told.choices)])
        assert [float(probs[to_id(a)]) for a, _ in told.choices] == [p for _, p in told.choices]
        assert 1 <= len(told.choices) <= 3


class FirstLegal:
    """An agent that states no probabilities."""

    def act(self, observations, masks, rng):
        return np.argmax(masks, axis=1)


def first_legal(variant, num_seats):
    return FirstLegal()


def test_an_agent_without_probabilities_plays_and_has_no_opinion():
    table = Table("classic:starting_dice=1", [Player("A", f"{__name__}:first_legal"), Player("Ann")], agents.make, 3)
    while not table.is_over:
        table.play_agents()
        if table.waiting_for:
            hint = table.hint(1, f"{__name__}:first_legal")
            assert hint.choices == ()
            assert (hint.standing is None) == (table.game.standing_bid is None)
            table.act(1, table.game.legal_actions()[0])
    step = next(steps(table.game.record()))
    told = opinion(step, agents.make(f"{__name__}:first_legal", table.game.variant, 2))
    assert (told.choices, told.done) == ((), 0.0)
