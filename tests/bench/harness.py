"""The harness against a bare session loop on the same graph in one process; the target is within 1 %."""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median
from typing import Any

PAIRS, STEPS, BATCH = 12, 4, 8


def main() -> None:
    """Print the medians of paired ratios to a bare loop: of `run_loop` with and without timestamps, full AlexNet."""
    import tensorflow.compat.v1 as tf

    from hvdbench.cluster.spec import Cluster
    from hvdbench.config import RunConfig
    from hvdbench.graph import build_graph
    from hvdbench.loop import Goal, Reading, run_loop
    from hvdbench.run import make_step
    from hvdbench.strategies.base import Strategy

    tf.disable_eager_execution()
    strategy = Strategy(RunConfig(batch_size=BATCH), Cluster())
    strategy.start(tf.ConfigProto())
    graph = build_graph(strategy.config, strategy, 0)

    def looped(step: Callable[[], Reading]) -> float:
        nothing: Callable[..., None] = lambda *_: None  # noqa: E731
        return run_loop(step, nothing, nothing, Goal(0), Goal(STEPS), time.monotonic, nothing).window_s

    with strategy.session(graph) as session:
        full = make_step(strategy.config, Cluster(), strategy, graph, session)
        pair = [graph.fetches["train"], graph.fetches["loss"]]
        arms = {
            "bare loop": lambda: bare(session, pair),
            "harness without timestamps": lambda: looped(lambda: Reading(float(session.run(pair)[1]))),
            "harness": lambda: looped(full),
        }
        times: dict[str, list[float]] = {name: [] for name in arms}
        session.run(pair)
        for turn in range(PAIRS):
            for name in sorted(arms, reverse=bool(turn % 2)):
                times[name].append(arms[name]())
    base = times.pop("bare loop")
    for name, found in times.items():
        ratio = median(a / b for a, b in zip(found, base, strict=True))
        print(f"{name} / bare loop: {ratio:.4f}, median of {PAIRS} pairs of {STEPS} steps (target 1.01)")


def bare(session: Any, fetches: Any) -> float:
    """Seconds that the same steps take in the shortest loop there is."""
    begun = time.monotonic()
    for _ in range(STEPS):
        session.run(fetches)
    return time.monotonic() - begun
