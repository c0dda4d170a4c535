"""The bench, at tiny sizes: what it measures and says, never how fast anything is."""

from __future__ import annotations

import json
import sys
from statistics import median

import pytest

from tools import bench


@pytest.fixture(scope="module")
def contests():
    return bench.contests(4)


def test_quick_run_writes_every_line(contests, tmp_path, capsys):
    out = tmp_path / "new" / "bench.json"
    assert bench.main(["--quick", "--games", "4", "--out", str(out)]) == 0
    result = json.loads(out.read_text())
    assert result["quick"] is True
    assert set(result["versions"]) == {"python", "numpy", "numba", "pettingzoo", "gymnasium", "open-spiel"}
    assert result["processor"] == bench.processor() != ""
    assert [(x["what"], x["bar"]) for x in result["lines"]] == [
        ("random play, masks", 60),
        ("random play, masks", None),
        ("random play, masks and observations", 40),
        ("random play, masks and observations", None),
        ("the same, driven from Python", None),
        ("a decision with mask and observation costs", 6),
        ("PettingZoo, no wrappers", 2.5),
        ("PettingZoo, wrapped", 2.5),
    ]
    for x in result["lines"]:
        rates = x["ours_per_second"], x["peer_per_second"]
        above, below = reversed(rates) if x["at_most"] else rates
        assert x["ratio"] == pytest.approx(above / below)
        assert 0 < x["lowest"] <= x["highest"]
        met = x["bar"] is None or (x["ratio"] <= x["bar"] if x["at_most"] else x["ratio"] >= x["bar"])
        assert x["passed"] is met
    printed = capsys.readouterr().out
    assert ">= 60x" in printed
    assert "<= 6x" in printed
    assert "bench.json" in "".join(printed.split())  # a long path is wrapped


def test_players_count_decisions_alone(contests):
    for contest in contests:
        assert contest.play_ours(10) >= 10
        assert contest.play_peer(10) >= 10
    env = next(c for c in contests if "raw_env" in c.peer)
    assert 5 <= env.play_peer(1) <= 9  # a game of tic-tac-toe, without its two dead steps


def test_sides_are_timed_in_turn(monkeypatch):
    played = []

    def side(name):
        return lambda n: played.append(name) or n

    monkeypatch.setattr(bench, "enough", lambda play, seconds: 10)
    clock = iter(float(t) for t in (0, 1, 1, 3, 3, 4, 4, 14, 14, 15, 15, 17, 17, 22, 22, 24, 24, 25, 25, 27))
    monkeypatch.setattr(bench.time, "process_time", lambda: next(clock))
    line = bench.measure(bench.Contest("w", "a", "b", 1.5, side("a"), side("b")), 5, 1.0)
    assert "".join(played) == "ababababab"
    assert line.ours_per_second == median([10, 10, 10, 2, 10])
    assert line.peer_per_second == median([5, 1, 5, 5, 5])
    assert (line.ratio, line.lowest, line.highest, line.passed) == (2.0, 0.4, 10.0, True)


@pytest.mark.parametrize(("bar", "passed"), [(3.0, True), (1.5, False), (None, True)])
def test_a_cost_is_a_ratio_that_may_not_be_higher(monkeypatch, bar, passed):
    monkeypatch.setattr(bench, "enough", lambda play, seconds: 10)
    rates = iter([5.0, 10.0] * 5)
    monkeypatch.setattr(bench, "timed", lambda play, decisions: next(rates))
    line = bench.measure(bench.Contest("w", "a", "b", bar, int, int, at_most=True), 5, 1.0)
    assert (line.ours_per_second, line.peer_per_second, line.ratio, line.passed) == (5.0, 10.0, 2.0, passed)


def test_a_missed_bar_is_an_exit_code(monkeypatch, tmp_path):
    missed = bench.Line("w", "a", "b", 50.0, False, 4.0, 1.0, 4.0, 3.0, 5.0, passed=False)
    monkeypatch.setattr(bench, "run", lambda o, console: [missed])
    assert bench.main(["--out", str(tmp_path / "bench.json")]) == 1
    assert bench.main(["--quick", "--out", str(tmp_path / "bench.json")]) == 0


def test_a_missing_peer_names_the_extra_and_writes_nothing(monkeypatch, tmp_path, capsys):
    monkeypatch.setitem(sys.modules, "pyspiel", None)
    out = tmp_path / "bench.json"
    assert bench.main(["--quick", "--out", str(out)]) == 2
    assert "pip install -e '.[bench]'" in capsys.readouterr().err
    assert not out.exists()


@pytest.mark.parametrize("bad", [("--rounds", "4"), ("--seconds", "0"), ("--games", "0")])
def test_too_little_is_refused(bad, capsys):
    assert bench.main(list(bad)) == 2
    assert bad[0][2:] + " = " in capsys.readouterr().err
