"""Ring all-reduce with Horovod, over MPI or Gloo as the launcher set it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

from hvdbench.errors import RunError
from hvdbench.graph import Graph
from hvdbench.strategies import tuning
from hvdbench.strategies.base import Channel, Strategy


class Horovod(Strategy):
    """Every worker holds the variables; gradients are averaged by allreduce."""

    def start(self, session_config: Any) -> None:
        super().start(session_config)
        if not self.config.mpi_defaults:
            chosen = tuning.environment(self.config.allreduce_algorithm, self.config.fusion_mb, self.config.cycle_ms)
            for name, value in chosen.items():
                os.environ.setdefault(name, value)
        try:
            import horovod.tensorflow as hvd
        except ImportError as error:
            raise RunError(
                f"strategy horovod needs Horovod, which does not load here ({error}); run make setup, or choose ps_sync"
            ) from error
        hvd.init()
        self.hvd = hvd
        check_ranks(hvd.rank(), hvd.size(), self.cluster.index, self.cluster.workers)
        gpus = tf.config.list_physical_devices("GPU")
        if gpus:
            session_config.gpu_options.visible_device_list = str(pinned_gpu(hvd.local_rank(), len(gpus)))

    def wrap_optimizer(self, optimizer: Any) -> Any:
        return self.hvd.DistributedOptimizer(optimizer, op=self.hvd.Average)

    def readings(self, train_op: Any) -> dict[str, Any]:
        # Counted by an all-reduce of the same cycle: a worker that took part twice, or not, would show.
        one = tf.one_hot(self.cluster.index, self.cluster.workers, dtype=tf.float32)
        return {"took_part": self.hvd.allreduce(one, op=self.hvd.Sum, name="hvdbench_contributions")}

    @contextmanager
    def session(self, graph: Graph) -> Iterator[Any]:
        broadcast = self.hvd.broadcast_global_variables(0)
        with tf.Session(config=self.session_config) as session:
            session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
            session.run(broadcast)
            yield session

    @contextmanager
    def channel(self) -> Iterator[Channel]:
        # Neither becomes the default: the training session opens while the channel is in use.
        graph = tf.Graph()
        with closing(tf.Session("", graph, self.session_config)) as session:
            with graph.as_default():
                channel = AllgatherChannel(self.hvd, session)
            yield channel


class AllgatherChannel(Channel):
    """Barriers and reports through Horovod's allgather, in a graph and session of their own."""

    def __init__(self, hvd: Any, session: Any) -> None:
        self.session = session
        self.bytes_in = tf.placeholder(tf.uint8, (None,))
        self.length_in = tf.placeholder(tf.int64, (1,))
        self.bytes_out = hvd.allgather(self.bytes_in, name="hvdbench_reports")
        self.lengths_out = hvd.allgather(self.length_in, name="hvdbench_lengths")

    def barrier(self) -> None:
        self.session.run(self.lengths_out, {self.length_in: [0]})

    def exchange(self, report: bytes) -> list[bytes]:
        data = np.frombuffer(report, np.uint8)
        lengths = self.session.run(self.lengths_out, {self.length_in: [len(data)]})
        joined = self.session.run(self.bytes_out, {self.bytes_in: data}).tobytes()
        ends = np.cumsum(lengths)
        return [joined[end - length : end] for end, length in zip(ends, lengths, strict=True)]

    def gather(self, report: bytes) -> list[bytes]:
        return self.exchange(report)


def check_ranks(rank: int, size: int, expected_rank: int, expected_size: int) -> None:
    """Refuse a Horovod whose world is not the launcher's: N copies of size 1 look like perfect scaling (C43)."""
    if (rank, size) != (expected_rank, expected_size):
        raise RunError(
            f"Horovod says rank {rank} of {size} but the launcher started rank {expected_rank} of "
            f"{expected_size}; Horovod was built against another MPI, rebuild it or use horovodrun"
        )


def pinned_gpu(local_rank: int, visible_gpus: int) -> int:
    """The one GPU of this worker; raises RunError when its host has fewer GPUs than workers (C19)."""
    if local_rank >= visible_gpus:
        raise RunError(f"local rank {local_rank} has no GPU: {visible_gpus} visible; start one worker per GPU")
    return local_rank
