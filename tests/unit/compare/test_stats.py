"""Formulas against values worked out by hand and against scipy's own bootstrap."""

from __future__ import annotations

from itertools import product
from statistics import median

import numpy
import pytest
from scipy.stats import bootstrap

from hvdbench.compare import stats

FAST = [20.0, 23.0, 22.0, 25.0, 21.0, 24.0, 26.0]
SLOW = [10.0, 12.0, 11.0, 14.0, 13.0, 9.0, 15.0]


def test_interval_of_three_equals_all_27_resamples_enumerated() -> None:
    every = [median(sample) for sample in product((1.0, 2.0, 4.0), repeat=3)]
    # 7 of 27 resamples have median 1 and 7 have median 4: both far above the 2.5 % tails.
    assert (every.count(1.0), every.count(4.0)) == (7, 7)
    assert stats.median_interval([4.0, 1.0, 2.0]) == (1.0, 4.0)


def test_intervals_agree_with_scipy() -> None:
    def ratio(a: numpy.ndarray, b: numpy.ndarray, axis: int = -1) -> numpy.ndarray:
        return numpy.median(a, axis=axis) / numpy.median(b, axis=axis)

    for paired in (False, True):
        theirs = bootstrap(
            (FAST, SLOW), ratio, method="percentile", paired=paired, vectorized=True, n_resamples=20000, rng=1
        ).confidence_interval
        ours = stats.ratio_interval(FAST, SLOW, paired)
        assert ours == pytest.approx((theirs.low, theirs.high), rel=0.02)
    found = bootstrap((FAST,), numpy.median, method="percentile", n_resamples=20000, rng=1)
    theirs = found.confidence_interval
    assert stats.median_interval(FAST) == pytest.approx((theirs.low, theirs.high), rel=0.02)


def test_same_input_gives_the_same_interval() -> None:
    assert stats.ratio_interval(FAST, SLOW) == stats.ratio_interval(FAST, SLOW)


def test_pairing_cancels_what_moves_both_sides() -> None:
    base = [10.0, 12.0, 20.0, 15.0]
    assert stats.ratio_interval([2 * rate for rate in base], base, paired=True) == (2.0, 2.0)
    loose = stats.ratio_interval([2 * rate for rate in base], base)
    assert loose is not None and loose[0] < 2.0 < loose[1]
    with pytest.raises(ValueError, match="4 and 3"):
        stats.ratio_interval(base, base[:3], paired=True)


def test_below_three_launches_there_is_no_interval() -> None:
    assert stats.median_interval([1.0, 2.0]) is None
    assert stats.ratio_interval([1.0, 2.0, 3.0], [1.0, 2.0]) is None


@pytest.mark.parametrize(
    "counts, smallest, missing",
    [((1, 1), 1.0, 3), ((3, 3), 0.1, 1), ((4, 4), 2 / 70, 0), ((3, 4), 2 / 35, 1), ((3, 5), 2 / 56, 0)],
)
def test_smallest_p_and_the_launches_missing(counts: tuple[int, int], smallest: float, missing: int) -> None:
    assert stats.smallest_p(*counts) == pytest.approx(smallest)
    assert stats.launches_missing(*counts) == missing


def test_no_test_where_none_could_be_significant() -> None:
    assert stats.difference_p([1.0, 2.0, 3.0], [4.0, 5.0, 6.0]) is None


def test_separated_sides_reach_the_smallest_p() -> None:
    assert stats.difference_p([1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]) == pytest.approx(2 / 70)
    assert stats.difference_p([5.0] * 4, [5.0] * 4) == 1.0


@pytest.mark.parametrize("launches, share", [(3, 0.75), (5, 0.9375), (6, 0.96875)])
def test_span_coverage(launches: int, share: float) -> None:
    assert stats.span_coverage(launches) == share
