"""The main path of one task, in execution order."""

from __future__ import annotations

import json
import math
import os
import secrets
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hvdbench import strategies
from hvdbench.chatter import quiet
from hvdbench.cluster.spec import PS, Cluster
from hvdbench.config import RunConfig
from hvdbench.errors import RunError
from hvdbench.loop import Timing, run_loop
from hvdbench.progress import Progress
from hvdbench.record import store
from hvdbench.record.facts import task_facts
from hvdbench.record.schema import SCHEMA_VERSION, VALID, Record, images_per_s


def run(config: RunConfig, cluster: Cluster, results: Path) -> Path | None:
    """Run this task's part of the launch; the chief returns the path of the record, others None."""
    if cluster.is_chief:
        store.check_writable(results)
    prepare_environment(os.environ, cluster)
    quiet(os.environ)
    threads = thread_count(os.cpu_count() or 1, cluster.processes_on_host)
    import tensorflow.compat.v1 as tf

    from hvdbench.graph import build_graph

    tf.disable_eager_execution()
    tf.logging.set_verbosity(tf.logging.ERROR)
    strategy = strategies.load(config.strategy)(config, cluster)
    strategy.start(tf.ConfigProto(intra_op_parallelism_threads=threads, inter_op_parallelism_threads=threads))
    if not cluster.trains:
        strategy.serve()
        return None
    graph = build_graph(config, strategy, cluster.index)
    strategy.prepare_channel()
    with strategy.session(graph) as session:
        channel, progress = strategy.channel(session), Progress(config.steps, cluster.is_chief)
        timing = run_loop(
            lambda: float(session.run([graph.train_op, graph.loss])[1]),
            channel.barrier,
            lambda: strategy.counted(session),
            config.warmup,
            config.steps,
            time.monotonic,
            progress,
        )
        progress.close()
        device = "GPU" if tf.config.list_physical_devices("GPU") else "CPU"
        facts = task_facts(cluster.role, cluster.index, threads, threads, cluster.processes_on_host, device)
        reports = channel.gather(report_of(config, graph.facts, timing, facts))
        path = None
        if cluster.is_chief:
            record = make_record(
                config, graph.facts, timing, [json.loads(report) for report in reports], strategy.placement(graph)
            )
            path = store.save(record, results)
    if path is None:
        return None
    if not record.valid:
        raise RunError(f"the run is invalid: {record.validity}; its record is {path}")
    return path


def prepare_environment(environ: Any, cluster: Cluster) -> None:
    """Set what must be set before TensorFlow loads: no GPU for a PS, no proxy for gRPC."""
    if cluster.role == PS:
        environ["CUDA_VISIBLE_DEVICES"] = ""
    for name in ("http_proxy", "https_proxy", "grpc_proxy", "HTTP_PROXY", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
        environ.pop(name, None)


def thread_count(cores: int, processes_on_host: int) -> int:
    """Threads of one process: the host's cores divided by its processes, at least one (C42)."""
    return max(1, cores // processes_on_host)


def report_of(config: RunConfig, graph: dict[str, Any], timing: Timing, facts: dict[str, Any]) -> bytes:
    """What a worker tells the chief, as JSON."""
    return json.dumps(
        {
            "config_hash": config.hash(),
            "fingerprint": graph["fingerprint"],
            "task": facts,
            "step_s": timing.step_s,
            "loss": timing.loss,
        }
    ).encode()


def make_record(
    config: RunConfig,
    graph: dict[str, Any],
    timing: Timing,
    reports: list[dict[str, Any]],
    placement: list[dict[str, Any]],
) -> Record:
    """The launch as one record; `reports` are the workers' in order, the window is the chief's."""
    contributions = timing.counted or [len(report["step_s"]) for report in reports]
    applied = sum(contributions) * config.batch_size
    processed = sum(len(report["step_s"]) for report in reports) * config.batch_size
    total = sum(each["bytes"] for each in placement)
    return Record(
        SCHEMA_VERSION,
        secrets.token_hex(4),
        datetime.now(UTC).isoformat(timespec="milliseconds"),
        config.strategy,
        config.comparable(),
        config.hash(),
        graph,
        [report["task"] for report in reports],
        timing.window_s,
        processed,
        applied,
        images_per_s(applied, timing.window_s),
        contributions,
        [report["step_s"] for report in reports],
        [report["loss"] for report in reports],
        None,
        None,
        placement,
        max(each["bytes"] for each in placement) / total if total else None,
        judge(config, graph, contributions, reports),
    )


def judge(config: RunConfig, graph: dict[str, Any], contributions: list[int], reports: list[dict[str, Any]]) -> str:
    """`valid`, or the first reason why the run is not a synchronous run of one graph."""
    for index, report in enumerate(reports):
        for field, mine in (("config_hash", config.hash()), ("fingerprint", graph["fingerprint"])):
            if report[field] != mine:
                return f"worker {index} ran with {field} {report[field]} but the chief with {mine}"
        for step, loss in enumerate(report["loss"]):
            if not math.isfinite(loss):
                return f"the loss of worker {index} is {loss} at step {step}"
    if set(contributions) != {config.steps} or len(contributions) != config.workers:
        return f"contributions are {contributions}, not {config.steps} from each of {config.workers} workers"
    return VALID


def announce(path: Path | None) -> None:
    """Tell the user where the record is and what it says."""
    if path is not None:
        record = store.load(path)
        print(
            f"{record.strategy}: {record.images_per_s:.2f} images/s applied, {record.config['workers']} worker(s), "
            f"record {path}",
            file=sys.stdout,
            flush=True,
        )
