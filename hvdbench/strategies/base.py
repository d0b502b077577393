"""The strategy interface; at its defaults it is `local`, the specification that the others are read against."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import tensorflow.compat.v1 as tf

from hvdbench.cluster.spec import Cluster
from hvdbench.config import RunConfig
from hvdbench.graph import Graph
from hvdbench.models.spec import Variable


class Channel:
    """How the tasks of a launch meet and report; alone, a worker meets only itself."""

    def barrier(self) -> None:
        """Return when every worker has called it."""

    def exchange(self, report: bytes) -> list[bytes]:
        """Every worker's report in worker order, on every worker."""
        return [report]

    def gather(self, report: bytes) -> list[bytes]:
        """Every worker's report in worker order on the chief; elsewhere the list may be empty."""
        return [report]

    def ask(self, question: str) -> list[bytes]:
        """The answer of every task that does not train, to the chief; elsewhere empty."""
        return []


class Strategy:
    """What distribution changes in training; every hook does nothing unless a strategy overrides it."""

    # Whether variables live elsewhere and are fetched for every step.
    pulls = False

    def __init__(self, config: RunConfig, cluster: Cluster) -> None:
        self.config, self.cluster = config, cluster

    def start(self, session_config: Any) -> None:
        """Join the cluster before the graph is built; raises RunError when the launcher disagrees."""
        self.session_config = session_config

    def worker_device(self) -> str:
        """Device string of the worker's own ops; empty lets TensorFlow choose."""
        return ""

    def make_global_step(self) -> Any:
        """The count of updates."""
        return tf.train.get_or_create_global_step()

    def make_variable(self, variable: Variable, initial: Callable[[], Any]) -> list[Any]:
        """The variable, or its parts in order, where this strategy keeps it."""
        return [tf.Variable(initial, trainable=True, name=variable.name, use_resource=True)]

    def whole(self, variable: Variable, parts: Sequence[Any]) -> Any:
        """The value of a variable from its parts."""
        return tf.identity(parts[0].read_value(), name=f"values/{variable.name}")

    def wrap_optimizer(self, optimizer: Any) -> Any:
        """An optimizer whose update uses the mean of all workers' gradients."""
        return optimizer

    def apply(self, optimizer: Any, gradients: list[tuple[Any, Any]], learning_rate: float, global_step: Any) -> Any:
        """The op of one step: the update by the mean gradient, or what stands for it on this worker."""
        return optimizer.apply_gradients(gradients, global_step)

    def sent_ops(self) -> Sequence[Any] | None:
        """The ops after which this worker has done its part of the exchange; None: once its gradients are ready."""
        return None

    def readings(self, train_op: Any) -> dict[str, Any]:
        """What every step fetches besides, by its name in loop.Reading; after `train_op` where order matters."""
        return {}

    @contextmanager
    def channel(self) -> Iterator[Channel]:
        """The channel that barriers and reports go through, open before and after the training session."""
        yield Channel()

    @contextmanager
    def session(self, graph: Graph) -> Iterator[Any]:
        """A session with every variable initialised."""
        with tf.Session(config=self.session_config) as session:
            session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
            yield session

    def counted(self, session: Any) -> list[int] | None:
        """Gradients of each worker that were applied so far, or None where nobody counts apart from the steps."""
        return None

    def placement(self, graph: Graph) -> list[dict[str, Any]]:
        """Variables and bytes on each PS, read from the built graph; empty without a PS."""
        return []

    def serve(self, answer: Callable[[str], bytes]) -> None:
        """What a task that does not train does until the work is done; `answer` replies to what the chief asks."""
