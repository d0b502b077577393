"""Roles follow from ranks, and a task knows who shares its host."""

from __future__ import annotations

import socket

import pytest

from hvdbench.cluster.ports import free_ports
from hvdbench.cluster.spec import Cluster, role_of, same_host
from hvdbench.errors import UsageError


def test_the_first_ranks_serve_and_the_others_work() -> None:
    assert [role_of(rank, 5, 2) for rank in range(5)] == [
        ("ps", 0), ("ps", 1), ("worker", 0), ("worker", 1), ("worker", 2),
    ]  # fmt: skip


@pytest.mark.parametrize("size, ps", [(2, 2), (1, 1), (3, -1)])
def test_without_a_rank_left_to_work_there_is_no_cluster(size: int, ps: int) -> None:
    with pytest.raises(UsageError, match="start at least ps \\+ 1 ranks"):
        role_of(0, size, ps)


def test_only_worker_0_is_chief_and_a_ps_does_not_train() -> None:
    tasks = [Cluster("ps", 0, 2), Cluster("worker", 0, 2), Cluster("worker", 1, 2)]
    assert [task.is_chief for task in tasks] == [False, True, False]
    assert [task.trains for task in tasks] == [False, True, True]


def test_ranks_count_the_ps_first_and_are_unknown_by_hand() -> None:
    hosts = {"ps_hosts": ("a:1", "b:1"), "workers": 2}
    assert Cluster("worker", 1, launcher="openmpi", **hosts).rank == 3  # type: ignore[arg-type]
    assert Cluster("ps", 1, launcher="openmpi", **hosts).rank == 1  # type: ignore[arg-type]
    assert Cluster("worker", 1, launcher="by hand", **hosts).rank is None  # type: ignore[arg-type]


def test_tasks_of_one_host_are_counted() -> None:
    assert same_host(("a:1", "b:2", "a:3"), "a:9") == 2
    assert same_host(("10.0.0.1:1", "10.0.0.10:1"), "10.0.0.1:5") == 1


def test_free_ports_are_different_and_free() -> None:
    ports = free_ports(20)
    assert len(set(ports)) == 20
    for port in ports:
        with socket.create_server(("127.0.0.1", port)):
            pass
