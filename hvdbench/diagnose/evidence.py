"""What the verdict is made of: a few numbers of every launch, rung by rung."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median, median_low
from typing import TypeAlias

from hvdbench.record import traffic
from hvdbench.record.schema import Record
from hvdbench.units import BytePerSecond, Second


@dataclass(frozen=True)
class Sample:
    """One launch. `step_s` is its window over its steps; `own_s` each worker's median input and compute in a step.

    `link_bytes_per_s` are the measured rates of the hosts' links; `moving_share` is how much of the line rate the
    hottest link carried while bytes moved, `hottest_host` whose it is, `hottest_bytes` what it moved in a step, one
    direction. Empty or None where nothing measured it.
    """

    step_s: Second
    own_s: tuple[Second, ...] = ()
    link_bytes_per_s: Mapping[str, BytePerSecond] = field(default_factory=dict)
    moving_share: float | None = None
    hottest_host: str | None = None
    hottest_bytes: float | None = None
    ps_hosts: tuple[str, ...] = ()
    ps_bytes: tuple[int, ...] = ()

    @property
    def straggle_s(self) -> Second:
        """How much longer the slowest worker's own part of a step takes than the middle worker's (the lower of two)."""
        return max(self.own_s) - median_low(self.own_s) if len(self.own_s) > 1 else 0.0

    @property
    def slowest_worker(self) -> int | None:
        """Which worker that is; None where nobody measured."""
        return max(range(len(self.own_s)), key=self.own_s.__getitem__) if self.own_s else None


Samples: TypeAlias = Mapping[str, Sequence[Sample]]


def sample(record: Record) -> Sample:
    """The numbers of one record that the verdict needs."""
    hottest = traffic.hottest(record)
    steps = max(map(len, record.step_s))
    return Sample(
        record.window_s / steps,
        _own(record),
        _links(record),
        traffic.busy_share(record),
        hottest.host if hottest else None,
        max(hottest.sent, hottest.received) / steps if hottest else None,
        tuple(task["host"] for task in record.tasks if task["role"] == "ps"),
        tuple(each["bytes"] for each in record.placement),
    )


def _own(record: Record) -> tuple[Second, ...]:
    if record.input_s is None or record.compute_s is None:
        return ()
    return tuple(
        median(a + b for a, b in zip(given, computed, strict=True))
        for given, computed in zip(record.input_s, record.compute_s, strict=True)
    )


def _links(record: Record) -> dict[str, BytePerSecond]:
    """Each host's best measured rate as source or target of a link, whichever is lower: its own NIC limits both."""
    found: dict[str, list[float]] = {}
    for link in record.links or []:
        best = max(link["bytes_per_s"].values())
        for host in (link["source"], link["target"]):
            found.setdefault(host, []).append(best)
    # A slow neighbour slows one of a host's links; a slow NIC slows every one.
    return {host: max(rates) for host, rates in found.items()}
