"""Main effects and interaction of the two-by-two against the arithmetic of the design."""

from __future__ import annotations

from math import exp, log

import pytest

from hvdbench.diagnose import rungs, words
from hvdbench.diagnose.evidence import Sample
from hvdbench.diagnose.square import Effect, Square, square

CELLS = (rungs.ASKED, rungs.MPI_STAR, rungs.COLLECTIVE, rungs.HOROVOD)


def found(sg: float, sm: float, rg: float, rm: float, launches: int = 3, noise: float = 0.0) -> Square | None:
    """The square of launches around these step times."""
    spread = [1 + noise * (turn - (launches - 1) / 2) for turn in range(launches)]
    steps = dict(zip(CELLS, (sg, sm, rg, rm), strict=True))
    return square({key: [Sample(step * each) for each in spread] for key, step in steps.items()})


def test_a_pure_change_of_topology() -> None:
    result = found(4.0, 2.0, 2.0, 1.0)
    assert result is not None
    # Half the step at either transport: ln 2 each way, and no interaction.
    assert result.topology.log == pytest.approx(log(2)) and result.topology.saved == pytest.approx(0.5)
    assert result.transport.log == pytest.approx(log(2))
    assert result.interaction.log == pytest.approx(0.0)


def test_only_grpc_at_the_star_is_slow() -> None:
    result = found(4.0, 1.0, 1.0, 1.0)
    assert result is not None
    assert result.topology.log == result.transport.log == pytest.approx(log(4) / 2)
    assert result.interaction.log == pytest.approx(log(4))


def test_the_interval_covers_the_noise_and_no_more() -> None:
    result = found(1.05, 1.05, 1.0, 1.0, noise=0.2)
    assert result is not None and not result.topology.clear
    low, high = result.topology.log_interval
    assert low < log(1.05) < high
    clear = found(2.0, 2.0, 1.0, 1.0, noise=0.02)
    assert clear is not None and clear.topology.clear and not clear.transport.clear


def test_without_three_launches_in_every_cell_there_is_no_square() -> None:
    assert found(1.0, 1.0, 1.0, 1.0, launches=2) is None
    assert square({rungs.ASKED: [Sample(1.0)] * 3}) is None


def test_an_effect_is_one_sentence_in_its_own_direction() -> None:
    saves = Effect(-log(1 - 0.38), (-log(1 - 0.33), -log(1 - 0.42)))
    said = words.effect_sentence("star to ring", "transport", saves)
    assert said == "Changing star to ring at equal transport saves 38 % [33, 42] of the step."
    costs = Effect(log(1 / 1.5), (log(1 / 1.6), log(1 / 1.4)))
    assert costs.saved == pytest.approx(1 - exp(log(1.5)))
    assert "costs 50 % [40, 60] of the step" in words.effect_sentence("star to ring", "transport", costs)
    assert "nothing that is clear" in words.effect_sentence("a to b", "c", Effect(0.1, (-0.1, 0.3)))
