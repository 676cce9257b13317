"""How amounts are shown."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rainbowdp.ledger import DPCost, GaussianCost


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("7/10", "0.7"),
        ("1/1000000", "0.000001"),
        ("1e-9", "1e-9"),
        ("1/3", "1/3"),
        ("1/4", "0.25"),
        ("0", "0"),
        ("1000000", "1000000"),
        ("12/7", "12/7"),
        (0.1, "≈0.1"),
        ("123456789/1000000007", "≈0.123456788136"),
    ],
)
def test_amounts_are_decimals_where_these_are_exact(value: Any, shown: str) -> None:
    cost = DPCost(Fraction(value), Fraction(0))
    assert cost.shown() == {"epsilon": shown, "delta": "0"}
    assert str(cost) == f"epsilon {shown}, delta 0"


@given(st.fractions(0, 9))
def test_an_amount_without_a_sign_of_rounding_is_exact(value: Fraction) -> None:
    shown = DPCost(value, Fraction(0)).shown()["epsilon"]
    if shown.startswith("≈"):
        assert Fraction(shown[1:]) == pytest.approx(value, rel=1e-11)
    else:
        assert Fraction(shown) == value
    mu = GaussianCost(value).shown()["mu"]
    if not mu.startswith("≈"):
        assert Fraction(mu) ** 2 == value
