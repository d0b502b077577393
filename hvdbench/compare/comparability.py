"""Which records may stand in one table: nothing but the strategy may differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hvdbench.errors import NotComparableError, UsageError
from hvdbench.record.schema import Record

CONFIG_FIELDS = ("batch_size", "model", "steps", "warmup", "input", "seed", "learning_rate", "dtype")
VERSION_FIELDS = ("hvdbench", "python", "tensorflow", "numpy", "horovod", "mpi", "gpu_driver")
OPTIONAL_VERSIONS = ("horovod", "mpi", "gpu_driver")
THREADS = "intra_op_threads"


@dataclass(frozen=True)
class Difference:
    """One field with two values and where each was found; str() gives it as one clause."""

    field: str
    value: str
    source: str
    other_value: str
    other_source: str

    def __str__(self) -> str:
        return f"{self.field} is {self.value} {self.source} and {self.other_value} {self.other_source}"


def source(record: Record) -> str:
    """What to call a record in a message: its path, or its launch when it was never saved."""
    return record.path or f"launch {record.launch_id}"


def _config(name: str) -> Callable[[Record], str]:
    return lambda record: str(record.config.get(name))


def _of_workers(name: str) -> Callable[[Record], str]:
    # A PS is part of its strategy: that it has no GPU, or a host of its own, sets no two arms apart.
    return lambda record: ", ".join(sorted({str(task.get(name)) for task in record.tasks if task["role"] == "worker"}))


def _version(name: str) -> Callable[[Record], str | None]:
    def value(record: Record) -> str | None:
        found = {task["versions"].get(name) for task in record.tasks}
        if name in OPTIONAL_VERSIONS:
            found.discard(None)
        return ", ".join(sorted(map(str, found))) or None

    return value


FIELDS: Mapping[str, Callable[[Record], str | None]] = {
    **{name: _config(name) for name in CONFIG_FIELDS},
    "fingerprint": lambda record: str(record.graph.get("fingerprint")),
    "hosts": _of_workers("host"),
    "host_cores": _of_workers("host_cores"),
    "device": _of_workers("device"),
    **{f"versions.{name}": _version(name) for name in VERSION_FIELDS},
}


def accepted_differences(arms: Mapping[str, Sequence[Record]], allow: Sequence[str] = ()) -> list[Difference]:
    """The differences that `allow` accepts; raises NotComparableError at the first that it does not.

    Raises UsageError when `allow` names no compared field. Thread counts differ legitimately between
    arms, with the processes on a host: there the cores of the host and the rule for threads count.
    """
    known = (*FIELDS, THREADS)
    for name in allow:
        if name not in known:
            raise UsageError(f"--allow {name!r} is not a compared field; choose one of {', '.join(known)}")
    accepted: list[Difference] = []
    for found in _differences(arms):
        if found.field not in allow:
            remedy = f"rerun one of them or pass --allow {found.field}"
            raise NotComparableError(f"not comparable: {found}; {remedy}")
        accepted.append(found)
    return accepted


def _differences(arms: Mapping[str, Sequence[Record]]) -> Iterator[Difference]:
    """All of them, the oldest record being what the others are held against."""
    found = [record for records in arms.values() for record in records]
    everything = sorted(found, key=lambda record: record.started_utc)
    for name, value in FIELDS.items():
        yield from _unlike(name, value, everything)
    for records in arms.values():
        yield from _unlike(THREADS, _of_workers(THREADS), records)
    for record in everything:
        yield from _against_the_rule(record)


def _unlike(name: str, value: Callable[[Record], str | None], records: Sequence[Record]) -> Iterator[Difference]:
    """Every value that differs from the first one known, once each; unknown values agree with all."""
    first: dict[str, Record] = {}
    for record in records:
        found = value(record)
        if found is None or found in first:
            continue
        if first:
            reference, holder = next(iter(first.items()))
            yield Difference(name, reference, f"in {source(holder)}", found, f"in {source(record)}")
        first[found] = record


def _against_the_rule(record: Record) -> Iterator[Difference]:
    """The first task whose threads are not its share of the host's cores, max(1, cores // processes)."""
    processes = Counter(task["host"] for task in record.tasks)
    for task in record.tasks:
        cores, count = task["host_cores"], _processes(task, processes)
        share = max(1, cores // count)
        if task[THREADS] != share:
            rule = f"by the rule of {cores} cores for {count} processes"
            yield Difference(THREADS, str(task[THREADS]), f"in {source(record)}", str(share), rule)
            return


def _processes(task: Mapping[str, Any], counted: Mapping[str, int]) -> int:
    return int(task.get("processes_on_host") or counted[task["host"]])
