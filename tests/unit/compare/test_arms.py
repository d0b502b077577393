"""What makes an arm of its own, and its name."""

from __future__ import annotations

from typing import Any

import pytest

from hvdbench.compare.arms import arm_name, family_name, topology
from tests.unit.compare.builders import record


@pytest.mark.parametrize(
    "name, made",
    [
        ("local", {"strategy": "local"}),
        ("local feed", {"strategy": "local", "config": {"input": "feed"}}),
        ("horovod x2", {"strategy": "horovod"}),
        ("horovod x2 gloo", {"strategy": "horovod", "tasks": {"versions": {"mpi": None}}}),
        ("horovod x2 ring", {"strategy": "horovod", "config": {"allreduce_algorithm": "ring"}}),
        ("horovod x2 MPI defaults", {"strategy": "horovod", "config": {"mpi_defaults": True}}),
        ("horovod x2 feed", {"strategy": "horovod", "config": {"input": "feed"}}),
        ("horovod x2 delayed 1:0.2", {"strategy": "horovod", "config": {"delay_worker": (1, 0.2)}}),
        ("ps_async 1+2", {"strategy": "ps_async"}),
        ("ps_sync 1+2", {"strategy": "ps_sync"}),
        ("ps_sync 2+2 by_size", {"strategy": "ps_sync", "ps": 2, "config": {"placement": "by_size"}}),
        ("ps_sync 1+2 tokens=default", {"strategy": "ps_sync", "config": {"tokens": "default"}}),
        ("ps_sync 1+3 2/3 aggregated", {"strategy": "ps_sync", "workers": 3, "config": {"replicas_to_aggregate": 2}}),
        ("ps_sync 1+3", {"strategy": "ps_sync", "workers": 3, "config": {"replicas_to_aggregate": 3}}),
        (
            "ps_sync 1+3 sharded tokens=default 2/3 aggregated feed delayed 0:1.5",
            {
                "strategy": "ps_sync",
                "workers": 3,
                "config": {
                    "placement": "sharded",
                    "tokens": "default",
                    "replicas_to_aggregate": 2,
                    "input": "feed",
                    "delay_worker": [0, 1.5],
                },
            },
        ),
    ],
)
def test_names(name: str, made: dict[str, Any]) -> None:
    assert arm_name(record(**made)) == name


def test_a_family_is_the_arm_without_its_workers() -> None:
    assert {family_name(record("ps_sync", workers=workers)) for workers in (1, 2, 4)} == {"ps_sync 1 PS"}
    assert family_name(record("horovod", config={"input": "feed"})) == "horovod feed"


def test_a_strategy_that_is_not_in_the_table_has_no_topology() -> None:
    names = ("local", "ps_sync", "ps_async", "horovod", "somebody's own")
    assert [topology(record(name)) for name in names] == ["none", "star", "star", "ring", "none"]


def test_a_record_that_does_not_say_is_synthetic_strict_and_undelayed() -> None:
    found = record("ps_sync")
    for name in ("input", "tokens", "replicas_to_aggregate", "delay_worker"):
        del found.config[name]
    assert arm_name(found) == "ps_sync 1+2"
