"""Every planted cause is named, and nothing else is; the innocent are acquitted."""

from __future__ import annotations

import pytest

from hvdbench.diagnose import rungs, verdict
from tests.planted import PLANTS, Plant, samples, verdicts

REPETITIONS = 20
# What accuses nobody.
SILENT = (verdict.UNDECIDED, verdict.NOT_ENOUGH)


@pytest.mark.parametrize("name", PLANTS)
def test_the_planted_cause_is_named_and_none_other(name: str) -> None:
    plant = PLANTS[name]
    found = verdicts(plant, REPETITIONS)
    assert set(found) <= {plant.cause, *SILENT}
    assert found[plant.cause] >= 0.9 * REPETITIONS


def test_noise_alone_is_acquitted_in_95_of_100() -> None:
    found = verdicts(PLANTS["noise only"], 200)
    assert found.get(verdict.NOTHING, 0) >= 190, found
    assert set(found) <= {verdict.NOTHING, *SILENT}


@pytest.mark.parametrize("name", [name for name, plant in PLANTS.items() if plant.rounds >= 3])
def test_the_parts_sum_to_the_loss_within_the_residual(name: str) -> None:
    found = verdict.judge(samples(PLANTS[name], 1), PLANTS[name].job.workers, 8).loss
    assert sum(part.seconds for part in found.parts) + found.residual_s == pytest.approx(found.seconds)
    # Medians of noisy differences do not add up, but nearly: the noise of a dozen steps.
    assert abs(found.residual_s) < 0.1 * found.asked_s


@pytest.mark.parametrize("name", ["one worker delayed", "feed input", "slow gRPC session", "workers share their cores"])
def test_each_part_is_what_was_planted(name: str) -> None:
    plant = PLANTS[name]
    planted = {"straggler": plant.delay, "input": plant.feed, "session": plant.session, "shared_host": plant.host}
    found = verdict.judge(samples(plant, 3), plant.job.workers, 8).loss
    for part in found.parts:
        if part.cause == plant.cause:
            assert part.seconds == pytest.approx(planted[plant.cause], rel=0.15)


def test_without_the_ring_being_better_the_ps_is_never_guilty() -> None:
    # C05: whatever the star loses, a ring that loses as much acquits it.
    for contention in (0.1, 1.0, 10.0):
        whole = contention + 0.02 + 0.004 + 0.003
        plant = Plant("", contention=contention, ring_grpc=whole, ring_mpi=whole, star_mpi=whole)
        for seed in range(10):
            found = verdict.judge(samples(plant, seed), 2, 8)
            assert not found.ps_guilty, found.cause


def test_a_rung_without_a_launch_is_an_error_that_names_it() -> None:
    found = samples(PLANTS["noise only"], 1)
    found["local"] = []
    with pytest.raises(ValueError, match="'local': 0"):
        verdict.judge(found, 2, 8)


def test_without_any_ring_nobody_can_say_that_the_topology_is_it() -> None:
    for name in ("a star's crowded port", "communication bound under both"):
        found = samples(PLANTS[name], 1)
        for key in (rungs.HOROVOD, rungs.COLLECTIVE):
            del found[key]
        assert verdict.judge(found, PLANTS[name].job.workers, 8).cause == verdict.UNDECIDED
