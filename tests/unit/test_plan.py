"""`hvdbench plan`: its numbers, its JSON and that it needs no TensorFlow."""

from __future__ import annotations

import json

import pytest

from hvdbench.plan import render
from hvdbench.strategies.wire import ring_bytes
from tests.unit.test_directions import blocked

PARAM_BYTES = 61_100_840 * 4


def test_json_holds_every_placement_and_the_chosen_one_on_top() -> None:
    run = blocked("plan", "--model", "alexnet", "--ps", "2", "--workers", "2", "--format", "json")
    assert run.returncode == 0, run.stderr
    found = json.loads(run.stdout)
    assert found["placement"] == "round_robin" and found["hottest_share"] > 0.999
    assert found["placements"]["round_robin"]["hottest_share"] > 0.999
    assert found["placements"]["sharded"]["hottest_share"] <= 0.525
    assert "sharded" in found["recommendation"]


def test_a_placement_can_be_chosen() -> None:
    run = blocked("plan", "--ps", "2", "--workers", "2", "--placement", "sharded", "--format", "json")
    found = json.loads(run.stdout)
    assert found["hottest_share"] <= 0.525 and found["recommendation"] is None


@pytest.mark.parametrize("ps, workers", [(1, 1), (2, 3), (4, 4), (8, 5)])
def test_what_the_ps_send_is_what_the_workers_receive(ps: int, workers: int) -> None:
    # C08's invariant: the sum over the PS equals the sum over the workers.
    for each in json.loads(render("alexnet", ps, workers, "greedy", "json"))["placements"].values():
        assert sum(load["nic_bytes_per_step"] for load in each["ps"]) == workers * PARAM_BYTES
        assert each["worker_nic_bytes_per_step"] == PARAM_BYTES


def test_ring_bytes_are_the_measured_ones() -> None:
    # design.md, section 2: np=4 sent 367 MB per rank and step.
    assert round(ring_bytes(PARAM_BYTES, 4) / 1e6) == 367
    assert ring_bytes(PARAM_BYTES, 1) == 0


def test_the_table_warns() -> None:
    assert "warning: the hottest PS holds 2.00 times the mean" in render("alexnet", 2, 2, "round_robin", "table")
    assert "warning" not in render("alexnet", 2, 2, "sharded", "table")


@pytest.mark.parametrize("words", [("--ps", "0"), ("--workers", "0"), ("--placement", "x"), ("--model", "x")])
def test_nonsense_is_refused_in_one_line(words: tuple[str, str]) -> None:
    run = blocked("plan", *words)
    assert run.returncode == 2 and run.stderr.count("\n") == 1
