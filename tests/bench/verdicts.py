"""Which cause the verdict names when one is planted: scripted step times, and real runs; the lab's need root."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping

from hvdbench.diagnose import loss, verdict
from hvdbench.units import aligned
from tests.planted import PLANTS, verdicts

SCRIPTED = 100
BASE = ["--model", "alexnet_tiny", "--batch-size", "2", "--steps", "3", "--minutes", "20"]
LAB = ["--backend", "lab", "--workers", "2", "--rate", "50mbit"]
# What is planted, the verdict it must bring, how.
REAL: Mapping[str, tuple[str, list[str]]] = {
    "one worker delayed (real, loopback)": (loss.STRAGGLER, ["--workers", "2", "--ps", "1", "--delay-worker", "1:0.4"]),
    "all weights on one PS (real, lab)": (loss.PLACEMENT, [*LAB, "--ps", "2"]),
    "PS link at a tenth (real, lab)": (verdict.SLOW_LINK, [*LAB, "--ps", "1", "--node", "1:rate=5mbit"]),
    "a NIC of the ring at a tenth (real, lab)": (
        verdict.SLOW_LINK, [*LAB, "--ps", "2", "--placement", "sharded", "--node", "4:rate=5mbit"],
    ),
    "one worker delayed (real, lab)": (loss.STRAGGLER, [*LAB, "--ps", "1", "--delay-worker", "1:1.5"]),
}  # fmt: skip


def main() -> None:
    """Print the confusion matrix: a row a plant, how often each verdict; a wrong accusation is marked."""
    rows = [("planted", "must be", "verdicts", "wrong accusations")]
    for name, (cause, found) in {**scripted(), **dict(real())}.items():
        said = ", ".join(f"{each} {count}" for each, count in found.most_common())
        wrong = sum(count for each, count in found.items() if each not in (cause, *SILENT))
        rows.append((name, cause, said, str(wrong)))
    print("\n".join(aligned(rows, str.ljust)))


# What accuses nobody.
SILENT = (verdict.NOTHING, verdict.UNDECIDED, verdict.NOT_ENOUGH)


def scripted() -> dict[str, tuple[str, Counter[str]]]:
    """Every plant of tests/planted.py, under noise of its own each time."""
    return {name: (plant.cause, Counter(verdicts(plant, SCRIPTED))) for name, plant in PLANTS.items()}


def real() -> Iterator[tuple[str, tuple[str, Counter[str]]]]:
    """Every plant that this machine can run, once."""
    for name, (cause, words) in REAL.items():
        if "--backend" in words and os.geteuid() != 0:
            print(f"{name}: the lab needs root: not run")
            continue
        with tempfile.TemporaryDirectory() as folder:
            argv = [sys.executable, "-m", "hvdbench", "diagnose", *BASE, *words, "--format", "json"]
            run = subprocess.run([*argv, "--results-dir", folder], capture_output=True, text=True)
        said = json.loads(run.stdout) if run.returncode == 0 else None
        print(f"{name}: {said['paragraph'] if said else run.stderr.splitlines()[-1]}", flush=True)
        yield name, (cause, Counter([said["verdict"]["cause"] if said else "failed"]))
