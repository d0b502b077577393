"""The rungs of the ladder: arms that differ by one thing each; plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

ROUND_ROBIN, SHARDED = "round_robin", "sharded"
LOCAL, FEED, SERVER, NONE = "local", "feed", "local_server", "none"
ASYNC_ONE, SYNC_ONE, ASKED, SHARED_PS = "ps_async 1+1", "ps_sync 1+1", "asked", "sharded"
COLLECTIVE, HOROVOD, MPI_STAR = "collective", "horovod", "mpi_star"
PRICE_STAR = "price star"
# Not of the ladder: the asked arm under a second name, and beside the handicapped one.
ASKED_AGAIN, BESIDE, HANDICAP = "asked again", "asked beside", "handicap"
TOPOLOGY, TRANSPORT = "topology", "transport"


@dataclass(frozen=True)
class Job:
    """What the user runs: its workers and PS, placement, input and, where one is slowed, which worker."""

    workers: int
    ps: int
    placement: str = ROUND_ROBIN
    input: str = "synthetic"
    delay_worker: tuple[int, float] | None = None


@dataclass(frozen=True)
class Rung:
    """One arm: `key` is its name in files and in the verdict's arithmetic, `cause` what it adds over `over`."""

    key: str
    strategy: str
    workers: int
    ps: int = 0
    placement: str = ROUND_ROBIN
    input: str = "synthetic"
    compute: str = "full"
    delay_worker: tuple[int, float] | None = None
    halved_ps_link: bool = False

    @property
    def title(self) -> str:
        """The arm as people name it."""
        shape = f" {self.ps}+{self.workers}" if self.ps else f" x{self.workers}" if self.workers > 1 else ""
        words = [f"{self.strategy}{shape}"]
        words += [self.placement] if self.ps > 1 else []
        words += ["feed"] if self.input == "feed" else []
        words += ["exchange only"] if self.compute == "none" else []
        words += ["PS link at half rate"] if self.halved_ps_link else []
        words += [f"({self.key})"] if self.key in (ASKED, ASKED_AGAIN, BESIDE, HANDICAP) else []
        return " ".join(words)


def ladder(
    job: Job, again: bool = False, missing: Mapping[str, str] = MappingProxyType({})
) -> tuple[list[Rung], list[tuple[str, str]]]:
    """The rungs of a job in order, and (rung, reason) of those that make no sense for it or this machine.

    `again` adds the asked arm under a second name, which measures the false alarms of this cluster today; `missing`
    has the strategies that cannot run here, with the reason.
    """
    rungs, left_out = [Rung(LOCAL, "local", 1)], []
    if job.input == "feed":
        rungs.append(Rung(FEED, "local", 1, input="feed"))
    else:
        left_out.append((FEED, "the job's input is synthetic"))
    rungs.append(_rung(job, SERVER, "local_server", 1))
    if job.workers > 1:
        rungs.append(_rung(job, NONE, "none", job.workers))
    else:
        left_out.append((NONE, "one worker shares its host with nobody"))
    rungs += [_rung(job, ASYNC_ONE, "ps_async", 1, 1), _rung(job, SYNC_ONE, "ps_sync", 1, 1)]
    asked = _rung(job, ASKED, "ps_sync", job.workers, job.ps)
    rungs.append(asked)
    best = replace(asked, key=SHARED_PS, placement=SHARDED)
    if job.ps > 1 and job.placement != SHARDED:
        rungs.append(best)
    else:
        why = "one PS holds everything" if job.ps == 1 else "the asked placement is sharded"
        left_out.append((SHARED_PS, why))
    if job.workers > 1:
        square = [_rung(job, key, key, job.workers) for key in (COLLECTIVE, HOROVOD)]
        square.append(replace(best, key=MPI_STAR, strategy="mpi_star"))
        rungs += [rung for rung in square if rung.strategy not in missing]
        left_out += [(rung.key, missing[rung.strategy]) for rung in square if rung.strategy in missing]
        rungs.append(replace(best, key=PRICE_STAR, compute="none", delay_worker=None))
    else:
        left_out.append((f"{COLLECTIVE}, {HOROVOD}, {MPI_STAR}", "one worker has no ring and no contention"))
    if again:
        rungs.append(replace(asked, key=ASKED_AGAIN))
    return rungs, left_out


def handicap(job: Job, suspect: str, lab: bool) -> list[Rung]:
    """The asked arm, and beside it the same with a change that touches only the suspect; empty where there is none.

    In the lab the PS hosts' links at half their rate; elsewhere, for a star's crowded port, one more PS, sharded,
    so that each serves less. Another placement is a rung of the ladder already.
    """
    asked = _rung(job, BESIDE, "ps_sync", job.workers, job.ps)
    if lab and suspect in (TOPOLOGY, TRANSPORT):
        return [asked, replace(asked, key=HANDICAP, halved_ps_link=True)]
    if suspect == TOPOLOGY:
        return [asked, replace(asked, key=HANDICAP, ps=job.ps + 1, placement=SHARDED)]
    return []


def _rung(job: Job, key: str, strategy: str, workers: int, ps: int = 0) -> Rung:
    placement = job.placement if ps > 1 else ROUND_ROBIN
    # A slowed worker is part of the job wherever there are several; alone, a worker waits for nobody.
    delay = job.delay_worker if workers > 1 else None
    return Rung(key, strategy, workers, ps, placement, job.input, delay_worker=delay)
