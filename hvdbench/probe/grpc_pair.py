"""TensorFlow's gRPC: a variable on another task pulled, and a tensor pushed into it.

python -m hvdbench.probe.grpc_pair serve PS-ADDRESS:PORT WORKER-ADDRESS:PORT
python -m hvdbench.probe.grpc_pair ask PS-ADDRESS:PORT WORKER-ADDRESS:PORT SIZE,SIZE,...
"""

from __future__ import annotations

import os
import sys
import time
from typing import Any

from hvdbench.chatter import quiet
from hvdbench.probe.transports import repeats, tell


def serve(ps: str, worker: str) -> None:
    """A PS that lives until it is killed; it says so on stdout when it listens."""
    import tensorflow.compat.v1 as tf

    spec = tf.train.ClusterSpec({"ps": [ps], "worker": [worker]})
    server = tf.distribute.Server(spec, job_name="ps", task_index=0)
    print("listening", flush=True)
    server.join()


def ask(ps: str, worker: str, sizes: list[int]) -> None:
    """Time a pull and a push of every size and print them."""
    import tensorflow.compat.v1 as tf

    tf.disable_eager_execution()
    spec = tf.train.ClusterSpec({"ps": [ps], "worker": [worker]})
    server = tf.distribute.Server(spec, job_name="worker", task_index=0)
    for size in sizes:
        with tf.Graph().as_default():
            pull, push, start = transfers(size // 4)
            with tf.Session(server.target) as session:
                session.run(start)
                for name, op in (("grpc_pull", pull), ("grpc_push", push)):
                    session.run(op)
                    tell(name, size, [timed(session, op) for _ in range(repeats(size))])


def transfers(elements: int) -> tuple[Any, Any, Any]:
    """Ops that pull a float32 variable to the worker, push a worker's one into it, and initialise both."""
    import tensorflow.compat.v1 as tf

    with tf.device("/job:ps/task:0/device:CPU:0"):
        there = tf.Variable(tf.zeros((elements,)), use_resource=True)
    with tf.device("/job:worker/task:0/device:CPU:0"):
        here = tf.Variable(tf.ones((elements,)), use_resource=True)
        # One element of what arrived: the whole must be here, and little goes back to Python.
        pull = tf.slice(tf.identity(there.read_value()), [0], [1])
        out = here.read_value()
    with tf.device("/job:ps/task:0/device:CPU:0"):
        push = there.assign(out, read_value=False)
    return pull, push, tf.global_variables_initializer()


def timed(session: Any, op: Any) -> float:
    """Seconds of one run."""
    begun = time.monotonic()
    session.run(op)
    return time.monotonic() - begun


if __name__ == "__main__":
    for variable in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
        os.environ.pop(variable, None)
    os.environ["CUDA_VISIBLE_DEVICES"] = ""
    quiet(os.environ)
    if sys.argv[1] == "serve":
        serve(sys.argv[2], sys.argv[3])
    else:
        ask(sys.argv[2], sys.argv[3], [int(each) for each in sys.argv[4].split(",")])
