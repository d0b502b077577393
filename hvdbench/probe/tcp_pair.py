"""Raw TCP: one message there, one byte back.

python -m hvdbench.probe.tcp_pair serve ADDRESS:PORT ASKER
python -m hvdbench.probe.tcp_pair ask ADDRESS:PORT ASKER SIZE,SIZE,...
"""

from __future__ import annotations

import socket
import sys
import time

from hvdbench.probe.transports import repeats, tell


def serve(place: str) -> None:
    """Say so when listening, then take messages: 8 bytes of length, the message, one byte of answer."""
    address, _, port = place.rpartition(":")
    with socket.create_server((address, int(port))) as server:
        print("listening", flush=True)
        connection, _ = server.accept()
    buffer = bytearray(1 << 20)
    with connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while head := connection.recv(8, socket.MSG_WAITALL):
            left = int.from_bytes(head)
            while left:
                left -= connection.recv_into(buffer, min(left, len(buffer)))
            connection.sendall(b"!")


def ask(place: str, sizes: list[int]) -> None:
    """Time every size and print it."""
    address, _, port = place.rpartition(":")
    with socket.create_connection((address, int(port)), timeout=60) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for size in sizes:
            message, seconds = size.to_bytes(8) + bytes(size), []
            for _ in range(repeats(size) + 1):
                begun = time.monotonic()
                connection.sendall(message)
                connection.recv(1)
                seconds.append(time.monotonic() - begun)
            # The first one grows TCP's window.
            tell("tcp", size, seconds[1:])


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve(sys.argv[2])
    else:
        ask(sys.argv[2], [int(each) for each in sys.argv[4].split(",")])
