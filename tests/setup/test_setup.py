"""The set-up refuses what it cannot serve, in one line, before it installs anything."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent


def script(path: Path, text: str) -> None:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def run_setup(tmp_path: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    """A copy of the set-up in an empty project, so that nothing here can be touched."""
    (tmp_path / "setup").mkdir()
    shutil.copy(ROOT / "setup/setup.sh", tmp_path / "setup")
    for name in ("requirements.lock", "setup.cfg"):
        shutil.copy(ROOT / name, tmp_path)
    return subprocess.run(["bash", "setup/setup.sh"], cwd=tmp_path, env=os.environ | environ, capture_output=True,
                          text=True, timeout=60)  # fmt: skip


@pytest.mark.parametrize("version", ["3.8", "3.10", "3.13"])
def test_unserved_python_is_refused_naming_the_served(tmp_path: Path, version: str) -> None:
    script(tmp_path / "python", f"echo {version}")
    run = run_setup(tmp_path, PYTHON=str(tmp_path / "python"))
    assert run.returncode == 1
    assert run.stderr.count("\n") == 1
    assert version in run.stderr and "3.11 and 3.12" in run.stderr
    assert not (tmp_path / ".venv").exists()


def test_missing_packages_without_root_name_the_exact_command(tmp_path: Path) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    script(tools / "id", "echo 1000")
    script(tools / "dpkg", '[ "$2" != cmake ]')
    run = run_setup(tmp_path, PATH=f"{tools}:{os.environ['PATH']}")
    assert run.returncode == 1
    assert run.stderr.rstrip().endswith("sudo apt-get install -y --no-install-recommends cmake")
