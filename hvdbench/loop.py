"""Barrier, warm-up, barrier, timed steps, barrier; the clock is an argument."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Timing:
    """One worker's readings: `step_s` and `loss` per timed step, `window_s` from barrier to barrier."""

    step_s: list[float]
    loss: list[float]
    window_s: float
    counted: list[int] | None


def run_loop(
    step: Callable[[], float],
    barrier: Callable[[], None],
    count: Callable[[], list[int] | None],
    warmup: int,
    steps: int,
    clock: Callable[[], float],
    progress: Callable[[int, float], None],
) -> Timing:
    """Warm up and time `steps` steps between common barriers; times in seconds of `clock`."""
    barrier()
    for _ in range(warmup):
        step()
    before = count()
    barrier()
    start, step_s, loss = clock(), [], []
    for index in range(steps):
        begun = clock()
        loss.append(step())
        step_s.append(clock() - begun)
        progress(index + 1, loss[-1])
    barrier()
    window_s = clock() - start
    after = count()
    counted = None if before is None or after is None else [b - a for a, b in zip(before, after, strict=True)]
    return Timing(step_s, loss, window_s, counted)
