"""Runs the ladder: every round launches each rung once, in random order; finished launches are never lost."""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from hvdbench.campaign import starting
from hvdbench.compare.stats import FEWEST_LAUNCHES, median_interval
from hvdbench.diagnose import rungs
from hvdbench.diagnose.evidence import Sample, sample
from hvdbench.diagnose.rungs import Rung
from hvdbench.errors import RunError
from hvdbench.record.schema import Record
from hvdbench.record.store import load_records
from hvdbench.units import Ratio, Second

# Rounds go on until the interval of every difference that matters is this narrow, as a share of the asked step.
TIGHT: Ratio = 0.10
# What of the budget the ladder leaves for the handicap.
FOR_HANDICAP: Ratio = 0.25
ATTEMPTS = 2


@dataclass
class Campaign:
    """One diagnosis in its folder: `<folder>/<rung>/` holds a rung's records, the k-th of them is round k's."""

    folder: Path
    args: argparse.Namespace
    minutes: float
    started: Second = field(default_factory=time.monotonic)
    took: dict[str, Second] = field(default_factory=dict)

    def left_s(self) -> Second:
        """Seconds of the budget that are left."""
        return 60 * self.minutes - (time.monotonic() - self.started)

    def usual_s(self) -> Second:
        """How long a launch took so far, for a rung that had none."""
        return sum(self.took.values()) / len(self.took) if self.took else 0.0

    def samples(self, ladder: Sequence[Rung]) -> dict[str, list[Sample]]:
        """Every rung's valid launches so far, oldest first."""
        return {rung.key: [sample(record) for record in valid_records(self.place(rung))] for rung in ladder}

    def place(self, rung: Rung) -> Path:
        """Where the records of this rung are."""
        return self.folder / rung.key.replace(" ", "_").replace("+", "-")

    def rounds(
        self, ladder: Sequence[Rung], share: Ratio, enough: Callable[[dict[str, list[Sample]]], bool], needed: bool
    ) -> None:
        """Launch round after round until `enough` or the budget is spent, of which `share` is kept back after three.

        A first round that is `needed` is finished at any price. Raises RunError when a launch fails twice.
        """
        while True:
            counts = {rung.key: len(valid_records(self.place(rung))) for rung in ladder}
            done = min(counts.values())
            if done and enough(self.samples(ladder)):
                return
            todo = [rung for rung in ladder if counts[rung.key] == done]
            expected = sum(self.took.get(rung.key, self.usual_s()) for rung in todo)
            kept_s = 60 * self.minutes * share if done >= FEWEST_LAUNCHES else 0.0
            if (done or not needed) and self.left_s() - kept_s <= expected:
                return
            self.round(done + 1, todo)

    def round(self, number: int, todo: Sequence[Rung]) -> None:
        """Launch these rungs once each, in an order that depends on the seed and the round alone."""
        order = random.Random(f"{self.args.seed} {number}").sample(list(todo), len(todo))
        for place, rung in enumerate(order, start=1):
            begun = time.monotonic()
            self.launch(rung)
            self.took[rung.key] = time.monotonic() - begun
            last = sample(valid_records(self.place(rung))[-1])
            said = f"round {number}, {place}/{len(order)}: {rung.title}: {last.step_s:.3f} s a step"
            print(f"{said} ({self.took[rung.key]:.0f} s)", file=sys.stderr, flush=True)

    def launch(self, rung: Rung) -> None:
        """One launch of this rung, tried again once; raises RunError with its last words."""
        place = self.place(rung)
        before = len(valid_records(place))
        for _ in range(ATTEMPTS):
            code = starting.run(starting.argv(rung, self.args, place), place.with_suffix(".log"))
            if code == 0 and len(valid_records(place)) > before:
                return
        words = starting.last_words(place.with_suffix(".log"))
        raise RunError(
            f"{rung.title} failed {ATTEMPTS} times (exit code {code}): {words}; see {place.with_suffix('.log')}, "
            "mend it and run the same command again: finished launches are kept"
        )


def valid_records(place: Path) -> list[Record]:
    """The records of one rung that count, oldest first."""
    return [record for record in load_records([place]) if record.valid] if any(place.glob("*.json")) else []


def tight(samples: dict[str, list[Sample]]) -> bool:
    """Whether every rung's step time is known well enough to end: its interval at most 10 % of the asked step."""
    asked = samples[rungs.ASKED]
    if min(map(len, samples.values())) < FEWEST_LAUNCHES:
        return False
    middle = sorted(each.step_s for each in asked)[len(asked) // 2]
    for found in samples.values():
        interval = median_interval([each.step_s for each in found])
        if interval is None or interval[1] - interval[0] > TIGHT * middle:
            return False
    return True
