"""What the README tells people to type exists."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest

from hvdbench import cli, ps

ROOT = Path(__file__).parent.parent.parent
README = (ROOT / "README.md").read_text()
BLOCKS = re.findall(r"^```\n(.+?)^```", README, re.MULTILINE | re.DOTALL)
COMMANDS = re.findall(r"python -m (hvdbench(?:\.ps)?)((?: [^`\n]+)?)", README)


def test_make_targets_of_the_readme_exist() -> None:
    targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = set(re.findall(r"^make (\w+)$|`make (\w+)`", README, re.MULTILINE))
    assert named and {first or second for first, second in named} <= targets


@pytest.mark.parametrize("module, words", COMMANDS)
def test_every_command_of_the_readme_parses(module: str, words: str) -> None:
    if module == "hvdbench.ps":
        ps.build_parser().parse_args(words.split())
    else:
        cli.build_parser().parse_args(["run", *words.split()])


@pytest.mark.parametrize("words", re.findall(r"^hvdbench (.+)$", "".join(BLOCKS), re.MULTILINE))
def test_every_console_command_of_the_readme_parses(words: str) -> None:
    cli.build_parser().parse_args(words.split())


@pytest.mark.parametrize("words", re.findall(r"`(--[^`]+)`", README))
def test_every_option_of_the_readme_exists(words: str) -> None:
    known = cli.build_parser().format_help() + ps.build_parser().format_help()
    for verb in cli.VERBS:
        known += verb_help(verb)
    known += "--allow-run-as-root --oversubscribe"
    assert re.search(rf"{re.escape(words.split()[0])}\b", known), words


def verb_help(verb: str) -> str:
    """What `hvdbench VERB --help` prints."""
    found = io.StringIO()
    with contextlib.redirect_stdout(found), contextlib.suppress(SystemExit):
        cli.build_parser().parse_args([verb, "--help"])
    return found.getvalue()


def test_local_links_of_the_readme_exist() -> None:
    for link in re.findall(r"\]\((?!http)([^)#]+)", README):
        assert (ROOT / link).exists(), link
