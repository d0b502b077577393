"""Statistics over launches; steps inside a launch are not independent and never counted as samples."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb
from statistics import median
from typing import Any

from hvdbench.units import Interval, Ratio

CONFIDENCE = 0.95
ALPHA = 0.05
FEWEST_LAUNCHES = 3
RESAMPLES = 9999
SEED = 0


def median_interval(values: Sequence[float]) -> Interval | None:
    """Percentile bootstrap interval of the median in the unit of `values`, or None below three launches.

    Formula: Efron and Tibshirani, An Introduction to the Bootstrap, 1993, section 13.3. It never reaches
    beyond the smallest and the largest launch, so with very few launches it covers less than 95 %.
    """
    if len(values) < FEWEST_LAUNCHES:
        return None
    return _percentiles(_resampled_medians(values, _indices(len(values), SEED)))


def ratio_interval(values: Sequence[float], baseline: Sequence[float], paired: bool = False) -> Interval | None:
    """Percentile bootstrap interval of the ratio of medians, or None below three launches a side.

    `paired` resamples launch i of both sides together (interleaved rounds); raises ValueError when the
    counts then differ. Formula: as median_interval.
    """
    if paired and len(values) != len(baseline):
        raise ValueError(f"{len(values)} and {len(baseline)} launches cannot be paired")
    if min(len(values), len(baseline)) < FEWEST_LAUNCHES:
        return None
    chosen = _indices(len(values), SEED)
    base_chosen = chosen if paired else _indices(len(baseline), SEED + 1)
    return _percentiles(_resampled_medians(values, chosen) / _resampled_medians(baseline, base_chosen))


def ratio_of_medians(values: Sequence[float], baseline: Sequence[float]) -> Ratio:
    """Median of `values` over median of `baseline`; raises ZeroDivisionError when the latter is 0."""
    return median(values) / median(baseline)


def _indices(count: int, seed: int) -> Any:
    import numpy

    return numpy.random.default_rng(seed).integers(0, count, size=(RESAMPLES, count))


def _resampled_medians(values: Sequence[float], chosen: Any) -> Any:
    import numpy

    return numpy.median(numpy.asarray(values, dtype=float)[chosen], axis=1)


def _percentiles(estimates: Any) -> Interval:
    import numpy

    tail = 100 * (1 - CONFIDENCE) / 2
    low, high = numpy.percentile(estimates, [tail, 100 - tail])
    return float(low), float(high)


def span_coverage(launches: int) -> float:
    """How often the span from the smallest to the largest launch holds the true median.

    Formula: 1 - 2 * 0.5**n, the sign-test interval of the median; no bootstrap of it covers more.
    """
    return 1 - 2 * 0.5**launches


def smallest_p(first: int, second: int) -> float:
    """The smallest two-sided p that an exact rank test can reach with these counts.

    Formula: 2 / C(first + second, first), the guard of asv's statistics module.
    """
    return min(1.0, 2.0 / comb(first + second, first))


def launches_missing(first: int, second: int) -> int:
    """How many more launches on each side bring the smallest reachable p below 0.05."""
    more = 0
    while smallest_p(first + more, second + more) >= ALPHA:
        more += 1
    return more


def difference_p(values: Sequence[float], baseline: Sequence[float]) -> float | None:
    """Two-sided Mann-Whitney p-value, or None when these counts could never get below 0.05.

    Exact up to 8 launches a side without ties, normal approximation beyond (scipy's method "auto").
    Formula: Mann and Whitney, Annals of Mathematical Statistics 18, 1947.
    """
    if smallest_p(len(values), len(baseline)) >= ALPHA:
        return None
    if len({*values, *baseline}) == 1:
        return 1.0
    from scipy.stats import mannwhitneyu

    return float(mannwhitneyu(values, baseline, alternative="two-sided", method="auto").pvalue)
