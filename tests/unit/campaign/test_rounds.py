"""When the ladder has launches enough, and in which order a round is run."""

from __future__ import annotations

from hvdbench.campaign.rounds import tight
from hvdbench.diagnose import rungs
from hvdbench.diagnose.evidence import Sample


def launches(asked: list[float], local: list[float]) -> dict[str, list[Sample]]:
    return {rungs.ASKED: [Sample(s) for s in asked], rungs.LOCAL: [Sample(s) for s in local]}


def test_three_equal_launches_of_every_rung_are_enough() -> None:
    assert tight(launches([2.0, 2.01, 2.02], [1.0, 1.01, 1.0]))


def test_two_launches_are_never_enough() -> None:
    assert not tight(launches([2.0, 2.0, 2.0], [1.0, 1.0]))


def test_one_wide_rung_keeps_all_going() -> None:
    assert not tight(launches([2.0, 2.0, 2.0], [1.0, 1.5, 1.0]))


def test_width_is_judged_by_the_asked_step() -> None:
    # 0.1 s is a tenth of the local step, and 1 % of the asked one.
    assert tight(launches([10.0, 10.0, 10.0], [1.0, 1.1, 1.0]))
