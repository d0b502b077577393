"""The stated sizes against a count by hand from the paper's geometry, and against TensorFlow's own profiler."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from hvdbench import models

# "One weird trick", one tower, 224x224x3: (output side, kernel side, channels in, channels out) of each convolution,
# with 3x3 pooling of stride 2 after the first, second and fifth: 55 -> 27 -> 13 -> 6.
CONVOLUTIONS = [(55, 11, 3, 64), (27, 5, 64, 192), (13, 3, 192, 384), (13, 3, 384, 256), (13, 3, 256, 256)]
DENSE = [(6 * 6 * 256, 4096), (4096, 4096), (4096, 1000)]

PROFILE = """
import json
import tensorflow.compat.v1 as tf
from hvdbench import models
from hvdbench.models import network
tf.disable_eager_execution()
spec = models.spec("alexnet_tiny")
values = {v.name: tf.Variable(network.initial_value(v, i, 1, tf.float32), use_resource=True).read_value()
          for i, v in enumerate(spec.variables())}
images, labels = tf.zeros((BATCH, 64, 64, 3)), tf.zeros((BATCH,), tf.int32)
loss, _ = network.loss(spec, values, images, labels)
options = tf.profiler.ProfileOptionBuilder.float_operation()
options["output"] = "none"
def counted(types):
    chosen = dict(options, account_type_regexes=types)
    return tf.profiler.profile(tf.get_default_graph(), options=chosen).total_float_ops
forward = counted([".*"]) and sum(counted([t]) for t in ("Conv2D", "MatMul"))
tf.gradients(loss, list(values.values()))
kinds = ("Conv2D", "Conv2DBackpropFilter", "Conv2DBackpropInput", "MatMul")
print(json.dumps({"forward": forward,
                  "ops": sorted({op.type for op in tf.get_default_graph().get_operations()} & set(kinds))}))
"""


def test_parameters_by_hand() -> None:
    convolutions = sum(kernel * kernel * come * go + go for _, kernel, come, go in CONVOLUTIONS)
    dense = sum(come * go + go for come, go in DENSE)
    assert convolutions + dense == 61_100_840 == models.spec("alexnet").param_count


def test_forward_and_backward_flops_by_hand() -> None:
    macs = [side * side * kernel * kernel * come * go for side, kernel, come, go in CONVOLUTIONS]
    macs += [come * go for come, go in DENSE]
    spec = models.spec("alexnet")
    assert spec.forward_flops_per_image == 2 * sum(macs)
    # Backward: once more for every weight gradient, and for every input gradient but the images'.
    assert spec.train_flops_per_image == 2 * (sum(macs) + sum(macs) + sum(macs[1:]))


@pytest.mark.parametrize("batch", [1, 4])
def test_forward_flops_agree_with_the_profiler(batch: int) -> None:
    code = PROFILE.replace("BATCH", str(batch))
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr[-2000:]
    found = json.loads(run.stdout.splitlines()[-1])
    assert found["forward"] == batch * models.spec("alexnet_tiny").forward_flops_per_image
    assert len(found["ops"]) == 4
