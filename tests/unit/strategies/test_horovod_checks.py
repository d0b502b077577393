"""Who Horovod says it is, and which GPU is whose, without a GPU."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from hvdbench.cluster.spec import Cluster
from hvdbench.run import prepare_environment
from hvdbench.strategies.tuning import environment, settings

CODE = """
import json, sys
from hvdbench.errors import RunError
from hvdbench.strategies.horovod import check_ranks, pinned_gpu
def said(call, *args):
    try:
        return call(*args)
    except RunError as error:
        return f"refused: {error}"
print(json.dumps([
    [said(check_ranks, *args) for args in ((1, 2, 1, 2), (0, 1, 1, 2), (0, 2, 1, 2), (1, 3, 1, 2))],
    [said(pinned_gpu, *args) for args in ((0, 1), (3, 4), (1, 1), (4, 4))],
]))
"""


def test_ranks_and_pinning() -> None:
    run = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, run.stderr[-2000:]
    ranks, gpus = json.loads(run.stdout.splitlines()[-1])
    # C43: N copies of a world of one look like perfect scaling.
    assert ranks[0] is None and all(each.startswith("refused: Horovod says rank") for each in ranks[1:])
    # C19: two workers on one GPU halve both.
    assert gpus[:2] == [0, 3] and all("has no GPU" in each for each in gpus[2:])


@pytest.mark.parametrize("role, visible", [("ps", ""), ("worker", "0,1")])
def test_a_ps_sees_no_gpu_and_nobody_a_proxy(role: str, visible: str) -> None:
    # C04, C18: a PS that sees a GPU takes all of its memory; C20: gRPC would go through the proxy.
    environ = {"CUDA_VISIBLE_DEVICES": "0,1", "https_proxy": "http://proxy:1", "HTTP_PROXY": "x", "no_proxy": "a"}
    prepare_environment(environ, Cluster(role, 0, 1))
    assert environ == {"CUDA_VISIBLE_DEVICES": visible, "no_proxy": "a"}


def test_settings_are_open_mpis_and_horovods_own_names() -> None:
    found = environment("ring", 64, 2.5)
    # Number 4 of `ompi_info --param coll tuned --level 9`: "4 ring".
    assert found["OMPI_MCA_coll_tuned_allreduce_algorithm"] == "4"
    assert found["HOROVOD_FUSION_THRESHOLD"] == "67108864" and found["HOROVOD_CYCLE_TIME"] == "2.5"
    # Open MPI's own names of how much its TCP sends at once (ompi_info --param btl tcp --level 9).
    assert found["OMPI_MCA_btl_tcp_max_send_size"] == found["OMPI_MCA_btl_tcp_eager_limit"] == "1048576"
    assert "OMPI_MCA_coll_tuned_allreduce_algorithm" not in environment("default", None, None)
    assert settings(found | {"PATH": "/bin", "OMPI_COMM_WORLD_RANK": "0"}) == dict(sorted(found.items()))


def test_the_rings_are_what_open_mpi_calls_numbers_4_and_5() -> None:
    argv = ["ompi_info", "--param", "coll", "tuned", "--level", "9", "--parsable"]
    run = subprocess.run(argv, capture_output=True, text=True, timeout=60)
    for number, name in ((4, "ring"), (5, "segmented_ring")):
        assert f"param:coll_tuned_allreduce_algorithm:enumerator:value:{number}:{name}" in run.stdout


def test_what_is_set_ahead_exists_in_open_mpi() -> None:
    argv = ["ompi_info", "--param", "btl", "tcp", "--level", "9", "--parsable"]
    known = subprocess.run(argv, capture_output=True, text=True, timeout=60).stdout
    for name in environment("default", None, None):
        if name.startswith("OMPI_MCA_btl"):
            assert f":param:{name.removeprefix('OMPI_MCA_')}:" in known
