"""Efficiency never decides on its own (C06)."""

from __future__ import annotations

from hvdbench.compare.compare import compare
from hvdbench.compare.efficiency import efficiency, efficiency_warning, ranking
from tests.unit.compare.builders import record

# https://github.com/tensorflow/benchmarks/issues/397, machines to images/s.
VANILLA = {1: 112.0, 2: 207.0, 4: 343.0, 8: 597.0}
MKL = {1: 192.0, 2: 241.0, 4: 260.0, 8: 377.0}


def test_c06_images_per_s_rank_vanilla_above_mkl_at_4_and_8_machines() -> None:
    series = {"MKL": MKL, "vanilla": VANILLA}
    assert [ranking(series, machines) for machines in (2, 4, 8)] == [
        ["MKL", "vanilla"],
        ["vanilla", "MKL"],
        ["vanilla", "MKL"],
    ]


def test_c06_efficiencies_are_the_published_66_against_24_percent() -> None:
    # The case says 66 and 24 for 8 machines; 597 / 896 and 377 / 1536 are 66.6 and 24.5.
    assert [int(100 * efficiency(series, 8)) for series in (VANILLA, MKL)] == [66, 24]


def test_c06_efficiency_that_ranks_by_the_slow_baseline_is_warned_of() -> None:
    # With 2 machines: 207 / 224 = 92 % and 241 / 384 = 63 %.
    assert efficiency_warning({"vanilla": VANILLA, "MKL": MKL}) == (
        "efficiency ranks by how slow the one-worker baseline is: with 2 workers vanilla looks better (92 % against "
        "63 %) but MKL is faster (241.0 against 207.0 images/s); one worker makes 112.0 against 192.0. "
        "By images/s: 2 workers: MKL, vanilla; 4 workers: vanilla, MKL; 8 workers: vanilla, MKL"
    )


def test_one_baseline_or_one_ranking_needs_no_warning() -> None:
    assert efficiency_warning({"vanilla": VANILLA, "MKL": MKL | {1: 112.0}}) is None
    assert (
        efficiency_warning({"vanilla": VANILLA, "half": {count: rate / 2 for count, rate in VANILLA.items()}}) is None
    )
    assert efficiency_warning({"vanilla": VANILLA, "MKL": {2: 241.0}}) is None
    assert efficiency_warning({}) is None


def test_c06_in_a_comparison_only_several_one_worker_baselines_can_mislead() -> None:
    arms = [record("local", 112.0), record("horovod", 150.0), record("ps_sync", 100.0)]
    assert compare(arms).warnings == ()
    # The founding question's PS at 56 images/s: 100 / 112 looks better than 150 / 224.
    (warning,) = compare([*arms, record("ps_sync", 56.0, workers=1)]).warnings
    assert "with 2 workers ps_sync 1 PS looks better (89 % against 67 %) but horovod is faster" in warning
    assert "one worker makes 56.0 against 112.0" in warning
