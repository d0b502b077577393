"""The same arm under two names: how often this cluster, today, shows a difference where there is none."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log
from statistics import median, quantiles

from hvdbench.compare.stats import FEWEST_LAUNCHES, SEED, ratio_interval
from hvdbench.diagnose.evidence import Sample
from hvdbench.units import Ratio

SPLITS = 400
LEAST: Ratio = 0.05


@dataclass(frozen=True)
class FalseAlarms:
    """`observed` is the ratio of the two names' medians; `rate` how often a random split of their launches into
    two halves differs by more than 5 % with an interval that leaves 1 out; 95 % of splits differ by less than
    `threshold`."""

    observed: Ratio
    rate: Ratio
    threshold: Ratio


def measure(first: Sequence[Sample], second: Sequence[Sample]) -> FalseAlarms | None:
    """False alarms of a comparison of two equal arms; None below three launches of each."""
    size = min(len(first), len(second))
    if size < FEWEST_LAUNCHES:
        return None
    steps = [each.step_s for each in (*first[:size], *second[:size])]
    chance = random.Random(SEED)
    distances, alarms = [], 0
    for _ in range(SPLITS):
        chance.shuffle(steps)
        one, other = steps[:size], steps[size:]
        distance = abs(log(median(one) / median(other)))
        distances.append(distance)
        alarms += distance > log(1 + LEAST) and _apart(one, other)
    observed = median(each.step_s for each in first) / median(each.step_s for each in second)
    return FalseAlarms(observed, alarms / SPLITS, exp(quantiles(distances, n=20)[-1]) - 1)


def _apart(one: Sequence[float], other: Sequence[float]) -> bool:
    interval = ratio_interval(one, other)
    return interval is not None and not interval[0] <= 1 <= interval[1]
