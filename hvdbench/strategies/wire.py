"""Bytes that one step moves through each NIC: pure formulas, one task a host."""

from __future__ import annotations

from collections.abc import Sequence


def worker_star_bytes(param_bytes: int) -> int:
    """Bytes a worker receives per step under a PS, and sends: it pulls every parameter and pushes its gradient."""
    return param_bytes


def ps_star_bytes(ps_bytes: int, workers: int) -> int:
    """Bytes a PS sends per step, and receives: each worker pulls and pushes what this PS holds."""
    return ps_bytes * workers


def ring_bytes(param_bytes: int, workers: int) -> float:
    """Bytes each rank sends per step, and receives, in a ring all-reduce: 2(N-1)/N x bytes.

    Formula: Patarasuk and Yuan, Bandwidth optimal all-reduce algorithms, 2009; as nccl-tests' bus bandwidth.
    """
    return 2 * (workers - 1) / workers * param_bytes


def star_host_bytes(
    workers: Sequence[str], ps: Sequence[str], ps_bytes: Sequence[int], steps: Sequence[int]
) -> dict[str, int]:
    """Bytes each host's NIC sends in all steps under a PS, and receives.

    `workers` and `ps` are hosts by task index, `ps_bytes` the parameter bytes of each PS, `steps` the steps of
    each worker. Every worker pulls from and pushes to every PS; what stays within a host does not cross its
    NIC. A pull is received by the worker and sent by the PS, a push the other way round, so both directions
    carry the same.
    """
    found = dict.fromkeys([*workers, *ps], 0)
    for worker, taken in zip(workers, steps, strict=True):
        for server, held in zip(ps, ps_bytes, strict=True):
            if worker != server:
                found[worker] += held * taken
                found[server] += held * taken
    return found


def ring_host_bytes(workers: Sequence[str], param_bytes: int) -> dict[str, int] | None:
    """Bytes each host's NIC sends per step in a ring, and receives; None with several ranks on one of many hosts.

    Which of a host's ranks are neighbours in the ring, and what shared memory carries, is then the library's choice.
    """
    if len(set(workers)) == 1:
        return dict.fromkeys(workers, 0)
    if len(set(workers)) < len(workers):
        return None
    return dict.fromkeys(workers, round(ring_bytes(param_bytes, len(workers))))
