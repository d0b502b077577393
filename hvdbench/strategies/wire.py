"""Bytes that one step moves through each NIC: pure formulas, one task a host."""

from __future__ import annotations


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
