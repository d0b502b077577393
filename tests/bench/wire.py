"""How fast each strategy uses real links: full AlexNet on lab nodes at 1 Gbit/s, arms interleaved; needs root."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from hvdbench.record import traffic
from hvdbench.record.schema import Record
from hvdbench.record.store import load_records

ROUNDS = 2
RUN = ["--rate", "1gbit", "--model", "alexnet", "--batch-size", "8", "--steps", "4", "--warmup", "1"]
ARMS = {
    "ring": ["--nodes", "4", "--strategy", "horovod"],
    "ring, MPI defaults": ["--nodes", "4", "--strategy", "horovod", "--mpi-defaults"],
    "star 2+2 round_robin": ["--nodes", "4", "--strategy", "ps_sync", "--ps", "2"],
    "star 2+2 sharded": ["--nodes", "4", "--strategy", "ps_sync", "--ps", "2", "--placement", "sharded"],
    "star 4+4 sharded, co-located": ["--nodes", "4", "--strategy", "ps_sync", "--ps", "4", "--colocate",
                                     "--placement", "sharded"],
}  # fmt: skip
# Numerator, denominator, what is wanted of the ratio of step times.
RATIOS = (
    ("ring", "ring, MPI defaults", "below 1"),
    ("star 2+2 sharded", "star 2+2 round_robin", "at most 0.5"),
    ("star 4+4 sharded, co-located", "ring", "at most 1.25"),
)


def main() -> None:
    """Print each arm's share of the line rate and the paired ratios of median step times."""
    if os.geteuid() != 0:
        print("the lab's benchmarks need root: not run")
        return
    found: dict[str, list[Record]] = {name: [] for name in ARMS}
    for turn in range(ROUNDS):
        for name in sorted(ARMS, reverse=bool(turn % 2)):
            found[name].append(launched(ARMS[name]))
    for name, records in found.items():
        shares = [traffic.line_share(each) or 0.0 for each in records]
        moving = [traffic.busy_share(each) or 0.0 for each in records]
        print(
            f"{name}: {median(map(step_s, records)):.2f} s a step, {median(shares):.2f} of the line rate "
            f"in the exchange, {median(moving):.2f} while bytes move (target 0.90)"
        )
    for top, bottom, target in RATIOS:
        ratio = median(step_s(a) / step_s(b) for a, b in zip(found[top], found[bottom], strict=True))
        print(f"{top} / {bottom}: {ratio:.2f}, median of {ROUNDS} pairs (target {target})")


def launched(words: list[str]) -> Record:
    """The record of one launch in a lab of its own."""
    with tempfile.TemporaryDirectory() as folder:
        argv = [sys.executable, "-m", "hvdbench", "launch", "--backend", "lab", *words, *RUN, "--results-dir", folder]
        subprocess.run(argv, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return load_records([Path(folder)])[0]


def step_s(record: Record) -> float:
    """Median step of all workers in seconds."""
    return median(each for steps in record.step_s for each in steps)
