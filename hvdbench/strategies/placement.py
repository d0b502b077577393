"""Which PS holds which variable: three policies over plain data, the same for `plan` and for the graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from hvdbench.errors import UsageError
from hvdbench.models.spec import Variable

ROUND_ROBIN, GREEDY, SHARDED = "round_robin", "greedy", "sharded"

# A variable above this share of one PS's mean load is cut: what stays whole can then unbalance little.
WHOLE_SHARE = 1 / 40


@dataclass(frozen=True)
class Piece:
    """A variable, or rows `begin` to `end` of its axis `axis`, on one PS; `part` is None for a whole one."""

    variable: str
    shape: tuple[int, ...]
    ps: int
    part: int | None = None
    axis: int = 0
    begin: int = 0

    @property
    def name(self) -> str:
        return self.variable if self.part is None else f"{self.variable}/part_{self.part}"

    @property
    def elements(self) -> int:
        return prod(self.shape)


def assign(variables: Sequence[Variable], ps: int, policy: str) -> tuple[Piece, ...]:
    """Every variable's pieces in creation order; raises UsageError on an unknown policy.

    `round_robin` counts variables, as TensorFlow's replica_device_setter does; `greedy` puts each on the PS
    with the fewest elements so far, as tf.contrib's GreedyLoadBalancingStrategy with byte sizes did; `sharded`
    cuts large variables along their longest axis over all PS, as a fixed-size partitioner, and places the
    rest greedily.
    """
    if policy not in POLICIES:
        raise UsageError(f"--placement {policy!r} is unknown; choose one of {', '.join(POLICIES)}")
    return POLICIES[policy](variables, ps)


def elements_per_ps(pieces: Sequence[Piece], ps: int) -> tuple[int, ...]:
    """The number of parameters on each PS."""
    load = [0] * ps
    for piece in pieces:
        load[piece.ps] += piece.elements
    return tuple(load)


def _round_robin(variables: Sequence[Variable], ps: int) -> tuple[Piece, ...]:
    return tuple(Piece(each.name, each.shape, index % ps) for index, each in enumerate(variables))


def _greedy(variables: Sequence[Variable], ps: int) -> tuple[Piece, ...]:
    load, found = [0] * ps, []
    for each in variables:
        target = load.index(min(load))
        load[target] += each.elements
        found.append(Piece(each.name, each.shape, target))
    return tuple(found)


def _sharded(variables: Sequence[Variable], ps: int) -> tuple[Piece, ...]:
    limit = sum(each.elements for each in variables) / ps * WHOLE_SHARE
    load = [0] * ps
    pieces: dict[str, list[Piece]] = {}
    # The largest first, so that small ones even out what the cuts leave; order of creation is kept below.
    for each in sorted(variables, key=lambda variable: -variable.elements):
        cut = _cut(each, ps) if ps > 1 and each.elements > limit else [Piece(each.name, each.shape, 0)]
        # Longest part to the emptiest PS, each PS at most once while there are parts enough.
        free = sorted(range(ps), key=lambda index: (load[index], index))
        pieces[each.name] = [Piece(p.variable, p.shape, free[i], p.part, p.axis, p.begin) for i, p in enumerate(cut)]
        for piece in pieces[each.name]:
            load[piece.ps] += piece.elements
    return tuple(piece for each in variables for piece in pieces[each.name])


def _cut(variable: Variable, parts: int) -> list[Piece]:
    axis = variable.shape.index(max(variable.shape))
    rows = variable.shape[axis]
    parts = min(parts, rows)
    sizes = [rows // parts + (index < rows % parts) for index in range(parts)]
    found, begin = [], 0
    for part, size in enumerate(sizes):
        shape = (*variable.shape[:axis], size, *variable.shape[axis + 1 :])
        found.append(Piece(variable.name, shape, 0, part, axis, begin))
        begin += size
    return found


POLICIES = {ROUND_ROBIN: _round_robin, GREEDY: _greedy, SHARDED: _sharded}
