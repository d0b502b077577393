"""Placement against published figures and against what must hold of any placement."""

from __future__ import annotations

import random
from math import prod

import pytest

from hvdbench import models
from hvdbench.errors import UsageError
from hvdbench.models.spec import Variable
from hvdbench.plan import advice, plan
from hvdbench.strategies.placement import POLICIES, assign, elements_per_ps

ALEXNET = models.spec("alexnet").variables()
# Relative sizes; the unit is irrelevant to shares.
C08 = [Variable(f"v{index}", (megabytes,), 0) for index, megabytes in enumerate([1, 93, 15, 4])]


@pytest.mark.parametrize("ps, share", [(1, 1.0), (2, 1.0), (4, 0.70), (8, 0.62)])
def test_alexnet_under_round_robin_has_the_published_hottest_share(ps: int, share: float) -> None:
    # C01: weight, bias, weight, bias: with 2 PS every weight is on ps 0.
    assert round(plan(ALEXNET, ps, 1, "round_robin").hottest_share, 2) == share


@pytest.mark.parametrize("ps", [2, 4, 8])
def test_sharding_balances_alexnet(ps: int) -> None:
    assert plan(ALEXNET, ps, 1, "sharded").max_over_mean < 1.05


def test_c08_round_robin_and_greedy_are_equally_bad_and_sharding_is_advised() -> None:
    plans = {policy: plan(C08, 4, 4, policy) for policy in POLICIES}
    assert plans["round_robin"].max_over_mean == pytest.approx(93 / 28.25)
    assert plans["greedy"].max_over_mean == pytest.approx(93 / 28.25)
    for chosen in ("round_robin", "greedy"):
        told = advice(C08, plans, chosen)
        assert told is not None and "3.29 times" in told and "--placement sharded" in told and "v1" in told
    assert advice(C08, plans, "sharded") is None


def test_greedy_is_advised_where_no_variable_dominates() -> None:
    sizes = [Variable(f"v{index}", (size,), 0) for index, size in enumerate([30, 1, 30, 1, 30, 1, 30, 1])]
    plans = {policy: plan(sizes, 2, 2, policy) for policy in POLICIES}
    told = advice(sizes, plans, "round_robin")
    assert told is not None and "--placement greedy" in told


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("seed", range(12))
def test_any_placement_keeps_every_element_once(policy: str, seed: int) -> None:
    draw = random.Random(seed)
    variables = [Variable(f"v{i}", tuple(draw.randint(1, 40) for _ in range(draw.randint(1, 4))), 0) for i in range(12)]
    ps = draw.randint(1, 9)
    pieces = assign(variables, ps, policy)
    assert sum(elements_per_ps(pieces, ps)) == sum(each.elements for each in variables)
    assert all(0 <= piece.ps < ps for piece in pieces)
    for variable in variables:
        parts = [piece for piece in pieces if piece.variable == variable.name]
        ends = [part.begin + part.shape[part.axis] for part in parts]
        assert [part.begin for part in parts] == [0, *ends[:-1]]
        assert ends[-1] == variable.shape[parts[0].axis]
        assert len({part.name for part in parts}) == len(parts)
        assert all(prod(part.shape) == part.elements > 0 for part in parts)


def test_order_of_creation_is_kept() -> None:
    for policy in POLICIES:
        names = list(dict.fromkeys(piece.variable for piece in assign(ALEXNET, 4, policy)))
        assert names == [each.name for each in ALEXNET]


def test_an_unknown_policy_lists_the_known_ones() -> None:
    with pytest.raises(UsageError, match="round_robin, greedy, sharded"):
        assign(ALEXNET, 2, "nonsense")
