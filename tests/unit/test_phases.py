"""A step's time split by hand-made marks, and clocks compared by what barriers allow."""

from __future__ import annotations

import random

import pytest

from hvdbench.phases import Marks, blocked, clock_offsets, phases_of, read_stamps, split, split_alone


def marks(called: float, ready: float, sent: float, received: float, ended: float, blocked_s: float = 0.0) -> Marks:
    return Marks(0.0, called, called + 0.1, blocked_s, ready, sent, received, ended)


def test_ring_the_fast_worker_waits_for_the_delayed_one() -> None:
    # Worker 1 starts 2 s late; both then exchange for 0.5 s and update for 0.25 s.
    fast, slow = split([marks(0, 1.1, 1.1, 3.6, 3.85), marks(2, 3.1, 3.1, 3.6, 3.85)])
    assert (fast.wait_s, slow.wait_s) == (pytest.approx(2.0), 0.0)
    assert [fast.exchange_s, slow.exchange_s] == pytest.approx([0.5, 0.5])
    assert fast.compute_s == pytest.approx(1.0 + 0.25)
    assert slow.compute_s == pytest.approx(2.0 + 1.0 + 0.25)


def test_star_pull_push_and_token_are_exchange_and_only_the_lead_is_waiting() -> None:
    # Both compute 1 s; pulling stops them for 0.3 s, pushing takes 0.4 s, the update and token 0.2 s.
    first = marks(0.0, 1.4, 1.8, 3.0, 3.0, blocked_s=0.3)
    last = marks(1.0, 2.4, 2.8, 3.0, 3.0, blocked_s=0.3)
    fast, slow = split([first, last])
    assert fast.wait_s == pytest.approx(1.0)
    assert [fast.exchange_s, slow.exchange_s] == pytest.approx([0.3 + 0.4 + 0.2] * 2)


@pytest.mark.parametrize("seed", range(20))
def test_the_four_parts_add_up_and_are_never_negative(seed: int) -> None:
    draw = random.Random(seed)
    steps = []
    for _ in range(3):
        a, b, c, d, e = sorted(draw.uniform(0, 3) for _ in range(5))
        steps.append(Marks(0.0, a / 2, a, draw.uniform(0, b - a), b, c, d, e))
    for given, found in zip(steps, split(steps), strict=True):
        total = found.input_s + found.compute_s + found.wait_s + found.exchange_s
        assert total == pytest.approx(given.ended - given.begun)
        assert min(found.input_s, found.compute_s, found.wait_s, found.exchange_s) >= -1e-12


def test_who_waits_for_nobody_has_no_waiting() -> None:
    assert split_alone(marks(0, 1, 2, 2, 2)).wait_s == 0.0


def test_variables_that_arrive_under_earlier_layers_block_nothing() -> None:
    # Layer 1 waits 0.2 for its variables; layer 2's came while layer 1 computed; layer 3's came 0.5 late.
    assert blocked(10.0, [10.2, 10.1, 12.5], [9.0, 11.0, 12.0]) == pytest.approx(0.7)


def test_stamps_without_a_ps_end_at_the_mean_gradient() -> None:
    found = read_stamps([1.0, 2.0, 2.0, 3.0], False, 0.8, 0.9, 3.5)
    assert (found.sent, found.received, found.blocked_s) == (2.0, 3.0, 0.0)


def test_stamps_under_a_ps_end_at_the_token() -> None:
    found = read_stamps([1.0, 2.0, 2.5, 2.0, 1.3, 1.2, 1.0, 1.4], True, 0.8, 0.9, 3.5)
    assert (found.sent, found.received, found.blocked_s) == (2.5, 3.5, pytest.approx(0.3))


def test_phases_are_told_apart_over_shifted_clocks() -> None:
    here = [marks(0, 1.1, 1.1, 3.6, 3.85)]
    there = [marks(2, 3.1, 3.1, 3.6, 3.85).shifted(100.0)]
    found = phases_of([here, there], [0.0, 100.0], bulk_synchronous=True, waits=True)
    assert found["wait_s"] == [[pytest.approx(2.0)], [pytest.approx(0.0)]]


def test_out_of_step_workers_have_compute_but_no_waiting_to_be_told_apart() -> None:
    found = phases_of([[marks(0, 1, 2, 3, 3)], []], [0.0, 0.0], bulk_synchronous=False, waits=True)
    assert found["wait_s"] is found["exchange_s"] is None and len(found["compute_s"][0]) == 1


@pytest.mark.parametrize("seed", range(20))
def test_the_true_offset_lies_within_the_stated_uncertainty(seed: int) -> None:
    draw = random.Random(seed)
    true = [0.0, *(draw.uniform(-5, 5) for _ in range(3))]
    entered: list[list[float]] = [[] for _ in true]
    left: list[list[float]] = [[] for _ in true]
    for barrier in range(8):
        come = [100.0 * barrier + draw.uniform(0, 0.01) for _ in true]
        for worker, offset in enumerate(true):
            entered[worker].append(come[worker] + offset)
            left[worker].append(max(come) + draw.uniform(0.0001, 0.002) + offset)
    for offset, (found, uncertainty) in zip(true, clock_offsets(entered, left), strict=True):
        assert abs(found - offset) <= uncertainty < 0.01
