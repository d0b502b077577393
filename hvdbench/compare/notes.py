"""What a reader must know beside the numbers: how each arm ran, where its time went, what not to conclude."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import median

from hvdbench.compare import stats
from hvdbench.compare.arms import DEFAULT_INPUT, LOCAL, Arms, delay, family_name, input_name, local_arm, rates, topology
from hvdbench.compare.bound import scaling_sentence, traffic_note
from hvdbench.compare.contrast import contrast
from hvdbench.compare.efficiency import efficiency_warning
from hvdbench.compare.steps import warnings as step_warnings
from hvdbench.record.migrations import BULK
from hvdbench.record.schema import Record
from hvdbench.units import ImagePerSecond, Ratio, Second, ms_text

ONE_HOST = "all tasks on one host: traffic is loopback and processes share its cores"
WORKER = "worker"
FEED = "images are fed from numpy through a Placeholder inside every timed step"
# Medians of parts need not add up: beyond this they are not called a sum.
SUM_TOLERANCE: Ratio = 0.01
PARTS = (("compute_s", "compute"), ("wait_s", "waiting"), ("exchange_s", "exchange"), ("input_s", "input"))


def notes(arms: Arms) -> list[str]:
    """One line per fact: on the whole comparison first, then on each arm, then where each arm's time goes."""
    on_arms = (_synchrony, _dropped, _fed, _own_hosts)
    return [
        *_one_host(arms),
        *_narrow(arms),
        *_traffic(arms),
        *_scaling(arms),
        *(line for name, records in arms.items() for note in on_arms for line in note(name, records)),
        *(line for name, records in arms.items() for line in phases(name, records)),
    ]


def warnings(arms: Arms) -> list[str]:
    """What may mislead: launches that were not steady, and efficiencies that rank against images/s."""
    found = [line for records in arms.values() for record in records for line in step_warnings(record)]
    misleading = efficiency_warning(_families(arms))
    return [*found, misleading] if misleading else found


def phases(name: str, records: Sequence[Record]) -> list[str]:
    """Where a step's time goes in one arm; nothing where compute, waiting and exchange are not all known."""
    known = [record for record in records if None not in (record.compute_s, record.wait_s, record.exchange_s)]
    if not known:
        return []
    step = _median(steps for record in known for steps in record.step_s)
    parts = {
        label: _median(series for record in known for series in getattr(record, field) or ()) for field, label in PARTS
    }
    told = {label: part for label, part in parts.items() if label != "input" or part > SUM_TOLERANCE * step}
    terms = [f"{ms_text(part)} {label}" for label, part in told.items()]
    over = "medians over workers and steps"
    if abs(sum(told.values()) - step) <= SUM_TOLERANCE * step:
        return [f"{name}: a step is {ms_text(step)} ms = {' + '.join(terms)} ({over})"]
    return [f"{name}: a step is {ms_text(step)} ms: {', '.join(terms)} ({over}, which need not add up)"]


def _median(series: Iterable[Sequence[Second]]) -> Second:
    return median([value for values in series for value in values] or [0.0])


def _one_host(arms: Arms) -> list[str]:
    hosts = {task["host"] for records in arms.values() for record in records for task in record.tasks}
    return [ONE_HOST] if len(hosts) == 1 else []


def _narrow(arms: Arms) -> list[str]:
    fewest = min((len(arm) for arm in arms.values() if len(arm) >= stats.FEWEST_LAUNCHES), default=None)
    if fewest is None or stats.span_coverage(fewest) >= stats.CONFIDENCE:
        return []
    return [
        f"intervals from {fewest} launches are too narrow: even smallest to largest launch "
        f"holds the true median only {100 * stats.span_coverage(fewest):.0f} % of the time"
    ]


def _traffic(arms: Arms) -> list[str]:
    """Bytes and compute per image, once for every graph and batch whose gradients had to move."""
    everything = [record for records in arms.values() for record in records]
    shared = [record for record in everything if record.config["workers"] > 1 or record.config["ps"]]
    found = (traffic_note(record.graph, record.config["batch_size"]) for record in shared)
    return list(dict.fromkeys(note for note in found if note is not None))


def _synchrony(name: str, records: Sequence[Record]) -> list[str]:
    other = [record.synchrony for record in records if record.synchrony != BULK]
    if not other:
        return []
    share = "" if len(other) == len(records) else f" in {len(other)} of {len(records)} launches"
    return [f"{name}{share} is {other[0]}"]


def _dropped(name: str, records: Sequence[Record]) -> list[str]:
    processed = sum(record.processed_images for record in records)
    dropped = processed - sum(record.applied_images for record in records)
    if dropped <= 0:
        return []
    return [f"{name}: {dropped} of {processed} processed images were dropped and changed no model"]


def _fed(name: str, records: Sequence[Record]) -> list[str]:
    return [f"{name}: {FEED}"] if input_name(records[0]) == "feed" else []


def _own_hosts(name: str, records: Sequence[Record]) -> list[str]:
    serving, training = (
        {task["host"] for record in records for task in record.tasks if task["role"] == role} for role in ("ps", WORKER)
    )
    alone = sorted(serving - training)
    return [f"{name}: its PS run on hosts without a worker ({', '.join(alone)})"] if alone else []


def _families(arms: Arms) -> dict[str, dict[int, ImagePerSecond]]:
    """Images/s by number of workers for every family of arms; who has no one-worker arm is held against local."""
    families: dict[str, dict[int, ImagePerSecond]] = {}
    for records in arms.values():
        if records[0].strategy != LOCAL:
            series = families.setdefault(family_name(records[0]), {})
            series[records[0].config["workers"]] = median(rates(records))
    for records in arms.values():
        local = local_arm(records[0], arms)
        if records[0].strategy != LOCAL and local is not None:
            families[family_name(records[0])].setdefault(1, median(rates(arms[local])))
    return families


def _scaling(arms: Arms) -> list[str]:
    """Whether the star may be blamed, from the fastest bulk-synchronous star and ring with the most workers."""
    if LOCAL not in arms:
        return []
    alike = {name: records for name, records in arms.items() if _shows_scaling(records)}
    best = {kind: _fastest(kind, alike) for kind in ("star", "ring")}
    both = best["star"].keys() & best["ring"].keys()
    if not any(best.values()):
        return []
    advantage = None
    if both:
        advantage = contrast(best["ring"][max(both)], best["star"][max(both)], arms).interval
    alone = {1: median(rates(arms[LOCAL]))}
    star, ring = (
        alone | {workers: median(rates(arms[name])) for workers, name in best[kind].items()}
        for kind in ("star", "ring")
    )
    return [scaling_sentence(star, ring, advantage)]


def _shows_scaling(records: Sequence[Record]) -> bool:
    """Several workers in step, fed and slowed no more than local, none of which loses cores to another process."""
    first = records[0]
    hosts = [task["host"] for task in first.tasks]
    on_cpu = any(task["device"] == "CPU" for task in first.tasks if task["role"] == WORKER)
    crowded = on_cpu and len(set(hosts)) < len(hosts)
    in_step = all(record.synchrony == BULK for record in records)
    plain = input_name(first) == DEFAULT_INPUT and delay(first) is None
    return first.config["workers"] > 1 and in_step and plain and not crowded


def _fastest(kind: str, arms: Arms) -> dict[int, str]:
    """The arm of this topology with most images/s for every number of workers."""
    best: dict[int, str] = {}
    for name in sorted(arms, key=lambda each: median(rates(arms[each]))):
        if topology(arms[name][0]) == kind:
            best[arms[name][0].config["workers"]] = name
    return best
