"""The certified interval: it holds the exact number, narrows with its threshold, and meets it at 0."""

from __future__ import annotations

import pytest

import agents
import perudo_env as pe
from perudo_env.engine.variant import parse_variant
from tests.evaluate.test_exploitability import Broken, HandPolicy
from train.__main__ import main as command
from train.evaluate.exploitability import nash_conv
from train.solver.exact.bracket import bracket
from train.solver.exact.match import match_bracket, match_exploitability


@pytest.mark.parametrize(
    ("v", "dice", "palifico"),
    [
        ("classic:num_faces=3", (2, 1), False),
        ("liars_dice", (1, 1), False),
        ("box:calza=anyone", (1, 1), False),
        ("pascal:num_faces=3", (2, 1), False),
        ("box", (1, 3), True),
    ],
)
def test_it_holds_the_exact_number_and_meets_it_at_0(v: str, dice: tuple[int, int], palifico: bool) -> None:
    policy = HandPolicy()
    exact = nash_conv(policy, v, dice, palifico)
    width, asked = 10.0, 0
    for reach in (0.1, 1e-2, 1e-3):
        found = bracket(policy, v, dice, palifico, reach=reach)
        (low, high), both = found.nash_conv, found.earned
        assert low - 1e-9 <= exact.nash_conv <= high + 1e-9
        for (least, most), gain, sign in zip(both, exact.gains, (1, -1), strict=True):
            assert least - 1e-9 <= gain + sign * exact.value <= most + 1e-9
        assert high - low <= width + 1e-9
        assert found.num_states >= asked
        width, asked = high - low, found.num_states
    assert bracket(policy, v, dice, palifico, reach=0).nash_conv == pytest.approx((exact.nash_conv,) * 2, abs=1e-9)


def test_on_2_v_1_a_threshold_asks_little_and_loses_little() -> None:
    policy = agents.make("inference", "classic", 2)
    exact = nash_conv(policy, "classic", (2, 1))
    found = bracket(policy, "classic", (2, 1), reach=1e-3)
    low, high = found.nash_conv
    assert low <= exact.nash_conv <= high < low + 0.01
    assert found.num_states < exact.num_states / 10
    assert bracket(policy, "classic", (2, 1), reach=0).nash_conv == pytest.approx((exact.nash_conv,) * 2, abs=1e-9)


def test_bids_above_the_dice_in_play_are_walked_as_any_other() -> None:
    """A policy that does not doubt them can be exploited by them: an interval, where an exact answer has too large a tree."""
    v = parse_variant("evening:num_faces=2,starting_dice=1")
    exact = nash_conv(HandPolicy(), v, (1, 1))
    assert bracket(HandPolicy(), v, (1, 1), reach=0).nash_conv == pytest.approx((exact.nash_conv,) * 2, abs=1e-9)
    assert exact.nash_conv != pytest.approx(
        nash_conv(HandPolicy(), pe.variant(v, max_bid="starting_dice"), (1, 1)).nash_conv, abs=1e-3
    )
    low, high = bracket(agents.make("inference", "evening", 2), "evening", (1, 1), reach=1e-3).nash_conv
    assert 0 < high - low < 0.01


def test_what_cannot_be_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ValueError, match="more than 1,000 information states"):
        bracket(pe.UniformPolicy(), "classic", (2, 1), reach=0, max_states=1000)
    with pytest.raises(ValueError, match=r"reach = 1\.5"):
        bracket(pe.UniformPolicy(), "classic", (1, 1), reach=1.5)
    with pytest.raises(ValueError, match=r"sum to 0\.9, not 1 at the information state 'seat="):
        bracket(Broken("sum"), "classic", (1, 1), reach=0)
    assert command(["exploitability", "--agent", "odds", "--dice", "1", "1", "--reach", "0.01"]) == 0
    assert "certified intervals" in capsys.readouterr().out
    assert command(["exploitability", "--agent", "odds", "--dice", "1", "2", "--reach", "0.01", "--match"]) == 2
    assert "--match" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "v"),
    [("inference", "classic:num_faces=2,starting_dice=2"), ("odds", "evening:num_faces=2,starting_dice=2")],
)
def test_the_interval_of_a_game_holds_the_exact_number(name: str, v: str) -> None:
    policy = agents.make(name, v, 2)
    exact = match_exploitability(policy, v)
    assert match_bracket(policy, v, reach=0).nash_conv == pytest.approx((exact.nash_conv, exact.nash_conv), abs=1e-12)
    low, high = match_bracket(policy, v, reach=1e-2).nash_conv
    assert low < exact.nash_conv < high < low + 0.1


def test_a_game_with_calza_has_no_interval() -> None:
    with pytest.raises(ValueError, match="use calza=off"):
        match_bracket(agents.make("odds", "pascal", 2), "pascal", 2)
