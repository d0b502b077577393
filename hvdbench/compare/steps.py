"""What the steps within one launch give away: too short a warm-up, drift, outliers; each with what to do."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import copysign, sqrt
from statistics import NormalDist, median

from hvdbench.compare.comparability import source
from hvdbench.record.schema import Record
from hvdbench.units import Ratio, Second, p_text, share_text

FEWEST_STEPS = 8
SLOW: Ratio = 1.5
DRIFT: Ratio = 0.05
DRIFT_P = 0.01
OUTLIER_MADS = 5.0
# What makes the median absolute deviation of normal values their standard deviation.
MAD_TO_SIGMA = 1.4826


@dataclass(frozen=True)
class Finding:
    """What one worker's steps show and what to do; `size` tells the worst of several workers."""

    size: Ratio
    text: str


def warnings(record: Record) -> list[str]:
    """One line per kind of finding, for the worker that shows it most; workers with under 8 steps are not judged."""
    lines = []
    for check in (warm_up, drift, outliers):
        found = {worker: check(steps) for worker, steps in enumerate(record.step_s) if len(steps) >= FEWEST_STEPS}
        seen = {worker: finding for worker, finding in found.items() if finding is not None}
        if seen:
            worker = max(seen, key=lambda each: seen[each].size)
            among = f", the worst of {len(seen)}" if len(seen) > 1 else ""
            lines.append(f"{source(record)}, worker {worker}{among}: {seen[worker].text}")
    return lines


def warm_up(steps: Sequence[Second]) -> Finding | None:
    """Whether the first timed steps took over 1.5 times the median of the others."""
    slow = slow_start(steps)
    if not slow:
        return None
    size = max(steps[:slow]) / median(steps[slow:])
    first = "the first timed step" if slow == 1 else f"each of the first {slow} timed steps"
    return Finding(
        size, f"{first} took over {SLOW} times the others' median, up to {size:.1f} times; raise --warmup by {slow}"
    )


def slow_start(steps: Sequence[Second]) -> int:
    """How many steps at the beginning are over 1.5 times the median of all, at most half of them."""
    limit = SLOW * median(steps)
    return next((index for index, step in enumerate(steps) if step <= limit), 0)


def drift(steps: Sequence[Second]) -> Finding | None:
    """Whether the median step moves by over 5 % from the first to the last third, with Mann-Kendall p < 0.01.

    Slow steps at the beginning are warm_up's. Steps are not independent, which makes p too small: hence the
    limit on the size.
    """
    settled = steps[slow_start(steps) :]
    third = len(settled) // 3
    change = median(settled[-third:]) / median(settled[:third]) - 1
    if abs(change) <= DRIFT or (p := mann_kendall_p(settled)) >= DRIFT_P:
        return None
    seen = f"{share_text(abs(change))} from the first to the last third (Mann-Kendall p = {p_text(p)})"
    if change > 0:
        return Finding(change, f"steps slow down by {seen}; look for throttling or another load and run again")
    return Finding(-change, f"steps get faster by {seen}; raise --warmup, or look for a load that ended, and run again")


def mann_kendall_p(values: Sequence[float]) -> float:
    """Two-sided p of a monotonic trend by the normal approximation with ties.

    Formula: Kendall, Rank Correlation Methods, 1975: z = (|S| - 1) / sqrt((n(n-1)(2n+5) - sum t(t-1)(2t+5)) / 18),
    t the sizes of the groups of ties.
    """
    earlier: list[float] = []
    score = 0
    for value in values:
        score += bisect_left(earlier, value) - (len(earlier) - bisect_right(earlier, value))
        insort(earlier, value)
    spread = (_pairs(len(values)) - sum(map(_pairs, Counter(values).values()))) / 18
    if score == 0 or spread <= 0:
        return 1.0
    z = (score - copysign(1, score)) / sqrt(spread)
    return 2 * NormalDist().cdf(-abs(z))


def _pairs(count: int) -> int:
    return count * (count - 1) * (2 * count + 5)


def outliers(steps: Sequence[Second]) -> Finding | None:
    """Whether steps after the beginning exceed both 1.5 times the median and it by 5 deviations.

    Formula: median + 5 * 1.4826 * MAD (Hampel, Journal of the American Statistical Association 69, 1974).
    """
    start = slow_start(steps)
    settled = steps[start:]
    middle = median(settled)
    deviation = median(abs(step - middle) for step in settled)
    limit = max(SLOW * middle, middle + OUTLIER_MADS * MAD_TO_SIGMA * deviation)
    count = sum(step > limit for step in settled)
    if not count:
        return None
    worst = max(range(len(settled)), key=lambda index: settled[index])
    size = settled[worst] / middle
    return Finding(
        size,
        f"{count} of {len(steps)} steps took over {limit / middle:.1f} times the median, up to {size:.1f} times "
        f"(step {start + worst}); look for another load on host or network and run again",
    )
