"""From records to one comparison of strategies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from hvdbench.compare import stats
from hvdbench.compare.comparability import refuse_unlike
from hvdbench.compare.tables import render
from hvdbench.errors import NotComparableError, UsageError
from hvdbench.record.schema import Record

__all__ = ["Comparison", "Group", "compare", "render"]


@dataclass(frozen=True)
class Group:
    """The launches of one arm; rates in applied images/s, one per launch; intervals are 95 %."""

    name: str
    workers: int
    steps: int
    rates: tuple[float, ...]
    images_per_s: float
    interval: tuple[float, float] | None
    ratio: float
    ratio_interval: tuple[float, float] | None
    p: float | None
    processed_images: int
    applied_images: int


@dataclass(frozen=True)
class Comparison:
    """Groups with the baseline first, plain sentences, and what was left out or allowed."""

    baseline: str
    groups: tuple[Group, ...]
    sentences: tuple[str, ...]
    notes: tuple[str, ...]


def compare(records: Sequence[Record], baseline: str | None = None, allow: Sequence[str] = ()) -> Comparison:
    """Compare valid launches grouped by strategy and size; raises NotComparableError on unlike runs."""
    valid = [record for record in records if record.valid]
    notes = [f"left out, invalid: {record.path}: {record.validity}" for record in records if not record.valid]
    if not valid:
        raise NotComparableError(f"none of the {len(records)} records is valid; see validity in each and run again")
    notes += [f"allowed difference: {each}" for each in refuse_unlike(valid, allow)]
    if len({task["host"] for record in valid for task in record.tasks}) == 1:
        notes.append("all tasks on one host: traffic is loopback, not a network")
    arms: dict[str, list[Record]] = {}
    for record in valid:
        arms.setdefault(arm_name(record), []).append(record)
    base = _baseline(arms, baseline)
    order = [base, *sorted(name for name in arms if name != base)]
    groups = tuple(_group(name, arms[name], arms[base], name == base) for name in order)
    return Comparison(base, groups, tuple(_sentence(group, groups[0]) for group in groups[1:]), tuple(notes))


def arm_name(record: Record) -> str:
    """Strategy and size: `ps_sync 1+2` is one PS and two workers, `horovod x2` two workers."""
    workers, ps = record.config["workers"], record.config["ps"]
    if ps:
        return f"{record.strategy} {ps}+{workers} {record.config['placement']}"
    return record.strategy if record.strategy == "local" else f"{record.strategy} x{workers}"


def _baseline(arms: dict[str, list[Record]], asked: str | None) -> str:
    if asked is None:
        return "local" if "local" in arms else next(iter(arms))
    found = [name for name in arms if name == asked or name.split()[0] == asked]
    if not found:
        raise UsageError(f"--baseline {asked!r} is in no record; choose one of {', '.join(arms)}")
    return found[0]


def _group(name: str, records: list[Record], base: list[Record], is_base: bool) -> Group:
    rates = [record.images_per_s for record in records]
    base_rates = [record.images_per_s for record in base]
    return Group(
        name,
        records[0].config["workers"],
        records[0].config["steps"],
        tuple(rates),
        median(rates),
        stats.median_interval(rates),
        median(rates) / median(base_rates),
        None if is_base else stats.ratio_interval(rates, base_rates),
        None if is_base else stats.difference_p(rates, base_rates),
        sum(record.processed_images for record in records),
        sum(record.applied_images for record in records),
    )


def _sentence(group: Group, base: Group) -> str:
    text = f"{group.name} runs at {group.ratio:.2f}x the images/s of {base.name}"
    if group.ratio_interval is None:
        return (
            f"{text}; too few launches to say more ({len(group.rates)} and {len(base.rates)}, "
            f"{stats.FEWEST_LAUNCHES} a side are needed)."
        )
    low, high = group.ratio_interval
    text += f", 95 % interval {low:.2f} to {high:.2f}"
    if group.p is None:
        return f"{text}; too few launches for a test of difference (4 a side could reach significance)."
    return f"{text} (Mann-Whitney p = {group.p:.3f})."
