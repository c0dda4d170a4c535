"""Intervals: known values, and how often they hold the truth."""

import math

import numpy as np
import pytest

from train.evaluate.statistics import (
    Estimate,
    mean_estimate,
    normal_quantile,
    ratio_estimate,
    share_estimate,
    wilson,
)


def test_quantiles_and_wilson_equal_printed_values():
    assert normal_quantile(0.95) == pytest.approx(1.959964, abs=1e-6)
    assert normal_quantile(0.99) == pytest.approx(2.575829, abs=1e-6)
    # R: binom::binom.confint(8, 10, methods = "wilson")
    assert wilson(8, 10) == pytest.approx((0.8, 0.4901625, 0.9433178), abs=1e-6)
    assert wilson(0, 10) == pytest.approx((0.0, 0.0, 0.2775328), abs=1e-6)


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


def test_a_share_of_all_or_none_is_not_certain():
    none, every = share_estimate(np.zeros(50), np.ones(50)), share_estimate(np.ones(50), np.ones(50))
    assert none == wilson(0, 50)
    assert every == wilson(50, 50)
    assert 0.05 < none.high < 0.1
    assert share_estimate([0, 1, 1, 1, 1], np.ones(5)).high == 1.0
    for trials in range(1, 300):
        assert wilson(0, trials).low == 0.0
        assert wilson(trials, trials).high == 1.0


def test_edges():
    assert math.isnan(ratio_estimate([0.0], [0.0]).value)
    assert math.isnan(share_estimate([0.0], [0.0]).value)
    assert ratio_estimate([1.0], [2.0]) == Estimate(0.5, float("-inf"), float("inf"))
    with pytest.raises(ValueError, match="confidence = 1"):
        normal_quantile(1)
    with pytest.raises(ValueError, match="3 successes in 2 trials"):
        wilson(3, 2)
    with pytest.raises(ValueError, match="one number each per cluster"):
        ratio_estimate([1, 2], [1])
