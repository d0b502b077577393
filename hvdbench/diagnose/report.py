"""A diagnosis as text or JSON, the same content in both."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

from hvdbench.compare.stats import median_interval
from hvdbench.diagnose import words
from hvdbench.diagnose.binding import Binding, binding
from hvdbench.diagnose.evidence import Samples
from hvdbench.diagnose.rungs import Rung
from hvdbench.diagnose.square import Square
from hvdbench.diagnose.verdict import Verdict, judge
from hvdbench.units import ABSENT, aligned, bytes_text, images_per_s_text, percent_text, share_text


@dataclass(frozen=True)
class Diagnosis:
    """The verdict with what it rests on; `left_out` are (rung, reason), `folder` where the records are."""

    verdict: Verdict
    binding: Binding
    paragraph: str
    rungs: tuple[Rung, ...]
    left_out: tuple[tuple[str, str], ...]
    samples: Samples
    workers: int
    batch_size: int
    loopback: bool
    folder: str


def diagnosis(
    samples: Samples,
    ladder: Sequence[Rung],
    left_out: Sequence[tuple[str, str]],
    workers: int,
    batch_size: int,
    loopback: bool,
    folder: str,
) -> Diagnosis:
    """Judge the launches; raises ValueError when a rung has none."""
    found = judge(samples, workers, batch_size)
    binds = binding(samples, found.exchange_s)
    return Diagnosis(
        found,
        binds,
        words.paragraph(found, binds, samples, workers, batch_size),
        tuple(ladder),
        tuple(left_out),
        samples,
        workers,
        batch_size,
        loopback,
        folder,
    )


def render(found: Diagnosis, format: str) -> str:
    """The diagnosis in the asked format, `table` or `json`."""
    return json.dumps(_json(found), indent=1) if format == "json" else _text(found)


def _json(found: Diagnosis) -> dict[str, Any]:
    divided = asdict(found.verdict)
    divided["loss"]["residual_s"] = found.verdict.loss.residual_s
    if found.verdict.square is not None:
        divided["square"]["cells"] = [
            {"topology": topology, "transport": transport, "step_s": step_s}
            for (topology, transport), step_s in found.verdict.square.cells.items()
        ]
    return {
        "paragraph": found.paragraph,
        "verdict": divided,
        "binding": asdict(found.binding),
        "rungs": [_rung(found, rung) for rung in found.rungs],
        "left_out": [{"rung": rung, "reason": reason} for rung, reason in found.left_out],
        "loopback": found.loopback,
        "folder": found.folder,
    }


def _rung(found: Diagnosis, rung: Rung) -> dict[str, Any]:
    samples = found.samples[rung.key]
    steps = [each.step_s for each in samples]
    return {
        "rung": rung.key,
        "title": rung.title,
        "launches": len(steps),
        "step_s": median(steps),
        "step_s_interval": median_interval(steps),
        "images_per_s": None if rung.compute == "none" else rung.workers * found.batch_size / median(steps),
        "hottest_host": samples[0].hottest_host,
        "hottest_bytes": samples[0].hottest_bytes,
        "moving_share": samples[0].moving_share,
    }


def _text(found: Diagnosis) -> str:
    blocks = [found.paragraph, _rung_table(found), _part_table(found)]
    if found.verdict.square is not None:
        blocks.append(_square_block(found.verdict.square))
    blocks.append(_alarm_line(found.verdict))
    if found.loopback:
        blocks.append("All tasks ran on one host: traffic is loopback, and tasks share its cores.")
    blocks += ["\n".join(f"left out: {rung}: {why}" for rung, why in found.left_out), f"records in {found.folder}"]
    return "\n\n".join(block for block in blocks if block)


def _table(rows: Sequence[Sequence[str]]) -> str:
    return "\n".join(aligned(rows, str.ljust))


def _rung_table(found: Diagnosis) -> str:
    rows = [("rung", "launches", "s a step", "95 % interval", "images/s", "hottest link moves a step", "of TCP")]
    for each in (_rung(found, rung) for rung in found.rungs):
        interval = each["step_s_interval"]
        rows.append(
            (
                each["title"],
                str(each["launches"]),
                f"{each['step_s']:.3f}",
                ABSENT if interval is None else f"{interval[0]:.3f} .. {interval[1]:.3f}",
                ABSENT if each["images_per_s"] is None else images_per_s_text(each["images_per_s"]),
                ABSENT if each["hottest_bytes"] is None else bytes_text(each["hottest_bytes"]),
                share_text(each["moving_share"]),
            )
        )
    return _table(rows)


def _part_table(found: Diagnosis) -> str:
    divided = found.verdict.loss
    rows = [("cause", "s a step", "95 % interval", "of the loss", "measured as")]
    for part in divided.parts:
        share = share_text(part.seconds / divided.seconds) if divided.seconds > 0 else ABSENT
        interval = ABSENT if part.interval is None else f"{part.interval[0]:.3f} .. {part.interval[1]:.3f}"
        rows.append((part.cause, f"{part.seconds:.3f}", interval, share, part.formula))
    share = share_text(divided.residual_s / divided.seconds) if divided.seconds > 0 else ABSENT
    rows.append(("residual", f"{divided.residual_s:.3f}", ABSENT, share, "loss - sum of the parts' medians"))
    rows.append(("loss", f"{divided.seconds:.3f}", ABSENT, ABSENT, "asked - local"))
    return _table(rows)


def _square_block(square: Square) -> str:
    rows: list[tuple[str, ...]] = [("s a step", "gRPC", "MPI")]
    for topology in ("star", "ring"):
        rows.append((topology, *(f"{square.cells[topology, transport]:.3f}" for transport in ("grpc", "mpi"))))
    low, high = square.interaction.log_interval
    clear = "clear of the noise" if square.interaction.clear else "not clear of the noise"
    return "\n".join(
        [
            _table(rows),
            words.effect_sentence("star to ring", "transport", square.topology),
            words.effect_sentence("gRPC to MPI", "topology", square.transport),
            f"Interaction {square.interaction.log:+.2f} [{low:+.2f}, {high:+.2f}] on the logarithm, {clear}.",
        ]
    )


def _alarm_line(found: Verdict) -> str:
    if found.alarms is None:
        return (
            f"Differences below {percent_text(found.threshold)} are not believed; --again measures this cluster's own."
        )
    rate, least = percent_text(found.alarms.rate), percent_text(found.threshold)
    return (
        f"The asked arm against itself: ratio {found.alarms.observed:.3f}, false alarms in {rate} of random halves; "
        f"differences below {least} are not believed."
    )
