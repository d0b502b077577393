"""What a question is, and which questions are refused before anything runs."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from hvdbench.campaign import verb
from hvdbench.cli import build_parser
from hvdbench.errors import UsageError
from hvdbench.options import CONFIG_OPTIONS


def asked(*words: str) -> argparse.Namespace:
    return build_parser().parse_args(["diagnose", *words])


def test_a_question_is_the_same_whatever_budget_format_and_folder() -> None:
    same = verb.key(asked())
    for words in (["--minutes", "3"], ["--format", "json"], ["--results-dir", "x"], ["--again"], ["--rate", "1mbit"]):
        assert verb.key(asked(*words)) == same, words


@pytest.mark.parametrize("words", [
    ["--workers", "3"], ["--ps", "2"], ["--batch-size", "9"], ["--steps", "9"], ["--placement", "sharded"],
    ["--input", "feed"], ["--delay-worker", "1:1"], ["--model", "alexnet_tiny"], ["--backend", "lab"], ["--seed", "7"],
    ["--mpi-defaults"],
])  # fmt: skip
def test_whatever_changes_a_launch_is_another_question(words: list[str]) -> None:
    assert verb.key(asked(*words)) != verb.key(asked())


def test_links_are_part_of_a_question_about_the_lab() -> None:
    lab = ["--backend", "lab"]
    keys = {verb.key(asked(*lab, *words)) for words in ([], ["--rate", "2gbit"], ["--node", "1:rate=1mbit"])}
    assert len(keys) == 3


def test_every_option_of_a_run_is_part_of_the_question() -> None:
    assert set(CONFIG_OPTIONS) <= set(vars(asked()))


@pytest.mark.parametrize("words, said", [
    (["--workers", "0"], "workers"),
    (["--ps", "0"], "ps"),
    (["--steps", "0"], "steps"),
    (["--batch-size", "-1"], "batch"),
    (["--minutes", "-1"], "--minutes is -1"),
    (["--minutes", "nan"], "--minutes is nan"),
    (["--compute", "none"], "--compute is none"),
    (["--node", "1:rate=1mbit"], "--backend is local"),
    (["--backend", "lab", "--rate", "fast"], "fast"),
    (["--backend", "lab", "--node", "9:rate=1mbit"], "9"),
    (["--placement", "up"], "up"),
    (["--delay-worker", "5:1"], "5"),
])  # fmt: skip
def test_what_some_rung_could_not_run_is_refused_in_one_line(words: list[str], said: str) -> None:
    with pytest.raises(UsageError) as found:
        verb.check(asked(*words))
    assert said in str(found.value) and "\n" not in str(found.value)


def test_a_question_is_worked_on_by_one_at_a_time(tmp_path: Path) -> None:
    with verb._alone(tmp_path), pytest.raises(UsageError, match="another diagnosis works in"), verb._alone(tmp_path):
        pass
    with verb._alone(tmp_path):
        pass
