"""The plain reader beside the package: on files that Hypothesis makes, at counts that it makes."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import rainbow_release
import rainbowdp as rb
from rainbowdp.rules import FAMILIES

KINDS = [family.kind for family in FAMILIES]
SOME = settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
COUNT = st.one_of(st.integers(0, 12), st.integers(0, 400), st.integers(0, 10**25))


@st.composite
def questions(draw: st.DrawFn) -> Any:
    """A question of any kind whose margins or counts the small readers work out."""
    shared: dict[str, Any] = {
        "neighbors": draw(st.sampled_from(["substituted", "added or removed"])),
        "rows_per_person": draw(st.sampled_from([1, 1, 2, 5])),
    }
    size = draw(st.integers(2, 5))
    names = list("abcde"[:size])
    kind = draw(st.sampled_from(["winner", "threshold", "share", "quantile", "ranking"]))
    if kind == "winner":
        ties = draw(st.sampled_from(["first listed", "any leader"]))
        return rb.Winner(names, ties=ties, **shared)
    if kind == "threshold":
        return rb.Threshold(draw(st.integers(1, 30)), **shared)
    if kind == "share":
        return rb.Share(draw(st.sampled_from(["1/2", "1/3", "9/10"])), **shared)
    if kind == "quantile":
        edges = [None, *range(10, 10 * size, 10), None]
        return rb.Quantile(draw(st.sampled_from(["1/2", "1/4", "9/10"])), edges, **shared)
    return rb.Ranking(names, first=1, **shared)


GUARANTEES = st.one_of(
    st.builds(rb.DP, st.sampled_from(["1/10", "0.5", "1", "2", "3.3"]), st.just(0)),
    st.builds(rb.DP, st.sampled_from(["0.5", "1", "2"]), st.sampled_from(["1e-6", "1/100"])),
    st.sampled_from([rb.DP.from_ratio(3, 2), rb.DP.from_ratio(2, delta="1e-5")]),
    st.sampled_from([rb.GaussianDP("1/2"), rb.GaussianDP("1.5")]),
    st.sampled_from([rb.ZeroConcentrated("1/8"), rb.ZeroConcentrated("1/50")]),
)


@cache
def made(question: Any, guarantee: Any, kind: str) -> tuple[Any, Any] | None:
    """A mechanism of the package and its file as the small reader has it; none if there is none."""
    if next(family for family in FAMILIES if family.kind == kind).costly:
        return None  # tables that are made anew; the golden files have one
    try:
        mechanism = rb.by_kind(question, guarantee, kind).exact()
    except rb.RainbowError:
        return None
    return mechanism, rainbow_release.loads(mechanism.as_text())


@SOME
@given(questions(), GUARANTEES, st.sampled_from(KINDS), st.data())
def test_rows_are_the_same(question: Any, guarantee: Any, kind: str, data: st.DataObject) -> None:
    found = made(question, guarantee, kind)
    if found is None:
        return
    mechanism, small = found
    assert small.proved
    most = 12 if kind == "noisy-counts" else None
    counts = {
        name: data.draw(COUNT if most is None else st.integers(0, most))
        for name, _ in question.groups
    }
    row = small.row(counts)
    wanted = mechanism.at(counts).weights
    total, other = sum(row), sum(wanted)
    assert [Fraction(a, total) for a in row] == [Fraction(b, other) for b in wanted]
    assert small.release(counts) in mechanism.answers


@SOME
@given(questions(), st.data())
def test_margins_are_the_same(question: Any, data: st.DataObject) -> None:
    """Two ways to work them out: a wrong one would break privacy."""
    from rainbow_release.question import Question

    counts = {name: data.draw(COUNT) for name, _ in question.groups}
    asked = Question(question.describe(), question.answers)
    assert asked.margins(counts) == list(question.margins(counts).values())


def test_weights_in_units(tmp_path: Any) -> None:
    vote = rb.Winner(["a", "b"], "vote", weight=rb.Weight("dose", "2.5", 1))
    mechanism = rb.by_kind(vote, rb.DP(1), "permute-and-flip").exact()
    small = rainbow_release.loads(mechanism.as_text())
    assert isinstance(small, rainbow_release.Mechanism)
    assert small._rule.scores.moves == 2 * 2 * 25
    fair = rb.Threshold("1.5", "vote", equals="a", weight=rb.Weight("dose", "2.5", 1))
    mechanism = rb.best(fair, rb.DP(1)).exact()
    small = rainbow_release.loads(mechanism.as_text())
    assert isinstance(small, rainbow_release.Mechanism)
    for units in (0, 14, 15, 16, 90):
        row = small.row({"matching": units})
        assert tuple(row) == mechanism.at({"matching": units}).weights


@pytest.mark.parametrize(
    "given_", [{"a": 1, "z": 2}, {"a": -1}, {"a": True}, {"a": 1.0}, {"a": "1"}, [1, 2], None]
)
def test_counts_that_are_none_are_refused(given_: Any) -> None:
    mechanism = rb.best(rb.Winner(["a", "b"]), rb.DP(1)).exact()
    small = rainbow_release.loads(mechanism.as_text())
    with pytest.raises(rainbow_release.Refused):
        small.release(given_)
