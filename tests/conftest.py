"""Runs the program as a user does, with the environment that the tests themselves run in."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest

from hvdbench.strategies import STRATEGIES

ROOT = Path(__file__).parent.parent
TINY = ["--model", "alexnet_tiny", "--batch-size", "4", "--steps", "10"]
SYNCHRONOUS = [name for name, traits in STRATEGIES.items() if traits.exchanges and not traits.asynchronous]


def program(
    argv: list[str], timeout_s: float = 120, cwd: Path = ROOT, **environ: str
) -> subprocess.CompletedProcess[str]:
    """The finished process of one command line, started in the project's root unless `cwd` says where.

    One that does not finish is ended with everything it started, so that it cannot disturb the tests after it.
    """
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    env = os.environ | {"PATH": path} | environ
    with subprocess.Popen(
        argv, cwd=cwd, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        started = psutil.Process(process.pid)
        try:
            out, err = process.communicate(timeout=timeout_s)
        except BaseException:
            for each in [*started.children(recursive=True), started]:
                with contextlib.suppress(psutil.NoSuchProcess):
                    each.kill()
            raise
    return subprocess.CompletedProcess(argv, process.returncode, out, err)


def only_record(folder: Path) -> dict[str, Any]:
    """The one record in the folder, with nothing half-written beside it."""
    assert [path.suffix for path in folder.iterdir()] == [".json"]
    data: dict[str, Any] = json.loads(next(folder.iterdir()).read_text())
    return data


def mpirun(ranks: int) -> list[str]:
    """Open MPI on this machine, with the flags that root and few cores need."""
    root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
    return ["mpirun", *root, "--oversubscribe", "-np", str(ranks)]


def started(strategy: str, workers: int) -> list[str]:
    """The shortest command that runs this strategy with so many workers, and one PS or root where it has any."""
    traits = STRATEGIES[strategy]
    if not traits.needs_ps:
        return [*mpirun(workers), sys.executable, "-m", "hvdbench", "--strategy", strategy]
    alone = [sys.executable, "-m", "hvdbench.ps", "--strategy", strategy, "--ps", "1"]
    return [*mpirun(1 + workers), *alone] if traits.transport == "mpi" else [*alone, "--workers", str(workers)]


@pytest.fixture
def results(tmp_path: Path) -> Path:
    return tmp_path / "results"
