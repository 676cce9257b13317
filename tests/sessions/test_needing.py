"""How sure at which margin, turned into a guarantee: enough, and with a little less not enough."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from pathlib import Path
from statistics import NormalDist
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rainbowdp as rb
from ledgers import new_ledger
from rainbowdp.guarantees.guarantee import Guarantee

YES = rb.Threshold(100, "ward", equals="x")
RECORDS = 11  # of which 5, 3 and 3 are a margin of 2 with two rivals as near as can be
THREE = rb.Winner(["red", "green", "blue"], "vote")


def scaled(guarantee: Guarantee, factor: str) -> Guarantee:
    """The same guarantee with its number times a factor."""
    if isinstance(guarantee, rb.DP):
        assert guarantee.exact_epsilon is not None
        return rb.DP(guarantee.exact_epsilon * Fraction(factor), guarantee.exact_delta)
    if isinstance(guarantee, rb.GaussianDP):
        return rb.GaussianDP(guarantee.exact_mu * Fraction(factor))
    assert isinstance(guarantee, rb.ZeroConcentrated)
    return rb.ZeroConcentrated(guarantee.exact_rho * Fraction(factor))


@given(st.integers(7000, 9999), st.integers(1, 9))
@settings(deadline=None, max_examples=4)
def test_two_answers_need_what_the_closed_form_says(wanted: int, margin: int) -> None:
    """One answer at margin m has 1 - e^(-ε(m - 1)) / (1 + e^ε), or Φ(μ(m - ½))."""
    sure = wanted / 10_000

    def chance(epsilon: float) -> float:
        return 1 - math.exp(-epsilon * (margin - 1)) / (1 + math.exp(epsilon))

    found = rb.guarantee_for(YES, sure=f"{wanted}e-4", margin=margin)
    assert isinstance(found, rb.DP)
    assert chance(found.epsilon) >= sure - 1e-9
    assert chance(found.epsilon * 0.999) < sure
    mu = NormalDist().inv_cdf(sure) / (margin - 0.5)
    found = rb.guarantee_for(YES, sure=f"{wanted}e-4", margin=margin, currency="mu")
    assert isinstance(found, rb.GaussianDP)
    assert mu * (1 - 1e-9) <= found.mu <= mu * 1.001


def least_margin(counts: tuple[int, ...]) -> int:
    """How many votes must go from the first of the largest to another before that one wins."""
    first = counts.index(max(counts))
    for moved in range(1, sum(counts) + 2):
        for rival, votes in enumerate(counts):
            gap = votes + moved - (counts[first] - moved)
            if rival != first and (gap > 0 or (gap == 0 and rival < first)):
                return moved
    raise AssertionError


def worst(question: rb.Winner, guarantee: Guarantee, margin: int, records: int, kind: Any) -> float:
    """The least chance of the true answer, over all tables of so many records with this margin."""
    made = rb.best(question, guarantee) if kind is None else rb.by_kind(question, guarantee, kind)
    rows, found = made.exact(), []
    names = question.answers
    for counts in product(range(records + 1), repeat=len(names)):
        if sum(counts) == records and least_margin(counts) == margin:
            row = rows[dict(zip(names, counts, strict=True))]
            found.append(float(row[names[counts.index(max(counts))]]))
    return min(found)


@pytest.mark.parametrize(
    ("wishes", "less"),
    [
        ({}, "0.95"),
        pytest.param({"currency": "rho"}, "0.998", marks=pytest.mark.slow),
        pytest.param({"currency": "mu"}, "0.999", marks=pytest.mark.slow),
        ({"kind": "exponential"}, "0.999"),
        ({"kind": "homogeneous"}, "0.999"),
    ],
)
def test_the_worst_table_of_all_is_sure_enough_and_no_surer(
    wishes: dict[str, Any], less: str
) -> None:
    found = rb.guarantee_for(THREE, sure="0.9", margin=2, **wishes)
    kind = wishes.get("kind")
    assert worst(THREE, found, 2, RECORDS, kind) >= 0.9 - 1e-12
    assert worst(THREE, scaled(found, less), 2, RECORDS, kind) < 0.9


@pytest.mark.parametrize("sure", ["0.6", "0.8", "0.97"])
@pytest.mark.parametrize("margin", [1, 2])
def test_what_was_found_is_enough_whatever_was_tried_on_the_way(sure: str, margin: int) -> None:
    """Tables are tried that are not enough, too."""
    found = rb.guarantee_for(THREE, sure=sure, margin=margin)
    assert rb.best(THREE, found).by_margin([margin])[0][1] >= Fraction(sure)


def test_tables_need_less_than_permute_and_flip_which_stands_in_for_them() -> None:
    found = rb.guarantee_for(THREE, sure="0.95", margin=2)
    stand_in = rb.guarantee_for(THREE, sure="0.95", margin=2, kind="permute-and-flip")
    assert isinstance(found, rb.DP)
    assert isinstance(stand_in, rb.DP)
    assert found.epsilon < 0.85 * stand_in.epsilon
    made = rb.plan({"vote": rb.Target(THREE, sure="0.95", margin=2)}, currency="epsilon")
    assert made.guarantee == found  # a plan finds the same


@pytest.mark.parametrize("question", [YES, THREE])
def test_each_group_is_that_sure(question: Any) -> None:
    polls = rb.Grouped(question, "district", ["north", "south"])
    found = rb.guarantee_for(polls, sure="0.95", margin=4)
    for factor, enough in (("1", True), ("0.95", False)):
        inner: Any = rb.best(polls, scaled(found, factor)).inner
        assert (inner.by_margin([4])[0][1] >= 0.95) is enough


def test_counts_and_keys() -> None:
    count = rb.Count("age", minimum=65)
    found = rb.guarantee_for(count, sure="0.99", margin=5)
    noise = rb.best(count, found).noise
    assert noise.half_width(Fraction(99, 100)) == 5
    assert rb.best(count, scaled(found, "0.999")).noise.half_width(Fraction(99, 100)) == 6
    keys = rb.Keys("ill")
    found = rb.guarantee_for(keys, sure="0.9", margin=30, delta="1e-6")
    assert rb.best(keys, found).people_for(Fraction(9, 10)) == 30
    assert rb.best(keys, scaled(found, "0.99")).people_for(Fraction(9, 10)) > 30


def test_a_power_and_expected_shares() -> None:
    test = rb.ProportionTest("0.5", "vote", equals="x", records=40)
    found = rb.guarantee_for(test, sure="0.8", shares={"matching": "0.8"})
    assert rb.best(test, found).power(Fraction("0.8")) >= 0.8
    assert rb.best(test, scaled(found, "0.999")).power(Fraction("0.8")) < 0.8
    shares = {"red": "0.6", "green": "0.4"}
    vote = rb.Winner(["red", "green"], "vote")
    found = rb.guarantee_for(vote, sure="0.9", shares=shares, people=20)
    assert rb.best(vote, found)[{"red": 12, "green": 8}]["red"] >= 0.9
    assert rb.best(vote, scaled(found, "0.999"))[{"red": 12, "green": 8}]["red"] < 0.9


@pytest.mark.parametrize(
    ("question", "wishes", "message"),
    [
        (YES, {"sure": "0.99"}, "at which margin"),
        (YES, {"sure": "0.5", "margin": 5}, "above 50 %, got 50 %: one of 2 answers"),
        (YES, {"sure": 1, "margin": 5}, "no ε makes an answer certain"),
        (YES, {"sure": "0.99", "margin": 5, "currency": "nu"}, "epsilon, mu or rho, got 'nu'"),
        (YES, {"sure": "0.99", "margin": 5, "currency": "mu", "delta": "1e-6"}, "leave it out"),
        (YES, {"sure": "0.99", "margin": 5, "kind": "ordered-bins"}, "ordered bins are for"),
        (rb.Keys("ill"), {"sure": "0.9", "margin": 30}, "keys need a delta"),
        (rb.ProportionTest("0.5", records=9), {"sure": "0.9"}, "a test needs the share"),
    ],
)
def test_what_cannot_be_found(question: Any, wishes: dict[str, Any], message: str) -> None:
    with pytest.raises(rb.RainbowError, match=message):
        rb.guarantee_for(question, **wishes)


def test_a_session_takes_certainty_for_a_guarantee(tmp_path: Path) -> None:
    ledger = new_ledger(tmp_path / "budget.db", epsilon=3)
    session = rb.Session({"red": 90, "green": 10}, ledger, source="votes")
    release = session.winner(["red", "green"], None, sure="0.99", margin=5)  # type: ignore[arg-type]
    assert release.entry is not None
    assert release.entry.guarantee == rb.DP("0.8499")
    asked = session.questions.winner(["red", "green"], None)  # type: ignore[arg-type]
    assert str(session.price(asked, sure="0.99", margin=5)) == "epsilon 0.8499, delta 0"
    assert session.explain(asked, sure="0.99", margin=5).mechanism.guarantee == rb.DP("0.8499")
    with pytest.raises(rb.InvalidGuarantee, match="either epsilon or sure: leave out"):
        session.explain(asked, epsilon=1, sure="0.99", margin=5)
    with pytest.raises(rb.InvalidGuarantee, match="margin belongs to sure"):
        session.explain(asked, epsilon=1, margin=5)


@pytest.mark.parametrize("sure", ["0.6", "0.9", "0.99"])
@pytest.mark.parametrize(
    ("question", "kind"),
    [(YES, None), (THREE, "permute-and-flip"), (THREE, "exponential"), (THREE, "homogeneous")],
)
def test_one_less_in_the_fourth_digit_is_not_enough(
    question: Any, kind: str | None, sure: str
) -> None:
    for margin in (1, 2, 7):
        found = rb.guarantee_for(question, sure=sure, margin=margin, kind=kind)
        assert isinstance(found, rb.DP)
        assert found.exact_epsilon is not None
        digit = Fraction(10) ** (math.floor(math.log10(found.epsilon)) - 3)
        less = rb.DP(found.exact_epsilon - digit)
        made = rb.best(question, less) if kind is None else rb.by_kind(question, less, kind)
        assert made.exact().rule.chances(question, margin)[0] < float(sure)
