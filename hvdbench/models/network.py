"""Turns a model specification into raw TensorFlow 1 graph ops; knows nothing of distribution."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

from hvdbench.models.spec import Conv, Dense, ModelSpec, Pool


def synthetic_batch(spec: ModelSpec, batch_size: int, seed: tuple[int, int], dtype: Any) -> tuple[Any, Any]:
    """A fixed batch of images (N, H, W, 3) and labels (N,) held in local variables, equal for equal seeds."""

    def images() -> Any:
        shape = (batch_size, spec.image_size, spec.image_size, 3)
        return tf.cast(tf.random.stateless_normal(shape, seed), dtype)

    def labels() -> Any:
        return tf.random.stateless_uniform((batch_size,), seed, 0, spec.classes, tf.int32)

    return _local("input/images", images), _local("input/labels", labels)


def _local(name: str, initial_value: Any) -> Any:
    return tf.Variable(
        initial_value, trainable=False, collections=[tf.GraphKeys.LOCAL_VARIABLES], name=name, use_resource=True
    ).read_value()


def trainable_variables(spec: ModelSpec, seed: int, dtype: Any) -> dict[str, Any]:
    """The model's variables by name; He-normal weights (He et al. 2015) from the seed, biases zero."""
    found = {}
    for index, variable in enumerate(spec.variables()):

        def initial(variable: Any = variable, index: int = index) -> Any:
            if not variable.fan_in:
                return tf.zeros(variable.shape, dtype)
            values = tf.random.stateless_truncated_normal(variable.shape, (seed, index))
            return tf.cast(values * (2.0 / variable.fan_in) ** 0.5, dtype)

        found[variable.name] = tf.Variable(initial, trainable=True, name=variable.name, use_resource=True)
    return found


def loss(spec: ModelSpec, variables: dict[str, Any], images: Any, labels: Any) -> Any:
    """Mean softmax cross-entropy of the batch, a scalar."""
    value = images
    for layer in spec.layers:
        with tf.name_scope(layer.name):
            value = _apply(layer, variables, value)
    with tf.name_scope("loss"):
        return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=value))


def _apply(layer: Any, variables: dict[str, Any], value: Any) -> Any:
    if isinstance(layer, Pool):
        return tf.nn.max_pool2d(value, layer.kernel, layer.stride, "VALID")
    weights, biases = variables[f"{layer.name}/weights"], variables[f"{layer.name}/biases"]
    if isinstance(layer, Dense):
        if value.shape.rank == 4:
            value = tf.reshape(value, (value.shape[0], -1))
        value = tf.nn.bias_add(tf.matmul(value, weights), biases)
        return tf.nn.relu(value) if layer.relu else value
    assert isinstance(layer, Conv)
    if layer.pad:
        value = tf.pad(value, ((0, 0), (layer.pad, layer.pad), (layer.pad, layer.pad), (0, 0)))
    return tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(value, weights, layer.stride, "VALID"), biases))
