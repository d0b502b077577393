"""Which launcher started us is read from its own variables, and contradictions are refused."""

from __future__ import annotations

import pytest

from hvdbench.cluster.environments import Launched, detect
from hvdbench.errors import UsageError

# As `mpirun -np 4 env`, `horovodrun --gloo -np 4 env` and `mpiexec.hydra -np 4 env` print them for rank 3.
OPENMPI = {"OMPI_COMM_WORLD_RANK": "3", "OMPI_COMM_WORLD_SIZE": "4", "OMPI_COMM_WORLD_LOCAL_RANK": "1",
           "OMPI_COMM_WORLD_LOCAL_SIZE": "2"}  # fmt: skip
GLOO = {"HOROVOD_RANK": "3", "HOROVOD_SIZE": "4", "HOROVOD_LOCAL_RANK": "1", "HOROVOD_LOCAL_SIZE": "2"}
MPICH = {"PMI_RANK": "3", "PMI_SIZE": "4", "MPI_LOCALRANKID": "1", "MPI_LOCALNRANKS": "2"}


@pytest.mark.parametrize("launcher, environ", [("openmpi", OPENMPI), ("gloo", GLOO), ("mpich", MPICH)])
def test_each_launcher_is_known_by_its_variables(launcher: str, environ: dict[str, str]) -> None:
    assert detect(environ) == Launched(launcher, 3, 4, 1, 2)


def test_outside_a_launcher_there_is_none() -> None:
    assert detect({"PATH": "/bin", "HOROVOD_FUSION_THRESHOLD": "1"}) is None


def test_ranks_come_from_mpirun_where_horovodrun_uses_it() -> None:
    found = detect(GLOO | {"HOROVOD_RANK": "0"} | OPENMPI)
    assert found is not None and (found.launcher, found.rank) == ("openmpi", 3)


@pytest.mark.parametrize(
    "change, words",
    [
        ({"HOROVOD_RANK": "4"}, "HOROVOD_RANK is 4 but HOROVOD_SIZE is 4"),
        ({"HOROVOD_RANK": "-1"}, "HOROVOD_RANK is -1"),
        ({"HOROVOD_SIZE": "many"}, "hold no numbers"),
        ({"HOROVOD_LOCAL_RANK": ""}, "hold no numbers"),
    ],
)
def test_values_that_are_no_ranks_are_refused_in_one_line(change: dict[str, str], words: str) -> None:
    with pytest.raises(UsageError, match=words) as caught:
        detect(GLOO | change)
    assert "\n" not in str(caught.value)
