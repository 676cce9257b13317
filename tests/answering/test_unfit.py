"""Guarantees too small to be kept, and kinds asked for where there is none: one sentence each."""

from __future__ import annotations

from typing import Any

import pytest

import rainbowdp as rb
from rainbowdp.rules import FAMILIES

VOTE = rb.Winner(list("abcd"))
MEDIAN = rb.Quantile("1/2", range(5))
OWN = rb.Custom(list("abc"), lambda margins: margins, neighbors="substituted", name="own")
TINY = [
    rb.DP("1e-30"),
    rb.DP(0, "1e-30"),
    rb.GaussianDP("1e-30"),
    rb.ZeroConcentrated("1e-60"),
]


@pytest.mark.parametrize("question", [rb.Winner(["a", "b"]), VOTE, MEDIAN, rb.Threshold(3), OWN])
@pytest.mark.parametrize("promise", TINY, ids=str)
def test_what_is_too_small_to_be_kept_is_refused_in_one_sentence(
    question: Any, promise: Any
) -> None:
    with pytest.raises(rb.InvalidGuarantee, match="is too little for an answer that depends on"):
        rb.best(question, promise)
    for kind in FAMILIES:
        with pytest.raises(rb.InvalidGuarantee):
            rb.by_kind(question, promise, kind.kind)


def test_what_is_just_large_enough_is_kept() -> None:
    for promise in (rb.DP("1e-15"), rb.DP("1e-30", "0.1"), rb.GaussianDP("1e-8")):
        mechanism = rb.best(rb.Winner(["a", "b"], rows_per_person=2), promise)
        assert mechanism.check().exact
        assert mechanism.name == "homogeneous" or isinstance(promise, rb.GaussianDP)


@pytest.mark.parametrize(
    ("promise", "reason"),
    [
        (lambda: rb.DP("1e6"), r"epsilon must be in \[0, 700\], got epsilon=1e6"),
        (lambda: rb.GaussianDP("1e6"), r"mu must be in \[0, 30\], got mu=1e6"),
        (lambda: rb.ZeroConcentrated("1e6"), "rho must be greater than 0 and at most 450"),
    ],
)
def test_what_is_too_large_is_refused(promise: Any, reason: str) -> None:
    with pytest.raises(rb.InvalidGuarantee, match=reason):
        promise()


@pytest.mark.parametrize(
    ("kind", "question", "promise", "sentence"),
    [
        ("proximity", VOTE, rb.DP(1), r"holds from epsilon = 1\.0986, got 1-DP; use margin-table$"),
        ("ordered-bins", MEDIAN, rb.DP("0.1"), "need a larger epsilon, got 0.1-DP; use margin-f"),
        ("permute-and-flip", MEDIAN, rb.DP(1), "for a Winner or for a Ranking as a set, got a Qu"),
        ("margin-flip", MEDIAN, rb.GaussianDP(1), r"an \(ε,δ\) guarantee, got 1-GDP; use expon"),
        ("homogeneous", VOTE, rb.ZeroConcentrated(1), "has none; use exponential$"),
        ("margin-table", rb.Threshold(3), rb.DP(1), "got Threshold and 1-DP; use homogeneous$"),
    ],
)
def test_a_kind_that_does_not_apply_names_the_one_that_does(
    kind: str, question: Any, promise: Any, sentence: str
) -> None:
    with pytest.raises(rb.NotApplicable, match=sentence):
        rb.by_kind(question, promise, kind)
