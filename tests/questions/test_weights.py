"""A record of weight ω is ω·10ᵖ records of one unit, of which one change moves so many."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rainbowdp as rb
from rainbowdp.errors import InvalidMechanism, RainbowError
from rainbowdp.questions import from_description, limited
from rainbowdp.questions.weights import Weight, limit_of
from rainbowdp.rules import FAMILIES

THREE = rb.Weight("w", "0.3", 1)  # three units
COUNTS = [{"red": 7, "green": 5, "blue": 0}, {"red": 1, "green": 9, "blue": 8}, {}]


@pytest.mark.parametrize("neighbors", ["substituted", "added or removed"])
@pytest.mark.parametrize("rows", [1, 2])
def test_margins_are_those_of_a_person_with_so_many_records(neighbors: str, rows: int) -> None:
    colors = ["red", "green", "blue"]
    pairs: list[tuple[Any, Any]] = [
        (
            rb.Winner(colors, "x", neighbors=neighbors, weight=THREE),
            rb.Winner(colors, neighbors=neighbors),
        ),
        (
            rb.Quantile("1/3", [0, 1, 2, 3], "x", neighbors=neighbors, weight=THREE),
            rb.Quantile("1/3", [0, 1, 2, 3], neighbors=neighbors),
        ),
        (
            rb.Share("2/3", "x", equals="a", neighbors=neighbors, weight=THREE),
            rb.Share("2/3", neighbors=neighbors),
        ),
        (
            rb.Threshold("0.7", "x", equals="a", neighbors=neighbors, weight=THREE),
            rb.Threshold(7, neighbors=neighbors),
        ),
    ]
    for weighed, plain in pairs:
        names = [name for name, _ in plain.groups]
        weighed, plain = limited(weighed, rows), limited(plain, 3 * rows)
        for counts in ((7, 5, 0), (1, 9, 8), (0, 0, 0), (20, 1, 2)):
            given_counts = dict(zip(names, counts, strict=False))
            assert weighed.margins(given_counts) == plain.margins(given_counts)


@pytest.mark.parametrize("family", [f.kind for f in FAMILIES])
@pytest.mark.parametrize("ties", ["first listed", "any leader"])
def test_every_kind_has_the_rows_of_such_a_person(family: str, ties: str) -> None:
    colors = ["red", "green", "blue"]
    weighed = rb.Winner(colors, "x", ties=ties, weight=THREE)
    plain = limited(rb.Winner(colors, ties=ties), 3)
    promise: Any = rb.ZeroConcentrated(1) if family == "exponential" else rb.DP(2)
    try:
        expected = rb.by_kind(plain, promise, family)
    except RainbowError:
        with pytest.raises(RainbowError):
            rb.by_kind(weighed, promise, family)
        return
    found = rb.by_kind(weighed, promise, family)
    for counts in COUNTS:
        assert found.exact()[counts] == expected.exact()[counts]


def test_a_file_of_a_weighed_vote_proves_itself(tmp_path: Any) -> None:
    vote = rb.Winner(["red", "green", "blue"], "x", weight=rb.Weight("w", "2.5"))
    mechanism = rb.by_kind(vote, rb.DP(1), "permute-and-flip")
    loaded = rb.load(mechanism.save(tmp_path / "m.json"))
    counts = {"red": 40_000, "green": 39_000, "blue": 1}
    assert loaded.at(counts).weights == mechanism.exact().at(counts).weights
    assert "of weights up to 5/2" in str(loaded.proof)
    content = mechanism.exact().describe()
    assert from_description(content["question"]) == vote


def test_a_file_that_claims_a_lighter_weight_is_refused() -> None:
    vote = rb.Winner(["red", "green", "blue"], "x", weight=THREE)
    exact = rb.by_kind(vote, rb.DP(1), "permute-and-flip").exact()
    heavier = {**vote.describe(), "weight": {"column": "w", "limit": "0.4", "places": 1}}
    with pytest.raises(InvalidMechanism):
        type(exact)(
            exact.guarantee,
            exact.answers,
            exact.rule,
            neighbors=exact.neighbors,
            question=heavier,
        )
    for wrong in ({"rows_per_person": 0}, {"rows_per_person": 1, "weight": {"limit": 1}}):
        with pytest.raises(InvalidMechanism):
            limit_of(wrong)


def test_coverage_in_weight() -> None:
    vote = rb.Winner(["red", "green", "blue"], "x", weight=rb.Weight("w", 10, 2))
    proves = rb.by_kind(vote, rb.DP(1), "permute-and-flip").proves()
    plain = rb.by_kind(rb.Winner(["red", "green", "blue"]), rb.DP(1), "permute-and-flip").proves()
    assert proves.within is not None
    assert plain.within is not None
    assert proves.within == pytest.approx(10 * plain.within, abs=10)
    assert "most weight, or at most" in proves.in_words("red")
    assert "less than the leader" in proves.in_words("red")


@given(st.floats(), st.integers(0, 6))
def test_floats_are_rounded_to_the_nearest_unit(value: float, places: int) -> None:
    weight = Weight("w", 7, places)
    found = weight.units_of(value)
    if math.isnan(value):
        assert found is None
        return
    clipped = min(max(value, 0.0), 7.0)
    assert found is not None
    assert abs(found - Fraction(clipped) * 10**places) <= Fraction(1, 2) + Fraction(1, 2**20)
    assert 0 <= found <= weight.units


@given(st.decimals(0, 7, allow_nan=False, places=6), st.integers(0, 6))
def test_decimals_are_rounded_exactly(value: Decimal, places: int) -> None:
    weight = Weight("w", 7, places)
    exactly = Fraction(value) * 10**places
    assert weight.units_of(value) == math.floor(exactly + Fraction(1, 2))
