"""Unlike records are refused in one line that names the field and both values."""

from __future__ import annotations

from typing import Any

import pytest

from hvdbench.compare.comparability import FIELDS, THREADS
from hvdbench.compare.compare import compare, render
from hvdbench.errors import NotComparableError, UsageError
from tests.unit.compare.builders import record

CONFIG_CASES = [
    ("batch_size", 4, 8),
    ("model", "alexnet", "alexnet_tiny"),
    ("steps", 10, 20),
    ("warmup", 2, 3),
    ("input", "synthetic", "feed"),
    ("seed", 1, 2),
    ("learning_rate", None, 0.1),
    ("dtype", "float32", "float64"),
]
TASK_CASES = [
    ("hosts", {"host": "two"}, "one", "two"),
    ("host_cores", {"host_cores": 16, "intra_op_threads": 8}, "8", "16"),
    ("device", {"device": "GPU"}, "CPU", "GPU"),
    ("versions.hvdbench", {"versions": {"hvdbench": "9"}}, "0.1.0", "9"),
    ("versions.python", {"versions": {"python": "3.12.1"}}, "3.11.7", "3.12.1"),
    ("versions.tensorflow", {"versions": {"tensorflow": "2.17.0"}}, "2.18.1", "2.17.0"),
    ("versions.numpy", {"versions": {"numpy": "1.26.4"}}, "2.0.2", "1.26.4"),
    ("versions.horovod", {"versions": {"horovod": "0.27.0"}}, "0.28.1", "0.27.0"),
    ("versions.mpi", {"versions": {"mpi": "5.0.0"}}, "4.1.4", "5.0.0"),
    ("versions.gpu_driver", {"versions": {"gpu_driver": "535.1"}}, "570.86", "535.1"),
]
CASES: list[tuple[str, dict[str, Any], str, str]] = [
    *((name, {"config": {name: other}}, str(value), str(other)) for name, value, other in CONFIG_CASES),
    ("fingerprint", {"fingerprint": "beef"}, "f00d", "beef"),
    *((name, {"tasks": tasks}, value, other) for name, tasks, value, other in TASK_CASES),
]


def test_every_field_has_a_case() -> None:
    assert [case[0] for case in CASES] == list(FIELDS)


@pytest.mark.parametrize("field, change, value, other", CASES)
def test_each_field_is_refused_and_can_be_allowed(field: str, change: dict[str, Any], value: str, other: str) -> None:
    pair = [record("local", path="A"), record("horovod", path="B", **change)]
    said = f"{field} is {value} in A and {other} in B"
    with pytest.raises(NotComparableError) as refused:
        compare(pair)
    assert str(refused.value) == f"not comparable: {said}; rerun one of them or pass --allow {field}"
    assert refused.value.exit_code == 2
    allowed = compare(pair, allow=[field])
    assert allowed.allowed == (said,)
    for form in ("table", "markdown", "csv", "json"):
        assert said in render(allowed, form)


def test_batch_size_is_named_before_what_follows_from_it() -> None:
    unlike: dict[str, Any] = {"fingerprint": "beef", "tasks": {"device": "GPU"}}
    records = [record(), record("horovod", **unlike), record("horovod", config={"batch_size": 8}, **unlike)]
    with pytest.raises(NotComparableError, match="batch_size is 4 .* and 8 "):
        compare(records)


@pytest.mark.parametrize("name", ["horovod", "mpi", "gpu_driver"])
def test_an_absent_optional_version_agrees_with_any(name: str) -> None:
    absent = record("local", tasks={"versions": {name: None}})
    compare([absent, record("horovod")])
    with pytest.raises(NotComparableError, match=f"versions.{name}"):
        compare([absent, record("horovod"), record("horovod", tasks={"versions": {name: "0"}})])


def test_c47_records_of_two_tensorflow_versions_are_not_comparable() -> None:
    old = record("local", path="A", tasks={"versions": {"tensorflow": "1.8"}})
    new = record("horovod", path="B", tasks={"versions": {"tensorflow": "1.10"}})
    with pytest.raises(NotComparableError, match="versions.tensorflow is 1.8 in A and 1.10 in B") as refused:
        compare([old, new])
    assert refused.value.exit_code == 2


def test_what_belongs_to_the_arm_may_differ() -> None:
    changes: list[dict[str, Any]] = [
        {"tokens": "default"}, {"replicas_to_aggregate": 1}, {"delay_worker": (1, 0.2)}, {"placement": "sharded"}
    ]  # fmt: skip
    found = compare([record("ps_sync"), *(record("ps_sync", config=change) for change in changes)])
    assert len(found.groups) == 5 and found.allowed == ()


def test_a_ps_without_gpu_or_on_a_host_of_its_own_sets_no_arm_apart() -> None:
    star = record("ps_sync", tasks={"device": "GPU"})
    star.tasks[2] |= {"device": "CPU", "host": "two", "host_cores": 4, "intra_op_threads": 1}
    found = compare([record("horovod", tasks={"device": "GPU"}), star])
    assert "ps_sync 1+2: its PS run on hosts without a worker (two)" in found.notes


def test_threads_may_differ_between_arms_by_their_share_of_the_cores() -> None:
    records = [record("local"), record("horovod"), record("ps_sync")]
    assert [each.tasks[0][THREADS] for each in records] == [8, 4, 2]
    compare(records)
    assert {task["processes_on_host"] for task in records[2].tasks} == {3}


def test_threads_off_the_rule_are_refused() -> None:
    with pytest.raises(NotComparableError, match=r"is 8 in B and 4 by the rule of 8 cores for 2 processes; "):
        compare([record(), record("horovod", path="B", tasks={THREADS: 8})])


def test_threads_must_agree_within_an_arm() -> None:
    crowded = {"processes_on_host": 4, THREADS: 2}
    with pytest.raises(NotComparableError, match=f"{THREADS} is 4 in A and 2 in B; "):
        compare([record("horovod", path="A"), record("horovod", path="B", tasks=crowded)])


def test_a_third_value_is_another_allowed_difference_and_repeats_are_not() -> None:
    found = compare([record(config={"seed": seed}) for seed in (1, 2, 2, 3)], allow=["seed"])
    assert [each.split(" in ")[0] for each in found.allowed] == ["seed is 1", "seed is 1"]


def test_allowing_what_is_not_compared_lists_the_fields() -> None:
    with pytest.raises(UsageError, match="'batchsize' is not a compared field; choose one of batch_size, "):
        compare([record()], allow=["batchsize"])
