"""A whole diagnosis with one cause planted: interrupted, resumed without loss, ended in the right verdict."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from hvdbench.diagnose import loss
from tests.conftest import ROOT, program

DIAGNOSE = [sys.executable, "-m", "hvdbench", "diagnose", "--model", "alexnet_tiny", "--batch-size", "2"]
# A budget that only a machine far too slow would spend: three rounds are enough for so large a delay.
PLANTED = [*DIAGNOSE, "--steps", "3", "--workers", "2", "--ps", "1", "--delay-worker", "1:0.4", "--minutes", "8"]


def finished(folder: Path) -> list[Path]:
    return sorted(folder.glob("diagnose-*/*/*.json"))


@pytest.fixture(scope="module")
def interrupted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, list[Path], int, list[str]]]:
    """A diagnosis stopped by Ctrl-C after two launches: folder, records, exit code, and what still runs."""
    folder = tmp_path_factory.mktemp("diagnosis")
    process = subprocess.Popen(
        [*PLANTED, "--results-dir", str(folder)],
        cwd=ROOT,
        stderr=subprocess.PIPE,
        text=True,
        # A shell that runs the tests in the background has them ignore Ctrl-C, and their children with them.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    mine = psutil.Process(process.pid)
    try:
        for _ in range(1200):
            if len(finished(folder)) >= 2 and mine.children(recursive=True):
                break
            time.sleep(0.1)
        started = mine.children(recursive=True)
        second = program([*PLANTED, "--results-dir", str(folder)])
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=60)[1]
    finally:
        process.kill()
    _, alive = psutil.wait_procs(started, timeout=15)
    assert second.returncode == 2 and "another diagnosis works in" in second.stderr and second.stderr.count("\n") == 1
    yield folder, finished(folder), process.returncode, [each.name() for each in alive] + [said]


def test_ctrl_c_ends_what_runs_and_keeps_what_is_finished(
    interrupted: tuple[Path, list[Path], int, list[str]],
) -> None:
    _, records, code, (*alive, said) = interrupted
    assert code == 130 and said.endswith("hvdbench: interrupted\n")
    assert not alive and len(records) >= 2


def test_it_goes_on_where_it_was_and_names_the_planted_cause(
    interrupted: tuple[Path, list[Path], int, list[str]],
) -> None:
    folder, before, _, _ = interrupted
    run = program([*PLANTED, "--results-dir", str(folder), "--format", "json"], timeout_s=600)
    assert run.returncode == 0, run.stderr
    assert set(before) <= set(finished(folder))
    said: dict[str, Any] = json.loads(run.stdout)
    assert {each["launches"] for each in said["rungs"]} == {said["verdict"]["loss"]["rounds"]}
    assert sum(each["launches"] for each in said["rungs"]) == len(finished(folder))
    assert said["verdict"]["cause"] == loss.STRAGGLER and said["verdict"]["ps_guilty"] is False
    part = next(each for each in said["verdict"]["loss"]["parts"] if each["cause"] == loss.STRAGGLER)
    assert part["seconds"] == pytest.approx(0.4, rel=0.15)
    table = program([*PLANTED, "--results-dir", str(folder), "--minutes", "0"])
    assert table.returncode == 0 and said["paragraph"] in table.stdout and "look at worker 1" in table.stdout


def test_a_rung_that_cannot_start_ends_it_in_one_line(tmp_path: Path) -> None:
    run = program([*DIAGNOSE, "--learning-rate", "1e38", "--steps", "5", "--results-dir", str(tmp_path)])
    *progress, last = run.stderr.splitlines()
    assert run.returncode == 1 and "failed 2 times (exit code 1)" in last and "the loss of worker 0 is" in last
    assert all(line.startswith("round 1, ") for line in progress)
