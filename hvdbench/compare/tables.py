"""A comparison as text: every format is written from the same column definitions."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from hvdbench.errors import UsageError
from hvdbench.units import aligned, images_per_s_text, interval_text, ratio_text, share_text

if TYPE_CHECKING:
    from hvdbench.compare.compare import Comparison, Group


@dataclass(frozen=True)
class Column:
    """One column: title, unit, how to get a group's value, how to show it, and whether it is an interval."""

    title: str
    unit: str
    value: Callable[[Group], Any]
    text: Callable[[Any], str]
    interval: bool = False

    @property
    def heading(self) -> str:
        return f"{self.title} ({self.unit})" if self.unit else self.title


def _rate_interval(value: Any) -> str:
    return interval_text(value, images_per_s_text)


def _ratio_interval(value: Any) -> str:
    return interval_text(value, ratio_text)


def _numbers(values: Any) -> str:
    return ", ".join(map(str, values))


COLUMNS = (
    Column("strategy", "", lambda group: group.name, str),
    Column("launches", "", lambda group: len(group.rates), str),
    Column("steps", "", lambda group: group.steps, _numbers),
    Column("images/s", "median", lambda group: group.images_per_s, images_per_s_text),
    Column("95 % interval", "", lambda group: group.interval, _rate_interval, interval=True),
    Column("ratio", "", lambda group: group.ratio, ratio_text),
    Column("95 % of ratio", "", lambda group: group.ratio_interval, _ratio_interval, interval=True),
    Column("efficiency", "per worker", lambda group: group.efficiency, share_text),
    Column("applied/processed", "", lambda group: (group.applied_images, group.processed_images),
           lambda pair: f"{pair[0]}/{pair[1]}"),
)  # fmt: skip


def render(comparison: Comparison, format: str) -> str:
    """The comparison as `table`, `json`, `markdown` or `csv` text; raises UsageError on another format."""
    writers = {"table": _table, "json": _json, "markdown": _markdown, "csv": _csv}
    if format not in writers:
        raise UsageError(f"--format {format!r} is unknown; choose one of {', '.join(writers)}")
    return writers[format](comparison)


def _rows(comparison: Comparison) -> list[list[str]]:
    """Headings and then one line of cells per group."""
    cells = [[column.text(column.value(group)) for column in COLUMNS] for group in comparison.groups]
    return [[column.heading for column in COLUMNS], *cells]


def _remarks(comparison: Comparison) -> list[str]:
    """Everything beside the numbers, one line each."""
    return [
        *comparison.sentences,
        *(f"left out: {each}" for each in comparison.excluded),
        *(f"allowed difference: {each}" for each in comparison.allowed),
        *(f"warning: {each}" for each in comparison.warnings),
        *comparison.notes,
    ]


def _json(comparison: Comparison) -> str:
    return json.dumps(asdict(comparison), indent=1)


def _csv(comparison: Comparison) -> str:
    """Unrounded numbers, an interval as two columns, remarks as lines that start with #."""
    heading = [text for column in COLUMNS for text in _csv_headings(column)]
    lines = [[cell for column in COLUMNS for cell in _csv_cells(column, group)] for group in comparison.groups]
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows([heading, *lines])
    return "\n".join([stream.getvalue().rstrip("\n"), *(f"# {remark}" for remark in _remarks(comparison))])


def _csv_headings(column: Column) -> list[str]:
    return [f"{column.heading} {end}" for end in ("low", "high")] if column.interval else [column.heading]


def _csv_cells(column: Column, group: Group) -> list[Any]:
    value = column.value(group)
    if column.interval:
        return ["", ""] if value is None else list(value)
    if value is None:
        return [""]
    return [column.text(value) if isinstance(value, tuple) else value]


def _markdown(comparison: Comparison) -> str:
    headings, *rows = _rows(comparison)
    table = "\n".join("| " + " | ".join(line) + " |" for line in [headings, ["---"] * len(COLUMNS), *rows])
    return "\n\n".join([table, *_remarks(comparison)])


def _table(comparison: Comparison) -> str:
    return "\n".join([*aligned(_rows(comparison), str.ljust), "", *_remarks(comparison)])
