"""What the verdict takes from a record."""

from __future__ import annotations

import pytest

from hvdbench.diagnose.evidence import Sample, sample
from hvdbench.diagnose.verdict import slow_host
from tests.unit.compare.builders import record


def link(source: str, target: str, rate: float) -> dict[str, object]:
    return {"source": source, "target": target, "bytes_per_s": {"1": rate / 2, "4": rate}}


def test_step_and_own_time_are_the_window_over_its_steps_and_each_workers_median() -> None:
    found = sample(
        record("ps_sync", window_s=20.0, input_s=[[0.1] * 10, [0.3] * 10], compute_s=[[1.0] * 9 + [9.0], [1.0] * 10])
    )
    assert found.step_s == 2.0
    assert found.own_s == pytest.approx((1.1, 1.3)) and found.straggle_s == pytest.approx(0.2)
    assert found.slowest_worker == 1 and found.ps_hosts == ("one",)


def test_a_record_without_phases_or_links_says_nothing_of_them() -> None:
    found = sample(record("horovod"))
    assert found.own_s == () and found.straggle_s == 0.0 and found.slowest_worker is None
    assert found.link_bytes_per_s == {} and found.moving_share is None


def test_a_slow_nic_is_told_from_its_neighbours() -> None:
    # In a ring of measured links each node is an end of two; only the slow one has no fast link.
    links = [link("a", "b", 100.0), link("b", "c", 10.0), link("c", "d", 10.0), link("d", "a", 100.0)]
    rates = sample(record("ps_sync", links=links)).link_bytes_per_s
    assert rates == {"a": 100.0, "b": 100.0, "c": 10.0, "d": 100.0}
    assert slow_host([Sample(1.0, link_bytes_per_s=rates)] * 3) == "c"


def test_no_host_is_slow_that_is_not_so_in_every_launch() -> None:
    even, odd = {"a": 1.0, "b": 1.0, "c": 1.0}, {"a": 1.0, "b": 0.5, "c": 1.0}
    assert slow_host([Sample(1.0, link_bytes_per_s=even), Sample(1.0, link_bytes_per_s=odd)]) is None
    assert slow_host([Sample(1.0, link_bytes_per_s={"a": 1.0, "b": 0.1})]) is None
