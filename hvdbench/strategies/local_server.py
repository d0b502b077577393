"""The local graph through a server's session: what gRPC sessions cost without any PS (C11)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import tensorflow.compat.v1 as tf

from hvdbench.cluster.ports import free_ports
from hvdbench.graph import Graph
from hvdbench.strategies.base import Strategy


class LocalServer(Strategy):
    """One process whose session goes through `tf.distribute.Server`; nothing is distributed."""

    def start(self, session_config: Any) -> None:
        super().start(session_config)
        spec = tf.train.ClusterSpec({"worker": [f"127.0.0.1:{free_ports(1)[0]}"]})
        # The server owns the devices, so that options given to the session alone would not reach them (C11).
        self.server = tf.distribute.Server(spec, job_name="worker", task_index=0, config=session_config)

    def worker_device(self) -> str:
        return "/job:worker/task:0"

    def make_variable(self, variable: Any, initial: Any) -> list[Any]:
        with tf.device(self.worker_device()):
            return super().make_variable(variable, initial)

    @contextmanager
    def session(self, graph: Graph) -> Iterator[Any]:
        with tf.Session(self.server.target, config=self.session_config) as session:
            session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
            yield session
