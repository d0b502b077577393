"""The command line: one parser, one function per verb, one dispatch table; errors become one line here."""

from __future__ import annotations

import argparse
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from hvdbench.errors import HvdbenchError, UsageError
from hvdbench.strategies.tuning import DEFAULT as ALGORITHM

if TYPE_CHECKING:
    from hvdbench.run import Around

CONFIG_OPTIONS = (
    "model", "batch_size", "steps", "warmup", "input", "placement", "learning_rate", "seed", "dtype", "classes",
    "tokens", "replicas_to_aggregate", "delay_worker", "allreduce_algorithm", "fusion_mb", "cycle_ms", "mpi_defaults",
    "compute",
)  # fmt: skip

STARTERS = ("mpirun", "horovodrun-gloo", "horovodrun-mpi")


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one line instead of printing the whole usage."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}; see {self.prog} --help")


def add_run_options(parser: argparse.ArgumentParser) -> None:
    """The options that every way of running shares."""
    parser.add_argument("--model", default="alexnet", help="alexnet or alexnet_tiny")
    parser.add_argument("--batch-size", "--batch_size", type=int, default=128, help="images per worker and step")
    parser.add_argument("--steps", type=int, default=20, help="timed steps")
    parser.add_argument("--warmup", type=int, default=2, help="untimed steps before the common start")
    parser.add_argument("--input", default="synthetic", help="synthetic: a batch inside the graph; feed: numpy, fed")
    parser.add_argument(
        "--placement", default="round_robin", help="variables over the PS: round_robin, greedy or sharded"
    )
    parser.add_argument("--learning-rate", type=float, default=None, help="default: the model's own")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--dtype", default="float32", help="float32 or float64")
    parser.add_argument("--classes", type=int, default=None, help="classes of the last layer; default: the model's own")
    parser.add_argument("--tokens", default="strict", help="strict: no worker ahead; default: SyncReplicas' own number")
    parser.add_argument(
        "--replicas-to-aggregate", type=int, default=None, metavar="K", help="gradients in an update; default: all"
    )
    parser.add_argument(
        "--delay-worker", type=delay, default=None, metavar="WORKER:SECONDS", help="slow one worker in every step"
    )
    parser.add_argument(
        "--allreduce-algorithm", default=ALGORITHM, help="Open MPI's for horovod; `default` leaves it the choice"
    )
    parser.add_argument("--fusion-mb", type=int, default=None, help="Horovod's fusion threshold in MiB")
    parser.add_argument("--cycle-ms", type=float, default=None, help="Horovod's cycle time")
    parser.add_argument("--mpi-defaults", action="store_true", help="leave MPI and Horovod as they are, to compare")
    parser.add_argument("--compute", default="full", help="full; none: exchange the model's values, compute nothing")
    parser.add_argument(
        "--save-weights", type=Path, default=None, metavar="FILE.npz", help="the chief's variables after the last step"
    )
    parser.add_argument(
        "--start-timeout", type=float, default=300.0, metavar="SECONDS", help="longest wait for other tasks"
    )
    parser.add_argument("--results-dir", type=Path, default=Path("results"))
    parser.add_argument(
        "--host-cores",
        type=int,
        default=os.cpu_count() or 1,
        metavar="N",
        help="cores of a host to use; default all",
    )
    parser.add_argument("--links", type=Path, default=None, help=argparse.SUPPRESS)


def around(args: argparse.Namespace) -> Around:
    """What a run is told besides its config."""
    from hvdbench.run import Around

    if args.host_cores < 1:
        raise UsageError(f"--host-cores is {args.host_cores}, at least 1 is needed; raise it")
    return Around(args.results_dir, args.save_weights, args.host_cores, args.links)


def delay(text: str) -> tuple[int, float]:
    """`1:0.2` as worker 1 and 0.2 seconds."""
    worker, _, seconds = text.partition(":")
    try:
        found = int(worker), float(seconds)
    except ValueError:
        found = -1, -1.0
    if found[0] < 0 or not 0 <= found[1] < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is no WORKER:SECONDS; write 1:0.2 for 0.2 s on worker 1")
    return found


def build_parser() -> argparse.ArgumentParser:
    """The whole command line; importing and building it needs no TensorFlow."""
    parser = Parser(prog="hvdbench", description="One AlexNet graph, several strategies, one measurement.")
    verbs = parser.add_subparsers(dest="verb", parser_class=Parser)
    run = verbs.add_parser("run", help="this task's part of one run (the default verb)")
    run.add_argument("--strategy", default=None, help="default: horovod under a launcher, local outside one")
    add_run_options(run)
    compare = verbs.add_parser("compare", help="compare records")
    compare.add_argument("results", nargs="+", type=Path, help="record files or folders")
    compare.add_argument("--format", choices=("table", "json", "markdown", "csv"), default="table")
    compare.add_argument("--baseline", default=None, help="group that ratios refer to; default local")
    compare.add_argument("--allow", action="append", default=[], metavar="FIELD", help="accept a difference in FIELD")
    plan = verbs.add_parser("plan", help="bytes per PS and NIC of a placement, before anything runs")
    plan.add_argument("--model", default="alexnet")
    plan.add_argument("--ps", type=int, default=1)
    plan.add_argument("--workers", type=int, default=1)
    plan.add_argument("--placement", default="round_robin", help="round_robin, greedy or sharded")
    plan.add_argument("--format", choices=("table", "json"), default="table")
    add_launch_options(verbs.add_parser("launch", help="start a whole job; here: inside a lab of shaped links"))
    doctor = verbs.add_parser("doctor", help="what is here, and what the transports reach")
    doctor.add_argument("--probe", action="store_true", help="measure TCP, gRPC and MPI between two processes")
    doctor.add_argument("--rate", default=None, help="put the two processes on two lab nodes with links of this rate")
    doctor.add_argument("--largest-mb", type=int, default=256, help="largest message of the probe in MiB")
    doctor.add_argument("--results-dir", type=Path, default=Path("results"))
    sweep = verbs.add_parser("sweep", help="repeated launches of several strategies on this machine, interleaved")
    sweep.add_argument("--strategies", default="local,ps_sync,horovod", help="comma-separated")
    sweep.add_argument("--workers", type=int, default=2)
    sweep.add_argument("--ps", type=int, default=1)
    sweep.add_argument("--repeats", type=int, default=3, help="launches of each strategy")
    add_run_options(sweep)
    return parser


def add_launch_options(parser: argparse.ArgumentParser) -> None:
    """Options of `launch`, with those of the run itself."""
    parser.add_argument("--backend", choices=("lab",), default="lab", help="lab: network namespaces on this machine")
    parser.add_argument("--nodes", type=int, default=2)
    parser.add_argument("--rate", default="1gbit", help="of every link, both directions")
    parser.add_argument("--delay", type=float, default=0.0, metavar="MS", help="of every link, one way (needs netem)")
    parser.add_argument("--node", action="append", default=[], metavar="N:rate=RATE", help="a node that is different")
    parser.add_argument("--slots", type=int, default=1, help="tasks a node")
    parser.add_argument("--strategy", default="horovod")
    parser.add_argument("--ps", type=int, default=1, help="PS tasks of a parameter-server strategy")
    parser.add_argument("--workers", type=int, default=None, help="its workers; default: the nodes that are left")
    parser.add_argument("--colocate", action="store_true", help="PS tasks on the workers' nodes")
    parser.add_argument("--starter", choices=STARTERS, help="of ranks; default horovodrun-gloo for horovod")
    add_run_options(parser)


def config_fields(args: argparse.Namespace) -> dict[str, Any]:
    """The RunConfig fields that the shared options set."""
    return {name: getattr(args, name) for name in CONFIG_OPTIONS} | {"start_timeout_s": args.start_timeout}


def cmd_run(args: argparse.Namespace) -> int:
    """Run this rank's part: the launcher's variables say who we are."""
    from hvdbench.cluster.environments import detect
    from hvdbench.cluster.spec import Cluster
    from hvdbench.config import RunConfig
    from hvdbench.run import announce, run

    launched = detect(os.environ)
    size = launched.size if launched else 1
    strategy = args.strategy or ("horovod" if launched else "local")
    from hvdbench import strategies

    traits = strategies.traits(strategy)
    if traits.needs_ps:
        raise UsageError(f"strategy {strategy} has several roles; start it with python -m hvdbench.ps")
    config = RunConfig(strategy=strategy, workers=size, **config_fields(args))
    if traits.transport == "grpc" and not traits.one_worker:
        from hvdbench.cluster.mpi import cluster_from_mpi

        cluster = cluster_from_mpi(0)
        if cluster.workers != size:
            raise UsageError(f"strategy {strategy} learns its addresses through MPI; start it with mpirun")
    elif launched is None:
        cluster = Cluster(workers=size)
    else:
        cluster = Cluster(
            index=launched.rank,
            workers=size,
            local_rank=launched.local_rank,
            processes_on_host=launched.local_size,
            launcher=launched.launcher,
        )
    announce(run(config, cluster, around(args)))
    return 0


def cmd_compare(args: argparse.Namespace) -> int:
    """Print the comparison of the records."""
    from hvdbench.compare.compare import compare, render
    from hvdbench.record.store import load_records

    print(render(compare(load_records(args.results), args.baseline, args.allow), args.format))
    return 0


def cmd_plan(args: argparse.Namespace) -> int:
    """Print what a placement does to the PS tasks."""
    from hvdbench.plan import render

    print(render(args.model, args.ps, args.workers, args.placement, args.format))
    return 0


def cmd_launch(args: argparse.Namespace) -> int:
    """Start a job on nodes of its own."""
    from hvdbench import strategies
    from hvdbench.lab.launch import launch
    from hvdbench.sweep import run_flags

    args.results_dir = args.results_dir.resolve()
    return launch(args, run_flags(strategies.traits(args.strategy), args))


def cmd_doctor(args: argparse.Namespace) -> int:
    """Say what is installed; with --probe measure what the transports reach."""
    from hvdbench.doctor import doctor

    return doctor(args)


def cmd_sweep(args: argparse.Namespace) -> int:
    """Run the launches one after another and compare them."""
    from hvdbench.sweep import sweep

    return sweep(args)


VERBS = {
    "run": cmd_run,
    "compare": cmd_compare,
    "plan": cmd_plan,
    "launch": cmd_launch,
    "doctor": cmd_doctor,
    "sweep": cmd_sweep,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code: 0 done, 1 failed, 2 wrong usage, 130 interrupted."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if not words or (words[0].startswith("-") and words[0] not in ("-h", "--help")):
        words.insert(0, "run")
    return guarded(lambda: _dispatch(words))


def _dispatch(words: list[str]) -> int:
    args = build_parser().parse_args(words)
    return VERBS[args.verb](args)


def guarded(action: Callable[[], int]) -> int:
    """Call `action`, turning errors into one line on stderr and an exit code."""
    try:
        return action()
    except HvdbenchError as error:
        print(f"hvdbench: {error}", file=sys.stderr, flush=True)
        return error.exit_code
    except KeyboardInterrupt:
        print("hvdbench: interrupted", file=sys.stderr, flush=True)
        return 130
    except Exception:
        traceback.print_exc()
        return 1


def leave(code: int) -> NoReturn:
    """End this process with the code; a failed one at once, since Horovod's exit handler waits for the others (C34)."""
    sys.stdout.flush()
    sys.stderr.flush()
    if code:
        os._exit(code)
    sys.exit(0)
