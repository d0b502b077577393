"""Older formats read as today's: one function for each step between two schema versions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hvdbench.errors import UsageError

BULK, UNEVEN = "bulk-synchronous", "not bulk-synchronous"


def migrated(data: dict[str, Any], path: str, current: int) -> dict[str, Any]:
    """The record's data in schema version `current`; raises UsageError when no steps lead there."""
    version = data.get("schema_version")
    if not isinstance(version, int) or isinstance(version, bool):
        raise UsageError(f"{path}: schema_version is {version!r}, not a number; the file was edited, run again")
    while version != current:
        if version not in STEPS:
            raise UsageError(
                f"{path}: schema_version is {version} but this hvdbench reads {min(STEPS)} to {current}; "
                "use the hvdbench that wrote it"
            )
        try:
            data = STEPS[version](data)
        except (KeyError, TypeError, AttributeError) as error:
            raise UsageError(f"{path}: not a record of schema {version} ({error!r}); the file was edited") from error
        version += 1
    return data


def _1_to_2(data: dict[str, Any]) -> dict[str, Any]:
    """What schema 1 did not measure is None; its fingerprint cannot equal one of the new recipe."""
    added_config = {
        **{"classes": None, "tokens": "strict", "replicas_to_aggregate": None, "delay_worker": None},
        # Schema 1 left Horovod and MPI as they were.
        **{"allreduce_algorithm": "default", "fusion_mb": None, "cycle_ms": None, "mpi_defaults": True},
    }
    valid = data["validity"] == "valid"
    taken = [len(steps) for steps in data["step_s"]]
    return data | {
        "schema_version": 2,
        "config": data["config"] | added_config,
        "graph": data["graph"] | {"fingerprint": f"schema1:{data['graph']['fingerprint']}"},
        "tasks": [{**task, "rank": None} for task in data["tasks"]],
        "synchrony": BULK if valid else UNEVEN,
        "dropped": [max(0, a - b) for a, b in zip(taken, data["contributions"], strict=False)],
        **dict.fromkeys(("contributions_per_step", "staleness", "marks", "commit", "links")),
        "wire_predicted_bytes": None,
        **dict.fromkeys(("input_s", "compute_s", "wait_s", "exchange_s")),
    }


def _2_to_3(data: dict[str, Any]) -> dict[str, Any]:
    """Until schema 2 every run computed."""
    return data | {"schema_version": 3, "config": data["config"] | {"compute": "full"}}


STEPS: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {1: _1_to_2, 2: _2_to_3}
