"""The only place where model and strategy meet."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import tensorflow.compat.v1 as tf

from hvdbench import models
from hvdbench.config import RunConfig
from hvdbench.models import network

if TYPE_CHECKING:
    from hvdbench.strategies.base import Strategy


@dataclass(frozen=True)
class Graph:
    """A built training graph: `loss` is a scalar, `variables` are in creation order."""

    train_op: Any
    loss: Any
    global_step: Any
    variables: tuple[Any, ...]
    facts: dict[str, Any]


def build_graph(config: RunConfig, strategy: Strategy, worker: int) -> Graph:
    """Build the model under the strategy in the default graph; `worker` seeds this worker's batch."""
    spec, dtype = models.spec(config.model), tf.as_dtype(config.dtype)
    with tf.device(strategy.worker_device()):
        images, labels = network.synthetic_batch(spec, config.batch_size, (config.seed, 1_000_000 + worker), dtype)
    with strategy.variable_device():
        variables = network.trainable_variables(spec, config.seed, dtype)
        global_step = tf.train.get_or_create_global_step()
    with tf.device(strategy.worker_device()):
        loss = network.loss(spec, variables, images, labels)
        facts = graph_facts(config, loss, variables)
        rate = spec.learning_rate if config.learning_rate is None else config.learning_rate
        optimizer = strategy.wrap_optimizer(tf.train.GradientDescentOptimizer(rate))
        gradients = optimizer.compute_gradients(loss, list(variables.values()))
        train_op = optimizer.apply_gradients(gradients + strategy.counting_gradients(rate), global_step)
    return Graph(train_op, loss, global_step, tuple(variables.values()), facts)


def graph_facts(config: RunConfig, loss: Any, variables: dict[str, Any]) -> dict[str, Any]:
    """Fingerprint and size of the graph: variables in order and every forward op, device left out."""
    spec = models.spec(config.model)
    listed = [
        {"name": name, "shape": variable.shape.as_list(), "dtype": variable.dtype.base_dtype.name}
        for name, variable in variables.items()
    ]
    forward = forward_ops(loss.op, {variable.handle.op.name: name for name, variable in variables.items()})
    text = json.dumps({"variables": listed, "forward": forward}, sort_keys=True)
    return {
        "fingerprint": hashlib.sha256(text.encode()).hexdigest(),
        "variables": listed,
        "param_count": spec.param_count,
        "param_bytes": spec.param_count * tf.as_dtype(config.dtype).size,
        "train_flops_per_image": spec.train_flops_per_image,
    }


def forward_ops(loss_op: Any, handles: dict[str, str]) -> list[list[Any]]:
    """Type, shape of result and inputs of every op that the loss needs, in graph order.

    Names are replaced by positions: a scope that a strategy opens must not change the fingerprint.
    """
    needed, stack = {}, [loss_op]
    while stack:
        op = stack.pop()
        if op.name not in needed:
            needed[op.name] = op
            stack.extend(tensor.op for tensor in op.inputs)
    ordered = [op for op in loss_op.graph.get_operations() if op.name in needed]
    position = {op.name: index for index, op in enumerate(ordered)}
    return [
        [
            op.type,
            handles.get(op.name, ""),
            [str(tensor.shape) for tensor in op.outputs],
            _attributes(op),
            [position[tensor.op.name] for tensor in op.inputs],
        ]
        for op in ordered
    ]


def _attributes(op: Any) -> dict[str, str]:
    # shared_name, container and _class follow from placement and names, not from the mathematics.
    left_out = ("shared_name", "container", "debug_name", "allowed_devices")
    return {
        key: value.SerializeToString(deterministic=True).hex()
        for key, value in op.node_def.attr.items()
        if key not in left_out and not key.startswith("_")
    }
