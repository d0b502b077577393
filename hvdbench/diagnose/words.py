"""The verdict in one paragraph, every sentence from its numbers."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil

from hvdbench.diagnose import binding, loss, rungs, verdict
from hvdbench.diagnose.binding import Binding
from hvdbench.diagnose.evidence import Samples
from hvdbench.diagnose.loss import Loss
from hvdbench.diagnose.square import Effect
from hvdbench.diagnose.verdict import Verdict
from hvdbench.units import Interval, bytes_text, images_per_s_text, ratio_text, share_text

ANSWER: Mapping[str, str] = {
    verdict.NOT_ENOUGH: "Not enough launches for a verdict: at least three rounds are needed.",
    verdict.NOTHING: "The parameter server is acquitted: there is no loss to explain.",
    verdict.UNDECIDED: "No verdict: no cause is both large and clear of the noise.",
    verdict.SLOW_LINK: "It is one slow link, not the parameter server.",
    verdict.COMMUNICATION: "It is not the parameter server: the model is communication bound under star and ring.",
    verdict.TOPOLOGY: "It is the parameter server's topology: a ring on the same hosts does better.",
    loss.TRANSPORT: "It is the transport: gRPC between worker and PS.",
    loss.INPUT: "It is not the parameter server: the input path explains most of the loss.",
    loss.SESSION: "It is not the parameter server: the gRPC session alone explains most of the loss.",
    loss.SHARED_HOST: "It is not the parameter server: the workers take each other's cores.",
    loss.SYNCHRONISATION: "It is synchronisation: tokens and the queue of SyncReplicasOptimizer.",
    loss.STRAGGLER: "It is not the parameter server: one worker is slow and the others wait.",
    loss.PLACEMENT: "It is the placement: variables lie unevenly on the PS.",
}


def s_text(seconds: float) -> str:
    """Seconds with three decimals."""
    return f"{seconds:.3f} s"


def between(interval: Interval | None) -> str:
    """An interval of seconds behind a number, or why there is none."""
    return " [no interval below 3 launches]" if interval is None else f" [{interval[0]:.3f}, {interval[1]:.3f}]"


def paragraph(found: Verdict, binds: Binding, samples: Samples, workers: int, batch_size: int) -> str:
    """The whole verdict: answer, loss, parts, star against ring, what binds, causality, advice, break-even."""
    divided = found.loss
    sentences = [
        ANSWER[found.cause],
        loss_sentence(divided, workers, batch_size),
        parts_sentence(divided),
        _ring_sentence(found),
        binding_sentence(binds),
        _handicap_sentence(found),
        _slow_sentence(found, samples),
        advice(found, samples, workers, batch_size),
        break_even_sentence(found, workers, batch_size),
    ]
    return " ".join(sentence for sentence in sentences if sentence)


def loss_sentence(divided: Loss, workers: int, batch_size: int) -> str:
    """What is lost against `workers` local ones, in images/s and seconds a step."""
    ideal, real = workers * batch_size / divided.local_s, workers * batch_size / divided.asked_s
    rounds = f"{divided.rounds} round{'s' if divided.rounds > 1 else ''}"
    return (
        f"A step of the asked job takes {s_text(divided.asked_s)} against {s_text(divided.local_s)} locally, "
        f"{s_text(divided.seconds)}{between(divided.interval)} lost; {images_per_s_text(real)} images/s where "
        f"{workers} x local would be {images_per_s_text(ideal)} ({rounds})."
    )


def parts_sentence(divided: Loss) -> str:
    """How the loss divides, largest first, with the residual."""
    parts = sorted(divided.parts, key=lambda part: -part.seconds)
    said = [f"{part.cause} {s_text(part.seconds)}{between(part.interval)}" for part in parts]
    return f"It divides into {', '.join(said)}, and {s_text(divided.residual_s)} that the medians leave unexplained."


def _ring_sentence(found: Verdict) -> str:
    if found.ring is None or found.ring_ratio is None:
        return ""
    interval = "" if found.ring_interval is None else f" [{found.ring_interval[0]:.2f}, {found.ring_interval[1]:.2f}]"
    return f"The best star's step is {ratio_text(found.ring_ratio)}{interval} that of the best ring ({found.ring})."


def binding_sentence(binds: Binding) -> str:
    """Achieved against achievable, and which of them is the limit."""
    if binds.tcp_bytes_per_s is not None and binds.achieved_bytes_per_s is not None:
        share = share_text(binds.achieved_bytes_per_s / binds.tcp_bytes_per_s)
        reached = "" if binds.grpc_bytes_per_s is None else (
            f", and gRPC with nothing to compute {share_text(binds.grpc_bytes_per_s / binds.tcp_bytes_per_s)}"
        )  # fmt: skip
        carried = (
            f"While bytes move, the link of {binds.host} carries {share} of the "
            f"{bytes_text(binds.tcp_bytes_per_s)}/s that TCP reaches there{reached}"
        )
    elif binds.alone_s is not None:
        carried = (
            f"No link was measured (loopback); the exchange adds {s_text(binds.exchange_s)} to the step and takes "
            f"{s_text(binds.alone_s)} with nothing to compute"
        )
    else:
        return ""
    limit = {
        binding.WIRE: "the wire is the limit",
        binding.GRPC: "the transport is the limit, not a wire",
        binding.CPU: "the CPU is the limit: computation and exchange take it from each other",
        binding.UNKNOWN: "what limits it was not measured",
    }
    return f"{carried}: {limit[binds.what]}."


def _handicap_sentence(found: Verdict) -> str:
    tried = found.handicap
    if tried is None:
        tested = (verdict.TOPOLOGY, loss.TRANSPORT)
        return "No handicap was run that touches only the suspect." if found.cause in tested else ""
    said = (
        f"With {tried.what} the step should go to {ratio_text(tried.expected)} and went to {ratio_text(tried.measured)}"
    )
    said += "" if tried.interval is None else f" [{tried.interval[0]:.2f}, {tried.interval[1]:.2f}]"
    return f"{said}: the suspect {'responds' if tried.responded else 'does not respond and is not convicted'}."


def _slow_sentence(found: Verdict, samples: Samples) -> str:
    if found.slow_host is None:
        return ""
    rates = samples[rungs.ASKED][0].link_bytes_per_s
    others = max(rates.values())
    return (
        f"The link of {found.slow_host} carries {bytes_text(rates[found.slow_host])}/s, others {bytes_text(others)}/s."
    )


def advice(found: Verdict, samples: Samples, workers: int, batch_size: int) -> str:
    """What to change first and what it should bring, from a rung that was measured or a part that would go."""
    change = {
        loss.INPUT: "read images inside the graph",
        loss.SESSION: "train through a plain session (local or Horovod), without a gRPC server",
        loss.SHARED_HOST: "give every worker cores of its own",
        loss.TRANSPORT: "use MPI instead of gRPC",
        loss.SYNCHRONISATION: "use Horovod, which needs no tokens",
        loss.STRAGGLER: f"look at worker {samples[rungs.ASKED][-1].slowest_worker}",
        loss.PLACEMENT: "--placement sharded",
        verdict.SLOW_LINK: f"mend the link of {found.slow_host}",
        verdict.COMMUNICATION: "raise the batch per worker or send fewer bytes; neither more PS nor Horovod",
        verdict.TOPOLOGY: f"use the ring ({found.ring})",
    }.get(found.cause)
    if change is None:
        return "" if found.cause != verdict.NOTHING else "Change neither."
    step_s = _after(found, samples)
    if step_s is None:
        return f"Change first: {change}."
    rate = images_per_s_text(workers * batch_size / step_s)
    return f"Change first: {change}; the step should then take {s_text(step_s)} ({rate} images/s)."


def _after(found: Verdict, samples: Samples) -> float | None:
    """The step after the advised change: of the rung that has it, else without the cause's part."""
    rung = {loss.PLACEMENT: rungs.SHARED_PS, loss.TRANSPORT: rungs.MPI_STAR}.get(found.cause)
    rung = found.ring if found.cause in (verdict.TOPOLOGY, loss.SYNCHRONISATION) else rung
    if rung is not None and samples.get(rung):
        steps = sorted(each.step_s for each in samples[rung])
        return (steps[len(steps) // 2] + steps[(len(steps) - 1) // 2]) / 2
    part = found.loss.part(found.cause)
    return None if part is None else found.loss.asked_s - part.seconds


def break_even_sentence(found: Verdict, workers: int, batch_size: int) -> str:
    """From which batch per worker on the job beats one worker (C26)."""
    if workers == 1:
        return ""
    if found.break_even_batch is None:
        return f"At no batch would {workers} workers of this set-up beat one: sharing hosts costs all they add."
    batch = max(1, ceil(found.break_even_batch))
    return f"By the exchange's price {workers} workers beat one from batch {batch} per worker on (asked: {batch_size})."


def effect_sentence(change: str, fixed: str, effect: Effect) -> str:
    """One main effect of the two-by-two, such as: changing star to ring at equal transport saves 38 % [33, 42]."""
    low, high = effect.saved_interval
    if not effect.clear:
        span = f"[{100 * low:.0f}, {100 * high:.0f}] %"
        return (
            f"Changing {change} at equal {fixed} saves or costs nothing that is clear of the noise: {span} of the step."
        )
    verb, sign = ("saves", 1) if effect.saved > 0 else ("costs", -1)
    ends = sorted((100 * sign * low, 100 * sign * high))
    size = f"{100 * sign * effect.saved:.0f} % [{ends[0]:.0f}, {ends[1]:.0f}]"
    return f"Changing {change} at equal {fixed} {verb} {size} of the step."
