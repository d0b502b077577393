"""What a record says of its wires: measured against predicted, and how fast bytes moved; derived, never stored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hvdbench.record.schema import Record


@dataclass(frozen=True)
class HostTraffic:
    """One host's NICs in the window.

    `sent` and `received` are measured bytes, `predicted` is what the formula says of either direction (None
    where none does). `busy_s` is the time in which bytes moved, `busy_bytes` what the faster direction moved
    in it.
    """

    host: str
    tasks: tuple[str, ...]
    sent: int
    received: int
    predicted: int | None
    busy_s: float | None
    busy_bytes: int | None

    @property
    def measured_over_predicted(self) -> float | None:
        """The busier direction's bytes over the formula's."""
        return max(self.sent, self.received) / self.predicted if self.predicted else None

    @property
    def moving_bytes_per_s(self) -> float | None:
        """The faster direction's bytes per second while bytes move."""
        return self.busy_bytes / self.busy_s if self.busy_s and self.busy_bytes else None


def hosts(record: Record) -> list[HostTraffic]:
    """The traffic of every host, counted once however many tasks share its NICs."""
    found: dict[str, HostTraffic] = {}
    for task in record.wire_bytes or []:
        name = f"{task['role']} {task['index']}"
        if task["host"] in found:
            first = found[task["host"]]
            found[task["host"]] = HostTraffic(
                first.host, (*first.tasks, name), first.sent, first.received, first.predicted, first.busy_s,
                first.busy_bytes,
            )  # fmt: skip
            continue
        real = [nic for nic in task["nics"].values() if not nic["loopback"]]
        busiest: dict[str, Any] = max(real, key=lambda nic: nic.get("busy_bytes", 0), default={})
        predicted = (record.wire_predicted_bytes or {}).get(task["host"])
        found[task["host"]] = HostTraffic(
            task["host"], (name,), task["sent"], task["received"], predicted, busiest.get("busy_s"),
            busiest.get("busy_bytes"),
        )  # fmt: skip
    return list(found.values())


def hottest(record: Record) -> HostTraffic | None:
    """The host that moved most bytes in one direction, None where nothing crossed a NIC."""
    found = [host for host in hosts(record) if host.predicted and max(host.sent, host.received) > 0]
    return max(found, key=lambda host: max(host.sent, host.received), default=None)


def bus_bandwidth_bytes_per_s(record: Record) -> float | None:
    """Bytes that the hottest host has to move in one direction, over the time in which bytes moved.

    Formula: for a ring 2(N-1)/N x bytes / time, as nccl-tests; for a star the hottest link's own bytes / time.
    """
    host = hottest(record)
    return None if host is None or not host.predicted or not host.busy_s else host.predicted / host.busy_s


def line_share(record: Record) -> float | None:
    """The bus bandwidth as a share of the measured line rate."""
    bandwidth = bus_bandwidth_bytes_per_s(record)
    return None if bandwidth is None or not record.line_rate_bytes_per_s else bandwidth / record.line_rate_bytes_per_s


def lines(record: Record) -> list[str]:
    """What the wires carried in plain words, one line a host and one for the whole."""
    from hvdbench.units import bytes_text, share_text

    if not any(host.predicted for host in hosts(record)):
        return []
    steps = max(map(len, record.step_s))
    said = []
    for host in hosts(record):
        ratio = host.measured_over_predicted
        said.append(
            f"{host.host} ({', '.join(host.tasks)}): {bytes_text(host.sent / steps)} sent and "
            f"{bytes_text(host.received / steps)} received a step"
            + ("" if ratio is None else f", {ratio:.3f} of the {bytes_text((host.predicted or 0) / steps)} predicted")
        )
    bandwidth, share = bus_bandwidth_bytes_per_s(record), line_share(record)
    if bandwidth is not None:
        line = "" if share is None else f", {share_text(share)} of the measured line rate"
        said.append(f"bus bandwidth {bytes_text(bandwidth)}/s while bytes move{line}")
    return said
