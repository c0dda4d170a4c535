"""A switch that comes later: networks and tables made before it play on, and are refused where they know nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import agents
import perudo_env as pe
from agents.core.switches import FIRST, known_to, known_today, variant_then, widened
from agents.learned import features
from agents.learned.neural import RelativePolicy, load_policy, save_policy
from perudo_env.engine.observation import encode_switches
from tests.agents.later_switch import GAMES, play
from train.core.state import module_arrays, save_state, with_prefix
from train.selfplay.checkpoint import starting_networks
from train.selfplay.networks import MLP


def test_a_new_switch_changes_nothing_that_a_shipped_checkpoint_plays(tmp_path: Path) -> None:
    shipped = {p.parent.relative_to(agents.CHECKPOINTS).as_posix() for p in agents.CHECKPOINTS.rglob("policy.json")}
    assert shipped - {"table/box-6"} == {agent for agent, _, _ in GAMES} | {"duel"}
    games = {}
    for g, (agent, variant, dice) in enumerate(GAMES):
        actions, probs = zip(*play(agent, variant, dice), strict=True)
        games |= {f"{g}.actions": np.array(actions), f"{g}.probs": np.array(probs)}
    np.savez(tmp_path / "games.npz", **games)
    # kernels on disk know the switches that there are: here they run as plain Python
    subprocess.run(
        [sys.executable, "-m", "tests.agents.later_switch", str(tmp_path / "games.npz")],
        check=True, cwd=Path(__file__).parents[2], env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
    )  # fmt: skip


def older() -> dict[str, tuple[object, ...]]:
    """The switches of a time before ``rounds`` and hidden counts, in another order."""
    known = {s: v for s, v in reversed(FIRST.items()) if s != "rounds"}
    return {**known, "dice_counts": ("public",)}


def test_weights_take_their_place_by_name_and_value() -> None:
    known = older()
    old_bits = np.array(
        [getattr(pe.variant("marquoir"), s) == value for s, values in known.items() for value in values]
    )
    weight = np.random.default_rng(0).normal(size=(3, 2 + old_bits.size + 1))
    wide = widened(weight, 2, known)
    assert wide.shape == (3, 2 + encode_switches(pe.variant("marquoir")).size + 1)
    before = weight @ np.concatenate([[0.3, 0.7], old_bits, [0.9]])
    after = wide @ np.concatenate([[0.3, 0.7], encode_switches(pe.variant("marquoir")), [0.9]])
    assert after == pytest.approx(before)
    assert widened(wide, 2, known_today()) is wide


def test_networks_of_fewer_switches_play_and_are_trained_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lost = sum(map(len, FIRST.values())) - sum(map(len, older().values()))
    weights = module_arrays(MLP(features.NUM_INPUTS - lost, [8], features.NUM_CELLS))
    with monkeypatch.context() as then:
        then.setattr("agents.learned.neural.known_today", older)
        save_policy(tmp_path / "old", weights, pe.variant("classic"), 2, {}, "", inputs="relative")
    assert known_to({"switches": older()}, "it") == older()
    about = {"decisions": 1, "switches": older()}
    save_state(tmp_path / "old.safetensors", with_prefix("actor", weights), about)
    wide = starting_networks(tmp_path / "old.safetensors")
    policy = load_policy(tmp_path / "old", "classic", 2)
    batch = pe.Batch("classic", 2, 8, seed=1)
    same = RelativePolicy({name.removeprefix("actor."): array for name, array in wide.items()}, "classic", 2)
    assert wide["actor.layers.0.weight"].shape == (8, features.NUM_INPUTS)
    assert (policy.probs(batch.observe(), batch.masks()) == same.probs(batch.observe(), batch.masks())).all()
    champion = starting_networks(agents.CHECKPOINTS / "table" / "training.safetensors")
    assert champion["actor.layers.0.weight"].shape == (512, features.NUM_INPUTS)


def test_a_strange_list_of_switches_is_refused() -> None:
    for strange, message in (
        (7, "switches 7"), ({"calza": "off"}, "switches"), ({"stakes": [1]}, "no such switch"),
        ({"calza": ["never"]}, "calza as"), ({"pacos_wild": [1]}, "pacos_wild as"), ({"calza": [["off"]]}, "calza as"),
        ({"calza": ["off", "off"]}, "calza as"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=f"it .*{message}"):
            known_to({"switches": strange}, "it")
    assert known_to({}, "it") == FIRST
    assert variant_then("box", {}) == pe.Variant(), "who knows no switch knows the defaults"
