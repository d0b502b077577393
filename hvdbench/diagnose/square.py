"""The two-by-two: topology and transport taken apart on log step time, intervals by bootstrap over launches."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp
from statistics import median

from hvdbench.compare.stats import CONFIDENCE, FEWEST_LAUNCHES, RESAMPLES, SEED
from hvdbench.diagnose import rungs
from hvdbench.diagnose.evidence import Samples
from hvdbench.units import Interval, Ratio, Second


@dataclass(frozen=True)
class Effect:
    """A difference of log step times; `saved` is the share of the step that the change saves, 1 - exp(-log)."""

    log: float
    log_interval: Interval

    @property
    def saved(self) -> Ratio:
        return 1 - exp(-self.log)

    @property
    def saved_interval(self) -> Interval:
        return 1 - exp(-self.log_interval[0]), 1 - exp(-self.log_interval[1])

    @property
    def clear(self) -> bool:
        """Whether the interval leaves zero out."""
        return not self.log_interval[0] <= 0 <= self.log_interval[1]


@dataclass(frozen=True)
class Square:
    """Step times in seconds of the four cells, (topology, transport), and what each change does."""

    cells: dict[tuple[str, str], Second]
    topology: Effect
    transport: Effect
    interaction: Effect


def cells_of(samples: Samples) -> dict[tuple[str, str], str] | None:
    """The rung in each cell, both stars with the better placement measured; None when one is missing."""
    star = rungs.SHARED_PS if rungs.SHARED_PS in samples else rungs.ASKED
    found = {
        ("star", "grpc"): star,
        ("star", "mpi"): rungs.MPI_STAR,
        ("ring", "grpc"): rungs.COLLECTIVE,
        ("ring", "mpi"): rungs.HOROVOD,
    }
    return found if all(samples.get(key) for key in found.values()) else None


def square(samples: Samples) -> Square | None:
    """Main effects and interaction of a 2x2 design on median log step time; None without all cells or 3 launches.

    topology = mean over transports of log(star) - log(ring); transport = mean over topologies of log(gRPC) -
    log(MPI); interaction = log(star gRPC) - log(ring gRPC) - log(star MPI) + log(ring MPI). Formulas: Box, Hunter
    and Hunter, Statistics for Experimenters, 2005, chapter 5. Launches of each cell are resampled on their own.
    """
    import numpy

    cells = cells_of(samples)
    if cells is None or min(len(samples[key]) for key in cells.values()) < FEWEST_LAUNCHES:
        return None
    steps = {cell: numpy.array([each.step_s for each in samples[key]]) for cell, key in cells.items()}
    random = numpy.random.default_rng(SEED)
    logs = {}
    for cell, values in steps.items():
        chosen = random.integers(0, len(values), size=(RESAMPLES, len(values)))
        # The estimate first, then its resamples.
        resampled = numpy.median(values[chosen], axis=1)
        logs[cell] = numpy.log(numpy.concatenate([[numpy.median(values)], resampled]))
    sg, sm, rg, rm = (logs[cell] for cell in (("star", "grpc"), ("star", "mpi"), ("ring", "grpc"), ("ring", "mpi")))
    return Square(
        {cell: median(values.tolist()) for cell, values in steps.items()},
        _effect((sg - rg + sm - rm) / 2),
        _effect((sg - sm + rg - rm) / 2),
        _effect(sg - rg - sm + rm),
    )


def _effect(values: object) -> Effect:
    import numpy

    found = numpy.asarray(values, dtype=float)
    tail = 100 * (1 - CONFIDENCE) / 2
    low, high = numpy.percentile(found[1:], [tail, 100 - tail])
    return Effect(float(found[0]), (float(low), float(high)))
