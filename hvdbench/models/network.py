"""Turns a model specification into raw TensorFlow 1 graph ops; knows nothing of distribution."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

from hvdbench.models.spec import Conv, Dense, ModelSpec, Pool, Variable


def random_batch(spec: ModelSpec, batch_size: int, seed: tuple[int, int], dtype: Any) -> tuple[Any, Any]:
    """Images (N, H, W, 3) and labels (N,) as tensors, equal for equal seeds."""
    shape = (batch_size, spec.image_size, spec.image_size, 3)
    images = tf.cast(tf.random.stateless_normal(shape, seed), dtype)
    return images, tf.random.stateless_uniform((batch_size,), seed, 0, spec.classes, tf.int32)


def synthetic_batch(spec: ModelSpec, batch_size: int, seed: tuple[int, int], dtype: Any) -> tuple[Any, Any]:
    """The random batch held in local variables, drawn once when they are initialised."""
    return (
        _local("input/images", lambda: random_batch(spec, batch_size, seed, dtype)[0]),
        _local("input/labels", lambda: random_batch(spec, batch_size, seed, dtype)[1]),
    )


def _local(name: str, initial_value: Any) -> Any:
    return tf.Variable(
        initial_value, trainable=False, collections=[tf.GraphKeys.LOCAL_VARIABLES], name=name, use_resource=True
    ).read_value()


def initial_value(variable: Variable, index: int, seed: int, dtype: Any) -> Any:
    """He-normal weights (He et al. 2015) from the seed and the variable's place in the model; biases zero."""
    if not variable.fan_in:
        return tf.zeros(variable.shape, dtype)
    values = tf.random.stateless_truncated_normal(variable.shape, (seed, index))
    return tf.cast(values * (2.0 / variable.fan_in) ** 0.5, dtype)


def loss(spec: ModelSpec, values: dict[str, Any], images: Any, labels: Any) -> tuple[Any, dict[str, Any]]:
    """Mean softmax cross-entropy of the batch, a scalar, and the input of every layer by its name.

    `values` are the variables' values by name.
    """
    value, inputs = images, {}
    for layer in spec.layers:
        inputs[layer.name] = value
        with tf.name_scope(layer.name):
            value = _apply(layer, values, value)
    with tf.name_scope("loss"):
        return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=value)), inputs


def _apply(layer: Any, values: dict[str, Any], value: Any) -> Any:
    if isinstance(layer, Pool):
        return tf.nn.max_pool2d(value, layer.kernel, layer.stride, "VALID")
    weights, biases = values[f"{layer.name}/weights"], values[f"{layer.name}/biases"]
    if isinstance(layer, Dense):
        if value.shape.rank == 4:
            value = tf.reshape(value, (value.shape[0], -1))
        value = tf.nn.bias_add(tf.matmul(value, weights), biases)
        return tf.nn.relu(value) if layer.relu else value
    assert isinstance(layer, Conv)
    if layer.pad:
        value = tf.pad(value, ((0, 0), (layer.pad, layer.pad), (layer.pad, layer.pad), (0, 0)))
    return tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(value, weights, layer.stride, "VALID"), biases))
