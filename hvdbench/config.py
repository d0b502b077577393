"""What one run is asked to do: a frozen, self-validating, hashable description."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import Any

from hvdbench import models, strategies
from hvdbench.errors import UsageError

INPUTS = ("synthetic",)
PLACEMENTS = ("round_robin",)


@dataclass(frozen=True)
class RunConfig:
    """One run; `batch_size` is images per worker, `steps` and `warmup` count synchronous updates.

    `learning_rate` None means the model's own default. Raises UsageError on a request that makes no sense.
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

    def __post_init__(self) -> None:
        traits = strategies.traits(self.strategy)
        models.spec(self.model)
        _one_of("--input", self.input, INPUTS)
        _one_of("--placement", self.placement, PLACEMENTS)
        _one_of("--dtype", self.dtype, ("float32", "float64"))
        for flag, value, least in (
            ("--batch-size", self.batch_size, 1),
            ("--steps", self.steps, 1),
            ("--warmup", self.warmup, 0),
            ("--workers", self.workers, 1),
        ):
            if value < least:
                raise UsageError(f"{flag} is {value}, at least {least} is needed; raise it")
        if traits.needs_ps != (self.ps > 0):
            need = "needs at least one PS; pass --ps 1" if traits.needs_ps else "has no PS; drop --ps"
            raise UsageError(f"--ps is {self.ps} but strategy {self.strategy} {need}")
        if traits.one_worker and self.workers != 1:
            raise UsageError(
                f"strategy {self.strategy} is one process but {self.workers} workers were asked; "
                "choose horovod or ps_sync"
            )

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
