"""Statistics over launches; steps inside a launch are not independent and never counted as samples."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb
from statistics import median

CONFIDENCE = 0.95
FEWEST_LAUNCHES = 3
RESAMPLES = 4000


def median_interval(values: Sequence[float]) -> tuple[float, float] | None:
    """Percentile bootstrap interval of the median, or None below three launches."""
    if len(values) < FEWEST_LAUNCHES:
        return None
    return _bootstrap((values,), lambda sample: median(sample))


def ratio_interval(values: Sequence[float], baseline: Sequence[float]) -> tuple[float, float] | None:
    """Percentile bootstrap interval of median(values) / median(baseline), or None below three launches a side."""
    if min(len(values), len(baseline)) < FEWEST_LAUNCHES:
        return None
    return _bootstrap((values, baseline), lambda a, b: median(a) / median(b))


def _bootstrap(samples: tuple[Sequence[float], ...], statistic: object) -> tuple[float, float]:
    from scipy.stats import bootstrap

    if all(min(sample) == max(sample) for sample in samples):
        value = statistic(*samples)  # type: ignore[operator]
        return value, value
    found = bootstrap(
        samples,
        statistic,
        vectorized=False,
        n_resamples=RESAMPLES,
        confidence_level=CONFIDENCE,
        method="percentile",
        rng=0,
    )
    return float(found.confidence_interval.low), float(found.confidence_interval.high)


def smallest_p(first: int, second: int) -> float:
    """The smallest two-sided p-value that an exact rank test can reach: 2 / C(first + second, first)."""
    return min(1.0, 2.0 / comb(first + second, first))


def difference_p(values: Sequence[float], baseline: Sequence[float]) -> float | None:
    """Exact two-sided Mann-Whitney p-value, or None when these sample sizes could never reach 0.05."""
    if smallest_p(len(values), len(baseline)) > 1 - CONFIDENCE:
        return None
    from scipy.stats import mannwhitneyu

    return float(mannwhitneyu(values, baseline, alternative="two-sided", method="auto").pvalue)
