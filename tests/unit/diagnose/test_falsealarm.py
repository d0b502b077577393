"""The same arm under two names: noise raises the threshold, quiet leaves it."""

from __future__ import annotations

import random
from math import exp

import pytest

from hvdbench.diagnose import rungs, verdict
from hvdbench.diagnose.evidence import Sample
from hvdbench.diagnose.falsealarm import measure
from tests.planted import PLANTS, samples


def arm(count: int, noise: float, seed: int) -> list[Sample]:
    """Launches of one arm around one second."""
    chance = random.Random(seed)
    return [Sample(exp(chance.gauss(0, noise))) for _ in range(count)]


def test_a_quiet_cluster_keeps_the_least_threshold_and_a_noisy_one_widens_it() -> None:
    quiet, noisy = (measure(arm(5, noise, 1), arm(5, noise, 2)) for noise in (0.005, 0.2))
    assert quiet is not None and noisy is not None
    assert quiet.threshold < 0.02 < 0.1 < noisy.threshold
    assert quiet.rate == 0.0 and 0.0 <= noisy.rate < 0.5


def test_equal_launches_never_alarm() -> None:
    found = measure([Sample(1.0)] * 3, [Sample(1.0)] * 3)
    assert found is not None and (found.observed, found.rate, found.threshold) == (1.0, 0.0, 0.0)


def test_below_three_launches_nothing_is_said() -> None:
    assert measure(arm(2, 0.1, 1), arm(5, 0.1, 2)) is None


def test_the_verdict_believes_no_difference_below_todays_threshold() -> None:
    found = samples(PLANTS["tokens and queue"], 1)
    found[rungs.ASKED_AGAIN] = [Sample(each.step_s * 3**turn) for turn, each in enumerate(found[rungs.ASKED])]
    said = verdict.judge(found, 2, 8)
    assert said.threshold > 0.5 and said.cause in (verdict.NOTHING, verdict.UNDECIDED)
    del found[rungs.ASKED_AGAIN]
    assert verdict.judge(found, 2, 8).threshold == pytest.approx(verdict.LEAST_THRESHOLD)
