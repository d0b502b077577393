"""What makes Horovod's allreduce as fast as its links: settings of Open MPI and Horovod, as environment variables."""

from __future__ import annotations

from collections.abc import Mapping

# Numbers of Open MPI's tuned component (ompi_info --param coll tuned --level 9); None leaves its own decision,
# which takes recursive doubling or another algorithm with more bytes on the wire at some sizes.
ALGORITHMS: Mapping[str, int | None] = {
    "default": None,
    "nonoverlapping": 2,
    "recursive_doubling": 3,
    "ring": 4,
    "segmented_ring": 5,
    "rabenseifner": 6,
}

# Of the rings, the one whose steps are short: reduction and the next transfer stand in each other's way less.
DEFAULT = "segmented_ring"
# How much MPI sends before the other side has answered. The default of 64 kB leaves a link idle for a round trip at
# every turn of the ring, and in two-way traffic the answer queues behind the data of its own direction.
AHEAD_BYTES = 2**20

HOROVOD = ("HOROVOD_FUSION", "HOROVOD_CYCLE", "HOROVOD_GLOO_IFACE")


def environment(algorithm: str, fusion_mb: int | None, cycle_ms: float | None) -> dict[str, str]:
    """Variables to set before Horovod starts MPI; what a user has set himself stays."""
    # MPI waits by spinning; where ranks share cores with computation, as on every CPU cluster, that costs more
    # than the yield.
    found = {"OMPI_MCA_mpi_yield_when_idle": "1"}
    for name in ("eager_limit", "rndv_eager_limit", "max_send_size", "rdma_pipeline_send_length"):
        found[f"OMPI_MCA_btl_tcp_{name}"] = str(AHEAD_BYTES)
    number = ALGORITHMS[algorithm]
    if number is not None:
        found["OMPI_MCA_coll_tuned_use_dynamic_rules"] = "1"
        found["OMPI_MCA_coll_tuned_allreduce_algorithm"] = str(number)
    if fusion_mb is not None:
        found["HOROVOD_FUSION_THRESHOLD"] = str(fusion_mb * 2**20)
    if cycle_ms is not None:
        found["HOROVOD_CYCLE_TIME"] = str(cycle_ms)
    return found


def settings(environ: Mapping[str, str]) -> dict[str, str]:
    """Every setting of MPI's collectives, its TCP transport and Horovod that is in force, for the record."""
    prefixes = ("OMPI_MCA_coll", "OMPI_MCA_btl", "OMPI_MCA_pml", "OMPI_MCA_mpi_yield", *HOROVOD)
    return {name: value for name, value in sorted(environ.items()) if name.startswith(prefixes)}
