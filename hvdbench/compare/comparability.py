"""Which records may stand in one table: nothing but the strategy may differ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hvdbench.errors import NotComparableError
from hvdbench.record.schema import Record

CONFIG_FIELDS = ("model", "batch_size", "steps", "warmup", "input", "seed", "learning_rate", "dtype")
VERSION_FIELDS = ("hvdbench", "python", "tensorflow", "horovod", "numpy")


def facts(record: Record) -> dict[str, Any]:
    """Every field that must agree, by name; threads as a share of the host, since process counts differ."""
    tasks = record.tasks
    found: dict[str, Any] = {name: record.config.get(name) for name in CONFIG_FIELDS}
    found["fingerprint"] = record.graph.get("fingerprint")
    found["hosts"] = sorted({task["host"] for task in tasks})
    found["host_cores"] = sorted({task["host_cores"] for task in tasks})
    found["devices"] = sorted({task["device"] for task in tasks})
    found["threads_rule"] = all(
        task["intra_op_threads"] == max(1, task["host_cores"] // task["processes_on_host"]) for task in tasks
    )
    for name in VERSION_FIELDS:
        found[f"versions.{name}"] = sorted({str(task["versions"].get(name)) for task in tasks})
    return found


def refuse_unlike(records: Sequence[Record], allow: Sequence[str]) -> list[str]:
    """The allowed differences found, as text; raises NotComparableError at the first that is not allowed."""
    first, allowed = records[0], []
    expected = facts(first)
    for record in records[1:]:
        for name, value in facts(record).items():
            if value == expected[name]:
                continue
            difference = f"{name} is {expected[name]} in {first.path} and {value} in {record.path}"
            if name not in allow:
                raise NotComparableError(f"not comparable: {difference}; run both alike or pass --allow {name}")
            allowed.append(difference)
    return allowed
