"""`python -m hvdbench.ps`: a whole PS cluster on this machine, one rank of it under mpirun, or one task by hand."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from hvdbench.cli import Parser, around, guarded, leave
from hvdbench.cluster.environments import detect
from hvdbench.cluster.spec import PS, WORKER, Cluster, same_host
from hvdbench.errors import UsageError
from hvdbench.options import add_run_options, config_fields
from hvdbench.strategies import traits


def build_parser() -> argparse.ArgumentParser:
    """Options of a PS run, in new and old TensorFlow spellings."""
    parser = Parser(prog="python -m hvdbench.ps", description="A parameter-server run.")
    parser.add_argument("--strategy", default="ps_sync", help="ps_sync (the default), ps_async or mpi_star")
    parser.add_argument("--ps", type=int, default=None, help="number of PS tasks")
    parser.add_argument("--workers", type=int, default=None, help="number of workers (on this machine)")
    parser.add_argument("--ps-hosts", "--ps_hosts", default=None, help="host:port,host:port of every PS")
    parser.add_argument("--worker-hosts", "--worker_hosts", default=None, help="host:port,... of every worker")
    parser.add_argument("--job-name", "--job_name", choices=(PS, WORKER), default=None)
    parser.add_argument("--task-index", "--task_index", type=int, default=None)
    add_run_options(parser)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    return guarded(lambda: _dispatch(words))


def _dispatch(words: list[str]) -> int:
    args = build_parser().parse_args(words)
    if args.ps_hosts or args.worker_hosts or args.job_name or args.task_index is not None:
        return run_task(args, cluster_by_hand(args))
    if args.ps is None:
        args.ps = 1
    launched = detect(os.environ)
    if launched is not None and launched.launcher == "openmpi":
        return run_rank(args)
    from hvdbench.local_cluster import launch, launch_ranks

    workers = 1 if args.workers is None else args.workers
    if traits(args.strategy).transport == "mpi":
        return launch_ranks(args.ps, workers, words)
    return launch(args.ps, workers, words)


def cluster_by_hand(args: argparse.Namespace) -> Cluster:
    """The cluster that --ps-hosts and its companions describe; raises UsageError when something is missing."""
    for flag in ("ps_hosts", "worker_hosts", "job_name", "task_index"):
        if getattr(args, flag) in (None, ""):
            raise UsageError(
                f"--{flag.replace('_', '-')} is missing; one task needs --ps-hosts, --worker-hosts, "
                "--job-name and --task-index"
            )
    ps, workers = tuple(args.ps_hosts.split(",")), tuple(args.worker_hosts.split(","))
    for address in ps + workers:
        host, _, port = address.rpartition(":")
        if not host or not port.isdigit() or not 0 < int(port) < 65536:
            raise UsageError(f"{address!r} is no host:port; write addresses such as node1:2222")
    mine = ps if args.job_name == PS else workers
    if not 0 <= args.task_index < len(mine):
        raise UsageError(
            f"--task-index is {args.task_index} but there are {len(mine)} {args.job_name} addresses; "
            f"use 0 to {len(mine) - 1}"
        )
    address = mine[args.task_index]
    return Cluster(
        args.job_name,
        args.task_index,
        len(workers),
        ps,
        workers,
        same_host(workers[: args.task_index], address) if args.job_name == WORKER else 0,
        same_host(ps + workers, address),
        "by hand",
    )


def run_task(args: argparse.Namespace, cluster: Cluster) -> int:
    """Run one task of the cluster in this process."""
    from hvdbench.config import RunConfig
    from hvdbench.run import announce, run

    config = RunConfig(strategy=args.strategy, workers=cluster.workers, ps=len(cluster.ps_hosts), **config_fields(args))
    announce(run(config, cluster, around(args)))
    return 0


def run_rank(args: argparse.Namespace) -> int:
    """Run one MPI rank; an error on one rank ends the whole job."""
    from hvdbench.cluster.mpi import abort, cluster_from_mpi

    code = guarded(lambda: run_task(args, cluster_from_mpi(args.ps)))
    if code:
        abort(code)
    return code


if __name__ == "__main__":
    leave(main())
