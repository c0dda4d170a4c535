"""Intervals: known values, and how often they hold the truth."""

import math

import numpy as np
import pytest

from train.core.rollout import Played, rotations
from train.evaluate.statistics import (
    Estimate,
    mean_estimate,
    mean_of,
    normal_quantile,
    ratio_estimate,
    share_estimate,
)
from train.evaluate.tournament.overall import PlayedCell
from train.evaluate.tournament.ratings import rate
from train.evaluate.tournament.results import Cell, Work
from train.evaluate.tournament.standings import summarise


def test_quantiles_equal_printed_values():
    assert normal_quantile(0.95) == pytest.approx(1.959964, abs=1e-6)
    assert normal_quantile(0.99) == pytest.approx(2.575829, abs=1e-6)


def test_the_mean_of_samples_has_the_textbook_interval():
    x = np.array([1.0, 2.0, 4.0, 9.0])
    reach = normal_quantile(0.95) * x.std(ddof=1) / 2
    assert mean_estimate(x) == pytest.approx((4.0, 4.0 - reach, 4.0 + reach))


def test_repeating_a_cluster_inside_itself_adds_no_certainty():
    wins, seats = np.array([1.0, 0, 2, 1, 0, 1]), np.array([2.0, 2, 2, 1, 1, 2])
    assert ratio_estimate(10 * wins, 10 * seats) == pytest.approx(ratio_estimate(wins, seats))


def test_intervals_hold_the_truth_as_often_as_they_say():
    """Clusters of four equal games: taken as one sample they cover; taken as four they would not."""
    rng = np.random.default_rng(4)
    covered = naive = 0
    for _ in range(400):
        wins = 4.0 * (rng.random(100) < 0.25)
        covered += not share_estimate(wins, np.full(100, 4.0)).excludes(0.25)
        naive += not mean_estimate(np.repeat(wins / 4, 4)).excludes(0.25)
    assert 0.91 < covered / 400 < 0.98
    assert naive / 400 < 0.8


def test_samples_that_agree_are_not_certain():
    """The rule of three: of 50, one in 16 may be unlike the others, and the interval holds the exact one of a share."""
    none, every = share_estimate(np.zeros(50), np.ones(50)), share_estimate(np.ones(50), np.ones(50))
    assert none == pytest.approx((0, 0, 1 - 0.05 ** (1 / 49)))
    assert every == pytest.approx((1, 0.05 ** (1 / 49), 1))
    assert none.high > 1 - 0.05 ** (1 / 50)  # Clopper and Pearson, one-sided
    half = share_estimate(np.full(50, 2.0), np.full(50, 4.0))
    assert half == pytest.approx((0.5, 0.5 * 0.05 ** (1 / 49), 1 - 0.5 * 0.05 ** (1 / 49)))
    # what is unlike may weigh as much as the heaviest seen
    assert share_estimate([0, 0, 0], [1, 1, 4]).high > share_estimate([0, 0, 0], [2, 2, 2]).high
    assert share_estimate([0, 1, 1, 1, 1], np.ones(5)).high == 1.0


def played(num_deals: int, seats: int, wins: bool) -> Played:
    """Deals whose places go by the agents' numbers, or else by the seats, so that its rotations share all places."""
    lineups = rotations(np.tile(np.arange(seats), (num_deals, 1)))
    places = lineups + 1 if wins else np.tile(np.arange(seats) + 1, (len(lineups), 1))
    return Played(lineups, places.astype(np.int8), np.zeros(lineups.shape), np.zeros(len(lineups), np.int32), 0)


def estimates(n: int) -> list[tuple[Estimate, float, float]]:
    """What every estimator says of ``n`` samples that agree, and the bounds of what it measures."""
    shares = [share_estimate(np.full(n, x), np.full(n, 3.0)) for x in (0.0, 1.0, 1.5, 3.0)]
    found = [(s, 0.0, 1.0) for s in (*shares, mean_of(shares))]
    found += [(mean_estimate(np.full(n, x), bounds=(-2, 2)), -2.0, 2.0) for x in (-2, 0.1, 2)]
    for seats, wins in ((2, True), (2, False), (4, True), (4, False)):
        games = played(n, seats, wins)
        result = summarise([str(i) for i in range(seats)], games)
        judged = PlayedCell(Cell("classic", seats, result.agents, 0), games, Work(1, 0, 0))
        for agent, standing in zip(result.agents, result.standings, strict=True):
            found += [(standing.win_share, 0.0, 1.0), (standing.mean_place, 1.0, seats)]
            found += [(judged.relative(agent), 0.0, seats)]
        found += [(pair, 0.0, 1.0) for pair in result.pairs.values()]
        found += [(points, -np.inf, np.inf) for points in rate(result.agents, [games], resamples=50).points[1:]]
    return found


def test_every_estimator_says_what_samples_without_variance_leave_open():
    """Of positive width at every size, inside what can be, and closer with more samples."""
    few, more, many = (estimates(n) for n in (6, 20, 200))
    for at, least, most in (*few, *more, *many):
        assert least <= at.low <= at.value <= at.high <= most
        assert at.low < at.high
    for narrow, wide in ((more, few), (many, more)):
        for (b, *_), (a, *_) in zip(narrow, wide, strict=True):
            assert a.low <= b.low <= b.high <= a.high
            assert a.low < b.low or b.high < a.high
    # without bounds nothing is known, and from a single sample no more than the bounds
    assert mean_estimate(np.full(9, 0.3)) == (pytest.approx(0.3), -np.inf, np.inf)
    assert mean_estimate([0.5], bounds=(0, 1)) == (0.5, 0, 1)


def test_edges():
    assert math.isnan(ratio_estimate([0.0], [0.0]).value)
    assert math.isnan(share_estimate([0.0], [0.0]).value)
    assert ratio_estimate([1.0], [2.0]) == Estimate(0.5, float("-inf"), float("inf"))
    with pytest.raises(ValueError, match="confidence = 1"):
        normal_quantile(1)
    with pytest.raises(ValueError, match="one number each per cluster"):
        ratio_estimate([1, 2], [1])
