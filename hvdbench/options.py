"""Options that several verbs share, and what they mean to a run."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

from hvdbench.strategies.tuning import DEFAULT as ALGORITHM

CONFIG_OPTIONS = (
    "model", "batch_size", "steps", "warmup", "input", "placement", "learning_rate", "seed", "dtype", "classes",
    "tokens", "replicas_to_aggregate", "delay_worker", "allreduce_algorithm", "fusion_mb", "cycle_ms", "mpi_defaults",
    "compute",
)  # fmt: skip

STARTERS = ("mpirun", "horovodrun-gloo", "horovodrun-mpi")


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


def add_diagnose_options(parser: argparse.ArgumentParser) -> None:
    """Options of `diagnose`, with those of every launch; its batch and steps keep a round of the ladder short."""
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--ps", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=30.0, help="budget; 0: judge the launches that are there")
    parser.add_argument("--backend", choices=("local", "lab"), default="local")
    parser.add_argument("--rate", default="1gbit", help="of the lab's links")
    parser.add_argument(
        "--node", action="append", default=[], metavar="N:rate=RATE", help="a lab node that is different"
    )
    parser.add_argument("--again", action="store_true", help="measure false alarms: the asked arm under a second name")
    parser.add_argument("--format", choices=("table", "json"), default="table")
    add_run_options(parser)
    parser.set_defaults(batch_size=8, steps=5, warmup=1)


def config_fields(args: argparse.Namespace) -> dict[str, Any]:
    """The RunConfig fields that the shared options set."""
    return {name: getattr(args, name) for name in CONFIG_OPTIONS} | {"start_timeout_s": args.start_timeout}
