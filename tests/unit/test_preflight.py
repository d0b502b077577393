"""Every way in which a task can differ from the first one is named, with the task and both values."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from hvdbench.config import RunConfig
from hvdbench.preflight import disagreement, first_difference, statement

GRAPH = {
    "fingerprint": "a",
    "variables": [
        {"name": "fc7/weights", "shape": [128, 128], "dtype": "float32"},
        {"name": "fc8/weights", "shape": [128, 1000], "dtype": "float32"},
    ],
    "forward": ["variable fc8/weights float32(128, 1000)", "MatMul float32(4, 1000) of [0] 12345678"],
}
TASK = {
    "role": "worker",
    "index": 0,
    "rank": 0,
    "host": "one",
    "interpreter": "/usr/bin/python3",
    "versions": {"python": "3.11.7", "tensorflow": "2.18.1", "horovod": "0.28.1", "mpi": "Open MPI v4.1.4"},
}


def said(index: int = 0, **task: Any) -> dict[str, Any]:
    config = RunConfig(strategy="horovod", workers=2)
    return copy.deepcopy(statement(config, TASK | {"index": index, "rank": index} | task, GRAPH))


def test_equal_tasks_agree() -> None:
    assert disagreement([said(), said(1, host="two"), {**said(2), "graph": None}]) is None


def test_another_class_count_is_named_by_rank_and_variable() -> None:
    # C35: rank 1 built with 999 classes; the graph is named before the option that made it.
    other = said(1, host="two")
    other["graph"]["fingerprint"] = "b"
    other["graph"]["variables"][1]["shape"] = [128, 999]
    other["config"]["classes"] = 999
    found = disagreement([said(), other])
    assert found is not None and found.startswith("rank 1 (worker 1 on two) built another graph than rank 0")
    assert "fc8/weights has shape [128, 999] instead of [128, 1000]" in found


@pytest.mark.parametrize("name", ["python", "tensorflow", "horovod", "mpi"])
@pytest.mark.parametrize("value", ["0.0.1", None])
def test_each_version_is_compared(name: str, value: str | None) -> None:
    # C32: remote ranks with another Python or other libraries.
    other = said(1, versions=TASK["versions"] | {name: value})  # type: ignore[operator]
    found = disagreement([said(), said(2), other])
    assert found is not None and f"rank 1 (worker 1 on one) has {name} version {value} but rank 0" in found


def test_the_interpreter_is_compared() -> None:
    found = disagreement([said(), said(1, interpreter="/opt/conda/bin/python")])
    assert found is not None and "interpreter /opt/conda/bin/python" in found


@pytest.mark.parametrize("field", ["batch_size", "steps", "model", "seed", "placement", "delay_worker"])
def test_each_option_is_compared(field: str) -> None:
    other = said(1)
    other["config"][field] = "another"
    found = disagreement([said(), other])
    assert found is not None and f"has {field} another but" in found and found.count("\n") == 0


def test_a_ps_is_compared_too_and_named_without_a_rank() -> None:
    ps = {**said(0, role="ps", rank=None, host="three"), "graph": None}
    ps["config"]["placement"] = "greedy"
    found = disagreement([said(), ps])
    assert found is not None and found.startswith("ps 0 on three has placement greedy")


@pytest.mark.parametrize(
    "change, words",
    [
        (lambda g: g["variables"].reverse(), "fc8/weights stands in the place of fc7/weights"),
        (lambda g: g["variables"].pop(), "there are 1 variables instead of 2"),
        (lambda g: g["variables"][0].update(dtype="float64"), "fc7/weights has dtype float64 instead of float32"),
        (lambda g: g["forward"].append("Relu"), "there are 3 forward ops instead of 2"),
        (lambda g: g["forward"].__setitem__(1, "Mul"), "forward op 1 is Mul instead of MatMul"),
    ],
)
def test_the_first_difference_of_two_graphs(change: Any, words: str) -> None:
    other = copy.deepcopy(GRAPH) | {"fingerprint": "b"}
    change(other)
    found = first_difference(GRAPH, other)
    assert found is not None and words in found
