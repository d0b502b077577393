"""Whether poor scaling may be blamed on the parameter server: only when all-reduce of the same graph does better."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hvdbench.compare.efficiency import Series, efficiency
from hvdbench.strategies import wire
from hvdbench.units import Byte, Interval, Ratio, bracket_text, bytes_text, flops_text, share_text

# Published AlexNet at 55 % is called poor and ResNet-50 at 90 % good (C05); this is about halfway.
POOR: Ratio = 0.75

NOTHING = "not enough data on scaling: neither a star nor a ring was measured with several workers beside one"


def scaling_sentence(star: Series, ring: Series, advantage: Interval | None = None) -> str:
    """What the scaling of a star and a ring on one graph says of the cause; both map workers to images/s.

    `advantage` is the 95 % interval of ring over star with the most workers that both have; the star is
    only called the cause when it lies above 1.
    """
    workers = _most_workers(star, ring)
    if workers is None:
        return NOTHING
    stars, rings = (efficiency(series, workers) if _reaches(series, workers) else None for series in (star, ring))
    reached = f"with {workers} workers the star reaches {share_text(stars)} and the ring {share_text(rings)} of linear"
    if stars is None or rings is None:
        return _one_side(stars, rings, workers)
    if stars >= POOR:
        return f"the star is no bottleneck: {reached}"
    if rings < POOR:
        return f"the model is communication bound under both strategies: {reached}{_still(advantage)}"
    if advantage is None or advantage[0] <= 1:
        return f"no cause is shown: {reached}, but the launches do not settle that the ring is faster"
    return f"PS is the cause: {reached}, ring over star {bracket_text(advantage)}"


def image_bytes(param_bytes: Byte, batch_size: int) -> float:
    """Bytes that a worker under a PS sends and receives per image; a ring of N moves 2(N-1)/N times as many.

    Formula: 2 * param_bytes / batch_size, one pull and one push a step (strategies/wire.py).
    """
    return 2 * wire.worker_star_bytes(param_bytes) / batch_size


def traffic_note(graph: Mapping[str, Any], batch_size: int) -> str | None:
    """Bytes and compute per image of one graph, or None where its record does not say."""
    if "param_bytes" not in graph or "train_flops_per_image" not in graph:
        return None
    moved, computed = image_bytes(graph["param_bytes"], batch_size), graph["train_flops_per_image"]
    return (
        f"each worker moves {bytes_text(moved)} and computes {flops_text(computed)} per image (2 x parameter bytes "
        f"/ batch {batch_size}, the pull and push of a PS; a ring of N moves 2(N-1)/N times as much)"
    )


def _reaches(series: Series, workers: int) -> bool:
    return 1 in series and workers in series


def _most_workers(star: Series, ring: Series) -> int | None:
    """The largest number above one that both series have, or else that either has."""
    counts = [{count for count in series if count > 1 and 1 in series} for series in (star, ring)]
    return max(counts[0] & counts[1] or counts[0] | counts[1], default=None)


def _one_side(star: Ratio | None, ring: Ratio | None, workers: int) -> str:
    name, found, other = ("star", star, "ring") if ring is None else ("ring", ring, "star")
    reached = f"with {workers} workers the {name} reaches {share_text(found)} of linear"
    if found is not None and found >= POOR:
        return f"the {name} is no bottleneck: {reached}"
    return f"the model is communication bound under a {name}: {reached}; run a {other} before naming a cause"


def _still(advantage: Interval | None) -> str:
    if advantage is None or advantage[0] <= 1 <= advantage[1]:
        return ""
    return f"; the {'star' if advantage[0] > 1 else 'ring'} costs more, ring over star {bracket_text(advantage)}"
