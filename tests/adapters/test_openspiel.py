"""The game in OpenSpiel: its own simulations, a walk beside its liars_dice, and its judgement of policies beside ours."""

from __future__ import annotations

import copy
import pickle
import random
import subprocess
import sys
from collections import Counter
from typing import Any

import numpy as np
import pytest

import perudo_env as pe
from perudo_env.engine.actions import bid_id
from perudo_env.policy import Int8Array, SampledPolicy
from train.evaluate.exploitability import nash_conv
from train.solver import solve_round

pyspiel = pytest.importorskip("pyspiel")

from open_spiel.python import policy as spiel_policy  # noqa: E402
from open_spiel.python.algorithms import best_response, cfr, expected_game_score, exploitability  # noqa: E402

import perudo_env.adapters.openspiel as door  # noqa: E402

TINY = pe.variant("liars_dice", starting_dice=1, num_faces=3)


def load(variant: Any, **params: Any) -> Any:
    return pyspiel.load_game(door.SHORT_NAME, {"variant": str(variant), **params})


@pytest.mark.parametrize(
    ("variant", "players"),
    [
        ("liars_dice", 2), ("joker", 3), ("pascal_round", 4), ("classic", 2), ("classic:starting_dice=2", 6),
        ("pascal:starting_dice=2", 3), ("box:starting_dice=2", 5), ("box:calza=anyone,starting_dice=2", 4),
        ("marquoir:starting_dice=3", 5), ("evening:starting_dice=2", 6),
    ],
)  # fmt: skip
def test_open_spiels_own_simulations(variant: str, players: int) -> None:
    pyspiel.random_sim_test(load(variant, players=players), num_sims=2, serialize=True, verbose=False)


@pytest.mark.parametrize("params", [{"dice": "2,1"}, {"dice": "1,0,2"}, {"players": 3, "max_rounds": 2}])
def test_simulations_of_other_tables(params: dict[str, Any]) -> None:
    pyspiel.random_sim_test(load("classic", **params), num_sims=2, serialize=True, verbose=False)


@pytest.mark.parametrize("players", range(2, 7))
def test_each_table_has_its_own_info(players: int) -> None:
    """OpenSpiel 2.0.2 loses the players of its own Python game."""
    game = load("box:calza=anyone,starting_dice=2", players=players)
    assert game.num_players() == players
    assert game.num_distinct_actions() == pe.Game("box:starting_dice=2", players).num_actions
    assert game.min_utility() == pytest.approx(-1 / (players - 1))
    assert len(walk(game.new_initial_state(), random.Random(0)).returns()) == players


def walk(state: Any, rng: random.Random) -> Any:
    """Random play to the end, the sum of all chances checked on the way."""
    while not state.is_terminal():
        if state.is_chance_node():
            outcomes, chances = zip(*state.chance_outcomes(), strict=True)
            assert sum(chances) == pytest.approx(1)
            state.apply_action(rng.choices(outcomes, chances)[0])
        else:
            state.apply_action(rng.choice(state.legal_actions()))
    return state


def test_parameters_survive_text_and_pickle() -> None:
    game = load("box:calza=anyone,starting_dice=2", dice="2,1,2", max_rounds=9)
    for twin in (pyspiel.load_game(str(game)), pickle.loads(pickle.dumps(game))):
        assert str(twin) == str(game)
        assert twin.num_players() == 3
        assert (
            walk(twin.new_initial_state(), random.Random(3)).history()
            == walk(game.new_initial_state(), random.Random(3)).history()
        )


@pytest.mark.parametrize("copied", [lambda s: s.clone(), copy.deepcopy, lambda s: pickle.loads(pickle.dumps(s))])
def test_a_copy_is_equal_and_independent(copied: Any) -> None:
    state = load("classic", players=3).new_initial_state()
    while len(state.history()) < 8:
        state.apply_action(state.legal_actions()[-1 if state.is_chance_node() else 0])
    twin, before = copied(state), str(state)
    assert str(twin) == before
    assert twin.history() == state.history()
    walk(twin, random.Random(1))
    assert str(state) == before
    assert not state.is_terminal()


@pytest.mark.parametrize(
    ("params", "says"),
    [
        ({"variant": "clasic"}, "did you mean 'classic'"), ({"players": 9}, "use 2 to 8"), ({"players": 1}, "use 2 to 8"),
        ({"dice": "2,x"}, "like 2,1"), ({"dice": "9,1"}, "not a number of dice"), ({"dice": "2,1", "players": 3}, "contradicts"),
        ({"max_rounds": -1}, "max_rounds = -1"), ({"variant": "box:calza=maybe"}, "calza = 'maybe'"),
    ],
)  # fmt: skip
def test_bad_parameters(params: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        pyspiel.load_game(door.SHORT_NAME, params)


def test_import_perudo_env_leaves_open_spiel_alone() -> None:
    code = "import sys, perudo_env; assert 'pyspiel' not in sys.modules and 'perudo_env.adapters.openspiel' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
    code = "import sys; sys.modules['pyspiel'] = None; import perudo_env.adapters.openspiel"
    failed = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert failed.returncode != 0
    assert "ImportError: perudo_env.adapters.openspiel needs OpenSpiel: pip install open-spiel" in failed.stderr


def test_chance_rolls_hands_as_dice_fall() -> None:
    """Over all ordered rolls of three dice of four faces, each sorted hand comes up with its probability."""
    rolled = Counter(tuple(sorted((a, b, c))) for a in range(1, 5) for b in range(1, 5) for c in range(1, 5))
    assert dict(door.rolls(3, 4)) == pytest.approx({hand: n / 64 for hand, n in rolled.items()})


def test_the_first_opener_is_chance() -> None:
    state = load("classic", dice="2,0,1").new_initial_state()
    assert state.chance_outcomes() == [(0, 0.5), (2, 0.5)]
    state.apply_action(2)
    while state.is_chance_node():
        state.apply_action(0)
    assert state.current_player() == 2


@pytest.mark.parametrize("perfect_recall", [False, True])
def test_no_other_hand_is_seen(perfect_recall: bool) -> None:
    game = load("pascal", players=3)
    observer = game.make_py_observer(pyspiel.IIGObservationType(perfect_recall=perfect_recall))
    seen = set()
    for other in range(5):
        state = game.new_initial_state()
        for outcome in (0, 17, other, 2 * other):
            state.apply_action(outcome)
        assert state.current_player() == 0
        observer.set_from(state, 0)
        seen.add((observer.tensor.tobytes(), observer.string_from(state, 0)))
    assert len(seen) == 1


# ------------------------------------------------------------------------------- beside OpenSpiel's liars_dice


def our_face(face: int, num_faces: int) -> int:
    """Their highest face is wild: our 1."""
    return 1 if face == num_faces else face + 1


def our_action(word: str, num_faces: int) -> int:
    if word == "Liar":
        return int(pe.DUDO)
    quantity, face = map(int, word.split("-"))
    return int(bid_id(quantity, our_face(face, num_faces)))


@pytest.mark.parametrize(("dice", "num_faces", "games"), [(1, 6, 60), (2, 6, 60), (2, 4, 60)])
def test_lockstep_with_liars_dice(dice: int, num_faces: int, games: int) -> None:
    theirs = pyspiel.load_game(f"liars_dice(numdice={dice},dice_sides={num_faces})")
    ours = load(f"liars_dice:starting_dice={dice},num_faces={num_faces}")
    rng, results = random.Random(dice), Counter()
    for _ in range(games):
        a, b = theirs.new_initial_state(), ours.new_initial_state()
        rolled = []
        while a.is_chance_node():
            rolled.append(rng.choice(a.legal_actions()))
            a.apply_action(rolled[-1])
        for seat in range(2):
            hand = sorted(our_face(face + 1, num_faces) for face in rolled[seat * dice : (seat + 1) * dice])
            hands = [h for h, _ in door.rolls(dice, num_faces)]
            b.apply_action(hands.index(tuple(hand)))
        while not a.is_terminal():
            assert a.current_player() == b.current_player()
            translated = {our_action(a.action_to_string(x), num_faces): x for x in a.legal_actions()}
            assert sorted(translated) == b.legal_actions()
            # few of the many raises, that rounds end by Dudo and not by the cap
            choice = rng.choice(sorted(translated)[:4])
            a.apply_action(translated[choice])
            b.apply_action(choice)
        assert b.is_terminal()
        assert a.returns() == b.returns()
        results[tuple(a.returns())] += 1
    assert len(results) == 2


class Told(SampledPolicy):
    """An OpenSpiel tabular policy as a Policy: a round's observation names its information state."""

    def __init__(self, table: Any, num_actions: int) -> None:
        self.rows: dict[bytes, np.ndarray] = {}
        for state in table.states:
            probs = np.zeros(num_actions)
            for action, p in table.action_probabilities(state).items():
                probs[action] = p
            self.rows[state.game.observation(state.current_player()).tobytes()] = probs
        assert len(self.rows) == len(table.states)

    def probs(self, observations: Int8Array, masks: Int8Array) -> np.ndarray:
        return np.array([self.rows[o.tobytes()] for o in observations])


def agree(game: Any, variant: Any, theirs: Any, ours: Any, dice: tuple[int, int]) -> float:
    """NashConv, the value and both best responses by OpenSpiel and by us, to 1e-6; returns NashConv."""
    judged = nash_conv(ours, variant, dice)
    assert judged.nash_conv == pytest.approx(exploitability.nash_conv(game, theirs), abs=1e-6)
    root = game.new_initial_state()
    value = expected_game_score.policy_value(root, [theirs, theirs])
    assert judged.value == pytest.approx(value[0], abs=1e-6)
    for seat in range(2):
        best = best_response.BestResponsePolicy(game, seat, theirs).value(root)
        assert judged.gains[seat] == pytest.approx(best - value[seat], abs=1e-6)
    return judged.nash_conv


@pytest.mark.parametrize(
    ("variant", "dice"),
    [
        (TINY, "1,1"),
        ("liars_dice:starting_dice=2,num_faces=2", "2,1"),
        ("pascal_round:starting_dice=1,num_faces=3,first_player=first_seat", "1,1"),
    ],
)
def test_uniform_policy_is_judged_alike(variant: Any, dice: str) -> None:
    game = load(variant, dice=dice)
    first, second = map(int, dice.split(","))
    assert agree(game, str(variant), spiel_policy.UniformRandomPolicy(game), pe.UniformPolicy(), (first, second)) > 0.1


def test_cfr_learns_and_is_judged_alike() -> None:
    game = load(TINY)
    solver = cfr.CFRPlusSolver(game)
    for _ in range(15):
        solver.evaluate_and_update_policy()
    average = solver.average_policy()
    told = Told(average, game.num_distinct_actions())
    left = agree(game, TINY, average, told, (1, 1))
    assert left < 0.05
    # in a zero-sum game NashConv bounds the distance of the value from the game's
    assert nash_conv(told, TINY, (1, 1)).value == pytest.approx(
        solve_round(TINY, (1, 1), seconds=5).value, abs=left + 1e-4
    )


@pytest.mark.slow
def test_open_spiels_solver_comes_near_the_published_value() -> None:
    """-7/258 for one die each, six faces: near after 12 iterations of OpenSpiel's solver on its own game, close by ours."""
    game = pyspiel.load_game("liars_dice(numdice=1)")
    solver = pyspiel.CFRPlusSolver(game)
    for _ in range(12):
        solver.evaluate_and_update_policy()
    average = solver.average_policy()
    value = pyspiel.expected_returns(game.new_initial_state(), average, -1, True)[0]
    left = pyspiel.nash_conv(game, average)
    assert left < 0.3
    # NashConv bounds the distance of the value from the game's
    assert value == pytest.approx(-7 / 258, abs=left)
    assert solve_round("liars_dice", (1, 1), seconds=10).value == pytest.approx(-7 / 258, abs=1e-3)
