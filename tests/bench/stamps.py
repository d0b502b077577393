"""What the timestamps cost inside real distributed steps; the target is under 1 %.

mpirun -np RANKS python -m tests.bench.stamps STRATEGY PS
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from statistics import median
from typing import Any

PAIRS, STEPS, BATCH = 25, 1, 4
ARMS = {"horovod": ("0", 2), "ps_sync": ("1", 3), "ps_async": ("1", 3)}


def main() -> None:
    """Launch each distributed strategy and let its chief print the median of paired ratios, full AlexNet."""
    from tests.conftest import mpirun

    for strategy, (ps, ranks) in ARMS.items():
        argv = [*mpirun(ranks), "--bind-to", "none", sys.executable, "-m", "tests.bench.stamps", strategy, ps]
        subprocess.run(argv, check=True, stderr=subprocess.DEVNULL)


def rank(strategy_name: str, ps: int) -> None:
    """One rank: steps with and without stamps in turn, with a barrier before each stretch."""
    import tensorflow.compat.v1 as tf

    from hvdbench import strategies
    from hvdbench.cluster.environments import detect
    from hvdbench.cluster.mpi import cluster_from_mpi
    from hvdbench.cluster.spec import Cluster
    from hvdbench.config import RunConfig
    from hvdbench.graph import build_graph

    tf.disable_eager_execution()
    launched = detect(os.environ)
    assert launched is not None
    cluster = cluster_from_mpi(ps) if ps else Cluster(index=launched.rank, workers=launched.size, launcher="openmpi")
    config = RunConfig(strategy=strategy_name, workers=cluster.workers, ps=ps, batch_size=BATCH)
    strategy = strategies.load(strategy_name)(config, cluster)
    strategy.start(tf.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1))
    if not cluster.trains:
        strategy.serve(lambda question: b"{}")
        return
    graph = build_graph(config, strategy, cluster.index)
    plain = {name: fetch for name, fetch in graph.fetches.items() if name != "stamps"}
    times: dict[str, list[float]] = {"plain": [], "stamped": []}
    with strategy.channel() as channel, strategy.session(graph) as session:
        for turn in range(PAIRS + 1):
            for name in sorted(times, reverse=bool(turn % 2)):
                channel.barrier()
                begun = time.monotonic()
                repeat(session, plain if name == "plain" else graph.fetches)
                channel.barrier()
                times[name].append(time.monotonic() - begun)
    if cluster.is_chief:
        # The first pair holds TensorFlow's own preparation of both fetches.
        ratio = median(a / b for a, b in zip(times["stamped"][1:], times["plain"][1:], strict=True))
        print(f"{strategy_name}: steps with / without timestamps {ratio:.4f}, median of {PAIRS} pairs (target 1.01)")


def repeat(session: Any, fetches: Any) -> None:
    """A stretch of steps."""
    for _ in range(STEPS):
        session.run(fetches)


if __name__ == "__main__":
    rank(sys.argv[1], int(sys.argv[2]))
