"""Barriers and reports of the workers through MPI, byte for byte."""

from __future__ import annotations

from typing import Any

import numpy as np

from hvdbench.strategies.base import Channel


class MpiChannel(Channel):
    """A channel over a communicator that holds the workers in order."""

    def __init__(self, workers: Any) -> None:
        self.workers = workers

    def barrier(self) -> None:
        self.workers.Barrier()

    def exchange(self, report: bytes) -> list[bytes]:
        lengths = np.empty(self.workers.size, np.int64)
        self.workers.Allgather(np.array([len(report)], np.int64), lengths)
        joined = np.empty(int(lengths.sum()), np.uint8)
        self.workers.Allgatherv(np.frombuffer(report, np.uint8), (joined, lengths))
        ends = np.cumsum(lengths)
        return [joined[end - length : end].tobytes() for end, length in zip(ends, lengths, strict=True)]

    def gather(self, report: bytes) -> list[bytes]:
        return self.exchange(report)
