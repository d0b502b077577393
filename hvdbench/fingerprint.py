"""What makes two graphs the same work: variables, forward ops and loss, without placement."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from hvdbench.config import RunConfig
from hvdbench.models.spec import ModelSpec

# These follow from placement and names, not from the mathematics.
LEFT_OUT = ("shared_name", "container", "debug_name", "allowed_devices")


def graph_facts(
    config: RunConfig, spec: ModelSpec, loss: Any, values: dict[str, Any], batch: Sequence[Any]
) -> dict[str, Any]:
    """Fingerprint and size of the graph; `variables` and `forward` are what the fingerprint is made of."""
    listed = [
        {"name": name, "shape": value.shape.as_list(), "dtype": value.dtype.base_dtype.name}
        for name, value in values.items()
    ]
    leaves = {value.op.name: f"variable {name}" for name, value in values.items()}
    leaves |= {tensor.op.name: f"input {name}" for tensor, name in zip(batch, ("images", "labels"), strict=True)}
    forward = forward_ops(loss.op, leaves)
    text = json.dumps({"variables": listed, "forward": forward}, sort_keys=True)
    return {
        "fingerprint": hashlib.sha256(text.encode()).hexdigest(),
        "variables": listed,
        "forward": forward,
        "param_count": spec.param_count,
        "param_bytes": spec.param_count * tf.as_dtype(config.dtype).size,
        "train_flops_per_image": spec.train_flops_per_image,
    }


def forward_ops(loss_op: Any, leaves: dict[str, str]) -> list[str]:
    """One line for every op that the loss needs: type, shape, inputs by position, attributes by hash.

    The search ends at `leaves` (op name to what it stands for), so that neither the placement of a variable
    nor the way its value or the input arrives can change the lines.
    """
    needed, stack = {}, [loss_op]
    while stack:
        op = stack.pop()
        if op.name not in needed:
            needed[op.name] = op
            if op.name not in leaves:
                stack.extend(tensor.op for tensor in op.inputs)
    # Depth first from the loss, so that the order does not depend on when a strategy made which op.
    order: dict[str, int] = {}
    _visit(loss_op, leaves, order)
    ops = sorted((op for name, op in needed.items()), key=lambda op: order[op.name])
    return [_line(op, leaves, order) for op in ops]


def _visit(op: Any, leaves: dict[str, str], order: dict[str, int]) -> None:
    """Number the ops in post-order, inputs before the op that uses them."""
    if op.name in order:
        return
    if op.name not in leaves:
        for tensor in op.inputs:
            _visit(tensor.op, leaves, order)
    order[op.name] = len(order)


def _line(op: Any, leaves: dict[str, str], order: dict[str, int]) -> str:
    shapes = " ".join(f"{tensor.dtype.base_dtype.name}{tensor.shape}" for tensor in op.outputs)
    if op.name in leaves:
        return f"{leaves[op.name]} {shapes}"
    attributes = {
        key: value.SerializeToString(deterministic=True).hex()
        for key, value in op.node_def.attr.items()
        if key not in LEFT_OUT and not key.startswith("_")
    }
    digest = hashlib.sha256(json.dumps(attributes, sort_keys=True).encode()).hexdigest()[:8]
    inputs = ",".join(str(order[tensor.op.name]) for tensor in op.inputs)
    return f"{op.type} {shapes} of [{inputs}] {digest}"
