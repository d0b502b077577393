"""Records on disk: written beside the target and renamed, read from files or folders."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hvdbench.errors import RunError, UsageError
from hvdbench.record.schema import Record, from_json


def check_writable(folder: Path) -> None:
    """Create the results folder and prove that a file can be written there; raises RunError."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=folder, prefix=".writable-"):
            pass
    except OSError as error:
        raise RunError(f"cannot write results to {folder}: {error.strerror}; pass another --results-dir") from error


def save(record: Record, folder: Path) -> Path:
    """Write one record as JSON atomically and return its path; raises RunError when the disk refuses."""
    target = folder / f"{record.started_utc.replace(':', '')}-{record.strategy}-{record.launch_id}.json"
    write_json(target, record.to_json())
    return target


def write_json(target: Path, data: dict[str, Any]) -> None:
    """Write a file beside its place and rename it there; raises RunError when the disk refuses."""
    text = json.dumps(data, indent=1, allow_nan=True)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=".record-", suffix=".tmp")
        try:
            with os.fdopen(descriptor, "w") as stream:
                stream.write(text + "\n")
                stream.flush()
                os.fsync(stream.fileno())
            os.chmod(name, 0o644)
            os.replace(name, target)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise RunError(f"cannot write {target}: {error.strerror}; pass another --results-dir") from error


def save_weights(path: Path, values: dict[str, Any]) -> None:
    """Write the variables' values by name as one .npz file, atomically; raises RunError when the disk refuses."""
    import numpy

    beside = path.with_name(f".{path.name}.tmp")
    try:
        with beside.open("wb") as stream:
            numpy.savez(stream, **values)
        os.replace(beside, path)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise RunError(f"cannot write {path}: {error.strerror}; pass another --save-weights") from error


def load(path: Path) -> Record:
    """Read one record; raises UsageError naming the file when it is absent, cut short or foreign."""
    try:
        data = json.loads(path.read_text())
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}; name record files or their folder") from error
    except ValueError as error:
        raise UsageError(f"{path}: not JSON ({error}); the file is cut short or not a record") from error
    return from_json(data, str(path))


def load_records(paths: Sequence[Path]) -> list[Record]:
    """Read records from files and folders (*.json in each), oldest first, each file once."""
    files: dict[Path, None] = {}
    for path in paths:
        found = sorted(path.glob("*.json")) if path.is_dir() else [path]
        files.update(dict.fromkeys(file.resolve() for file in found))
    if not files:
        raise UsageError(f"no records in {', '.join(map(str, paths))}; run hvdbench first or name another folder")
    return sorted((load(file) for file in files), key=lambda record: record.started_utc)
