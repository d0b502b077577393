"""Each rung's command is one that a user could type, and differs from the job's by what its cause says."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import pytest

from hvdbench.campaign import starting
from hvdbench.cli import build_parser
from hvdbench.diagnose import rungs

PLACE = Path("/tmp/nowhere")


def asked(*words: str) -> argparse.Namespace:
    return build_parser().parse_args(["diagnose", "--model", "alexnet_tiny", *words])


def commands(*words: str) -> dict[str, list[str]]:
    """The command of every rung of this job."""
    args = asked(*words)
    ladder, _ = rungs.ladder(starting.job_of(args))
    return {rung.key: starting.argv(rung, args, PLACE) for rung in ladder}


def value(command: list[str], option: str) -> str | None:
    return command[command.index(option) + 1] if option in command else None


@pytest.mark.parametrize("backend", ["local", "lab"])
def test_every_rung_is_a_command_that_parses_and_writes_where_it_should(backend: str) -> None:
    for key, command in commands("--workers", "2", "--ps", "2", "--backend", backend).items():
        assert value(command, "--results-dir") == str(PLACE), key
        assert value(command, "--model") == "alexnet_tiny", key
        if backend == "lab":
            assert command[:3] == [sys.executable, "-m", "hvdbench"]
            parsed = build_parser().parse_args(command[3:])
            assert parsed.nodes == 4 and parsed.backend == "lab", key


def test_local_has_one_worker_and_the_asked_arm_all() -> None:
    found = commands("--workers", "3", "--ps", "2", "--backend", "lab")
    assert value(found[rungs.LOCAL], "--workers") == "1" and value(found[rungs.ASKED], "--workers") == "3"
    assert value(found[rungs.ASKED], "--ps") == "2" and value(found[rungs.SYNC_ONE], "--ps") == "1"
    assert "--ps" not in found[rungs.HOROVOD]


def test_only_the_sharded_rung_has_another_placement() -> None:
    found = commands("--ps", "2", "--backend", "lab")
    assert value(found[rungs.ASKED], "--placement") == "round_robin"
    assert value(found[rungs.SHARED_PS], "--placement") == "sharded"


def test_the_cells_of_the_square_that_talk_mpi_are_started_alike() -> None:
    found = commands("--ps", "2", "--backend", "lab")
    assert value(found[rungs.HOROVOD], "--starter") == "mpirun"


def test_only_the_price_computes_nothing() -> None:
    for key, command in commands("--ps", "2").items():
        assert (value(command, "--compute") == "none") is (key == rungs.PRICE_STAR), key


def test_a_slowed_worker_is_slowed_wherever_there_are_several() -> None:
    for key, command in commands("--workers", "2", "--delay-worker", "1:0.5").items():
        several = key in (rungs.NONE, rungs.ASKED, rungs.COLLECTIVE, rungs.HOROVOD, rungs.MPI_STAR)
        assert (value(command, "--delay-worker") == "1:0.5") is several, key


@pytest.mark.parametrize("words, rates", [
    ([], ["1:rate=500000kbit", "2:rate=500000kbit"]),
    # A node that the user changed is halved from what it has.
    (["--node", "2:rate=100mbit"], ["2:rate=100mbit", "1:rate=500000kbit", "2:rate=50000kbit"]),
])  # fmt: skip
def test_the_handicap_halves_the_ps_links_and_no_other(words: list[str], rates: list[str]) -> None:
    args = asked("--workers", "2", "--ps", "2", "--backend", "lab", *words)
    beside, handicap = rungs.handicap(starting.job_of(args), rungs.TOPOLOGY, lab=True)
    plain, changed = (starting.argv(rung, args, PLACE) for rung in (beside, handicap))
    given = [changed[place + 1] for place, word in enumerate(changed) if word == "--node"]
    assert given == rates
    assert plain == [word for word in changed if word != "--node" and word not in rates] or words


def test_the_last_words_are_the_programs_own_first_error_when_there_is_one(tmp_path: Path) -> None:
    log = tmp_path / "x.log"
    log.write_text("starting\nhvdbench: --rate is 0; raise it\nhvdbench: worker 0 ended\nmpirun noticed that\n\n")
    assert starting.last_words(log) == "hvdbench: --rate is 0; raise it"
    log.write_text("one\ntwo\n\n")
    assert starting.last_words(log) == "two"
    log.write_text("")
    assert starting.last_words(log) == "it said nothing"


def test_a_launch_that_is_not_there_leaves_its_words(tmp_path: Path) -> None:
    log = tmp_path / "deep/x.log"
    assert starting.run(["sh", "-c", "echo said; exit 3"], log) == 3
    assert log.read_text() == "said\n"


def test_without_mpirun_nothing_that_needs_it_is_tried(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert set(starting.missing()) == {rungs.COLLECTIVE, rungs.HOROVOD, rungs.MPI_STAR}
