"""What N workers must reach: one plain session on their batches concatenated, written without any strategy.

python reference.py WORKERS STEPS BATCH_SIZE DTYPE LEARNING_RATE OUT.npz
"""

from __future__ import annotations

import sys

import numpy as np
import tensorflow.compat.v1 as tf

from hvdbench import models
from hvdbench.config import RunConfig
from hvdbench.graph import batch_seed
from hvdbench.models import network

workers, steps, batch_size, dtype, rate, out = sys.argv[1:]
tf.disable_eager_execution()
spec, config = models.spec("alexnet_tiny"), RunConfig(dtype=dtype)
batches = [network.random_batch(spec, int(batch_size), batch_seed(config, w), dtype) for w in range(int(workers))]
images, labels = (tf.concat(parts, 0) for parts in zip(*batches, strict=True))
variables = {
    each.name: tf.Variable(network.initial_value(each, index, config.seed, tf.as_dtype(dtype)), use_resource=True)
    for index, each in enumerate(spec.variables())
}
loss, _ = network.loss(spec, {name: variable.read_value() for name, variable in variables.items()}, images, labels)
gradients = tf.gradients(loss, list(variables.values()))
with tf.control_dependencies(gradients):
    update = tf.group(*[v.assign_sub(float(rate) * g) for v, g in zip(variables.values(), gradients, strict=True)])
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for _ in range(int(steps)):
        session.run(update)
    np.savez(out, **session.run({name: variable.read_value() for name, variable in variables.items()}))
