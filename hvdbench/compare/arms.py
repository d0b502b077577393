"""Which launches form one arm, what an arm is called, and which arm the others are held against."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from hvdbench.errors import UsageError
from hvdbench.record.schema import Record
from hvdbench.strategies import STRATEGIES
from hvdbench.strategies.tuning import DEFAULT as ALGORITHM
from hvdbench.units import ImagePerSecond

Arms: TypeAlias = Mapping[str, Sequence[Record]]

LOCAL = "local"
DEFAULT_PLACEMENT = "round_robin"
DEFAULT_INPUT = "synthetic"
DEFAULT_TOKENS = "strict"


def arm_name(record: Record) -> str:
    """Strategy, shape and what is not default: `horovod x2`, `ps_sync 1+3 2/3 aggregated`, `local feed`."""
    workers, ps = record.config["workers"], record.config["ps"]
    shape = f" {ps}+{workers}" if ps else "" if record.strategy == LOCAL else f" x{workers}"
    return f"{record.strategy}{shape}{_options(record)}"


def family_name(record: Record) -> str:
    """The arm without its number of workers: what one scaling curve belongs to."""
    ps = record.config["ps"]
    return f"{record.strategy}{f' {ps} PS' if ps else ''}{_options(record)}"


def input_name(record: Record) -> str:
    """How images reach the graph, `synthetic` in records that say nothing."""
    return str(record.config.get("input") or DEFAULT_INPUT)


def topology(record: Record) -> str:
    """`star`, `ring` or `none`, the latter also for a strategy that this hvdbench does not know."""
    return STRATEGIES[record.strategy].topology if record.strategy in STRATEGIES else "none"


def rates(records: Sequence[Record]) -> tuple[ImagePerSecond, ...]:
    """Applied images per second, one number per launch."""
    return tuple(record.images_per_s for record in records)


def grouped(records: Sequence[Record]) -> dict[str, list[Record]]:
    """Records by arm, the arms by strategy and shape, within an arm in the order given."""
    arms: dict[str, list[Record]] = {}
    for record in sorted(records, key=_order):
        arms.setdefault(arm_name(record), []).append(record)
    return arms


def find_baseline(arms: Arms, asked: str | None) -> str:
    """The arm that `asked` names, a local one, or the first; raises UsageError when `asked` fits none or several."""
    if asked is None:
        return next((name for name, records in arms.items() if records[0].strategy == LOCAL), next(iter(arms)))
    if asked in arms:
        return asked
    found = [name for name in arms if name.split()[0] == asked]
    if len(found) != 1:
        problem = f"may mean {' or '.join(found)}" if found else "is in no valid record"
        raise UsageError(f"--baseline {asked!r} {problem}; choose one of {', '.join(arms)}")
    return found[0]


def local_arm(record: Record, arms: Arms) -> str | None:
    """The undelayed local arm that got its images the same way: anything else would not be this graph's own pace."""
    name = f"{LOCAL}{_input(record)}"
    return name if name in arms else None


def delay(record: Record) -> tuple[int, float] | None:
    """Which worker was slowed on purpose, and by how many seconds a step."""
    found = record.config.get("delay_worker")
    return (int(found[0]), float(found[1])) if found else None


def _options(record: Record) -> str:
    config = record.config
    words = []
    if config["ps"] and config["placement"] != DEFAULT_PLACEMENT:
        words.append(config["placement"])
    if (tokens := config.get("tokens") or DEFAULT_TOKENS) != DEFAULT_TOKENS:
        words.append(f"tokens={tokens}")
    if (aggregated := config.get("replicas_to_aggregate") or config["workers"]) != config["workers"]:
        words.append(f"{aggregated}/{config['workers']} aggregated")
    if record.strategy in STRATEGIES and STRATEGIES[record.strategy].tuned:
        words += _tuning(record)
    slowed = delay(record)
    return "".join(f" {word}" for word in words) + _input(record) + (f" delayed {_colon(slowed)}" if slowed else "")


def _tuning(record: Record) -> list[str]:
    """Horovod's transport where it is not MPI, and its settings where they are not hvdbench's own."""
    config = record.config
    # Over Gloo no MPI is loaded, and MPI's settings do nothing.
    gloo = record.tasks[0]["versions"].get("mpi", "unknown") is None
    if config.get("mpi_defaults", True):
        return ["gloo, untuned" if gloo else "MPI defaults"]
    words = ["gloo"] if gloo else [] if config["allreduce_algorithm"] == ALGORITHM else [config["allreduce_algorithm"]]
    words += [f"fusion {config['fusion_mb']} MiB"] if config["fusion_mb"] is not None else []
    return words + ([f"cycle {config['cycle_ms']:g} ms"] if config["cycle_ms"] is not None else [])


def _input(record: Record) -> str:
    return f" {input_name(record)}" if input_name(record) != DEFAULT_INPUT else ""


def _colon(slowed: tuple[int, float]) -> str:
    return f"{slowed[0]}:{slowed[1]:g}"


def _order(record: Record) -> tuple[str, int, int, str]:
    return record.strategy, record.config["workers"], record.config["ps"], _options(record)
