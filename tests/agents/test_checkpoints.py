"""Checkpoint folders: what torch trained plays the same in NumPy, nothing is lost in writing, nothing is run in reading."""

from __future__ import annotations

import errno
import json
import os
import shutil
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch

import agents
import perudo_env as pe
from agents.core import checkpoint
from agents.core.seated import sight
from agents.learned import features
from agents.learned.neural import MLPPolicy, RelativePolicy, input_size, load_policy, save_policy
from perudo_env.engine.observation import layout
from train.core.run import provenance
from train.core.state import module_arrays
from train.selfplay.networks import MLP, log_probs, log_sizes

CLASSIC, BOX = pe.variant("classic"), pe.variant("box")


@cache
def network(seed: int) -> MLP:
    """A network whose policies are far from uniform."""
    torch.manual_seed(seed)
    made = MLP(features.NUM_INPUTS, [24, 24], features.NUM_CELLS)
    made.layers[-1].weight.data.mul_(100)
    return made


def write(folder: Path, seed: int = 0) -> Path:
    save_policy(
        folder,
        module_arrays(network(seed)),
        [CLASSIC, BOX],
        [2, 4],
        {"seed": seed, **provenance()},
        f"# card {seed}\n",
        inputs="relative",
    )
    return folder


def positions(variant: pe.Variant = CLASSIC, seats: int = 4) -> tuple[np.ndarray, np.ndarray]:
    batch = pe.Batch(variant, seats, 64, seed=5)
    batch.play_random(9)
    live = np.flatnonzero(~batch.is_over)
    return batch.observe(live), batch.masks(live)


def seed_of(folder: Path) -> int:
    """Which of the networks of this file plays out of a folder; what it says of itself must agree."""
    found = load_policy(folder, CLASSIC, 4).probs(*positions())
    about = json.loads((folder / "policy.json").read_text(encoding="utf-8"))
    same = [
        s
        for s in range(5)
        if (found == RelativePolicy(module_arrays(network(s)), CLASSIC, 4).probs(*positions())).all()
    ]
    assert same == [about["seed"]]
    return same[0]


def test_numpy_plays_a_trained_network_of_all_tables_as_torch_does(tmp_path: Path) -> None:
    folder, actor = write(tmp_path / "one", 3), network(3)
    for variant, seats in ((CLASSIC, 2), (CLASSIC, 4), (BOX, 4)):
        observations, masks = positions(variant, seats)
        encoded = features.encode(observations, masks, sight(variant, seats))
        with torch.no_grad():
            logits = actor(torch.from_numpy(encoded.inputs))
            log_p = log_probs(logits, log_sizes(torch.from_numpy(encoded.sizes).float())).numpy()
        policy = load_policy(folder, variant, seats)
        assert np.abs(policy.network(encoded.inputs) - logits.numpy()).max() < 1e-5
        expected = np.where(encoded.sizes > 0, np.exp(log_p), 0)
        cells = np.zeros_like(log_p, np.float64)
        rows = np.arange(len(masks))[:, None]
        np.add.at(
            cells,
            (np.broadcast_to(rows, masks.shape)[masks == 1], encoded.cells[masks == 1]),
            policy.probs(observations, masks)[masks == 1],
        )
        assert np.abs(cells - expected).max() < 1e-5
        assert expected.max(axis=1).min() > 2 / features.NUM_CELLS, "networks whose answer differs from uniform"


def test_a_specialist_inside_plays_its_tables_alone(tmp_path: Path) -> None:
    folder = write(tmp_path / "one", 3)
    save_policy(folder / "four", module_arrays(network(4)), [BOX], [4], {"seed": 4}, "# card\n", inputs="relative")
    for variant, seats, seed in ((BOX, 4, 4), (BOX, 2, 3), (CLASSIC, 4, 3)):
        seen = positions(variant, seats)
        expected = RelativePolicy(module_arrays(network(seed)), variant, seats).probs(*seen)
        assert (agents.load(folder, variant, seats).probs(*seen) == expected).all()
    (folder / "four" / "policy.json").write_text("{}")
    with pytest.raises(ValueError, match="four has variants None"):
        agents.load(folder, CLASSIC, 4)


def test_a_network_of_observations_that_is_older_than_memory_is_shown_what_it_was_trained_on(tmp_path: Path) -> None:
    """Its weights for the others' hidden dice were never trained; networks of relative inputs read every count."""
    lay, seats = layout(3, BOX.max_quantity(3)), 3
    torch.manual_seed(0)
    arrays = module_arrays(MLP(input_size(lay), [8], 3 + 6 * lay.max_quantity))
    save_policy(tmp_path, arrays, BOX, seats, {}, "# card\n")
    known, blind = (pe.Batch(BOX, seats, 64, seed=5, memory=m) for m in ("perfect", "none"))
    for batch in (known, blind):
        batch.play_random(2)
    rows, masks = np.flatnonzero(~known.is_over), known.masks()
    now, assumed = (MLPPolicy(arrays, BOX, seats).probs(b.observe(rows), masks[rows]) for b in (known, blind))
    assert (now != assumed).any()
    assert (load_policy(tmp_path, BOX, seats).probs(known.observe(rows), masks[rows]) == now).all()
    about = json.loads((tmp_path / "policy.json").read_text(encoding="utf-8"))
    assert about.pop("memory") == "perfect"
    (tmp_path / "policy.json").write_text(json.dumps(about), encoding="utf-8")
    assert (load_policy(tmp_path, BOX, seats).probs(known.observe(rows), masks[rows]) == assumed).all()


def test_the_folder_says_how_it_was_made(tmp_path: Path) -> None:
    about = json.loads((write(tmp_path / "one", 2) / "policy.json").read_text(encoding="utf-8"))
    assert about["variants"] == ["classic", "box"]
    assert about["seats"] == [2, 4]
    assert about["layout"] == features.hash_of_inputs()
    assert about["seed"] == 2
    assert {"python", "numpy", "torch", "perudo-env"} <= set(about["versions"])
    assert about["commit"] is None or len(about["commit"]) == 40
    assert (tmp_path / "one" / "README.md").read_text(encoding="utf-8") == "# card 2\n"


# ---------------------------------------------------------------------------------------------- interrupted writing


@pytest.mark.parametrize("failing", [0, 1, 2])
def test_a_full_disk_leaves_the_old_checkpoint(failing: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write(tmp_path / "one", 1)
    before = {p.name: p.read_bytes() for p in folder.iterdir()}
    calls = iter(range(10))

    def fill_disk(path: Path, content: bytes) -> None:
        if next(calls) == failing:
            path.write_bytes(content[: len(content) // 2])
            raise OSError(errno.ENOSPC, "No space left on device")
        path.write_bytes(content)

    monkeypatch.setattr(checkpoint, "write_bytes", fill_disk)
    with pytest.raises(OSError, match="No space left"):
        write(folder, 2)
    assert {p.name: p.read_bytes() for p in folder.iterdir()} == before
    assert seed_of(folder) == 1


class Killed(BaseException):
    """Stands for a kill: nothing after it runs."""


@pytest.mark.parametrize("renamed", [0, 1, 2])
def test_a_kill_between_two_renames_leaves_the_old_or_the_new_checkpoint(
    renamed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write(tmp_path / "one", 1)
    rename, calls = os.replace, iter(range(10))

    def kill(source: Path, target: Path) -> None:
        if next(calls) == renamed:
            raise Killed
        rename(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(checkpoint.os, "replace", kill)
        with pytest.raises(Killed):
            write(folder, 2)
    assert seed_of(folder) == (1 if renamed == 0 else 2)
    # what the kill left is in nobody's way: a failing write keeps it, a good one takes its place
    with monkeypatch.context() as patch:
        patch.setattr(checkpoint, "write_bytes", lambda path, content: path.write_bytes(content[:9]) and 1 / 0)
        with pytest.raises(ZeroDivisionError):
            write(folder, 3)
    assert seed_of(folder) == (1 if renamed == 0 else 2)
    write(folder, 4)
    assert seed_of(folder) == 4
    assert sorted(p.name for p in folder.iterdir()) == ["README.md", "policy.json", "weights.safetensors"]


# ---------------------------------------------------------------------------------------------- hostile reading


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": ["mlp"]}, "kind"),
        ({"kind": None}, "kind None"),
        ({"schema": None}, "schema None"),
        ({"inputs": {}}, "inputs {}"),
        ({"inputs": "os:system"}, "inputs 'os:system'"),
        ({"variants": 7}, "variants 7"),
        ({"variants": [7]}, r"variants \[7\]"),
        ({"variants": ["classik"]}, "did you mean 'classic'"),
        ({"seats": "234"}, "seats '234'"),
        ({"seats": None}, "seats None"),
        ({"layout": []}, r"observation layout \[\]"),
        ({"sha256": "0" * 64}, "SHA-256"),
        ({"sha256": 5}, "SHA-256"),
    ],
)
def test_a_strange_description_is_refused_in_words(change: dict[str, object], message: str, tmp_path: Path) -> None:
    path = write(tmp_path / "one") / "policy.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(ValueError, match=message):
        agents.make(path.parent, CLASSIC, 4)


@pytest.mark.parametrize("text", [b"", b"[]", b"7", b"[" * 200_000, b"\xff\xfe", b'{"kind": "mlp"'])
def test_a_file_that_is_no_description_is_refused(text: bytes, tmp_path: Path) -> None:
    folder = write(tmp_path / "one")
    (folder / "policy.json").write_bytes(text)
    with pytest.raises(ValueError, match=r"policy\.json is not a JSON"):
        agents.make(folder, CLASSIC, 4)


def test_weights_of_another_checkpoint_are_refused(tmp_path: Path) -> None:
    one, other = write(tmp_path / "one", 1), write(tmp_path / "two", 2)
    shutil.copy(other / "weights.safetensors", one / "weights.safetensors")
    with pytest.raises(ValueError, match="of another checkpoint"):
        load_policy(one, CLASSIC, 4)
    (one / "weights.safetensors").unlink()
    with pytest.raises(ValueError, match=r"weights\.safetensors is missing"):
        load_policy(one, CLASSIC, 4)


@pytest.mark.parametrize("strange", ["integers", "surplus", "none"])
def test_weights_of_another_form_are_refused(strange: str, tmp_path: Path) -> None:
    weights = module_arrays(network(0))
    if strange == "integers":
        weights["layers.0.bias"] = weights["layers.0.bias"].astype(np.int64)
    elif strange == "surplus":
        weights["layers.7.bias"] = weights["layers.0.bias"]
    else:
        weights = {}
    save_policy(tmp_path / "one", weights, CLASSIC, 4, {}, "", inputs="relative")
    with pytest.raises(ValueError, match=r"weights\.safetensors"):
        load_policy(tmp_path / "one", CLASSIC, 4)


class Imported:
    """What a folder must not be able to call."""

    calls = 0


def trap(*_: object) -> object:
    Imported.calls += 1
    return pe.UniformPolicy()


@pytest.mark.parametrize("fallback", [f"{__name__}:trap", "exact", "..", ".", ["odds"], None])
def test_a_tabular_folder_cannot_name_code(fallback: object, tmp_path: Path) -> None:
    (tmp_path / "policy.json").write_text(json.dumps({"kind": "tabular", "fallback": fallback}))
    with pytest.raises(ValueError, match="fallback"):
        agents.load(tmp_path, CLASSIC, 2)
    assert Imported.calls == 0


def test_a_broken_table_is_refused(tmp_path: Path) -> None:
    (tmp_path / "policy.json").write_text(json.dumps({"kind": "tabular", "fallback": "odds"}))
    (tmp_path / "one.npz").write_bytes(b"PK\x03\x04" + b"\0" * 64)
    with pytest.raises(ValueError, match=r"one\.npz is not a table"):
        agents.load(tmp_path, CLASSIC, 2)
