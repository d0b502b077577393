"""The loop with a clock that the test moves."""

import pytest

from hvdbench.config import RunConfig
from hvdbench.errors import UsageError
from hvdbench.loop import Goal, Reading, run_loop
from hvdbench.record.schema import images_per_s
from hvdbench.run import thread_count


def test_only_timed_steps_lie_in_the_window() -> None:
    now, events = [0.0], []

    def step() -> Reading:
        now[0] += 2.0
        events.append("step")
        return Reading(1.0)

    def barrier() -> None:
        now[0] += 0.5
        events.append("barrier")

    timing = run_loop(step, barrier, lambda: None, Goal(2), Goal(3), lambda: now[0], lambda *_: None)
    assert events == ["barrier", "step", "step", "barrier", "barrier", "step", "step", "step", "barrier"]
    assert timing.window_s == 6.5 and timing.step_s == [2.0, 2.0, 2.0]


def test_contributions_are_counted_between_the_barriers() -> None:
    counts = iter([[3, 2], [8, 7]])
    timing = run_loop(
        lambda: Reading(1.0), lambda: None, lambda: next(counts), Goal(1), Goal(2), float, lambda *_: None
    )
    assert timing.counted == [5, 5] and timing.before == [3, 2]


def test_steps_end_at_a_common_count_of_updates() -> None:
    # C14: a worker that falls behind stops with the others, not after steps of its own.
    updates = iter([3, 5, 9, 12, 15, 18])
    timing = run_loop(
        lambda: Reading(1.0, updates=next(updates)), lambda: None, lambda: None, Goal(2, 4), Goal(9, 13), float,
        lambda *_: None,
    )  # fmt: skip
    assert [reading.updates for reading in timing.readings] == [9, 12, 15]


def test_the_total_is_images_over_the_common_window() -> None:
    # C07: 3 workers x 100 steps x 32 images, the slowest takes 20 s: 480, not 960 and not 800.
    assert images_per_s(3 * 100 * 32, 20.0) == 480


@pytest.mark.parametrize("cores, processes, threads", [(6, 3, 2), (2, 3, 1), (2, 1, 2), (8, 3, 2)])
def test_threads_are_cores_by_processes(cores: int, processes: int, threads: int) -> None:
    assert thread_count(cores, processes) == threads


@pytest.mark.parametrize("fields", [{"steps": 0}, {"batch_size": 0}, {"workers": 0}, {"strategy": "ps_sync"},
                                    {"ps": 1}, {"workers": 2}, {"model": "x"}, {"input": "x"},
                                    {"placement": "x"}, {"tokens": "x"}, {"tokens": "default"}, {"classes": 1},
                                    {"replicas_to_aggregate": 1}, {"delay_worker": (1, 0.2)},
                                    {"strategy": "ps_sync", "ps": 1, "workers": 2, "replicas_to_aggregate": 3},
                                    {"strategy": "ps_async", "ps": 1, "tokens": "default"}])  # fmt: skip
def test_requests_without_sense_are_refused(fields: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        RunConfig(**fields)  # type: ignore[arg-type]
