"""Every number that hvdbench shows becomes text here."""

from __future__ import annotations

from collections.abc import Callable


def images_per_s_text(value: float) -> str:
    """Images per second with three significant digits or one decimal."""
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def ratio_text(value: float) -> str:
    """A ratio such as 0.48x."""
    return f"{value:.2f}x"


def interval_text(interval: tuple[float, float] | None, text: Callable[[float], str]) -> str:
    """Both ends of an interval, or a dash where there are too few launches for one."""
    return "-" if interval is None else f"{text(interval[0])} .. {text(interval[1])}"
