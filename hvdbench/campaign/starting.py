"""How one rung is launched: the commands a user would type, and a process that is ended with all it started."""

from __future__ import annotations

import argparse
import copy
import importlib.util
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

from hvdbench import strategies
from hvdbench.diagnose.rungs import COLLECTIVE, HOROVOD, MPI_STAR, Job, Rung
from hvdbench.lab.topology import make_lab
from hvdbench.sweep import launch_argv, run_flags

# A launcher that was told to stop ends its tasks and, in the lab, removes its nodes; it gets this long.
STOP_S = 30.0
LAB, LOCAL = "lab", "local"


def job_of(args: argparse.Namespace) -> Job:
    """What the user asked about."""
    return Job(args.workers, args.ps, args.placement, args.input, args.delay_worker)


def missing() -> dict[str, str]:
    """The strategies of the ladder that this machine cannot start, with the reason (C44)."""
    found = {}
    if importlib.util.find_spec("horovod") is None:
        found[HOROVOD] = "Horovod is not installed; make setup builds it"
    if shutil.which("mpirun") is None:
        found |= dict.fromkeys((COLLECTIVE, HOROVOD, MPI_STAR), "mpirun is not installed; make setup installs it")
    return found


def argv(rung: Rung, args: argparse.Namespace, place: Path) -> list[str]:
    """The command of this rung's launch, with its records in `place`."""
    chosen = copy.copy(args)
    for name in ("strategy", "workers", "ps", "placement", "input", "compute", "delay_worker"):
        setattr(chosen, name, getattr(rung, name))
    chosen.results_dir, chosen.save_weights = place, None
    if args.backend == LOCAL:
        return launch_argv(rung.strategy, chosen)
    traits = strategies.traits(rung.strategy)
    base = [sys.executable, "-m", "hvdbench", "launch", "--backend", LAB, "--rate", args.rate]
    base += ["--nodes", str(args.ps + args.workers), *_nodes(rung, args), "--strategy", rung.strategy]
    base += ["--workers", str(rung.workers)]
    if traits.needs_ps:
        base += ["--ps", str(rung.ps)]
    elif traits.tuned:
        # The same transport as in the other cells that talk MPI.
        base += ["--starter", "mpirun"]
    return [*base, *run_flags(traits, chosen)]


def _nodes(rung: Rung, args: argparse.Namespace) -> list[str]:
    changes = list(args.node)
    if rung.halved_ps_link:
        lab = make_lab("plan", 1, args.ps + args.workers, args.rate, 0.0, args.node)
        # The first nodes serve (lab/launch.py); a later change of the same node replaces an earlier one.
        changes += [f"{index + 1}:rate={max(1, lab.nodes[index].rate_bit_s // 2000)}kbit" for index in range(rung.ps)]
    return [word for change in changes for word in ("--node", change)]


def run(words: list[str], log: Path) -> int:
    """Run one launch to its end, its output in `log`; returns its exit code.

    When this process is interrupted the launch is told to stop and given the time to clean up.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("w") as stream:
        process = subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=stream, stderr=subprocess.STDOUT, start_new_session=True
        )
        try:
            return process.wait()
        finally:
            if process.poll() is None:
                process.terminate()
                try:
                    process.wait(STOP_S)
                except subprocess.TimeoutExpired:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()


def last_words(log: Path) -> str:
    """Why the launch failed, in one line: the program's first error, which brought the others, or its last words."""
    lines = [line.strip() for line in log.read_text(errors="replace").splitlines() if line.strip()]
    named = [line for line in lines if "hvdbench:" in line]
    return named[0] if named else lines[-1] if lines else "it said nothing"
