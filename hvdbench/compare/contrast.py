"""One arm against another: ratio, interval, rank test, and the sentence that dares to say no more than they do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hvdbench.compare import stats
from hvdbench.compare.arms import Arms, rates
from hvdbench.record.schema import Record
from hvdbench.units import Interval, Ratio, bracket_text, p_text, percent_text, ratio_text


@dataclass(frozen=True)
class Contrast:
    """The ratio of one arm's images/s to another's, over interleaved rounds when `paired`.

    `p` and `effect` (Cliff's delta) are None where no test could be significant. `more_launches` a side
    would settle whether the two differ: 0 when it is settled, None when it takes more than 100.
    """

    name: str
    reference: str
    launches: tuple[int, int]
    paired: bool
    ratio: Ratio
    interval: Interval | None
    p: float | None
    effect: float | None
    more_launches: int | None


def contrast(name: str, reference: str, arms: Arms) -> Contrast:
    """The arm `name` against the arm `reference`; against itself there is neither interval nor test."""
    counts = (len(arms[name]), len(arms[reference]))
    if name == reference:
        return Contrast(name, reference, counts, False, 1.0, None, None, None, 0)
    mine, theirs = rates(arms[name]), rates(arms[reference])
    paired = interleaved(arms[name], arms[reference])
    interval = stats.ratio_interval(mine, theirs, paired)
    test = stats.rank_test(mine, theirs)
    settled = interval is not None and test is not None and _settled(interval, test.p, counts[0] if paired else 0)
    return Contrast(
        name,
        reference,
        counts,
        paired,
        stats.ratio(mine, theirs, paired),
        interval,
        None if test is None else test.p,
        None if test is None else test.delta,
        0 if settled else stats.launches_to_settle(mine, theirs, paired),
    )


def interleaved(first: Sequence[Record], second: Sequence[Record]) -> bool:
    """Whether launch i of both ran in round i, of two rounds or more: each ends before the next one starts."""
    if len(first) != len(second) or len(first) < 2:
        return False
    rounds = [sorted((a.started_utc, b.started_utc)) for a, b in zip(first, second, strict=True)]
    return all(one[1] < following[0] for one, following in zip(rounds, rounds[1:], strict=False))


def sentence(contrast: Contrast) -> str:
    """One contrast in plain words, claiming significance only where a test could have found none."""
    span = "" if contrast.interval is None else f" {bracket_text(contrast.interval)}"
    text = f"{contrast.name} runs at {ratio_text(contrast.ratio)}{span} of {contrast.reference}"
    return f"{text} ({_launches(contrast)}); {_verdict(contrast)}{_outlook(contrast)}."


def _settled(interval: Interval, p: float, rounds: int) -> bool:
    # A drift of the machine spreads both sides but not the ratios of its rounds: enough rounds know more than ranks.
    enough = stats.span_coverage(rounds) >= stats.CONFIDENCE
    return not interval[0] <= 1 <= interval[1] and (enough or p < stats.ALPHA)


def _launches(contrast: Contrast) -> str:
    first, second = contrast.launches
    if contrast.paired:
        return f"{first} interleaved rounds"
    return "1 launch each" if first == second == 1 else f"{first} and {second} launches, not interleaved"


def _verdict(contrast: Contrast) -> str:
    if contrast.interval is None:
        return "too few launches for an interval"
    if contrast.p is None or contrast.effect is None:
        return f"too few launches to reach p < {stats.ALPHA}"
    test = f"Mann-Whitney p = {p_text(contrast.p)}, Cliff's delta = {contrast.effect:.2f}"
    if contrast.p < stats.ALPHA:
        return f"a significant difference ({test})"
    if contrast.more_launches == 0:
        return f"the rounds agree, though ranks that ignore them show no significant difference ({test})"
    return f"no significant difference ({test})"


def _outlook(contrast: Contrast) -> str:
    more = contrast.more_launches
    if more == 0:
        return ""
    if more is None:
        within = percent_text(max(abs(end - 1) for end in contrast.interval or (1.0,)))
        return (
            f"; it takes over {stats.MOST_LAUNCHES} more launches a side to settle it: treat as equal within {within}"
        )
    # Below what the test needs the spread was not asked, or asked for less.
    least = "at least" if contrast.p is None and more == stats.launches_missing(*contrast.launches) else "about"
    return f"; it takes {least} {more} more {'launch' if more == 1 else 'launches'} a side to settle it"
