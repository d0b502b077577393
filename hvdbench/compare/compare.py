"""From records to one comparison of strategies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from hvdbench.compare import stats
from hvdbench.compare.comparability import accepted_differences, source
from hvdbench.compare.tables import render
from hvdbench.errors import NotComparableError, UsageError
from hvdbench.record.schema import Record
from hvdbench.units import ImagePerSecond, Interval, Ratio, bracket_text, ratio_text

__all__ = ["Comparison", "Contrast", "Group", "arm_name", "compare", "render"]

LOCAL = "local"
DEFAULT_PLACEMENT = "round_robin"
ONE_HOST = "all tasks on one host: traffic is loopback and processes share its cores"


@dataclass(frozen=True)
class Contrast:
    """The ratio of one arm's median images/s to another's; p is None where no test could be significant."""

    name: str
    reference: str
    launches: tuple[int, int]
    paired: bool
    ratio: Ratio
    interval: Interval | None
    p: float | None


@dataclass(frozen=True)
class Group:
    """The launches of one arm; rates in applied images/s, one per launch; intervals are 95 %.

    `efficiency` is images/s per worker over the images/s of `local`, None without a local arm.
    """

    name: str
    workers: int
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
    """Groups with the baseline first, a sentence per contrast, and what was left out or allowed."""

    baseline: str
    groups: tuple[Group, ...]
    contrasts: tuple[Contrast, ...]
    sentences: tuple[str, ...]
    excluded: tuple[str, ...]
    allowed: tuple[str, ...]
    notes: tuple[str, ...]


def compare(records: Sequence[Record], baseline: str | None = None, allow: Sequence[str] = ()) -> Comparison:
    """Compare valid launches grouped by strategy and cluster shape, against `baseline` or `local`.

    Raises NotComparableError when no record is valid or they differ in more than the strategy, and
    UsageError on a baseline or an allowed field that does not exist.
    """
    usable, excluded = _usable(records)
    if not usable:
        why = "; ".join(excluded) or "none was given"
        raise NotComparableError(f"not comparable: none of {len(records)} records is valid: {why}; run again")
    arms = _arms(usable)
    base = _baseline(arms, baseline)
    allowed = accepted_differences(arms, allow)
    names = [base, *(name for name in arms if name != base)]
    contrasts = {name: _contrast(name, base, arms) for name in names}
    every = [*(contrasts[name] for name in names[1:]), *_between_strategies(arms, base)]
    return Comparison(
        base,
        tuple(_group(arms, contrasts[name]) for name in names),
        tuple(every),
        tuple(map(sentence, every)),
        tuple(excluded),
        tuple(map(str, allowed)),
        tuple(_notes(usable, arms)),
    )


def arm_name(record: Record) -> str:
    """Strategy and shape: `ps_sync 1+2` is one PS and two workers, `horovod x2` two workers.

    A placement other than round robin is an arm of its own and named too.
    """
    workers, ps, placement = record.config["workers"], record.config["ps"], record.config["placement"]
    if ps:
        own = f" {placement}" if placement != DEFAULT_PLACEMENT else ""
        return f"{record.strategy} {ps}+{workers}{own}"
    return record.strategy if record.strategy == LOCAL else f"{record.strategy} x{workers}"


def sentence(contrast: Contrast) -> str:
    """One contrast in plain words, claiming significance only where a test could have found none."""
    counts = f"{contrast.launches[0]} and {contrast.launches[1]} launches"
    span = "" if contrast.interval is None else f" {bracket_text(contrast.interval)}"
    text = f"{contrast.name} runs at {ratio_text(contrast.ratio)}{span} of {contrast.reference}"
    if contrast.interval is None:
        return f"{text}; too few launches to say more ({counts}, {stats.FEWEST_LAUNCHES} a side are needed)."
    if contrast.p is None:
        more = stats.launches_missing(*contrast.launches)
        return f"{text}; {counts} cannot reach p < {stats.ALPHA}, {more} more a side could."
    verdict = "a significant" if contrast.p < stats.ALPHA else "no significant"
    return f"{text}; {verdict} difference (Mann-Whitney p = {contrast.p:.2g}, {counts})."


def _notes(records: Sequence[Record], arms: Mapping[str, Sequence[Record]]) -> list[str]:
    notes = []
    if len({task["host"] for record in records for task in record.tasks}) == 1:
        notes.append(ONE_HOST)
    fewest = min((len(arm) for arm in arms.values() if len(arm) >= stats.FEWEST_LAUNCHES), default=None)
    if fewest is not None and stats.span_coverage(fewest) < stats.CONFIDENCE:
        notes.append(
            f"intervals from {fewest} launches are too narrow: even smallest to largest launch "
            f"holds the true median only {100 * stats.span_coverage(fewest):.0f} % of the time"
        )
    return notes


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


def _arms(records: Sequence[Record]) -> dict[str, list[Record]]:
    arms: dict[str, list[Record]] = {}
    order = sorted(records, key=lambda each: (each.strategy, each.config["workers"], each.config["ps"]))
    for record in order:
        arms.setdefault(arm_name(record), []).append(record)
    return arms


def _baseline(arms: Mapping[str, Sequence[Record]], asked: str | None) -> str:
    if asked is None:
        return LOCAL if LOCAL in arms else next(iter(arms))
    if asked in arms:
        return asked
    found = [name for name in arms if name.split()[0] == asked]
    if len(found) != 1:
        problem = f"may mean {' or '.join(found)}" if found else "is in no valid record"
        raise UsageError(f"--baseline {asked!r} {problem}; choose one of {', '.join(arms)}")
    return found[0]


def _between_strategies(arms: Mapping[str, Sequence[Record]], base: str) -> list[Contrast]:
    """Each horovod arm against each ps_sync arm with as many workers, or against all when none has."""
    rings, stars = (
        [name for name in arms if name != base and arms[name][0].strategy == strategy]
        for strategy in ("horovod", "ps_sync")
    )
    pairs = [(ring, star) for ring in rings for star in stars]
    equal = [pair for pair in pairs if len({arms[name][0].config["workers"] for name in pair}) == 1]
    return [_contrast(ring, star, arms) for ring, star in equal or pairs]


def _contrast(name: str, reference: str, arms: Mapping[str, Sequence[Record]]) -> Contrast:
    launches, others = arms[name], arms[reference]
    counts = (len(launches), len(others))
    paired = _interleaved(launches, others)
    rates, base = _rates(launches), _rates(others)
    ratio = stats.ratio_of_medians(rates, base)
    if name == reference:
        return Contrast(name, reference, counts, False, ratio, None, None)
    interval = stats.ratio_interval(rates, base, paired)
    return Contrast(name, reference, counts, paired, ratio, interval, stats.difference_p(rates, base))


def _interleaved(first: Sequence[Record], second: Sequence[Record]) -> bool:
    """Whether launch i of both ran in round i: every round ends before the next one starts."""
    if len(first) != len(second):
        return False
    rounds = [sorted((a.started_utc, b.started_utc)) for a, b in zip(first, second, strict=True)]
    return all(one[1] < following[0] for one, following in zip(rounds, rounds[1:], strict=False))


def _rates(records: Sequence[Record]) -> tuple[ImagePerSecond, ...]:
    return tuple(record.images_per_s for record in records)


def _group(arms: Mapping[str, Sequence[Record]], contrast: Contrast) -> Group:
    records = arms[contrast.name]
    rates, workers = _rates(records), records[0].config["workers"]
    local = median(_rates(arms[LOCAL])) if LOCAL in arms else None
    return Group(
        contrast.name,
        workers,
        tuple(sorted({record.config["steps"] for record in records})),
        rates,
        median(rates),
        stats.median_interval(rates),
        contrast.ratio,
        contrast.interval,
        None if local is None else median(rates) / workers / local,
        sum(record.processed_images for record in records),
        sum(record.applied_images for record in records),
    )
