"""Intervals for what is measured on samples: means, ratios of clustered sums, shares of yes and no."""

from __future__ import annotations

from statistics import NormalDist
from typing import NamedTuple

import numpy as np
import numpy.typing as npt


class Estimate(NamedTuple):
    """A measured value with its two-sided interval."""

    value: float
    low: float
    high: float

    def excludes(self, number: float) -> bool:
        """Whether the interval does not hold ``number``."""
        return not self.low <= number <= self.high

    def __str__(self) -> str:
        return f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}]"


def normal_quantile(confidence: float) -> float:
    """How many standard errors a two-sided interval reaches: 1.96 for 0.95; ``ValueError`` unless 0 < confidence < 1."""
    if not 0 < confidence < 1:
        raise ValueError(f"confidence = {confidence} is not between 0 and 1: use, for example, 0.95")
    return NormalDist().inv_cdf(0.5 + confidence / 2)


def ratio_estimate(numerators: npt.ArrayLike, denominators: npt.ArrayLike, confidence: float = 0.95) -> Estimate:
    """Sum of ``numerators`` over sum of ``denominators``, both ``(clusters,)``, with each cluster as ONE sample.

    The linearised (delta-method) variance of a ratio estimator with its m/(m - 1) correction: Cochran, Sampling
    Techniques, 3rd ed., section 6.3. NaN without any weight; an infinite interval from a single cluster.
    """
    y, x = np.asarray(numerators, float), np.asarray(denominators, float)
    if y.shape != x.shape or y.ndim != 1:
        raise ValueError(
            f"numerators of shape {y.shape} and denominators of shape {x.shape}: give one number each per cluster"
        )
    weight = x.sum()
    if weight <= 0:
        return Estimate(float("nan"), float("nan"), float("nan"))
    value = float(y.sum() / weight)
    clusters = int((x > 0).sum())
    if clusters < 2:
        return Estimate(value, float("-inf"), float("inf"))
    residuals = y - value * x
    error = float(np.sqrt((residuals**2).sum() * clusters / (clusters - 1)) / weight)
    reach = normal_quantile(confidence) * error
    return Estimate(value, value - reach, value + reach)


def mean_estimate(samples: npt.ArrayLike, confidence: float = 0.95) -> Estimate:
    """The mean of independent samples ``(n,)`` with its normal interval."""
    values = np.asarray(samples, float)
    return ratio_estimate(values, np.ones(values.shape), confidence)


def share_estimate(numerators: npt.ArrayLike, denominators: npt.ArrayLike, confidence: float = 0.95) -> Estimate:
    """:func:`ratio_estimate` for a share from 0 to 1: the interval stays inside.

    A share of exactly 0 or 1 shows no variance, yet is not certain: it gets Wilson's interval, a trial per cluster.
    """
    estimate = ratio_estimate(numerators, denominators, confidence)
    clusters = int((np.asarray(denominators) > 0).sum())
    if clusters and estimate.value in (0.0, 1.0):
        return wilson(round(estimate.value * clusters), clusters, confidence)
    return Estimate(estimate.value, max(0.0, estimate.low), min(1.0, estimate.high)) if clusters else estimate


def wilson(successes: int, trials: int, confidence: float = 0.95) -> Estimate:
    """A share of independent yes-or-no trials with Wilson's score interval (E. B. Wilson, JASA 22, 1927)."""
    if trials < 1 or not 0 <= successes <= trials:
        raise ValueError(
            f"{successes} successes in {trials} trials: use 0 <= successes <= trials and at least one trial"
        )
    z = normal_quantile(confidence)
    share = successes / trials
    scale = 1 + z * z / trials
    centre = (share + z * z / (2 * trials)) / scale
    reach = z * np.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials)) / scale
    # exactly 0 and 1 at the ends, where rounding may leave the interval just beside the share
    low = float(centre - reach) if successes else 0.0
    return Estimate(share, max(0.0, low), min(1.0, float(centre + reach)) if successes < trials else 1.0)
