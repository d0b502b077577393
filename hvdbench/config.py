"""What one run is asked to do: a frozen, self-validating, hashable description."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import Any

from hvdbench import models, strategies
from hvdbench.errors import UsageError
from hvdbench.strategies.placement import POLICIES
from hvdbench.strategies.tuning import ALGORITHMS
from hvdbench.strategies.tuning import DEFAULT as DEFAULT_ALGORITHM

INPUTS = ("synthetic", "feed")
TOKENS = ("strict", "default")
COMPUTE = ("full", "none")


@dataclass(frozen=True)
class RunConfig:
    """One run; `batch_size` is images per worker, `steps` and `warmup` count synchronous updates.

    `learning_rate` and `classes` None mean the model's own; `replicas_to_aggregate` None means every worker.
    `delay_worker` is (worker, seconds added to each of its steps). `allreduce_algorithm`, `fusion_mb` and
    `cycle_ms` tune Horovod (strategies/tuning.py); `mpi_defaults` leaves all of it as it is. `compute` "none"
    exchanges the model's own values instead of gradients: the price of the exchange alone. Raises UsageError on a
    request that makes no sense.
    """

    strategy: str = "local"
    model: str = "alexnet"
    batch_size: int = 128
    steps: int = 20
    warmup: int = 2
    workers: int = 1
    ps: int = 0
    input: str = "synthetic"
    placement: str = "round_robin"
    learning_rate: float | None = None
    seed: int = 1
    dtype: str = "float32"
    start_timeout_s: float = 300.0
    classes: int | None = None
    tokens: str = "strict"
    replicas_to_aggregate: int | None = None
    delay_worker: tuple[int, float] | None = None
    allreduce_algorithm: str = DEFAULT_ALGORITHM
    fusion_mb: int | None = None
    cycle_ms: float | None = None
    mpi_defaults: bool = False
    compute: str = "full"

    def __post_init__(self) -> None:
        traits = strategies.traits(self.strategy)
        models.spec(self.model, self.classes)
        _one_of("--input", self.input, INPUTS)
        _one_of("--placement", self.placement, tuple(POLICIES))
        _one_of("--dtype", self.dtype, ("float32", "float64"))
        _one_of("--compute", self.compute, COMPUTE)
        _one_of("--tokens", self.tokens, TOKENS)
        _one_of("--allreduce-algorithm", self.allreduce_algorithm, tuple(ALGORITHMS))
        for flag, value, least in (
            ("--batch-size", self.batch_size, 1),
            ("--steps", self.steps, 1),
            ("--warmup", self.warmup, 0),
            ("--workers", self.workers, 1),
        ):
            if value < least:
                raise UsageError(f"{flag} is {value}, at least {least} is needed; raise it")
        self._check_roles(traits)
        self._check_synchrony(traits)

    def _check_roles(self, traits: strategies.Traits) -> None:
        if traits.needs_ps != (self.ps > 0):
            need = "needs at least one PS; pass --ps 1" if traits.needs_ps else "has no PS; drop --ps"
            raise UsageError(f"--ps is {self.ps} but strategy {self.strategy} {need}")
        if traits.one_worker and self.workers != 1:
            raise UsageError(
                f"strategy {self.strategy} is one process but {self.workers} workers were asked; "
                "choose horovod or ps_sync"
            )
        if self.delay_worker is not None and not 0 <= self.delay_worker[0] < self.workers:
            raise UsageError(
                f"--delay-worker names worker {self.delay_worker[0]} but there are {self.workers}; "
                f"use 0 to {self.workers - 1}"
            )

    def _check_synchrony(self, traits: strategies.Traits) -> None:
        if self.tokens != "strict" and not traits.has_tokens:
            raise UsageError(f"--tokens {self.tokens} but strategy {self.strategy} has no tokens; choose ps_sync")
        if self.replicas_to_aggregate is None:
            return
        if not traits.has_tokens:
            raise UsageError(
                f"--replicas-to-aggregate is {self.replicas_to_aggregate} but strategy {self.strategy} drops no "
                "gradients; choose ps_sync"
            )
        if not 1 <= self.replicas_to_aggregate <= self.workers:
            raise UsageError(
                f"--replicas-to-aggregate is {self.replicas_to_aggregate} but there are {self.workers} workers; "
                f"use 1 to {self.workers}"
            )

    @property
    def asynchronous(self) -> bool:
        """Whether every worker updates the model by itself."""
        return strategies.traits(self.strategy).asynchronous

    @property
    def bulk_synchronous(self) -> bool:
        """Whether every update must hold exactly one gradient of every worker."""
        return not self.asynchronous and self.tokens == "strict" and self.aggregated == self.workers

    @property
    def aggregated(self) -> int:
        """Gradients in one update."""
        if self.asynchronous:
            return 1
        return self.workers if self.replicas_to_aggregate is None else self.replicas_to_aggregate

    @property
    def images_per_contribution(self) -> int:
        """Images behind one worker's part of an update; none where nothing is computed."""
        return self.batch_size if self.compute == "full" else 0

    @property
    def updates_per_step(self) -> int:
        """Updates of the shared model that stand for one step: an asynchronous one holds one worker's gradient."""
        return self.workers if self.asynchronous else 1

    def comparable(self) -> dict[str, Any]:
        """The fields that define the measurement, as plain data."""
        return asdict(self)

    def hash(self) -> str:
        """First 12 hex digits of the SHA-256 of the sorted fields; equal on every task of a launch."""
        text = json.dumps(self.comparable(), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:12]


def _one_of(flag: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise UsageError(f"{flag} {value!r} is unknown; choose one of {', '.join(known)}")
