"""Roles, tasks and the cluster as data."""

from __future__ import annotations

from dataclasses import dataclass

from hvdbench.errors import UsageError

PS, WORKER = "ps", "worker"


@dataclass(frozen=True)
class Cluster:
    """One task's view: its role and index, all addresses, and the processes that share its host.

    `ps_hosts` and `worker_hosts` are host:port strings, empty where the strategy opens no port.
    """

    role: str = WORKER
    index: int = 0
    workers: int = 1
    ps_hosts: tuple[str, ...] = ()
    worker_hosts: tuple[str, ...] = ()
    local_rank: int = 0
    processes_on_host: int = 1
    launcher: str = "none"

    @property
    def rank(self) -> int | None:
        """The rank under a launcher, PS tasks first; None where no launcher gave one."""
        if self.launcher in ("none", "by hand"):
            return None
        return self.index if self.role == PS else len(self.ps_hosts) + self.index

    @property
    def is_chief(self) -> bool:
        return self.role == WORKER and self.index == 0

    @property
    def trains(self) -> bool:
        return self.role == WORKER


def role_of(rank: int, size: int, ps: int) -> tuple[str, int]:
    """Role and index of an MPI rank: the first `ps` ranks serve; raises UsageError with no rank left to work."""
    if ps < 0 or size <= ps:
        raise UsageError(f"--ps is {ps} but mpirun started {size} ranks; start at least ps + 1 ranks")
    return (PS, rank) if rank < ps else (WORKER, rank - ps)


def same_host(addresses: tuple[str, ...], mine: str) -> int:
    """How many of the host:port addresses are on the host of `mine`."""
    host = mine.rpartition(":")[0]
    return sum(address.rpartition(":")[0] == host for address in addresses)
