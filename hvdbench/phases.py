"""Where the time of every step went: own compute, waiting for the slowest, exchange; pure arithmetic on stamps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

# Places in the vector that marks.Stamps builds.
STARTED, READY, SENT, RECEIVED, LAYERS = range(5)


@dataclass(frozen=True)
class Marks:
    """One step of one worker, seconds on its host's real-time clock.

    begun: the step begins; called: after an asked-for delay, the session is called; started: the graph runs;
    ready: its own gradients are computed; sent: its part of the exchange is done; received: the mean gradient
    (or, under a PS, the next token) is here; ended: the session returned. `blocked_s` is how long the forward
    pass stood still for variables that were still on their way.
    """

    begun: float
    called: float
    started: float
    blocked_s: float
    ready: float
    sent: float
    received: float
    ended: float

    def shifted(self, by_s: float) -> Marks:
        """The same moments on a clock that shows `by_s` more."""
        return Marks(**{name: value + (0 if name == "blocked_s" else by_s) for name, value in asdict(self).items()})


@dataclass(frozen=True)
class Phases:
    """One step of one worker in seconds; the four add up to ended - begun."""

    input_s: float
    compute_s: float
    wait_s: float
    exchange_s: float


def read_stamps(stamps: Sequence[float], pulls: bool, begun: float, called: float, ended: float) -> Marks:
    """Marks from the graph's stamps and the loop's own; under a PS (`pulls`) the token ends the exchange."""
    layers = stamps[LAYERS:]
    half = len(layers) // 2
    blocked_s = blocked(stamps[STARTED], layers[:half], layers[half:]) if pulls else 0.0
    received = ended if pulls else stamps[RECEIVED]
    return Marks(begun, called, stamps[STARTED], blocked_s, stamps[READY], stamps[SENT], received, ended)


def blocked(started: float, arrivals: Sequence[float], inputs: Sequence[float]) -> float:
    """Seconds in which a layer had its input but not its variables: sum of max(0, arrival - max(started, input)).

    What arrives under the computation of earlier layers costs nothing and is not counted.
    """
    return sum(max(0.0, here - max(started, ready)) for here, ready in zip(arrivals, inputs, strict=True))


def split(steps: Sequence[Marks]) -> list[Phases]:
    """The phases of one step of all workers together, whose marks are on one clock.

    wait = time from the end of a worker's own part to the end of the slowest one's (never beyond its own
    receipt); exchange = blocked + (sent - ready) + (received - sent - wait); input = started - called;
    compute = everything else.
    """
    slowest = max(marks.sent for marks in steps)
    return [_split_one(marks, slowest) for marks in steps]


def split_alone(marks: Marks) -> Phases:
    """The phases of a worker that waits for nobody."""
    return _split_one(marks, marks.sent)


def _split_one(marks: Marks, slowest: float) -> Phases:
    wait = min(max(0.0, slowest - marks.sent), max(0.0, marks.received - marks.sent))
    exchange = marks.blocked_s + (marks.sent - marks.ready) + max(0.0, marks.received - marks.sent - wait)
    given = marks.started - marks.called
    return Phases(given, marks.ended - marks.begun - given - wait - exchange, wait, exchange)


def clock_offsets(entered: Sequence[Sequence[float]], left: Sequence[Sequence[float]]) -> list[tuple[float, float]]:
    """How far each worker's clock is ahead of worker 0's, with the uncertainty, both in seconds.

    `entered[w][k]` and `left[w][k]` are worker w's readings before and after barrier k. Nobody leaves a
    barrier before everybody has entered it, so entered_w - left_0 <= offset <= left_w - entered_0 for every
    k; the estimate is the middle of what all barriers leave open, the uncertainty half of its width.
    Formula: the causality bound of Duda et al., ICDCS 1987, as in NTP.
    """
    found = []
    for mine_in, mine_out in zip(entered, left, strict=True):
        low = max(a - b for a, b in zip(mine_in, left[0], strict=True))
        high = min(a - b for a, b in zip(mine_out, entered[0], strict=True))
        found.append(((low + high) / 2, (high - low) / 2))
    return found


def phases_of(
    marks: Sequence[Sequence[Marks]], offsets_s: Sequence[float], bulk_synchronous: bool, waits: bool
) -> dict[str, Any]:
    """Per worker and step `input_s`, `compute_s`, `wait_s` and `exchange_s`.

    Without bulk synchrony the steps of the workers do not belong together: `wait_s` and `exchange_s` are then
    None where workers wait for each other at all (`waits`).
    """
    one_clock = [[each.shifted(-offset) for each in mine] for mine, offset in zip(marks, offsets_s, strict=True)]
    if bulk_synchronous:
        steps = [split(step) for step in zip(*one_clock, strict=True)]
        rows = [list(row) for row in zip(*steps, strict=True)]
    else:
        rows = [[split_alone(each) for each in mine] for mine in one_clock]
    names = ("input_s", "compute_s", "wait_s", "exchange_s")
    found: dict[str, Any] = {name: [[getattr(each, name) for each in row] for row in rows] for name in names}
    if not bulk_synchronous and waits:
        found |= {"wait_s": None, "exchange_s": None}
    return found
