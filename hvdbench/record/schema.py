"""One launch as data, with the history of its format.

Schema history:
    1  first format: config, graph, tasks, window, images, contributions, step and loss series.
    2  every step split into input, compute, wait and exchange, with the raw marks; synchrony, dropped gradients,
       contributions per step, staleness, the commit, bytes on the wire measured and predicted, links; PS tasks among
       the tasks; fingerprint by another recipe.
    3  config says whether anything was computed; a run without computation has no images.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any

from hvdbench.errors import RunError, UsageError
from hvdbench.record.migrations import migrated

SCHEMA_VERSION = 3
VALID = "valid"


@dataclass(frozen=True)
class Record:
    """One launch; raw values only, statistics are derived by whoever reads it.

    `window_s` is the time in seconds from the common start barrier to the common end barrier on the
    chief's monotonic clock; `images_per_s` is applied_images / window_s; `step_s` and `loss` hold one
    list per worker, as do `input_s`, `compute_s`, `wait_s` and `exchange_s` (formulas: phases.py), which are
    None where they cannot be told apart; `marks` are the raw moments behind them. `contributions` and
    `dropped` count gradients per worker, `contributions_per_step` holds one list per step as the chief saw it.
    `staleness` counts updates between pull and push. `wire_bytes` holds each task's bytes in the window by the
    kernel's counters, `wire_predicted_bytes` each host's by formula (strategies/wire.py), `links` the measured
    rates of a lab's links, the slowest of which is `line_rate_bytes_per_s`; None where there is none.
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
    wire_bytes: list[dict[str, Any]] | None
    wire_predicted_bytes: dict[str, int] | None
    links: list[dict[str, Any]] | None
    line_rate_bytes_per_s: float | None
    placement: list[dict[str, Any]]
    hottest_share: float | None
    validity: str
    synchrony: str
    dropped: list[int]
    contributions_per_step: list[list[int]] | None
    staleness: list[list[int]] | None
    input_s: list[list[float]] | None
    compute_s: list[list[float]] | None
    wait_s: list[list[float]] | None
    exchange_s: list[list[float]] | None
    marks: dict[str, Any] | None
    commit: str | None
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
    data = migrated(data, path, SCHEMA_VERSION)
    names = {field.name for field in fields(Record)} - {"path"}
    missing, extra = sorted(names - data.keys()), sorted(data.keys() - names)
    if missing or extra:
        raise UsageError(f"{path}: missing fields {missing}, unknown fields {extra}; the file was edited, run again")
    record = Record(**data, path=path)
    try:
        check(record)
    except (TypeError, KeyError, AttributeError) as error:
        raise UsageError(f"{path}: a field is of the wrong kind ({error!r}); the file was edited, run again") from error
    return record


def check(record: Record) -> None:
    """Raise UsageError when a record's numbers contradict each other: somebody edited it by hand."""
    where = f"{record.path}: "
    rate = record.applied_images / record.window_s if record.window_s > 0 else float("nan")
    if not abs(rate - record.images_per_s) <= 1e-6 * max(1.0, abs(rate)):
        raise UsageError(
            f"{where}images_per_s is {record.images_per_s} but applied_images / window_s is {rate}; "
            "the file was edited, run again"
        )
    each = record.config["batch_size"] if record.config["compute"] == "full" else 0
    applied = sum(record.contributions) * each
    if record.applied_images != applied:
        raise UsageError(
            f"{where}applied_images is {record.applied_images} but the contributions make {applied}; "
            "the file was edited, run again"
        )
    if record.processed_images != sum(map(len, record.step_s)) * each:
        raise UsageError(
            f"{where}processed_images is {record.processed_images} but there are {sum(map(len, record.step_s))} "
            f"steps of {each} images; the file was edited, run again"
        )
