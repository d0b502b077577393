"""Runs one launch inside a lab, started by the launchers that a cluster would use."""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path

from hvdbench import strategies
from hvdbench.errors import RunError, UsageError
from hvdbench.lab import linerate, ssh
from hvdbench.lab.commands import enter
from hvdbench.lab.netns import folder, lab
from hvdbench.lab.topology import Lab, Node
from hvdbench.local_cluster import interrupt, run_tasks, tasks_of

PORT = 2222


def launch(args: argparse.Namespace, flags: list[str]) -> int:
    """Make a lab, measure its links, run the strategy with one task a node (or `--slots`), and remove the lab.

    `flags` are the options of the run itself. Raises UsageError where the tasks do not fit on the nodes.
    """
    traits = strategies.traits(args.strategy)
    signal.signal(signal.SIGTERM, interrupt)
    starter = args.starter or ("horovodrun-gloo" if args.strategy == "horovod" else "mpirun")
    with lab(args.nodes, args.rate, args.delay, args.node) as made:
        print(f"lab {made.key}: {len(made.nodes)} nodes at {args.rate}, measuring the links", flush=True)
        links = linerate.measure(made)
        for link in links:
            print(f"{link.source} to {link.target}: {link.best_bytes_per_s * 8 / 1e6:.0f} Mbit/s by TCP", flush=True)
        path = folder(made) / "links.json"
        path.write_text(json.dumps([asdict(link) for link in links]))
        cores = max(1, (os.cpu_count() or 1) * args.slots // len(made.nodes))
        words = [*flags, "--links", str(path), "--host-cores", str(cores)]
        if traits.needs_ps and traits.transport == "mpi":
            _run(star_ranks_argv(made, args, words))
        elif traits.needs_ps:
            run_tasks(star_argvs(made, args, words))
        else:
            with nullcontext() if starter == "mpirun" else ssh.servers(made):
                _run(ring_argv(made, args, words, starter))
    return 0


def star_homes(nodes: int, ps: int, workers: int | None, slots: int, colocate: bool) -> list[int]:
    """The node of every task, PS tasks first; raises UsageError when they do not fit.

    Without `colocate` tasks fill `slots` places a node in order, and the workers take what the PS leave; with
    it both start at the first node, so that a PS stands on every worker's node.
    """
    if ps < 1:
        raise UsageError(f"--ps is {ps} but a parameter-server strategy needs one; pass --ps 1")
    if colocate:
        count = nodes * slots if workers is None else workers
        return [index % nodes for index in range(ps)] + [index % nodes for index in range(count)]
    count = nodes * slots - ps if workers is None else workers
    if count < 1 or ps + count > nodes * slots:
        raise UsageError(
            f"{ps} PS and {max(1, count)} workers need {ps + max(1, count)} places but {nodes} nodes with --slots "
            f"{slots} have {nodes * slots}; raise --nodes, or add --colocate"
        )
    return [index // slots for index in range(ps + count)]


def star_argvs(lab: Lab, args: argparse.Namespace, words: list[str]) -> dict[tuple[str, int], list[str]]:
    """The command of every task of a PS cluster, each on its node with the nodes' addresses."""
    homes = star_homes(len(lab.nodes), args.ps, args.workers, args.slots, args.colocate)
    hosts = [f"{lab.nodes[home].address}:{PORT + index}" for index, home in enumerate(homes)]
    addresses = ["--ps-hosts", ",".join(hosts[: args.ps]), "--worker-hosts", ",".join(hosts[args.ps :])]
    task = [sys.executable, "-m", "hvdbench.ps", "--strategy", args.strategy, *words, *addresses]
    return {
        (role, index): enter(lab.nodes[home], [*task, "--job-name", role, "--task-index", str(index)])
        for home, (role, index) in zip(homes, tasks_of(args.ps, len(homes) - args.ps), strict=True)
    }


def star_ranks_argv(lab: Lab, args: argparse.Namespace, words: list[str]) -> list[str]:
    """The launcher's command for a star of MPI ranks, every rank on the node where its task belongs."""
    homes = star_homes(len(lab.nodes), args.ps, args.workers, args.slots, args.colocate)
    places = folder(lab) / "places"
    places.write_text("".join(f"{lab.nodes[home].name}\n" for home in homes))
    placed = ["--hostfile", str(places), "--map-by", "seq", "-np", str(len(homes)), "--bind-to", "none"]
    task = [sys.executable, "-m", "hvdbench.ps", "--strategy", args.strategy, "--ps", str(args.ps), *words]
    return enter(lab.nodes[0], [*_lab_mpirun(lab), *placed, *task])


def ring_argv(lab: Lab, args: argparse.Namespace, words: list[str], starter: str) -> list[str]:
    """The launcher's command, started on the first of its nodes as a user would on a cluster's."""
    nodes = rank_nodes(lab, args.workers, args.slots)
    run = [sys.executable, "-m", "hvdbench", "run", "--strategy", args.strategy, *words]
    if starter == "mpirun":
        argv = [*_lab_mpirun(lab), *_ranks(nodes, args.slots), "--bind-to", "none", *run]
    else:
        argv = [str(Path(sys.executable).parent / "horovodrun"), *_ranks(nodes, args.slots)]
        argv += ["-p", str(ssh.PORT), "-i", str(ssh.key(folder(lab))), f"--{starter.removeprefix('horovodrun-')}"]
        argv += ["--network-interface", "eth0", *run]
    return enter(nodes[0], argv)


def rank_nodes(lab: Lab, workers: int | None, slots: int) -> Sequence[Node]:
    """The nodes of ranks: all, or the last ones, where a star with its PS on the first nodes has its workers.

    Raises UsageError when they do not fit.
    """
    if workers is None:
        return lab.nodes
    if workers < 1 or workers % slots or workers > len(lab.nodes) * slots:
        raise UsageError(
            f"{workers} workers do not fill whole nodes of --slots {slots} among {len(lab.nodes)}; change --workers"
        )
    return lab.nodes[len(lab.nodes) - workers // slots :]


def node_mpirun(lab: Lab, slots: int) -> list[str]:
    """Open MPI's launcher, to be started on the first node, with `slots` ranks on each node."""
    return [*_lab_mpirun(lab), *_ranks(lab.nodes, slots), "--bind-to", "none"]


def _lab_mpirun(lab: Lab) -> list[str]:
    agent = ["-mca", "plm_rsh_agent", str(folder(lab) / "rsh-agent")]
    nets = ["-mca", "oob_tcp_if_include", lab.subnet, "-mca", "btl_tcp_if_include", lab.subnet]
    # No shared memory: the nodes are one machine, and MPI would find out.
    nets += ["-mca", "btl", "self,tcp", "-mca", "pml", "ob1"]
    return ["mpirun", "--allow-run-as-root", *agent, *nets]


def _ranks(nodes: Sequence[Node], slots: int) -> list[str]:
    """How many ranks, and where, in the words that mpirun and horovodrun share."""
    hosts = ",".join(f"{node.name}:{slots}" for node in nodes)
    return ["-H", hosts, "-np", str(len(nodes) * slots)]


def _run(argv: Sequence[str]) -> None:
    process = subprocess.Popen(argv, start_new_session=True, stdin=subprocess.DEVNULL)
    try:
        code = process.wait()
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGTERM)
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
    if code:
        raise RunError(f"the launcher ended with exit code {code}; see its output above")
