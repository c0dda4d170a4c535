"""The view of a run while it goes: how far it is, the time left, its curve; and what is no run."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
import yaml

from train.__main__ import main
from train.core.curve import COLUMNS
from train.core.progress import in_time
from train.report.watch import look, spark


def made(folder: Path, decisions: int) -> Path:
    """A run of 1,000 decisions that makes 10 a second; its win share rises."""
    folder.mkdir()
    (folder / "config.yaml").write_text(yaml.safe_dump({"learn": {"total_decisions": 1000}}), encoding="utf-8")
    metrics = [{"decisions": n, "seconds": n / 10} for n in range(100, decisions + 1, 100)]
    curve = [
        (n, n / 10, "win_share", n / 1000, n / 1000 - 0.05, n / 1000 + 0.05, "classic, 2 seats", "", "odds")
        for n in range(200, decisions + 1, 200)
    ]
    with (folder / "metrics.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, ["decisions", "seconds"])
        writer.writeheader()
        writer.writerows(metrics)
    with (folder / "curve.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([COLUMNS, *curve])
    return folder


def test_it_says_how_far_a_run_is_and_how_long_it_will_take(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = made(tmp_path / "run", 600)
    seen = look(folder)
    assert (seen.decisions, seen.total, seen.speed, seen.is_over) == (600, 1000, 10.0, False)
    assert main(["watch", str(folder)]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "600 of 1,000 decisions (60%), 10 a second, about 40 s left" in said
    assert "measured after 600 decisions" in said
    assert "0.600 [0.550, 0.650]" in said
    assert spark([0.2, 0.4, 0.6]) in said


def test_a_run_that_is_over_is_said_to_be(tmp_path: Path) -> None:
    assert str(look(made(tmp_path / "run", 1000))).endswith("over after 2 min")


def test_a_run_that_has_just_begun_has_no_speed_yet(tmp_path: Path) -> None:
    folder = made(tmp_path / "run", 0)
    (folder / "metrics.csv").unlink()
    assert str(look(folder)).startswith("0 of 1,000 decisions (0%), 0 a second; last heard of")


def test_what_is_no_run_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["watch", str(tmp_path)]) == 2
    assert "is not the folder of a run: it has no config.yaml" in capsys.readouterr().err
    (tmp_path / "config.yaml").write_text("seeds: [1]\n", encoding="utf-8")
    assert main(["watch", str(tmp_path)]) == 2
    assert "does not say total_decisions" in capsys.readouterr().err


def test_times_and_lines_of_blocks() -> None:
    assert [in_time(s) for s in (0, 99, 100, 3600, 11100)] == ["0 s", "99 s", "2 min", "1 h 0 min", "3 h 5 min"]
    assert spark([0.0, 1 / 7, 1.0]) == "▁▂█"
    assert spark([1.0]) == "▁"
