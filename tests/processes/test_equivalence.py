"""C46: every synchronous strategy reaches the weights of one session on the concatenated batch."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from hvdbench.strategies import STRATEGIES, Traits
from hvdbench.strategies.placement import POLICIES
from tests.conftest import mpirun, program

PYTHON = sys.executable
WORKERS, STEPS, BATCH = 2, 5, 4
# 2**-8: GradientDescentOptimizer keeps its rate in float32, whatever the variables are.
RATE = "0.00390625"
# float32 sums in another order differ by rounding, about 1e-7 of the largest term a step.
TOLERANCE = {"float64": 1e-10, "float32": 1e-5}


def launches(name: str, traits: Traits) -> dict[str, list[str]]:
    """Every way to start one synchronous strategy with two workers (one where it has only one)."""
    if traits.needs_ps:
        base = [PYTHON, "-m", "hvdbench.ps", "--strategy", name, "--ps", "2", "--workers", str(WORKERS)]
        return {f"{name} {policy}": [*base, "--placement", policy] for policy in POLICIES}
    run = [PYTHON, "-m", "hvdbench", "--strategy", name]
    if traits.one_worker:
        return {name: run}
    if traits.transport == "grpc":
        return {name: [*mpirun(WORKERS), *run]}
    if traits.transport == "mpi":
        return {
            f"{name} mpi": [*mpirun(WORKERS), *run],
            f"{name} gloo": ["horovodrun", "--gloo", "-np", str(WORKERS), *run],
        }
    raise NotImplementedError(f"no test starts {name}: say here how")


ARMS = {
    arm: (argv, 1 if traits.one_worker else WORKERS)
    for name, traits in STRATEGIES.items()
    # Replicas that exchange nothing train models of their own.
    if not traits.asynchronous and (traits.exchanges or traits.one_worker)
    for arm, argv in launches(name, traits).items()
}


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[int, str], dict[str, np.ndarray]]:
    """Final weights by number of workers and dtype."""
    found = {}
    script = str(Path(__file__).parent / "scripts/reference.py")
    for workers, dtype in ((1, "float64"), (WORKERS, "float64"), (WORKERS, "float32")):
        out = tmp_path_factory.mktemp("reference") / "weights.npz"
        run = program([PYTHON, script, str(workers), str(STEPS), str(BATCH), dtype, RATE, str(out)])
        assert run.returncode == 0, run.stderr
        found[workers, dtype] = dict(np.load(out))
    return found


def largest_difference(weights: dict[str, np.ndarray], expected: dict[str, np.ndarray]) -> float:
    assert weights.keys() == expected.keys()
    return max(float(np.max(np.abs(weights[name] - expected[name]))) for name in expected)


def trained(argv: list[str], dtype: str, tmp_path: Path) -> dict[str, np.ndarray]:
    out = tmp_path / "weights.npz"
    options = ["--model", "alexnet_tiny", "--batch-size", str(BATCH), "--steps", str(STEPS), "--warmup", "0"]
    options += ["--learning-rate", RATE, "--dtype", dtype, "--results-dir", str(tmp_path), "--save-weights", str(out)]
    run = program([*argv, *options])
    assert run.returncode == 0, run.stderr
    return dict(np.load(out))


@pytest.mark.parametrize("arm", ARMS)
def test_float64_weights_agree_to_1e_10(arm: str, reference: dict, tmp_path: Path) -> None:
    argv, workers = ARMS[arm]
    weights = trained(argv, "float64", tmp_path)
    assert all(array.dtype == np.float64 for array in weights.values())
    assert largest_difference(weights, reference[workers, "float64"]) < TOLERANCE["float64"]


def test_the_reference_can_tell_a_sum_or_separate_updates_from_the_mean(reference: dict) -> None:
    # Twice the mean, or one worker's batch alone, would differ by far more than the tolerance.
    difference = largest_difference(reference[1, "float64"], reference[WORKERS, "float64"])
    assert difference > 1e6 * TOLERANCE["float64"]


@pytest.mark.parametrize("arm", ["ps_sync sharded", "horovod mpi"])
def test_float32_weights_agree_within_rounding(arm: str, reference: dict, tmp_path: Path) -> None:
    weights = trained(ARMS[arm][0], "float32", tmp_path)
    assert largest_difference(weights, reference[WORKERS, "float32"]) < TOLERANCE["float32"]
