"""How amounts are shown."""

from __future__ import annotations

import decimal
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
        ("1e-7", "1e-7"),
        ("1e-9", "1e-9"),
        ("1/3", "1/3"),
        ("1/4", "0.25"),
        ("0", "0"),
        ("1000000", "1000000"),
        ("1e11", "100000000000"),
        ("1e12", "1e+12"),
        ("10000/765433", "10000/765433"),
        ("10000/7654337", "≈0.0013064488799"),
        ("12/7", "12/7"),
        (0.1, "≈0.1"),
        ("123456789/1000000007", "≈0.123456788136"),
    ],
)
def test_amounts_are_decimals_where_these_are_exact(value: Any, shown: str) -> None:
    cost = DPCost(Fraction(value), Fraction(0))
    assert cost.shown() == {"epsilon": shown, "delta": "0"}
    assert str(cost) == f"epsilon {shown}, delta 0"


def test_an_amount_of_more_digits_than_python_prints_is_shown() -> None:
    """Such a one is not on the grid, but may be asked for."""
    assert DPCost(Fraction(1, 3**9100), Fraction(0)).shown()["epsilon"] == "≈1.57246885027e-4342"


def test_amounts_are_shown_alike_whatever_a_program_has_set_for_its_decimals() -> None:
    with decimal.localcontext(prec=3):
        assert DPCost(Fraction("0.123456"), Fraction(0)).in_symbols() == "ε 0.123456"
        assert GaussianCost(Fraction(2)).in_symbols() == "μ ≈1.41421356237"


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
