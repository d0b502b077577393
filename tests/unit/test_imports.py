"""Imports go one way, from config over model, graph, strategy and run to record and compare; few load TensorFlow."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "hvdbench"
MODULES = {
    "hvdbench." + ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__"): path
    for path in PACKAGE.rglob("*.py")
}
HEAVY = ("tensorflow", "horovod", "mpi4py")
MAY_LOAD_TENSORFLOW = (
    "hvdbench.fingerprint",
    "hvdbench.graph",
    "hvdbench.marks",
    "hvdbench.models.network",
    "hvdbench.run",
    "hvdbench.cluster.mpi",
    "hvdbench.probe.grpc_pair",
    "hvdbench.probe.mpi",
    "hvdbench.record.facts",
    "hvdbench.strategies.base",
    "hvdbench.strategies.collective",
    "hvdbench.strategies.horovod",
    "hvdbench.strategies.local_server",
    "hvdbench.strategies.mpi_star",
    "hvdbench.strategies.ps",
    "hvdbench.strategies.ps_async",
    "hvdbench.strategies.ps_channel",
    "hvdbench.strategies.ps_sync",
    "hvdbench.strategies.star_root",
    "hvdbench.strategies.star_worker",
)
RUNNING = (
    "graph",
    "run",
    "loop",
    "marks",
    "fingerprint",
    "outcome",
    "preflight",
    "local_cluster",
    "sweep",
    "lab",
    "ps",
)
# Rooms and what each must not import, even inside a function.
FORBIDDEN = {
    "hvdbench.models": ("cluster", "config", "strategies", "record", "compare", *RUNNING),
    "hvdbench.cluster": ("config", "models", "strategies", "record", "compare", *RUNNING),
    "hvdbench.config": ("record", "compare", *RUNNING),
    "hvdbench.strategies": ("record", "compare", "run", "loop", "outcome", "preflight", "lab", "sweep"),
    "hvdbench.graph": ("record", "compare", "run", "loop", "outcome", "lab", "sweep"),
    "hvdbench.record": ("compare", "diagnose", "campaign", *RUNNING),
    "hvdbench.compare": ("cluster", "config", "models", "diagnose", *RUNNING),
    "hvdbench.diagnose": ("cluster", "config", "models", "campaign", *RUNNING),
    "hvdbench.units": ("cluster", "config", "models", "strategies", "record", "compare", *RUNNING),
    "hvdbench.errors": ("cluster", "config", "models", "strategies", "record", "compare", *RUNNING),
}


def imports(path: Path) -> Iterator[str]:
    """Every module that the file imports at run time, wherever in it; not those only for types."""
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            node.body = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{each.name}" for each in node.names)


def inside(name: str, room: str) -> bool:
    return name == room or name.startswith(f"{room}.")


@pytest.mark.parametrize("room", FORBIDDEN)
def test_a_room_imports_only_from_its_left(room: str) -> None:
    members = {name: path for name, path in MODULES.items() if inside(name, room)}
    assert members
    for name, path in members.items():
        for imported in imports(path):
            for forbidden in FORBIDDEN[room]:
                assert not inside(imported, f"hvdbench.{forbidden}"), f"{name} imports {imported}"


def test_only_what_runs_loads_tensorflow_horovod_or_mpi() -> None:
    loading = {name for name, path in MODULES.items() for each in imports(path) if each.split(".")[0] in HEAVY}
    assert loading == set(MAY_LOAD_TENSORFLOW)


def test_files_stay_short() -> None:
    assert {name: lines for name, path in MODULES.items() if (lines := len(path.read_text().splitlines())) >= 300} == {}
