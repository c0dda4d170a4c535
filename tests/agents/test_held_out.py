"""Strangers: kept out of training, better than chance, and each with its own style."""

from pathlib import Path

import numpy as np
import pytest
import yaml

import agents
import perudo_env as pe
from perudo_env.engine.actions import CALZA, DUDO, PACO, face_of, quantity_of, to_id
from train.core.rollout import play
from train.selfplay.options import MixedPoolSection

CONFIGS = sorted((Path(__file__).parents[2] / "configs").glob("*.yaml"))
JUDGES = {"tournament.yaml"}  # judge agents that are finished


def strangers_in(value):
    """Every text in a tree of lists and mappings that means a stranger, whatever stands before or after its name."""
    if isinstance(value, dict):
        return [found for pair in value.items() for part in pair for found in strangers_in(part)]
    if isinstance(value, list | tuple):
        return [found for part in value for found in strangers_in(part)]
    return [value] if isinstance(value, str) and "held_out" in value else []


def test_strangers_are_found_wherever_they_are_named():
    poisoned = {"pool": {"scripted": ["odds", "held_out:bully"]}, "search:held_out:moody": [1]}
    assert strangers_in(poisoned) == ["held_out:bully", "search:held_out:moody"]
    assert strangers_in(["agents.scripted.held_out:Bully"])


@pytest.mark.parametrize("path", [p for p in CONFIGS if p.name not in JUDGES], ids=lambda p: p.name)
def test_no_run_trains_with_strangers_or_is_judged_by_them_while_it_learns(path):
    assert not strangers_in(yaml.safe_load(path.read_text(encoding="utf-8")))


def test_no_pool_has_strangers_by_default():
    assert not strangers_in(MixedPoolSection().scripted)


def test_strangers_are_named_apart():
    assert not set(agents.HELD_OUT) & set(agents.names())
    with pytest.raises(ValueError, match=r"did you mean 'held_out:bully'.*a stranger \(held_out:raiser"):
        agents.make("held_out:buly", "classic", 2)


@pytest.mark.parametrize("name", agents.HELD_OUT)
def test_strangers_beat_chance(name):
    """One stranger among three uniform players wins far more than its quarter."""
    policies = [agents.make(who, "classic", 4) for who in (name, "uniform")]
    lineups = np.ones((200, 4), np.int64)
    lineups[np.arange(200), np.arange(200) % 4] = 0
    wins = play(policies, lineups, pe.variant("classic"), np.arange(200, dtype=np.uint64), seed=1).wins
    assert wins[lineups == 0].mean() > 0.5


def choice(name, game):
    """The action that a stranger is likeliest to take."""
    policy = agents.make(f"held_out:{name}", game.variant, game.num_seats)
    return int(policy.probs(game.observation(game.seat)[None], game.action_mask()[None])[0].argmax())


def test_each_has_its_style():
    hands = [[2, 3, 4, 5, 6], [1, 4, 4, 5, 6], [2, 2, 3, 5, 6]]
    game = pe.Game.from_hands("pascal", hands, opener=0, bids=["3x4"])
    assert choice("raiser", game) == choice("copycat", game) == to_id(pe.Bid(4, 4))
    assert face_of(choice("pacos", game)) == PACO
    assert quantity_of(choice("bully", game)) > 4
    steep = pe.Game.from_hands("classic", hands, opener=0, bids=["6x6"])
    assert choice("nervous", steep) == choice("honest", steep) == DUDO
    assert choice("copycat", steep) != DUDO, "believes the bidder"


def test_calza_is_said_for_a_lost_die_alone():
    for own, said in (([4, 4, 5], True), ([1, 4, 5, 6, 6], False)):
        game = pe.Game.from_hands("pascal", [[2, 3], own], opener=0, bids=["2x4"])
        assert (choice("calza", game) == CALZA) == said
