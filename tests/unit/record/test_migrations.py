"""Stored records of every schema version load, and what is no record of any version is refused by name."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from hvdbench.compare.compare import compare, render
from hvdbench.errors import NotComparableError, UsageError
from hvdbench.record.migrations import STEPS
from hvdbench.record.schema import SCHEMA_VERSION
from hvdbench.record.store import load, load_records

DATA = Path(__file__).parents[2] / "data/records"
STORED = sorted(DATA.glob("schema-*.json"))


def test_every_schema_version_has_a_stored_record() -> None:
    versions = {json.loads(path.read_text())["schema_version"] for path in STORED}
    assert versions == set(range(1, SCHEMA_VERSION + 1)) == {*STEPS, SCHEMA_VERSION}


@pytest.mark.parametrize("path", STORED, ids=lambda path: path.stem)
def test_a_stored_record_loads_with_its_own_numbers(path: Path) -> None:
    raw, record = json.loads(path.read_text()), load(path)
    assert record.schema_version == SCHEMA_VERSION
    for name in ("images_per_s", "step_s", "loss", "contributions", "window_s", "launch_id"):
        assert getattr(record, name) == raw[name]
    assert record.synchrony == "bulk-synchronous" and set(record.dropped) == {0}


@pytest.mark.parametrize("version", range(1, SCHEMA_VERSION + 1))
def test_records_of_one_version_can_be_compared(version: int) -> None:
    records = load_records(sorted(DATA.glob(f"schema-{version}-*.json")))
    assert "ps_sync 2+2" in render(compare(records), "table")


def test_records_of_two_schema_versions_are_told_apart_by_their_fingerprints(tmp_path: Path) -> None:
    for name in ("schema-1-local.json", f"schema-{SCHEMA_VERSION}-horovod.json"):
        shutil.copy(DATA / name, tmp_path)
    with pytest.raises(NotComparableError, match="fingerprint is schema1:"):
        compare(load_records([tmp_path]))


def edited(tmp_path: Path, change: Any) -> Path:
    data = json.loads((DATA / f"schema-{SCHEMA_VERSION}-local.json").read_text())
    change(data)
    path = tmp_path / "edited.json"
    path.write_text(json.dumps(data))
    return path


@pytest.mark.parametrize(
    "change, words",
    [
        (lambda d: d.update(images_per_s=d["images_per_s"] * 2), "images_per_s is"),
        (lambda d: d.update(window_s=d["window_s"] / 2), "images_per_s is"),
        (lambda d: d.update(window_s=0), "images_per_s is"),
        (lambda d: d.update(applied_images=999, images_per_s=999 / d["window_s"]), "applied_images is 999"),
        (lambda d: d["step_s"][0].pop(), "processed_images is"),
        (lambda d: d.update(contributions="many"), "a field is of the wrong kind"),
        (lambda d: d.pop("loss"), r"missing fields \['loss'\]"),
        (lambda d: d.update(mood="good"), r"unknown fields \['mood'\]"),
        (lambda d: d.update(schema_version=99), "schema_version is 99 but this hvdbench reads 1 to"),
        (lambda d: d.update(schema_version=0), "schema_version is 0 but"),
        (lambda d: d.update(schema_version="2"), "schema_version is '2', not a number"),
        (lambda d: d.update(schema_version=1, tasks=None), "not a record of schema 1"),
        (lambda d: d.pop("schema_version"), "not a hvdbench record"),
    ],
)
def test_an_edited_record_is_refused_by_name(tmp_path: Path, change: Any, words: str) -> None:
    path = edited(tmp_path, change)
    with pytest.raises(UsageError, match=words) as caught:
        load(path)
    assert str(path) in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize("share", [0.0, 0.3, 0.99])
def test_a_truncated_record_is_refused_by_name(tmp_path: Path, share: float) -> None:
    text = (DATA / f"schema-{SCHEMA_VERSION}-local.json").read_text()
    path = tmp_path / "cut.json"
    path.write_text(text[: int(len(text) * share)])
    with pytest.raises(UsageError, match="cut short"):
        load(path)
