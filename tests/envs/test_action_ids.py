"""Action ids at every door: a whole number of any kind is played, and what is none, or out of range, changes nothing."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

import gymnasium
import numpy as np
import pyspiel
import pytest
import torch

import perudo_env as pe
import perudo_env.adapters.openspiel  # registers python_perudo
from perudo_env import perudo_v0
from perudo_env.adapters.text import TextEnv
from perudo_env.envs.vector import LearnerVectorEnv, SelfPlayVectorEnv

WHOLE: list[Callable[[int], Any]] = [
    int, np.int8, np.int64, np.uint8, np.uint64, np.array, lambda n: np.array(n, np.uint8), torch.tensor,
    lambda n: torch.tensor(n, dtype=torch.int8), lambda n: np.array([n, n])[1],
]  # fmt: skip


class Broken:
    """An object whose number is not to be had."""

    def __index__(self) -> int:
        raise RuntimeError("no number today")


NO_ID: list[Any] = [
    Broken(), torch.empty((), dtype=torch.int64, device="meta"), Decimal(3), Fraction(3), 10**5000, -(10**5000),
    3.0, 3.7, np.float64(3), np.array(3.7), torch.tensor(3.7), float("nan"), True, np.True_, np.array(True), torch.tensor(True),
    np.array([3]), torch.tensor([3]), [3], (5, 3), None, b"3", {}, object(),
    -1, 63, 10**9, 2**63, 2**64 + 3, 2**70, -(2**64), np.uint64(2**63 + 3), np.int64(-1), np.array(-1), torch.tensor(63),
]  # fmt: skip


class Door(NamedTuple):
    """One table of two at classic, about to be opened: how an action is played there, and all that it might change."""

    play: Callable[[Any], Any]
    state: Callable[[], Any]


def _game(door: Any, play: Callable[[Any], Any]) -> Door:
    return Door(play, lambda: door().record())


def _doors() -> dict[str, Callable[[], Door]]:
    def of_game(method: str) -> Door:
        game = pe.Game("classic", 2, seed=3)
        return _game(lambda: game, getattr(game, method))

    def aec(make: Any, **arguments: Any) -> Door:
        env = make(num_players=2, **arguments)
        env.reset(seed=3)
        return Door(env.step, lambda: (env.unwrapped.game.record(), env.agents, env.rewards, env.terminations))

    def parallel() -> Door:
        env = perudo_v0.parallel_env(num_players=2)
        env.reset(seed=3)
        return _game(lambda: env.unwrapped.game, lambda action: env.step(dict.fromkeys(env.agents, action)))

    def single(illegal: str) -> Door:
        env = gymnasium.make("perudo/Perudo-v0", illegal=illegal)
        env.reset(seed=3)
        return _game(lambda: env.unwrapped.game, env.step)  # type: ignore[attr-defined]

    def vector(make: Any) -> Door:
        env = make(2)
        env.reset(seed=4)
        other = int(np.flatnonzero(env.action_masks()[1])[-1])
        return Door(lambda action: env.step([action, other]), env.batch.states.tobytes)

    def batch() -> Door:
        tables = pe.Batch("classic", 2, 1, seed=3)
        return Door(lambda action: tables.act([action]), tables.states.tobytes)

    def text() -> Door:
        env = TextEnv()
        env.reset(2, seed=3)
        return Door(env.step, lambda: repr((env.game.record(), env.close())))

    def openspiel() -> Door:
        state = pyspiel.load_game("python_perudo", {"variant": "classic", "players": 2}).new_initial_state()
        while state.is_chance_node():
            state.apply_action(state.chance_outcomes()[0][0])
        return Door(state.apply_action, lambda: (str(state), state.history()))

    return {
        "Game.act": lambda: of_game("act"),
        "Game.play": lambda: of_game("play"),
        "raw_env": lambda: aec(perudo_v0.raw_env),
        "raw_env that terminates": lambda: aec(perudo_v0.raw_env, illegal="terminate"),
        "env": lambda: aec(perudo_v0.env),
        "parallel": parallel,
        "single": lambda: single("terminate"),
        "single that raises": lambda: single("raise"),
        "self-play": lambda: vector(SelfPlayVectorEnv),
        "learner": lambda: vector(LearnerVectorEnv),
        "Batch": batch,
        "text": text,
        "OpenSpiel": openspiel,
    }


@pytest.mark.parametrize("name", _doors())
def test_every_door_plays_whole_numbers_and_refuses_the_rest(name: str) -> None:
    make = _doors()[name]
    told = make()
    before = told.state()
    told.play(50)  # 8x6
    after = told.state()
    assert after != before
    for kind in WHOLE:
        door = make()
        door.play(kind(50))
        assert door.state() == after, kind
    door = make()
    for value in NO_ID:
        if (name, value) == ("text", None):  # a model that says nothing is asked again
            continue
        with pytest.raises(pe.IllegalActionError):
            door.play(value)
        assert door.state() == before, value
    door.play(50)
    assert door.state() == after


def test_a_bid_s_parts_are_whole_numbers_of_any_kind() -> None:
    for kind in WHOLE:
        game = pe.Game("classic", 2, seed=3)
        game.act(pe.Bid(kind(2), kind(3)))
        assert game.standing_bid == (2, 3)


def test_a_refused_outcome_of_chance_changes_nothing() -> None:
    state = pyspiel.load_game("python_perudo", {"variant": "classic", "players": 2}).new_initial_state()
    for value in (-1, 2, True, 0.0, None):
        with pytest.raises(pe.IllegalActionError, match="chance"):
            state.apply_action(value)
    assert state.history() == []


@pytest.mark.parametrize("rows", [[True, 10], [10, 10.0], [10, 2**70]])
def test_one_type_of_a_list_does_not_hide_another(rows: list[Any]) -> None:
    """As NumPy reads them, True beside 10 is 1."""
    tables = pe.Batch("classic", 2, 2, seed=3)
    with pytest.raises(pe.IllegalActionError, match=r"game [01]: "):
        tables.act(rows)
