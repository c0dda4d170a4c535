"""Answers of agents are checked by all who ask: the agent and the position are named, and nothing wrong is played."""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import agents
import perudo_env as pe
from agents.search.policy import SearchPolicy
from perudo_env.envs.single import PerudoEnv
from perudo_env.envs.vector import LearnerVectorEnv
from perudo_env.game.asking import AnswerError, ask, ask_probs, infostate
from perudo_env.play.table import Player, Table
from perudo_env.policy import Int8Array, SampledPolicy, sample
from train.core.rollout import play
from train.evaluate.habits import habits
from train.evaluate.local_best_response import play_alone
from train.evaluate.response import Greedy

CLASSIC = pe.variant("classic")
NAN = f"{__name__}:nan"


class Answers:
    """Gives whatever it was made with."""

    def __init__(self, given: Any) -> None:
        self.given = given

    def act(self, observations: Int8Array, masks: Int8Array, rng: np.random.Generator) -> Any:
        return self.given


class Nan(SampledPolicy):
    """Uniform until a bid stands; then its probabilities are not a number."""

    def probs(self, observations: Int8Array, masks: Int8Array) -> np.ndarray:
        out = pe.UniformPolicy().probs(observations, masks)
        out[masks[:, 0] == 1] = np.nan
        return out


def nan(variant: pe.Variant, num_seats: int) -> Nan:
    return Nan()


def agent() -> Any:
    return agents.make(NAN, CLASSIC, 2)


def _single() -> None:
    env = PerudoEnv("classic", 2, opponents=[agent()])
    for seed in range(9):
        env.reset(seed=seed)
        env.step(50)


def _vector() -> None:
    env = LearnerVectorEnv(9, "classic", 2, [agent()])
    env.reset(seed=1)
    env.step(env.action_masks().shape[1] - 1 - env.action_masks()[:, ::-1].argmax(axis=1))


def _table() -> None:
    table = Table("classic", [Player("A", NAN), Player("B", NAN)], agents.make, 3)
    table.play_agents()


ASKERS: dict[str, Callable[[], Any]] = {
    "arena, tournament": lambda: play([agent()], np.zeros((20, 2), np.int64), CLASSIC, np.arange(20)),
    "habits": lambda: habits(agent(), CLASSIC, 2, 20),
    "best response": lambda: play_alone(agent(), pe.Batch("classic", 2, 9, seed=1), np.random.default_rng(1)),
    "exploiter": lambda: play([Greedy(agent())], np.zeros((20, 2), np.int64), CLASSIC, np.arange(20)),
    "search": lambda: play([SearchPolicy(agent(), CLASSIC, 2)], np.zeros((2, 2), np.int64), CLASSIC, np.arange(2)),
    "vector env": _vector,
    "single env": _single,
    "a table of people": _table,
}


@pytest.mark.parametrize("where", ASKERS)
def test_nan_probabilities_are_refused_wherever_an_agent_is_asked(where: str) -> None:
    with pytest.raises(AnswerError) as caught:
        ASKERS[where]()
    told = str(caught.value)
    assert NAN in told
    assert "not finite" in told
    if where == "a table of people":
        assert re.search(r"round 1, seat \d, after \d", told)
        assert "classic" not in told.replace(NAN, ""), "no hand is told"
    else:
        assert "at the information state 'seat=" in told
    assert str(pickle.loads(pickle.dumps(caught.value))) == told


WRONG: list[tuple[Any, str]] = [
    ([0, 8], r"it chose action 0 \(dudo\), which is illegal at row 0"),
    ([8, 10**9], "it chose action 1000000000, which is illegal at row 1"),
    ([8, -1], "it chose action -1"),
    ([8], r"shape \(1,\)"),
    ([8.0, 8.0], "type float64"),
    ([True, True], "type bool"),
    (None, r"shape \(\)"),
    (np.full((2, 1), 8), r"shape \(2, 1\)"),
    ([[8], [8, 9]], "cannot be read as an array"),
    (torch.ones(2, requires_grad=True), "cannot be read as an array"),
]


def test_what_is_no_legal_action_is_refused() -> None:
    batch, rng = pe.Batch("classic", 2, 2, seed=1), np.random.default_rng(1)
    for given, message in WRONG:
        with pytest.raises(AnswerError, match=message) as caught:
            ask(Answers(given), batch.observe(), batch.masks(), rng)
        assert f"{__name__}:Answers" in str(caught.value)
    assert ask(Answers(np.array([4, 5], np.uint8)), batch.observe(), batch.masks(), rng).tolist() == [4, 5]


class Stated(SampledPolicy):
    """Has given probabilities."""

    def __init__(self, stated: np.ndarray) -> None:
        self.stated = stated

    def probs(self, observations: Int8Array, masks: Int8Array) -> np.ndarray:
        return self.stated


def test_what_is_no_distribution_over_the_legal_actions_is_refused() -> None:
    batch, rng = pe.Batch("classic", 2, 3, seed=1), np.random.default_rng(1)
    seen, masks = batch.observe(), batch.masks()
    legal = pe.UniformPolicy().probs(seen, masks)
    wrong: list[tuple[tuple[int, int, float], str]] = [
        ((1, 4, np.nan), "not finite at row 1"), ((2, 4, np.inf), "not finite at row 2"), ((1, 4, -0.1), "negative at row 1"),
        ((0, 0, 0.1), "dudo probability 0.1, which is illegal here"), ((2, 4, 0.9), "sum to 1[.]8"),
    ]  # fmt: skip
    for (row, action, p), message in wrong:
        stated = legal.copy()
        stated[row, action] = p
        for asked in (lambda s: ask_probs(Stated(s), seen, masks), lambda s: Stated(s).act(seen, masks, rng)):
            with pytest.raises(AnswerError, match=message):
                asked(stated)
    shapeless: list[Any] = [
        legal[:2], legal.T, None, [[1.0], [0.5, 0.5]], legal.astype(complex), legal.astype(str), torch.tensor(legal).bfloat16(),
        torch.tensor(legal, requires_grad=True),
    ]  # fmt: skip
    for given in shapeless:
        with pytest.raises(AnswerError, match=r"Stated.*(shape|cannot be read)"):
            ask_probs(Stated(given), seen, masks)
    with pytest.raises(AnswerError, match=r"Answers.* has no probs"):
        ask_probs(Answers([8]), seen, masks)  # type: ignore[arg-type]
    assert (ask_probs(Stated(legal.astype(np.float32)), seen, masks) == legal.astype(np.float32)).all()


def test_an_agent_that_writes_into_its_masks_makes_nothing_legal() -> None:
    class Writes(SampledPolicy):
        def probs(self, observations: Int8Array, masks: Int8Array) -> np.ndarray:
            masks[:] = 1
            return masks / masks.shape[1]

    batch = pe.Batch("classic", 2, 1, seed=1)
    with pytest.raises(AnswerError, match="illegal"):
        ask_probs(Writes(), batch.observe(), batch.masks())


def test_nothing_is_drawn_from_weights_that_are_none() -> None:
    for row in ([np.nan, 1.0], [np.inf, 1.0], [0.0, 0.0], [-0.5, 1.5]):
        with pytest.raises(ValueError, match="no distribution"):
            sample(np.array([[0.5, 0.5], row]), np.random.default_rng(1))


def test_the_information_state_of_a_row_is_that_of_its_game() -> None:
    batch = pe.Batch("box:calza=anyone", 3, 20, seed=4)
    games = [pe.Game("box:calza=anyone", 3, seed=4 + i) for i in range(20)]
    rng = np.random.default_rng(1)
    for _ in range(6):
        actions = pe.UniformPolicy().act(batch.observe(), batch.masks(), rng)
        batch.act(actions)
        for game, action in zip(games, actions, strict=True):
            game.act(action)
    for row, game in enumerate(games):
        if game.seat is not None and game.round == 1:
            now = game.infostate_key(game.seat).splitlines()[-1]
            assert infostate(batch.variant, batch.states[row]).splitlines()[-1] == now
