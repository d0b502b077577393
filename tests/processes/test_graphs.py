"""What is in the graph of each strategy: one fingerprint, no Placeholder, variables where the plan says."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from hvdbench import models
from hvdbench.strategies import STRATEGIES
from hvdbench.strategies.placement import POLICIES, assign
from tests.conftest import program

SCRIPT = str(Path(__file__).parent / "scripts/graphs.py")
ARMS = {
    name: [name, "2" if traits.needs_ps else "0", "round_robin", "synthetic"] for name, traits in STRATEGIES.items()
} | {f"ps_sync {policy}": ["ps_sync", "3", policy, "synthetic"] for policy in POLICIES}


def described(words: list[str]) -> dict[str, Any]:
    run = program([sys.executable, SCRIPT, *words])
    assert run.returncode == 0, run.stderr
    found: dict[str, Any] = json.loads(run.stdout.splitlines()[-1])
    return found


@pytest.fixture(scope="module")
def graphs() -> dict[str, dict[str, Any]]:
    return {name: described(words) for name, words in ARMS.items()}


def test_all_strategies_and_placements_are_one_graph(graphs: dict[str, dict[str, Any]]) -> None:
    assert len({graph["fingerprint"] for graph in graphs.values()}) == 1


def test_no_strategy_has_a_placeholder_on_the_timed_path(graphs: dict[str, dict[str, Any]]) -> None:
    # C12: a fed batch made AlexNet 3.6 times slower.
    assert {name: graph["placeholders"] for name, graph in graphs.items()} == dict.fromkeys(graphs, [])


def test_only_the_feed_arm_has_placeholders_and_it_is_the_same_graph(graphs: dict[str, dict[str, Any]]) -> None:
    fed = described(["local", "0", "round_robin", "feed"])
    assert fed["placeholders"] == ["input/images", "input/labels"]
    assert fed["fingerprint"] == graphs["local"]["fingerprint"]


def test_everything_on_a_ps_is_on_its_cpu(graphs: dict[str, dict[str, Any]]) -> None:
    # C18, C04: a PS that finds a GPU would put variables there.
    for name, graph in graphs.items():
        assert all(device.endswith("device:CPU:0") for device in graph["ps_devices"]), name
        assert bool(graph["ps_devices"]) is name.startswith("ps_")


def test_the_mathematics_runs_on_the_worker(graphs: dict[str, dict[str, Any]]) -> None:
    for graph in graphs.values():
        assert {"Conv2D", "MatMul", "Conv2DBackpropFilter"} <= set(graph["on_worker"])


@pytest.mark.parametrize("policy", POLICIES)
def test_the_plan_is_what_the_graph_and_the_running_cluster_do(policy: str) -> None:
    planned = {
        piece.name: f"/job:ps/task:{piece.ps}" for piece in assign(models.spec("alexnet_tiny").variables(), 2, policy)
    }
    graph = described(["ps_sync", "2", policy, "synthetic", "--run"])
    built = {name: device.removesuffix("/device:CPU:0") for name, device in graph["variables"].items()}
    assert built == planned
    ran = {name: {d.replace("/replica:0", "").removesuffix("/device:CPU:0") for d in on}
           for name, on in graph["ran_on"].items()}  # fmt: skip
    assert ran == {name: {device} for name, device in planned.items()}
