"""Counter arithmetic on made-up samples, and the kernel's own counters over a real socket."""

from __future__ import annotations

import socket
import threading

import pytest

from hvdbench import counters
from hvdbench.counters import Counters, busy, difference, fastest, within

# 100 bytes/s sent and 50 received for 2 s, rest for 1 s, then 400 and 10 for 1 s.
SAMPLES = [
    Counters(0.0, {"eth0": (0, 0)}),
    Counters(1.0, {"eth0": (100, 50)}),
    Counters(2.0, {"eth0": (200, 100)}),
    Counters(3.0, {"eth0": (200, 100)}),
    Counters(4.0, {"eth0": (600, 110)}),
]


def test_bytes_between_two_readings_by_nic() -> None:
    after = Counters(1.0, {"eth0": (7, 9), "lo": (5, 5)})
    assert difference(Counters(0.0, {"eth0": (3, 4)}), after) == {"eth0": (4, 5), "lo": (5, 5)}


def test_time_and_bytes_while_something_moves() -> None:
    moving = busy(SAMPLES, "eth0", 20.0)
    assert (moving.busy_s, moving.bytes, moving.bytes_per_s) == (3.0, 600, 200.0)
    assert fastest(SAMPLES, "eth0") == 400.0


def test_bytes_of_parts_of_the_time() -> None:
    # Half of [0, 1] and the quiet [2, 3] with half of [3, 4].
    found = within(SAMPLES, "eth0", [(0.5, 1.0), (2.0, 3.5)])
    assert (found.busy_s, found.bytes) == (2.0, 50 + 200)
    assert within(SAMPLES, "eth0", [(-1.0, 9.0)]).bytes == 600


def test_an_unknown_nic_moved_nothing() -> None:
    assert within(SAMPLES, "eth9", [(0.0, 4.0)]).bytes == 0


def test_the_kernel_counts_what_a_socket_sends() -> None:
    size = 3_000_000
    server = socket.create_server(("127.0.0.1", 0))
    client = socket.create_connection(server.getsockname())
    reader, _ = server.accept()
    meter = counters.WireMeter(sampled=True)
    meter.start()
    sender = threading.Thread(target=client.sendall, args=(bytes(size),))
    sender.start()
    got = 0
    while got < size:
        got += len(reader.recv(1 << 20))
    sender.join()
    meter.stop()
    for each in (client, reader, server):
        each.close()
    moved = meter.facts()["lo"]
    assert moved["loopback"] and size <= moved["sent"] < 1.1 * size + 1_000_000
    assert moved["sent"] == pytest.approx(moved["received"], rel=0.01)
