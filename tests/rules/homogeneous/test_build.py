"""What is said of a homogeneous mechanism."""

from __future__ import annotations

import pytest

import rainbowdp as rb
from kinds import homogeneous

FAR = "a miss may be any bin"


@pytest.mark.parametrize("boundary", [None, ["0.4", "0.3", "0.3"]])
def test_a_quantile_is_told_that_a_miss_may_be_far_off(boundary: list[str] | None) -> None:
    """Its bins are ordered, and all but the true one are alike, or as they are listed."""
    asked = rb.Quantile("1/2", range(4))
    claim = rb.optimal(asked, rb.DP(1), boundary).claim
    assert claim is not None
    assert FAR in claim


def test_nothing_is_far_among_two_bins_or_where_answers_have_no_order() -> None:
    assert homogeneous(rb.Quantile("1/2", range(3)), rb.DP(1)).claim == "optimal for two answers"
    assert FAR not in (homogeneous(rb.Winner(["a", "b", "c"]), rb.DP(1)).claim or "")


def test_best_says_so_where_it_takes_one() -> None:
    """A δ of a half makes it the nearest in the mean, which says nothing of how far a miss is."""
    taken = rb.best(rb.Quantile("1/2", range(4)), rb.DP("0.01", "0.5"))
    assert taken.name == "homogeneous"
    assert FAR in (taken.claim or "")
