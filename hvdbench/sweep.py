"""Repeated launches of several strategies on this machine, interleaved in random order, then compared."""

from __future__ import annotations

import argparse
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

from hvdbench import strategies
from hvdbench.errors import RunError, UsageError

RUN_FLAGS = (
    "model",
    "batch_size",
    "steps",
    "warmup",
    "input",
    "placement",
    "seed",
    "dtype",
    "start_timeout",
    "results_dir",
)


def sweep(args: argparse.Namespace) -> int:
    """Run `repeats` rounds with every strategy once in each, in random order; returns the exit code."""
    names = args.strategies.split(",")
    if args.repeats < 1:
        raise UsageError(f"--repeats is {args.repeats}; at least 1 is needed")
    commands = {name: launch_argv(name, args) for name in names}
    order = random.Random(args.seed)
    for turn in range(args.repeats):
        for name in order.sample(names, len(names)):
            print(f"[{turn + 1}/{args.repeats}] {name}", flush=True)
            _launch(name, commands[name])
    from hvdbench.cli import cmd_compare

    print(f"records in {args.results_dir}")
    return cmd_compare(argparse.Namespace(results=[Path(args.results_dir)], baseline=None, allow=[], format="table"))


def launch_argv(name: str, args: argparse.Namespace) -> list[str]:
    """The command that launches one strategy on this machine."""
    traits = strategies.traits(name)
    flags = [word for flag in RUN_FLAGS for word in (f"--{flag.replace('_', '-')}", str(getattr(args, flag)))]
    if args.learning_rate is not None:
        flags += ["--learning-rate", str(args.learning_rate)]
    if traits.needs_ps:
        return [sys.executable, "-m", "hvdbench.ps", "--ps", str(args.ps), "--workers", str(args.workers), *flags]
    run = [sys.executable, "-m", "hvdbench", "run", "--strategy", name, *flags]
    return run if traits.one_worker else [*mpirun(args.workers), *run]


def mpirun(ranks: int) -> list[str]:
    """Open MPI's launcher for `ranks` ranks of this machine, unbound; raises RunError when it is missing."""
    found = shutil.which("mpirun")
    if found is None:
        raise RunError("mpirun is not installed but horovod is started by it; run make setup")
    root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
    return [found, *root, "-H", f"localhost:{ranks}", "-np", str(ranks), "--bind-to", "none"]


def _launch(name: str, argv: list[str]) -> None:
    code = subprocess.run(argv, stdin=subprocess.DEVNULL).returncode
    if code:
        raise RunError(f"the launch of {name} ended with exit code {code}; finished launches are kept, see above")
