"""Every error that hvdbench raises on purpose, and the exit code that each one ends with.

    HvdbenchError
    |- RunError             1  the measurement failed or is invalid
    |- UsageError           2  the request makes no sense
       |- NotComparableError   2  the records differ in more than the strategy

Messages are one line: the fact, the conflict, the remedy.
"""

from __future__ import annotations


class HvdbenchError(Exception):
    """Base of all deliberate errors; `exit_code` is what the process ends with."""

    exit_code = 1


class RunError(HvdbenchError):
    """The measurement failed or its result cannot be trusted."""


class UsageError(HvdbenchError):
    """The request is wrong and nothing was started."""

    exit_code = 2


class NotComparableError(UsageError):
    """Records differ in something other than the strategy."""
