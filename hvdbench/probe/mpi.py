"""MPI: rank 0 sends a message, rank 1 answers with one byte.

mpirun -np 2 python -m hvdbench.probe.mpi SIZE,SIZE,...
"""

from __future__ import annotations

import sys
import time

import numpy as np
from mpi4py import MPI

from hvdbench.probe.transports import repeats, tell


def main(sizes: list[int]) -> None:
    """Time every size on rank 0 and print it there."""
    world = MPI.COMM_WORLD
    answer = np.zeros(1, np.uint8)
    for size in sizes:
        message, seconds = np.zeros(size, np.uint8), []
        for _ in range(repeats(size) + 1):
            begun = time.monotonic()
            if world.rank == 0:
                world.Send(message, 1)
                world.Recv(answer, 1)
            else:
                world.Recv(message, 0)
                world.Send(answer, 0)
            seconds.append(time.monotonic() - begun)
        if world.rank == 0:
            # The first one opens the connection.
            tell("mpi", size, seconds[1:])


if __name__ == "__main__":
    main([int(each) for each in sys.argv[1].split(",")])
