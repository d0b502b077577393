"""The whole text of one comparison, and the same content in every format."""

from __future__ import annotations

import csv
import json
from dataclasses import replace

import pytest

from hvdbench import units
from hvdbench.compare.compare import Comparison, compare, render
from hvdbench.compare.tables import COLUMNS
from hvdbench.errors import UsageError
from tests.unit.compare.builders import record, rounds

GOLDEN = """\
strategy     launches  steps  images/s (median)  95 % interval   ratio  95 % of ratio   efficiency (per worker)  applied/processed
local        3         10     100.0              100.0 .. 100.0  1.00x  -               100 %                    3000/3000
horovod x2   3         10     63.0               62.0 .. 65.0    0.63x  0.62x .. 0.65x  32 %                     1900/1900
ps_sync 1+2  3         10     48.0               45.0 .. 51.0    0.48x  0.45x .. 0.51x  24 %                     1440/1440

horovod x2 runs at 0.63x [0.62, 0.65] of local (3 interleaved rounds); too few launches to reach p < 0.05; it takes at least 1 more launch a side to settle it.
ps_sync 1+2 runs at 0.48x [0.45, 0.51] of local (3 interleaved rounds); too few launches to reach p < 0.05; it takes at least 1 more launch a side to settle it.
horovod x2 runs at 1.31x [1.22, 1.44] of ps_sync 1+2 (3 interleaved rounds); too few launches to reach p < 0.05; it takes at least 1 more launch a side to settle it.
left out: D: broken
warning: B, worker 1: the first timed step took over 1.5 times the others' median, up to 4.0 times; raise --warmup by 1
all tasks on one host: traffic is loopback and processes share its cores
intervals from 3 launches are too narrow: even smallest to largest launch holds the true median only 75 % of the time
each worker moves 122.2 MB and computes 4.15 GFLOP per image (2 x parameter bytes / batch 4, the pull and push of a PS; a ring of N moves 2(N-1)/N times as much)
horovod x2: a step is 1000 ms = 700 compute + 50 waiting + 250 exchange (medians over workers and steps)
"""  # noqa: E501


@pytest.fixture
def comparison() -> Comparison:
    launches = rounds(local=(100.0,) * 3, horovod=(62.0, 63.0, 65.0), ps_sync=(51.0, 48.0, 45.0))
    phases = {"compute_s": [[0.7] * 10] * 2, "wait_s": [[0.05] * 10] * 2, "exchange_s": [[0.25] * 10] * 2}
    slow_start = {"path": "B", "step_s": [[1.0] * 10, [4.0] + [1.0] * 9]}
    launches[1] = replace(launches[1], **phases, **slow_start)
    return compare([*launches, record(path="D", validity="broken")])


def test_table(comparison: Comparison) -> None:
    assert render(comparison, "table") + "\n" == GOLDEN


def test_markdown_has_the_cells_and_lines_of_the_table(comparison: Comparison) -> None:
    lines = render(comparison, "markdown").splitlines()
    assert lines[0].split(" | ")[1] == "launches" and lines[1].count("---") == len(COLUMNS)
    assert lines[3] == ("| horovod x2 | 3 | 10 | 63.0 | 62.0 .. 65.0 | 0.63x | 0.62x .. 0.65x | 32 % | 1900/1900 |")
    assert [line for line in lines[5:] if line] == GOLDEN.splitlines()[5:]


def test_csv_has_unrounded_numbers_and_remarks_as_comments(comparison: Comparison) -> None:
    lines = render(comparison, "csv").splitlines()
    rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))
    assert [row["strategy"] for row in rows] == ["local", "horovod x2", "ps_sync 1+2"]
    assert float(rows[1]["efficiency (per worker)"]) == 63 / 2 / 100
    assert float(rows[2]["95 % of ratio low"]) == 0.45 and rows[0]["95 % of ratio low"] == ""
    assert [line[2:] for line in lines[4:]] == GOLDEN.splitlines()[5:]


def test_json_has_the_same_content(comparison: Comparison) -> None:
    data = json.loads(render(comparison, "json"))
    assert [group["images_per_s"] for group in data["groups"]] == [100.0, 63.0, 48.0]
    assert tuple(data["sentences"]) == comparison.sentences
    assert data["warnings"][0].endswith("raise --warmup by 1") and data["notes"][-1].endswith("workers and steps)")
    assert data["contrasts"][2]["paired"] and data["contrasts"][2]["more_launches"] == 1
    assert data["excluded"] == ["D: broken"] and data["baseline"] == "local"
    assert data["contrasts"][2]["interval"] == pytest.approx([62 / 51, 65 / 45])


def test_unknown_format_is_refused(comparison: Comparison) -> None:
    with pytest.raises(UsageError, match="'xml' is unknown; choose one of table, json, markdown, csv"):
        render(comparison, "xml")


@pytest.mark.parametrize("value, text", [(0.31, "310"), (0.1, "100"), (0.0123, "12.3"), (0.00001, "0.01"), (0.0, "0")])
def test_milliseconds_as_text(value: float, text: str) -> None:
    assert units.ms_text(value) == text


@pytest.mark.parametrize("value, text", [(4.147e9, "4.15 GFLOP"), (5.34e6, "5.34 MFLOP"), (12.0, "12 FLOP")])
def test_operations_as_text(value: float, text: str) -> None:
    assert units.flops_text(value) == text


@pytest.mark.parametrize("value, text", [(480.0, "480.0"), (26.14, "26.1"), (9.5, "9.50"), (0.0123, "0.0123")])
def test_rates_as_text(value: float, text: str) -> None:
    assert units.images_per_s_text(value) == text
