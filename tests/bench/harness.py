"""The harness against a bare session loop on the same graph in one process; the target is within 1 %."""

from __future__ import annotations

import time
from statistics import median

PAIRS, STEPS, BATCH = 12, 4, 8


def main() -> None:
    """Print the median of paired ratios of `run_loop`'s window to a bare loop's time, full AlexNet."""
    import tensorflow.compat.v1 as tf

    from hvdbench.cluster.spec import Cluster
    from hvdbench.config import RunConfig
    from hvdbench.graph import build_graph
    from hvdbench.loop import run_loop
    from hvdbench.strategies.base import Strategy

    tf.disable_eager_execution()
    strategy = Strategy(RunConfig(batch_size=BATCH), Cluster())
    strategy.start(tf.ConfigProto())
    graph = build_graph(strategy.config, strategy, 0)
    ratios = []
    with strategy.session(graph) as session:
        channel = strategy.channel(session)
        session.run(graph.train_op)
        for pair in range(PAIRS):
            arms = {
                "bare": lambda: bare(session, graph.train_op),
                "harness": lambda: run_loop(
                    lambda: float(session.run([graph.train_op, graph.loss])[1]), channel.barrier,
                    lambda: None, 0, STEPS, time.monotonic, lambda *_: None).window_s,
            }  # fmt: skip
            order = ("bare", "harness") if pair % 2 else ("harness", "bare")
            taken = {name: arms[name]() for name in order}
            ratios.append(taken["harness"] / taken["bare"])
    print(f"harness / bare session loop  {median(ratios):.4f}, median of {PAIRS} pairs of {STEPS} steps (target 1.01)")


def bare(session: object, train_op: object) -> float:
    """Seconds of STEPS plain session runs."""
    begun = time.monotonic()
    for _ in range(STEPS):
        session.run(train_op)  # type: ignore[attr-defined]
    return time.monotonic() - begun
