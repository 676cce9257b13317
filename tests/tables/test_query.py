"""SQL that counts: numbers in it are exact."""

from __future__ import annotations

import decimal

import pytest

from rainbowdp.questions.weights import Weight
from rainbowdp.tables.query import in_units


@pytest.mark.parametrize("digits", [2, 28])
@pytest.mark.parametrize("limit", ["12.357", "2.5", "1000000", "0.001"])
def test_no_weight_counts_for_more_than_the_limit_whatever_a_program_has_set(
    digits: int, limit: str
) -> None:
    """A limit that is rounded up would let weights pass that have more units than there may be."""
    weight = Weight("dose", limit)
    with decimal.localcontext(prec=digits):
        text = in_units("w", weight, "floor({0})")
    told = text.split("WHEN w >= ")[1].split(" ")[0]
    assert decimal.Decimal(told) == decimal.Decimal(limit)
    assert f"THEN {weight.units} " in text
    assert f"WHEN w < {told} THEN floor(w * 1000 + 0.5) END" in text
