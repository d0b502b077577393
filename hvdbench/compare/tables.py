"""A comparison as text: every format is written from the same column definitions."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from hvdbench.units import images_per_s_text, interval_text, ratio_text

if TYPE_CHECKING:
    from hvdbench.compare.compare import Comparison, Group


@dataclass(frozen=True)
class Column:
    """One column: its title with unit, and the text of a group's value."""

    title: str
    text: Callable[[Group], str]


COLUMNS = (
    Column("strategy", lambda group: group.name),
    Column("images/s (median)", lambda group: images_per_s_text(group.images_per_s)),
    Column("95 % interval", lambda group: interval_text(group.interval, images_per_s_text)),
    Column("ratio", lambda group: ratio_text(group.ratio)),
    Column("95 % of ratio", lambda group: interval_text(group.ratio_interval, ratio_text)),
    Column("launches", lambda group: str(len(group.rates))),
    Column("steps", lambda group: str(group.steps)),
    Column("applied/processed", lambda group: f"{group.applied_images}/{group.processed_images}"),
)


def render(comparison: Comparison, form: str) -> str:
    """The comparison as `table`, `json`, `markdown` or `csv` text."""
    return {"table": _table, "json": _json, "markdown": _markdown, "csv": _csv}[form](comparison)


def _rows(comparison: Comparison) -> list[list[str]]:
    return [[column.text(group) for column in COLUMNS] for group in comparison.groups]


def _json(comparison: Comparison) -> str:
    data: dict[str, Any] = asdict(comparison)
    return json.dumps(data, indent=1)


def _csv(comparison: Comparison) -> str:
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows([[column.title for column in COLUMNS], *_rows(comparison)])
    return stream.getvalue().rstrip("\n")


def _markdown(comparison: Comparison) -> str:
    lines = [[column.title for column in COLUMNS], ["---"] * len(COLUMNS), *_rows(comparison)]
    table = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    return "\n\n".join([table, *comparison.sentences, *comparison.notes])


def _table(comparison: Comparison) -> str:
    lines = [[column.title for column in COLUMNS], *_rows(comparison)]
    widths = [max(len(line[index]) for line in lines) for index in range(len(COLUMNS))]
    text = [
        " ".join(cell.ljust(width + 1) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
    ]
    return "\n".join([*text, "", *comparison.sentences, *comparison.notes])
