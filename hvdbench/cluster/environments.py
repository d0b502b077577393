"""Which launcher started this process: one table of variables each; reading only, nothing is set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hvdbench.errors import UsageError


@dataclass(frozen=True)
class Launched:
    """What a launcher says of this process."""

    launcher: str
    rank: int
    size: int
    local_rank: int
    local_size: int


# Open MPI first: horovodrun --mpi sets HOROVOD_* settings too, but ranks come from mpirun then.
TABLES: dict[str, tuple[str, str, str, str]] = {
    "openmpi": (
        "OMPI_COMM_WORLD_RANK",
        "OMPI_COMM_WORLD_SIZE",
        "OMPI_COMM_WORLD_LOCAL_RANK",
        "OMPI_COMM_WORLD_LOCAL_SIZE",
    ),
    "gloo": ("HOROVOD_RANK", "HOROVOD_SIZE", "HOROVOD_LOCAL_RANK", "HOROVOD_LOCAL_SIZE"),
    "mpich": ("PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"),
}


def detect(environ: Mapping[str, str]) -> Launched | None:
    """The launcher's facts, or None outside one; raises UsageError on values that are no ranks."""
    for launcher, names in TABLES.items():
        if names[0] in environ and names[1] in environ:
            return _read(launcher, names, environ)
    return None


def _read(launcher: str, names: tuple[str, str, str, str], environ: Mapping[str, str]) -> Launched:
    try:
        rank, size = int(environ[names[0]]), int(environ[names[1]])
        local_rank, local_size = int(environ.get(names[2], rank)), int(environ.get(names[3], size))
    except ValueError as error:
        raise UsageError(f"{launcher} variables {', '.join(names)} hold no numbers ({error}); unset them") from error
    if not 0 <= rank < size:
        raise UsageError(f"{names[0]} is {rank} but {names[1]} is {size}; start through one launcher only")
    return Launched(launcher, rank, size, local_rank, local_size)
