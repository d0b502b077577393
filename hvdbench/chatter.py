"""Keeps TensorFlow's informational log lines off the terminal; everything else passes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import MutableMapping

# absl's lines before its own initialisation, which no variable silences: information and warnings only.
CHATTER = r"^([IW][0-9]{4} [0-9:.]+ +[0-9]+ [A-Za-z0-9_]+\.cc:[0-9]+\]|WARNING: All log messages before absl::)"


def quiet(environ: MutableMapping[str, str]) -> None:
    """Filter the C++ log lines of this process; to be called before TensorFlow is imported.

    Does nothing when the user has set TF_CPP_MIN_LOG_LEVEL. The filter is a process of its own, so that the
    last words of a crashing process still arrive; it ends with the last process that writes to it. Python's
    own sys.stderr keeps the terminal.
    """
    grep = shutil.which("grep")
    if "TF_CPP_MIN_LOG_LEVEL" in environ or grep is None:
        return
    environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
    terminal = os.dup(2)
    reader, writer = os.pipe()
    subprocess.Popen([grep, "--line-buffered", "-avE", CHATTER], stdin=reader, stdout=terminal, start_new_session=True)
    os.dup2(writer, 2)
    os.close(reader)
    os.close(writer)
    sys.stderr = open(terminal, "w", buffering=1)
