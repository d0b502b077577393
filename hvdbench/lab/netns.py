"""Makes a lab, remembers what it made, and removes exactly that, also what a killed one left."""

from __future__ import annotations

import fcntl
import json
import os
import secrets
import shutil
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

import psutil

from hvdbench.errors import RunError, UsageError
from hvdbench.lab import commands
from hvdbench.lab.topology import Lab, Node, make_lab

STATE = Path("/run/hvdbench/labs")
HOSTS = Path("/etc/netns")


@contextmanager
def lab(nodes: int, rate: str, delay_ms: float = 0.0, changes: Sequence[str] = ()) -> Iterator[Lab]:
    """A running lab of its own; everything is gone when the context ends, whatever ends it.

    Raises UsageError without root or iproute2, RunError when the kernel refuses.
    """
    check_host()
    STATE.mkdir(parents=True, exist_ok=True)
    with _locked():
        remove_leftovers()
        key = secrets.token_hex(2)
        mine = make_lab(key, _free_network(), nodes, rate, delay_ms, changes)
        _remember(mine)
    try:
        _make(mine)
        yield mine
    finally:
        # A second Ctrl-C must not leave half of it behind.
        held = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
        try:
            remove(mine)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, held)


def check_host() -> None:
    """Raise UsageError when this user or machine can have no lab."""
    missing = [tool for tool in ("ip", "tc", "unshare") if shutil.which(tool) is None]
    if missing:
        raise UsageError(f"the lab needs {', '.join(missing)}; run make setup as root (packages iproute2, util-linux)")
    if os.geteuid() != 0:
        raise UsageError("the lab makes network namespaces, which needs root; start it with sudo")


def folder(lab: Lab) -> Path:
    """Where a lab keeps its own files: what it made, the rsh agent, keys."""
    return STATE / lab.key


def remove_leftovers() -> list[str]:
    """Remove every lab whose owner is gone, and return their keys; a lab without a record of ours is left alone."""
    removed = []
    for path in sorted(STATE.glob("*/lab.json")):
        try:
            data = json.loads(path.read_text())
            found = Lab(data["key"], data["switch"], data["subnet"], tuple(Node(**each) for each in data["nodes"]))
        except (OSError, ValueError, KeyError, TypeError):
            continue
        if not _alive(data["owner_pid"], data["owner_started"]):
            remove(found)
            removed.append(found.key)
    return removed


def remove(lab: Lab) -> None:
    """End the processes inside the lab's namespaces, then remove the namespaces and the files."""
    _end_processes(lab)
    for argv in commands.removal(lab):
        subprocess.run(argv, capture_output=True)
    for each in lab.nodes:
        shutil.rmtree(HOSTS / each.namespace, ignore_errors=True)
    shutil.rmtree(folder(lab), ignore_errors=True)


def _end_processes(lab: Lab) -> None:
    for _ in range(50):
        pids: set[int] = set()
        for each in lab.nodes:
            run = subprocess.run(["ip", "netns", "pids", each.namespace], capture_output=True, text=True)
            pids |= {int(pid) for pid in run.stdout.split()}
        if not pids:
            return
        for pid in pids:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        psutil.wait_procs([psutil.Process(pid) for pid in pids if psutil.pid_exists(pid)], timeout=0.2)


def _make(lab: Lab) -> None:
    for each in lab.nodes:
        (HOSTS / each.namespace).mkdir(parents=True)
        (HOSTS / each.namespace / "hosts").write_text(commands.hosts_file(lab))
    agent = folder(lab) / "rsh-agent"
    agent.write_text(commands.rsh_agent(lab))
    agent.chmod(0o755)
    steps = commands.bridge(lab) + [argv for index in range(len(lab.nodes)) for argv in commands.node(lab, index)]
    for argv in steps:
        run = subprocess.run(argv, capture_output=True, text=True)
        if run.returncode and "netem" in argv:
            raise UsageError("this kernel has no netem, so links cannot be delayed; leave out --delay")
        if run.returncode:
            raise RunError(f"`{' '.join(argv)}` failed: {run.stderr.strip()}; the lab was removed")


def _remember(lab: Lab) -> None:
    folder(lab).mkdir(parents=True)
    me = psutil.Process()
    owner = {"owner_pid": me.pid, "owner_started": me.create_time()}
    (folder(lab) / "lab.json").write_text(json.dumps(asdict(lab) | owner))


def _alive(pid: int, started: float) -> bool:
    try:
        return abs(psutil.Process(pid).create_time() - started) < 1.0
    except psutil.NoSuchProcess:
        return False


def _free_network() -> int:
    # No route of the host can clash: nothing of a lab is in the host's namespace. Only tracing gets easier.
    taken = {json.loads(path.read_text())["subnet"] for path in STATE.glob("*/lab.json")}
    for number in range(1, 255):
        if f"10.213.{number}.0/24" not in taken:
            return number
    raise RunError("all 254 lab networks 10.213.x.0/24 are taken; end some of the labs")


@contextmanager
def _locked() -> Iterator[None]:
    with (STATE / "lock").open("w") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        yield
