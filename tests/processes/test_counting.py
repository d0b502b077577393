"""Images, contributions and waiting are counted, in step or out of it."""

from __future__ import annotations

import sys
from pathlib import Path
from statistics import median

import pytest

from tests.conftest import SYNCHRONOUS, TINY, only_record, program, started

PYTHON = sys.executable
DELAY_S = 0.2


def ps_run(results: Path, *words: str, workers: int = 2) -> dict:
    argv = [PYTHON, "-m", "hvdbench.ps", "--ps", "1", "--workers", str(workers), *TINY, *words]
    run = program([*argv, "--results-dir", str(results)])
    assert run.returncode == 0, run.stderr
    return only_record(results) | {"stdout": run.stdout}


@pytest.mark.parametrize("strategy", SYNCHRONOUS)
def test_all_follow_a_delayed_worker_and_the_wait_is_not_exchange(strategy: str, results: Path) -> None:
    # C15: contributions stay equal in every step and images/s follows the slow one.
    run = program([*started(strategy, 2), *TINY, "--delay-worker", f"1:{DELAY_S}", "--results-dir", str(results)])
    assert run.returncode == 0, run.stderr
    record = only_record(results)
    assert record["validity"] == "valid" and record["synchrony"] == "bulk-synchronous"
    assert record["contributions"] == [10, 10] and record["contributions_per_step"] == [[1, 1]] * 10
    assert record["images_per_s"] <= 8 / DELAY_S
    assert median(record["wait_s"][0]) == pytest.approx(DELAY_S, rel=0.15)
    assert median(record["exchange_s"][0]) < 0.15 * DELAY_S
    assert median(record["compute_s"][1]) > DELAY_S
    assert median(record["wait_s"][1]) < 0.15 * DELAY_S
    for worker in (0, 1):
        for step, moments in enumerate(record["marks"]["steps"][worker]):
            parts = sum(record[name][worker][step] for name in ("input_s", "compute_s", "wait_s", "exchange_s"))
            # From the step's first mark to its last; the loop's own clock, read around them, can only show more.
            assert parts == pytest.approx(moments[-1] - moments[0], abs=1e-5)
            assert parts <= record["step_s"][worker][step] + 1e-3


def test_backup_workers_compute_more_than_is_applied(results: Path) -> None:
    # C27: 3 workers, 2 aggregated, the third much slower.
    record = ps_run(results, "--replicas-to-aggregate", "2", "--delay-worker", "2:0.2", workers=3)
    assert record["processed_images"] > record["applied_images"] == 2 * 10 * 4
    assert sum(record["contributions"]) == 20 and record["contributions"][2] < 10
    assert sum(record["dropped"]) > 0 and record["validity"] == "valid"
    assert f"{record['processed_images']} images processed and 80 applied" in record["stdout"]


def test_default_tokens_let_a_fast_worker_do_a_slow_ones_part_and_the_run_says_so(results: Path) -> None:
    # Without warm-up, as in the founding trap: who is there first takes every initial token.
    record = ps_run(results, "--tokens", "default", "--delay-worker", "1:0.3", "--warmup", "0", workers=3)
    assert record["synchrony"].startswith("not bulk-synchronous")
    assert record["contributions"][1] < 10 < max(record["contributions"])
    assert "not bulk-synchronous" in record["stdout"]


def test_asynchronous_updates_are_counted_at_the_ps_with_their_staleness(results: Path) -> None:
    record = ps_run(results, "--strategy", "ps_async", "--delay-worker", "1:0.1", "--steps", "20")
    assert record["validity"] == "valid" and record["synchrony"] == "asynchronous"
    # One update a gradient; each worker may be in the middle of one when the goal is reached.
    assert 40 <= sum(record["contributions"]) <= 42
    assert record["contributions"][0] > record["contributions"][1]
    assert record["applied_images"] == record["processed_images"] == 4 * sum(record["contributions"])
    assert [len(steps) for steps in record["staleness"]] == [len(steps) for steps in record["step_s"]]
    # The slow worker pulls after its delay, so its gradients are as old as the updates in one short step.
    assert min(map(min, record["staleness"])) >= 0 and max(record["staleness"][0] + record["staleness"][1]) < 20


@pytest.mark.parametrize("grpc", [False, True])
def test_fed_input_trains_the_same_and_its_price_is_recorded(grpc: bool, tmp_path: Path) -> None:
    records = {}
    for kind in ("synthetic", "feed"):
        start = ["hvdbench.ps", "--ps", "1", "--workers", "1"] if grpc else ["hvdbench"]
        results = tmp_path / kind
        run = program([PYTHON, "-m", *start, *TINY, "--input", kind, "--results-dir", str(results)])
        assert run.returncode == 0, run.stderr
        assert ("input feed" in run.stdout) is (kind == "feed")
        records[kind] = only_record(results)
    assert records["feed"]["graph"]["fingerprint"] == records["synthetic"]["graph"]["fingerprint"]
    assert records["feed"]["loss"][0] == pytest.approx(records["synthetic"]["loss"][0], rel=1e-5)
    assert len(records["feed"]["input_s"][0]) == 10 and median(records["feed"]["input_s"][0]) > 0
    compared = program([PYTHON, "-m", "hvdbench", "compare", str(tmp_path / "feed"), str(tmp_path / "synthetic")])
    assert compared.returncode == 2
    assert "input is feed" in compared.stderr or "input is synthetic" in compared.stderr
