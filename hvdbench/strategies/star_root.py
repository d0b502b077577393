"""A root of the star: takes every worker's gradients, sends each mean back as soon as it is complete."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hvdbench.strategies.star_messages import FIRST_TAG, Message

QUESTION, ANSWER = FIRST_TAG - 2, FIRST_TAG - 1
DONE = b"done"
# After this long without a finished message the root sleeps between looks: its core may be a worker's.
SPIN_S = 0.001
POLL_S = 0.0001


def ask(world: Any, root: int, question: str) -> bytes:
    """The root's answer to the chief."""
    from mpi4py import MPI

    world.Send(question.encode(), root, QUESTION)
    status = MPI.Status()
    world.Probe(root, ANSWER, status)
    answer = bytearray(status.Get_count(MPI.BYTE))
    world.Recv(answer, root, ANSWER)
    return bytes(answer)


def serve(world: Any, roots: int, messages: Sequence[Message], dtype: Any, answer: Callable[[str], bytes]) -> None:
    """Average what the workers send until each of them has said that it is done; `messages` are this root's own."""
    from mpi4py import MPI

    means = _Means(world, roots, messages, dtype)
    done, busy_until = 0, 0.0
    while done < means.workers:
        if means.advance():
            busy_until = time.monotonic() + SPIN_S
        elif time.monotonic() > busy_until:
            time.sleep(POLL_S)
        status = MPI.Status()
        if world.Iprobe(MPI.ANY_SOURCE, QUESTION, status):
            told = bytearray(status.Get_count(MPI.BYTE))
            world.Recv(told, status.source, QUESTION)
            if told == DONE:
                done += 1
            else:
                world.Send(answer(told.decode()), status.source, ANSWER)
    means.stop()


class _Means:
    """Buffers for every worker's every message, received in place; the mean leaves from a buffer of its own."""

    def __init__(self, world: Any, roots: int, messages: Sequence[Message], dtype: Any) -> None:
        self.world, self.messages = world, messages
        self.ranks = range(roots, world.size)
        self.workers = len(self.ranks)
        self.taken = [[np.empty(each.elements, dtype) for _ in self.ranks] for each in messages]
        self.means = [np.empty(each.elements, dtype) for each in messages]
        self.missing = [self.workers] * len(messages)
        self.sends: list[list[Any]] = [[] for _ in messages]
        self.receives = [
            self._receive(place, worker) for place in range(len(messages)) for worker in range(self.workers)
        ]

    def _receive(self, place: int, worker: int) -> Any:
        return self.world.Irecv(self.taken[place][worker], self.ranks[worker], self.messages[place].tag)

    def advance(self) -> bool:
        """Answer every message that is complete now; whether any came in."""
        from mpi4py import MPI

        came = MPI.Request.Testsome(self.receives) or []
        for index in came:
            place = index // self.workers
            self.missing[place] -= 1
            if not self.missing[place]:
                self._answer(place)
        return bool(came)

    def _answer(self, place: int) -> None:
        from mpi4py import MPI

        # Long complete: a worker sends again only after it has the mean before.
        MPI.Request.Waitall(self.sends[place])
        mean, taken = self.means[place], self.taken[place]
        np.copyto(mean, taken[0])
        for other in taken[1:]:
            np.add(mean, other, out=mean)
        np.divide(mean, self.workers, out=mean)
        for worker in range(self.workers):
            self.receives[place * self.workers + worker] = self._receive(place, worker)
        tag = self.messages[place].tag
        self.sends[place] = [self.world.Isend(mean, rank, tag) for rank in self.ranks]
        self.missing[place] = self.workers

    def stop(self) -> None:
        """Finish what was sent and take back what will never come."""
        from mpi4py import MPI

        for sends in self.sends:
            MPI.Request.Waitall(sends)
        for request in self.receives:
            request.Cancel()
        MPI.Request.Waitall(self.receives)
