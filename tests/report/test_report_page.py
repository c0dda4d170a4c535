"""The page about a run: curves by the columns' prefixes, habits by their definition, nothing from outside."""

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
from train.evaluate.habits import KINDS, Tally, habits
from train.report.curves import read_curves
from train.report.run import _tables

WIDE = (
    "decisions,seconds,nash_conv/classic 1v1,win_share/odds classic 2,win_share/odds classic 2/low,win_share/odds classic 2/high,loss/actor\n"
    "1000,1.5,0.75,0.4,0.3,0.5,-0.02\n2000,3.0,0.5,0.6,0.5,0.7,-0.01\n"
)
LONG = "decisions,baseline,win_share,low,high\n1000,odds,0.4,0.3,0.5\n1000,uniform,0.9,0.8,1.0\n2000,odds,0.5,0.4,0.6\n"
SB3 = "time/total_timesteps,win_share/odds,nash_conv/classic 1v1\n512,,\n1024,0.25,0.8\n2048,,0.7\n"


def test_columns_are_read_by_their_prefixes(tmp_path: Path) -> None:
    (tmp_path / "curve.csv").write_text(WIDE)
    curves = read_curves(tmp_path)
    assert set(curves) == {"nash_conv/classic 1v1", "win_share/odds classic 2"}
    assert curves["nash_conv/classic 1v1"].values == [0.75, 0.5]
    assert curves["nash_conv/classic 1v1"].low == []
    assert curves["win_share/odds classic 2"].decisions == [1000, 2000]
    assert curves["win_share/odds classic 2"].high == [0.5, 0.7]


def test_curve_csv_goes_before_metrics_csv(tmp_path: Path) -> None:
    (tmp_path / "curve.csv").write_text(LONG)
    (tmp_path / "metrics.csv").write_text(SB3)
    curves = read_curves(tmp_path)
    assert curves["win_share/odds"].values == [0.4, 0.5]
    assert curves["win_share/odds"].low == [0.3, 0.4]
    assert curves["win_share/uniform"].values == [0.9]
    assert curves["nash_conv/classic 1v1"].decisions == [1024, 2048]


@pytest.mark.parametrize("extra", ["3000,4.0,0.4,0.6,0.5", ""])
def test_a_row_that_a_kill_cut_short_is_left_out(extra: str, tmp_path: Path) -> None:
    (tmp_path / "curve.csv").write_text(WIDE + extra)
    assert read_curves(tmp_path)["win_share/odds classic 2"].values == [0.4, 0.6]


def test_what_is_no_number_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "curve.csv").write_text(WIDE.replace("0.75", "much"))
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
    (tmp_path / "curve.csv").write_text(WIDE)
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
    (tmp_path / "metrics.csv").write_text(SB3)
    assert command(["report", str(tmp_path)]) == 0
    assert "No checkpoint yet" in (tmp_path / "report.html").read_text(encoding="utf-8")
    (tmp_path / "empty").mkdir()
    for words, says in (
        ([str(tmp_path / "empty")], "not the folder of a run"), ([str(tmp_path / "none")], "is not a folder"),
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
