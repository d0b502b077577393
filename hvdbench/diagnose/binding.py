"""Which resource holds the asked job back: a wire, the transport, the CPU; from what was achieved and achievable."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from hvdbench.diagnose import rungs
from hvdbench.diagnose.evidence import Sample, Samples
from hvdbench.units import BytePerSecond, Ratio, Second

WIRE, GRPC, CPU, UNKNOWN = "wire", "transport", "cpu", "unknown"
# From this share of what TCP reaches on, a link has nothing left to give.
FULL: Ratio = 0.85
# The same exchange without computation takes nearly as long: computation has no part in it.
ALONE: Ratio = 0.7


@dataclass(frozen=True)
class Binding:
    """`tcp_bytes_per_s` is what TCP reaches on the hottest link, `achieved_bytes_per_s` what the asked job moves on it
    in one direction while bytes move, `grpc_bytes_per_s` what the same tensors reach when nothing is computed.
    `alone_s` is that exchange alone, in seconds a step. None where nothing measured it.
    """

    what: str
    host: str | None
    tcp_bytes_per_s: BytePerSecond | None
    achieved_bytes_per_s: BytePerSecond | None
    grpc_bytes_per_s: BytePerSecond | None
    alone_s: Second | None
    exchange_s: Second


def binding(samples: Samples, exchange_s: Second) -> Binding:
    """The resource that binds the exchange; a port only where TCP was measured on its link.

    wire: the hottest link carries at least 85 % of what TCP reaches while bytes move. transport: it does not, and
    gRPC reaches no more when it has the hosts to itself, or takes at least 70 % of the time. cpu: it does then.
    """
    asked, alone = samples[rungs.ASKED], samples.get(rungs.PRICE_STAR, ())
    host = asked[0].hottest_host
    tcp = asked[0].link_bytes_per_s.get(host) if host else None
    achieved, grpc = _moving(asked), _moving(alone)
    alone_s = median(each.step_s for each in alone) if alone else None
    return Binding(
        _what(achieved, grpc, alone_s, exchange_s),
        host,
        tcp,
        None if tcp is None or achieved is None else achieved * tcp,
        None if tcp is None or grpc is None else grpc * tcp,
        alone_s,
        exchange_s,
    )


def _what(achieved: Ratio | None, grpc: Ratio | None, alone_s: Second | None, exchange_s: Second) -> str:
    if achieved is not None and achieved >= FULL:
        return WIRE
    if alone_s is None or exchange_s <= 0:
        return UNKNOWN
    if achieved is not None and grpc is not None and grpc >= FULL:
        return CPU
    return GRPC if alone_s >= ALONE * exchange_s else CPU


def _moving(samples: Sequence[Sample]) -> Ratio | None:
    shares = [each.moving_share for each in samples if each.moving_share is not None]
    return median(shares) if shares else None
