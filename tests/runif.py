"""What a test needs of the machine; on one that has it, the test runs."""

from __future__ import annotations

import os
import shutil

import pytest

_MISSING = [name for name in ("ip", "tc", "unshare") if shutil.which(name) is None]
if os.geteuid() != 0:
    _MISSING.append("root")

ROOT_AND_NAMESPACES = pytest.mark.skipif(bool(_MISSING), reason=f"the lab needs {', '.join(_MISSING)}")
