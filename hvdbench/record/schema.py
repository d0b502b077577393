"""One launch as data, with the history of its format.

Schema history:
    1  first format: config, graph, tasks, window, images, contributions, step and loss series.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any

from hvdbench.errors import RunError, UsageError

SCHEMA_VERSION = 1
VALID = "valid"


@dataclass(frozen=True)
class Record:
    """One launch; raw values only, statistics are derived by whoever reads it.

    `window_s` is the time in seconds from the common start barrier to the common end barrier on the
    chief's monotonic clock; `images_per_s` is applied_images / window_s; `step_s` and `loss` hold one
    list per worker; `wire_bytes` and `line_rate_bytes_per_s` are None where nothing was counted.
    """

    schema_version: int
    launch_id: str
    started_utc: str
    strategy: str
    config: dict[str, Any]
    config_hash: str
    graph: dict[str, Any]
    tasks: list[dict[str, Any]]
    window_s: float
    processed_images: int
    applied_images: int
    images_per_s: float
    contributions: list[int]
    step_s: list[list[float]]
    loss: list[list[float]]
    wire_bytes: dict[str, Any] | None
    line_rate_bytes_per_s: float | None
    placement: list[dict[str, Any]]
    hottest_share: float | None
    validity: str
    path: str | None = None

    @property
    def valid(self) -> bool:
        return self.validity == VALID

    def to_json(self) -> dict[str, Any]:
        """The record as plain JSON data, without the path it was read from."""
        data = asdict(self)
        del data["path"]
        return data


def images_per_s(applied_images: int, window_s: float) -> float:
    """Applied images of all workers divided by the common window in seconds (design.md, Words)."""
    if window_s <= 0:
        raise RunError(f"the measured window is {window_s} s, which no run can take; run more steps")
    return applied_images / window_s


def from_json(data: Any, path: str) -> Record:
    """A record from parsed JSON; raises UsageError naming the file and what is wrong with it."""
    if not isinstance(data, dict) or "schema_version" not in data:
        raise UsageError(f"{path}: not a hvdbench record (no schema_version); name record files or their folder")
    version = data["schema_version"]
    if version != SCHEMA_VERSION:
        raise UsageError(
            f"{path}: schema_version is {version!r} but this hvdbench reads {SCHEMA_VERSION}; use the one that wrote it"
        )
    names = {field.name for field in fields(Record)} - {"path"}
    missing, extra = sorted(names - data.keys()), sorted(data.keys() - names)
    if missing or extra:
        raise UsageError(f"{path}: missing fields {missing}, unknown fields {extra}; the file was edited, run again")
    return Record(**data, path=path)
