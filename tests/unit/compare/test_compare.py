"""Grouping, baseline, what is left out, and what the sentences dare to say."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from hvdbench.compare.compare import compare, render
from hvdbench.errors import NotComparableError, UsageError
from hvdbench.record.store import load_records
from tests.unit.compare.builders import record, rounds


def test_c07_three_workers_of_10_10_and_20_s_make_480_images_per_s() -> None:
    # 100 steps of 32 images each: 960 is a fast worker's extrapolation, 800 the sum of per-worker rates.
    per_step = [0.1, 0.1, 0.2]
    images, window_s = 3 * 100 * 32, max(100 * step for step in per_step)
    launch = record("horovod", images / window_s, workers=3, window_s=window_s, config={"batch_size": 32, "steps": 100},
                    step_s=[[step] * 100 for step in per_step], contributions=[100] * 3)  # fmt: skip
    found = compare([launch])
    assert found.groups[0].images_per_s == 480.0
    assert "480.0" in render(found, "table") and "9600/9600" in render(found, "table")
    assert not {"960.0", "800.0"} & set(render(found, "csv").replace("\n", ",").split(","))


def test_ratio_and_efficiency_by_hand() -> None:
    found = compare(rounds(horovod=(90.0, 150.0, 120.0), local=(100.0, 80.0, 90.0)))
    local, horovod = found.groups
    assert (local.name, local.ratio, local.ratio_interval, local.efficiency) == ("local", 1.0, None, 1.0)
    assert horovod.ratio == pytest.approx(120 / 90)
    assert horovod.efficiency == pytest.approx(120 / 2 / 90)


def test_baseline_is_local_or_the_first_or_what_was_asked() -> None:
    pair = [record("ps_sync"), record("horovod")]
    assert compare(pair).baseline == "horovod x2"
    assert compare(pair).groups[0].efficiency is None
    assert compare([*pair, record()]).baseline == "local"
    assert compare(pair, "ps_sync").baseline == "ps_sync 1+2"
    assert compare(pair, "ps_sync 1+2").groups[0].name == "ps_sync 1+2"
    with pytest.raises(UsageError, match="'local' is in no valid record; choose one of horovod x2, ps_sync"):
        compare(pair, "local")
    with pytest.raises(UsageError, match="may mean horovod x2 or horovod x4"):
        compare([record("horovod"), record("horovod", workers=4)], "horovod")


def test_invalid_and_repeated_records_are_left_out_and_listed() -> None:
    kept = record(launch_id="same", path="A")
    broken = record(path="B", validity="worker 1 applied 9 of 10")
    found = compare([kept, broken, record(launch_id="same", path="C")])
    assert found.groups[0].rates == (100.0,)
    assert found.excluded == ("B: worker 1 applied 9 of 10", "C: the same launch as A")
    for form in ("table", "markdown", "csv", "json"):
        assert "worker 1 applied 9 of 10" in render(found, form)


def test_only_invalid_records_cannot_be_compared() -> None:
    with pytest.raises(NotComparableError, match="none of 1 records is valid: B: broken; run again"):
        compare([record(path="B", validity="broken")])
    with pytest.raises(NotComparableError, match="none was given"):
        compare([])


def test_invalid_records_are_not_checked_for_likeness() -> None:
    compare([record(), record("horovod", config={"batch_size": 8}, validity="broken")])


def test_six_launches_need_no_warning_of_narrow_intervals() -> None:
    assert not any("too narrow" in note for note in compare([record(rate=rate) for rate in range(100, 106)]).notes)


def test_horovod_is_set_against_ps_sync_too() -> None:
    three = compare(rounds(local=(100.0,), horovod=(60.0,), ps_sync=(40.0,)))
    assert [each.split(" (")[0] for each in three.sentences] == [
        "horovod x2 runs at 0.60x of local",
        "ps_sync 1+2 runs at 0.40x of local",
        "horovod x2 runs at 1.50x of ps_sync 1+2",
    ]
    assert len(compare(rounds(horovod=(60.0,), ps_sync=(40.0,))).sentences) == 1


def test_arms_of_as_many_workers_are_set_against_each_other() -> None:
    records = [record(), record("horovod"), record("horovod", workers=3), record("ps_sync")]
    assert [(each.name, each.reference) for each in compare(records).contrasts[3:]] == [("horovod x2", "ps_sync 1+2")]
    slowed = [
        record("horovod", config={"delay_worker": [1, 0.2]}), record("ps_sync", config={"delay_worker": [1, 0.2]})
    ]  # fmt: skip
    assert [(each.name, each.reference) for each in compare([*records[:2], records[3], *slowed]).contrasts[4:]] == [
        ("horovod x2", "ps_sync 1+2"),
        ("horovod x2 delayed 1:0.2", "ps_sync 1+2 delayed 1:0.2"),
    ]


def test_fed_arms_are_labelled_everywhere_and_held_against_fed_local() -> None:
    feed = {"input": "feed"}
    found = compare([record("local", 100.0, config=feed), record("horovod", 90.0, config=feed)])
    assert found.baseline == "local feed" and found.groups[1].efficiency == pytest.approx(0.45)
    assert found.groups[1].input == "feed"
    for form in ("table", "markdown", "csv", "json"):
        assert "horovod x2 feed" in render(found, form) and "through a Placeholder" in render(found, form)


def test_allowed_inputs_stay_arms_of_their_own_and_efficiency_asks_for_the_same_input() -> None:
    found = compare([record(), record("horovod", config={"input": "feed"})], allow=["input"])
    assert [group.name for group in found.groups] == ["local", "horovod x2 feed"]
    assert found.groups[1].efficiency is None


def test_records_of_every_schema_are_read() -> None:
    folder = Path(__file__).parents[2] / "data" / "records"
    # Schema 1 knew no tuning of Horovod and MPI; until schema 2 the plain ring was the default.
    for schema, ring in ((1, "horovod x2 MPI defaults"), (2, "horovod x2 ring"), (3, "horovod x2")):
        found = compare(load_records(sorted(folder.glob(f"schema-{schema}-*.json"))))
        assert [group.name for group in found.groups] == ["local", ring, "ps_sync 2+2"]


def test_a_run_without_computation_is_no_arm() -> None:
    # Its images/s would be 0, and every ratio with it.
    idle = record("horovod", config={"compute": "none"})
    with pytest.raises(NotComparableError, match="--compute none"):
        compare([record(), idle])


def test_the_order_of_the_files_changes_nothing() -> None:
    records = rounds(local=(10.0, 12.0, 20.0), horovod=(20.0, 24.0, 40.0), ps_sync=(1.0, 2.0, 3.0))
    assert compare(records) == compare(records[::-1])


def test_one_host_is_said_and_two_are_not() -> None:
    assert "all tasks on one host: traffic is loopback" in render(compare([record()]), "table")
    away = record(tasks={"host": "two"})
    assert "loopback" not in render(compare([record(), away], allow=["hosts"]), "table")


def test_importing_compare_loads_nothing_heavy() -> None:
    heavy = "{'tensorflow', 'horovod', 'mpi4py', 'scipy', 'rich', 'numpy'}"
    code = f"import sys, hvdbench.compare.compare; print(sorted({heavy} & set(sys.modules)))"
    assert subprocess.check_output([sys.executable, "-c", code], text=True, timeout=60) == "[]\n"
