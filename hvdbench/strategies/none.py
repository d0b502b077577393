"""N replicas that exchange nothing: the upper bound of every synchronous strategy (C41)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from hvdbench.graph import Graph
from hvdbench.strategies.base import Strategy
from hvdbench.strategies.horovod import Horovod


class Replicas(Horovod):
    """Horovod's processes and barriers around steps of their own; every replica trains its own model."""

    def wrap_optimizer(self, optimizer: Any) -> Any:
        return optimizer

    def readings(self, train_op: Any) -> dict[str, Any]:
        return {}

    @contextmanager
    def session(self, graph: Graph) -> Iterator[Any]:
        # Not Horovod's, which broadcasts: equal seeds give equal variables.
        with Strategy.session(self, graph) as session:
            yield session
