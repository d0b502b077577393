"""Hosts and links of a lab as data."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from hvdbench.errors import UsageError

UNITS = {"kbit": 10**3, "mbit": 10**6, "gbit": 10**9}
MOST_NODES = 200


@dataclass(frozen=True)
class Node:
    """One host: its link's rate in bits per second, both directions, and its one-way delay in milliseconds."""

    name: str
    namespace: str
    address: str
    rate_bit_s: int
    delay_ms: float = 0.0


@dataclass(frozen=True)
class Lab:
    """Nodes joined by one bridge in a namespace of its own; `key` sets this lab's names apart from other labs'."""

    key: str
    switch: str
    subnet: str
    nodes: tuple[Node, ...]


def rate_bit_s(text: str) -> int:
    """`1gbit` as 10**9 bits per second; raises UsageError on anything that is no rate."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)(kbit|mbit|gbit)", text.strip().lower())
    if found is None or float(found[1]) <= 0:
        raise UsageError(f"rate {text!r} is unknown; write such as 100mbit or 1gbit")
    return round(float(found[1]) * UNITS[found[2]])


def make_lab(key: str, network: int, nodes: int, rate: str, delay_ms: float, changes: Sequence[str]) -> Lab:
    """A lab of `nodes` equal nodes in 10.213.`network`.0/24, but for `changes` such as `3:rate=100mbit`.

    Raises UsageError on counts or changes that make no sense.
    """
    if not 1 <= nodes <= MOST_NODES:
        raise UsageError(f"--nodes is {nodes}; use 1 to {MOST_NODES}")
    if delay_ms < 0:
        raise UsageError(f"--delay is {delay_ms} ms; use 0 or more")
    made = [
        Node(f"node{n}", f"hvd{key}n{n}", f"10.213.{network}.{n}", rate_bit_s(rate), delay_ms)
        for n in range(1, nodes + 1)
    ]
    for change in changes:
        index, node = _changed(change, made)
        made[index] = node
    return Lab(key, f"hvd{key}sw", f"10.213.{network}.0/24", tuple(made))


def _changed(change: str, nodes: Sequence[Node]) -> tuple[int, Node]:
    found = re.fullmatch(r"(\d+):(rate|delay)=(\S+)", change)
    if found is None or not 1 <= int(found[1]) <= len(nodes):
        raise UsageError(f"--node {change!r} is no NODE:rate=RATE or NODE:delay=MS with NODE 1 to {len(nodes)}")
    index = int(found[1]) - 1
    if found[2] == "rate":
        return index, replace(nodes[index], rate_bit_s=rate_bit_s(found[3]))
    try:
        delay_ms = float(found[3].removesuffix("ms"))
    except ValueError as error:
        raise UsageError(f"--node {change!r}: {found[3]!r} is no number of milliseconds") from error
    return index, replace(nodes[index], delay_ms=delay_ms)
