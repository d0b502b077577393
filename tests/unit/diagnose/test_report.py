"""The paragraph says what the numbers say, and JSON says the same."""

from __future__ import annotations

import json
from typing import Any

import numpy
import pytest

from hvdbench.diagnose import rungs, words
from hvdbench.diagnose.report import Diagnosis, diagnosis, render
from hvdbench.diagnose.words import ANSWER
from tests.planted import PLANTS, samples


def diagnosed(name: str, loopback: bool = False) -> Diagnosis:
    """The diagnosis of one plant."""
    plant = PLANTS[name]
    found = samples(plant, 1)
    ladder, left_out = rungs.ladder(plant.job)
    return diagnosis(found, ladder, left_out, plant.job.workers, 8, loopback, "results/somewhere")


@pytest.mark.parametrize("name", PLANTS)
def test_every_verdict_has_its_answer_and_json_the_same_content(name: str) -> None:
    found = diagnosed(name)
    assert found.paragraph.startswith(ANSWER[found.verdict.cause]) and "\n" not in found.paragraph
    said: dict[str, Any] = json.loads(render(found, "json"))
    assert said["paragraph"] == found.paragraph and said["paragraph"] in render(found, "table")
    assert said["verdict"]["cause"] == PLANTS[name].cause
    parts = said["verdict"]["loss"]["parts"]
    whole = said["verdict"]["loss"]["seconds"]
    assert sum(part["seconds"] for part in parts) + said["verdict"]["loss"]["residual_s"] == pytest.approx(whole)
    assert {each["rung"] for each in said["rungs"]} == {rung.key for rung in found.rungs}


def test_a_placement_is_answered_with_the_option_that_mends_it() -> None:
    found = diagnosed("all weights on one PS")
    said = found.paragraph
    sharded = numpy.median([each.step_s for each in found.samples[rungs.SHARED_PS]])
    assert f"Change first: --placement sharded; the step should then take {sharded:.3f} s" in said
    assert "the link of node1 carries 95 % of the 119.7 MB/s that TCP reaches there" in said
    assert "the wire is the limit" in said and "the suspect responds" in said


def test_a_slow_link_is_named_with_its_rate_and_the_others() -> None:
    said = diagnosed("PS link at a tenth").paragraph
    assert "The link of node1 carries 12.0 MB/s, others 119.7 MB/s." in said and "mend the link of node1" in said


def test_a_delayed_worker_is_named() -> None:
    assert "look at worker 1; the step should then take" in diagnosed("one worker delayed").paragraph


def test_a_suspect_that_does_not_respond_is_not_convicted_and_told() -> None:
    found = diagnosed("a suspect that does not respond")
    assert "does not respond and is not convicted" in found.paragraph
    assert found.verdict.ps_guilty is None and "Change first" not in found.paragraph


def test_a_conviction_without_a_handicap_says_so() -> None:
    plant = PLANTS["a star's crowded port"]
    found = samples(plant, 1)
    del found[rungs.HANDICAP]
    ladder, left_out = rungs.ladder(plant.job)
    said = diagnosis(found, ladder, left_out, plant.job.workers, 8, True, "x")
    assert "No handicap was run" in said.paragraph and "loopback" in render(said, "table")


def test_break_even_is_whole_images_and_says_when_there_is_none() -> None:
    found = diagnosed("communication bound under both")
    batch = found.verdict.break_even_batch
    assert batch is not None and f"from batch {-int(-batch // 1)} per worker on" in found.paragraph
    shared = diagnosed("workers share their cores")
    assert shared.verdict.break_even_batch is None or shared.verdict.break_even_batch > 0


def test_the_tables_name_the_reasons_and_the_folder() -> None:
    said = render(diagnosed("all weights on one PS"), "table")
    assert "left out: feed: the job's input is synthetic" in said and "records in results/somewhere" in said
    assert "asked - sharded" in said and "Changing star to ring at equal transport" in said


def test_every_cause_has_an_answer() -> None:
    assert {plant.cause for plant in PLANTS.values()} <= set(words.ANSWER)
