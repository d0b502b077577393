"""Repeated launches of several strategies on this machine, interleaved in random order, then compared."""

from __future__ import annotations

import argparse
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from hvdbench import strategies
from hvdbench.errors import RunError, UsageError
from hvdbench.options import CONFIG_OPTIONS

# Options that every launch gets as they were given.
RUN_FLAGS = (*CONFIG_OPTIONS, "start_timeout", "results_dir", "save_weights")
# What only some strategies know; the others run as ever.
PS_ONLY = ("placement",)
TOKENS_ONLY = ("tokens", "replicas_to_aggregate")
RING_ONLY = ("allreduce_algorithm", "fusion_mb", "cycle_ms", "mpi_defaults")


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
    flags = run_flags(traits, args)
    if traits.needs_ps:
        return [sys.executable, "-m", "hvdbench.ps", "--strategy", name, "--ps", str(args.ps),
                "--workers", str(args.workers), *flags]  # fmt: skip
    run = [sys.executable, "-m", "hvdbench", "run", "--strategy", name, *flags]
    return run if traits.one_worker else [*mpirun(args.workers), *run]


def run_flags(traits: strategies.Traits, args: argparse.Namespace) -> list[str]:
    """The options of a run as they were given, but those that the strategy does not know."""
    return [word for flag in RUN_FLAGS if _knows(traits, flag) for word in _words(flag, getattr(args, flag))]


def _knows(traits: strategies.Traits, flag: str) -> bool:
    if flag == "delay_worker":
        return not traits.one_worker
    if flag in RING_ONLY:
        return traits.tuned
    return traits.needs_ps if flag in PS_ONLY else traits.has_tokens if flag in TOKENS_ONLY else True


def _words(flag: str, value: Any) -> list[str]:
    if value is None or value is False:
        return []
    if value is True:
        return [f"--{flag.replace('_', '-')}"]
    text = f"{value[0]}:{value[1]}" if isinstance(value, tuple) else str(value)
    return [f"--{flag.replace('_', '-')}", text]


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
