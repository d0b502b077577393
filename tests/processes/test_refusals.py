"""A task that is not like the others is refused by name before anything is exchanged."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from hvdbench.cluster.ports import free_ports
from tests.conftest import ROOT, TINY, mpirun, program

PYTHON = sys.executable


def two_ranks(results: Path, module: list[str], odd: list[str], *, env: list[str] | None = None, ps: int = 0) -> str:
    """Stderr of a launch whose last rank gets the words `odd` and the environment `env`; it must fail."""
    words = [PYTHON, "-m", *module, *TINY, "--results-dir", str(results)]
    run = program([*mpirun(1 + ps), *words, ":", "-np", "1", *(env or []), *words, *odd])
    assert run.returncode == 1, run.stderr
    assert not list(results.glob("*.json"))
    assert str(results) not in program(["ps", "axww"]).stdout
    return run.stderr


RING, STAR = ["hvdbench"], ["hvdbench.ps", "--ps", "1"]


@pytest.mark.parametrize("module, ps, rank", [(RING, 0, 1), (STAR, 1, 2)])
def test_another_class_count_is_refused_by_rank_and_variable(
    module: list[str], ps: int, rank: int, results: Path
) -> None:
    # C35: refused before the first broadcast or pull, which would fail in a way that names nothing.
    said = two_ranks(results, module, ["--classes", "999"], ps=ps)
    assert f"rank {rank} (worker 1" in said
    assert "variable fc8/weights has shape [128, 999] instead of [128, 1000]" in said


def test_another_option_is_refused_by_rank_and_field(results: Path) -> None:
    said = two_ranks(results, RING, ["--batch-size", "2"])
    assert "rank 1 (worker 1" in said
    assert "forward op" in said or "batch_size 2" in said
    said = two_ranks(results, RING, ["--steps", "7"])
    assert "rank 1 (worker 1" in said and "has steps 7 but" in said


def test_another_library_is_refused_by_rank_and_version(results: Path, tmp_path: Path) -> None:
    # C32: rank 1 finds another NumPy first on its path.
    info = tmp_path / "packages/numpy-9.9.9.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: numpy\nVersion: 9.9.9\n")
    said = two_ranks(results, RING, [], env=["env", f"PYTHONPATH={info.parent}:{ROOT}"])
    assert "rank 1 (worker 1" in said and "has numpy version 9.9.9 but rank 0" in said


def test_a_ps_started_with_other_options_is_refused_and_everybody_leaves(results: Path) -> None:
    import subprocess

    ports = [f"127.0.0.1:{port}" for port in free_ports(2)]
    hosts = ["--ps-hosts", ports[0], "--worker-hosts", ports[1], *TINY, "--results-dir", str(results)]
    argv = [PYTHON, "-m", "hvdbench.ps", *hosts, "--task-index", "0", "--job-name"]
    ps = subprocess.Popen([*argv, "ps", "--placement", "greedy"], cwd=ROOT)
    try:
        worker = program([*argv, "worker"])
        assert worker.returncode == 1 and "ps 0 on" in worker.stderr and "has placement greedy but" in worker.stderr
        assert ps.wait(15) == 0
    finally:
        ps.kill()
