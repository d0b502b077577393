"""Names for units, and every number that hvdbench shows becomes text here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

Second: TypeAlias = float
Byte: TypeAlias = int
BytePerSecond: TypeAlias = float
ImagePerSecond: TypeAlias = float
Ratio: TypeAlias = float
Interval: TypeAlias = tuple[float, float]

ABSENT = "-"


def images_per_s_text(value: ImagePerSecond) -> str:
    """Images per second with one decimal, below 10 with three significant digits."""
    return f"{value:.1f}" if value >= 10 else f"{value:#.3g}"


def ratio_text(value: Ratio) -> str:
    """A ratio such as 0.48x."""
    return f"{value:.2f}x"


def share_text(value: Ratio | None) -> str:
    """A share as whole percent such as 65 %, or a dash for None."""
    return ABSENT if value is None else f"{100 * value:.0f} %"


def interval_text(interval: Interval | None, text: Callable[[float], str]) -> str:
    """Both ends of an interval, or a dash where there are too few launches for one."""
    return ABSENT if interval is None else f"{text(interval[0])} .. {text(interval[1])}"


def bracket_text(interval: Interval) -> str:
    """An interval of ratios inside a sentence, such as [0.45, 0.51]."""
    return f"[{interval[0]:.2f}, {interval[1]:.2f}]"


def bytes_text(value: float) -> str:
    """Bytes in decimal units, such as 244.4 MB."""
    for limit, unit in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if value >= limit:
            return f"{value / limit:.1f} {unit}"
    return f"{value:.0f} B"


def flops_text(value: float) -> str:
    """Floating-point operations in decimal units, such as 4.15 GFLOP."""
    for limit, unit in ((1e9, "GFLOP"), (1e6, "MFLOP")):
        if value >= limit:
            return f"{value / limit:.2f} {unit}"
    return f"{value:.0f} FLOP"


def ms_text(value: Second) -> str:
    """Seconds as milliseconds without the unit: whole from 100 on, else three digits, two of them decimals at most."""
    return f"{1000 * value:.0f}" if value >= 0.1 else f"{round(1000 * value, 2):.3g}"


def percent_text(value: Ratio) -> str:
    """A small share with one decimal, such as 3.2 %."""
    return f"{100 * value:.1f} %"


def p_text(value: float) -> str:
    """A p-value with two significant digits."""
    return f"{value:.2g}"


def aligned(rows: Sequence[Sequence[str]], justify: Callable[[str, int], str]) -> list[str]:
    """One line a row, every column as wide as its widest cell; `justify` is str.ljust or str.rjust."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(map(justify, row, widths)).rstrip() for row in rows]
