"""Margins against breadth-first search over every small histogram, and on huge counts."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any, TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rainbowdp.questions import Quantile, Quantiles, Ranking, Share, Threshold, Winner, limited

Histogram: TypeAlias = tuple[int, ...]  # the listed groups, then the uncounted records
Truth: TypeAlias = Callable[[Histogram], int]
BOTH: tuple[str, ...] = ("substituted", "added or removed")
QUANTILES = ["1/3", "1/2", "2/3", "9/10", "1/10", "3/7"]


def winner(counts: Histogram) -> int:
    return counts.index(max(counts))


def threshold(at_least: int) -> Truth:
    return lambda counts: 0 if counts[0] >= at_least else 1


def share(at_least: str) -> Truth:
    part = Fraction(at_least)
    return lambda counts: 0 if sum(counts) == 0 or Fraction(counts[0], sum(counts)) >= part else 1


def quantile(q: str) -> Truth:
    """The bin of the sorted record number max(1, ⌈qN⌉), found by writing all records out."""

    def truth(counts: Histogram) -> int:
        records = [bin_ for bin_, n in enumerate(counts) for _ in range(n)]
        share = Fraction(q)
        reached = (i for i, b in enumerate(records, 1) if i >= share * len(records))
        return records[next(reached) - 1] if records else 0

    return truth


def sizes(parts: int, most: int) -> Iterator[Histogram]:
    """Every tuple of ``parts`` counts with at most ``most`` records."""
    for counts in itertools.product(range(most + 1), repeat=parts):
        if sum(counts) <= most:
            yield counts


def steps(state: Histogram, neighbors: str) -> Iterator[Histogram]:
    for i, j in itertools.product(range(len(state)), repeat=2):
        moved = list(state)
        if neighbors == "substituted":
            moved[i] -= 1
            moved[j] += 1
        else:
            moved[i] += 1 if j % 2 else -1
        if min(moved) >= 0:
            yield tuple(moved)


def distances(
    states: list[Histogram], truth: Truth, answers: int, neighbors: str
) -> list[dict[Histogram, int]]:
    """For each answer, how far each state is from one with that true answer."""
    known = set(states)
    found = []
    for answer in range(answers):
        distance = {state: 0 for state in states if truth(state[:-1]) == answer}
        queue = deque(distance)
        while queue:
            state = queue.popleft()
            for after in steps(state, neighbors):
                if after in known and after not in distance:
                    distance[after] = distance[state] + 1
                    queue.append(after)
        found.append(distance)
    return found


def compare(question: Any, truth: Truth, groups: int, size: int) -> None:
    """Every histogram of at most ``size`` records against breadth-first search."""
    names = [name for name, _ in question.groups]
    answers = len(question.answers)
    if question.neighbors == "substituted":
        every = [
            [s for s in sizes(groups + 1, total) if sum(s) == total] for total in range(1, size + 1)
        ]
    else:  # uncounted records change nothing; leave room to grow
        every = [[(*s, 0) for s in sizes(groups, 2 * size + 3)]]
    for states in every:
        found = distances(states, truth, answers, question.neighbors)
        for state in states:
            if sum(state) > size:
                continue
            margins = question.margins(dict(zip(names, state[:-1], strict=True)))
            for answer, distance in zip(question.answers, found, strict=True):
                if state in distance:  # a table may be too small for an answer
                    assert margins[answer] == distance[state], (question, state, answer)
                else:
                    assert margins[answer] > 0


@pytest.mark.parametrize("neighbors", BOTH)
@pytest.mark.parametrize(("answers", "size"), [(2, 7), (3, 6), (4, 5)])
def test_winner(neighbors: str, answers: int, size: int) -> None:
    question = Winner(list("abcd"[:answers]), neighbors=neighbors)
    compare(question, winner, answers, size)


@pytest.mark.parametrize("neighbors", BOTH)
@pytest.mark.parametrize("at_least", [1, 2, 4])
def test_threshold(neighbors: str, at_least: int) -> None:
    compare(Threshold(at_least, neighbors=neighbors), threshold(at_least), 1, 7)


@pytest.mark.parametrize("neighbors", BOTH)
@pytest.mark.parametrize("at_least", ["1/2", "1/3", "2/3", "3/5", "1/100", "0.99", "3/7"])
def test_share(neighbors: str, at_least: str) -> None:
    compare(Share(at_least, neighbors=neighbors), share(at_least), 2, 9)


@pytest.mark.parametrize("neighbors", BOTH)
@pytest.mark.parametrize("q", QUANTILES)
@pytest.mark.parametrize(("bins", "size"), [(2, 7), (3, 5), (4, 4)])
def test_quantile(neighbors: str, q: str, bins: int, size: int) -> None:
    question = Quantile(q, range(bins + 1), neighbors=neighbors)
    compare(question, quantile(q), bins, size)


def test_margins_of_an_empty_table_are_positive_off_the_truth() -> None:
    assert Winner(["a", "b"]).margins({}) == {"a": 0, "b": 1}
    assert Quantile("1/2", [0, 1, 2]).margins({}) == {"< 1": 0, "≥ 1": 1}
    assert Threshold(3).margins({}) == {"yes": 3, "no": 0}


questions = st.one_of(
    st.builds(
        Winner,
        st.integers(2, 6).map(lambda q: list("abcdef"[:q])),
        neighbors=st.sampled_from(BOTH),
    ),
    st.builds(
        Ranking,
        st.integers(4, 6).map(lambda q: list("abcdef"[:q])),
        first=st.integers(1, 3),
        in_order=st.booleans(),
        neighbors=st.sampled_from(BOTH),
    ),
    st.builds(Threshold, st.integers(1, 10**12), neighbors=st.sampled_from(BOTH)),
    st.builds(
        Share,
        st.fractions("1/1000", "999/1000", max_denominator=1000),
        neighbors=st.sampled_from(BOTH),
    ),
    st.builds(
        Quantile,
        st.sampled_from([*QUANTILES, 0.1, 0.9]),
        st.integers(2, 6).map(lambda n: list(range(n + 1))),
        neighbors=st.sampled_from(BOTH),
    ),
)


several = st.builds(
    Quantiles,
    st.lists(st.sampled_from(QUANTILES), min_size=1, max_size=4, unique=True).map(
        lambda qs: sorted(qs, key=Fraction)
    ),
    st.integers(2, 5).map(lambda n: list(range(n + 1))),
    neighbors=st.sampled_from(BOTH),
)


@given(st.one_of(questions, several), st.data())
def test_neighbors_differ_by_at_most_one_and_one_answer_is_true(
    question: Winner | Ranking | Share | Threshold | Quantile | Quantiles, data: st.DataObject
) -> None:
    names = [name for name, _ in question.groups]
    base = data.draw(st.sampled_from([0, 5, 10**6, 10**12]))
    count = st.one_of(st.integers(max(0, base - 3), base + 3), st.integers(0, 10**12), st.just(0))
    counts = {name: data.draw(count) for name in names}
    limit = data.draw(st.integers(1, 4))
    neighbor = dict(counts)
    for _ in range(limit):
        places = st.sampled_from([None, *names])
        goes, comes = data.draw(places), data.draw(places)
        if question.neighbors == "added or removed" and goes is not None:
            comes = None
        if goes is not None and neighbor[goes]:
            neighbor[goes] -= 1
        if comes is not None:
            neighbor[comes] += 1
    question = limited(question, limit)
    one, other = question.margins(counts), question.margins(neighbor)
    assert sorted(one.values())[:2].count(0) == 1
    assert all(type(margin) is int for margin in one.values())
    assert all(abs(one[answer] - other[answer]) <= 1 for answer in question.answers)


@given(
    st.lists(st.integers(0, 10**12), min_size=2, max_size=30),
    st.sampled_from(BOTH),
)
def test_a_winners_margin_changes_the_winner_and_no_less_does(
    counts: list[int], neighbors: str
) -> None:
    """The formulas of the theory, at the margin and one below it."""
    names = [f"answer {i}" for i in range(len(counts))]
    margins = Winner(names, neighbors=neighbors).margins(dict(zip(names, counts, strict=True)))
    for v, margin in enumerate(margins.values()):

        def missing(c: int, v: int = v) -> int:
            return sum(max(0, n - c + (i < v)) for i, n in enumerate(counts) if i != v)

        if neighbors == "substituted" and margin:
            assert missing(counts[v] + margin) <= margin
            assert margin == 1 or missing(counts[v] + margin - 1) > margin - 1
        elif margin:
            ends = {counts[v], *(n + 1 for n in counts), *counts, 1}
            feasible = [c for c in ends if c >= max(counts[v], min(v, 1))]
            assert margin == min(c - counts[v] + missing(c) for c in feasible)


def test_a_thousand_answers_and_a_trillion_records() -> None:
    names = [str(i) for i in range(1000)]
    counts = {name: 10**12 + int(name) ** 3 for name in names}
    for neighbors in BOTH:
        margins = Winner(names, neighbors=neighbors).margins(counts)
        assert margins["999"] == 0
        assert margins["998"] < margins["1"]


def test_a_persons_records_share_the_margin() -> None:
    question = Winner(["a", "b"], rows_per_person=4)
    plain = Winner(["a", "b"])
    for n in range(40):
        counts = {"a": 20, "b": n}
        expected = {answer: -(-m // 4) for answer, m in plain.margins(counts).items()}
        assert question.margins(counts) == expected
    assert limited(plain, 4) == question
    assert limited(plain, 4, person="who").person == "who"
