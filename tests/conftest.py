"""Runs the program as a user does, with the environment that the tests themselves run in."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
TINY = ["--model", "alexnet_tiny", "--batch-size", "4", "--steps", "10"]


def program(
    argv: list[str], timeout_s: float = 120, cwd: Path = ROOT, **environ: str
) -> subprocess.CompletedProcess[str]:
    """The finished process of one command line, started in the project's root unless `cwd` says where."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        argv, cwd=cwd, env=os.environ | {"PATH": path} | environ, capture_output=True, text=True, timeout=timeout_s
    )


def only_record(folder: Path) -> dict[str, Any]:
    """The one record in the folder, with nothing half-written beside it."""
    assert [path.suffix for path in folder.iterdir()] == [".json"]
    data: dict[str, Any] = json.loads(next(folder.iterdir()).read_text())
    return data


def mpirun(ranks: int) -> list[str]:
    """Open MPI on this machine, with the flags that root and few cores need."""
    root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
    return ["mpirun", *root, "--oversubscribe", "-np", str(ranks)]


@pytest.fixture
def results(tmp_path: Path) -> Path:
    return tmp_path / "results"
