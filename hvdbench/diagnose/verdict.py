"""The decision: which one cause the numbers convict, and whether the parameter server is among the guilty."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, log
from statistics import median

from hvdbench.compare.stats import median_interval, ratio, ratio_interval
from hvdbench.diagnose import falsealarm, loss, rungs
from hvdbench.diagnose.evidence import Sample, Samples
from hvdbench.diagnose.loss import Loss
from hvdbench.diagnose.square import Square, square
from hvdbench.units import Interval, Ratio, Second

# Causes beyond those that are a part of the loss.
NOT_ENOUGH, NOTHING, UNDECIDED = "not enough launches", "no loss", "undecided"
SLOW_LINK, COMMUNICATION, TOPOLOGY = "slow_link", "communication", rungs.TOPOLOGY
# Parts that a parameter server brings, and what convicts it.
OF_A_PS = (loss.TRANSPORT, loss.CONTENTION)
GUILTY_PS = (TOPOLOGY, loss.TRANSPORT, loss.PLACEMENT, loss.SYNCHRONISATION)
# Below this share of the asked step nobody has lost anything worth a cause.
WORTH_A_CAUSE: Ratio = 0.10
# What a difference must exceed however small this cluster's own noise is.
LEAST_THRESHOLD: Ratio = 0.05
# A part below this share of the loss is not what the loss is about.
LEAST_PART: Ratio = 0.15
# A link below this share of the others' rate is out of line; links of one kind agree within a few percent.
SLOW_LINK_SHARE: Ratio = 0.8
# The placement is named before other causes from this share of the loss on: it is the one that an option mends.
PLACEMENT_FIRST: Ratio = 1 / 3
# How much of the predicted change a handicap must bring, on the logarithm, before the suspect counts as responding.
RESPONSE: Ratio = 0.5


@dataclass(frozen=True)
class Handicap:
    """The asked arm again with a change that touches only the suspect: expected and measured ratio of step times."""

    what: str
    expected: Ratio
    measured: Ratio
    interval: Interval | None
    responded: bool


@dataclass(frozen=True)
class Verdict:
    """`cause` is the one thing convicted, or why nothing is; `suspect` what it was before the handicap.

    `ps_guilty` is None where the numbers cannot tell.

    `ring_ratio` is the best star's step over the best ring's, `slow_host` the host whose link is out of line,
    `exchange_s` what the exchange adds to the asked step, `break_even_batch` per worker (None: no batch helps).
    """

    cause: str
    suspect: str
    ps_guilty: bool | None
    loss: Loss
    square: Square | None
    threshold: Ratio
    alarms: falsealarm.FalseAlarms | None
    ring: str | None
    ring_ratio: Ratio | None
    ring_interval: Interval | None
    slow_host: str | None
    handicap: Handicap | None
    exchange_s: Second
    break_even_batch: float | None


def judge(samples: Samples, workers: int, batch_size: int) -> Verdict:
    """The verdict on the asked job; raises ValueError when a rung that the ladder needs has no launch."""
    main = {
        key: found for key, found in samples.items() if key not in (rungs.ASKED_AGAIN, rungs.BESIDE, rungs.HANDICAP)
    }
    if not loss.rounds_of(main):
        raise ValueError(f"no complete round: { ({key: len(found) for key, found in main.items()}) }")
    divided = loss.divide(main)
    alarms = falsealarm.measure(samples[rungs.ASKED], samples.get(rungs.ASKED_AGAIN, ()))
    threshold = max(LEAST_THRESHOLD, alarms.threshold if alarms else 0.0)
    ring = _best_ring(main)
    steps = [each.step_s for each in _best_star(main)[: divided.rounds]]
    others = [each.step_s for each in main[ring][: divided.rounds]] if ring else []
    compute_s = median(each.step_s for each in main.get(rungs.NONE, main[rungs.LOCAL]))
    exchange_s = divided.asked_s - compute_s
    slow = slow_host(main[rungs.ASKED])
    suspect = _suspect(divided, threshold, main, ring, slow)
    tried = _handicap(samples, suspect, exchange_s, threshold)
    cause = UNDECIDED if tried is not None and not tried.responded else suspect
    local_s = divided.local_s / batch_size
    return Verdict(
        cause,
        suspect,
        None if cause in (NOT_ENOUGH, UNDECIDED) else cause in GUILTY_PS,
        divided,
        square(main),
        threshold,
        alarms,
        ring,
        ratio(steps, others, paired=True) if ring else None,
        ratio_interval(steps, others, paired=True) if ring else None,
        slow,
        tried,
        exchange_s,
        break_even_batch(exchange_s, local_s, compute_s / batch_size, workers),
    )


def _suspect(divided: Loss, threshold: Ratio, samples: Samples, ring: str | None, slow: str | None) -> str:
    """The largest clear part of the loss under its proper name, before any handicap."""
    if not loss.enough(divided.rounds):
        return NOT_ENOUGH
    least = max(WORTH_A_CAUSE, threshold) * divided.asked_s
    low = divided.interval[0] if divided.interval else -inf
    if divided.seconds < least or low <= 0:
        return NOTHING if divided.seconds < least else UNDECIDED
    clear = {
        part.cause: part.seconds
        for part in divided.parts
        if part.cause not in OF_A_PS and _is_clear(part.seconds, part.interval, divided, threshold)
    }
    of_ps = _of_a_ps(divided, samples)
    if _is_clear(median(of_ps), median_interval(of_ps), divided, threshold):
        clear["ps"] = median(of_ps)
    if not clear:
        return UNDECIDED
    largest = max(clear, key=clear.__getitem__)
    if clear.get(loss.PLACEMENT, 0.0) > PLACEMENT_FIRST * divided.seconds:
        return loss.PLACEMENT
    if largest in ("ps", loss.SYNCHRONISATION) and slow is not None:
        return SLOW_LINK
    return _of_the_ps(samples, divided.rounds, ring, threshold) if largest == "ps" else largest


def _is_clear(seconds: Second, interval: Interval | None, divided: Loss, threshold: Ratio) -> bool:
    least = max(threshold * divided.asked_s, LEAST_PART * divided.seconds)
    return interval is not None and interval[0] > 0 and seconds > least


def _of_a_ps(divided: Loss, samples: Samples) -> list[Second]:
    """Transport and contention together, round by round: what a PS brings beyond its session and its tokens."""
    names = [part.cause for part in divided.parts if part.cause in OF_A_PS]
    rounds = [loss.values_of(samples, name) for name in names]
    return [sum(values) for values in zip(*rounds, strict=True)]


def _of_the_ps(samples: Samples, rounds: int, ring: str | None, threshold: Ratio) -> str:
    """What a loss at the PS is called: only a ring that does better on the same hosts convicts the PS (C05)."""
    if ring is None:
        # One worker has nobody to crowd a port with; several may, and no ring was there to tell.
        return UNDECIDED if rungs.NONE in samples else loss.TRANSPORT
    star = [each.step_s for each in _best_star(samples)[:rounds]]
    interval = ratio_interval(star, [each.step_s for each in samples[ring][:rounds]], paired=True)
    if interval is None or interval[0] <= 1 + threshold:
        return COMMUNICATION
    found = square(samples)
    if found is not None and found.transport.clear and found.transport.log > found.topology.log:
        return loss.TRANSPORT
    return TOPOLOGY


def _best_star(samples: Samples) -> Sequence[Sample]:
    return samples[rungs.SHARED_PS if rungs.SHARED_PS in samples else rungs.ASKED]


def _best_ring(samples: Samples) -> str | None:
    found = [key for key in (rungs.HOROVOD, rungs.COLLECTIVE) if samples.get(key)]
    return min(found, key=lambda key: median(each.step_s for each in samples[key]), default=None)


def slow_host(asked: Sequence[Sample]) -> str | None:
    """The host whose link is clearly slower than the others', in every launch; None where none is."""
    found = set()
    for each in asked:
        rates = each.link_bytes_per_s
        if len(rates) < 3:
            return None
        slowest = min(rates, key=lambda host: rates[host])
        others = median(rate for host, rate in rates.items() if host != slowest)
        found.add(slowest if rates[slowest] < SLOW_LINK_SHARE * others else None)
    return found.pop() if len(found) == 1 else None


def _handicap(samples: Samples, suspect: str, exchange_s: Second, threshold: Ratio) -> Handicap | None:
    """What a change that touches only the suspect did, where there was one."""
    if suspect == loss.PLACEMENT:
        asked, tried = samples[rungs.ASKED], samples[rungs.SHARED_PS]
        # The exchange takes as long as the fullest PS needs.
        left = _hottest(tried[0]) / _hottest(asked[0])
        return _response("the variables sharded over the PS", asked, tried, -exchange_s * (1 - left), threshold)
    if suspect not in (TOPOLOGY, loss.TRANSPORT) or not samples.get(rungs.HANDICAP):
        return None
    asked, tried = samples[rungs.BESIDE], samples[rungs.HANDICAP]
    if len(tried[0].ps_bytes) == len(asked[0].ps_bytes):
        return _response("the PS links at half their rate", asked, tried, exchange_s, threshold)
    left = _hottest(tried[0]) / _hottest(asked[0])
    return _response("one more PS, sharded", asked, tried, -exchange_s * (1 - left), threshold)


def _hottest(sample: Sample) -> Ratio:
    return max(sample.ps_bytes) / sum(sample.ps_bytes)


def _response(
    what: str, asked: Sequence[Sample], tried: Sequence[Sample], change_s: Second, threshold: Ratio
) -> Handicap:
    """Whether the step moved the way it should, beyond this cluster's noise and by at least half as much."""
    rounds = min(len(tried), len(asked))
    steps, before = [each.step_s for each in tried[:rounds]], [each.step_s for each in asked[:rounds]]
    measured, interval = ratio(steps, before, paired=True), ratio_interval(steps, before, paired=True)
    base = median(before)
    expected = max(0.01, (base + change_s) / base)
    share = log(measured) / log(expected) if expected != 1 else 0.0
    return Handicap(what, expected, measured, interval, abs(log(measured)) > log(1 + threshold) and share > RESPONSE)


def rate(batch: float, exchange_s: Second, image_s: Second, workers: int) -> float:
    """Images/s of `workers` that compute an image in `image_s` and then exchange: N B / (B c_n + E)."""
    return workers * batch / (batch * image_s + exchange_s)


def break_even_batch(
    exchange_s: Second, local_image_s: Second, shared_image_s: Second, workers: int, gain: Ratio = 1.0
) -> float | None:
    """The smallest batch per worker at which `workers` are `gain` times as fast as one; None where no batch is.

    rate(B) > g / c_1  <=>  B > g E / (N c_1 - g c_n), with E the seconds that the exchange adds to a step, c_1 and
    c_n the seconds an image takes alone and beside the other workers.
    """
    spare = workers * local_image_s - gain * shared_image_s
    return gain * max(0.0, exchange_s) / spare if spare > 0 else None
