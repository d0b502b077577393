"""Grouping, baseline, what is left out, and what the sentences dare to say."""

from __future__ import annotations

import subprocess
import sys

import pytest

from hvdbench.compare.compare import arm_name, compare, render
from hvdbench.errors import NotComparableError, UsageError
from tests.unit.compare.builders import record, rounds


def test_9600_images_in_20_s_are_480_images_per_s() -> None:
    launch = record(rate=480.0, window_s=20.0)
    assert (launch.applied_images, launch.window_s) == (9600, 20.0)
    found = compare([launch])
    assert found.groups[0].images_per_s == 480.0
    assert "480.0" in render(found, "table") and "9600/9600" in render(found, "table")


def test_names_of_arms() -> None:
    assert arm_name(record("local")) == "local"
    assert arm_name(record("horovod")) == "horovod x2"
    assert arm_name(record("ps_sync")) == "ps_sync 1+2"
    assert arm_name(record("ps_sync", ps=2, config={"placement": "by_size"})) == "ps_sync 2+2 by_size"


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


def test_two_launches_are_too_few_for_anything_but_the_ratio() -> None:
    found = compare(rounds(local=(100.0, 100.0), ps_sync=(50.0, 50.0)))
    assert found.sentences == (
        "ps_sync 1+2 runs at 0.50x of local; too few launches to say more (2 and 2 launches, 3 a side are needed).",
    )
    assert found.groups[1].interval is None and found.groups[1].ratio_interval is None


def test_three_launches_give_an_interval_but_no_significance() -> None:
    found = compare(rounds(local=(100.0, 100.0, 100.0), ps_sync=(45.0, 48.0, 51.0)))
    assert found.sentences == (
        "ps_sync 1+2 runs at 0.48x [0.45, 0.51] of local; 3 and 3 launches cannot reach p < 0.05, 1 more a side could.",
    )
    assert "holds the true median only 75 % of the time" in found.notes[1]


def test_four_launches_can_be_significant_or_not() -> None:
    apart = compare(rounds(local=(100.0, 101.0, 102.0, 103.0), horovod=(50.0, 51.0, 52.0, 53.0)))
    assert apart.sentences[0].endswith("of local; a significant difference (Mann-Whitney p = 0.029, 4 and 4 launches).")
    mixed = compare(rounds(local=(100.0, 102.0, 104.0, 106.0), horovod=(101.0, 103.0, 105.0, 99.0)))
    assert "; no significant difference (" in mixed.sentences[0]


def test_six_launches_need_no_warning_of_narrow_intervals() -> None:
    assert len(compare([record(rate=rate) for rate in range(100, 106)]).notes) == 1


def test_horovod_is_set_against_ps_sync_too() -> None:
    three = compare(rounds(local=(100.0,), horovod=(60.0,), ps_sync=(40.0,)))
    assert [each[:42] for each in three.sentences] == [
        "horovod x2 runs at 0.60x of local; too few",
        "ps_sync 1+2 runs at 0.40x of local; too fe",
        "horovod x2 runs at 1.50x of ps_sync 1+2; t",
    ]
    assert len(compare(rounds(horovod=(60.0,), ps_sync=(40.0,))).sentences) == 1


def test_arms_of_as_many_workers_are_set_against_each_other() -> None:
    records = [record(), record("horovod"), record("horovod", workers=3), record("ps_sync")]
    assert [(each.name, each.reference) for each in compare(records).contrasts[3:]] == [("horovod x2", "ps_sync 1+2")]


def test_only_interleaved_launches_are_paired() -> None:
    rates = {"local": (10.0, 12.0, 20.0, 15.0), "horovod": (20.0, 24.0, 40.0, 30.0)}
    rotating = compare(rounds(**rates)).contrasts[0]
    assert rotating.paired and rotating.interval == (2.0, 2.0)
    apart = compare([*rounds(local=rates["local"]), *rounds(horovod=rates["horovod"])]).contrasts[0]
    assert not apart.paired and apart.interval != (2.0, 2.0)


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
