"""What a placement does to the PS tasks and their NICs, computed before anything runs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from hvdbench import models
from hvdbench.errors import UsageError
from hvdbench.models.spec import Variable
from hvdbench.strategies import placement, wire
from hvdbench.units import aligned, bytes_text, share_text

FLOAT32_BYTES = 4
# From here on the hottest PS visibly sets the pace (C08).
UNBALANCED = 1.5


@dataclass(frozen=True)
class PsLoad:
    """One PS: its variables (or parts), their bytes, and the bytes its NIC sends, and receives, per step."""

    ps: int
    variables: tuple[str, ...]
    bytes: int
    nic_bytes_per_step: int


@dataclass(frozen=True)
class Plan:
    """One placement; `hottest_share` is the largest fraction of all bytes on one PS, `max_over_mean` its load
    over the mean load; `worker_nic_bytes_per_step` is per direction, with one task a host.
    """

    placement: str
    hottest_share: float
    max_over_mean: float
    ps: tuple[PsLoad, ...]
    worker_nic_bytes_per_step: int


def plan(variables: Sequence[Variable], ps: int, workers: int, policy: str) -> Plan:
    """The load that `policy` puts on each of `ps` PS tasks with `workers` workers, parameters in float32.

    Formulas: strategies/wire.py. Raises UsageError on counts below one or an unknown policy.
    """
    if ps < 1 or workers < 1:
        raise UsageError(f"--ps is {ps} and --workers is {workers}; at least one of each is needed")
    pieces = placement.assign(variables, ps, policy)
    loads = [elements * FLOAT32_BYTES for elements in placement.elements_per_ps(pieces, ps)]
    return Plan(
        policy,
        max(loads) / sum(loads),
        max(loads) / (sum(loads) / ps),
        tuple(
            PsLoad(
                index,
                tuple(piece.name for piece in pieces if piece.ps == index),
                load,
                wire.ps_star_bytes(load, workers),
            )
            for index, load in enumerate(loads)
        ),
        wire.worker_star_bytes(sum(loads)),
    )


def advice(variables: Sequence[Variable], plans: dict[str, Plan], chosen: str) -> str | None:
    """What to do about the chosen placement, or None when its hottest PS is within 1.5 of the mean (C08)."""
    mine = plans[chosen]
    if mine.max_over_mean <= UNBALANCED:
        return None
    largest = max(variables, key=lambda variable: variable.elements)
    total = sum(variable.elements for variable in variables)
    warning = f"the hottest PS holds {mine.max_over_mean:.2f} times the mean load under {chosen}"
    if largest.elements > total / len(mine.ps):
        return (
            f"{warning} and {largest.name} alone is {share_text(largest.elements / total)} of all bytes, more than "
            f"one PS's part: no whole placement can balance it, use --placement {placement.SHARDED}"
        )
    best = min(plans.values(), key=lambda each: (round(each.max_over_mean, 2), each.placement != placement.GREEDY))
    return f"{warning}; --placement {best.placement} brings it to {best.max_over_mean:.2f}"


def render(model: str, ps: int, workers: int, chosen: str, form: str) -> str:
    """The plan of one model as `table` or `json`; json holds every placement, the chosen one at the top."""
    variables = models.spec(model).variables()
    mine = plan(variables, ps, workers, chosen)
    plans = {policy: plan(variables, ps, workers, policy) for policy in placement.POLICIES}
    recommended = advice(variables, plans, chosen)
    if form == "json":
        head = {"model": model, "ps_tasks": ps, "workers": workers, **asdict(mine), "recommendation": recommended}
        every = {name: asdict(each) for name, each in plans.items()}
        return json.dumps(
            head | {"ring_nic_bytes_per_step": _ring(mine, workers), "dtype": "float32", "placements": every}, indent=1
        )
    return "\n".join(_table(model, workers, mine, plans, recommended))


def _ring(mine: Plan, workers: int) -> int:
    return round(wire.ring_bytes(mine.worker_nic_bytes_per_step, workers))


def _table(model: str, workers: int, mine: Plan, plans: dict[str, Plan], recommended: str | None) -> list[str]:
    ps = len(mine.ps)
    rows = [("PS", "variables", "bytes", "share", "NIC bytes/step, each way")]
    total = sum(load.bytes for load in mine.ps)
    for load in mine.ps:
        share = share_text(load.bytes / total)
        cells = (str(load.ps), str(len(load.variables)), bytes_text(load.bytes), share)
        rows.append((*cells, bytes_text(load.nic_bytes_per_step)))
    lines = [f"{model}, {ps} PS and {workers} workers, {mine.placement}, float32 (computed, one task a host)", ""]
    lines += aligned(rows, str.rjust)
    lines += [
        "",
        f"hottest share {share_text(mine.hottest_share)}, max/mean {mine.max_over_mean:.2f}; "
        f"each worker's NIC {bytes_text(mine.worker_nic_bytes_per_step)} a step, each way",
        f"a ring all-reduce of the same parameters: {bytes_text(_ring(mine, workers))} a step and rank, each way",
        "max/mean by placement: " + ", ".join(f"{name} {each.max_over_mean:.2f}" for name, each in plans.items()),
    ]
    return [*lines, f"warning: {recommended}"] if recommended else lines
