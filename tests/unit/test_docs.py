"""What the README tells people to type exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hvdbench import cli, ps

ROOT = Path(__file__).parent.parent.parent
README = (ROOT / "README.md").read_text()
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


def test_local_links_of_the_readme_exist() -> None:
    for link in re.findall(r"\]\((?!http)([^)#]+)", README):
        assert (ROOT / link).exists(), link
