"""The strategies: a literal table from name to traits and class, the class loaded on use."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from hvdbench.errors import UsageError

if TYPE_CHECKING:
    from hvdbench.strategies.base import Strategy


@dataclass(frozen=True)
class Traits:
    """What is known of a strategy without loading it.

    `needs_ps`: some tasks only serve, PS tasks or roots; `exchanges`: workers get something of each other;
    `tuned`: the settings of strategies/tuning.py are its own.
    """

    path: str
    topology: str
    transport: str
    needs_ps: bool = False
    one_worker: bool = False
    has_tokens: bool = False
    asynchronous: bool = False
    exchanges: bool = True
    tuned: bool = False


STRATEGIES = {
    "local": Traits("hvdbench.strategies.base:Strategy", "none", "none", one_worker=True, exchanges=False),
    "local_server": Traits(
        "hvdbench.strategies.local_server:LocalServer", "none", "grpc", one_worker=True, exchanges=False
    ),
    "none": Traits("hvdbench.strategies.none:Replicas", "none", "none", exchanges=False),
    "ps_sync": Traits("hvdbench.strategies.ps_sync:PsSync", "star", "grpc", needs_ps=True, has_tokens=True),
    "ps_async": Traits("hvdbench.strategies.ps_async:PsAsync", "star", "grpc", needs_ps=True, asynchronous=True),
    "mpi_star": Traits("hvdbench.strategies.mpi_star:MpiStar", "star", "mpi", needs_ps=True),
    "collective": Traits("hvdbench.strategies.collective:Collective", "ring", "grpc"),
    "horovod": Traits("hvdbench.strategies.horovod:Horovod", "ring", "mpi", tuned=True),
}


def traits(name: str) -> Traits:
    """The named strategy's traits; raises UsageError listing the known names."""
    if name not in STRATEGIES:
        raise UsageError(f"--strategy {name!r} is unknown; choose one of {', '.join(sorted(STRATEGIES))}")
    return STRATEGIES[name]


def load(name: str) -> type[Strategy]:
    """The named strategy's class; imports TensorFlow."""
    module, _, attribute = traits(name).path.partition(":")
    found: type[Strategy] = getattr(import_module(module), attribute)
    return found
