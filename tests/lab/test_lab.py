"""Real namespaces and shaped links; needs root, as the lab does."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hvdbench import models
from hvdbench.lab import linerate, netns
from hvdbench.lab.commands import enter
from hvdbench.record import traffic
from hvdbench.record.store import load_records
from tests.conftest import ROOT, program
from tests.runif import ROOT_AND_NAMESPACES

pytestmark = ROOT_AND_NAMESPACES

LAUNCH = [sys.executable, "-m", "hvdbench", "launch", "--backend", "lab"]
TINY = ["--model", "alexnet_tiny", "--batch-size", "2", "--steps", "4", "--rate", "200mbit"]


def left_behind() -> list[str]:
    """What of any lab is on this machine: namespaces, host files, state."""
    names = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True).stdout.split()
    found = [name for name in names if name.startswith("hvd")]
    found += [str(path) for path in Path("/etc/netns").glob("hvd*")] if Path("/etc/netns").exists() else []
    return found + [str(path) for path in netns.STATE.glob("*/*")]


@pytest.fixture(autouse=True)
def _nothing_is_left() -> None:
    yield  # type: ignore[misc]
    found = left_behind()
    # What one test left must not fail the next one too.
    netns.remove_leftovers()
    assert found == []


def test_links_carry_what_they_are_set_to_and_a_slow_node_is_slow() -> None:
    # The payload of a frame is 1448 of 1514 bytes; tc shapes frames.
    with netns.lab(3, "100mbit", changes=["3:rate=40mbit"]) as lab:
        rates = {(link.source, link.target): link.best_bytes_per_s * 8 / 1e6 for link in linerate.measure(lab)}
    assert rates["node1", "node2"] == pytest.approx(100 * 1448 / 1514, rel=0.05)
    assert rates["node2", "node3"] == pytest.approx(40 * 1448 / 1514, rel=0.05)
    assert rates["node3", "node1"] == pytest.approx(40 * 1448 / 1514, rel=0.05)


def test_nodes_have_their_own_names_and_find_each_other() -> None:
    with netns.lab(2, "100mbit") as lab:
        argv = enter(lab.nodes[1], ["sh", "-c", "hostname; getent hosts node1; ls /sys/class/net"])
        said = subprocess.run(argv, capture_output=True, text=True).stdout.split()
    assert said[:2] == ["node2", lab.nodes[0].address] and set(said[3:]) == {"eth0", "lo"}


def test_two_labs_side_by_side_do_not_meet() -> None:
    before = subprocess.run(["ip", "-br", "link"], capture_output=True, text=True).stdout
    with netns.lab(2, "100mbit") as one, netns.lab(2, "100mbit") as two:
        assert one.subnet != two.subnet and not {n.namespace for n in one.nodes} & {n.namespace for n in two.nodes}
        assert linerate.transfer(two.nodes[0], two.nodes[1], 1) > 0
        # Nothing of either is among the host's own interfaces.
        assert subprocess.run(["ip", "-br", "link"], capture_output=True, text=True).stdout == before


def test_an_impossible_delay_is_refused_in_one_line_or_kept(tmp_path: Path) -> None:
    run = program([*LAUNCH, "--nodes", "2", "--delay", "5", *TINY, "--results-dir", str(tmp_path)])
    if run.returncode:
        assert run.returncode == 2 and "netem" in run.stderr and run.stderr.count("\n") == 1
    else:
        assert list(tmp_path.glob("*.json"))


@pytest.mark.parametrize("starter", ["mpirun", "horovodrun-gloo", "horovodrun-mpi"])
def test_ranks_on_two_nodes_send_what_the_formula_says(starter: str, tmp_path: Path) -> None:
    argv = [*LAUNCH, "--nodes", "2", "--starter", starter, *TINY, "--results-dir", str(tmp_path)]
    run = program(argv)
    assert run.returncode == 0, run.stderr
    (record,) = load_records([tmp_path])
    assert [host.host for host in traffic.hosts(record)] == ["node1", "node2"]
    for host in traffic.hosts(record):
        # Control messages, about 10 kB a step, weigh with so small a model; they never take away.
        assert 1.0 <= (host.measured_over_predicted or 0) < 1.05
    assert record.line_rate_bytes_per_s == pytest.approx(25e6 * 1448 / 1514, rel=0.05)


@pytest.mark.parametrize(
    "words",
    [
        ["--nodes", "3", "--ps", "1"],
        ["--nodes", "4", "--ps", "2", "--placement", "sharded"],
        ["--nodes", "2", "--ps", "2", "--colocate", "--placement", "greedy"],
        ["--nodes", "3", "--ps", "1", "--strategy", "ps_async"],
        ["--nodes", "4", "--ps", "2", "--strategy", "mpi_star", "--placement", "sharded"],
        ["--nodes", "2", "--ps", "2", "--strategy", "mpi_star", "--colocate"],
    ],
    ids=lambda words: " ".join(words[2:]),
)
def test_a_star_sends_what_the_formula_says(words: list[str], tmp_path: Path) -> None:
    run = program([*LAUNCH, "--strategy", "ps_sync", *words, *TINY, "--results-dir", str(tmp_path)])
    assert run.returncode == 0, run.stderr
    (record,) = load_records([tmp_path])
    for host in traffic.hosts(record):
        assert host.predicted is not None
        # gRPC's headers and the session's own messages, by the number of tensors: nothing beside AlexNet's 244 MB.
        extra = (max(host.sent, host.received) - host.predicted) / len(record.step_s[0])
        assert 0 <= extra < 100_000 * len(record.contributions)


def test_a_ring_over_grpc_sends_what_the_formula_says(tmp_path: Path) -> None:
    run = program([*LAUNCH, "--nodes", "3", "--strategy", "collective", *TINY, "--results-dir", str(tmp_path)])
    assert run.returncode == 0, run.stderr
    (record,) = load_records([tmp_path])
    assert len(traffic.hosts(record)) == 3
    sizes = 4 * sum(variable.elements for variable in models.spec("alexnet_tiny").variables())
    for host in traffic.hosts(record):
        assert host.predicted == pytest.approx(2 * 2 / 3 * sizes * len(record.step_s[0]), abs=len(record.step_s[0]))
        # Each tensor travels in 2(N-1) pieces, each a call of its own.
        extra = (max(host.sent, host.received) - host.predicted) / len(record.step_s[0])
        assert 0 <= extra < 200_000


def test_without_an_exchange_nothing_is_sent(tmp_path: Path) -> None:
    run = program([*LAUNCH, "--nodes", "2", "--strategy", "none", *TINY, "--results-dir", str(tmp_path)])
    assert run.returncode == 0, run.stderr
    (record,) = load_records([tmp_path])
    for host in traffic.hosts(record):
        assert host.predicted == 0 and max(host.sent, host.received) < 50_000 * len(record.step_s[0])


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_launcher_removes_its_lab(sign: signal.Signals, tmp_path: Path) -> None:
    launcher = started(tmp_path)
    launcher.send_signal(sign)
    assert launcher.wait(30) in (130, 1)
    assert left_behind() == []


def test_the_next_start_removes_what_a_killed_launcher_left(tmp_path: Path) -> None:
    launcher = started(tmp_path)
    launcher.kill()
    launcher.wait()
    assert left_behind() != []
    with netns.lab(1, "100mbit") as mine:
        assert all(mine.key in each for each in left_behind())


def started(tmp_path: Path) -> subprocess.Popen[bytes]:
    """A launcher in the middle of a long run."""
    argv = [*LAUNCH, "--nodes", "2", *TINY[:4], "--steps", "100000", "--rate", "200mbit"]
    launcher = subprocess.Popen(
        [*argv, "--results-dir", str(tmp_path)],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        # A shell that runs the tests in the background has them ignore Ctrl-C, and their children with them.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    for _ in range(900):
        time.sleep(0.1)
        spaces = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True).stdout.split()
        nodes = [name for name in spaces if name.startswith("hvd") and name.endswith("n2")]
        inside = [
            subprocess.run(["ip", "netns", "pids", name], capture_output=True, text=True).stdout for name in nodes
        ]
        tasks = [pid for pid in "".join(inside).split() if "hvdbench" in cmdline(pid) and "run" in cmdline(pid)]
        if tasks:
            time.sleep(3)
            return launcher
    launcher.terminate()
    launcher.wait()
    raise AssertionError("the launch did not start its ranks within 90 s")


def test_the_probe_measures_every_transport_between_two_nodes(tmp_path: Path) -> None:
    argv = [sys.executable, "-m", "hvdbench", "doctor", "--probe", "--rate", "200mbit", "--largest-mb", "1"]
    run = program([*argv, "--results-dir", str(tmp_path)])
    assert run.returncode == 0, run.stderr
    (path,) = (tmp_path / "probes").glob("*.json")
    found = {
        (each["transport"], each["size_bytes"]): each["bytes_per_s"]
        for each in json.loads(path.read_text())["transfers"]
    }
    assert {name for name, _ in found} == {"tcp", "grpc_pull", "grpc_push", "mpi"}
    assert {size for _, size in found} == {4096 * 4**power for power in range(5)}
    for name in ("tcp", "grpc_pull", "grpc_push", "mpi"):
        # Nothing is faster than its link, but for the burst of 128 kB that tbf lets pass; nothing waits for ever.
        assert 0.2 * 25e6 < found[name, 1048576] < 25e6 / (1 - 0.14)


def cmdline(pid: str) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""


def test_without_root_it_says_so_in_one_line() -> None:
    argv = ["setpriv", "--reuid", "65534", "--clear-groups", *LAUNCH, *TINY]
    run = program(argv, PYTHONPATH=os.pathsep.join(sys.path))
    assert run.returncode == 2 and "needs root" in run.stderr and run.stderr.count("\n") == 1
