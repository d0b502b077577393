"""The loop with a clock that the test moves."""

import json

import pytest

from hvdbench.config import RunConfig
from hvdbench.errors import UsageError
from hvdbench.loop import run_loop
from hvdbench.record.schema import images_per_s
from hvdbench.run import judge, thread_count


def test_only_timed_steps_lie_in_the_window() -> None:
    now, events = [0.0], []

    def step() -> float:
        now[0] += 2.0
        events.append("step")
        return 1.0

    timing = run_loop(step, lambda: events.append("barrier"), lambda: None, 2, 3, lambda: now[0], lambda *_: None)
    assert events == ["barrier", "step", "step", "barrier", "step", "step", "step", "barrier"]
    assert timing.window_s == 6.0 and timing.step_s == [2.0, 2.0, 2.0]


def test_the_total_is_images_over_the_common_window() -> None:
    # C07: 3 workers x 100 steps x 32 images, the slowest takes 20 s: 480, not 960 and not 800.
    assert images_per_s(3 * 100 * 32, 20.0) == 480


def report(config: RunConfig, loss: float = 1.0) -> dict[str, object]:
    return {"config_hash": config.hash(), "fingerprint": "f", "loss": [loss]}


@pytest.mark.parametrize("contributions, valid", [([5, 5], True), ([10, 0], False), ([6, 4], False), ([5], False)])
def test_unequal_contributions_are_no_synchronous_run(contributions: list[int], valid: bool) -> None:
    config = RunConfig(strategy="horovod", workers=2, steps=5)
    verdict = judge(config, {"fingerprint": "f"}, contributions, [report(config)] * 2)
    assert (verdict == "valid") is valid


@pytest.mark.parametrize("loss", [float("nan"), float("inf")])
def test_a_loss_that_is_no_number_invalidates(loss: float) -> None:
    config = RunConfig(strategy="horovod", workers=2, steps=5)
    reports = json.loads(json.dumps([report(config), report(config, loss)]))
    assert "worker 1" in judge(config, {"fingerprint": "f"}, [5, 5], reports)


@pytest.mark.parametrize("cores, processes, threads", [(6, 3, 2), (2, 3, 1), (2, 1, 2), (8, 3, 2)])
def test_threads_are_cores_by_processes(cores: int, processes: int, threads: int) -> None:
    assert thread_count(cores, processes) == threads


@pytest.mark.parametrize("fields", [{"steps": 0}, {"batch_size": 0}, {"workers": 0}, {"strategy": "ps_sync"},
                                    {"ps": 1}, {"workers": 2}, {"model": "x"}, {"input": "x"}])  # fmt: skip
def test_requests_without_sense_are_refused(fields: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        RunConfig(**fields)  # type: ignore[arg-type]
