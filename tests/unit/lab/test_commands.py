"""A lab's commands are pure: what is made is named once, shaped on both ends, and all of it removed."""

from __future__ import annotations

import pytest

from hvdbench.errors import UsageError
from hvdbench.lab import commands
from hvdbench.lab.launch import star_homes
from hvdbench.lab.topology import make_lab, rate_bit_s

LAB = make_lab("ab12", 7, 3, "1gbit", 0.0, ["3:rate=100mbit"])


@pytest.mark.parametrize(
    "text, rate", [("1gbit", 10**9), ("100mbit", 10**8), ("2.5gbit", 25 * 10**8), ("64kbit", 64000)]
)
def test_rates(text: str, rate: int) -> None:
    assert rate_bit_s(text) == rate


@pytest.mark.parametrize("text", ["", "fast", "1", "-1gbit", "0mbit", "1 gb", "1gbit; rm -rf /"])
def test_what_is_no_rate_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="write such as 100mbit"):
        rate_bit_s(text)


@pytest.mark.parametrize("change", ["4:rate=1gbit", "0:rate=1gbit", "1:speed=1", "rate=1gbit", "1:delay=soon"])
def test_a_change_of_no_node_is_refused(change: str) -> None:
    with pytest.raises(UsageError, match="--node"):
        make_lab("k", 1, 3, "1gbit", 0.0, [change])


def test_every_namespace_made_is_removed_and_nothing_else() -> None:
    steps = commands.bridge(LAB) + [argv for index in range(3) for argv in commands.node(LAB, index)]
    made = {argv[3] for argv in steps if argv[:3] == ["ip", "netns", "add"]}
    removed = {argv[3] for argv in commands.removal(LAB) if argv[:3] == ["ip", "netns", "del"]}
    assert made == removed and len(made) == 4 and all("ab12" in name for name in made)
    # Every other step works inside one of them.
    for argv in steps:
        assert argv[:3] == ["ip", "netns", "add"] or (argv[1] == "-n" and argv[2] in made)


def test_both_ends_of_a_link_are_shaped_with_a_small_queue() -> None:
    shaping = [argv for argv in commands.node(LAB, 2) if argv[0] == "tc"]
    assert [argv[2] for argv in shaping] == ["hvdab12n3", "hvdab12sw"]
    for argv in shaping:
        assert argv[argv.index("rate") :] == ["rate", "100000000bit", "burst", "128kb", "latency", "4ms"]


def test_a_delay_is_netem_below_the_limit() -> None:
    slow = make_lab("k", 1, 1, "1gbit", 10.0, [])
    delays = [argv for argv in commands.node(slow, 0) if "netem" in argv]
    assert len(delays) == 2 and all("5.0ms" in argv and "1:1" in argv for argv in delays)


def test_the_agent_enters_the_node_it_is_asked_for() -> None:
    script = commands.rsh_agent(LAB)
    for node in LAB.nodes:
        assert f"{node.name}) namespace={node.namespace} ;;" in script
    assert "exit 1" in script


@pytest.mark.parametrize(
    "nodes, ps, workers, slots, colocate, homes",
    [
        (4, 2, 2, 1, False, [0, 1, 2, 3]),
        (4, 2, None, 1, False, [0, 1, 2, 3]),
        (2, 1, None, 2, False, [0, 0, 1, 1]),
        (3, 3, None, 1, True, [0, 1, 2, 0, 1, 2]),
        (4, 1, 4, 1, True, [0, 0, 1, 2, 3]),
    ],
)
def test_where_the_tasks_of_a_star_go(
    nodes: int, ps: int, workers: int | None, slots: int, colocate: bool, homes: list[int]
) -> None:
    assert star_homes(nodes, ps, workers, slots, colocate) == homes


@pytest.mark.parametrize("nodes, ps, workers", [(1, 1, None), (3, 2, 2), (2, 0, 1)])
def test_tasks_that_do_not_fit_are_refused(nodes: int, ps: int, workers: int | None) -> None:
    with pytest.raises(UsageError):
        star_homes(nodes, ps, workers, 1, False)
