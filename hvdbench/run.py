"""The main path of one task, in execution order."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hvdbench import preflight, strategies
from hvdbench.chatter import quiet
from hvdbench.cluster.spec import PS, Cluster
from hvdbench.config import RunConfig
from hvdbench.counters import WireMeter
from hvdbench.errors import RunError
from hvdbench.loop import Goal, Reading, Timing, run_loop
from hvdbench.outcome import Meetings, exposed, make_record, report_of, with_nics
from hvdbench.phases import read_stamps
from hvdbench.progress import Progress
from hvdbench.record import store, traffic
from hvdbench.record.facts import commit, task_facts
from hvdbench.record.migrations import BULK
from hvdbench.record.schema import Record

if TYPE_CHECKING:
    from hvdbench.graph import Graph
    from hvdbench.strategies.base import Channel, Strategy

# Barriers before and after the steps that only compare clocks.
CLOCK_ROUNDS = 8
HERE = Path(__file__).parent


@dataclass(frozen=True)
class Around:
    """What a run is told besides its config: where results go and what is known of the host and its links.

    `weights` is where the chief writes the final variables (.npz), `host_cores` how many of the host's cores
    the run may use, `links` a file with the measured rates of the links (lab/linerate.py).
    """

    results: Path = Path("results")
    weights: Path | None = None
    host_cores: int = os.cpu_count() or 1
    links: Path | None = None


def run(config: RunConfig, cluster: Cluster, around: Around) -> Path | None:
    """Run this task's part of the launch; the chief returns the path of the record, others None."""
    if cluster.is_chief:
        store.check_writable(around.results)
    prepare_environment(os.environ, cluster)
    quiet(os.environ)
    threads = thread_count(around.host_cores, cluster.processes_on_host)
    import tensorflow.compat.v1 as tf

    from hvdbench.graph import build_graph

    tf.disable_eager_execution()
    tf.logging.set_verbosity(tf.logging.ERROR)
    strategy = strategies.load(config.strategy)(config, cluster)
    strategy.start(tf.ConfigProto(intra_op_parallelism_threads=threads, inter_op_parallelism_threads=threads))
    meter = WireMeter(sampled=strategies.traits(config.strategy).topology != "none")

    def facts() -> dict[str, Any]:
        device = "GPU" if cluster.trains and tf.config.list_physical_devices("GPU") else "CPU"
        return task_facts(cluster, around.host_cores, threads, threads, device)

    if not cluster.trains:
        strategy.serve(lambda question: answer(question, meter, lambda: preflight.statement(config, facts(), None)))
        return None
    graph = build_graph(config, strategy, cluster.index)
    with strategy.channel() as channel:
        agree(channel, preflight.statement(config, facts(), graph.facts))
        with strategy.session(graph) as session:
            timing, meetings = measure(config, cluster, strategy, graph, session, channel, meter)
            reports = collect(config, cluster, channel, meter, report_of(timing, facts(), meetings))
            if not cluster.is_chief:
                return None
            served = [json.loads(each)["task"] for each in channel.ask("facts")]
            links = None if around.links is None else json.loads(around.links.read_text())
            record = make_record(
                config, graph.facts, timing, reports, served, strategy.placement(graph), commit(HERE), links
            )
            path = store.save(record, around.results)
            if around.weights is not None:
                store.save_weights(around.weights, session.run(graph.values))
    if not record.valid:
        raise RunError(f"the run is invalid: {record.validity}; its record is {path}")
    return path


def collect(
    config: RunConfig, cluster: Cluster, channel: Channel, meter: WireMeter, mine: dict[str, Any]
) -> list[dict[str, Any]]:
    """Every worker's report on the chief, with the bytes of its NICs; elsewhere whatever came."""
    reports = [json.loads(each) for each in channel.gather(json.dumps(mine).encode())]
    # Which part of a step is all exchange depends on the slowest worker, so the chief tells everyone.
    told = json.dumps(exposed(reports, config)) if cluster.is_chief else ""
    intervals = json.loads(channel.exchange(told.encode())[0])[cluster.index]
    nics = [json.loads(each) for each in channel.gather(json.dumps(meter.facts(intervals)).encode())]
    return with_nics(reports, nics)


def answer(question: str, meter: WireMeter, statement: Callable[[], dict[str, Any]]) -> bytes:
    """What a PS replies to the chief: its statement, with its NICs' bytes once the window is closed."""
    if question in ("start", "stop"):
        (meter.start if question == "start" else meter.stop)()
        return b""
    said = statement()
    if question == "facts":
        said["task"]["nics"] = meter.facts()
    return json.dumps(said).encode()


def agree(channel: Channel, mine: dict[str, Any]) -> None:
    """Raise RunError when any task of the launch is on other software or built another graph, before any step."""
    said = mine | {"served": [json.loads(each) for each in channel.ask("statement")]}
    statements = [json.loads(each) for each in channel.exchange(json.dumps(said).encode())]
    found = preflight.disagreement(statements + statements[0]["served"])
    if found is not None:
        raise RunError(found)


def measure(
    config: RunConfig,
    cluster: Cluster,
    strategy: Strategy,
    graph: Graph,
    session: Any,
    channel: Channel,
    meter: WireMeter,
) -> tuple[Timing, Meetings]:
    """Warm up and time the steps of this worker."""
    meetings = Meetings([], [])

    def barrier() -> None:
        meetings.entered.append(time.time())
        channel.barrier()
        meetings.left.append(time.time())

    for _ in range(CLOCK_ROUNDS):
        barrier()
    progress = Progress(config.steps, cluster.is_chief)
    per_step = config.updates_per_step
    shared = not config.bulk_synchronous
    took_part = [0] * config.workers if "took_part" in graph.fetches else None
    edges = iter(((meter.start, "start"), (meter.stop, "stop")))

    def counted() -> list[int] | None:
        # Between two barriers: nobody is in a step, so what is read here is the edge of the window.
        mark, question = next(edges)
        mark()
        channel.ask(question)
        return strategy.counted(session) if took_part is None else list(took_part)

    timing = run_loop(
        make_step(config, cluster, strategy, graph, session, took_part),
        barrier,
        counted,
        Goal(config.warmup, config.warmup * per_step if shared else None),
        Goal(config.steps, (config.warmup + config.steps) * per_step if shared else None),
        time.monotonic,
        progress,
    )
    progress.close()
    for _ in range(CLOCK_ROUNDS):
        barrier()
    return timing, meetings


def make_step(
    config: RunConfig,
    cluster: Cluster,
    strategy: Strategy,
    graph: Graph,
    session: Any,
    took_part: list[int] | None = None,
) -> Callable[[], Reading]:
    """One step of this worker, with the asked-for delay and what it says of itself.

    `took_part` sums up, in place, who was in each step, where the strategy says that step by step.
    """
    delay_s = config.delay_worker[1] if config.delay_worker and config.delay_worker[0] == cluster.index else 0.0

    def step() -> Reading:
        begun = time.time()
        if delay_s:
            time.sleep(delay_s)
        called = time.time()
        found = session.run(graph.fetches, graph.feed)
        ended = time.time()
        marks = read_stamps(found["stamps"].tolist(), strategy.pulls, begun, called, ended)
        contributions = found.get("counter")
        if took_part is not None:
            took_part[:] = [a + round(float(b)) for a, b in zip(took_part, found["took_part"], strict=True)]
            contributions = took_part
        return Reading(
            float(found["loss"]),
            marks,
            None if contributions is None else tuple(round(float(each)) for each in contributions),
            int(found["updates"]) if "updates" in found else None,
            int(found["staleness"]) if "staleness" in found else None,
        )

    return step


def prepare_environment(environ: Any, cluster: Cluster) -> None:
    """Set what must be set before TensorFlow loads: no GPU for a PS, no proxy for gRPC."""
    if cluster.role == PS:
        environ["CUDA_VISIBLE_DEVICES"] = ""
    for name in ("http_proxy", "https_proxy", "grpc_proxy", "HTTP_PROXY", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
        environ.pop(name, None)


def thread_count(cores: int, processes_on_host: int) -> int:
    """Threads of one process: the host's cores divided by its processes, at least one (C42)."""
    return max(1, cores // processes_on_host)


def announce(path: Path | None) -> None:
    """Tell the user where the record is and what it says."""
    if path is None:
        return
    record = store.load(path)
    print("\n".join([*traffic.lines(record), summary(record)]), file=sys.stdout, flush=True)


def summary(record: Record) -> str:
    """One line: applied rate, what was dropped or out of step, what was fed, and where the record is."""
    remarks = [f"{record.config['workers']} worker(s)"]
    if record.config["compute"] == "none":
        step_s = record.window_s / max(map(len, record.step_s))
        return f"{record.strategy}: {step_s:.4f} s a step, nothing computed, {remarks[0]}, record {record.path}"
    if sum(record.dropped):
        remarks.append(f"{record.processed_images} images processed and {record.applied_images} applied")
    if record.synchrony != BULK:
        remarks.append(record.synchrony)
    if record.config["input"] != "synthetic":
        remarks.append(f"input {record.config['input']}")
    return f"{record.strategy}: {record.images_per_s:.2f} images/s applied, {', '.join(remarks)}, record {record.path}"
