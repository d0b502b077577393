"""Starts a PS cluster's tasks as processes of this machine and ends them together."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from typing import NoReturn

from hvdbench.cluster.ports import free_ports
from hvdbench.cluster.spec import PS, WORKER
from hvdbench.errors import RunError, UsageError

# How long the PS tasks may take to leave after the workers are done, and a killed task to end.
GRACE_S = 10.0


def launch(ps: int, workers: int, words: list[str]) -> int:
    """Start `ps` + `workers` tasks with free ports, wait for all, and return 0; raises RunError when one fails."""
    if ps < 1 or workers < 1:
        raise UsageError(f"--ps is {ps} and --workers is {workers}; at least one of each is needed")
    ports = [f"127.0.0.1:{port}" for port in free_ports(ps + workers)]
    run_tasks({task: task_argv(task, ports[:ps], ports[ps:], words) for task in tasks_of(ps, workers)})
    return 0


def launch_ranks(ps: int, workers: int, words: list[str]) -> int:
    """Start the tasks as ranks of one mpirun and return 0; raises RunError when it fails."""
    if ps < 1 or workers < 1:
        raise UsageError(f"--ps is {ps} and --workers is {workers}; at least one of each is needed")
    from hvdbench.sweep import mpirun

    argv = [*mpirun(ps + workers), sys.executable, "-m", "hvdbench.ps", *words, "--ps", str(ps)]
    run_tasks({("launcher", 0): argv})
    return 0


def tasks_of(ps: int, workers: int) -> list[tuple[str, int]]:
    """Role and index of every task, PS tasks first."""
    return [(PS, index) for index in range(ps)] + [(WORKER, index) for index in range(workers)]


def run_tasks(argvs: Mapping[tuple[str, int], list[str]]) -> None:
    """Run the tasks as processes of this machine until all are done; raises RunError when one fails.

    When one fails, or this process is told to stop, all of them are ended.
    """
    started: dict[tuple[str, int], subprocess.Popen[bytes]] = {}
    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        for task, argv in argvs.items():
            started[task] = subprocess.Popen(argv, start_new_session=True)
        _supervise(started)
    finally:
        _end(started)
        signal.signal(signal.SIGTERM, before)


def interrupt(*_: object) -> NoReturn:
    """A signal handler that ends the work as Ctrl-C does."""
    raise KeyboardInterrupt


def task_argv(task: tuple[str, int], ps_hosts: list[str], worker_hosts: list[str], words: list[str]) -> list[str]:
    """The command of one task: the user's own options, then its addresses and its place."""
    return [
        sys.executable,
        "-m",
        "hvdbench.ps",
        *words,
        "--ps-hosts",
        ",".join(ps_hosts),
        "--worker-hosts",
        ",".join(worker_hosts),
        "--job-name",
        task[0],
        "--task-index",
        str(task[1]),
    ]


def _supervise(started: dict[tuple[str, int], subprocess.Popen[bytes]]) -> None:
    waiting, workers_done_at = dict(started), None
    while waiting:
        for (role, index), process in list(waiting.items()):
            code = process.poll()
            if code is None:
                continue
            del waiting[role, index]
            if code:
                how = f"by signal {-code}" if code < 0 else f"with exit code {code}"
                raise RunError(f"{role} {index} ended {how}, the other tasks were stopped; see its output above")
        if waiting and all(role == PS for role, _ in waiting):
            workers_done_at = workers_done_at or time.monotonic()
            if time.monotonic() - workers_done_at > GRACE_S:
                return
        time.sleep(0.05)


def _end(started: dict[tuple[str, int], subprocess.Popen[bytes]]) -> None:
    """Stop what still runs, by process group, first politely."""
    for sign in (signal.SIGTERM, signal.SIGKILL):
        deadline = time.monotonic() + (2.0 if sign == signal.SIGTERM else GRACE_S)
        for process in started.values():
            if process.poll() is None:
                os.killpg(process.pid, sign)
        while any(process.poll() is None for process in started.values()) and time.monotonic() < deadline:
            time.sleep(0.02)
