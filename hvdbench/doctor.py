"""What is here that a launch needs, and what the transports reach between two processes or two lab nodes."""

from __future__ import annotations

import argparse
import os
import shutil
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path

from hvdbench.errors import UsageError
from hvdbench.lab import linerate, netns
from hvdbench.lab.commands import enter
from hvdbench.lab.launch import node_mpirun
from hvdbench.probe import transports
from hvdbench.record.facts import versions
from hvdbench.sweep import mpirun

# What each program is for, in the words of the person who misses it.
PROGRAMS = {
    "mpirun": "ranks",
    "horovodrun": "ranks, with Gloo as well",
    "ip": "the lab",
    "tc": "the lab's shaping",
    "sshd": "horovodrun in the lab",
}


def doctor(args: argparse.Namespace) -> int:
    """Print what is installed, or measure the transports and store the probe; returns the exit code."""
    if not args.probe:
        print("\n".join(findings()))
        return 0
    if args.largest_mb < 1:
        raise UsageError(f"--largest-mb is {args.largest_mb}, at least 1 is needed; raise it")
    sizes = [size for size in transports.SIZES_BYTES if size <= args.largest_mb * 2**20]
    path, found = _probed(args.rate, sizes, args.results_dir)
    print(transports.table(found))
    print(f"probe {path}")
    return 0


def findings() -> list[str]:
    """One line for each package and program: its version or place, or what is lost without it."""
    lines = [f"{name}: {version or 'not here'}" for name, version in versions(mpi=True).items()]
    for name, purpose in PROGRAMS.items():
        place = shutil.which(name) or shutil.which(name, path="/usr/sbin:/sbin")
        lines.append(f"{name}: {place or f'not here, needed for {purpose}; run make setup'}")
    lines.append(f"root: {'yes' if os.geteuid() == 0 else 'no, so no lab'}")
    return lines


def _probed(rate: str | None, sizes: list[int], results: Path) -> tuple[Path, list[transports.Transfer]]:
    with ExitStack() as stack:
        if rate is None:
            addresses, links, between = ["127.0.0.1"] * 2, None, "two processes of this machine (loopback)"
            found = transports.probe(lambda _, argv: argv, addresses, sizes, mpirun(2))
        else:
            lab = stack.enter_context(netns.lab(2, rate))
            links = [asdict(link) for link in linerate.measure(lab)]
            addresses, between = [node.address for node in lab.nodes], f"two lab nodes at {rate}"
            found = transports.probe(
                lambda place, argv: enter(lab.nodes[place], argv), addresses, sizes, node_mpirun(lab, 1)
            )
        return transports.save(found, between, results, links), found
