"""Facts of one task: where it ran, on what software, with how many threads."""

from __future__ import annotations

import os
import platform
import re
import resource
import socket
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

from hvdbench import __version__
from hvdbench.cluster.spec import Cluster
from hvdbench.strategies.tuning import settings

MPI_LAUNCHERS = ("openmpi", "mpich")


def versions(mpi: bool) -> dict[str, str | None]:
    """Versions of everything that changes a measurement; None for what is not installed or not used."""
    return {
        "hvdbench": __version__,
        "python": platform.python_version(),
        "tensorflow": _version("tensorflow") or _version("tensorflow-cpu"),
        "horovod": _version("horovod"),
        "numpy": _version("numpy"),
        "mpi": _mpi_version() if mpi else None,
        "gpu_driver": _gpu_driver(Path("/proc/driver/nvidia/version")),
    }


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _mpi_version() -> str | None:
    """What the MPI library of this process says of itself; asking neither starts nor ends MPI."""
    try:
        import mpi4py

        if "mpi4py.MPI" not in sys.modules:
            mpi4py.rc.initialize = mpi4py.rc.finalize = False
        from mpi4py import MPI
    except (ImportError, RuntimeError):
        return None
    found = re.match(r"[^,\n\0]+", MPI.Get_library_version())
    return found[0].strip() if found else None


def _gpu_driver(path: Path) -> str | None:
    try:
        found = re.search(r"Kernel Module\s+(?:for \S+\s+)?([\d.]+)", path.read_text())
    except OSError:
        return None
    return found[1] if found else None


def commit(package: Path) -> str | None:
    """The git commit that the package at `package` runs from, with `+` for local changes; None outside git."""
    git = ["git", "-C", str(package)]
    try:
        run = subprocess.run(
            [*git, "describe", "--always", "--dirty=+", "--exclude=*"], capture_output=True, text=True, timeout=10
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return run.stdout.strip() or None


def task_facts(
    cluster: Cluster, host_cores: int, intra_op_threads: int, inter_op_threads: int, device: str
) -> dict[str, Any]:
    """This process as data; `peak_memory_bytes` and `cpu_time_s` are of the process so far (getrusage)."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return {
        "role": cluster.role,
        "index": cluster.index,
        "rank": cluster.rank,
        "host": socket.gethostname(),
        "pid": os.getpid(),
        "device": device,
        "host_cores": host_cores,
        "intra_op_threads": intra_op_threads,
        "inter_op_threads": inter_op_threads,
        "omp_num_threads": os.environ.get("OMP_NUM_THREADS"),
        "processes_on_host": cluster.processes_on_host,
        "interpreter": sys.executable,
        "settings": settings(os.environ),
        "versions": versions(cluster.launcher in MPI_LAUNCHERS),
        "peak_memory_bytes": usage.ru_maxrss * 1024,
        "cpu_time_s": usage.ru_utime + usage.ru_stime,
    }
