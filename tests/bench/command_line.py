"""How long the command line takes without TensorFlow; the target is under 0.3 s."""

from __future__ import annotations

import subprocess
import sys
import time
from statistics import median

REPEATS = 9


def seconds(argv: list[str]) -> float:
    """Wall time of one process in seconds."""
    begun = time.perf_counter()
    subprocess.run(argv, check=True, capture_output=True)
    return time.perf_counter() - begun


def main() -> None:
    """Print the medians of an empty interpreter and of `--help`, interleaved."""
    arms = {"python -c pass": ["-c", "pass"], "hvdbench --help": ["-m", "hvdbench", "--help"],
            "hvdbench compare --help": ["-m", "hvdbench", "compare", "--help"],
            "hvdbench compare": ["-m", "hvdbench", "compare", "tests/data/records/schema-3-local.json"],
            "hvdbench plan": ["-m", "hvdbench", "plan", "--ps", "2", "--workers", "2"]}  # fmt: skip
    times: dict[str, list[float]] = {name: [] for name in arms}
    for _ in range(REPEATS):
        for name, words in arms.items():
            times[name].append(seconds([sys.executable, *words]))
    for name, found in times.items():
        print(f"{name:26s} {median(found):.3f} s, median of {REPEATS} (target 0.3 s)")
