"""Launches with one cause planted, as step times by a formula with noise; what the verdict must then say."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import exp

from hvdbench.diagnose import loss, rungs, verdict
from hvdbench.diagnose.evidence import Sample
from hvdbench.diagnose.rungs import Job

# Launches of one arm on a quiet machine differ by a few percent.
NOISE = 0.02
HOSTS = ("node1", "node2", "node3", "node4")
LINE = 119.7e6
BYTES = 244.4e6


@dataclass(frozen=True)
class Plant:
    """What each thing adds to a step in seconds. `link` slows one host's link to a share of the others'.

    `ring_grpc`, `ring_mpi` and `star_mpi` are what the exchange of these cells takes.
    """

    cause: str
    job: Job = field(default_factory=lambda: Job(2, 2))
    compute: float = 0.25
    feed: float = 0.0
    session: float = 0.003
    host: float = 0.01
    transport: float = 0.02
    synchronisation: float = 0.004
    contention: float = 0.01
    placement: float = 0.0
    delay: float = 0.0
    ring_grpc: float = 0.03
    ring_mpi: float = 0.03
    star_mpi: float = 0.03
    link: tuple[str, float] | None = None
    rounds: int = 5
    responds: bool = True


WIRE = {"transport": 2.0, "ring_grpc": 2.1, "ring_mpi": 2.0, "star_mpi": 2.0}
PLANTS: Mapping[str, Plant] = {
    "noise only": Plant(verdict.NOTHING, transport=0.0, contention=0.0, session=0.0, synchronisation=0.0, host=0.0),
    "compute bound": Plant(verdict.NOTHING, compute=5.0),
    "all weights on one PS": Plant(loss.PLACEMENT, placement=2.0, **WIRE),
    "PS link at a tenth": Plant(
        verdict.SLOW_LINK, Job(2, 1), link=("node1", 0.1), transport=20.0, contention=20.0, star_mpi=40.0,
        ring_mpi=2.0, ring_grpc=2.1,
    ),
    "one worker delayed": Plant(loss.STRAGGLER, Job(2, 1), delay=0.5),
    "feed input": Plant(loss.INPUT, Job(2, 1, input="feed"), feed=0.4),
    "slow gRPC session": Plant(loss.SESSION, Job(2, 1), session=0.5),
    "a NIC of the ring at a tenth": Plant(
        verdict.SLOW_LINK, link=("node4", 0.1), transport=2.0, contention=18.0, ring_grpc=20.0, ring_mpi=20.0,
        star_mpi=20.0,
    ),
    "workers share their cores": Plant(loss.SHARED_HOST, Job(2, 1), host=0.25),
    "communication bound under both": Plant(verdict.COMMUNICATION, Job(2, 1), **WIRE),
    "a star's crowded port": Plant(
        verdict.TOPOLOGY, Job(3, 1), transport=0.5, contention=3.0, ring_grpc=0.6, ring_mpi=0.6, star_mpi=3.5
    ),
    "gRPC slower than MPI": Plant(
        loss.TRANSPORT, Job(2, 1), transport=2.0, ring_grpc=2.0, ring_mpi=0.3, star_mpi=0.3
    ),
    "tokens and queue": Plant(loss.SYNCHRONISATION, Job(2, 1), synchronisation=0.4),
    "two rounds only": Plant(verdict.NOT_ENOUGH, Job(2, 1), contention=3.0, rounds=2),
    "a suspect that does not respond": Plant(
        verdict.UNDECIDED, Job(3, 1), transport=0.5, contention=3.0, ring_grpc=0.6, ring_mpi=0.6, star_mpi=3.5,
        responds=False,
    ),
}  # fmt: skip


def samples(plant: Plant, seed: int) -> dict[str, list[Sample]]:
    """The launches of the whole ladder, and of a handicap where the job has one."""
    chance = random.Random(seed)
    suspect = {verdict.UNDECIDED: verdict.TOPOLOGY}.get(plant.cause, plant.cause)
    ladder, _ = rungs.ladder(plant.job)
    ladder += rungs.handicap(plant.job, suspect, lab=True)
    times = step_times(plant)
    return {
        rung.key: [launch(plant, rung, times[rung.key] * exp(chance.gauss(0, NOISE))) for _ in range(plant.rounds)]
        for rung in ladder
    }


def step_times(plant: Plant) -> dict[str, float]:
    """The step of every rung without noise: each is the one below it and one thing more (design.md, section 4)."""
    base = plant.compute + plant.feed
    found = {rungs.LOCAL: plant.compute, rungs.FEED: base, rungs.SERVER: base + plant.session}
    found[rungs.NONE] = base + plant.host + plant.delay
    found[rungs.ASYNC_ONE] = found[rungs.SERVER] + plant.transport
    found[rungs.SYNC_ONE] = found[rungs.ASYNC_ONE] + plant.synchronisation
    found[rungs.SHARED_PS] = found[rungs.SYNC_ONE] + plant.host + plant.contention + plant.delay
    found[rungs.ASKED] = found[rungs.SHARED_PS] + plant.placement
    found[rungs.COLLECTIVE] = found[rungs.NONE] + plant.session + plant.ring_grpc
    found[rungs.HOROVOD] = found[rungs.NONE] + plant.ring_mpi
    found[rungs.MPI_STAR] = found[rungs.NONE] + plant.star_mpi
    found[rungs.PRICE_STAR] = plant.transport + plant.contention
    found[rungs.BESIDE] = found[rungs.ASKED]
    exchange = found[rungs.ASKED] - found[rungs.NONE]
    found[rungs.HANDICAP] = found[rungs.ASKED] + (exchange if plant.responds else 0.0)
    return found


def launch(plant: Plant, rung: rungs.Rung, step_s: float) -> Sample:
    """One launch on lab nodes: the first serve, the others work."""
    base = plant.compute + plant.feed
    own = [base] * rung.workers
    if rung.workers > 1 and rung.compute == "full":
        own[-1] += plant.delay
    hosts = HOSTS[: plant.job.ps + plant.job.workers]
    rates = dict.fromkeys(hosts, LINE)
    if plant.link:
        rates[plant.link[0]] *= plant.link[1]
    shares = [1.0] + [0.0] * (rung.ps - 1) if rung.placement == rungs.ROUND_ROBIN else [1 / rung.ps] * rung.ps
    found = Sample(step_s, tuple(own), rates, ps_hosts=hosts[: rung.ps])
    if not rung.ps:
        return found
    each = tuple(round(BYTES * share) for share in shares)
    return replace(
        found, moving_share=0.95, hottest_host="node1", hottest_bytes=max(each) * rung.workers, ps_bytes=each
    )


def verdicts(plant: Plant, repetitions: int) -> dict[str, int]:
    """How often each cause was the verdict."""
    found: dict[str, int] = {}
    for seed in range(repetitions):
        cause = verdict.judge(samples(plant, seed), plant.job.workers, 8).cause
        found[cause] = found.get(cause, 0) + 1
    return found
