"""Star over MPI: workers push gradients to roots that only serve, and pull the mean back; the PS's topology alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import tensorflow.compat.v1 as tf

from hvdbench import models
from hvdbench.errors import UsageError
from hvdbench.graph import Graph
from hvdbench.strategies import placement, star_root
from hvdbench.strategies.base import Channel, Strategy
from hvdbench.strategies.mpi_channel import MpiChannel
from hvdbench.strategies.star_messages import messages_of
from hvdbench.strategies.star_worker import Exchange


class MpiStar(Strategy):
    """Every worker holds the variables; the first ranks of the launch are roots, which hold nothing but a mean."""

    def start(self, session_config: Any) -> None:
        super().start(session_config)
        if not self.cluster.ps_hosts or self.cluster.rank is None:
            raise UsageError("strategy mpi_star talks MPI; start it with mpirun -np N python -m hvdbench.ps --ps P")
        from mpi4py import MPI

        self.world = MPI.COMM_WORLD
        # The roots' half is never used: they hear of everything through messages.
        self.workers = self.world.Split(int(self.cluster.trains), self.world.rank)
        spec = models.spec(self.config.model, self.config.classes)
        self.roots = len(self.cluster.ps_hosts)
        self.pieces = placement.assign(spec.variables(), self.roots, self.config.placement)
        self.dtype = tf.as_dtype(self.config.dtype)
        counts = [variable.elements for variable in spec.variables()]
        names = [variable.name for variable in spec.variables()]
        # Who took part goes the way of the gradients, as one more of them.
        self.messages = messages_of(names, self.pieces, self.dtype.size, self.cluster.workers)
        self.elements = [*counts, self.cluster.workers]

    def wrap_optimizer(self, optimizer: Any) -> Any:
        return _Averaging(optimizer, self)

    def mean_of(self, gradients: Sequence[Any]) -> list[Any]:
        """The mean over the workers of each gradient and, last, of who took part."""
        one = tf.one_hot(self.cluster.index, self.cluster.workers, dtype=self.dtype)
        own = [*gradients, one]
        self.exchange = Exchange(self.world, self.messages, self.elements, self.dtype.as_numpy_dtype)
        pushed = [
            tf.numpy_function(lambda value, index=index: self.exchange.push(index, value), [value], [])
            for index, value in enumerate(own)
        ]
        with tf.control_dependencies(pushed):
            means = tf.numpy_function(self.exchange.pull, [], [self.dtype] * len(own))
        means = [tf.reshape(mean, value.shape) for mean, value in zip(means, own, strict=True)]
        self.took_part = means[-1] * self.cluster.workers
        return means[:-1]

    def readings(self, train_op: Any) -> dict[str, Any]:
        return {"took_part": self.took_part}

    @contextmanager
    def channel(self) -> Iterator[Channel]:
        channel = StarChannel(self.world, self.workers, self.roots)
        yield channel
        self.exchange.close()
        channel.done()

    def placement(self, graph: Graph) -> list[dict[str, Any]]:
        tasks: list[dict[str, Any]] = [{"ps": i, "variables": [], "bytes": 0} for i in range(self.roots)]
        for piece in self.pieces:
            tasks[piece.ps]["variables"].append(piece.name)
            tasks[piece.ps]["bytes"] += piece.elements * self.dtype.size
        return tasks

    def serve(self, answer: Callable[[str], bytes]) -> None:
        mine = [message for message in self.messages if message.root == self.cluster.index]
        star_root.serve(self.world, self.roots, mine, self.dtype.as_numpy_dtype, answer)


class StarChannel(MpiChannel):
    """The workers' channel, and the chief's questions to the roots."""

    def __init__(self, world: Any, workers: Any, roots: int) -> None:
        super().__init__(workers)
        self.world, self.roots = world, roots

    def ask(self, question: str) -> list[bytes]:
        if self.workers.rank:
            return []
        return [star_root.ask(self.world, root, question) for root in range(self.roots)]

    def done(self) -> None:
        """Tell every root that this worker needs it no more."""
        for root in range(self.roots):
            self.world.Send(star_root.DONE, root, star_root.QUESTION)


class _Averaging:
    """An optimizer whose gradients come back from the roots as means."""

    def __init__(self, optimizer: Any, star: MpiStar) -> None:
        self.optimizer, self.star = optimizer, star

    def compute_gradients(self, loss: Any, variables: Any) -> list[tuple[Any, Any]]:
        own = self.optimizer.compute_gradients(loss, variables)
        means = self.star.mean_of([gradient for gradient, _ in own])
        return [(mean, variable) for mean, (_, variable) in zip(means, own, strict=True)]

    def apply_gradients(self, gradients: Any, global_step: Any = None) -> Any:
        return self.optimizer.apply_gradients(gradients, global_step)
