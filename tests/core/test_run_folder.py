"""Run folders: nothing that interrupts a run, and no damaged file, costs more than what it names; divergence is not kept."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from tests.helpers import train
from train.core.config import Section, load_config
from train.core.curve import read_curve
from train.core.loop import STATE, DivergenceError, Figures, Loop
from train.core.measured import Measured, exact
from train.core.run import open_run, read_csv
from train.core.state import Arrays
from train.research import nfsp

CONFIGS = Path(__file__).parents[2] / "configs"


class Options(Section):
    """A small configuration."""

    rate: float
    newer: int = 1


class Walk:
    """A trainer of one number, which a step moves on; ``lost`` spoils one at a step of one's choice."""

    def __init__(self, lost: Mapping[int, str] | None = None) -> None:
        self.decisions, self.lost = 0, lost or {}
        self.arrays: Arrays = {"actor": np.zeros(2, np.float32), "critic": np.zeros(2), "states": np.zeros(2, np.uint8)}

    def step(self) -> Figures:
        self.decisions += 10
        self.arrays["actor"] = self.arrays["actor"] + 1
        what = self.lost.get(self.decisions // 10, "")
        if what in self.arrays:
            self.arrays[what][1] = np.inf
        if what == "answer":
            raise ValueError("Expected parameter logits, but found invalid values:\ntensor([nan, nan])")
        if what == "error":
            raise ValueError("something else")
        return {"loss/walk": np.nan if what == "loss" else 0.5, "rollout/mean": np.nan}

    def weights(self) -> Arrays:
        return {"actor": self.arrays["actor"]}

    def state(self) -> tuple[Arrays, dict[str, Any]]:
        return self.arrays, {"decisions": self.decisions}

    def restore(self, arrays: Arrays, about: Mapping[str, Any]) -> None:
        self.arrays, self.decisions = {k: a.copy() for k, a in arrays.items()}, about["decisions"]


def loop(folder: Path, total: int, lost: Mapping[int, str] | None = None, judged: str = "score") -> Loop:
    """A loop that judges every 20 decisions and saves at every step."""
    found = [
        Measured(judged, 0.5, 0.25, 0.75, "classic, 2 seats", against="odds"),
        exact("nash_conv", 0.5, "classic 1v1"),
    ]
    return Loop(Walk(lost), folder, total, lambda: found, 20, 0, Console(quiet=True))


def contents(folder: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in folder.iterdir() if "tfevents" not in p.name}


def table(path: Path) -> list[dict[str, str]]:
    return [{k: v for k, v in row.items() if k != "seconds"} for row in read_csv(path)[1]]


# ---------------------------------------------------------------------------------------------- config.yaml


def test_a_resume_writes_the_configuration_only_where_it_says_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, options = tmp_path / "run" / "config.yaml", Options(rate=1e-05)

    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("perudo_env.game.files.os.replace", interrupted)
        with pytest.raises(KeyboardInterrupt):
            open_run("x", options, path.parent)
        assert list(path.parent.iterdir()) == []
    open_run("x", options, path.parent)
    whole = path.read_bytes()
    monkeypatch.setattr("perudo_env.game.files.os.replace", interrupted)
    open_run("x", options, path.parent, resume=True)  # would be interrupted if it wrote
    path.write_text("rate: 1.0e-05\n")  # of a version that had one key less
    with pytest.raises(KeyboardInterrupt):
        open_run("x", options, path.parent, resume=True)
    assert path.read_text() == "rate: 1.0e-05\n"
    monkeypatch.undo()
    open_run("x", options, path.parent, resume=True)
    assert path.read_bytes() == whole
    assert [p.name for p in path.parent.iterdir()] == ["config.yaml"]


def test_a_configuration_that_cannot_be_read_is_told_and_can_be_removed(tmp_path: Path) -> None:
    path = open_run("x", Options(rate=0.5), tmp_path / "run") / "config.yaml"
    whole = path.read_bytes()
    damaged = [whole[:n] for n in range(len(whole) - 1)]
    for content in (*damaged, b"[" * 5000, b"- 1", b"\xff", b"a: &a [*a]", b"rate: 0.5\nother: 1\n"):
        path.write_bytes(content)
        said = ""
        try:
            open_run("x", Options(rate=0.5), path.parent, resume=True)
        except ValueError as error:
            said = str(error)
        assert "\n" not in said
        assert path.read_bytes() == (content if said else whole), "it goes on only where a newer key alone is missing"
    path.write_bytes(b"")
    with pytest.raises(ValueError, match=r"config\.yaml is empty.*or remove it to go on"):
        open_run("x", Options(rate=0.5), path.parent, resume=True)
    path.unlink()
    open_run("x", Options(rate=0.5), path.parent, resume=True)
    assert path.read_bytes() == whole


# ---------------------------------------------------------------------------------------------- metrics.csv, curve.csv


def test_a_table_cut_anywhere_is_refused_and_all_kept_or_gone_on_with(tmp_path: Path) -> None:
    begun, whole = tmp_path / "begun", tmp_path / "whole"
    loop(begun, 30).run()
    shutil.copytree(begun, whole)
    loop(whole, 50).run()
    for name in ("metrics.csv", "curve.csv"):
        text = (begun / name).read_bytes()
        for content in (
            *(text[:n] for n in range(0, len(text) + 1, 7)),
            text[:-1],
            b"\xff",
            b"x" * 200_000,
            text.replace(b"0.5", b"much"),
            text + b"40,1",
        ):
            folder = tmp_path / "run"
            shutil.rmtree(folder, ignore_errors=True)
            shutil.copytree(begun, folder)
            (folder / name).write_bytes(content)
            before = contents(folder)
            if content.startswith(text):  # whole, or with the beginning of a row that no state knows
                loop(folder, 50).run()
                assert all(table(folder / t) == table(whole / t) for t in ("metrics.csv", "curve.csv"))
                continue
            with pytest.raises(ValueError, match=name) as caught:
                loop(folder, 50)
            assert "\n" not in str(caught.value)
            assert contents(folder) == before
    (folder / "curve.csv").unlink()
    assert loop(folder, 30).run()[0].value == 0.5, "a run that was over is judged anew"


def test_a_report_reads_what_is_whole_and_names_what_is_no_table(tmp_path: Path) -> None:
    loop(tmp_path, 40, judged="win_share").run()
    curve = read_curve(tmp_path / "curve.csv")
    assert [(decisions, m.name, m.value, m.against) for decisions, m in curve[:2]] == [
        (20, "win_share", 0.5, "odds"), (20, "nash_conv", 0.5, ""),
    ]  # fmt: skip
    assert len(curve) == 4
    for content in (b"x" * 200_000, b"\xff"):
        (tmp_path / "curve.csv").write_bytes(content)
        with pytest.raises(ValueError, match=r"curve\.csv cannot be read as CSV"):
            read_curve(tmp_path / "curve.csv")


# ---------------------------------------------------------------------------------------------- divergence


def test_divergence_stops_a_run_and_is_never_saved(tmp_path: Path) -> None:
    for step, what, says in (
        (4, "actor", "actor is no longer finite"), (4, "critic", "critic is no longer finite"), (4, "loss", "loss/walk is nan"),
        (4, "answer", "the network answers nan"), (2, "actor", "actor is no longer finite"),
    ):  # fmt: skip
        folder = tmp_path / f"{what} {step}"
        loop(folder, 10 * (step - 1)).run()
        before = contents(folder)[STATE]
        with pytest.raises(
            DivergenceError, match=f"diverged after {10 * step} decisions: {says}; the state before is kept"
        ) as caught:
            loop(folder, 100, {step: what}).run()
        assert "\n" not in str(caught.value)
        assert contents(folder)[STATE] == before
        loop(folder, 100).run()  # with what does not diverge it goes on from there
        assert [row["decisions"] for row in table(folder / "metrics.csv")] == [str(10 * (i + 1)) for i in range(10)]
    with pytest.raises(ValueError, match="something else"):
        loop(tmp_path / "other", 50, {1: "error"}).run()
    with pytest.raises(DivergenceError, match="nothing of it is kept"):
        loop(tmp_path / "first", 50, {1: "critic"}).run()
    assert STATE not in contents(tmp_path / "first")


def test_a_trainer_that_diverges_says_so_and_leaves_no_checkpoint(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wild = "learn.learning_rate=1e12", "learn.final_learning_rate=1e12"
    actions = "learn.critic=action_values", "learn.magnet=average", "learn.kl=0.3"
    for command, name, rates in (
        ("ppo", "ppo", wild), ("ppo", "ppo", (*wild, *actions)), ("sb3", "quickstart", ("ppo.learning_rate=1e12",)),
        ("distil", "duel-distill", (*wild, "teacher.agent=odds", "evaluation.rounds=[]")),
    ):  # fmt: skip
        out = tmp_path / f"{name}-{len(rates)}"
        assert train(command, CONFIGS / f"{name}.yaml", *rates, out=out, smoke=True) == 2
        said = capsys.readouterr().err
        assert said.count("\n") == 1
        assert "training diverged after " in said
        assert not (out / "checkpoint").exists()
        assert not (out / STATE).exists()


# ---------------------------------------------------------------------------------------------- what cannot be run


def test_what_would_fail_late_fails_at_once_and_leaves_no_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    start = "run.start_from=nowhere.safetensors"
    for command, name, override, says in (
        ("ppo", "ppo", "evaluation.baselines=[oddz]", "did you mean 'odds'"),
        ("ppo", "ppo", "evaluation.rounds=[{variant: classic, dice: [5, 5]}]", "information states"),
        ("ppo", "ppo", start, "nowhere.safetensors is not the state of a run"),
        ("nfsp", "nfsp", "round.variant=classic", "no single round that seat 0 opens"),
        ("sb3", "quickstart", "evaluation.baselines=[oddz]", "did you mean 'odds'"),
        ("sb3", "quickstart", "pool.scripted=[oddz]", "did you mean 'odds'"),
    ):
        assert train(command, CONFIGS / f"{name}.yaml", override, out=tmp_path / "run", smoke=True) == 2
        assert says in capsys.readouterr().err
        assert not (tmp_path / "run").exists()
    assert (
        train("ppo", CONFIGS / "ppo.yaml", "pool.scripted=[oddz]", "pool.share=0.5", out=tmp_path / "run", smoke=True)
        == 2
    )
    (tmp_path / "mine").mkdir()
    assert train("ppo", CONFIGS / "ppo.yaml", start, out=tmp_path / "mine", smoke=True) == 2
    assert (tmp_path / "mine").exists(), "a folder that was there before"


def test_the_comparison_reads_all_configurations_before_it_begins(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for override, says in (
        ("overrides={deep_cfr: [learn.walk=3]}", "learn.walk"), (f"table='{tmp_path}'", "cannot be written"),
        ("rounds=[{variant: 'joker:starting_dice=1', dice: [5, 5]}]", "5 is not a number of dice"),
        ("rounds=[{variant: classic, dice: [1, 1]}]", "no single round"), ("trainers=[dcfr, nsfp]", "did you mean 'nfsp'"),
    ):  # fmt: skip
        tiny = (
            "rounds=[{variant: 'joker:starting_dice=1,num_faces=3', dice: [1, 1]}]",
            "trainers=[dcfr, deep_cfr]",
            "cpu_minutes=[1000]",
        )
        assert train("compare", CONFIGS / "compare.yaml", *tiny, override, out=tmp_path / "run", smoke=True) == 2
        assert says in capsys.readouterr().err
        assert not list(tmp_path.glob("run/*-*"))


def test_a_first_update_without_a_transition_waits(tmp_path: Path) -> None:
    tiny = (
        "learn.tables=1",
        "learn.steps=1",
        "learn.hidden=[4]",
        "learn.total_decisions=3",
        "learn.minibatch=4",
        "evaluation.every=10",
    )
    config = load_config(nfsp.NFSPConfig, CONFIGS / "nfsp.yaml", (*nfsp.SMOKE, *tiny))
    assert nfsp.NFSP(config).step()["loss/q"] == 0
