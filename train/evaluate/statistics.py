"""Intervals for what is measured on samples: means, ratios of clustered sums, shares.

An interval says what is not known. Samples that all agree show no variance, and yet are not certain: their interval is
what the rule of three leaves open between the bounds of what is measured, and all of the line where it has no bounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, nan
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from train.core.measured import Estimate

Bounds = tuple[float, float]
ROUNDING = 1e-12  # samples that differ by less, against their size, agree


def normal_quantile(confidence: float) -> float:
    """How many standard errors a two-sided interval reaches: 1.96 for 0.95; ``ValueError`` unless 0 < confidence < 1."""
    if not 0 < confidence < 1:
        raise ValueError(f"confidence = {confidence} is not between 0 and 1: use, for example, 0.95")
    return NormalDist().inv_cdf(0.5 + confidence / 2)


def unseen(samples: int, confidence: float = 0.95) -> float:
    """How likely a sample unlike all others may be, where as many (2 or more) agree: about 3/n for 0.95.

    If it were likelier, the others would agree with the first with a chance below 1 - ``confidence``: the rule of three
    (Hanley and Lippman-Hand, "If nothing goes wrong, is everything all right?", JAMA 249, 1983).
    """
    return 1 - float((1 - confidence) ** (1 / (samples - 1)))


def ratio_estimate(
    numerators: npt.ArrayLike, denominators: npt.ArrayLike, confidence: float = 0.95, bounds: Bounds = (-inf, inf)
) -> Estimate:
    """Sum of ``numerators`` over sum of ``denominators``, both ``(clusters,)``, with each cluster as ONE sample.

    The linearised (delta-method) variance of a ratio estimator with its m/(m - 1) correction: Cochran, Sampling
    Techniques, 3rd ed., section 6.3. ``bounds`` hold every cluster's ratio, and so the interval: it is all between them
    from a single cluster, and what :func:`unseen` leaves open where all agree. NaN without any weight.
    """
    y, x = np.asarray(numerators, float), np.asarray(denominators, float)
    if y.shape != x.shape or y.ndim != 1:
        raise ValueError(
            f"numerators of shape {y.shape} and denominators of shape {x.shape}: give one number each per cluster"
        )
    reach, weight, clusters = normal_quantile(confidence), float(x.sum()), int((x > 0).sum())
    if weight <= 0:
        return Estimate(nan, nan, nan)
    value = float(y.sum() / weight)
    if clusters < 2:
        return Estimate(value, *bounds)
    residuals = y - value * x
    if (np.abs(residuals) <= ROUNDING * (np.abs(y) + x)).all():
        part = unseen(clusters, confidence)
        heavy = part * float(x.max())  # as heavy as the heaviest seen
        part = heavy / (heavy + (1 - part) * weight / clusters)
        low, high = (value + part * (end - value) for end in bounds)
    else:
        reach *= float(np.sqrt((residuals**2).sum() * clusters / (clusters - 1)) / weight)
        low, high = max(bounds[0], value - reach), min(bounds[1], value + reach)
    return Estimate(value, low, high)


def mean_estimate(samples: npt.ArrayLike, confidence: float = 0.95, bounds: Bounds = (-inf, inf)) -> Estimate:
    """:func:`ratio_estimate` for the mean of independent samples ``(n,)``, all of them between ``bounds``."""
    values = np.asarray(samples, float)
    return ratio_estimate(values, np.ones(values.shape), confidence, bounds)


def share_estimate(numerators: npt.ArrayLike, denominators: npt.ArrayLike, confidence: float = 0.95) -> Estimate:
    """:func:`ratio_estimate` for a share from 0 to 1."""
    return ratio_estimate(numerators, denominators, confidence, (0.0, 1.0))


def difference(one: Estimate, other: Estimate) -> Estimate:
    """One independent estimate less another: their errors add by their squares."""
    low = float(np.hypot(one.value - one.low, other.high - other.value))
    high = float(np.hypot(one.high - one.value, other.value - other.low))
    value = one.value - other.value
    return Estimate(value, value - low, value + high)


def mean_of(estimates: Sequence[Estimate]) -> Estimate:
    """The mean of independent estimates: their errors add by their squares, below and above apart."""
    value, low, high = np.array(estimates, float).T
    mean = float(value.mean())
    down, up = (float(np.sqrt(((value - end) ** 2).sum())) / len(value) for end in (low, high))
    return Estimate(mean, mean - down, mean + up)
