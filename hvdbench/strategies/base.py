"""The strategy interface; at its defaults it is `local`, the specification that the others are read against."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import tensorflow.compat.v1 as tf

from hvdbench.cluster.spec import Cluster
from hvdbench.config import RunConfig
from hvdbench.graph import Graph


class Channel:
    """How the workers of a launch meet and report; alone, a worker meets only itself."""

    def barrier(self) -> None:
        """Return when every worker has called it."""

    def gather(self, report: bytes) -> list[bytes]:
        """Every worker's report in worker order on the chief; elsewhere the list may be empty."""
        return [report]


class Strategy:
    """What distribution changes in training; every hook does nothing unless a strategy overrides it."""

    def __init__(self, config: RunConfig, cluster: Cluster) -> None:
        self.config, self.cluster = config, cluster

    def start(self, session_config: Any) -> None:
        """Join the cluster before the graph is built; raises RunError when the launcher disagrees."""
        self.session_config = session_config

    def worker_device(self) -> str:
        """Device string of the worker's own ops; empty lets TensorFlow choose."""
        return ""

    def variable_device(self) -> AbstractContextManager[Any]:
        """The device scope in which variables are created."""
        return nullcontext()

    def wrap_optimizer(self, optimizer: Any) -> Any:
        """An optimizer whose update uses the mean of all workers' gradients."""
        return optimizer

    def counting_gradients(self, learning_rate: float) -> list[tuple[Any, Any]]:
        """Gradients that count contributions by travelling with the model's own; none by default."""
        return []

    @contextmanager
    def session(self, graph: Graph) -> Iterator[Any]:
        """A session with every variable initialised."""
        with tf.Session(config=self.session_config) as session:
            session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
            yield session

    def prepare_channel(self) -> None:
        """Build the ops that the channel needs, before the graph is final."""

    def channel(self, session: Any) -> Channel:
        """The channel that barriers and reports go through."""
        return Channel()

    def counted(self, session: Any) -> list[int] | None:
        """Gradients of each worker that were applied so far, or None where every step counts by construction."""
        return None

    def placement(self, graph: Graph) -> list[dict[str, Any]]:
        """Variables and bytes on each PS, read from the built graph; empty without a PS."""
        return []

    def serve(self) -> None:
        """What a task that does not train does until the work is done."""
