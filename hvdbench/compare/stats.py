"""Statistics over launches; steps inside a launch are not independent and never counted as samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, comb, inf, log, pi
from statistics import NormalDist, median, variance
from typing import Any

from hvdbench.units import Interval, Ratio

CONFIDENCE = 0.95
ALPHA = 0.05
FEWEST_LAUNCHES = 3
MOST_LAUNCHES = 100
RESAMPLES = 9999
SEED = 0


@dataclass(frozen=True)
class RankTest:
    """Two-sided p of a rank test, and Cliff's delta: +1 when every value is above the baseline, -1 when below."""

    p: float
    delta: float


def median_interval(values: Sequence[float]) -> Interval | None:
    """Percentile bootstrap interval of the median in the unit of `values`, or None below three launches.

    Formula: Efron and Tibshirani, An Introduction to the Bootstrap, 1993, section 13.3. It never reaches
    beyond the smallest and the largest launch, so with very few launches it covers less than 95 %.
    """
    if len(values) < FEWEST_LAUNCHES:
        return None
    return _percentiles(_resampled_medians(values, _indices(len(values), SEED)))


def ratio(values: Sequence[float], baseline: Sequence[float], paired: bool = False) -> Ratio:
    """Median over rounds of each round's ratio when `paired`, else the ratio of the medians.

    Raises ValueError when the counts of pairs differ and ZeroDivisionError when the baseline is 0.
    """
    return median(_pair_ratios(values, baseline)) if paired else median(values) / median(baseline)


def ratio_interval(values: Sequence[float], baseline: Sequence[float], paired: bool = False) -> Interval | None:
    """Percentile bootstrap interval of ratio(), or None below three launches a side.

    `paired` resamples rounds, otherwise both sides are resampled on their own. Formula: as median_interval.
    """
    if paired:
        return median_interval(_pair_ratios(values, baseline))
    if min(len(values), len(baseline)) < FEWEST_LAUNCHES:
        return None
    resampled = _resampled_medians(values, _indices(len(values), SEED))
    return _percentiles(resampled / _resampled_medians(baseline, _indices(len(baseline), SEED + 1)))


def _pair_ratios(values: Sequence[float], baseline: Sequence[float]) -> list[Ratio]:
    if len(values) != len(baseline):
        raise ValueError(f"{len(values)} and {len(baseline)} launches cannot be paired")
    return [a / b for a, b in zip(values, baseline, strict=True)]


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


def rank_test(values: Sequence[float], baseline: Sequence[float]) -> RankTest | None:
    """Two-sided Mann-Whitney test, or None when these counts could never get below 0.05.

    Exact up to 8 launches a side without ties, normal approximation beyond (scipy's method "auto").
    Formulas: Mann and Whitney, Annals of Mathematical Statistics 18, 1947; Cliff, Psychological Bulletin
    114, 1993: delta = 2U / (n m) - 1.
    """
    if smallest_p(len(values), len(baseline)) >= ALPHA:
        return None
    if len({*values, *baseline}) == 1:
        return RankTest(1.0, 0.0)
    from scipy.stats import mannwhitneyu

    found = mannwhitneyu(values, baseline, alternative="two-sided", method="auto")
    return RankTest(float(found.pvalue), 2 * float(found.statistic) / (len(values) * len(baseline)) - 1)


def launches_needed(values: Sequence[float], baseline: Sequence[float], paired: bool = False) -> float:
    """Launches a side at which the interval of the ratio is expected to leave 1 out; infinite at a ratio of 1.

    Takes the observed ratio and spread as the true ones; needs two launches a side. The half-width of the
    interval of ln(ratio) falls as z s / sqrt(n). Formula: n = (pi / 2) (z s / ln ratio)**2, z = 1.96, s**2 the
    variance of ln(a / b) over rounds or the sum of both sides' variances of ln, and pi / 2 what the median of
    normal values needs more than their mean (Cramer, Mathematical Methods of Statistics, 1946, section 28.5).
    """
    effect = log(ratio(values, baseline, paired))
    if paired:
        spread = variance(map(log, _pair_ratios(values, baseline)))
    else:
        spread = variance(map(log, values)) + variance(map(log, baseline))
    z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
    return inf if effect == 0 else pi / 2 * z**2 * spread / effect**2


def launches_to_settle(values: Sequence[float], baseline: Sequence[float], paired: bool = False) -> int | None:
    """How many more launches a side would settle an open question: one at least, None above 100.

    Never fewer than the rank test needs; below three launches the spread says nothing and only that counts.
    """
    counts = len(values), len(baseline)
    least = max(1, launches_missing(*counts))
    if min(counts) < FEWEST_LAUNCHES:
        return least
    more = launches_needed(values, baseline, paired) - min(counts)
    return None if more > MOST_LAUNCHES else max(least, ceil(more))
