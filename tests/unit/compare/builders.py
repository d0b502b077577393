"""Records made of few words; everything not named is equal in all of them."""

from __future__ import annotations

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
}
launches = count(1)


def task(index: int, processes: int, cores: int, changes: dict[str, Any]) -> dict[str, Any]:
    """One worker's facts on a host of `cores` cores; `changes` may hold any of its fields."""
    facts: dict[str, Any] = {
        "role": "worker",
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
) -> Record:
    """One launch at `rate` images/s over `window_s` seconds; started after all built before it."""
    turn = next(launches)
    workers = workers or (1 if strategy == "local" else 2)
    ps = ps if ps is not None else (1 if strategy == "ps_sync" else 0)
    images = round(rate * window_s)
    return Record(
        schema_version=SCHEMA_VERSION,
        launch_id=launch_id or f"{turn:08x}",
        started_utc=started_utc or f"2026-01-01T00:00:00.{turn:06d}+00:00",
        strategy=strategy,
        config=CONFIG | {"strategy": strategy, "workers": workers, "ps": ps} | (config or {}),
        config_hash="c0ffee",
        graph={"fingerprint": fingerprint, "param_bytes": 8},
        tasks=[task(index, workers + ps, 8, tasks or {}) for index in range(workers)],
        window_s=window_s,
        processed_images=images,
        applied_images=images,
        images_per_s=images_per_s(images, window_s),
        contributions=[10] * workers,
        step_s=[[window_s / 10] * 10] * workers,
        loss=[[6.9] * 10] * workers,
        wire_bytes=None,
        line_rate_bytes_per_s=None,
        placement=[],
        hottest_share=None,
        validity=validity,
        path=path,
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
