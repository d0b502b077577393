"""Public cases, with the posters' own figures: what the diagnosis says of each kind."""

from __future__ import annotations

import pytest

from hvdbench.diagnose import binding, loss, rungs, verdict
from hvdbench.diagnose.evidence import Sample
from hvdbench.diagnose.verdict import break_even_batch, judge, rate
from hvdbench.strategies import wire
from tests.planted import PLANTS, samples

GBIT = 1e9 / 8


def ladder(**steps: float) -> dict[str, list[Sample]]:
    """Three equal launches of every rung; a rung that is not named takes as long as `local`."""
    keys = (rungs.LOCAL, rungs.SERVER, rungs.NONE, rungs.ASYNC_ONE, rungs.SYNC_ONE, rungs.ASKED)
    named = dict.fromkeys(keys, steps["local"]) | {name.replace("_one", " 1+1"): step for name, step in steps.items()}
    return {name: [Sample(step)] * 3 for name, step in named.items()}


def test_c01_feeding_numpy_explains_alexnet_at_a_fifth() -> None:
    # 92 images/s fed, 457 on the same GPU unfed; 128 GPUs under 8 PS add nothing that a PS must answer for.
    found = judge(ladder(local=128 / 457, feed=128 / 92, local_server=128 / 92, none=128 / 92, ps_async_one=128 / 90,
                         ps_sync_one=128 / 89, asked=128 / 86), 4, 128)  # fmt: skip
    assert found.cause == loss.INPUT and found.ps_guilty is False


def test_c02_one_sync_worker_at_057_of_itself_is_split_in_three() -> None:
    # Nobody to wait for, and yet 0.57x; the ladder says whether session, transport or tokens took it.
    found = judge(ladder(local=0.57, local_server=0.60, ps_async_one=0.62, ps_sync_one=1.0, asked=1.0), 1, 8)
    parts = {part.cause: part.seconds for part in found.loss.parts}
    assert parts["session"] == pytest.approx(0.03) and parts["transport"] == pytest.approx(0.02)
    assert parts["synchronisation"] == pytest.approx(0.38) and found.cause == loss.SYNCHRONISATION


def test_c03_workers_beside_the_ps_do_not_use_its_nic() -> None:
    # 95 MB, one PS on host A, 4 workers on A, 4 on B, 125 MB/s: 4 remote pulls and 4 pushes cross, not 8.
    moved = wire.star_host_bytes(["A"] * 4 + ["B"] * 4, ["A"], [95_000_000], [1] * 8)
    assert moved == {"A": 380_000_000, "B": 380_000_000}
    assert 2 * moved["A"] / GBIT == pytest.approx(6.08)


def test_c05_alexnet_that_scales_badly_with_all_reduce_too_acquits_the_ps() -> None:
    # 5148 on one V100 and 11298 on four, by all-reduce; the star no better and no worse.
    batch = 512
    slow = 4 * batch / 11298
    found = judge(ladder(local=batch / 5148, ps_async_one=slow, ps_sync_one=slow, asked=slow, horovod=slow), 4, batch)
    assert found.cause == verdict.COMMUNICATION and found.ps_guilty is False


@pytest.mark.parametrize(
    "achieved, alone, alone_s, what",
    [
        # C09: 162 MB/s through the runtime on a wire of 40 Gbit/s: not the wire.
        (162e6 / (40 * GBIT), 162e6 / (40 * GBIT), 1.9, binding.GRPC),
        # C10: one large tensor at 569 MB/s of 1.2 GB/s; the exchange alone is no faster.
        (0.47, 0.48, 1.9, binding.GRPC),
        # A wire that is full is the limit, whatever gRPC could do.
        (0.97, 0.98, 1.9, binding.WIRE),
        # gRPC fills the wire when nothing computes, and does not otherwise: the cores are shared.
        (0.60, 0.95, 1.2, binding.CPU),
        # On loopback nothing is said of a wire.
        (None, None, 1.9, binding.GRPC),
        (None, None, 0.4, binding.CPU),
    ],
)
def test_c09_c10_a_port_binds_only_where_tcp_reaches_no_more(
    achieved: float | None, alone: float | None, alone_s: float, what: str
) -> None:
    links = {"a": 100e6, "b": 100e6} if achieved is not None else {}
    asked = Sample(2.5, link_bytes_per_s=links, moving_share=achieved, hottest_host="a", hottest_bytes=1e8)
    price = Sample(alone_s, link_bytes_per_s=links, moving_share=alone, hottest_host="a", hottest_bytes=1e8)
    found = binding.binding({rungs.ASKED: [asked], rungs.PRICE_STAR: [price]}, 2.0)
    assert found.what == what
    assert found.tcp_bytes_per_s == (100e6 if links else None)


def test_c11_a_server_alone_at_3_of_11_steps_a_second_is_the_session() -> None:
    found = judge(ladder(local=1 / 11, local_server=1 / 3, none=1 / 11, ps_async_one=1 / 3, ps_sync_one=1 / 3,
                         asked=1 / 3), 2, 8)  # fmt: skip
    assert found.cause == loss.SESSION and found.ps_guilty is False


def test_c12_a_placeholder_at_102_ms_for_28_is_the_input() -> None:
    found = judge(ladder(local=0.028, feed=0.102, local_server=0.102, none=0.102, ps_async_one=0.103,
                         ps_sync_one=0.104, asked=0.104), 2, 8)  # fmt: skip
    assert found.cause == loss.INPUT and found.ps_guilty is False
    assert found.loss.part(loss.INPUT).seconds == pytest.approx(0.074)  # type: ignore[union-attr]


def test_c24_eight_gpus_on_two_hosts() -> None:
    # ResNet-50: 25.6 M parameters, 432 images/s on 4 GPUs, one process and one PS a host, 9.3 Gbit/s; 561 measured.
    moved = wire.star_host_bytes(["A", "B"], ["A", "B"], [51_200_000, 51_200_000], [1, 1])
    # Both directions move at once: the wire alone would leave 667 of 864, 0.57 GB/s of gRPC (C10) what was measured.
    assert rate(4 * 32, max(moved.values()) / (9.3 * GBIT), 1 / 432, 2) == pytest.approx(667, rel=0.01)
    assert rate(4 * 32, max(moved.values()) / 0.569e9, 1 / 432, 2) == pytest.approx(561, rel=0.05)


def test_c25_a_process_for_each_gpu_moves_six_times_the_bytes() -> None:
    # 12 GPUs on 2 hosts: 12 processes against 2; 91 or 596 images/s.
    many = wire.star_host_bytes(["A"] * 6 + ["B"] * 6, ["A", "B"], [51_200_000, 51_200_000], [1] * 12)
    few = wire.star_host_bytes(["A", "B"], ["A", "B"], [51_200_000, 51_200_000], [1, 1])
    assert many["A"] / few["A"] == 6


def test_c26_break_even_of_alexnet_on_1_gbit_s() -> None:
    # 250 MB each way at 1 Gbit/s, 260 images/s alone: two workers are worth 1.5 only above 1500 images each.
    batch = break_even_batch(2 * 250e6 / GBIT, 1 / 260, 1 / 260, 2, gain=1.5)
    assert batch == pytest.approx(3120)
    assert rate(batch, 4.0, 1 / 260, 2) == pytest.approx(1.5 * 260)
    # Two workers that share one machine's cores never beat one; without an exchange the first image does.
    assert break_even_batch(1.0, 0.1, 0.2, 2) is None and break_even_batch(0.0, 0.1, 0.1, 2) == 0.0


def test_c38_one_rank_that_is_50_ms_late_is_skew_and_not_bandwidth() -> None:
    own, late = (0.1, 0.1, 0.1, 0.1), (0.1, 0.1, 0.1, 0.15)
    found = ladder(local=0.1, none=0.15, ps_async_one=0.11, ps_sync_one=0.11, asked=0.16)
    found |= {rungs.NONE: [Sample(0.15, late)] * 3, rungs.ASKED: [Sample(0.16, late)] * 3}
    verdict_of = judge(found, 4, 8)
    parts = {part.cause: part.seconds for part in verdict_of.loss.parts}
    assert parts["straggler"] == pytest.approx(0.05) and parts["contention"] == pytest.approx(0.0, abs=1e-9)
    assert verdict_of.cause == loss.STRAGGLER and Sample(0.16, late).slowest_worker == 3
    assert Sample(0.11, own).straggle_s == 0.0


def test_c41_without_an_exchange_input_and_compute_are_acquitted() -> None:
    # 16 GPUs: 4534 images/s, 5500 with the exchange removed, 344 on one: 17.6 % exchange and nothing else.
    batch = 64
    none, asked = 16 * batch / 5500, 16 * batch / 4534
    found = judge(ladder(local=batch / 344, none=none, ps_async_one=asked, ps_sync_one=asked, asked=asked), 16, batch)
    assert found.exchange_s / found.loss.asked_s == pytest.approx(1 - 4534 / 5500)
    shared = found.loss.part(loss.SHARED_HOST)
    assert shared is not None and abs(shared.seconds) < 0.002 * found.loss.asked_s


def test_c08_a_verdict_of_placement_comes_with_the_rung_that_mends_it() -> None:
    # C08's kind: one PS with all the traffic; sharding is measured, not promised.
    plant = PLANTS["all weights on one PS"]
    found = judge(samples(plant, 5), 2, 8)
    assert found.cause == loss.PLACEMENT and found.handicap is not None and found.handicap.responded
    assert found.handicap.measured == pytest.approx(found.handicap.expected, rel=0.25)
