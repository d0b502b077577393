"""What the workers' reports amount to: counts, phases, verdict, record; pure."""

from __future__ import annotations

import math
import secrets
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from datetime import UTC, datetime
from typing import Any

from hvdbench import strategies
from hvdbench.config import RunConfig
from hvdbench.loop import Timing
from hvdbench.phases import Marks, clock_offsets, phases_of
from hvdbench.record.migrations import BULK, UNEVEN
from hvdbench.record.schema import SCHEMA_VERSION, VALID, Record, images_per_s
from hvdbench.strategies import wire


@dataclass(frozen=True)
class Meetings:
    """One worker's real-time clock before and after each barrier, in seconds, in order."""

    entered: list[float]
    left: list[float]


def report_of(timing: Timing, task: dict[str, Any], meetings: Meetings) -> dict[str, Any]:
    """What a worker tells the chief when all steps are done."""
    marks = [astuple(reading.marks) for reading in timing.readings if reading.marks is not None]
    staleness = [reading.staleness for reading in timing.readings if reading.staleness is not None]
    return {
        "task": task,
        "step_s": timing.step_s,
        "loss": timing.loss,
        "marks": marks or None,
        "contributions": per_step(timing),
        "staleness": staleness or None,
        "entered": meetings.entered,
        "left": meetings.left,
    }


def with_nics(reports: list[dict[str, Any]], nics: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The reports with each worker's NICs among the facts of its task."""
    return [report | {"task": report["task"] | {"nics": each}} for report, each in zip(reports, nics, strict=True)]


def exposed(reports: Sequence[dict[str, Any]], config: RunConfig) -> list[list[tuple[float, float]]]:
    """For each worker, where in its steps nothing but the exchange was left, on its own real-time clock.

    From the moment when the slowest worker's gradients are ready to the worker's receipt of the mean; empty
    where steps of different workers do not belong together or have no marks.
    """
    if not config.bulk_synchronous or not _stamped(reports):
        return [[] for _ in reports]
    offsets = [offset for offset, _ in _offsets(reports)]
    marks = _marks(reports)
    slowest = [
        max(each.ready - offset for each, offset in zip(step, offsets, strict=True))
        for step in zip(*marks, strict=True)
    ]
    return [
        [(begun + offset, each.received) for begun, each in zip(slowest, mine, strict=True)]
        for mine, offset in zip(marks, offsets, strict=True)
    ]


def per_step(timing: Timing) -> list[list[int]] | None:
    """Each worker's gradients in every step, from the running counts that this worker saw after each."""
    found, before = [], timing.before
    for reading in timing.readings:
        if reading.contributions is None or before is None:
            return None
        found.append([b - a for a, b in zip(before, reading.contributions, strict=True)])
        before = list(reading.contributions)
    return found


def make_record(
    config: RunConfig,
    graph: dict[str, Any],
    timing: Timing,
    reports: list[dict[str, Any]],
    served: list[dict[str, Any]],
    placement: list[dict[str, Any]],
    commit: str | None,
    links: list[dict[str, Any]] | None,
) -> Record:
    """The launch as one record; `reports` are the workers' in order, `served` the PS tasks' facts.

    The window is the chief's.
    """
    taken = [len(report["step_s"]) for report in reports]
    contributions = timing.counted or taken
    applied = sum(contributions) * config.images_per_contribution
    total = sum(each["bytes"] for each in placement)
    phases, marks = _phases(config, reports)
    tasks = [report["task"] for report in reports] + served
    stale = [report["staleness"] for report in reports]
    return Record(
        schema_version=SCHEMA_VERSION,
        launch_id=secrets.token_hex(4),
        started_utc=datetime.now(UTC).isoformat(timespec="milliseconds"),
        strategy=config.strategy,
        config=config.comparable(),
        config_hash=config.hash(),
        graph={name: value for name, value in graph.items() if name != "forward"},
        tasks=[{k: v for k, v in task.items() if k != "nics"} for task in tasks],
        window_s=timing.window_s,
        processed_images=sum(taken) * config.images_per_contribution,
        applied_images=applied,
        images_per_s=images_per_s(applied, timing.window_s),
        contributions=contributions,
        step_s=[report["step_s"] for report in reports],
        loss=[report["loss"] for report in reports],
        wire_bytes=wire_bytes(tasks),
        wire_predicted_bytes=predicted_bytes(config.strategy, graph, tasks, placement, taken),
        links=links,
        line_rate_bytes_per_s=None if not links else min(max(link["bytes_per_s"].values()) for link in links),
        placement=placement,
        hottest_share=max(each["bytes"] for each in placement) / total if total else None,
        validity=judge(config, contributions, reports),
        synchrony=synchrony(config, contributions, reports),
        # A gradient that waits in its accumulator when the window opens counts in it, hence never below zero.
        dropped=[max(0, a - b) for a, b in zip(taken, contributions, strict=False)],
        contributions_per_step=reports[0]["contributions"],
        staleness=None if None in stale else stale,
        marks=marks,
        commit=commit,
        **phases,
    )


def wire_bytes(tasks: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Bytes that each task's NICs sent and received in the window, from the kernel's counters.

    `sent` and `received` are of all NICs but loopback. A NIC counts for its whole host: `shared_with` names the
    tasks whose traffic it cannot tell apart.
    """
    found = []
    for task in tasks:
        nics = task.get("nics") or {}
        real = [nic for nic in nics.values() if not nic["loopback"]]
        others = [each for each in tasks if each is not task and each["host"] == task["host"]]
        found.append(
            {
                "role": task["role"],
                "index": task.get("index"),
                "host": task["host"],
                "sent": sum(nic["sent"] for nic in real),
                "received": sum(nic["received"] for nic in real),
                "loopback": sum(nic["sent"] for nic in nics.values() if nic["loopback"]),
                "shared_with": [f"{each['role']} {each.get('index')}" for each in others],
                "nics": nics,
            }
        )
    return found


def predicted_bytes(
    strategy: str,
    graph: dict[str, Any],
    tasks: Sequence[dict[str, Any]],
    placement: Sequence[dict[str, Any]],
    steps: Sequence[int],
) -> dict[str, int] | None:
    """Bytes that each host's NIC should have sent, and received, in the window; None where no formula says it.

    `steps` are those of each worker. Formulas: strategies/wire.py.
    """
    workers = [task["host"] for task in tasks if task["role"] == "worker"]
    ps = [task["host"] for task in tasks if task["role"] == "ps"]
    if not strategies.traits(strategy).exchanges:
        return dict.fromkeys(workers, 0)
    if ps:
        return wire.star_host_bytes(workers, ps, [each["bytes"] for each in placement], steps)
    ring = wire.ring_host_bytes(workers, graph.get("param_bytes", 0))
    return None if ring is None else {host: each * steps[0] for host, each in ring.items()}


def _phases(config: RunConfig, reports: Sequence[dict[str, Any]]) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """Phases per worker and step, and the marks behind them on the chief's clock since its first step began."""
    nothing = dict.fromkeys(("input_s", "compute_s", "wait_s", "exchange_s"))
    if not _stamped(reports):
        return nothing, None
    offsets = _offsets(reports)
    marks = _marks(reports)
    waits = not config.asynchronous
    phases = phases_of(marks, [offset for offset, _ in offsets], config.bulk_synchronous, waits)
    zero = marks[0][0].begun
    kept = {
        "fields": list(Marks.__dataclass_fields__),
        "clock_offset_s": [offset for offset, _ in offsets],
        "clock_uncertainty_s": [uncertainty for _, uncertainty in offsets],
        "steps": [
            [[round(value, 6) for value in astuple(each.shifted(-offset - zero))] for each in mine]
            for mine, (offset, _) in zip(marks, offsets, strict=True)
        ],
    }
    return phases, kept


def _stamped(reports: Sequence[dict[str, Any]]) -> bool:
    # On a GPU an op counts as done once it is queued, so that stamps would tell nothing.
    return all(report["marks"] is not None and report["task"]["device"] == "CPU" for report in reports)


def _marks(reports: Sequence[dict[str, Any]]) -> list[list[Marks]]:
    return [[Marks(*each) for each in report["marks"]] for report in reports]


def _offsets(reports: Sequence[dict[str, Any]]) -> list[tuple[float, float]]:
    """Each worker's clock against the chief's and the uncertainty; processes of one host read one clock."""
    home = reports[0]["task"]["host"]
    found = clock_offsets([report["entered"] for report in reports], [report["left"] for report in reports])
    return [(0.0, 0.0) if report["task"]["host"] == home else each for report, each in zip(reports, found, strict=True)]


def synchrony(config: RunConfig, contributions: Sequence[int], reports: Sequence[dict[str, Any]]) -> str:
    """`bulk-synchronous` when the counts say so, of every update and worker, and what they say otherwise (C15)."""
    if config.asynchronous:
        return "asynchronous"
    if set(contributions) != {config.steps} or len(contributions) != config.workers:
        return f"{UNEVEN}: contributions are {list(contributions)} in {config.steps} updates"
    for worker, report in enumerate(reports):
        for step, counts in enumerate(report["contributions"] or []):
            if set(counts) != {1}:
                return f"{UNEVEN}: worker {worker} saw contributions {counts} in step {step}"
    return BULK


def judge(config: RunConfig, contributions: Sequence[int], reports: Sequence[dict[str, Any]]) -> str:
    """`valid`, or the first reason why the run is not what was asked for."""
    for index, report in enumerate(reports):
        for step, loss in enumerate(report["loss"]):
            if not math.isfinite(loss):
                return f"the loss of worker {index} is {loss} at step {step}"
    if len(contributions) != config.workers:
        return f"contributions are {list(contributions)} but there are {config.workers} workers"
    if config.bulk_synchronous:
        found = synchrony(config, contributions, reports)
        return VALID if found == BULK else f"the run was to be bulk-synchronous but is {found}"
    return VALID
