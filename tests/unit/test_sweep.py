"""A sweep starts every strategy in every round, in an order that chance decides, with the options it was given."""

from __future__ import annotations

from pathlib import Path

import pytest

from hvdbench import cli, sweep


def parsed(*words: str) -> object:
    return cli.build_parser().parse_args(["sweep", *words])


def started(monkeypatch: pytest.MonkeyPatch, *words: str) -> list[str]:
    names: list[str] = []
    monkeypatch.setattr(sweep, "_launch", lambda name, argv: names.append(name))
    monkeypatch.setattr(cli, "cmd_compare", lambda args: 0)
    assert sweep.sweep(parsed(*words)) == 0  # type: ignore[arg-type]
    return names


def test_each_round_has_every_strategy_once(monkeypatch: pytest.MonkeyPatch) -> None:
    names = started(monkeypatch, "--repeats", "20")
    rounds = [names[index : index + 3] for index in range(0, 60, 3)]
    assert all(sorted(each) == ["horovod", "local", "ps_sync"] for each in rounds)
    assert len({tuple(each) for each in rounds}) > 2


def test_the_order_follows_from_the_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert started(monkeypatch, "--repeats", "9") == started(monkeypatch, "--repeats", "9")
    assert started(monkeypatch, "--repeats", "9") != started(monkeypatch, "--repeats", "9", "--seed", "2")


def test_every_strategy_gets_its_launcher_and_only_options_it_knows(tmp_path: Path) -> None:
    args = parsed("--placement", "sharded", "--workers", "3", "--delay-worker", "1:0.2", "--results-dir", str(tmp_path))
    local = sweep.launch_argv("local", args)  # type: ignore[arg-type]
    star = sweep.launch_argv("ps_sync", args)  # type: ignore[arg-type]
    ring = sweep.launch_argv("horovod", args)  # type: ignore[arg-type]
    assert "--placement" in star and "--placement" not in local + ring
    assert "--delay-worker" in star and "--delay-worker" in ring and "--delay-worker" not in local
    assert star[star.index("--workers") + 1] == "3" and "hvdbench.ps" in star
    assert ring[ring.index("-np") + 1] == "3" and ring[ring.index("--bind-to") + 1] == "none"
    for argv in (local, star, ring):
        assert argv[argv.index("--results-dir") + 1] == str(tmp_path)
