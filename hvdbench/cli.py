"""The command line: one parser, one function per verb, one dispatch table; errors become one line here."""

from __future__ import annotations

import argparse
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from hvdbench.errors import HvdbenchError, UsageError
from hvdbench.options import add_diagnose_options, add_launch_options, add_run_options, config_fields

if TYPE_CHECKING:
    from hvdbench.run import Around


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one line instead of printing the whole usage."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}; see {self.prog} --help")


def around(args: argparse.Namespace) -> Around:
    """What a run is told besides its config."""
    from hvdbench.run import Around

    if args.host_cores < 1:
        raise UsageError(f"--host-cores is {args.host_cores}, at least 1 is needed; raise it")
    return Around(args.results_dir, args.save_weights, args.host_cores, args.links)


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
    add_diagnose_options(verbs.add_parser("diagnose", help="is it the parameter server? run the ladder and judge"))
    sweep = verbs.add_parser("sweep", help="repeated launches of several strategies on this machine, interleaved")
    sweep.add_argument("--strategies", default="local,ps_sync,horovod", help="comma-separated")
    sweep.add_argument("--workers", type=int, default=2)
    sweep.add_argument("--ps", type=int, default=1)
    sweep.add_argument("--repeats", type=int, default=3, help="launches of each strategy")
    add_run_options(sweep)
    return parser


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


def cmd_diagnose(args: argparse.Namespace) -> int:
    """Run the ladder and print the verdict."""
    from hvdbench.campaign.verb import diagnose

    return diagnose(args)


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
    "diagnose": cmd_diagnose,
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
