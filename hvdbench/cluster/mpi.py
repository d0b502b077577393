"""Addresses of the tasks that mpirun started, exchanged through MPI."""

from __future__ import annotations

import os
import socket
from typing import Any

from hvdbench.cluster.ports import free_ports
from hvdbench.cluster.spec import PS, Cluster, role_of


def cluster_from_mpi(ps: int) -> Cluster:
    """This rank's cluster; the first `ps` ranks serve. Collective: every rank must call it."""
    # A rank that waits shares its cores with computation, as on every CPU cluster.
    os.environ.setdefault("OMPI_MCA_mpi_yield_when_idle", "1")
    from mpi4py import MPI

    world = MPI.COMM_WORLD
    role, index = role_of(world.rank, world.size, ps)
    host = socket.gethostname()
    facts: list[Any] = world.allgather((host, _address(host), free_ports(1)[0]))
    one_host = len({fact[0] for fact in facts}) == 1
    addresses = tuple(f"{'127.0.0.1' if one_host else fact[1]}:{fact[2]}" for fact in facts)
    here = [rank for rank, fact in enumerate(facts) if fact[0] == host]
    workers_here = [rank for rank in here if role_of(rank, world.size, ps)[0] != PS]
    return Cluster(
        role,
        index,
        world.size - ps,
        addresses[:ps],
        addresses[ps:],
        workers_here.index(world.rank) if role != PS else 0,
        len(here),
        "openmpi",
    )


def abort(code: int) -> None:
    """End every rank of the job now: an uncaught error on one must not leave the others waiting."""
    from mpi4py import MPI

    if MPI.Is_initialized() and not MPI.Is_finalized():
        MPI.COMM_WORLD.Abort(code)


def _address(host: str) -> str:
    try:
        return socket.gethostbyname(host)
    except OSError:
        return "127.0.0.1"
