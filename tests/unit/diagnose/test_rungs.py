"""Neighbouring rungs differ by one thing; what makes no sense is left out with the reason."""

from __future__ import annotations

from dataclasses import asdict

import pytest

from hvdbench.diagnose import rungs
from hvdbench.diagnose.rungs import Job, handicap, ladder

# Which rungs one thing sets apart, and the fields in which that shows.
NEIGHBOURS = [
    (rungs.FEED, rungs.LOCAL, {"input"}),
    (rungs.SERVER, rungs.FEED, {"strategy"}),
    (rungs.SYNC_ONE, rungs.ASYNC_ONE, {"strategy"}),
    (rungs.ASKED, rungs.SHARED_PS, {"placement"}),
    (rungs.COLLECTIVE, rungs.HOROVOD, {"strategy"}),
    (rungs.MPI_STAR, rungs.SHARED_PS, {"strategy"}),
    (rungs.PRICE_STAR, rungs.SHARED_PS, {"compute"}),
    (rungs.ASKED_AGAIN, rungs.ASKED, set()),
]


@pytest.mark.parametrize("one, other, fields", NEIGHBOURS, ids=lambda value: value if isinstance(value, str) else "")
def test_neighbours_differ_by_one_thing(one: str, other: str, fields: set[str]) -> None:
    found = {rung.key: asdict(rung) for rung in ladder(Job(3, 2, input="feed"), again=True)[0]}
    assert {name for name in found[one] if found[one][name] != found[other][name]} - {"key"} == fields


@pytest.mark.parametrize(
    "job, reasons",
    [
        (Job(2, 2), {"feed": "the job's input is synthetic"}),
        (Job(2, 1, input="feed"), {"sharded": "one PS holds everything"}),
        (Job(2, 2, "sharded", "feed"), {"sharded": "the asked placement is sharded"}),
        (
            Job(1, 2, input="feed"),
            {
                "none": "one worker shares its host with nobody",
                "collective, horovod, mpi_star": "one worker has no ring and no contention",
            },
        ),
    ],
)
def test_what_makes_no_sense_is_left_out_with_the_reason(job: Job, reasons: dict[str, str]) -> None:
    rungs_of, left_out = ladder(job)
    assert dict(left_out) == reasons
    assert len({rung.key for rung in rungs_of}) == len(rungs_of)


def test_c02_session_transport_and_synchronisation_are_rungs_of_every_job() -> None:
    for job in (Job(1, 1), Job(2, 1), Job(8, 4, "greedy", "feed")):
        assert {rungs.LOCAL, rungs.SERVER, rungs.ASYNC_ONE, rungs.SYNC_ONE, rungs.ASKED} <= {
            rung.key for rung in ladder(job)[0]
        }


def test_a_slowed_worker_is_part_of_every_job_with_others() -> None:
    for rung in ladder(Job(3, 2, delay_worker=(1, 0.2)))[0]:
        slowed = rung.workers > 1 and rung.compute == "full"
        assert rung.delay_worker == ((1, 0.2) if slowed else None)


def test_a_handicap_touches_only_the_suspect() -> None:
    beside, slowed = handicap(Job(3, 2), rungs.TOPOLOGY, lab=True)
    assert slowed.halved_ps_link and not beside.halved_ps_link
    assert {**asdict(slowed), "key": "", "halved_ps_link": False} == {**asdict(beside), "key": ""}
    beside, more = handicap(Job(3, 2), rungs.TOPOLOGY, lab=False)
    assert (more.ps, more.workers, more.placement) == (beside.ps + 1, beside.workers, "sharded")
    for innocent in ("straggler", "input", "session", "slow_link", "communication", "no loss", "placement"):
        assert handicap(Job(3, 2), innocent, lab=True) == []


def test_titles_tell_every_rung_apart() -> None:
    job = Job(3, 2)
    every = ladder(job, again=True)[0] + handicap(job, rungs.TOPOLOGY, lab=True)
    assert len({rung.title for rung in every}) == len(every)


def test_what_this_machine_cannot_run_is_left_out_with_the_reason_and_nothing_else_is() -> None:
    # C44: a missing Horovod disables that strategy.
    whole, _ = ladder(Job(2, 1))
    rest, left_out = ladder(Job(2, 1), missing={"horovod": "not installed"})
    assert [rung for rung in whole if rung.key != rungs.HOROVOD] == rest
    assert (rungs.HOROVOD, "not installed") in left_out
