"""A plain TCP transfer over a few streams: the line rate that percentages refer to.

python -m hvdbench.probe.tcp receive ADDRESS STREAMS
python -m hvdbench.probe.tcp send ADDRESS PORT STREAMS SECONDS
"""

from __future__ import annotations

import socket
import sys
import threading
import time

CHUNK_BYTES = 1 << 18


def receive(address: str, streams: int) -> float:
    """Announce a free port on stdout, receive from `streams` connections, and return bytes per second.

    The time runs from the first byte of the last stream to start to the first end of a stream, so that all
    streams are at work.
    """
    marks: list[list[tuple[float, int]]] = [[] for _ in range(streams)]
    with socket.create_server((address, 0)) as server:
        print(server.getsockname()[1], flush=True)
        threads = []
        for index in range(streams):
            connection, _ = server.accept()
            threads.append(threading.Thread(target=_drain, args=(connection, marks[index])))
            threads[-1].start()
        for thread in threads:
            thread.join()
    return rate_bytes_per_s(marks)


def rate_bytes_per_s(marks: list[list[tuple[float, int]]]) -> float:
    """Bytes per second of all streams together, from (time, bytes) of every read, while all streams move."""
    begun = max(each[0][0] for each in marks)
    ended = min(each[-1][0] for each in marks)
    total = sum(size for each in marks for when, size in each if begun < when <= ended)
    return total / (ended - begun)


def _drain(connection: socket.socket, marks: list[tuple[float, int]]) -> None:
    buffer = bytearray(CHUNK_BYTES)
    with connection:
        while size := connection.recv_into(buffer):
            marks.append((time.monotonic(), size))


def send(address: str, port: int, streams: int, seconds: float) -> None:
    """Send as fast as the link allows for `seconds`."""
    threads = [threading.Thread(target=_pump, args=(address, port, seconds)) for _ in range(streams)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _pump(address: str, port: int, seconds: float) -> None:
    chunk = bytes(CHUNK_BYTES)
    with socket.create_connection((address, port), timeout=10) as connection:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            connection.sendall(chunk)


if __name__ == "__main__":
    if sys.argv[1] == "receive":
        print(receive(sys.argv[2], int(sys.argv[3])), flush=True)
    else:
        send(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), float(sys.argv[5]))
