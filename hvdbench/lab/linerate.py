"""Every link of a lab measured before use: what it carries, against what it was set to."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass

from hvdbench.errors import RunError
from hvdbench.lab.commands import enter
from hvdbench.lab.topology import Lab, Node

STREAMS = (1, 2, 4)
SECONDS = 0.6
# More than this off the set rate is a link that is not what the record would say.
TOLERANCE = 0.05
# The kernel shapes frames and the probe counts payload: of 1514 bytes, 14 are Ethernet's, 20 IP's and 32 TCP's.
PAYLOAD_SHARE = 1448 / 1514
# Another program's burst of work can spoil one try on a small machine, hardly three.
TRIES = 3


@dataclass(frozen=True)
class LinkRate:
    """One direction between two nodes: payload bytes per second by number of TCP streams.

    `set_bytes_per_s` is what the links were set to, frames and all.
    """

    source: str
    target: str
    set_bytes_per_s: float
    bytes_per_s: dict[int, float]

    @property
    def best_bytes_per_s(self) -> float:
        return max(self.bytes_per_s.values())


def measure(lab: Lab) -> list[LinkRate]:
    """Each node sends to the next one, so that every link is measured in both directions.

    Raises RunError when the best of 1, 2 and 4 streams, with its headers, is more than 5 % off the set rate.
    """
    if len(lab.nodes) < 2:
        return []
    found = []
    for source, target in zip(lab.nodes, [*lab.nodes[1:], lab.nodes[0]], strict=True):
        for _ in range(TRIES):
            rates = {streams: transfer(source, target, streams) for streams in STREAMS}
            link = LinkRate(source.name, target.name, min(source.rate_bit_s, target.rate_bit_s) / 8, rates)
            off = link.best_bytes_per_s / PAYLOAD_SHARE / link.set_bytes_per_s - 1
            if abs(off) <= TOLERANCE:
                break
        else:
            raise RunError(
                f"the link {source.name} to {target.name} carries {link.best_bytes_per_s * 8 / 1e6:.0f} Mbit/s but is "
                f"set to {link.set_bytes_per_s * 8 / 1e6:.0f}; the machine is busy or cannot reach it, lower --rate"
            )
        found.append(link)
    return found


def transfer(source: Node, target: Node, streams: int) -> float:
    """Bytes per second of one plain TCP transfer between two nodes."""
    tool = [sys.executable, "-m", "hvdbench.probe.tcp"]
    receiver = subprocess.Popen(
        enter(target, [*tool, "receive", target.address, str(streams)]), stdout=subprocess.PIPE, text=True
    )
    try:
        assert receiver.stdout is not None
        port = receiver.stdout.readline().strip()
        sender = [*tool, "send", target.address, port, str(streams), str(SECONDS)]
        subprocess.run(enter(source, sender), check=True, timeout=30)
        return float(receiver.communicate(timeout=30)[0])
    except (subprocess.SubprocessError, ValueError) as error:
        raise RunError(f"no TCP transfer from {source.name} to {target.name}: {error}; see the lines above") from error
    finally:
        receiver.kill()
        receiver.wait()
