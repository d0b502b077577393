"""From a question to a verdict: run the ladder, handicap the suspect, judge."""

from __future__ import annotations

import argparse
import fcntl
import hashlib
import json
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hvdbench import __version__
from hvdbench.campaign import starting
from hvdbench.campaign.rounds import FOR_HANDICAP, Campaign, tight
from hvdbench.compare.stats import FEWEST_LAUNCHES
from hvdbench.config import RunConfig
from hvdbench.diagnose import rungs
from hvdbench.diagnose.report import diagnosis, render
from hvdbench.diagnose.verdict import judge
from hvdbench.errors import UsageError
from hvdbench.lab.netns import check_host
from hvdbench.lab.topology import make_lab
from hvdbench.local_cluster import interrupt
from hvdbench.options import CONFIG_OPTIONS, config_fields


def diagnose(args: argparse.Namespace) -> int:
    """Run what the budget allows and print the verdict; 0 whatever it says, RunError when a launch keeps failing."""
    check(args)
    signal.signal(signal.SIGTERM, interrupt)
    job = starting.job_of(args)
    ladder, left_out = rungs.ladder(job, args.again, starting.missing())
    folder = args.results_dir.resolve() / f"diagnose-{key(args)}"
    campaign = Campaign(folder, args, args.minutes)
    with _alone(folder):
        campaign.rounds(ladder, FOR_HANDICAP, tight, needed=True)
        samples = campaign.samples(ladder)
        extra = rungs.handicap(job, judge(samples, job.workers, args.batch_size).suspect, args.backend == starting.LAB)
        if extra:
            campaign.rounds(extra, 0.0, lambda found: min(map(len, found.values())) >= FEWEST_LAUNCHES, needed=False)
            samples |= campaign.samples(extra)
    loopback = args.backend == starting.LOCAL
    shown = [rung for rung in [*ladder, *extra] if samples[rung.key]]
    found = diagnosis(samples, shown, left_out, job.workers, args.batch_size, loopback, str(folder))
    print(render(found, args.format))
    return 0


def check(args: argparse.Namespace) -> None:
    """Raise UsageError before anything runs where some rung could not run as asked."""
    RunConfig(strategy="ps_sync", workers=args.workers, ps=args.ps, **config_fields(args))
    if args.compute != "full":
        raise UsageError("--compute is none but a diagnosis runs both; leave it out")
    if not args.minutes >= 0:
        raise UsageError(f"--minutes is {args.minutes}; use 0 (judge what is there) or more")
    if args.backend == starting.LAB:
        make_lab("plan", 1, args.ps + args.workers, args.rate, 0.0, args.node)
        check_host()
    elif args.node:
        raise UsageError("--node changes a node of a lab but --backend is local; add --backend lab")


def key(args: argparse.Namespace) -> str:
    """What tells this question from others: every option that changes a launch, and the version."""
    names = (*CONFIG_OPTIONS, "workers", "ps", "backend")
    asked = {name: getattr(args, name) for name in names} | {"version": __version__}
    if args.backend == starting.LAB:
        asked |= {"rate": args.rate, "node": args.node}
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()[:8]


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Raises UsageError while another diagnosis of the same question runs: each would count the other's launches."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise UsageError(
                f"another diagnosis works in {folder}; wait for it, or pass another --results-dir"
            ) from error
        yield
