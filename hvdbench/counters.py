"""Bytes that this host's (or namespace's) NICs sent and received, from the kernel's counters."""

from __future__ import annotations

import threading
import time
from bisect import bisect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import psutil

LOOPBACK = "lo"
PERIOD_S = 0.05
# Below this share of the fastest interval a NIC rests: control messages, not parameters.
QUIET_SHARE = 0.05


@dataclass(frozen=True)
class Counters:
    """Bytes (sent, received) since boot by NIC, and the monotonic time of reading in seconds."""

    at: float
    nics: Mapping[str, tuple[int, int]]


def read() -> Counters:
    """The counters of this process's network namespace, only of NICs that ever moved a byte."""
    found = psutil.net_io_counters(pernic=True, nowrap=False)
    moved = {name: (each.bytes_sent, each.bytes_recv) for name, each in found.items() if each.bytes_sent}
    return Counters(time.monotonic(), moved)


def difference(before: Counters, after: Counters) -> dict[str, tuple[int, int]]:
    """Bytes (sent, received) by NIC between two readings."""
    return {
        name: (sent - before.nics.get(name, (0, 0))[0], received - before.nics.get(name, (0, 0))[1])
        for name, (sent, received) in after.nics.items()
    }


@dataclass
class Sampler:
    """Reads the counters every 50 ms in a thread, to see how fast bytes move while they move."""

    samples: list[Counters] = field(default_factory=list)
    _stop: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin; what was read before is forgotten."""
        self.samples.clear()
        self._stop.clear()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End; without a start it does nothing."""
        if self._thread is not None:
            self._stop.set()
            self._thread.join()
            self._thread = None

    def _run(self) -> None:
        while not self._stop.is_set():
            self.samples.append(read())
            self._stop.wait(PERIOD_S)
        self.samples.append(read())


def fastest(samples: list[Counters], nic: str) -> float:
    """The most bytes per second that `nic` moved in its faster direction between two samples."""
    return max((size / dt for dt, size in _intervals(samples, nic) if dt > PERIOD_S / 2), default=0.0)


def _intervals(samples: list[Counters], nic: str) -> Iterator[tuple[float, int]]:
    """Seconds between each two samples and the bytes that the faster direction moved in them."""
    for before, after in zip(samples, samples[1:], strict=False):
        yield after.at - before.at, max(difference(before, after).get(nic, (0, 0)))


@dataclass(frozen=True)
class Busy:
    """One NIC while bytes move: seconds in which either direction moved, and the faster direction's bytes in them."""

    busy_s: float
    bytes: int

    @property
    def bytes_per_s(self) -> float:
        return self.bytes / self.busy_s if self.busy_s else 0.0


def busy(samples: list[Counters], nic: str, floor_bytes_per_s: float) -> Busy:
    """The intervals in which `nic` moved at least `floor_bytes_per_s` in its faster direction, added up.

    The floor leaves out a network at rest with its few control messages.
    """
    seconds, moved = 0.0, 0
    for dt, size in _intervals(samples, nic):
        if dt > 0 and size / dt >= floor_bytes_per_s:
            seconds, moved = seconds + dt, moved + size
    return Busy(seconds, moved)


def within(samples: list[Counters], nic: str, intervals: Sequence[tuple[float, float]]) -> Busy:
    """Seconds of the intervals (monotonic clock) and the bytes that the faster direction moved in each, added up.

    Between two samples bytes are taken to flow evenly.
    """
    seconds, moved = 0.0, 0.0
    for begun, ended in intervals:
        first, last = _at(samples, nic, begun), _at(samples, nic, ended)
        seconds += max(0.0, ended - begun)
        moved += max(b - a for a, b in zip(first, last, strict=True))
    return Busy(seconds, round(moved))


def _at(samples: list[Counters], nic: str, when: float) -> tuple[float, float]:
    index = min(max(1, bisect(samples, when, key=lambda each: each.at)), len(samples) - 1)
    before, after = samples[index - 1], samples[index]
    share = min(1.0, max(0.0, (when - before.at) / (after.at - before.at))) if after.at > before.at else 1.0
    low, high = before.nics.get(nic, (0, 0)), after.nics.get(nic, (0, 0))
    return low[0] + share * (high[0] - low[0]), low[1] + share * (high[1] - low[1])


class WireMeter:
    """The NICs of this task's host over the window, and how fast bytes moved while they moved."""

    def __init__(self, sampled: bool) -> None:
        self.sampler = Sampler() if sampled else None

    def start(self) -> None:
        """The window opens."""
        self.before = read()
        if self.sampler:
            self.sampler.start()

    def stop(self) -> None:
        """The window is closed."""
        self.after = read()
        if self.sampler:
            self.sampler.stop()

    def facts(self, exposed: Sequence[tuple[float, float]] = ()) -> dict[str, Any]:
        """Bytes by NIC as plain data, with `busy_s` and `busy_bytes` where samples were taken.

        `exposed` are the parts of each step (real-time clock) in which nothing but the exchange is left to do;
        with them `exposed_s` and `exposed_bytes` are there too.
        """
        shift_s = time.monotonic() - time.time()
        exposed = [(begun + shift_s, ended + shift_s) for begun, ended in exposed]
        samples = self.sampler.samples if self.sampler else []
        found: dict[str, Any] = {}
        for name, (sent, received) in difference(self.before, self.after).items():
            found[name] = {"sent": sent, "received": received, "loopback": name == LOOPBACK}
            if samples:
                floor = QUIET_SHARE * fastest(samples, name)
                moving = busy(samples, name, floor)
                found[name] |= {"busy_s": moving.busy_s, "busy_bytes": moving.bytes}
                if exposed and len(samples) > 1:
                    alone = within(samples, name, exposed)
                    found[name] |= {"exposed_s": alone.busy_s, "exposed_bytes": alone.bytes}
        return found
