"""Margins of many answers, which are found all at once, against their definitions one by one."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rainbowdp.questions import Quantile, Winner
from rainbowdp.questions.quantile import margins_of_a_quantile
from rainbowdp.questions.relations import Neighbors
from rainbowdp.questions.winner import margins_of_a_vote

FEW = st.lists(st.integers(0, 6), min_size=24, max_size=40)
FAR = st.lists(st.integers(0, 10**9), min_size=24, max_size=40)


def short(counts: list[int], v: int, final: int) -> int:
    """How many records the others must lose before v wins with ``final``."""
    return sum(max(0, n - (final - (i < v))) for i, n in enumerate(counts) if i != v)


def substituted(counts: list[int], v: int) -> int:
    return next(t for t in itertools.count(1) if short(counts, v, counts[v] + t) <= t)


def coming(counts: list[int], v: int) -> int:
    finals = range(max(counts[v], min(v, 1)), max(counts) + 2)
    return min(final - counts[v] + short(counts, v, final) for final in finals)


@given(FEW)
@settings(deadline=None)
def test_votes(counts: list[int]) -> None:
    true = counts.index(max(counts))
    for neighbors, margin in (
        (Neighbors.SUBSTITUTED, substituted),
        (Neighbors.ADDED_OR_REMOVED, coming),
    ):
        due = [0 if v == true else margin(counts, v) for v in range(len(counts))]
        assert margins_of_a_vote(counts, neighbors) == due


@given(FAR, st.sampled_from(list(Neighbors)), st.sampled_from([0, 10**30]))
@settings(deadline=None)
def test_large_counts_are_found_in_the_other_way(
    counts: list[int], neighbors: Neighbors, more: int
) -> None:
    """Margins depend on differences: beyond 64 bits the same ones are found one by one."""
    least = margins_of_a_vote([count + 10 for count in counts], neighbors)
    assert margins_of_a_vote([count + 10 + more for count in counts], neighbors) == least


def changed(q: Fraction, left: int, own: int, right: int, first: bool) -> int:
    """The fewest records that come or go before the middle holds the quantile: all are tried."""
    for cost in itertools.count():
        for a, b in itertools.product(range(-cost, cost + 1), repeat=2):
            spare = cost - abs(a) - abs(b)
            for c in {spare, -spare} if spare >= 0 else ():
                lower, middle, upper = left + a, own + b, right + c
                if min(lower, middle, upper) < 0 or (first and lower):
                    continue
                total = lower + middle + upper
                if lower < q * total <= lower + middle or (first and total == 0):
                    return cost
    raise AssertionError("counting does not end")


@given(
    st.lists(st.sampled_from([0, 0, 0, 1, 2]), min_size=24, max_size=28),
    st.sampled_from(["1/2", "9/10", "1/100", "2/7"]),
)
@settings(deadline=None, max_examples=10)
def test_quantiles(counts: list[int], q: str) -> None:
    found = margins_of_a_quantile(Fraction(q), counts, Neighbors.ADDED_OR_REMOVED)
    ends = list(itertools.accumulate(counts))
    for v in {0, 1, 7, 12, 18, len(counts) - 1}:
        left, right = ends[v] - counts[v], ends[-1] - ends[v]
        if (left < Fraction(q) * ends[-1] <= ends[v]) or min(left, right) <= 3:
            assert found[v] == changed(Fraction(q), left, counts[v], right, v == 0)


@given(FEW, st.sampled_from(["1/2", "9/10", "1/100", "2/7"]))
@settings(deadline=None)
def test_quantiles_where_records_are_substituted(counts: list[int], q: str) -> None:
    """A bin holds the quantile once enough records have moved past the edges below or above it."""
    total = sum(counts)
    rank = max(1, math.ceil(Fraction(q) * total))
    found = margins_of_a_quantile(Fraction(q), counts, Neighbors.SUBSTITUTED)
    for v, margin in enumerate(found):
        left, upto = sum(counts[:v]), sum(counts[: v + 1])
        due = max(rank - upto, left - rank + 1, 0) if total else min(v, 1)
        assert margin == due


@given(FAR, st.sampled_from(list(Neighbors)), st.sampled_from([1, 2, 7]))
@settings(deadline=None, max_examples=30)
def test_an_array_has_the_margins_of_a_person(
    counts: list[int], neighbors: Neighbors, rows: int
) -> None:
    counts = [count + 1 for count in counts]  # an empty table has none
    names = [str(number) for number in range(len(counts))]
    for question in (
        Winner(names, neighbors=neighbors, rows_per_person=rows),
        Quantile("1/3", range(len(counts) + 1), neighbors=neighbors, rows_per_person=rows),
    ):
        together = question.many_margins_of(counts)
        assert together is not None
        assert together.tolist() == list(question.margins_of(counts).values())
        one = question._distances(counts)
        assert together.tolist() == [math.ceil(Fraction(margin, rows)) for margin in one]
    assert question.many_margins_of(counts[:3]) is None


@given(FAR, st.sampled_from(["1/2", "9/10", "1/1000003", "2/7"]))
@settings(deadline=None)
def test_bins_that_are_split_have_the_margins_of_fewer(counts: list[int], q: str) -> None:
    """Seen from one bin all lower ones are one, and all higher ones: three are found one by one."""
    found = margins_of_a_quantile(Fraction(q), counts, Neighbors.ADDED_OR_REMOVED)
    for v in (1, 11, len(counts) - 2):
        three = [sum(counts[:v]), counts[v], sum(counts[v + 1 :])]
        assert found[v] == margins_of_a_quantile(Fraction(q), three, Neighbors.ADDED_OR_REMOVED)[1]


@pytest.mark.parametrize("neighbors", list(Neighbors))
def test_an_empty_table_and_one_record(neighbors: Neighbors) -> None:
    size = 30
    names = [str(number) for number in range(size)]
    vote = Winner(names, neighbors=neighbors)
    assert list(vote.margins({}).values()) == [0] + [1] * (size - 1)
    bins = Quantile("1/2", range(size + 1), neighbors=neighbors)
    assert list(bins.margins({}).values()) == [0] + [1] * (size - 1)
    last = bins.answers[-1]
    assert bins.margins({last: 1})[last] == 0
    assert bins.margins({last: 1})[bins.answers[0]] == 1
