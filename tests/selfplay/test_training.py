"""Training by self-play: configurations, the SB3 door, the pool, checkpoints, and a small run."""

from __future__ import annotations

import csv
import json
import pickle
from itertools import pairwise
from pathlib import Path

import gymnasium
import numpy as np
import pytest
import torch
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.distributions import MaskableCategorical
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3.common.vec_env import VecEnv

import agents
import perudo_env as pe
from agents.core.seated import sight
from agents.learned.neural import MLPPolicy, input_size, load_policy, network_inputs, save_policy
from perudo_env.adapters.sb3 import Sb3VecEnv
from perudo_env.engine.observation import layout
from perudo_env.envs.vector import LearnerVectorEnv
from tests.helpers import train
from train.core.config import load_config
from train.core.state import weights_hash
from train.core.trainer import EMAWeights
from train.selfplay.pool import SnapshotPool
from train.selfplay.sb3 import SMOKE, SB3Config

CONFIG = Path(__file__).parents[2] / "configs" / "quickstart.yaml"
VARIANT = pe.variant("marquoir", starting_dice=3)


def some_weights(seed: int = 0, variant: pe.Variant = VARIANT, hidden: int = 16) -> dict[str, np.ndarray]:
    lay = layout(2, variant.max_quantity(2))
    rng = np.random.default_rng(seed)
    widths = [input_size(lay), hidden, hidden, 3 + 6 * lay.max_quantity]
    weights = {}
    for i, (n, m) in enumerate(pairwise(widths)):
        weights[f"layers.{i}.weight"] = rng.normal(0, 0.3, (m, n)).astype(np.float32)
        weights[f"layers.{i}.bias"] = rng.normal(0, 0.3, m).astype(np.float32)
    return weights


def some_positions(num_games: int = 64) -> tuple[np.ndarray, np.ndarray]:
    batch = pe.Batch(VARIANT, 2, num_games, seed=3)
    batch.play_random(7)
    live = np.flatnonzero(~batch.is_over)
    return batch.observe(live), batch.masks(live)


def saved(folder: Path) -> Path:
    save_policy(folder, some_weights(), VARIANT, 2, {"seed": 1}, "# a card\n")
    return folder


# ---------------------------------------------------------------------------------------------- configurations


def test_the_shipped_config_is_valid_and_overrides_reach_it() -> None:
    config = load_config(SB3Config, CONFIG, ["ppo.entropy=0.5", "pool.scripted=[]"])
    assert config.ppo.entropy == 0.5
    assert config.pool.scripted == ()


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("ppo.entropi=1", "entropi.*did you mean 'entropy'"),
        ("pol.size=3", "pol.*did you mean 'pool'"),
        ("ppo.entropy=much", "ppo.entropy = 'much'"),
        ("ppo.num_envs=2.5", "ppo.num_envs = 2.5"),
        ("ppo.entropy", "key.key=value"),
        ("ppo.entropy.x=1", "not a section"),
    ],
)
def test_a_bad_config_is_refused_naming_the_key(override: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        load_config(SB3Config, CONFIG, [override])


def test_a_missing_or_broken_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"nowhere\.yaml"):
        load_config(SB3Config, tmp_path / "nowhere.yaml")
    broken = tmp_path / "broken.yaml"
    broken.write_text("a: [1", encoding="utf-8")
    with pytest.raises(ValueError, match=r"broken\.yaml"):
        load_config(SB3Config, broken)


# ---------------------------------------------------------------------------------------------- door and pool


def test_the_predict_loop_of_sb3_contrib_plays_the_gymnasium_env() -> None:
    """Its documentation's own: for one observation, ``predict`` gives an array of shape ``()``."""
    env = gymnasium.make("perudo/Perudo-v0", variant="marquoir:starting_dice=2")
    model = MaskablePPO("MlpPolicy", env, n_steps=8, batch_size=8, policy_kwargs={"net_arch": [8]}, seed=1)
    obs, info = env.reset(seed=1)
    rewards: list[float] = []
    while len(rewards) < 20:
        action, _states = model.predict(obs, action_masks=get_action_masks(env))
        obs, reward, terminated, truncated, info = env.step(action)
        assert "illegal_action" not in info
        if terminated or truncated:
            rewards.append(float(reward))
            obs, info = env.reset()
    assert set(rewards) == {-1.0, 1.0}, "some are won"


def test_the_door_gives_masks_without_asking_each_env() -> None:
    door = Sb3VecEnv(LearnerVectorEnv(6, VARIANT, 2), lambda seen, _: network_inputs(seen, sight(VARIANT, 2)))
    assert isinstance(door, VecEnv)
    assert is_masking_supported(door)
    door.seed(1)
    observation = door.reset()
    rng = np.random.default_rng(0)
    episodes = 0
    for _ in range(100):
        masks = get_action_masks(door)
        assert (masks == door.env.batch.masks()).all()
        assert door.observation_space.contains(observation[0])
        assert (observation == network_inputs(door.env.batch.observe(), sight(VARIANT, 2))).all()
        observation, rewards, done, infos = door.step(pe.UniformPolicy().act(door.env.batch.observe(), masks, rng))
        for i in np.flatnonzero(done):
            assert infos[i]["terminal_observation"].shape == observation[0].shape
            assert infos[i]["episode"]["r"] == rewards[i] != 0
            episodes += 1
        assert (rewards[~done] == 0).all()
    assert episodes > 10


def test_the_door_answers_for_the_envs_that_are_named() -> None:
    door = Sb3VecEnv(LearnerVectorEnv(4, VARIANT, 2))
    door.reset()
    masks = door.action_masks()
    for indices, rows in (
        (None, [0, 1, 2, 3]),
        (2, [2]),
        ([3, 1], [3, 1]),
        (range(1), [0]),
        (np.array([1, 2]), [1, 2]),
        ([], []),
    ):
        for found in (door.env_method("action_masks", indices=indices), door.get_attr("action_masks", indices)):
            assert [mask.tolist() for mask in found] == masks[rows].tolist()
        assert door.get_attr("render_mode", indices) == [None] * len(rows)
        assert door.env_is_wrapped(gymnasium.Wrapper, indices) == [False] * len(rows)
    with pytest.raises(IndexError):
        door.env_method("action_masks", indices=4)


def test_snapshots_stay_as_they_were_and_chances_are_shared_out() -> None:
    """ray 35393: snapshots overwritten by later training."""
    env = LearnerVectorEnv(2, VARIANT, 2, [pe.UniformPolicy()])
    pool = SnapshotPool(env, size=3, latest_share=0.5, scripted_share=0.2)
    weights = some_weights()
    first = pool.add(weights)
    observations, masks = some_positions()
    before = env.opponents[1].probs(observations, masks)
    assert env.weights == pytest.approx([0.2, 0.8])
    for array in weights.values():
        array += 1.0
    for _ in range(4):
        pool.add(weights)
    assert (env.opponents[1].probs(observations, masks) == before).all()
    assert pool.hashes[0] == first != pool.hashes[1]
    assert env.weights == pytest.approx([0.2, 0, 0, 0.2, 0.2, 0.4])


def test_average_is_the_mean_at_first_and_then_forgets() -> None:
    now = {"w": np.array([7.0])}
    ema = EMAWeights(lambda: now, decisions=4 * 32)
    assert ema.weights()["w"] == 7.0
    for value in (1.0, 2.0, 3.0):
        now["w"] = np.array([value])
        ema.add(batch=32)
    assert ema.weights()["w"] == pytest.approx(2.0)
    now["w"] = np.array([9.0])
    for _ in range(100):
        ema.add(batch=32)
    assert ema.weights()["w"] == pytest.approx(9.0)


def test_one_legal_action_has_no_entropy_and_probability_one() -> None:
    """sb3-contrib 81, 221, 195: a Simplex error or NaN with many masked actions."""
    masks = np.zeros((3, 400), bool)
    masks[:, 7] = True
    distribution = MaskableCategorical(logits=torch.randn(3, 400), masks=masks)
    assert distribution.log_prob(torch.full((3,), 7)).tolist() == [0.0] * 3
    assert distribution.entropy().tolist() == [0.0] * 3


# ---------------------------------------------------------------------------------------------- checkpoints


def test_numpy_plays_what_torch_computes() -> None:
    weights = some_weights()
    layers: list[torch.nn.Module] = []
    for i in range(3):
        weight = torch.from_numpy(weights[f"layers.{i}.weight"])
        layer = torch.nn.Linear(*reversed(weight.shape))
        layer.weight.data, layer.bias.data = weight, torch.from_numpy(weights[f"layers.{i}.bias"])
        layers += [layer, torch.nn.ReLU()]
    observations, masks = some_positions()
    inputs = network_inputs(observations, sight(VARIANT, 2))
    expected = torch.nn.Sequential(*layers[:-1])(torch.from_numpy(inputs)).detach().numpy()
    policy = MLPPolicy(weights, VARIANT, 2)
    assert np.abs(policy.network(inputs) - expected).max() < 1e-5 * np.abs(expected).max()
    probs = policy.probs(observations, masks)
    assert np.allclose(probs.sum(axis=1), 1)
    assert (probs[masks == 0] == 0).all()


def test_a_checkpoint_comes_back_as_it_was(tmp_path: Path) -> None:
    folder = saved(tmp_path / "one")
    observations, masks = some_positions()
    expected = MLPPolicy(some_weights(), VARIANT, 2).probs(observations, masks)
    assert (agents.make(str(folder), VARIANT, 2).probs(observations, masks) == expected).all()
    assert sorted(p.name for p in folder.iterdir()) == ["README.md", "policy.json", "weights.safetensors"]


def test_playing_a_checkpoint_needs_no_torch(tmp_path: Path) -> None:
    import subprocess
    import sys

    code = (
        "import sys, agents\n"
        f"policy = agents.make({str(saved(tmp_path / 'one'))!r}, 'marquoir:starting_dice=3', 2)\n"
        "assert 'torch' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_another_table_is_refused(tmp_path: Path) -> None:
    folder = saved(tmp_path / "one")
    with pytest.raises(ValueError, match="not for classic with 2"):
        load_policy(folder, "classic", 2)
    with pytest.raises(ValueError, match="with 3"):
        load_policy(folder, VARIANT, 3)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [("schema", 99, "schema 99"), ("layout", "feedbeef", "feedbeef"), ("kind", "mpl", "mlp")],
)
def test_another_schema_layout_or_kind_is_refused(tmp_path: Path, key: str, value: object, message: str) -> None:
    folder = saved(tmp_path / "one")
    about = json.loads((folder / "policy.json").read_text())
    (folder / "policy.json").write_text(json.dumps({**about, key: value}))
    with pytest.raises(ValueError, match=message):
        agents.make(str(folder), VARIANT, 2)


class Bomb:
    """Whoever unpickles this executes it."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return (exec, ("raise SystemExit('executed')",))


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04" + b"\0" * 64, pickle.dumps(Bomb()), b"\xff" * 100])
def test_corrupt_or_hostile_weights_are_refused_and_nothing_runs(tmp_path: Path, content: bytes) -> None:
    folder = saved(tmp_path / "one")
    (folder / "weights.safetensors").write_bytes(content)
    with pytest.raises(ValueError, match=r"weights\.safetensors"):
        load_policy(folder, VARIANT, 2)


def test_truncated_or_wrong_weights_are_refused(tmp_path: Path) -> None:
    folder = saved(tmp_path / "one")
    whole = (folder / "weights.safetensors").read_bytes()
    (folder / "weights.safetensors").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ValueError, match=r"weights\.safetensors"):
        load_policy(folder, VARIANT, 2)
    for name, change in (("layers.1.weight", lambda w: w[:, :-1]), ("layers.0.bias", lambda w: w * np.nan)):
        weights = some_weights()
        weights[name] = change(weights[name])
        save_policy(folder, weights, VARIANT, 2, {}, "")
        with pytest.raises(ValueError, match="layer"):
            load_policy(folder, VARIANT, 2)


def test_weights_have_a_digest_of_their_own() -> None:
    assert weights_hash(some_weights(0)) == weights_hash(some_weights(0)) != weights_hash(some_weights(1))


# ---------------------------------------------------------------------------------------------- a run


def test_a_small_run_writes_all_it_promises(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert train("sb3", CONFIG, out=tmp_path / "run", smoke=True) == 0
    for name in (
        "config.yaml",
        "metrics.csv",
        "curve.csv",
        "curve.png",
        "evaluation.csv",
        "checkpoint/policy.json",
        "checkpoint/README.md",
    ):
        assert (tmp_path / "run" / name).stat().st_size > 0
    assert list((tmp_path / "run").glob("events.out.tfevents.*"))
    assert load_config(SB3Config, tmp_path / "run" / "config.yaml") == load_config(SB3Config, CONFIG, SMOKE)
    policy = agents.make(str(tmp_path / "run" / "checkpoint"), VARIANT, 2)
    observations, masks = some_positions()
    assert np.isfinite(policy.probs(observations, masks)).all()
    about = json.loads((tmp_path / "run" / "checkpoint" / "policy.json").read_text())
    assert [(m["name"], m["table"], m["against"]) for m in about["evaluation"]] == [
        ("win_share", "marquoir:starting_dice=3, 2 seats", baseline) for baseline in agents.BASELINES
    ]
    with (tmp_path / "run" / "evaluation.csv").open() as file:
        assert [row["against"] for row in csv.DictReader(file)] == list(agents.BASELINES)
    # another run into the same folder would overwrite the first
    assert train("sb3", CONFIG, "ppo.entropy=0.5", out=tmp_path / "run", smoke=True) == 2
    assert "holds a run of another configuration (ppo differ)" in capsys.readouterr().err


def test_a_short_run_beats_uniform_clearly(tmp_path: Path) -> None:
    """PettingZoo 1147: a shipped tutorial ended worse than random. Also: finite after 50,000 decisions."""
    overrides = (
        "ppo.total_decisions=60000",
        "ppo.num_envs=64",
        "evaluation.every=1000000",
        "evaluation.final_games=400",
        "evaluation.baselines=[uniform]",
    )
    assert train("sb3", CONFIG, *overrides, out=tmp_path / "run") == 0
    about = json.loads((tmp_path / "run" / "checkpoint" / "policy.json").read_text())
    assert about["evaluation"][0]["low"] > 0.6
