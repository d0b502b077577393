"""The verdict over the workers' reports: what was counted, what counts as synchronous, what is valid."""

from __future__ import annotations

from typing import Any

import pytest

from hvdbench.config import RunConfig
from hvdbench.loop import Reading, Timing
from hvdbench.outcome import judge, make_record, per_step, synchrony

SYNC = RunConfig(strategy="ps_sync", workers=2, ps=1, steps=5, batch_size=4)
BACKUP = RunConfig(strategy="ps_sync", workers=3, ps=1, steps=5, batch_size=4, replicas_to_aggregate=2)
ASYNC = RunConfig(strategy="ps_async", workers=2, ps=1, steps=5, batch_size=4)


def report(steps: int = 5, loss: float = 1.0, counts: list[list[int]] | None = None) -> dict[str, Any]:
    return {
        "task": {"role": "worker", "host": "one", "device": "CPU"},
        "step_s": [0.1] * steps,
        "loss": [1.0] * (steps - 1) + [loss],
        "marks": None,
        "contributions": counts,
        "staleness": None,
        "entered": [],
        "left": [],
    }


def timing(counted: list[int]) -> Timing:
    return Timing([0.1] * 5, [], 2.0, counted)


@pytest.mark.parametrize("contributions, valid", [([5, 5], True), ([10, 0], False), ([6, 4], False), ([5], False)])
def test_unequal_contributions_are_no_synchronous_run(contributions: list[int], valid: bool) -> None:
    assert (judge(SYNC, contributions, [report()] * 2) == "valid") is valid


def test_equal_totals_do_not_hide_a_step_in_which_one_worker_did_both() -> None:
    # C15: 5 and 5 in the end, but steps 1 and 2 held two gradients of one worker.
    uneven = [[1, 1], [2, 0], [0, 2], [1, 1], [1, 1]]
    found = judge(SYNC, [5, 5], [report(), report(counts=uneven)])
    assert "worker 1 saw contributions [2, 0] in step 1" in found


@pytest.mark.parametrize("loss", [float("nan"), float("inf"), float("-inf")])
@pytest.mark.parametrize("config", [SYNC, ASYNC])
def test_a_loss_that_is_no_number_invalidates_and_names_step_and_worker(config: RunConfig, loss: float) -> None:
    found = judge(config, [5, 5], [report(), report(loss=loss)])
    assert "worker 1" in found and "step 4" in found


def test_what_was_not_asked_to_be_synchronous_is_labelled_and_valid() -> None:
    defaults = RunConfig(strategy="ps_sync", workers=2, ps=1, steps=5, tokens="default")
    assert judge(defaults, [9, 1], [report()] * 2) == "valid"
    assert synchrony(defaults, [9, 1], [report()] * 2).startswith("not bulk-synchronous: contributions are [9, 1]")
    assert synchrony(defaults, [5, 5], [report()] * 2) == "bulk-synchronous"
    assert synchrony(ASYNC, [5, 5], [report()] * 2) == "asynchronous"


def test_dropped_gradients_are_processed_but_not_applied() -> None:
    # C27: 3 workers took 5 steps of 4 images, 5 updates of 2 gradients: 60 processed, 40 applied, 20 images/s.
    record = make_record(BACKUP, {"forward": []}, timing([5, 4, 1]), [report()] * 3, [], [], None, None)
    assert (record.processed_images, record.applied_images, record.images_per_s) == (60, 40, 20.0)
    assert record.dropped == [0, 1, 4]
    assert record.validity == "valid" and record.synchrony.startswith("not bulk-synchronous")


def test_asynchronous_images_come_from_the_shared_count() -> None:
    record = make_record(ASYNC, {"forward": []}, timing([7, 3]), [report(7), report(3)], [], [], None, None)
    assert record.applied_images == record.processed_images == 40


def test_running_counts_become_contributions_per_step() -> None:
    readings = [Reading(1.0, contributions=each) for each in ((3, 3), (4, 4), (5, 6))]
    assert per_step(Timing([], readings, 1.0, [3, 4], before=[2, 2])) == [[1, 1], [1, 1], [1, 2]]
    assert per_step(Timing([], [Reading(1.0)], 1.0, None)) is None
