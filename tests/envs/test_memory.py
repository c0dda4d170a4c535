"""Memory at every door: with it observations hold the dice counts that box hides, without it the viewer's own alone.

RLlib's door is asked in an environment of its own, by ``tests.frameworks.rllib_games``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import pytest

from perudo_env import Game, perudo_v0
from perudo_env.envs.vector import LearnerVectorEnv, SelfPlayVectorEnv
from perudo_env.policy import UniformPolicy, sample_legal

Int8Array = np.ndarray
Shown = tuple[Int8Array, Int8Array, Any]
"""An observation, the dice of all seats as its viewer counts them, and its layout."""


def of_game(game: Game, seat: int, observation: Int8Array) -> Shown:
    return observation, np.roll(game.dice, -seat), game.layout


def aec(memory: str) -> Shown:
    env = perudo_v0.env(variant="box", num_players=3, memory=memory)
    env.reset(seed=4)
    for _ in range(40):
        observation, _, over, cut, _ = env.last()
        mask = observation["action_mask"]
        env.step(None if over or cut else int(np.flatnonzero(mask)[0 if mask[0] else 4]))
        if not env.agents:
            env.reset(seed=5)
        elif sum(env.unwrapped.game.dice) < 13:
            break
    seat = env.possible_agents.index(env.agent_selection)
    return of_game(env.unwrapped.game, seat, env.observe(env.agent_selection)["observation"])


def parallel(memory: str) -> Shown:
    env = perudo_v0.parallel_env(variant="box", num_players=3, memory=memory)
    seen, _ = env.reset(seed=4)
    game = env.unwrapped.game
    return of_game(game, 1, seen["player_1"]["observation"])


def single(memory: str) -> Shown:
    env = gymnasium.make("perudo/Perudo-v0", variant="box", num_players=3, memory=memory)
    seen, info = env.reset(seed=4)
    return of_game(env.unwrapped.game, info["seat"], seen)


def of_batch(env: Any, seen: Int8Array, seat: int) -> Shown:
    return seen[0], np.roll(env.batch.dice[0], -seat), env.batch.layout


def learner(memory: str) -> Shown:
    env = gymnasium.make_vec("perudo/Perudo-v0", 2, variant="box", num_players=3, memory=memory)
    seen, info = env.reset(seed=4)
    for _ in range(6):
        seen, *_, info = env.step(sample_legal(info["action_mask"], np.random.default_rng(1)))
    return of_batch(env.unwrapped, seen, info["seat"][0])


def self_play(memory: str) -> Shown:
    env = SelfPlayVectorEnv(2, "box", 3, dice=(5, 2, 3), memory=memory)
    seen, info = env.reset(seed=4)
    return of_batch(env, seen, info["seat"][0])


def sb3(memory: str) -> Shown:
    Sb3VecEnv = pytest.importorskip("perudo_env.adapters.sb3").Sb3VecEnv
    env = LearnerVectorEnv(2, "box", 3, [UniformPolicy()], memory=memory)
    return of_batch(env, Sb3VecEnv(env).reset().astype(np.int8), env.learner[0])


def open_spiel(memory: str) -> Shown:
    pyspiel = pytest.importorskip("pyspiel")
    door = pytest.importorskip("perudo_env.adapters.openspiel")
    game = pyspiel.load_game(door.SHORT_NAME, {"variant": "box", "dice": "3,1,2", "memory": memory})
    state, hidden = game.new_initial_state(), "dice=(3, None, None)"
    while state.is_chance_node():
        state.apply_action(state.legal_actions()[0])
    forgets, keeps = (game.make_py_observer(pyspiel.IIGObservationType(perfect_recall=p)) for p in (False, True))
    for observer in (forgets, keeps):
        observer.set_from(state, 0)
    assert (hidden in forgets.string_from(state, 0)) == (memory == "none")
    # an information state forgets nothing: all counts are in it, whatever observations hold
    assert keeps.dict["dice"].sum(axis=1).tolist() == [3, 1, 2]
    assert "/?/??" in keeps.string_from(state, 0)
    return of_game(state.game, 0, forgets.dict["observation"].astype(np.int8))


@pytest.mark.parametrize("door", [aec, parallel, single, learner, self_play, sb3, open_spiel])
def test_every_door_remembers_unless_told_not_to(door: Callable[[str], Shown]) -> None:
    for memory in ("perfect", "none"):
        seen, dice, layout = door(memory)
        told = layout.get(seen, "dice").sum(axis=1)
        assert dice[0] > 0
        assert told.tolist() == (dice.tolist() if memory == "perfect" else [dice[0], 0, 0])
    with pytest.raises(ValueError, match="memory = 'some'"):
        door("some")
