"""The README's commands do what they say, typed as they stand there, one after another in one folder."""

from __future__ import annotations

import os
from pathlib import Path

from tests.conftest import program
from tests.unit.test_docs import BLOCKS

# `make` is what runs the tests; the rest is what a user types after it.
COMMANDS = [line for block in BLOCKS for line in block.splitlines() if line and not line.startswith("make ")]
# What the README says of root and of fewer cores than ranks, as Open MPI's own variables.
MPI = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
}


def test_every_command_of_the_readme_runs(tmp_path: Path) -> None:
    assert len(COMMANDS) >= 8
    for command in COMMANDS:
        run = program(["bash", "-c", command], cwd=tmp_path, **(MPI if os.geteuid() == 0 else {}))
        assert run.returncode == 0, f"{command}: {run.stderr}"
    launches = [command for command in COMMANDS if "--steps" in command]
    assert len(list((tmp_path / "results").glob("*.json"))) == len(launches) >= 5
