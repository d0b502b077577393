"""Timestamps inside the graph: where a step's time goes, at the price of a few tiny ops."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import tensorflow.compat.v1 as tf


@dataclass(frozen=True)
class Stamps:
    """What the stamps of one graph hang on.

    `pulls` says whether variables arrive from elsewhere; then the value of each variable and the input of
    each layer are stamped too, to see how long the forward pass stood still for them.
    """

    pulls: bool
    values: dict[str, Any]
    inputs: dict[str, Any]
    own_gradients: Sequence[Any]
    mean_gradients: Sequence[Any]

    def build(self, sent: Sequence[Any] | None) -> Any:
        """One float64 vector on the worker: started, ready, sent, received, then arrivals and layer inputs.

        `sent` are the ops after which this worker's part of the exchange is done, None when that is as soon
        as its gradients are ready. Seconds of the host's real-time clock; phases.py reads them.
        """
        ready = _after(self.own_gradients)
        times = [tf.timestamp(), ready, ready if sent is None else _after(sent), _after(self.mean_gradients)]
        if self.pulls:
            layers = [name for name in self.inputs if f"{name}/weights" in self.values]
            times += [_after([self.values[f"{name}/{kind}"] for kind in ("weights", "biases")]) for name in layers]
            times += [_after([_corner(self.inputs[name])]) for name in layers]
        return tf.stack(times)


def _after(tensors: Sequence[Any]) -> Any:
    with tf.control_dependencies(list(tensors)):
        return tf.timestamp()


def _corner(value: Any) -> Any:
    # A data edge: a control edge on an activation would keep TensorFlow from fusing it with its convolution.
    return tf.slice(value, [0] * value.shape.rank, [1] * value.shape.rank)
