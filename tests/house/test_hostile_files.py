"""Files that are damaged or made to harm: refused before a kernel reads them, at once, whatever they say."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np
import pytest
from numpy.lib import format as npy

import agents
import perudo_env as pe
from agents.core.npz import reading
from agents.learned.neural import load_policy
from agents.tabular.policy import RoundTable
from agents.tabular.public_tree import PublicTree
from agents.tabular.suffixes import suffix_graph, suffix_sizes
from perudo_env.engine.batch import Batch
from perudo_env.engine.checks import TABLE, check_states
from perudo_env.engine.state import STATE
from perudo_env.game.files import parse_json, read_json
from perudo_env.play.archive import Archive
from tools import hostile
from train.__main__ import main as command
from train.core.state import load_numpy_generator, load_state, numpy_generator, save_state
from train.evaluate.tournament.results import Cell, ResultsFile
from train.report import numbers
from train.solver.exact import rounds
from train.solver.recall import tables

DEEP = "[" * 100_000


def test_hostile_files_end_in_a_value_error_or_are_played(tmp_path: Path) -> None:
    """More of them by ``python -m tools.hostile 10000``."""
    found = hostile.run(480, tmp_path, seed=1)
    for name in {name for name, _ in found}:
        assert found[name, "refused"] > 0, name
        assert found[name, "played"] > 0, name


def test_every_field_of_a_state_is_checked() -> None:
    batch = Batch("evening:calza=anyone", 3, 4, seed=2)
    batch.play_random(5)
    content = batch.states.view(np.uint8).copy()
    other = Batch("evening:calza=anyone", 3, 4, seed=3)
    for name in STATE.names or ():
        wrong = content.copy()
        field = wrong.view(STATE)[name]
        field.reshape(4, -1)[2, 0] = {"seed": 12345, "bids": 20_000, "last_bid": 20_000}.get(name, 77)
        before = other.states.copy()
        with pytest.raises(ValueError, match=rf"game 2: ({name}|hands|bidder|bids)"):
            other.restore(wrong)
        assert (other.states == before).all()
    assert set(TABLE) < set(STATE.names or ())
    wrong = content.copy()
    wrong.view(STATE)["num_bids"] = 20_000
    with pytest.raises(ValueError, match="game 0: num_bids"):
        other.restore(wrong)
    for shape in (content[:-1], content.view(np.int8), content[:0]):
        with pytest.raises(ValueError, match="states of shape"):
            other.restore(shape)
    other.restore(content)
    assert (other.states == batch.states).all()


@pytest.mark.parametrize("seats", [2, 3, 8])
def test_every_state_that_play_comes_to_is_whole(seats: int) -> None:
    for name in (*pe.VARIANTS, "box:calza=anyone", "classic:num_faces=3,starting_dice=2"):
        batch = Batch(name, seats, 40, seed=seats, max_rounds=None if seats == 3 else 4)
        rng = np.random.default_rng(seats)
        dice = rng.integers(0, batch.variant.starting_dice + 1, (40, seats))
        dice[:, :2] = np.maximum(dice[:, :2], 1)
        batch.reset(np.arange(40), np.arange(40), dice)
        for step in range(60):
            rows = np.flatnonzero(~batch.is_over)
            if not rows.size:
                break
            # low bids, so that rounds are long
            batch.act([rng.choice(np.flatnonzero(mask)[:12]) for mask in batch.masks(rows)], rows)
            if step % 6 == 0:
                check_states(batch.states, batch.states[0])
        check_states(batch.states, batch.states[0])


def _table(path: Path) -> dict[str, np.ndarray]:
    tree = PublicTree(pe.variant("classic"), (1, 1))
    RoundTable(tree, [np.ones(n, np.float32) for n in tree.num_entries]).save(path)
    with np.load(path) as file:
        return dict(file)


def test_a_table_is_measured_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "table.npz"
    arrays = _table(path)
    wrong = {
        "total": [np.array(t) for t in (1, 15, 100, -(2**63))], "dice": [np.array(d) for d in ([1, 7], [0, 1], [10**9, 1], [1.5, 1], [1])],
        "recall": [np.array(r) for r in (10**9, -1, 2)], "first": [arrays["first"].astype(np.float64) * 1e39, arrays["first"].astype(np.float16)],
        "variant": [np.array("classic" * 1000), np.array(3)], "palifico": [np.array(7)], "bracket": [np.array(0.0)],
    }  # fmt: skip
    for name, values in wrong.items():
        for value in values:
            np.savez(path, **{**arrays, name: value})
            with pytest.raises(ValueError, match=r"table\.npz"):
                RoundTable.load(path)


def test_a_header_or_a_bomb_is_refused_at_once(tmp_path: Path) -> None:
    path = tmp_path / "table.npz"
    arrays = _table(path)
    zeros = bytes(1 << 20)
    for shape, extra in (((10**15,), 0), ((3438,), 16), ((10**30,), 0), ((-1,), 0)):
        with ZipFile(path, "w", ZIP_DEFLATED) as file:
            for name, array in arrays.items():
                with file.open(f"{name}.npy", "w", force_zip64=True) as member:
                    if name == "first":
                        npy.write_array_header_1_0(member, {"descr": "<f4", "fortran_order": False, "shape": shape})
                        for _ in range(extra):
                            member.write(zeros)
                    else:
                        npy.write_array(member, array)
        begun = time.monotonic()
        with pytest.raises(ValueError, match=r"table\.npz"):
            RoundTable.load(path)
        assert time.monotonic() - begun < 1
    with ZipFile(path, "w", ZIP_DEFLATED) as file:
        file.writestr("variant.npy", npy.magic(1, 0) + b"\xff\xff" + b"(" * 60_000)
    with pytest.raises(ValueError, match=r"table\.npz is not a thing"), reading(path, "a thing") as file:
        file.text("variant")


def test_a_recall_is_bounded_before_it_is_raised_to_a_power(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    graph = PublicTree(pe.variant("classic"), (2, 1)).graph
    for m in (1, 2, 3):
        made, told = suffix_graph(graph, m), suffix_sizes(graph, m)
        assert (tuple(made.num_rows.tolist()), tuple(made.num_states.tolist())) == told
    for wrong in (0, -1, 10**9, 10**30):
        with pytest.raises(ValueError, match=r"recall = .* remember from 1 to"):
            suffix_graph(graph, wrong)
    # in the range of numbers, but not in memory: the size is known before any of it is made
    begun = time.monotonic()
    assert (
        command(["recall", "--out", str(tmp_path / "a"), "--dice", "5", "5", "--recall", "9", "--variant", "classic"])
        == 2
    )
    assert "remember fewer bids" in capsys.readouterr().err
    assert time.monotonic() - begun < 10


def test_numbers_from_the_command_line_are_bounded(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = ["--out", str(tmp_path / "out")]
    for words in (
        ["recall", *out, "--recall", "1000000000"], ["recall", *out, "--seconds", "inf"], ["recall", *out, "--levels", "0"],
        ["recall", *out, "--sample", "0"], ["recall", *out, "--exploration", "nan"], ["recall", *out, "--threads", "1000000000"],
        ["recall", *out, "--dice", "1000000000", "1"], ["tables", *out, "--starting-dice", "1000000000"],
        ["tables", *out, "--starting-dice", "1", "--iterations", "-3"], ["tables", *out, "--exact-gib", "nan"],
        ["exploitability", "--agent", "odds", "--dice", "1000000000", "1"], ["arena", "--agents", "odds", "--games", "1000000000000"],
    ):  # fmt: skip
        assert command(words) == 2, words
        assert re.search(r" = .*(use|give|remember|from)", capsys.readouterr().err), words
    assert not (tmp_path / "out").exists()


def test_a_state_that_was_changed_is_refused(tmp_path: Path) -> None:
    path, arrays = tmp_path / "state", {"a": np.arange(100), "b": np.float32([[1, 2]]), "none": np.zeros((0, 3))}
    save_state(path, arrays, {"n": 1})
    again, about = load_state(path)
    assert about == {"n": 1}
    assert all((again[k] == arrays[k]).all() for k in arrays)
    content = bytearray(path.read_bytes())
    for at in (content.index(b"sha256"), content.index(b"state"), content.index(b'"n\\'), -1, -400):
        spoilt = bytearray(content)
        spoilt[at] ^= 1
        path.write_bytes(spoilt)
        with pytest.raises(ValueError, match="state is not the state of a run"):
            load_state(path)
    where = numpy_generator()
    # NumPy would read beyond its table of numbers
    with pytest.raises(ValueError, match="no place in a table"):
        load_numpy_generator({**where, "numpy_at": np.array([10**6, 0])})


def test_weights_that_are_not_finite_as_float32_are_refused(tmp_path: Path) -> None:
    from safetensors.numpy import load_file, save_file

    hostile.checkpoint_door(tmp_path)
    folder, v = tmp_path / "agent", hostile.TINY
    about = json.loads((folder / "policy.json").read_text())
    (folder / "policy.json").write_text(json.dumps({k: x for k, x in about.items() if k != "sha256"}))
    weights = load_file(folder / "weights.safetensors")
    for spoilt in (weights["layers.0.weight"].astype(np.float64) * 1e39, weights["layers.0.weight"] * np.nan):
        save_file({**weights, "layers.0.weight": spoilt}, folder / "weights.safetensors")
        with pytest.raises(ValueError, match="layer 0 holds numbers that are not finite"):
            load_policy(folder, v, 2)
    none = {"layers.0.weight": weights["layers.0.weight"][:0], "layers.0.bias": weights["layers.0.bias"][:0]}
    save_file({**weights, **none, "layers.1.weight": weights["layers.1.weight"][:, :0]}, folder / "weights.safetensors")
    with pytest.raises(ValueError, match="layer 0 has no units"):
        load_policy(folder, v, 2)


def test_json_that_is_nested_too_deeply_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="nested too deeply"):
        parse_json(DEEP)
    path = tmp_path / "values.json"
    for text in (DEEP, "[1]", "{", '{"a": ' + "9" * 5000 + "}"):
        path.write_text(text)
        for read in (read_json, numbers.read):
            with pytest.raises(ValueError, match=r"values\.json"):
                read(path)
    path.write_text('{"round/x": 3}')
    assert command(["numbers", "--file", str(path), "--show"]) == 2
    solution = tables.TablesOptions(tmp_path)
    for rounds_ in (
        3,
        {"1v1": {}},
        {"1v1": dict.fromkeys(("method", "value", "lower", "upper", "num_states", "seconds"), "x")},
    ):
        path.write_text(json.dumps({"options": {}, "rounds": rounds_}))
        with pytest.raises(ValueError, match="none of this command"):
            tables.Folder(solution)


def test_a_saved_game_needs_a_player_for_every_hand(tmp_path: Path) -> None:
    archive, name = Archive(tmp_path), "20260101-000000-00000000"
    record = "perudo/1 classic seed=7\n11111/22222 opener=0 1x2 dudo"
    whole: dict[str, Any] = {
        "record": record,
        "salt": "",
        "seed": 7,
        "commitment": "",
        "players": [{"name": "Ann"}, {"name": "Bob"}],
    }
    path = archive.path(name)
    path.write_text("\ufeff" + json.dumps(whole), encoding="utf-8")
    assert archive.read(name).names == ["Ann", "Bob"]
    players = whole["players"]
    for wrong in (
        DEEP,
        *(json.dumps({**whole, "players": p}) for p in (players[:1], players * 2, [3, 4], [{}, {}], "ab")),
    ):
        path.write_text(wrong)
        with pytest.raises(ValueError, match=name):
            archive.read(name)
        assert archive.readable() == []
        assert not archive.dice_rolled()


def test_results_of_a_tournament_are_checked(tmp_path: Path) -> None:
    path = tmp_path / "results.sqlite"
    with ResultsFile(path, {"seed": 1}) as results:
        results._db.execute("BEGIN")
        cell = results.enter(Cell("classic", 2, ("odds", "uniform"), 5))
        results._db.execute("INSERT INTO tasks VALUES (1, ?, 0, 1, 9, 1.0, 'w')", (cell,))
        results._db.executemany("INSERT INTO places VALUES (1, 0, ?, ?, ?)", [(0, 0, 1), (1, 1, 2)])
        results._db.execute("COMMIT")
        assert results.played(cell) is not None
        for statement, back in (
            ("UPDATE places SET agent = 7 WHERE seat = 0", "UPDATE places SET agent = 0 WHERE seat = 0"),
            ("UPDATE places SET place = -1 WHERE seat = 0", "UPDATE places SET place = 1 WHERE seat = 0"),
            ("UPDATE places SET agent = 'x' WHERE seat = 0", "UPDATE places SET agent = 0 WHERE seat = 0"),
            ("UPDATE cells SET seats = 3", "UPDATE cells SET seats = 2"),
            ("UPDATE cells SET seats = 0", "UPDATE cells SET seats = 2"),
            (f"UPDATE cells SET agents = '{DEEP}'", "UPDATE cells SET agents = '[]'"),
            ("UPDATE cells SET variant = 5", "UPDATE cells SET variant = 'classic'"),
        ):
            results._db.execute(statement)
            with pytest.raises(ValueError, match=r"results\.sqlite"):
                results.played(cell)
            results._db.execute(back)


def test_names_too_long_for_a_file_get_a_short_error() -> None:
    for name in ("x" * 300, "x" * 5000, "search:" + "x" * 5000, "x" * 5000 + ":y", "a/" * 2500):
        with pytest.raises(ValueError, match="agent") as error:
            agents.make(name, "classic", 2)
        assert len(str(error.value)) < 500
    for text in ("x" * 5000, "classic:" + "x" * 5000, "classic:calza=" + "x" * 5000):
        with pytest.raises(ValueError, match="x") as error:
            pe.Game(text)
        assert len(str(error.value)) < 500


def test_a_solver_goes_on_from_a_whole_state_alone(tmp_path: Path) -> None:
    path, tree = tmp_path / "state.npz", PublicTree(hostile.TINY, (1, 1))
    solver = rounds.RoundSolver(tree, np.zeros((2, 4)), 1)
    solver.iterate()
    solver.save(path)
    with np.load(path) as file:
        arrays = dict(file)
    kept = [r.copy() for r in (*solver.regrets, *solver.sums)]
    wrong = {
        "regrets0": [np.float32([1]), arrays["regrets0"] * np.nan, arrays["regrets0"].astype(np.float64)],
        "sums1": [arrays["sums1"] - 1, arrays["sums1"][:-1]], "iterations": [np.array(i) for i in (-1, 2**62, 1.5)],
    }  # fmt: skip
    for name, values in wrong.items():
        for value in values:
            np.savez(path, **{**arrays, name: value})
            with pytest.raises(ValueError, match="state"):
                solver.load(path)
    assert all((a == b).all() for a, b in zip(kept, (*solver.regrets, *solver.sums), strict=True))
