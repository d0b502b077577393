"""What must be quick and light never loads TensorFlow, Horovod or MPI."""

import subprocess
import sys

BLOCKED = """
import sys
for name in ("tensorflow", "horovod", "mpi4py"):
    sys.modules[name] = None
from hvdbench.cli import main
import hvdbench.compare.compare, hvdbench.record.store, hvdbench.ps, hvdbench.config
sys.exit(main(sys.argv[1:]))
"""


def blocked(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", BLOCKED, *words], capture_output=True, text=True, timeout=60)


def test_help_needs_no_tensorflow() -> None:
    assert "compare" in blocked("--help").stdout


def test_unknown_strategy_lists_the_known_ones_in_one_line() -> None:
    found = blocked("--strategy", "nonsense")
    assert found.returncode == 2
    assert found.stderr.count("\n") == 1
    assert "collective, horovod, local, local_server, mpi_star, none, ps_async, ps_sync" in found.stderr
