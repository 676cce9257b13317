"""What may be spent: each number in its place, and what was given as it was given."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

import rainbowdp as rb
from ledgers import says
from rainbowdp.errors import InvalidGuarantee
from rainbowdp.guarantees.conversions import mu_within, rho_within
from rainbowdp.ledger import Cost, DPCost, GaussianCost, ZeroConcentratedCost
from rainbowdp.ledger.amounts import rounded_down
from rainbowdp.ledger.budget import as_given, budget

MILLIONTH, HALF = Fraction(1, 10**6), Fraction(1, 2 * 10**6)
CONVERTED: dict[str, Any] = {"epsilon": 3, "delta": MILLIONTH, "delta_apart": HALF}
REST = rb.DP(3, HALF)


@pytest.mark.parametrize(
    ("options", "total"),
    [
        ({"epsilon": 2}, DPCost(Fraction(2), Fraction(0))),
        ({"epsilon": 2, "delta": 1}, DPCost(Fraction(2), Fraction(1))),
        ({"epsilon": 2, "delta": MILLIONTH}, DPCost(Fraction(2), MILLIONTH)),
        ({"mu": 3, "delta": MILLIONTH}, GaussianCost(Fraction(9), MILLIONTH)),
        ({"rho": 3, "delta": MILLIONTH}, ZeroConcentratedCost(Fraction(3), MILLIONTH)),
        (
            {**CONVERTED, "spend_in": "rho"},
            ZeroConcentratedCost(rounded_down(rho_within(REST)), HALF),
        ),
        (
            {**CONVERTED, "spend_in": "mu"},
            GaussianCost(rounded_down(mu_within(REST) ** 2), HALF),
        ),
    ],
    ids=str,
)
def test_each_number_is_in_its_place(options: dict[str, Any], total: Cost) -> None:
    assert budget(**options) == total


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"mu": 1, "spend_in": "rho"},
            "spend_in='rho' is for a budget in epsilon and delta; leave it out.",
        ),
        (
            {"epsilon": 1, "delta": "1e-6", "spend_in": "sigma"},
            "spend_in must be 'mu' or 'rho', got spend_in='sigma'.",
        ),
        (
            {"epsilon": 1, "delta": "1e-6", "delta_apart": "2e-6", "spend_in": "mu"},
            "delta_apart must be smaller than delta, got delta_apart=0.000002 and delta=0.000001. ",
        ),
        ({"epsilon": 1, "delta": "1.5"}, "The delta of a budget must be between 0 and 1"),
    ],
)
def test_what_is_no_budget(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidGuarantee, match=says(message, "")):
        budget(**options)


@pytest.mark.parametrize(
    ("numbers", "said"),
    [
        (("0.5", 0, None, None, None, 0), {"epsilon": "1/2", "delta": "0"}),
        ((None, 0, 2, None, None, 0), {"delta": "0", "mu": "2"}),
        ((None, "1e-6", None, "1/8", None, 0), {"delta": "1/1000000", "rho": "1/8"}),
        (
            (3, "1e-6", None, None, "mu", "5e-7"),
            {
                "epsilon": "3",
                "delta": "1/1000000",
                "delta_apart": "1/2000000",
                "spend_in": "mu",
            },
        ),
        (
            (3, "1e-6", None, None, "rho", 0),
            {"epsilon": "3", "delta": "1/1000000", "spend_in": "rho"},
        ),
    ],
)
def test_a_budget_is_kept_as_it_was_given(numbers: Any, said: dict[str, str]) -> None:
    assert as_given(*numbers) == said
