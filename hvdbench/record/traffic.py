"""What a record says of its wires: measured against predicted, and how fast bytes moved; derived, never stored."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from hvdbench.record.schema import Record
from hvdbench.units import bytes_text, share_text


@dataclass(frozen=True)
class HostTraffic:
    """One host's NICs in the window.

    `sent` and `received` are measured bytes, `predicted` is what the formula says of either direction (None
    where none does). `busy_s` is the time in which bytes moved, `busy_bytes` what the faster direction moved
    in it; `exposed_s` and `exposed_bytes` are the same from the slowest worker's gradients ready to the mean
    gradient received, pauses counted.
    """

    host: str
    tasks: tuple[str, ...]
    sent: int
    received: int
    predicted: int | None
    busy_s: float | None
    busy_bytes: int | None
    exposed_s: float | None
    exposed_bytes: int | None

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
        name, host, busiest = f"{task['role']} {task['index']}", task["host"], _busiest(task)
        exposed = {key: busiest[key] for key in ("exposed_s", "exposed_bytes") if key in busiest}
        if host in found:
            # Only a worker has steps, and with them an exposed part.
            found[host] = replace(found[host], tasks=(*found[host].tasks, name), **exposed)
            continue
        found[host] = HostTraffic(
            host,
            (name,),
            task["sent"],
            task["received"],
            (record.wire_predicted_bytes or {}).get(host),
            busiest.get("busy_s"),
            busiest.get("busy_bytes"),
            exposed.get("exposed_s"),
            exposed.get("exposed_bytes"),
        )
    return list(found.values())


def _busiest(task: dict[str, Any]) -> dict[str, Any]:
    real = [nic for nic in task["nics"].values() if not nic["loopback"]]
    return max(real, key=lambda nic: nic.get("busy_bytes", 0), default={})


def hottest(record: Record) -> HostTraffic | None:
    """The host that moved most bytes in one direction, None where nothing crossed a NIC."""
    found = [host for host in hosts(record) if host.predicted and max(host.sent, host.received) > 0]
    return max(found, key=lambda host: max(host.sent, host.received), default=None)


def bus_bandwidth_bytes_per_s(record: Record) -> float | None:
    """Bytes per second that the hottest host's NIC moves in one direction during the exchange.

    Formula: bytes / time, over the part of each step in which the exchange is all that is left, from the slowest
    worker's gradients ready to the mean gradient received; its pauses count, what overlaps computation does not.
    For a PS, which computes nothing, over the time in which bytes move. In a ring of N these bytes are
    2(N-1)/N x parameter bytes, so that this is the bus bandwidth of nccl-tests.
    """
    host = hottest(record)
    if host is None:
        return None
    if host.exposed_s and host.exposed_bytes and not record.placement:
        return host.exposed_bytes / host.exposed_s
    return host.moving_bytes_per_s


def busy_share(record: Record) -> float | None:
    """How much of the measured line rate the hottest host's NIC carries while bytes move."""
    host = hottest(record)
    if host is None or host.moving_bytes_per_s is None or not record.line_rate_bytes_per_s:
        return None
    return host.moving_bytes_per_s / record.line_rate_bytes_per_s


def line_share(record: Record) -> float | None:
    """The bus bandwidth as a share of the measured line rate."""
    bandwidth = bus_bandwidth_bytes_per_s(record)
    return None if bandwidth is None or not record.line_rate_bytes_per_s else bandwidth / record.line_rate_bytes_per_s


def lines(record: Record) -> list[str]:
    """What the wires carried in plain words, one line a host and one for the whole."""
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
    bandwidth, share, moving = bus_bandwidth_bytes_per_s(record), line_share(record), busy_share(record)
    if bandwidth is not None:
        line = "" if share is None else f", {share_text(share)} of the measured line rate"
        line += "" if moving is None else f"; the hottest link carries {share_text(moving)} of it while bytes move"
        said.append(f"bus bandwidth {bytes_text(bandwidth)}/s during the exchange{line}")
    return said
