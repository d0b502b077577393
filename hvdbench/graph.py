"""The only place where model and strategy meet."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import tensorflow.compat.v1 as tf

from hvdbench import models
from hvdbench.config import RunConfig
from hvdbench.fingerprint import graph_facts
from hvdbench.marks import Stamps
from hvdbench.models import network
from hvdbench.models.spec import ModelSpec

if TYPE_CHECKING:
    from hvdbench.strategies.base import Strategy


@dataclass(frozen=True)
class Graph:
    """A built training graph.

    `fetches` are what one step asks for: train_op, loss, stamps and the strategy's own readings by name;
    `feed` goes with each; `variables` are the trainable ones, parts of them where the placement cuts, and
    `values` the whole of each by name, in the model's order.
    """

    fetches: dict[str, Any]
    loss: Any
    global_step: Any
    variables: tuple[Any, ...]
    values: dict[str, Any]
    facts: dict[str, Any]
    feed: dict[Any, Any] = field(default_factory=dict)


class LocalGradients(tf.train.GradientDescentOptimizer):
    """Plain SGD that remembers this worker's own gradients, before any exchange."""

    gradients: list[Any]

    def compute_gradients(self, *args: Any, **kwargs: Any) -> Any:
        found = super().compute_gradients(*args, **kwargs)
        self.gradients = [gradient for gradient, _ in found]
        return found


class EchoedValues(LocalGradients):
    """Plain SGD on the variables' own values in place of gradients: every tensor travels, nothing is computed.

    After k steps at rate r a variable is (1 - r)**k times its first value, whatever the strategy.
    """

    def __init__(self, rate: float, values: list[Any]) -> None:
        super().__init__(rate)
        self.values = values

    def compute_gradients(self, loss: Any, variables: Any) -> Any:
        # Backwards through nothing but what joins the parts of a variable.
        self.gradients = tf.gradients(self.values, variables, grad_ys=self.values)
        return list(zip(self.gradients, variables, strict=True))


def build_graph(config: RunConfig, strategy: Strategy, worker: int) -> Graph:
    """Build the model under the strategy in the default graph; `worker` seeds this worker's batch."""
    spec, dtype = models.spec(config.model, config.classes), tf.as_dtype(config.dtype)
    with tf.device(strategy.worker_device()):
        images, labels, feed = _input(config, spec, worker, dtype)
    variables, values = _variables(config, strategy, spec, dtype)
    global_step = strategy.make_global_step()
    with tf.device(strategy.worker_device()):
        loss, inputs = network.loss(spec, values, images, labels)
        facts = graph_facts(config, spec, loss, values, (images, labels))
        rate = spec.learning_rate if config.learning_rate is None else config.learning_rate
        own = LocalGradients(rate) if config.compute == "full" else EchoedValues(rate, list(values.values()))
        optimizer = strategy.wrap_optimizer(own)
        gradients = optimizer.compute_gradients(loss, variables)
        train_op = strategy.apply(optimizer, gradients, rate, global_step)
        if config.compute == "none":
            loss, inputs = tf.zeros((), dtype), {}
        stamps = Stamps(strategy.pulls, values, inputs, own.gradients, [gradient for gradient, _ in gradients])
        fetches = {"train": train_op, "loss": loss, "stamps": stamps.build(strategy.sent_ops())}
        fetches |= strategy.readings(train_op)
    return Graph(fetches, loss, global_step, tuple(variables), values, facts, feed)


def _input(config: RunConfig, spec: ModelSpec, worker: int, dtype: Any) -> tuple[Any, Any, dict[Any, Any]]:
    """Images, labels and what has to be fed: nothing unless the input is `feed`."""
    seed = batch_seed(config, worker)
    if config.input != "feed":
        return (*network.synthetic_batch(spec, config.batch_size, seed, dtype), {})
    with tf.Graph().as_default(), tf.device("/device:CPU:0"), tf.Session() as session:
        arrays = session.run(network.random_batch(spec, config.batch_size, seed, dtype))
    tensors = [
        tf.placeholder(array.dtype, array.shape, name=f"input/{name}")
        for array, name in zip(arrays, ("images", "labels"), strict=True)
    ]
    return tensors[0], tensors[1], dict(zip(tensors, map(np.ascontiguousarray, arrays), strict=True))


def batch_seed(config: RunConfig, worker: int) -> tuple[int, int]:
    """The seed of one worker's batch, apart from those of the variables."""
    return config.seed, 1_000_000 + worker


def _variables(config: RunConfig, strategy: Strategy, spec: ModelSpec, dtype: Any) -> tuple[list[Any], dict[str, Any]]:
    """All variables or parts of them in order, and every whole value by name, where the worker uses it."""
    made: list[Any] = []
    values = {}
    for index, variable in enumerate(spec.variables()):

        def initial(variable: Any = variable, index: int = index) -> Any:
            return network.initial_value(variable, index, config.seed, dtype)

        parts = strategy.make_variable(variable, initial)
        made += parts
        with tf.device(strategy.worker_device()):
            values[variable.name] = strategy.whole(variable, parts)
    return made, values
