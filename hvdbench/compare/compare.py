"""From records to one comparison of strategies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from hvdbench.compare import stats
from hvdbench.compare.arms import Arms, arm_name, delay, find_baseline, grouped, input_name, local_arm, rates, topology
from hvdbench.compare.comparability import accepted_differences, source
from hvdbench.compare.contrast import Contrast, contrast, sentence
from hvdbench.compare.notes import notes, warnings
from hvdbench.compare.tables import render
from hvdbench.errors import NotComparableError
from hvdbench.record.schema import Record
from hvdbench.units import ImagePerSecond, Interval, Ratio

__all__ = ["Comparison", "Contrast", "Group", "arm_name", "compare", "render"]


@dataclass(frozen=True)
class Group:
    """The launches of one arm; rates in applied images/s, one per launch; intervals are 95 %.

    `efficiency` is images/s per worker over the images/s of the local arm with the same input, None without one.
    """

    name: str
    workers: int
    input: str
    steps: tuple[int, ...]
    rates: tuple[ImagePerSecond, ...]
    images_per_s: ImagePerSecond
    interval: Interval | None
    ratio: Ratio
    ratio_interval: Interval | None
    efficiency: Ratio | None
    processed_images: int
    applied_images: int


@dataclass(frozen=True)
class Comparison:
    """Groups with the baseline first, a sentence per contrast, and what was left out, allowed or is to be known."""

    baseline: str
    groups: tuple[Group, ...]
    contrasts: tuple[Contrast, ...]
    sentences: tuple[str, ...]
    excluded: tuple[str, ...]
    allowed: tuple[str, ...]
    warnings: tuple[str, ...]
    notes: tuple[str, ...]


def compare(records: Sequence[Record], baseline: str | None = None, allow: Sequence[str] = ()) -> Comparison:
    """Compare valid launches grouped by strategy and cluster shape, against `baseline` or the local arm.

    Raises NotComparableError when no record is valid or they differ in more than the strategy, and
    UsageError on a baseline or an allowed field that does not exist.
    """
    usable, excluded = _usable(records)
    if not usable:
        why = "; ".join(excluded) or "none was given"
        raise NotComparableError(f"not comparable: none of {len(records)} records is valid: {why}; run again")
    if any(record.config["compute"] == "none" for record in usable):
        raise NotComparableError(
            "not comparable: a run with --compute none has no images/s; hvdbench diagnose weighs it, leave it out here"
        )
    arms = grouped(usable)
    base = find_baseline(arms, baseline)
    allowed = accepted_differences(arms, allow)
    names = [base, *(name for name in arms if name != base)]
    against_base = {name: contrast(name, base, arms) for name in names}
    every = [*(against_base[name] for name in names[1:]), *_between_strategies(arms, base)]
    return Comparison(
        base,
        tuple(_group(arms, against_base[name]) for name in names),
        tuple(every),
        tuple(map(sentence, every)),
        tuple(excluded),
        tuple(map(str, allowed)),
        tuple(warnings(arms)),
        tuple(notes(arms)),
    )


def _usable(records: Sequence[Record]) -> tuple[list[Record], list[str]]:
    """Valid records, oldest first and each launch once, and why each of the others is left out."""
    usable: dict[str, Record] = {}
    excluded = []
    for record in sorted(records, key=lambda each: each.started_utc):
        if not record.valid:
            excluded.append(f"{source(record)}: {record.validity}")
        elif record.launch_id in usable:
            excluded.append(f"{source(record)}: the same launch as {source(usable[record.launch_id])}")
        else:
            usable[record.launch_id] = record
    return list(usable.values()), excluded


def _between_strategies(arms: Arms, base: str) -> list[Contrast]:
    """Each ring against each star with as many workers run alike, or against all when none is."""
    rings, stars = (
        [name for name in arms if name != base and topology(arms[name][0]) == kind] for kind in ("ring", "star")
    )
    pairs = [(ring, star) for ring in rings for star in stars]
    alike = [pair for pair in pairs if len({_conditions(arms[name][0]) for name in pair}) == 1]
    return [contrast(ring, star, arms) for ring, star in alike or pairs]


def _conditions(record: Record) -> tuple[int, str, tuple[int, float] | None]:
    return record.config["workers"], input_name(record), delay(record)


def _group(arms: Arms, contrast: Contrast) -> Group:
    records = arms[contrast.name]
    found, workers = rates(records), records[0].config["workers"]
    local = local_arm(records[0], arms)
    return Group(
        contrast.name,
        workers,
        input_name(records[0]),
        tuple(sorted({record.config["steps"] for record in records})),
        found,
        median(found),
        stats.median_interval(found),
        contrast.ratio,
        contrast.interval,
        None if local is None else median(found) / workers / median(rates(arms[local])),
        sum(record.processed_images for record in records),
        sum(record.applied_images for record in records),
    )
