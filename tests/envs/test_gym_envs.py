"""The Gymnasium environment and the vector environments."""

from __future__ import annotations

import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode
from stable_baselines3.common.env_checker import check_env as sb3_check_env

import perudo_env as pe
from perudo_env.engine.variant import RULE_TEXTS
from perudo_env.envs.single import PerudoEnv
from perudo_env.envs.vector import LearnerVectorEnv, SelfPlayVectorEnv


class Watcher(pe.UniformPolicy):
    """Uniform play that remembers what it was shown."""

    def __init__(self):
        self.seen = []

    def act(self, observations, masks, rng):
        self.seen.append((observations.copy(), masks.copy()))
        return super().act(observations, masks, rng)


@pytest.mark.parametrize("variant", [*RULE_TEXTS, "box:calza=anyone", "liars_dice"])
@pytest.mark.parametrize("num_players", [2, 4])
def test_checkers(variant, num_players):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(
            gymnasium.make("perudo/Perudo-v0", variant=variant, num_players=num_players).unwrapped,
            skip_render_check=True,
        )
        sb3_check_env(PerudoEnv(variant, num_players), warn=True)


def test_masks_through_gymnasium_wrappers():
    """Gymnasium 1.x: wrappers no longer forward attributes."""
    env = gymnasium.make("perudo/Perudo-v0", variant="classic", num_players=3)
    _, info = env.reset(seed=1)
    assert (env.get_wrapper_attr("action_masks")() == info["action_mask"]).all()
    assert info["action_mask"].dtype == np.int8
    assert info["action_mask"].any()


def play(env, rng, seed):
    observation, info = env.reset(seed=seed)
    transcript = [(observation.tobytes(), info["seat"])]
    while True:
        action = int(rng.choice(np.flatnonzero(info["action_mask"])))
        observation, reward, terminated, truncated, info = env.step(action)
        transcript.append((action, observation.tobytes(), reward, terminated, truncated))
        if terminated or truncated:
            return transcript


@pytest.mark.parametrize("num_players", [2, 3, 6])
def test_learner_sits_everywhere_and_is_paid_its_return(num_players):
    env = PerudoEnv("pascal:starting_dice=2", num_players)
    seats, rewards = set(), []
    for seed in range(200):
        *_, (_, _, reward, terminated, truncated) = play(env, np.random.default_rng(seed), seed)
        assert terminated
        assert not truncated
        assert reward == pytest.approx(1.0 if env.game.dice[env.learner] else -1 / (num_players - 1))
        seats.add(env.learner)
        rewards.append(reward)
    assert seats == set(range(num_players))
    # Everybody plays alike, so the learner's mean pay is near 0: its 99.9% interval holds it.
    assert abs(np.mean(rewards)) < 3.3 * np.std(rewards) / np.sqrt(len(rewards))


def test_same_seed_same_episode():
    one, two = (PerudoEnv("evening", 3, opponents=[pe.UniformPolicy()]) for _ in range(2))
    assert play(one, np.random.default_rng(0), 5) == play(two, np.random.default_rng(0), 5)


def test_illegal_action_ends_the_episode_or_raises():
    env = PerudoEnv("classic", 2)
    env.reset(seed=3)
    action = int(np.flatnonzero(env.action_masks() == 0)[0])
    _, reward, terminated, _, info = env.step(action)
    assert (reward, terminated) == (-1.0, True)
    assert info["illegal_action"]
    with pytest.raises(RuntimeError, match="reset"):
        env.step(action)
    env = PerudoEnv("classic", 2, illegal="raise")
    env.reset(seed=3)
    before = env.game.record()
    with pytest.raises(pe.IllegalActionError):
        env.step(action)
    assert env.game.record() == before


def test_max_rounds_truncates():
    env = PerudoEnv("classic", 2, max_rounds=1)
    *_, (_, _, _, terminated, truncated) = play(env, np.random.default_rng(0), 0)
    assert (terminated, truncated) == (False, True)


def test_opponents_see_their_own_seat_only():
    watcher = Watcher()
    env = PerudoEnv("classic", 3, opponents=[watcher])
    play(env, np.random.default_rng(0), 0)
    assert watcher.seen
    size = env.game.layout.size
    assert all(o.shape == (1, size) and m.any() for o, m in watcher.seen)


def test_unknown_argument_is_named():
    with pytest.raises(ValueError, match="illegal = 'maybe'"):
        PerudoEnv(illegal="maybe")


def test_more_tables_than_memory_holds_are_refused_before_it_is_taken(monkeypatch):
    """What the tables show needs far more room than their records."""
    monkeypatch.setattr("perudo_env.engine.state._free_memory", lambda: 2**30)
    for cls in (SelfPlayVectorEnv, LearnerVectorEnv):
        with pytest.raises(ValueError, match="GB of memory"):
            cls(60_000, num_players=8)


@pytest.mark.parametrize("cls", [SelfPlayVectorEnv, LearnerVectorEnv])
def test_vector_env_is_reproducible_and_says_how_it_resets(cls):
    def transcript():
        env = cls(7, "pascal:starting_dice=2", 3)
        assert env.metadata["autoreset_mode"] == AutoresetMode.SAME_STEP
        observation, info = env.reset(seed=3)
        rng, out = np.random.default_rng(0), [observation.tobytes()]
        for _ in range(60):
            assert env.observation_space.contains(observation)
            assert (info["action_mask"].sum(axis=1) > 0).all()
            actions = pe.UniformPolicy().act(observation, info["action_mask"], rng)
            observation, reward, terminated, truncated, info = env.step(actions)
            out += [observation.tobytes(), reward.tobytes(), terminated.tobytes(), truncated.tobytes()]
        return out

    assert transcript() == transcript()


def test_self_play_shows_the_acting_seat_and_pays_all_seats():
    env = SelfPlayVectorEnv(16, "classic:starting_dice=2", 3)
    observation, info = env.reset(seed=0)
    rng, finished = np.random.default_rng(1), 0
    for _ in range(200):
        assert (observation == env.batch.observe()).all()
        assert (info["seat"] == env.batch.seat).all()
        assert (info["action_mask"] == env.batch.masks()).all()
        acted = info["seat"]
        actions = pe.UniformPolicy().act(observation, info["action_mask"], rng)
        observation, reward, terminated, _, info = env.step(actions)
        returns = info["final_returns"]
        finished += terminated.sum()
        assert ((returns != 0).any(axis=1) == terminated).all()
        assert np.allclose(returns.sum(axis=1), 0)
        assert (reward == returns[np.arange(16), acted]).all()
        assert not env.batch.is_over.any()
    assert finished > 20


def test_learner_env_keeps_opponents_for_a_game_and_counts_every_episode():
    """PufferLib 620, ray 35393: opponents swapped in mid-game."""
    watchers = [Watcher(), Watcher()]
    env = LearnerVectorEnv(8, "classic:starting_dice=2", 3, watchers)
    observation, info = env.reset(seed=0)
    rng = np.random.default_rng(1)
    drawn, seeds, episodes = env.drawn.copy(), env.batch.states["seed"].copy(), 0
    for step in range(300):
        if step == 150:
            env.add_opponent(pe.UniformPolicy(), weight=5.0)
        assert (env.batch.seat == env.learner).all()
        actions = pe.UniformPolicy().act(observation, info["action_mask"], rng)
        observation, reward, terminated, truncated, info = env.step(actions)
        same_game = env.batch.states["seed"] == seeds
        assert (same_game == ~(terminated | truncated)).all()
        assert (env.drawn[same_game] == drawn[same_game]).all()
        assert (reward[same_game] == 0).all()
        assert set(np.round(reward[~same_game], 6)) <= {1.0, -0.5}
        if (~same_game).any():
            assert (info["_final_obs"] == ~same_game).all()
        drawn, seeds, episodes = env.drawn.copy(), env.batch.states["seed"].copy(), episodes + (~same_game).sum()
    assert episodes > 50
    assert (env.drawn == 2).any()


def test_learner_among_equals_is_paid_nothing_on_average():
    """One policy on every seat: the learner's mean pay is 0 within its 99.9% interval (two seats: it always has a turn)."""
    env = LearnerVectorEnv(64, "pascal:starting_dice=2", 2)
    _, info = env.reset(seed=4)
    rng, pays = np.random.default_rng(2), []
    for _ in range(300):
        actions = pe.UniformPolicy().act(env.batch.observe(), info["action_mask"], rng)
        _, reward, terminated, _, info = env.step(actions)
        pays += list(reward[terminated])
    assert len(pays) > 1500
    assert abs(np.mean(pays)) < 3.3 / np.sqrt(len(pays))


def test_illegal_action_in_a_vector_changes_nothing():
    env = SelfPlayVectorEnv(4, "classic", 2)
    env.reset(seed=0)
    before = env.batch.states.copy()
    actions = pe.UniformPolicy().act(env.batch.observe(), env.batch.masks(), np.random.default_rng(0))
    actions[2] = 0
    with pytest.raises(pe.IllegalActionError, match="game 2"):
        env.step(actions)
    assert (env.batch.states == before).all()


def test_make_vec_takes_what_make_takes_or_says_which_mode_does():
    env = gymnasium.make_vec(
        "perudo/Perudo-v0", num_envs=4, variant="evening", max_episode_steps=3, illegal="raise", render_mode=None
    )
    assert isinstance(env, LearnerVectorEnv)
    _, info = env.reset(seed=1)
    for step in range(1, 7):
        observations, rewards, terminated, truncated, info = env.step(info["action_mask"].argmax(axis=1))
        assert not terminated.any(), "three decisions cost no more than three of the five dice"
        assert truncated.all() if step % 3 == 0 else not truncated.any()
        assert not rewards.any()
        assert env.observation_space.contains(observations)
    assert info["_final_obs"].all()
    assert info["final_obs"].any(axis=1).all()
    for refused in ({"render_mode": "ansi"}, {"illegal": "terminate"}):
        with pytest.raises(ValueError, match="vectorization_mode='sync'"):
            gymnasium.make_vec("perudo/Perudo-v0", num_envs=2, **refused)
        side_by_side = gymnasium.make_vec("perudo/Perudo-v0", num_envs=2, vectorization_mode="sync", **refused)
        first, _ = side_by_side.reset(seed=[5, 5])
        assert (first[0] == first[1]).all()
        side_by_side.close()
    for wrong in (0, -1, 2.5, True):
        with pytest.raises(ValueError, match="max_episode_steps"):
            LearnerVectorEnv(2, max_episode_steps=wrong)


@pytest.mark.parametrize("cls", [SelfPlayVectorEnv, LearnerVectorEnv])
def test_a_vector_env_is_reset_first_and_by_one_seed(cls):
    env = cls(2)
    before = env.batch.states.tobytes()
    for seed in ([1, 2], 1.5, True, "x"):
        with pytest.raises(ValueError, match="vectorization_mode='sync'"):
            env.reset(seed=seed)
    with pytest.raises(RuntimeError, match="reset"):
        env.step([10, 10])
    assert env.batch.states.tobytes() == before
    one, _ = env.reset(seed=3)
    again, _ = env.reset(seed=np.array(3))
    assert (one == again).all()


def test_weights_are_checked():
    with pytest.raises(ValueError, match="weights"):
        LearnerVectorEnv(2, opponents=[pe.UniformPolicy()], weights=[1.0, 2.0])
