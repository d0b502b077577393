"""Free ports, chosen on the node that will bind them."""

from __future__ import annotations

import socket


def free_ports(count: int) -> list[int]:
    """`count` different TCP ports that nothing on this host is bound to."""
    held = [socket.socket() for _ in range(count)]
    try:
        for each in held:
            each.bind(("", 0))
        return [each.getsockname()[1] for each in held]
    finally:
        for each in held:
            each.close()
