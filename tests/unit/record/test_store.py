"""Records reach the disk whole or not at all, and come back as they were."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from hvdbench.errors import RunError, UsageError
from hvdbench.record import store
from hvdbench.record.schema import Record
from tests.unit.compare.builders import record as built


def record(**changes: Any) -> Record:
    """A record whose counts agree with each other: 10 steps of 4 images."""
    return built(rate=4.0, window_s=10.0, **changes)


def test_what_is_saved_is_what_is_loaded(tmp_path: Path) -> None:
    mine = record()
    path = store.save(mine, tmp_path)
    assert store.load(path).to_json() == json.loads(json.dumps(mine.to_json()))
    assert path.stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize("failing", ["replace", "fsync"])
def test_a_disk_that_refuses_leaves_nothing_half_written(
    failing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, failing, refuse)
    with pytest.raises(RunError, match="No space left on device; pass another --results-dir"):
        store.save(record(), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_an_unwritable_folder_is_refused_before_the_run(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RunError, match="cannot write results to"):
        store.check_writable(tmp_path / "file/results")
    store.check_writable(tmp_path / "new")
    assert list((tmp_path / "new").iterdir()) == []


@pytest.mark.parametrize("text", ["", "{", "[1, 2]", "null", '{"a": 1}', "\x00"])
def test_what_is_no_record_is_refused_by_name(text: str, tmp_path: Path) -> None:
    path = tmp_path / "other.json"
    path.write_text(text)
    with pytest.raises(UsageError) as caught:
        store.load(path)
    assert str(path) in str(caught.value) and "\n" not in str(caught.value)


def test_folders_and_files_are_read_once_and_oldest_first(tmp_path: Path) -> None:
    late = store.save(record(started_utc="2026-01-02T00:00:00.000+00:00"), tmp_path)
    early = store.save(record(started_utc="2026-01-01T00:00:00.000+00:00"), tmp_path)
    found = store.load_records([late, tmp_path, early])
    assert [each.path for each in found] == [str(early), str(late)]


def test_an_empty_folder_and_an_absent_file_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no records in"):
        store.load_records([tmp_path])
    with pytest.raises(UsageError, match="No such file"):
        store.load_records([tmp_path / "absent.json"])


def test_weights_reach_the_disk_whole_or_not_at_all(tmp_path: Path) -> None:
    import numpy

    store.save_weights(tmp_path / "w.npz", {"conv1/weights": numpy.ones((2, 3))})
    assert numpy.load(tmp_path / "w.npz")["conv1/weights"].shape == (2, 3)
    with pytest.raises(RunError, match="pass another --save-weights"):
        store.save_weights(tmp_path / "absent/w.npz", {})
    assert [path.name for path in tmp_path.iterdir()] == ["w.npz"]
