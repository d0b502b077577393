"""How the loss divides over its causes: differences between rungs, round by round, with intervals and a residual."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

from hvdbench.compare.stats import FEWEST_LAUNCHES, median_interval
from hvdbench.diagnose import rungs
from hvdbench.diagnose.evidence import Sample, Samples
from hvdbench.units import Interval, Second

INPUT, SESSION, SHARED_HOST, TRANSPORT = "input", "session", "shared_host", rungs.TRANSPORT
SYNCHRONISATION, STRAGGLER, CONTENTION, PLACEMENT = "synchronisation", "straggler", "contention", "placement"


@dataclass(frozen=True)
class Part:
    """What one cause adds to a step: median over rounds of a difference between rungs, in seconds."""

    cause: str
    seconds: Second
    interval: Interval | None
    formula: str


@dataclass(frozen=True)
class Loss:
    """The asked job's step over the local one's; `residual_s` is what the medians of the parts leave unexplained."""

    local_s: Second
    asked_s: Second
    seconds: Second
    interval: Interval | None
    parts: tuple[Part, ...]
    rounds: int

    @property
    def residual_s(self) -> Second:
        # Not a -0.0 of rounding.
        return round(self.seconds - sum(part.seconds for part in self.parts), 12) + 0.0

    def part(self, cause: str) -> Part | None:
        """The part of this cause, None where its rungs were left out."""
        return next((part for part in self.parts if part.cause == cause), None)


def rounds_of(samples: Samples) -> int:
    """Complete rounds: every rung has at least as many launches."""
    return min((len(found) for found in samples.values()), default=0)


def difference(samples: Samples, rounds: int, terms: Callable[[Callable[[str], Sample]], Second]) -> list[Second]:
    """One value a round: `terms` gets a function from rung to that round's launch."""
    return [terms(lambda key, turn=turn: samples[key][turn]) for turn in range(rounds)]  # type: ignore[misc]


def divide(samples: Samples) -> Loss:
    """The loss and its parts over all complete rounds.

    Each part is what its rung takes longer than the one before (design.md, section 4). Per round they add up to
    the loss exactly; their medians do not, and the residual says by how much. The straggler's part is how much
    longer the slowest worker's own work takes than the middle one's, and is taken out of the other parts of rungs
    with several workers; contention is what more workers and PS add beyond sharing a host.
    """
    rounds = rounds_of(samples)
    asked = samples[rungs.ASKED][:rounds]
    local = samples[rungs.LOCAL][:rounds]
    losses = [a.step_s - b.step_s for a, b in zip(asked, local, strict=True)]
    parts = [
        Part(cause, median(values), median_interval(values), formula)
        for cause, formula, terms in _terms(samples)
        for values in [difference(samples, rounds, terms)]
    ]
    return Loss(
        median(each.step_s for each in local),
        median(each.step_s for each in asked),
        median(losses),
        median_interval(losses),
        tuple(parts),
        rounds,
    )


Term = tuple[str, str, Callable[[Callable[[str], Sample]], Second]]


def _terms(samples: Samples) -> list[Term]:
    base = rungs.FEED if rungs.FEED in samples else rungs.LOCAL
    best = rungs.SHARED_PS if rungs.SHARED_PS in samples else rungs.ASKED
    shared = rungs.NONE in samples

    def step(key: str) -> Callable[[Callable[[str], Sample]], Second]:
        # Without what one slow worker costs: that is a part of its own.
        return lambda of: of(key).step_s - of(key).straggle_s

    def minus(upper: str, lower: str) -> Callable[[Callable[[str], Sample]], Second]:
        return lambda of: step(upper)(of) - step(lower)(of)

    def host(of: Callable[[str], Sample]) -> Second:
        return minus(rungs.NONE, base)(of) if shared else 0.0

    found: list[Term] = []
    if base == rungs.FEED:
        found.append((INPUT, "local feed - local", minus(rungs.FEED, rungs.LOCAL)))
    found.append((SESSION, f"local_server - {base}", minus(rungs.SERVER, base)))
    if shared:
        found.append((SHARED_HOST, f"none - {base}", host))
    found += [
        (TRANSPORT, "ps_async 1+1 - local_server", minus(rungs.ASYNC_ONE, rungs.SERVER)),
        (SYNCHRONISATION, "ps_sync 1+1 - ps_async 1+1", minus(rungs.SYNC_ONE, rungs.ASYNC_ONE)),
    ]
    if shared:
        contention = f"{best} - ps_sync 1+1 - shared_host"
        found += [
            (STRAGGLER, "slowest worker's own work - the middle one's", lambda of: of(rungs.ASKED).straggle_s),
            (CONTENTION, contention, lambda of: minus(best, rungs.SYNC_ONE)(of) - host(of)),
        ]
    if best != rungs.ASKED:
        found.append((PLACEMENT, "asked - sharded", minus(rungs.ASKED, best)))
    return found


def values_of(samples: Samples, cause: str) -> list[Second]:
    """The part of this cause in every complete round, in seconds."""
    terms = next(terms for name, _, terms in _terms(samples) if name == cause)
    return difference(samples, rounds_of(samples), terms)


def enough(rounds: int) -> bool:
    """Whether there are launches enough for any interval."""
    return rounds >= FEWEST_LAUNCHES
