"""A worker's side of the star: gradients leave as they come, means arrive in place, one thread talks MPI."""

from __future__ import annotations

import queue
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from hvdbench.strategies.star_messages import Message

# How long the thread sleeps between two looks at MPI while gradients are still being computed: the cores are theirs.
POLL_S = 0.0002
# TensorFlow takes an array over without a copy when it begins on such a boundary.
ALIGNMENT = 64


class Exchange:
    """Pushes and pulls of one worker; `push` never waits, `pull` waits for all means of the step."""

    def __init__(self, world: Any, messages: Sequence[Message], elements: Sequence[int], dtype: Any) -> None:
        self.world, self.tensors = world, len(elements)
        self.messages: list[list[Message]] = [[] for _ in elements]
        for message in messages:
            self.messages[message.tensor].append(message)
        self.means = [aligned(count, dtype) for count in elements]
        self.pushed: queue.Queue[tuple[int, Any] | None] = queue.Queue()
        self.complete: queue.Queue[BaseException | None] = queue.Queue()
        self.thread = threading.Thread(target=self._run, name="hvdbench-star", daemon=True)
        self.thread.start()

    def push(self, tensor: int, value: Any) -> None:
        """Start sending this gradient to its roots."""
        self.pushed.put((tensor, value))

    def pull(self) -> list[Any]:
        """The means of this step, flat; raises what ended the exchange."""
        failure = self.complete.get()
        if failure is not None:
            raise failure
        return self.means

    def close(self) -> None:
        """End the thread after the last step."""
        self.pushed.put(None)
        self.thread.join()

    def _run(self) -> None:
        try:
            while self._step():
                self.complete.put(None)
        except BaseException as failure:
            self.complete.put(failure)

    def _step(self) -> bool:
        """Exchange one step's gradients; False when there is none to come."""
        from mpi4py import MPI

        active: list[Any] = []
        left = self.tensors
        while left:
            try:
                given = self.pushed.get(timeout=POLL_S if active else None)
            except queue.Empty:
                done = set(MPI.Request.Testsome(active) or ())
                active = [request for place, request in enumerate(active) if place not in done]
                continue
            if given is None:
                return False
            active += self._begun(*given)
            left -= 1
        # Nothing is left to compute on this worker: now waiting may spin.
        MPI.Request.Waitall(active)
        return True

    def _begun(self, tensor: int, value: Any) -> list[Any]:
        flat, mean = np.ascontiguousarray(value).reshape(-1), self.means[tensor]
        begun = []
        for each in self.messages[tensor]:
            begun.append(self.world.Irecv(mean[each.begin : each.end], each.root, each.tag))
            begun.append(self.world.Isend(flat[each.begin : each.end], each.root, each.tag))
        return begun


def aligned(count: int, dtype: Any) -> Any:
    """An empty vector whose memory begins on a boundary of 64 bytes."""
    size = np.dtype(dtype).itemsize
    room = np.empty(count * size + ALIGNMENT, np.uint8)
    begin = -room.ctypes.data % ALIGNMENT
    return room[begin : begin + count * size].view(dtype)
