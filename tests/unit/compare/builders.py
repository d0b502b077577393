"""Records made of few words; everything not named is equal in all of them."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from typing import Any

from hvdbench.record.schema import SCHEMA_VERSION, VALID, Record, images_per_s

VERSIONS = {
    "hvdbench": "0.1.0",
    "python": "3.11.7",
    "tensorflow": "2.18.1",
    "horovod": "0.28.1",
    "mpi": "4.1.4",
    "numpy": "2.0.2",
    "gpu_driver": "570.86",
}
CONFIG = {
    "model": "alexnet",
    "batch_size": 4,
    "steps": 10,
    "warmup": 2,
    "input": "synthetic",
    "placement": "round_robin",
    "seed": 1,
    "learning_rate": None,
    "dtype": "float32",
    "tokens": "strict",
    "replicas_to_aggregate": None,
    "delay_worker": None,
    "allreduce_algorithm": "segmented_ring",
    "fusion_mb": None,
    "cycle_ms": None,
    "mpi_defaults": False,
    "compute": "full",
}
# AlexNet: 61,100,840 float32 parameters (design.md, section 2).
GRAPH = {"param_bytes": 4 * 61_100_840, "train_flops_per_image": 4_147_532_160}
launches = count(1)


def task(role: str, index: int, processes: int, cores: int, changes: dict[str, Any]) -> dict[str, Any]:
    """One task's facts on a host of `cores` cores; `changes` may hold any of its fields."""
    facts: dict[str, Any] = {
        "role": role,
        "index": index,
        "host": "one",
        "device": "CPU",
        "host_cores": cores,
        "intra_op_threads": max(1, cores // processes),
        "inter_op_threads": max(1, cores // processes),
        "processes_on_host": processes,
    }
    return facts | {"versions": VERSIONS | changes.get("versions", {})} | {
        name: value for name, value in changes.items() if name != "versions"
    }  # fmt: skip


def record(
    strategy: str = "local",
    rate: float = 100.0,
    *,
    workers: int | None = None,
    ps: int | None = None,
    config: dict[str, Any] | None = None,
    tasks: dict[str, Any] | None = None,
    fingerprint: str = "f00d",
    validity: str = VALID,
    window_s: float = 10.0,
    path: str | None = None,
    started_utc: str | None = None,
    launch_id: str | None = None,
    **changes: Any,
) -> Record:
    """One launch at `rate` images/s over `window_s` seconds, started after all built before it.

    `changes` may hold any other field of the record; `tasks` goes to every task of it.
    """
    turn = next(launches)
    workers = workers or (1 if strategy == "local" else 2)
    ps = ps if ps is not None else int(strategy.startswith("ps_"))
    images = round(rate * window_s)
    roles = [("worker", index) for index in range(workers)] + [("ps", index) for index in range(ps)]
    built = Record(
        schema_version=SCHEMA_VERSION,
        launch_id=launch_id or f"{turn:08x}",
        started_utc=started_utc or f"2026-01-01T00:00:00.{turn:06d}+00:00",
        strategy=strategy,
        config=CONFIG | {"strategy": strategy, "workers": workers, "ps": ps} | (config or {}),
        config_hash="c0ffee",
        graph={"fingerprint": fingerprint} | GRAPH,
        tasks=[task(role, index, workers + ps, 8, tasks or {}) for role, index in roles],
        window_s=window_s,
        processed_images=images,
        applied_images=images,
        images_per_s=images_per_s(images, window_s),
        contributions=[10] * workers,
        step_s=[[window_s / 10] * 10] * workers,
        loss=[[6.9] * 10] * workers,
        wire_bytes=None,
        wire_predicted_bytes=None,
        links=None,
        line_rate_bytes_per_s=None,
        placement=[],
        hottest_share=None,
        validity=validity,
        synchrony="bulk-synchronous",
        dropped=[0] * workers,
        contributions_per_step=None,
        staleness=None,
        input_s=None,
        compute_s=None,
        wait_s=None,
        exchange_s=None,
        marks=None,
        commit=None,
        path=path,
    )
    return replace(built, **changes)


def spread(record: Record, *hosts: str) -> Record:
    """The same launch with every worker, and then every PS, alone on a host with all its cores."""
    alone = {"processes_on_host": 1, "intra_op_threads": 8, "inter_op_threads": 8}
    return replace(
        record, tasks=[each | alone | {"host": host} for each, host in zip(record.tasks, hosts, strict=True)]
    )


def rounds(**rates: tuple[float, ...]) -> list[Record]:
    """Interleaved launches: the first rate of every strategy, then the second of every one, and so on."""
    turns = max(map(len, rates.values()))
    return [
        record(strategy, values[turn])
        for turn in range(turns)
        for strategy, values in rates.items()
        if turn < len(values)
    ]
