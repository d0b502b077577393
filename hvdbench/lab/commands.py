"""The commands that make and unmake a lab: pure functions from topology to argument lists."""

from __future__ import annotations

from hvdbench.lab.topology import Lab, Node

# A deeper queue halves two-way traffic (design.md, section 2).
BURST, LATENCY = "128kb", "4ms"
BRIDGE = "br0"


def bridge(lab: Lab) -> list[list[str]]:
    """Make the switch: a bridge in a namespace of its own.

    In the host's own namespace it would be one more interface on which programs outside the lab, such as another
    MPI job, try to reach each other, and lose each other when it goes.
    """
    inside = ["ip", "-n", lab.switch]
    return [
        ["ip", "netns", "add", lab.switch],
        [*inside, "link", "add", BRIDGE, "type", "bridge"],
        [*inside, "link", "set", BRIDGE, "up"],
    ]


def node(lab: Lab, index: int) -> list[list[str]]:
    """Make one node: namespace, veth pair, address, and shaping in both directions."""
    me = lab.nodes[index]
    inside, outside = ["ip", "-n", me.namespace], ["ip", "-n", lab.switch]
    outer = f"veth{index + 1}"
    prefix = lab.subnet.rpartition("/")[2]
    return [
        ["ip", "netns", "add", me.namespace],
        [*outside, "link", "add", outer, "type", "veth", "peer", "name", "eth0", "netns", me.namespace],
        [*outside, "link", "set", outer, "master", BRIDGE],
        [*outside, "link", "set", outer, "up"],
        [*inside, "addr", "add", f"{me.address}/{prefix}", "dev", "eth0"],
        [*inside, "link", "set", "lo", "up"],
        [*inside, "link", "set", "eth0", "up"],
        *shape(me, ["tc", "-n", me.namespace], "eth0"),
        *shape(me, ["tc", "-n", lab.switch], outer),
    ]


def shape(node: Node, tc: list[str], device: str) -> list[list[str]]:
    """Limit what one end of a link sends, and delay it where a delay is asked for."""
    rate = ["rate", f"{node.rate_bit_s}bit", "burst", BURST, "latency", LATENCY]
    limit = [[*tc, "qdisc", "add", "dev", device, "root", "handle", "1:", "tbf", *rate]]
    if not node.delay_ms:
        return limit
    # Half on each end: the delay of a node's link is counted once each way.
    delay = ["netem", "delay", f"{node.delay_ms / 2}ms", "limit", "100000"]
    return [*limit, [*tc, "qdisc", "add", "dev", device, "parent", "1:1", "handle", "10:", *delay]]


def removal(lab: Lab) -> list[list[str]]:
    """Unmake everything: a namespace takes its interfaces with it."""
    return [["ip", "netns", "del", name] for name in (*(each.namespace for each in lab.nodes), lab.switch)]


def enter(node: Node, argv: list[str]) -> list[str]:
    """Run `argv` as a process of the node: its network, its own host name."""
    named = ["unshare", "--uts", "sh", "-c", f'hostname {node.name} && exec "$@"', "sh"]
    return ["ip", "netns", "exec", node.namespace, *named, *argv]


def hosts_file(lab: Lab) -> str:
    """What /etc/hosts says inside every node."""
    lines = ["127.0.0.1 localhost", *[f"{each.address} {each.name}" for each in lab.nodes]]
    return "\n".join(lines) + "\n"


def rsh_agent(lab: Lab) -> str:
    """A script that mpirun calls instead of ssh: the first argument is the host, the rest its command."""
    cases = "\n".join(f"    {each.name}) namespace={each.namespace} ;;" for each in lab.nodes)
    return f"""#!/bin/sh
node=$1
shift
case $node in
{cases}
    *) echo "no node $node in this lab" >&2; exit 1 ;;
esac
exec ip netns exec "$namespace" unshare --uts sh -c "hostname $node && exec sh -c \\"\\$1\\"" sh "$*"
"""
