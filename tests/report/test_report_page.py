"""The page about a run: the curve's records, habits by their definition, nothing from outside."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import agents
import perudo_env as pe
from perudo_env.engine.actions import CALZA, DUDO, FIRST_BID
from tests.evaluate.test_benchmark import Caller, checkpoint
from train.__main__ import main as command
from train.core.curve import Point, last_of, read_curve
from train.core.measured import Measured, exact
from train.evaluate.habits import KINDS, Tally, habits
from train.report.run import _tables

CURVE = (
    "decisions,seconds,name,value,low,high,table,agent,against\n"
    "1000,1.5,nash_conv,0.75,0.75,0.75,classic 1v1,,\n"
    '1000,1.5,win_share,0.4,0.3,0.5,"classic, 2 seats",,odds\n'
    "2000,3.0,nash_conv,0.5,0.5,0.5,classic 1v1,,\n"
    '2000,3.0,win_share,0.6,0.5,0.7,"classic, 2 seats",,odds\n'
)
SHARES = [
    (1000, Measured("win_share", 0.4, 0.3, 0.5, "classic, 2 seats", "", "odds")),
    (2000, Measured("win_share", 0.6, 0.5, 0.7, "classic, 2 seats", "", "odds")),
]


def shares(folder: Path) -> list[Point]:
    return [point for point in read_curve(folder / "curve.csv") if point[1].name == "win_share"]


def test_a_curve_is_read_as_records(tmp_path: Path) -> None:
    (tmp_path / "curve.csv").write_text(CURVE)
    curve = read_curve(tmp_path / "curve.csv")
    assert shares(tmp_path) == SHARES
    assert [str(m) for _, m in curve[2:]] == ["0.5000", "0.600 [0.500, 0.700]"]
    assert last_of(curve)["nash_conv", "classic 1v1"] == (2000, exact("nash_conv", 0.5, "classic 1v1"))
    assert read_curve(tmp_path / "metrics.csv") == []


@pytest.mark.parametrize("extra", ["3000,4.0,win_share,0.6,0.5", ""])
def test_a_row_that_a_kill_cut_short_is_left_out(extra: str, tmp_path: Path) -> None:
    (tmp_path / "curve.csv").write_text(CURVE + extra)
    assert shares(tmp_path) == SHARES


def test_what_is_no_number_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "curve.csv").write_text(CURVE.replace("0.75,0.75,", "much,0.75,"))
    assert command(["report", str(tmp_path)]) == 2
    assert re.search(r"curve\.csv, line 2.*much", capsys.readouterr().err)


# ---------------------------------------------------------------------------------------------- habits


def test_a_caller_doubts_always_and_bluffs_as_its_openings_say() -> None:
    """It opens with one Two: with a die that is neither Two nor Paco, the other's single die must be one: chance 1/3."""
    found = habits(Caller(None, 2), pe.variant("classic", starting_dice=1), 2, 400)
    doubts, calzas, bluffs = found.by_dice[1]
    assert doubts.value == 1
    assert calzas.value != calzas.value, "classic has no Calza"
    assert bluffs.value == pytest.approx(2 / 3, abs=0.08)
    assert not bluffs.excludes(2 / 3)
    never = habits(Caller(None, 2), pe.variant("classic", starting_dice=1), 2, 40, bluff=0.3)
    assert never.overall[KINDS.index("bluffs, of its bids")].value == 0


def test_the_tally_is_the_count_of_the_actions_by_own_dice() -> None:
    v = pe.variant("pascal", starting_dice=3)
    batch, rng = pe.Batch(v, 3, 60, seed=2), np.random.default_rng(0)
    tally = Tally(agents.make("bluffer", v, 3), v, 3, bluff=0.5)
    seen: Counter[tuple[str, int]] = Counter()
    while not batch.is_over.all():
        live = np.flatnonzero(~batch.is_over)
        dice = batch.dice[live, batch.seat[live]]
        masks = batch.masks(live)
        actions = tally.act(batch.observe(live), masks, rng)
        for d, action, mask in zip(dice.tolist(), actions.tolist(), masks, strict=True):
            seen["doubt", d] += action == DUDO
            seen["may doubt", d] += int(mask[DUDO])
            seen["calza", d] += action == CALZA
            seen["bid", d] += action >= FIRST_BID
        batch.act(actions, live)
    for d in (1, 2, 3):
        assert tally.done[0, d] == seen["doubt", d]
        assert tally.asked[0, d] == seen["may doubt", d]
        assert tally.done[1, d] == seen["calza", d]
        assert tally.asked[2, d] == seen["bid", d] > tally.done[2, d] > 0


# ---------------------------------------------------------------------------------------------- the page


def test_a_run_gives_one_page_that_needs_nothing_else(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "curve.csv").write_text(CURVE)
    (tmp_path / "config.yaml").write_text("run: {seed: 1, note: <b>}\n")
    checkpoint(tmp_path / "checkpoint")
    assert command(["report", str(tmp_path), "--games", "40", "--baselines", "odds", "uniform"]) == 0
    html = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert str(tmp_path / "report.html") in capsys.readouterr().out
    for words in (
        "Exploitability (exact NashConv)",
        "Win share while training",
        "Ratings: classic, 2 seats",
        "Habits: classic, 2 seats",
        "&lt;b&gt;",
    ):
        assert words in html
    assert html.count('src="data:image/svg+xml;base64,') == 4
    assert re.findall(r'(?:src|href)="(?!data:)', html) == []
    before = {p.name for p in tmp_path.iterdir()}
    assert before == {"curve.csv", "config.yaml", "checkpoint", "report.html"}


def test_an_unfinished_run_has_a_page_and_no_run_has_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "curve.csv").write_text(CURVE)
    assert command(["report", str(tmp_path)]) == 0
    assert "No checkpoint yet" in (tmp_path / "report.html").read_text(encoding="utf-8")
    (tmp_path / "empty").mkdir()
    (tmp_path / "wide").mkdir()
    (tmp_path / "wide" / "curve.csv").write_text("decisions,win_share/odds\n1,0.5\n")
    for words, says in (
        ([str(tmp_path / "wide")], "a learning curve has decisions, seconds, name"), ([str(tmp_path / "empty")], "not the folder of a run"), ([str(tmp_path / "none")], "is not a folder"),
        ([str(tmp_path), "--games", "0"], "games = 0"), ([str(tmp_path), "--bluff", "0"], "bluff = 0"),
    ):  # fmt: skip
        assert command(["report", *words]) == 2
        assert says in capsys.readouterr().err


def test_tables_are_spread_over_all_that_a_checkpoint_plays() -> None:
    about = {"variants": ["classic", "box", "pascal"], "seats": [2, 3]}
    assert [(v.name, n) for v, n in _tables(about, 2)] == [("classic", 2), ("pascal", 3)]
    assert len(_tables(about, 9)) == 6
    assert [(v.name, n) for v, n in _tables(about, 1)] == [("classic", 2)]
    with pytest.raises(ValueError, match="does not say which"):
        _tables({"variants": None}, 2)
