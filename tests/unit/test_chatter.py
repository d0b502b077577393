"""Log lines of information disappear; errors and the last words of a crash do not."""

import os
import subprocess
import sys

CRASH = r"""
import os
from hvdbench.chatter import quiet
quiet(os.environ)
os.write(2, b"WARNING: All log messages before absl::InitializeLog() is called are written to STDERR\n"
            b"I0000 00:00:1796118373.389054   30565 mlir_graph_optimization_pass.cc:401] not enabled\n"
            b"E0000 00:00:1796118373.389054   30565 server.cc:1] real error\n"
            b"F0000 00:00:1796118373.389054   30565 server.cc:2] last words\n")
os.abort()
"""


def test_errors_and_last_words_pass_the_filter() -> None:
    environ = {name: value for name, value in os.environ.items() if name != "TF_CPP_MIN_LOG_LEVEL"}
    run = subprocess.run([sys.executable, "-c", CRASH], capture_output=True, text=True, timeout=30, env=environ)
    assert run.returncode < 0
    assert [line.rpartition("] ")[2] for line in run.stderr.splitlines()] == ["real error", "last words"]
