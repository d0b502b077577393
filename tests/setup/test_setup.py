"""The set-up refuses what it cannot serve, in one line, before it installs anything."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
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


def test_absent_python_is_refused_in_one_line(tmp_path: Path) -> None:
    run = run_setup(tmp_path, PYTHON=str(tmp_path / "absent"))
    assert run.returncode == 1
    assert run.stderr.count("\n") == 1 and "3.11 or 3.12" in run.stderr


def test_wheel_key_names_horovod_tensorflow_python_and_machine(tmp_path: Path) -> None:
    info = tmp_path / "packages/tensorflow_cpu-7.8.9.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: tensorflow-cpu\nVersion: 7.8.9\n")
    environ = os.environ | {"PYTHONPATH": str(info.parent), "HVDBENCH_CACHE": str(tmp_path / "a cache")}
    run = subprocess.run(["bash", "-c", 'source "$1"; wheel_folder "$2"', "-", ROOT / "setup/setup.sh", sys.executable],
                         env=environ, capture_output=True, text=True, timeout=60, check=True)  # fmt: skip
    tag = f"py{sys.version_info[0]}{sys.version_info[1]}"
    assert run.stdout.strip() == (
        f"{tmp_path}/a cache/wheels/horovod-0.28.1-tensorflow-7.8.9-{tag}-{platform.machine()}"
    )


def test_horovod_configures_with_cmake_4(tmp_path: Path) -> None:
    # The full build takes minutes; CMake 4 refuses Gloo's old policy version while configuring.
    pip = [sys.executable, "-m", "pip", "-q", "--disable-pip-version-check"]
    subprocess.run([*pip, "install", "--target", str(tmp_path / "cmake"), "cmake==4.4.5"], check=True, timeout=120)
    subprocess.run([*pip, "download", "--no-deps", "--no-binary", ":all:", "--no-build-isolation", "-d", str(tmp_path),
                    "horovod==0.28.1"], check=True, timeout=120)  # fmt: skip
    shutil.unpack_archive(tmp_path / "horovod-0.28.1.tar.gz", tmp_path)
    configure = [
        "bash",
        "-c",
        'source "$1"; horovod_environment; eval "$2"; cd "$3"; python -m cmake --version; '
        'exec python -c "import sys, cmake; sys.exit(cmake.cmake())" horovod-0.28.1 -B "$4" '
        '-DPYTHON_EXECUTABLE:FILEPATH="$5" -DCMAKE_BUILD_TYPE=RelWithDebInfo',
        "-",
        str(ROOT / "setup/setup.sh"),
    ]
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environ = os.environ | {"PYTHONPATH": str(tmp_path / "cmake"), "PATH": path}
    for change, build, code in (("unset CMAKE_POLICY_VERSION_MINIMUM", "old", 1), (":", "new", 0)):
        run = subprocess.run([*configure, change, str(tmp_path), build, sys.executable], env=environ,
                             capture_output=True, text=True, timeout=180)  # fmt: skip
        assert run.returncode == code, run.stderr[-2000:]
