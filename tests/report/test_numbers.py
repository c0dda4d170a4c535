"""The numbers to cite: each is measured once and kept, and what is kept is consistent with known values."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from train.__main__ import main as command
from train.report import numbers
from train.report.numbers_tables import interval, rounds_table

KNOWN = {
    "round/liars_dice/1v1": -7 / 258,
    **{f"round/{v}/1v1": -1 / 18 for v in ("evening", "classic", "box", "evening:paco_open=always")},
    "round/joker:pacos_wild=False/1v1": -1 / 9,
    **{f"round/classic/1v{n}/palifico": 2 * p - 1 for n, p in ((1, 5 / 6), (2, 25 / 36), (3, 125 / 216))},
}


def test_names_are_distinct_and_what_is_kept_has_one() -> None:
    names = [i.name for i in numbers.items()]
    assert len(set(names)) == len(names)
    assert set(numbers.read()) <= set(names)


@pytest.mark.parametrize("name", KNOWN)
def test_kept_intervals_hold_the_known_values(name: str) -> None:
    record = numbers.read()[name]
    assert record["lower"] - 1e-9 <= KNOWN[name] <= record["upper"] + 1e-9
    assert record["upper"] - record["lower"] <= 1.1e-4


def test_the_command_measures_what_is_missing_and_nothing_else(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "numbers.json"
    words = ["numbers", "--only", "round/classic/1v1/palifico", "--file", str(file)]
    assert command(words) == 0
    record = json.loads(file.read_text(encoding="utf-8"))["round/classic/1v1/palifico"]
    assert record["lower"] <= 2 / 3 <= record["upper"] + 1e-9
    assert record["iterations"] > 0
    capsys.readouterr()
    before = file.stat().st_mtime_ns
    assert command(words) == 0
    assert command([*words, "--show"]) == 0
    assert "(kept)" in capsys.readouterr().out
    assert file.stat().st_mtime_ns == before


def test_a_long_runs_interval_is_kept_beside_the_others(tmp_path: Path) -> None:
    file = tmp_path / "numbers.json"
    numbers.keep(file, "agent/x", {"nash_conv": 1})
    assert command(["numbers", "--file", str(file), "--interval", "round/evening/2v2", "0.0328", "0.0362"]) == 0
    kept = numbers.read(file)
    assert set(kept) == {"agent/x", "round/evening/2v2"}
    assert kept["round/evening/2v2"]["nash_conv"] == pytest.approx(0.0034)
    assert "+0.0328 .. +0.0362" in rounds_table(kept).markdown()
    assert command(["numbers", "--file", str(file), "--interval", "round/evening/2v2", "1", "0"]) == 2
    assert command(["numbers", "--file", str(file), "--only", "nothing like this"]) == 2


def test_intervals_are_rounded_outwards() -> None:
    assert interval({"lower": -0.05556, "upper": -0.05554}) == "-0.0556 .. -0.0555"
    assert interval({"lower": 0.1, "upper": 0.1}) == "+0.1000 .. +0.1000"
    assert interval(None) is None
