"""Raw TCP, gRPC through TensorFlow and MPI between the same two processes, over sizes: what the wire gives each.

Every transport answers one question for each size: how many seconds does one message of that many bytes take
there and an acknowledgement back?
"""

from __future__ import annotations

import json
import os
import secrets
import socket
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

from hvdbench.cluster.ports import free_ports
from hvdbench.errors import RunError
from hvdbench.record.store import write_json
from hvdbench.units import aligned, bytes_text

SIZES_BYTES = tuple(4096 * 4**power for power in range(9))
TRANSPORTS = ("tcp", "grpc_pull", "grpc_push", "mpi")
# Enough to pass the first transfers' own set-up, few enough for 256 MB at 1 Gbit/s.
REPEATS, LARGE_REPEATS, LARGE_BYTES = 20, 3, 1 << 24


@dataclass(frozen=True)
class Transfer:
    """One transport at one size: seconds of each repeat and the bytes per second of their median."""

    transport: str
    size_bytes: int
    seconds: tuple[float, ...]

    @property
    def bytes_per_s(self) -> float:
        return self.size_bytes / median(self.seconds)


def repeats(size_bytes: int) -> int:
    """How often a size is measured."""
    return LARGE_REPEATS if size_bytes >= LARGE_BYTES else REPEATS


Enter = Callable[[int, list[str]], list[str]]


def probe(enter: Enter, addresses: Sequence[str], sizes: Sequence[int], mpirun: list[str]) -> list[Transfer]:
    """Measure every transport between two places.

    `enter(place, argv)` says how to start a process at place 0 or 1, `addresses` where they are reached,
    `mpirun` how to start one rank on each. Raises RunError when a transport does not come up.
    """
    text = ",".join(map(str, sizes))
    found = []
    for transport in ("tcp", "grpc"):
        found += _pair(transport, enter, addresses, text)
    return found + _read(_finished(enter(0, [*mpirun, sys.executable, "-m", "hvdbench.probe.mpi", text])))


def _pair(transport: str, enter: Enter, addresses: Sequence[str], sizes: str) -> list[Transfer]:
    module = [sys.executable, "-m", f"hvdbench.probe.{transport}_pair"]
    ports = free_ports(2)
    # The one that is asked first: a PS has to know its worker's address from the start.
    places = [f"{addresses[1]}:{ports[1]}", f"{addresses[0]}:{ports[0]}"]
    server = subprocess.Popen(
        enter(1, [*module, "serve", *places]), stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        assert server.stdout is not None
        if server.stdout.readline().strip() != "listening":
            raise RunError(f"the {transport} probe's server did not start; see its output above")
        return _read(_finished(enter(0, [*module, "ask", *places, sizes])))
    finally:
        server.kill()
        server.wait()


def _finished(argv: list[str]) -> str:
    run = subprocess.run(argv, stdout=subprocess.PIPE, text=True, timeout=600)
    if run.returncode:
        raise RunError(f"`{' '.join(argv[-6:])}` ended with exit code {run.returncode}; see its output above")
    return run.stdout


def _read(text: str) -> list[Transfer]:
    lines = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    return [Transfer(each["transport"], each["size_bytes"], tuple(each["seconds"])) for each in lines]


def tell(transport: str, size_bytes: int, seconds: Sequence[float]) -> None:
    """One measured size as a line of JSON on stdout."""
    print(json.dumps({"transport": transport, "size_bytes": size_bytes, "seconds": list(seconds)}), flush=True)


def save(transfers: Sequence[Transfer], between: str, folder: Path, links: list[dict[str, object]] | None) -> Path:
    """Write one probe record, atomically, and return its path."""
    started = datetime.now(UTC).isoformat(timespec="milliseconds")
    data = {
        "probe_version": 1,
        "started_utc": started,
        "between": between,
        "host": socket.gethostname(),
        "host_cores": os.cpu_count(),
        "links": links,
        "transfers": [asdict(each) | {"bytes_per_s": each.bytes_per_s} for each in transfers],
    }
    path = folder / "probes" / f"{started.replace(':', '')}-probe-{secrets.token_hex(4)}.json"
    write_json(path, data)
    return path


def table(transfers: Sequence[Transfer]) -> str:
    """Sizes down, transports across, in MB/s."""
    names = [name for name in TRANSPORTS if any(each.transport == name for each in transfers)]
    by = {(each.transport, each.size_bytes): each.bytes_per_s for each in transfers}
    rows = [["size", *(f"{name} MB/s" for name in names)]]
    for size in sorted({each.size_bytes for each in transfers}):
        rows.append([bytes_text(size), *(f"{by[name, size] / 1e6:.1f}" for name in names)])
    return "\n".join(aligned(rows, str.rjust))
