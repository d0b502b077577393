"""Efficiency beside images/s: a slow baseline flatters it (C06)."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import TypeAlias

from hvdbench.units import ImagePerSecond, Ratio, images_per_s_text, share_text

Series: TypeAlias = Mapping[int, ImagePerSecond]

# Below it two rates or efficiencies are shown as the same figure.
NOTICEABLE: Ratio = 0.02


def efficiency(series: Series, workers: int) -> Ratio:
    """Images/s of `workers` workers over as many times the series' own one-worker rate."""
    return series[workers] / (workers * series[1])


def ranking(series: Mapping[str, Series], workers: int) -> list[str]:
    """The names measured with `workers` workers, most images/s first."""
    found = [name for name in series if workers in series[name]]
    return sorted(found, key=lambda name: -series[name][workers])


def efficiency_warning(series: Mapping[str, Series]) -> str | None:
    """What to beware of when efficiency would rank two series against their images/s, or None.

    `series` maps a name to images/s by number of workers; one without a one-worker rate has no efficiency.
    """
    known = {name: rates for name, rates in series.items() if 1 in rates}
    counts = sorted({workers for rates in known.values() for workers in rates if workers > 1})
    reversed_pairs = [
        (workers, faster, slower)
        for workers in counts
        for faster, slower in combinations(ranking(known, workers), 2)
        if _reversed(known[faster], known[slower], workers)
    ]
    if not reversed_pairs:
        return None
    workers, faster, slower = max(reversed_pairs, key=lambda each: _gap(known, *each))
    fast, slow = known[faster], known[slower]
    order = "; ".join(f"{count} workers: {', '.join(ranking(known, count))}" for count in counts)
    return (
        f"efficiency ranks by how slow the one-worker baseline is: with {workers} workers {slower} looks better "
        f"({share_text(efficiency(slow, workers))} against {share_text(efficiency(fast, workers))}) but {faster} is "
        f"faster ({images_per_s_text(fast[workers])} against {images_per_s_text(slow[workers])} images/s); "
        f"one worker makes {images_per_s_text(slow[1])} against {images_per_s_text(fast[1])}. By images/s: {order}"
    )


def _reversed(fast: Series, slow: Series, workers: int) -> bool:
    apart = fast[workers] > (1 + NOTICEABLE) * slow[workers]
    return apart and efficiency(slow, workers) > (1 + NOTICEABLE) * efficiency(fast, workers)


def _gap(series: Mapping[str, Series], workers: int, faster: str, slower: str) -> Ratio:
    return efficiency(series[slower], workers) / efficiency(series[faster], workers)
