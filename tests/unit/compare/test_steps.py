"""Short warm-up, drift and outliers within one launch, and what is said to do about each."""

from __future__ import annotations

import random
from math import erfc, sqrt

import pytest
from scipy.stats import kendalltau

from hvdbench.compare import steps
from hvdbench.compare.compare import compare, render
from tests.unit.compare.builders import record

STEADY = [0.100, 0.101, 0.099, 0.100, 0.102, 0.098, 0.100, 0.101, 0.099, 0.100, 0.102, 0.098]


def test_steady_steps_are_not_warned_of() -> None:
    assert steps.warnings(record(step_s=[STEADY, STEADY[::-1]])) == []


def test_short_warm_up_names_launch_worker_and_how_much_to_add() -> None:
    launch = record(path="results/a.json", step_s=[STEADY, [0.4, 0.2, *STEADY]])
    # The others' median is 0.100, so that the first step is 4.0 times as long.
    assert steps.warnings(launch) == [
        "results/a.json, worker 1: each of the first 2 timed steps took over 1.5 times the others' median, "
        "up to 4.0 times; raise --warmup by 2"
    ]


def test_throttling_is_drift() -> None:
    slower = [0.100 + 0.002 * step for step in range(12)]
    # Medians of the first and last four: 0.103 and 0.119. All 66 pairs rise.
    p = erfc(65 / sqrt(12 * 11 * 29 / 18) / sqrt(2))
    (line,) = steps.warnings(record(step_s=[slower]))
    assert f"steps slow down by 16 % from the first to the last third (Mann-Kendall p = {p:.2g})" in line
    assert line.endswith("look for throttling or another load and run again")
    (line,) = steps.warnings(record(step_s=[slower[::-1]]))
    assert "steps get faster by 13 %" in line and "raise --warmup" in line


def test_small_or_trendless_changes_are_no_drift() -> None:
    assert steps.drift([0.100 + 0.0003 * step for step in range(12)]) is None
    assert steps.drift([0.10, 0.14, 0.10, 0.12, 0.11, 0.12, 0.10, 0.14, 0.11, 0.13, 0.10, 0.14]) is None


def test_outliers_are_counted_and_the_worst_is_placed() -> None:
    disturbed = [*STEADY, 0.3, *STEADY, 0.5]
    (line,) = steps.warnings(record(step_s=[disturbed]))
    assert "2 of 26 steps took over 1.5 times the median, up to 5.0 times (step 25)" in line
    assert "look for another load" in line


def test_steps_that_scatter_widely_have_no_outliers() -> None:
    # Median 0.2 and MAD 0.1: the limit is 0.2 + 5 * 1.4826 * 0.1 = 0.94.
    wide = [0.1, 0.3] * 8 + [0.2]
    assert steps.outliers([*wide, 0.9]) is None
    assert steps.outliers([*wide, 1.0]) is not None


def test_the_worst_worker_speaks_for_the_others() -> None:
    (line,) = steps.warnings(record(step_s=[[0.2, *STEADY], [0.3, *STEADY], STEADY]))
    assert ", worker 1, the worst of 2: the first timed step took over" in line


def test_under_eight_steps_nothing_is_judged_and_workers_may_differ_in_length() -> None:
    assert steps.warnings(record(step_s=[[0.9, *STEADY[:6]], STEADY[:9]])) == []
    assert len(steps.warnings(record(step_s=[[0.9, *STEADY[:7]], []]))) == 1


@pytest.mark.parametrize("seed", range(5))
def test_trend_p_agrees_with_scipys_kendall(seed: int) -> None:
    source = random.Random(seed)
    values = [round(source.gauss(0.1, 0.01) + 0.0001 * step, 3) for step in range(60)]
    theirs = kendalltau(range(60), values, method="asymptotic").pvalue
    # Theirs has no continuity correction: 1 of some 1700 pairs.
    assert steps.mann_kendall_p(values) == pytest.approx(theirs, abs=0.01)


def test_equal_steps_have_no_trend() -> None:
    assert steps.mann_kendall_p([0.1] * 10) == 1.0


def test_the_warning_is_in_every_format() -> None:
    found = compare([record(path="A", step_s=[[0.4, *STEADY]])])
    for form in ("table", "markdown", "csv", "json"):
        assert "raise --warmup by 1" in render(found, form)
    assert "warning: A, worker 0" in render(found, "table")
