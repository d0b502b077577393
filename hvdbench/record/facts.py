"""Facts of one task: where it ran, on what software, with how many threads."""

from __future__ import annotations

import os
import platform
import resource
import socket
import sys
from importlib import metadata
from typing import Any

from hvdbench import __version__


def versions() -> dict[str, str | None]:
    """Versions of everything that changes a measurement; None for what is not installed."""
    return {
        "hvdbench": __version__,
        "python": platform.python_version(),
        "tensorflow": _version("tensorflow") or _version("tensorflow-cpu"),
        "horovod": _version("horovod"),
        "numpy": _version("numpy"),
    }


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def task_facts(
    role: str, index: int, intra_op_threads: int, inter_op_threads: int, processes_on_host: int, device: str
) -> dict[str, Any]:
    """This process as data; `peak_memory_bytes` and `cpu_time_s` are of the process so far (getrusage)."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return {
        "role": role,
        "index": index,
        "host": socket.gethostname(),
        "pid": os.getpid(),
        "device": device,
        "host_cores": os.cpu_count() or 1,
        "intra_op_threads": intra_op_threads,
        "inter_op_threads": inter_op_threads,
        "processes_on_host": processes_on_host,
        "interpreter": sys.executable,
        "versions": versions(),
        "peak_memory_bytes": usage.ru_maxrss * 1024,
        "cpu_time_s": usage.ru_utime + usage.ru_stime,
    }
