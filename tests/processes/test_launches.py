"""Real launches under every launcher; each must leave one valid record and no process."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from hvdbench.cluster.ports import free_ports
from hvdbench.strategies import STRATEGIES
from tests.conftest import ROOT, SYNCHRONOUS, TINY, mpirun, only_record, program, started

PYTHON = sys.executable


def assert_two_equal_workers(record: dict) -> None:
    assert record["validity"] == "valid"
    assert record["contributions"] == [10, 10]
    assert record["processed_images"] == record["applied_images"] == 80
    assert [len(times) for times in record["step_s"]] == [10, 10]


def test_local_loss_falls_and_is_finite(results: Path) -> None:
    run = program([PYTHON, "-m", "hvdbench", *TINY, "--results-dir", str(results)])
    assert run.returncode == 0, run.stderr
    loss = only_record(results)["loss"][0]
    assert loss[-1] < loss[0] < 20


def test_every_strategy_is_the_same_graph_and_the_same_mathematics(tmp_path: Path) -> None:
    commands = {
        "mpirun": [*mpirun(2), PYTHON, "-m", "hvdbench"],
        "horovodrun": ["horovodrun", "-np", "2", PYTHON, "-m", "hvdbench"],
        "ps": [PYTHON, "-m", "hvdbench.ps", "--ps", "1", "--workers", "2"],
        "mpirun_ps": [*mpirun(3), PYTHON, "-m", "hvdbench.ps", "--ps", "1"],
    }
    records = {}
    for name, argv in commands.items():
        run = program([*argv, *TINY, "--results-dir", str(tmp_path / name)], https_proxy="http://127.0.0.1:9")
        assert run.returncode == 0, run.stderr
        records[name] = only_record(tmp_path / name)
        assert_two_equal_workers(records[name])
        assert str(tmp_path) not in subprocess.run(["ps", "axww"], capture_output=True, text=True).stdout
    assert len({record["graph"]["fingerprint"] for record in records.values()}) == 1
    # Both workers' batches differ, so only the mean of both gradients gives these losses on both sides.
    for worker in (0, 1):
        for name in ("horovodrun", "ps", "mpirun_ps"):
            assert records[name]["loss"][worker] == pytest.approx(records["mpirun"]["loss"][worker], rel=1e-4)
    other = [*commands["ps"], *TINY[:2], "--batch-size", "2", "--steps", "10", "--results-dir", str(tmp_path / "other")]
    assert program(other).returncode == 0
    compared = program([PYTHON, "-m", "hvdbench", "compare", str(tmp_path / "mpirun"), str(tmp_path / "ps")])
    assert compared.returncode == 0 and "too few launches" in compared.stdout
    refused = program([PYTHON, "-m", "hvdbench", "compare", str(tmp_path / "ps"), str(tmp_path / "other")])
    assert refused.returncode == 2 and "batch_size" in refused.stderr


def test_a_worker_started_20_s_late_contributes_equally(results: Path) -> None:
    ports = [f"127.0.0.1:{port}" for port in free_ports(3)]
    hosts = ["--ps_hosts", ports[0], "--worker_hosts", ",".join(ports[1:]), *TINY, "--results-dir", str(results)]
    tasks = []
    try:
        for role, index, late_s in (("ps", 0, 0), ("worker", 0, 0), ("worker", 1, 20)):
            time.sleep(late_s)
            tasks.append(
                subprocess.Popen(
                    [PYTHON, "-m", "hvdbench.ps", *hosts, "--job_name", role, "--task_index", str(index)], cwd=ROOT
                )
            )
        assert [task.wait(60) for task in tasks] == [0, 0, 0]
    finally:
        for task in tasks:
            task.kill()
    assert_two_equal_workers(only_record(results))


@pytest.mark.parametrize("victim", ["ps --task-index 0", "worker --task-index 0", "worker --task-index 1"])
def test_a_killed_task_ends_the_whole_cluster(results: Path, victim: str) -> None:
    argv = [PYTHON, "-m", "hvdbench.ps", "--ps", "1", "--workers", "2", *TINY[:4], "--steps", "1000000"]
    launcher = subprocess.Popen([*argv, "--results-dir", str(results)], cwd=ROOT, stderr=subprocess.PIPE, text=True)
    time.sleep(9)
    listed = subprocess.run(["ps", "axww", "-o", "pid=,args="], capture_output=True, text=True).stdout
    found = re.search(rf"^\s*(\d+) .*{re.escape(str(results))}.*--job-name {victim}", listed, re.MULTILINE)
    assert found, listed
    os.kill(int(found[1]), 9)
    _, stderr = launcher.communicate(timeout=15)
    assert launcher.returncode == 1
    assert "stopped" in stderr
    assert str(results) not in subprocess.run(["ps", "axww"], capture_output=True, text=True).stdout
    assert not list(results.glob("*"))


@pytest.mark.parametrize("rank", ["0", "2"])
@pytest.mark.parametrize("strategy", SYNCHRONOUS)
def test_a_killed_rank_ends_the_whole_launch(strategy: str, rank: str, results: Path) -> None:
    argv = started(strategy, 2 if STRATEGIES[strategy].needs_ps else 3)
    if argv[0] != "mpirun":
        argv = [*mpirun(3), *argv[: argv.index("--workers")]]
    words = [*argv, *TINY[:4], "--steps", "1000000", "--results-dir", str(results)]
    with subprocess.Popen(words, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as launcher:
        tasks = ranks_of(launcher.pid)
        time.sleep(2)
        tasks[rank].kill()
        assert launcher.wait(15) not in (0, None)
    assert psutil.wait_procs(list(tasks.values()), timeout=5)[1] == []
    assert not list(results.glob("*"))


def ranks_of(launcher: int) -> dict[str, psutil.Process]:
    """Every rank's process by its number, once all of them are in their steps: they have their threads by then."""
    for _ in range(600):
        time.sleep(0.1)
        found = {}
        for each in psutil.Process(launcher).children(recursive=True):
            with contextlib.suppress(psutil.Error):
                rank = each.environ().get("OMPI_COMM_WORLD_RANK")
                if rank is not None and each.num_threads() > 4:
                    found[rank] = each
        if len(found) == 3:
            return found
    raise AssertionError("the launch did not start its ranks within 60 s")


def test_a_failing_rank_ends_the_others(results: Path) -> None:
    # C34: rank 1 cannot build its model; rank 0 must not wait for it.
    bad = [PYTHON, "-m", "hvdbench", "--model", "nonsense"]
    good = [PYTHON, "-m", "hvdbench", *TINY, "--results-dir", str(results)]
    run = program([*mpirun(1), *good, ":", "-np", "1", *bad], timeout_s=30)
    assert run.returncode != 0
    assert run.stderr.count("alexnet, alexnet_tiny") == 1
    assert str(results) not in subprocess.run(["ps", "axww"], capture_output=True, text=True).stdout


def test_a_loss_that_explodes_invalidates_the_run_and_names_step_and_worker(results: Path) -> None:
    argv = [*mpirun(2), PYTHON, "-m", "hvdbench", *TINY, "--learning-rate", "1e38", "--results-dir", str(results)]
    run = program(argv)
    assert run.returncode == 1 and "the run is invalid: the loss of worker 0 is nan at step" in run.stderr
    record = only_record(results)
    assert record["validity"].startswith("the loss of worker 0 is") and len(record["loss"][0]) == 10
