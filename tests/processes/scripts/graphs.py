"""Builds the graph of one arm as a worker does and prints what is in it as JSON; `--run` also runs it, traced.

python graphs.py STRATEGY PS PLACEMENT INPUT [--run]
"""

from __future__ import annotations

import json
import sys
from typing import Any

import tensorflow.compat.v1 as tf

from hvdbench import strategies
from hvdbench.cluster.ports import free_ports
from hvdbench.cluster.spec import Cluster
from hvdbench.config import RunConfig
from hvdbench.graph import build_graph
from hvdbench.strategies import traits

name, ps, placement, given = sys.argv[1:5]
tf.disable_eager_execution()
config = RunConfig(
    strategy=name, model="alexnet_tiny", batch_size=2, ps=int(ps), placement=placement, input=given, workers=1
)
ports = [f"127.0.0.1:{port}" for port in free_ports(int(ps) + 1)]
# Strategies that talk MPI are started as a launcher would, with a world of one.
cluster = Cluster(
    workers=1,
    ps_hosts=tuple(ports[1:]),
    worker_hosts=(ports[0],) if int(ps) or name == "collective" else (),
    launcher="test" if traits(name).transport == "mpi" else "none",
)
strategy = strategies.load(name)(config, cluster)
strategy.start(tf.ConfigProto())
graph = build_graph(config, strategy, 0)


def timed_path() -> list[Any]:
    """Every op that a step's fetches need."""
    needed, stack = {}, [each if isinstance(each, tf.Operation) else each.op for each in graph.fetches.values()]
    while stack:
        op = stack.pop()
        if op.name not in needed:
            needed[op.name] = op
            stack += [tensor.op for tensor in op.inputs] + list(op.control_inputs)
    return list(needed.values())


def traced_devices() -> dict[str, list[str]]:
    """The devices on which each trainable variable (or part) lived in one step of a running cluster."""
    spec = tf.train.ClusterSpec({"ps": ports[1:], "worker": ports[:1]})
    servers = [tf.distribute.Server(spec, job_name="ps", task_index=index) for index in range(int(ps))]
    metadata = tf.RunMetadata()
    with strategy.session(graph) as session:
        session.run(graph.fetches, graph.feed)
        session.run(graph.fetches, graph.feed, tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), metadata)
    found: dict[str, list[str]] = {}
    for device in metadata.step_stats.dev_stats:
        for node in device.node_stats:
            for variable in graph.variables:
                if node.node_name == variable.op.name:
                    found.setdefault(variable.op.name, []).append(device.device)
    assert servers
    return found


path = timed_path()
print(
    json.dumps(
        {
            "fingerprint": graph.facts["fingerprint"],
            "placeholders": sorted(op.name for op in path if op.type == "Placeholder"),
            "variables": {variable.op.name: variable.device for variable in graph.variables},
            "ps_devices": sorted({op.device for op in path if "/job:ps" in op.device}),
            "on_worker": sorted({op.type for op in path if "/job:ps" not in op.device}),
            "placement": strategy.placement(graph),
            "ran_on": traced_devices() if "--run" in sys.argv else None,
        }
    )
)
