"""What is said of each arm beside its numbers."""

from __future__ import annotations

from typing import Any

import pytest

from hvdbench.compare.compare import compare, render
from tests.unit.compare.builders import record


def notes_of(**changes: Any) -> list[str]:
    """What is said of one horovod arm by name."""
    return [note for note in compare([record("horovod", **changes)]).notes if note.startswith("horovod")]


def test_c27_dropped_images_are_counted_and_both_counts_shown() -> None:
    # Three workers, two aggregated, one three times slower: 10 updates hold 20 gradients of 4 images of 24 computed.
    launch = record(
        "ps_sync",
        8.0,
        workers=3,
        config={"replicas_to_aggregate": 2},
        processed_images=96,
        contributions=[10, 9, 1],
        dropped=[0, 1, 3],
        synchrony="not bulk-synchronous: contributions are [10, 9, 1] in 10 updates",
    )
    found = compare([launch])
    assert found.groups[0].processed_images > found.groups[0].applied_images == 80
    for form in ("table", "markdown", "csv", "json"):
        text = render(found, form)
        assert "ps_sync 1+3 2/3 aggregated: 16 of 96 processed images were dropped and changed no model" in text
    assert "80/96" in render(found, "table")


def test_nothing_is_said_of_images_that_all_count() -> None:
    assert not any("dropped" in note for note in compare([record("ps_sync")]).notes)


@pytest.mark.parametrize("synchrony", ["asynchronous", "not bulk-synchronous: contributions are [12, 8] in 10 updates"])
def test_an_arm_out_of_step_is_named(synchrony: str) -> None:
    assert notes_of(synchrony=synchrony) == [f"horovod x2 is {synchrony}"]


def test_some_launches_out_of_step_are_counted() -> None:
    found = compare([record("horovod"), record("horovod", synchrony="not bulk-synchronous")])
    assert "horovod x2 in 1 of 2 launches is not bulk-synchronous" in found.notes


def test_where_the_time_of_a_step_goes() -> None:
    phases = {"compute_s": [[0.25] * 3] * 2, "wait_s": [[0.01] * 3] * 2, "exchange_s": [[0.05] * 3] * 2}
    assert notes_of(step_s=[[0.31] * 3] * 2, **phases) == [
        "horovod x2: a step is 310 ms = 250 compute + 10 waiting + 50 exchange (medians over workers and steps)"
    ]
    fed = notes_of(step_s=[[0.33] * 3] * 2, input_s=[[0.02] * 3] * 2, **phases)
    assert fed == [
        "horovod x2: a step is 330 ms = 250 compute + 10 waiting + 50 exchange + 20 input "
        "(medians over workers and steps)"
    ]


def test_medians_that_do_not_add_up_are_not_called_a_sum() -> None:
    (line,) = notes_of(
        step_s=[[0.30] * 3, [0.30] * 3, [0.30] * 3],
        compute_s=[[0.10] * 3, [0.10] * 3, [0.30] * 3],
        wait_s=[[0.20] * 3, [0.20] * 3, [0.00] * 3],
        exchange_s=[[0.0] * 3] * 3,
        workers=3,
    )
    assert " = " in line
    (line,) = notes_of(
        step_s=[[0.2, 0.3, 0.4]] * 2,
        compute_s=[[0.1, 0.1, 0.3]] * 2,
        wait_s=[[0.1, 0.0, 0.1]] * 2,
        exchange_s=[[0.0, 0.2, 0.0]] * 2,
    )
    assert "a step is 300 ms: 100 compute, 100 waiting, 0 exchange (medians over workers and steps, which need" in line


def test_phases_that_cannot_be_told_apart_are_not_shown() -> None:
    assert notes_of(compute_s=[[0.1] * 10] * 2) == []
