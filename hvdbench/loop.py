"""Barrier, warm-up, barrier, timed steps, barrier; the clock is an argument."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count

from hvdbench.phases import Marks


@dataclass(frozen=True)
class Reading:
    """What one step says of itself.

    `contributions` are each worker's gradients in the model so far, None where nobody counts; `updates` is the
    shared global step; `staleness` counts the updates between this step's pull and its push.
    """

    loss: float
    marks: Marks | None = None
    contributions: tuple[int, ...] | None = None
    updates: int | None = None
    staleness: int | None = None


@dataclass(frozen=True)
class Timing:
    """One worker's readings: `step_s` per timed step in seconds, `window_s` from barrier to barrier.

    `counted` are the contributions of every worker within the window, None where nobody counts.
    """

    step_s: list[float]
    readings: list[Reading]
    window_s: float
    counted: list[int] | None
    before: list[int] | None = None

    @property
    def loss(self) -> list[float]:
        return [reading.loss for reading in self.readings]


@dataclass(frozen=True)
class Goal:
    """When a stretch of steps is over: after `steps` calls, or once the shared model has had `updates` updates."""

    steps: int
    updates: int | None = None

    def calls(self, last: Callable[[], Reading | None]) -> Iterator[int]:
        """The index of each call to come; with `updates` at least one, as nobody knows the count before."""
        if self.updates is None or self.steps == 0:
            yield from range(self.steps)
            return
        for index in count():
            yield index
            reading = last()
            assert reading is not None and reading.updates is not None
            if reading.updates >= self.updates:
                return


def run_loop(
    step: Callable[[], Reading],
    barrier: Callable[[], None],
    counted: Callable[[], list[int] | None],
    warmup: Goal,
    timed: Goal,
    clock: Callable[[], float],
    progress: Callable[[int, float], None],
) -> Timing:
    """Warm up and time steps between common barriers; times in seconds of `clock`."""
    readings: list[Reading] = []
    barrier()
    for _ in warmup.calls(lambda: readings[-1]):
        readings.append(step())
    # Everybody's warm-up has been counted before anybody counts: the barrier comes first.
    barrier()
    before = counted()
    barrier()
    readings.clear()
    start, step_s = clock(), []
    for index in timed.calls(lambda: readings[-1]):
        begun = clock()
        readings.append(step())
        step_s.append(clock() - begun)
        progress(index + 1, readings[-1].loss)
    barrier()
    window_s = clock() - start
    after = counted()
    within = None if before is None or after is None else [b - a for a, b in zip(before, after, strict=True)]
    return Timing(step_s, readings, window_s, within, before)
