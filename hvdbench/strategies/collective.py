"""Ring all-reduce over gRPC with TensorFlow's own collectives: Horovod's topology on the PS's transport."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import tensorflow.compat.v1 as tf

from hvdbench.errors import RunError, UsageError
from hvdbench.graph import Graph
from hvdbench.strategies.base import Channel, Strategy
from hvdbench.strategies.mpi_channel import MpiChannel

# Every worker's reductions meet under these numbers; one group, one instance for each tensor.
GROUP_KEY = 1
COUNT_INSTANCE = 1
FIRST_INSTANCE = 100


class Collective(Strategy):
    """Every worker holds the variables; gradients are averaged by CollectiveReduce. Addresses travel by MPI."""

    def start(self, session_config: Any) -> None:
        super().start(session_config)
        if len(self.cluster.worker_hosts) != self.cluster.workers:
            raise UsageError("strategy collective learns its addresses through MPI; start it with mpirun")
        from mpi4py import MPI

        self.workers = MPI.COMM_WORLD
        me = self.cluster.index
        spec = tf.train.ClusterSpec({"worker": list(self.cluster.worker_hosts)})
        session_config.experimental.collective_group_leader = "/job:worker/replica:0/task:0"
        # Without filters every session waits for every task, and a dead one would not be noticed.
        session_config.device_filters.extend(["/job:worker/task:0", f"/job:worker/task:{me}"])
        try:
            self.server = tf.distribute.Server(spec, job_name="worker", task_index=me, config=session_config)
        except tf.errors.OpError as error:
            raise RunError(
                f"worker {me} cannot listen on {self.cluster.worker_hosts[me]}: {error.message.splitlines()[0]}; "
                "choose a free port of this host"
            ) from error

    def worker_device(self) -> str:
        return f"/job:worker/task:{self.cluster.index}"

    def make_variable(self, variable: Any, initial: Any) -> list[Any]:
        with tf.device(self.worker_device()):
            return super().make_variable(variable, initial)

    def make_global_step(self) -> Any:
        with tf.device(self.worker_device()):
            return super().make_global_step()

    def wrap_optimizer(self, optimizer: Any) -> Any:
        return _Averaging(optimizer, self.cluster.workers)

    def readings(self, train_op: Any) -> dict[str, Any]:
        # Summed by the same collectives: a worker that took part twice, or not, would show.
        one = tf.one_hot(self.cluster.index, self.cluster.workers, dtype=tf.float32)
        return {"took_part": reduced(one, self.cluster.workers, COUNT_INSTANCE, "Id")}

    @contextmanager
    def session(self, graph: Graph) -> Iterator[Any]:
        with tf.Session(self.server.target, config=self.session_config) as session:
            session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
            # Equal seeds give equal variables; nobody may reduce before everybody has a session.
            self.workers.Barrier()
            yield session
            self.workers.Barrier()

    @contextmanager
    def channel(self) -> Iterator[Channel]:
        yield MpiChannel(self.workers)


class _Averaging:
    """An optimizer whose gradients are the mean over the workers, reduced as soon as each is there."""

    def __init__(self, optimizer: Any, workers: int) -> None:
        self.optimizer, self.size = optimizer, workers

    def compute_gradients(self, loss: Any, variables: Any) -> list[tuple[Any, Any]]:
        own = self.optimizer.compute_gradients(loss, variables)
        return [
            (reduced(gradient, self.size, FIRST_INSTANCE + index, "Div"), variable)
            for index, (gradient, variable) in enumerate(own)
        ]

    def apply_gradients(self, gradients: Any, global_step: Any = None) -> Any:
        return self.optimizer.apply_gradients(gradients, global_step)


def reduced(value: Any, workers: int, instance: int, final: str) -> Any:
    """The sum of every worker's `value`, or the mean with `final` "Div", by TensorFlow's ring; alone, the value."""
    if workers == 1:
        return value
    return tf.raw_ops.CollectiveReduce(
        input=value,
        group_size=workers,
        group_key=GROUP_KEY,
        instance_key=instance,
        merge_op="Add",
        final_op=final,
        subdiv_offsets=[0],
        communication_hint="ring",
    )
