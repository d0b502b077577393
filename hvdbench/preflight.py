"""What every task says before the first step, and the first thing in which two of them differ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hvdbench.config import RunConfig

GRAPH = ("fingerprint", "variables", "forward")


def statement(config: RunConfig, task: dict[str, Any], graph: dict[str, Any] | None) -> dict[str, Any]:
    """One task's facts, its config and what it built; a PS builds nothing."""
    built = None if graph is None else {name: graph[name] for name in GRAPH}
    return {"task": task, "config": config.comparable(), "config_hash": config.hash(), "graph": built}


def disagreement(statements: Sequence[dict[str, Any]]) -> str | None:
    """The first task that differs from the first one, the field and both values, or None.

    Graphs come first: a wrong one explains more than the option that made it (C35), then interpreter and
    versions (C32), then the config.
    """
    first = statements[0]
    reference = task_name(first["task"])
    for check in (_graph, _software, _config):
        for other in statements[1:]:
            found = check(first, other, reference)
            if found is not None:
                remedy = "start every task from one environment with the same options"
                return f"{task_name(other['task'])} {found}; {remedy}"
    return None


def task_name(task: dict[str, Any]) -> str:
    """A task as people find it: its rank under a launcher, its role and its host."""
    name = f"{task['role']} {task['index']} on {task['host']}"
    return name if task.get("rank") is None else f"rank {task['rank']} ({name})"


def first_difference(mine: dict[str, Any], theirs: dict[str, Any]) -> str | None:
    """Where two graphs part, in words about `theirs`, or None when they do not."""
    if mine["fingerprint"] == theirs["fingerprint"]:
        return None
    for a, b in zip(mine["variables"], theirs["variables"], strict=False):
        if a["name"] != b["name"]:
            return f"variable {b['name']} stands in the place of {a['name']}"
        for what in ("shape", "dtype"):
            if a[what] != b[what]:
                return f"variable {b['name']} has {what} {b[what]} instead of {a[what]}"
    if len(mine["variables"]) != len(theirs["variables"]):
        return f"there are {len(theirs['variables'])} variables instead of {len(mine['variables'])}"
    for index, (x, y) in enumerate(zip(mine["forward"], theirs["forward"], strict=False)):
        if x != y:
            return f"forward op {index} is {y} instead of {x}"
    return f"there are {len(theirs['forward'])} forward ops instead of {len(mine['forward'])}"


def _graph(first: dict[str, Any], other: dict[str, Any], reference: str) -> str | None:
    if first["graph"] is None or other["graph"] is None:
        return None
    found = first_difference(first["graph"], other["graph"])
    return None if found is None else f"built another graph than {reference}: {found}"


def _software(first: dict[str, Any], other: dict[str, Any], reference: str) -> str | None:
    mine, theirs = first["task"], other["task"]
    names = sorted(mine["versions"].keys() | theirs["versions"].keys())
    pairs = [("interpreter", mine["interpreter"], theirs["interpreter"])]
    pairs += [(f"{name} version", mine["versions"].get(name), theirs["versions"].get(name)) for name in names]
    return _unlike(pairs, reference)


def _config(first: dict[str, Any], other: dict[str, Any], reference: str) -> str | None:
    return _unlike([(name, value, other["config"].get(name)) for name, value in first["config"].items()], reference)


def _unlike(pairs: Sequence[tuple[str, Any, Any]], reference: str) -> str | None:
    for name, mine, theirs in pairs:
        if mine != theirs:
            return f"has {name} {theirs} but {reference} has {mine}"
    return None
