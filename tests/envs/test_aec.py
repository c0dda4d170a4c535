"""The PettingZoo environment: PettingZoo's own tests, and what users of other environments have stumbled over."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
import warnings
from itertools import permutations

import numpy as np
import pettingzoo
import pytest
from pettingzoo.test import api_test, parallel_api_test, render_test, seed_test

import perudo_env as pe
from perudo_env import perudo_v0
from perudo_env.engine.actions import to_id
from perudo_env.engine.variant import RULE_TEXTS

# A Dict observation with its mask brings these two; PettingZoo's own classic games have them as well.
DICT_WARNINGS = (
    "Observation space for each agent probably should be gymnasium.spaces.box or gymnasium.spaces.discrete",
    "Observation is not a NumPy array",
)
# Every preset and every number of seats under both eliminations: what the API promises does not depend on the pair.
TABLES = [(v, 2 + (i + k) % 5, e) for i, v in enumerate(RULE_TEXTS) for k, e in enumerate(("terminate", "wait"))]


def play(env, rng, max_steps=10**6):
    """Random legal play to the end; returns the transcript and what each agent was paid."""
    transcript, paid = [], dict.fromkeys(env.possible_agents, 0.0)
    for agent in env.agent_iter(max_steps):
        observation, reward, terminated, truncated, info = env.last()
        paid[agent] += reward
        if terminated or truncated:
            env.step(None)
            transcript.append((agent, None))
            continue
        mask = observation["action_mask"]
        assert (mask == info["action_mask"]).all()
        action = int(rng.choice(np.flatnonzero(mask)))
        transcript.append((agent, action, observation["observation"].tobytes()))
        env.step(action)
    return transcript, paid


@pytest.mark.parametrize(("variant", "num_players", "elimination"), TABLES)
@pytest.mark.parametrize("make", [perudo_v0.env, perudo_v0.raw_env])
def test_api(make, variant, num_players, elimination, capsys):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        api_test(make(variant=variant, num_players=num_players, elimination=elimination), num_cycles=60)
    unexpected = [str(w.message) for w in caught if not str(w.message).startswith(DICT_WARNINGS)]
    assert not unexpected


@pytest.mark.parametrize(("variant", "num_players", "elimination"), TABLES)
def test_parallel_api(variant, num_players, elimination):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        parallel_api_test(
            perudo_v0.parallel_env(variant=variant, num_players=num_players, elimination=elimination), num_cycles=60
        )


@pytest.mark.parametrize(("variant", "num_players", "elimination"), TABLES)
def test_seed(variant, num_players, elimination):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for make in (perudo_v0.env, perudo_v0.raw_env):
            seed_test(lambda: make(variant=variant, num_players=num_players, elimination=elimination), num_cycles=30)  # noqa: B023


@pytest.mark.parametrize(("variant", "num_players"), list(zip(RULE_TEXTS, range(2, 7), strict=True)))
def test_render(variant, num_players, monkeypatch):
    monkeypatch.setitem(perudo_v0.raw_env.metadata, "render_fps", 0)  # no waiting between frames
    for make in (perudo_v0.env, perudo_v0.raw_env):
        render_test(
            lambda render_mode, make=make: make(variant=variant, num_players=num_players, render_mode=render_mode),
            custom_tests={"ansi": _is_text},
        )


def _is_text(text):
    return isinstance(text, str) and "seat" in text


def test_registry():
    env = pettingzoo.make("aec", "perudo_v0", variant="box:calza=anyone", num_players=3)
    env.reset(seed=1)
    assert str(env.unwrapped.variant) == "box:calza=anyone"
    assert env.unwrapped.num_players == 3
    assert pettingzoo.make("parallel", "perudo_v0").reset(seed=1)


@pytest.mark.parametrize("reward", ["zero_sum", "place", "dice"])
@pytest.mark.parametrize("elimination", ["terminate", "wait"])
@pytest.mark.parametrize("variant", RULE_TEXTS)
def test_paid_rewards_are_the_declared_returns(variant, elimination, reward):
    rng = np.random.default_rng(0)
    env = perudo_v0.raw_env(variant=variant, num_players=4, elimination=elimination, reward=reward)
    for seed in range(3):
        env.reset(seed=seed)
        _, paid = play(env, rng)
        game = env.game
        if reward == "zero_sum":
            expected = game.returns
        elif reward == "place":
            expected = [1 - 2 * (place - 1) / 3 for place in game.ranks]
        else:
            expected = dice_changes(game)
        assert list(paid.values()) == pytest.approx(list(expected))
        assert sum(paid.values()) == pytest.approx(0)


def dice_changes(game):
    """What ``reward="dice"`` declares, from the events alone."""
    total = np.zeros(game.num_seats)
    for event, following in zip(game.events, game.events[1:], strict=False):
        if type(event).__name__ == "Revealed" and type(following).__name__ in ("DieLost", "DieRegained"):
            change = -1 if type(following).__name__ == "DieLost" else 1
            others = [s for s, hand in enumerate(event.hands) if hand and s != following.seat]
            total[following.seat] += change
            total[others] -= change / len(others)
    return total


@pytest.mark.parametrize("num_players", [3, 4])
def test_every_order_of_elimination(num_players):
    """PettingZoo 652, 713, 1260: agents out at different times; a dead agent is seen once, and steps None."""
    for order in permutations(range(num_players)):
        env = perudo_v0.raw_env(variant="pascal:starting_dice=1", num_players=num_players)
        env.reset(seed=0)
        for victim in order[:-2]:
            lose_a_die(env, victim)
            agent = env.agent_selection
            assert agent == f"player_{victim}"
            _, reward, terminated, truncated, _ = env.last()
            assert (reward, terminated, truncated) == (pytest.approx(-1 / (num_players - 1)), True, False)
            with pytest.raises(ValueError, match="None"):
                env.step(0)
            env.step(None)
            assert agent not in env.agents
            assert env.agent_selection == f"player_{env.game.seat}"
        lose_a_die(env, order[-2])
        rewards = {}
        for agent in env.agent_iter():
            rewards[agent] = env.last()[1]
            env.step(None)
        assert rewards == {f"player_{order[-1]}": 1.0, f"player_{order[-2]}": pytest.approx(-1 / (num_players - 1))}
        assert env.game.ranks == tuple(num_players - order.index(s) for s in range(num_players))


def lose_a_die(env, victim):
    """Make ``victim`` lose this round: all dice show 2, it bids as many 3s, and the next seat doubts."""
    game = env.game
    game._deal(tuple((2,) * d for d in game.dice))
    while game.seat != victim:
        env.step(to_id(next(a for a in game.legal_actions() if isinstance(a, pe.Bid) and a.face > 1)))
    env.step(to_id(pe.Bid(sum(game.dice), 3)))
    env.step(int(pe.DUDO))


def test_a_lap_visits_each_living_seat_once():
    env = perudo_v0.raw_env(variant="classic", num_players=5)
    env.reset(seed=3)
    lap = []
    for _ in range(5):
        lap.append(env.agent_selection)
        env.step(next(i for i in np.flatnonzero(env.game.action_mask()) if i > 2))
    assert sorted(lap) == env.possible_agents
    assert env.agent_selection == lap[0]


def test_illegal_action_raises_and_changes_nothing():
    env = perudo_v0.raw_env(variant="classic", num_players=3)
    env.reset(seed=5)
    before = pickle.dumps(env)
    for bad in (pe.DUDO, 3, True, np.True_, 1.0, None, "5x3", -1, env.game.num_actions, 10**9, [3]):
        with pytest.raises(pe.IllegalActionError):
            env.step(bad)
    after = pickle.dumps(env)
    assert before == after


def test_raw_env_can_end_the_game_on_an_illegal_action():
    env = perudo_v0.raw_env(variant="classic", num_players=3, illegal="terminate")
    env.reset(seed=5)
    offender = env.agent_selection
    env.step(int(pe.DUDO))
    _, paid = play(env, np.random.default_rng(0))
    assert paid == {a: -1.0 if a == offender else 0.0 for a in env.possible_agents}


@pytest.mark.parametrize("make", [perudo_v0.env, lambda **k: perudo_v0.raw_env(illegal="terminate", **k)])
def test_a_game_after_an_illegal_action_is_like_any_other(make):
    """PettingZoo 1176: an illegal move corrupted the next game."""
    used, fresh = make(num_players=3), make(num_players=3)
    used.reset(seed=1)
    used.step(int(pe.DUDO))
    while used.agents:
        used.step(None)
    used.reset(seed=2)
    fresh.reset(seed=2)
    assert play(used, np.random.default_rng(0)) == play(fresh, np.random.default_rng(0))


@pytest.mark.parametrize("make", [perudo_v0.env, perudo_v0.raw_env])
@pytest.mark.parametrize("how", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_copies_keep_the_live_game(make, how):
    """PettingZoo 1307, 1271, 1186."""
    env = make(variant="box:calza=anyone", num_players=4)
    env.reset(seed=9)
    rng = np.random.default_rng(1)
    for _ in range(40):
        if not (env.terminations[env.agent_selection] or env.truncations[env.agent_selection]):
            env.step(int(rng.choice(np.flatnonzero(env.observe(env.agent_selection)["action_mask"]))))
        else:
            env.step(None)
    twin = how(env)
    assert twin.unwrapped.game.record() == env.unwrapped.game.record()
    record = env.unwrapped.game.record()
    first = play(twin, np.random.default_rng(2))
    assert env.unwrapped.game.record() == record
    assert play(env, np.random.default_rng(2)) == first


def test_same_seed_same_transcript_in_any_process():
    """PettingZoo 1223, 558; the global generator has no part in it."""
    code = (
        "import numpy as np, hashlib\n"
        "from perudo_env import perudo_v0\n"
        "env = perudo_v0.raw_env(num_players=3); env.reset(seed=11)\n"
        "np.random.seed({}); rng = np.random.default_rng(4)\n"
        "for a in env.agent_iter():\n"
        "    o, r, te, tr, i = env.last()\n"
        "    np.random.random()\n"
        "    env.step(None if te or tr else int(rng.choice(np.flatnonzero(o['action_mask']))))\n"
        "print(env.game.record())\n"
    )
    records = {
        subprocess.run([sys.executable, "-c", code.format(k)], capture_output=True, text=True, check=True).stdout
        for k in range(2)
    }
    assert len(records) == 1


def test_without_a_seed_games_differ_and_follow_from_the_last_seed():
    env = perudo_v0.raw_env()
    env.reset()
    first = env.game.seed
    other = perudo_v0.raw_env()
    assert other.game.seed != first
    env.reset(seed=4)
    env.reset()
    other.reset(seed=4)
    other.reset()
    assert env.game.seed == other.game.seed != 4


@pytest.mark.parametrize("elimination", ["terminate", "wait"])
def test_max_rounds_truncates_every_living_agent(elimination):
    """PettingZoo 1085: a turn limit without its flag."""
    env = perudo_v0.raw_env(variant="classic:starting_dice=2", num_players=4, max_rounds=4, elimination=elimination)
    seen = set()
    for seed in range(20):
        env.reset(seed=seed)
        flags = {}
        rng = np.random.default_rng(seed)
        for agent in env.agent_iter():
            observation, _, terminated, truncated, _ = env.last()
            if terminated or truncated:
                flags[agent] = (terminated, truncated)
                env.step(None)
            else:
                env.step(int(rng.choice(np.flatnonzero(observation["action_mask"]))))
        assert env.game.truncated
        for seat, agent in enumerate(env.possible_agents):
            assert flags[agent] == ((False, True) if env.game.dice[seat] else (True, False))
        seen |= set(flags.values())
    assert seen == {(False, True), (True, False)}


def test_observe_any_agent_at_any_time():
    env = perudo_v0.raw_env(variant="evening", num_players=3)
    assert env.observation_space("player_0").contains(env.observe("player_0"))
    env.reset(seed=0)
    rng = np.random.default_rng(0)
    while env.agents:
        for agent in env.possible_agents:
            observation = env.observe(agent)
            assert env.observation_space(agent).contains(observation)
            to_act = env.game.seat == env.possible_agents.index(agent)
            assert observation["action_mask"].any() == to_act
        dead = env.terminations[env.agent_selection]
        env.step(None if dead else int(rng.choice(np.flatnonzero(env.observe(env.agent_selection)["action_mask"]))))
    with pytest.raises(ValueError, match="player_9"):
        env.observe("player_9")


def test_only_the_agent_to_act_has_a_mask():
    env = perudo_v0.raw_env(num_players=4)
    env.reset(seed=2)
    for _ in range(6):
        masked = [a for a in env.agents if env.infos[a]["action_mask"].any()]
        assert masked == [env.agent_selection]
        assert all(env.infos[a]["action_mask"].dtype == np.int8 for a in env.agents)
        env.step(next(i for i in np.flatnonzero(env.game.action_mask()) if i > 2))


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        ({"variant": "clasic"}, "classic"),
        ({"variant": "box:calzza=anyone"}, "calza"),
        ({"variant": "box:calza=sometimes"}, "sometimes"),
        ({"num_players": 1}, "num_players|num_seats"),
        ({"num_players": 9}, "9"),
        ({"num_players": 2.5}, "2.5"),
        ({"render_mode": "film"}, "film"),
        ({"elimination": "never"}, "never"),
        ({"reward": "money"}, "money"),
        ({"illegal": "ignore"}, "ignore"),
        ({"max_rounds": 0}, "max_rounds = 0"),
    ],
)
def test_bad_arguments_are_named(arguments, names):
    with pytest.raises(ValueError, match=names):
        perudo_v0.env(**arguments)


def test_human_mode_opens_a_window(monkeypatch):
    monkeypatch.setitem(perudo_v0.raw_env.metadata, "render_fps", 0)
    env = perudo_v0.env(render_mode="human", num_players=2)
    env.reset(seed=0)
    play(env, np.random.default_rng(0))
    copy.deepcopy(env)
    env.close()
    env.close()


def test_what_one_caller_does_to_its_arrays_shows_nobody_else():
    env = perudo_v0.raw_env(num_players=3)
    env.reset(seed=3)
    for action in (3 + 1, 0, None):
        agent = env.agent_selection
        first, second = env.observe(agent), env.observe(agent)
        for key in first:
            assert (first[key] == second[key]).all()
            first[key][:] = 7
            second[key][:] = 7
        again = env.observe(agent)
        assert (again["action_mask"] == env.infos[agent]["action_mask"]).all()
        assert max(a.max() for a in again.values()) == 1
        if action is not None:
            env.step(action)


def test_a_number_of_any_size_is_illegal_and_no_more():
    env = perudo_v0.raw_env(num_players=2)
    env.reset(seed=1)
    before = env.game.record()
    for action in (-1, env.game.num_actions, 2**31, 2**63, 10**30, -(2**63) - 1):
        with pytest.raises(pe.IllegalActionError, match="is not an action id of this table: use 0 to"):
            env.step(action)
    assert env.game.record() == before
