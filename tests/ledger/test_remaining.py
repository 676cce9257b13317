"""How many answers are left, and prices as people write them."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rainbowdp as rb
from ledgers import says
from rainbowdp.errors import LedgerError
from rainbowdp.ledger import DPCost
from rainbowdp.ledger.remaining import answers_left, in_words, price_in_words

PARTS = st.fractions(0, 3, max_denominator=6)


@given(PARTS, PARTS, PARTS, PARTS)
def test_so_many_answers_fit_and_not_one_more(
    epsilon: Fraction, delta: Fraction, each: Fraction, share: Fraction
) -> None:
    left, cost = DPCost(epsilon, delta), DPCost(each, share)
    many = answers_left(left, cost)
    if not any(cost.parts):
        assert many is None
        return
    assert many is not None
    assert each * many <= epsilon
    assert share * many <= delta
    assert each * (many + 1) > epsilon or share * (many + 1) > delta


@pytest.mark.parametrize(
    ("text", "kind", "price"),
    [
        ("0.1", "dp", rb.DP("0.1")),
        (" 0.1 ", "gaussian", rb.GaussianDP("0.1")),
        ("0.1", "zero-concentrated", rb.ZeroConcentrated("0.1")),
        ("mu 0.1", "zero-concentrated", rb.GaussianDP("0.1")),
        ("epsilon=0.1", "gaussian", rb.DP("0.1")),
        ("rho = 0.1", "dp", rb.ZeroConcentrated("0.1")),
        ("epsilon  1/3", "zero-concentrated", rb.DP("1/3")),
    ],
)
def test_a_price_in_words(text: str, kind: str, price: Any) -> None:
    assert price_in_words(text, kind) == price


@pytest.mark.parametrize("text", ["sigma 0.1", "0.1 0.2", "delta=1"])
def test_a_price_in_an_unknown_currency(text: str) -> None:
    message = "A price is a number, or one after epsilon, mu or rho, got "
    with pytest.raises(LedgerError, match=says(message, ": write 0.1, or mu 0.1.")):
        price_in_words(text, "dp")


@pytest.mark.parametrize("text", ["-1", "much", "mu -1", ""])
def test_a_price_that_is_none(text: str) -> None:
    with pytest.raises(LedgerError, match=says(f"The price {text!r} is none: ", ".")):
        price_in_words(text, "dp")


@pytest.mark.parametrize(
    ("many", "words"),
    [
        (0, "0 more answers"),
        (1, "1 more answer"),
        (1400, "1,400 more answers"),
        (None, "any number of answers"),
    ],
)
def test_answers_left_in_words(many: int | None, words: str) -> None:
    assert in_words(many) == words
