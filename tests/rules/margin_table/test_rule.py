"""Rows of a margin table: blended exactly, the same for every size, fair to every answer."""

from __future__ import annotations

import itertools
import math
import secrets
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rainbowdp as rb
import reference
import strategies
from kinds import rows_of_votes
from rainbowdp.errors import InvalidFile
from rainbowdp.rules.margin_table import rule as margin_table
from rainbowdp.rules.margin_table.build import fetch_table
from rainbowdp.rules.margin_table.program import has_table
from rainbowdp.rules.margin_table.rule import MarginTable, drawn_knot
from rainbowdp.rules.margin_table.shape import Shape
from reference_votes import Vote

TIES = pytest.mark.parametrize("ties", ["first listed", "any leader"])
NAMES = "abcdef"


def shares(weights: Sequence[int]) -> list[Fraction]:
    assert all(type(weight) is int and weight >= 0 for weight in weights)
    return [Fraction(weight, sum(weights)) for weight in weights]


def weights_at(table: MarginTable, counts: Any) -> tuple[int, ...]:
    names = NAMES[: table.shape.answers]
    return table.weights(dict(zip(names, counts, strict=True)), names)


@given(strategies.margin_tables(), st.data())
def test_a_row_is_linear_in_each_power(table: MarginTable, data: st.DataObject) -> None:
    most = table.shape.farthest + 3
    size = table.shape.answers
    gaps = data.draw(st.lists(st.integers(0, most), min_size=size - 1, max_size=size - 1))
    assert shares(table.at_gaps(gaps)) == shares(Vote.of(table).at_gaps(gaps))
    counts = tuple(data.draw(st.lists(st.integers(0, most), min_size=size, max_size=size)))
    assert shares(weights_at(table, counts)) == shares(Vote.of(table).row(counts))


@given(strategies.margin_tables(), st.data())
def test_only_gaps_count(table: MarginTable, data: st.DataObject) -> None:
    size = table.shape.answers
    counts = data.draw(st.lists(st.integers(0, 9), min_size=size, max_size=size))
    more = [count + 10**18 for count in counts]
    assert weights_at(table, more) == weights_at(table, counts)


@given(strategies.margin_tables(), st.data())
def test_floats_are_the_exact_rows_rounded(table: MarginTable, data: st.DataObject) -> None:
    size = table.shape.answers
    vote = st.lists(st.integers(0, 12), min_size=size, max_size=size)
    counts = data.draw(st.lists(vote, min_size=1, max_size=8))
    rows = rows_of_votes(table, counts)
    for row, one in zip(rows.tolist(), counts, strict=True):
        assert row == pytest.approx([float(p) for p in shares(weights_at(table, one))], abs=1e-12)


@given(strategies.margin_tables(), st.data())
def test_answers_are_treated_alike(table: MarginTable, data: st.DataObject) -> None:
    """Any order of the answers where leaders share; turning the list where the first has it.

    A tie is settled by the list, so what is turned is the vote with its ties settled.
    """
    size = table.shape.answers
    counts = data.draw(st.lists(st.integers(0, 9), min_size=size, max_size=size))
    row = shares(weights_at(table, counts))
    if table.shape.ties == "any leader":
        order = data.draw(st.permutations(range(size)))
        turned = [counts[v] for v in order]
        assert shares(weights_at(table, turned)) == [row[v] for v in order]
    else:  # the last comes first: a record fewer makes up for its new place
        turned = [counts[-1] - 1, *counts[:-1]]
        if turned[0] >= 0:
            assert shares(weights_at(table, turned)) == [row[-1], *row[:-1]]


@given(strategies.margin_tables(), st.data())
def test_a_right_answer_is_as_likely_as_its_weights(
    table: MarginTable, data: st.DataObject
) -> None:
    size = table.shape.answers
    gaps = data.draw(st.lists(st.integers(0, 6), min_size=size - 1, max_size=size - 1))
    row = shares(table.at_gaps(gaps))
    right = row[0]
    if table.shape.ties == "any leader":
        right += sum(p for gap, p in zip(gaps, row[1:], strict=True) if gap == 0)
    assert table.right_at(gaps) == pytest.approx(float(right), abs=1e-15)


def drawn(shape: Shape, gap: int, places: int, first: int, then: int) -> tuple[int, int]:
    """The knot where these are the random numbers, and below what the second was asked for."""
    asked = [1]

    def below(size: int) -> int:
        asked.append(size)
        return then

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(margin_table, "_PLACES", places)
        patch.setattr(secrets, "randbits", {places: first}.__getitem__)
        patch.setattr(secrets, "randbelow", below)
        return drawn_knot(shape, gap), asked[-1]


@given(st.fractions("1/9", "8/9", max_denominator=9), st.integers(0, 9), st.integers(0, 3))
@settings(max_examples=40)
def test_a_knot_is_drawn_by_its_exact_share(ratio: Fraction, gap: int, places: int) -> None:
    """Over all that may be drawn: with few places at first, exact integers often decide."""
    shape = Shape(2, "substituted", "first listed", (0, 1, 4), 7, ratio, 0)
    nearer = max(number for number, knot in enumerate(shape.knots) if knot <= gap)
    chance = Fraction(0)
    for first in range(2**places):
        _, size = drawn(shape, gap, places, first, 0)
        many = bisect_left(
            range(size), nearer + 1, key=lambda then: drawn(shape, gap, places, first, then)[0]
        )
        chance += Fraction(many, size * 2**places)
    (_, near), *rest = Vote.of(MarginTable(shape, 2, ((1, 1),) * 4)).shares(gap)
    assert chance == Fraction(near, near + sum(far for _, far in rest))


@TIES
def test_far_behind_is_as_good_as_never(ties: str) -> None:
    table, _ = fetch_table(3, rb.DP(1), "substituted", ties)
    far = table.shape.farthest
    beyond = [weights_at(table, (far + 10**18, 10**18 - extra, 0)) for extra in (1, 2, 10**17)]
    assert len(set(beyond)) == 1
    assert beyond[0][0] / sum(beyond[0]) > 1 - 1e-10
    before = weights_at(table, (far - 1 + 10**18, 10**18, 0))
    assert before != beyond[0]


BAD: list[Any] = [
    None,
    5,
    [3, 2, 1],
    {"a": 3, "b": 2},
    {"a": 3, "b": 2, "c": 1, "d": 0},
    {"a": 3, "b": 2, "d": 1},
    {"a": 3, "b": 2, "c": -1},
    {"a": 3, "b": 2, "c": 1.0},
    {"a": 3, "b": 2, "c": True},
    {"a": 3, "b": 2, "c": "1"},
    {"a": 3, "b": 2, "c": None},
    {"a": 3, "b": 2, "c": np.int64(1)},
]


@pytest.mark.parametrize("place", BAD, ids=repr)
def test_what_is_no_vote_has_no_row(place: Any) -> None:
    table, _ = fetch_table(3, rb.DP(1), "substituted", "first listed")
    assert table.weights({"a": 0, "b": 0, "c": 0}, "abc")
    with pytest.raises(rb.UnknownDataset) as caught:
        table.weights(place, "abc")
    reference.assert_one_sentence(caught.value)


def test_a_table_has_a_row_for_each_state() -> None:
    shape = Shape(2, "substituted", "first listed", (0,), 3, Fraction(1, 2), 0)
    with pytest.raises(rb.InvalidMechanism) as caught:
        MarginTable(shape, 2, ((1, 1),))
    reference.assert_one_sentence(caught.value, "2 states")


@pytest.mark.parametrize(
    ("answers", "guarantee", "has"),
    [
        (1, rb.DP(1), False),
        (2, rb.DP("0.01"), True),
        (6, rb.DP(4), True),
        (7, rb.DP(1), False),
        (3, rb.DP("0.0099"), False),
        (3, rb.DP("4.001"), False),
        (3, rb.DP(1, 1), False),
        (3, rb.DP(1, "1/2"), True),
        (3, rb.GaussianDP(1), False),
    ],
)
def test_which_shapes_have_a_table(answers: int, guarantee: Any, has: bool) -> None:
    assert has_table(answers, guarantee) is has


@TIES
def test_all_equal_counts(ties: str) -> None:
    """Where leaders share, each of them is as likely; else the first is the likeliest."""
    table, _ = fetch_table(3, rb.DP(1), "added or removed", ties)
    for count in (0, 1, 10**18):
        row = weights_at(table, (count,) * 3)
        assert (len(set(row)) == 1) is (ties == "any leader")
        assert row[0] == max(row)
    for counts in itertools.permutations((7, 7, 3)):
        row = weights_at(table, counts)
        tied = [w for w, count in zip(row, counts, strict=True) if count == 7]
        assert (tied[0] == tied[1]) is (ties == "any leader")


@TIES
@pytest.mark.parametrize("counts", [(9, 9, 9), (30, 28, 23), (8, 20, 20), (0, 50, 12)])
@pytest.mark.usefixtures("dice")
def test_drawing_knots_first_is_drawing_from_the_blended_row(
    ties: str, counts: tuple[int, ...]
) -> None:
    """Within five standard deviations, for a fixed sequence of random numbers."""
    shape = Shape(3, "substituted", ties, (0, 4), 40, Fraction(9, 10), 0)
    rows = [(175 - 20 * n, 5 + 8 * n, 12 * n) for n in range(len(shape.states))]
    table = MarginTable(shape, 180, tuple(rows))
    place = dict(zip("abc", counts, strict=True))
    seen = Counter(table.drawer(place, "abc")() for _ in range(20_000))
    for name, share in zip("abc", shares(table.weights(place, "abc")), strict=True):
        deviation = math.sqrt(20_000 * share * (1 - share))
        assert abs(seen[name] - 20_000 * share) <= 5 * deviation


def test_a_certain_row_is_always_drawn() -> None:
    shape = Shape(2, "substituted", "first listed", (0,), 3, Fraction(1, 2), 0)
    table = MarginTable(shape, 2, ((2, 0), (2, 0)))
    assert {table.drawer({"a": 3, "b": 4}, ("a", "b"))() for _ in range(50)} == {"b"}


@TIES
@pytest.mark.parametrize("neighbors", ["substituted", "added or removed"])
@pytest.mark.parametrize("answers", [2, 3, 4])
def test_chances_are_the_extremes_over_all_gaps_of_a_margin(
    answers: int, neighbors: str, ties: str
) -> None:
    """Rows need not fall alike in every gap: the least may be where gaps are mixed."""
    table, _ = fetch_table(answers, rb.DP(1), neighbors, ties)
    step = 2 if neighbors == "substituted" else 1
    shared = ties == "any leader"
    gaps = [*range(8), 20, table.shape.farthest]
    found: dict[int, list[float]] = {}
    for held in itertools.product(gaps, repeat=answers - 1):
        for margin in (1, 2, 3):
            if step * (margin - 1) <= min(held) <= step * margin - (not shared):
                found.setdefault(margin, []).append(table.right_at(held))
    question = rb.Winner(list(NAMES[:answers]))
    for margin, chances in found.items():
        said = table.chances(question, margin)
        assert said == pytest.approx((min(chances), max(chances)), rel=1e-9)


@given(strategies.margin_tables())
@settings(max_examples=40)
def test_what_far_rivals_have_is_the_most_over_all_gaps(table: MarginTable) -> None:
    """A rival listed before the leader has a gap of one less than what it is behind."""
    size, most = table.shape.answers, table.shape.farthest + 2
    rows = {
        gaps: shares(table.at_gaps(gaps))[1:]
        for gaps in itertools.product(range(most), repeat=size - 1)
    }
    for short in range(most - 1):
        cut = short + (table.shape.ties == "any leader")
        far = [
            [p for gap, p in zip(gaps, row, strict=True) if gap >= cut]
            for gaps, row in rows.items()
        ]
        question = rb.Winner(list(NAMES[:size]))
        assert table.far(question, short) == pytest.approx(float(max(map(sum, far))))
        assert table.far_alone(question, short) == pytest.approx(
            float(max(map(max, filter(None, far))))
        )


@pytest.mark.parametrize("name", ["answers", "farthest", "labeled", "knots"])
def test_gaps_in_a_file_are_whole_numbers(name: str) -> None:
    shape = Shape(2, "substituted", "first listed", (0, 2), 3, Fraction(1, 2), 1)
    content = MarginTable(shape, 2, ((1, 1),) * 3).describe()
    assert MarginTable.restore(content).describe() == content
    odd: list[Any] = [True, 1.0, "1", None]
    for number in odd:
        values = [[number, 2], [0, number]] if name == "knots" else [number]
        for value in values:
            with pytest.raises(InvalidFile, match="must be whole numbers"):
                MarginTable.restore(content | {"shape": content["shape"] | {name: value}})
