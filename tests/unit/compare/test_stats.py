"""Formulas against values worked out by hand and against scipy's own bootstrap."""

from __future__ import annotations

from itertools import product
from math import exp, log, pi
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

    theirs = bootstrap(
        (FAST, SLOW), ratio, method="percentile", vectorized=True, n_resamples=20000, rng=1
    ).confidence_interval
    assert stats.ratio_interval(FAST, SLOW) == pytest.approx((theirs.low, theirs.high), rel=0.02)
    each_round = [a / b for a, b in zip(FAST, SLOW, strict=True)]
    theirs = bootstrap((each_round,), numpy.median, method="percentile", n_resamples=20000, rng=1).confidence_interval
    assert stats.ratio_interval(FAST, SLOW, paired=True) == pytest.approx((theirs.low, theirs.high), rel=0.02)
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


def test_the_paired_ratio_is_the_median_over_rounds_and_not_the_ratio_of_medians() -> None:
    # Rounds: 30/10, 20/20 and 11/10; medians: 20/10.
    assert stats.ratio([30.0, 20.0, 11.0], [10.0, 20.0, 10.0], paired=True) == pytest.approx(1.1)
    assert stats.ratio([30.0, 20.0, 11.0], [10.0, 20.0, 10.0]) == 2.0


def test_no_test_where_none_could_be_significant() -> None:
    assert stats.rank_test([1.0, 2.0, 3.0], [4.0, 5.0, 6.0]) is None


def test_separated_sides_reach_the_smallest_p_and_the_largest_effect() -> None:
    assert stats.rank_test([1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]) == stats.RankTest(pytest.approx(2 / 70), -1.0)
    assert stats.rank_test([5.0, 6.0, 7.0, 8.0], [1.0, 2.0, 3.0, 4.0]) == stats.RankTest(pytest.approx(2 / 70), 1.0)
    assert stats.rank_test([5.0] * 4, [5.0] * 4) == stats.RankTest(1.0, 0.0)


def test_effect_is_the_share_of_pairs_above_less_the_share_below() -> None:
    values, baseline = [10.0, 12.0, 12.0, 15.0, 9.0], [11.0, 12.0, 8.0, 10.0]
    signs = [(a > b) - (a < b) for a, b in product(values, baseline)]
    found = stats.rank_test(values, baseline)
    assert found is not None and found.delta == pytest.approx(sum(signs) / 20)


def test_launches_needed_by_hand() -> None:
    # ln(a / b) of the rounds is 0.1 -+ 0.1: variance 0.01, median 0.1, so that n = (pi / 2) 1.96**2 = 6.03.
    base = [10.0, 20.0, 40.0]
    values = [rate * exp(power) for rate, power in zip(base, (0.0, 0.1, 0.2), strict=True)]
    assert stats.launches_needed(values, base, paired=True) == pytest.approx(pi / 2 * 1.96**2, rel=1e-3)
    assert stats.launches_to_settle(values, base, paired=True) == 4
    # Unpaired, both sides' variances of ln count: each is that of (0, ln 2, ln 4) but for the small steps of 0.1.
    sides = log(2) ** 2 + (log(2) + 0.1) ** 2
    assert stats.launches_needed(values, base) == pytest.approx(pi / 2 * 1.96**2 * sides / 0.1**2, rel=1e-3)
    assert stats.launches_to_settle(values, base) is None


def test_the_needed_launches_do_bring_the_interval_off_one() -> None:
    rng = numpy.random.default_rng(7)
    effect, sigma = 0.05, 0.1
    needed = round(pi / 2 * (1.96 * sigma / effect) ** 2)
    off = [
        not low <= 1 <= high
        for low, high in (
            stats.ratio_interval(numpy.exp(rng.normal(effect, sigma, needed)).tolist(), [1.0] * needed, paired=True)
            or (0.0, 2.0)
            for _ in range(60)
        )
    ]
    # Where the expected half-width equals the effect, about every second experiment settles the question.
    assert 0.3 < sum(off) / len(off) < 0.7


def test_never_fewer_than_the_rank_test_needs_and_never_none_at_equal_rates() -> None:
    assert stats.launches_to_settle([2.0], [1.0]) == 3
    assert stats.launches_to_settle([2.0, 2.0], [1.0, 1.0], paired=True) == 2
    assert stats.launches_to_settle([2.0] * 3, [1.0] * 3, paired=True) == 1
    assert stats.launches_to_settle([1.0] * 9, [1.0] * 9, paired=True) is None


@pytest.mark.parametrize("launches, share", [(3, 0.75), (5, 0.9375), (6, 0.96875)])
def test_span_coverage(launches: int, share: float) -> None:
    assert stats.span_coverage(launches) == share
