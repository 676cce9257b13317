"""Where a vote stands: positions, gaps, and the knots around a gap."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rainbowdp as rb
import reference
import strategies
from rainbowdp.questions.votes import standing
from rainbowdp.rules.margin_table.rule import MarginTable
from rainbowdp.rules.margin_table.shape import Shape
from reference_votes import Vote

COUNTS = st.lists(st.integers(0, 6) | st.integers(0, 10**30), min_size=2, max_size=6)


@given(COUNTS)
def test_ties_to_the_first_listed(counts: list[int]) -> None:
    """Without ties, as a count is worth a little more the earlier it is listed."""
    size = len(counts)
    scores = [size * count - place for place, count in enumerate(counts)]
    leader = scores.index(max(scores))
    order, gaps = standing(counts, "first listed")
    assert order == tuple((leader + j) % size for j in range(size))
    for place, answer in enumerate(order[1:], 1):
        assert scores[leader] - scores[answer] == size * gaps[place - 1] + place
    assert min(gaps) >= 0


@given(COUNTS)
def test_any_leader(counts: list[int]) -> None:
    order, gaps = standing(counts, "any leader")
    assert sorted(order) == list(range(len(counts)))
    assert counts[order[0]] == max(counts)
    assert order[0] == counts.index(max(counts))
    assert list(order[1:]) == sorted(order[1:])
    assert [max(counts) - gap for gap in gaps] == [counts[answer] for answer in order[1:]]


@given(COUNTS, st.integers(0, 5))
def test_the_leader_changes_where_a_gap_falls_below_zero(counts: list[int], place: int) -> None:
    """With ties to the first listed a record more overtakes exactly from gap 0."""
    place %= len(counts)
    order, gaps = standing(counts, "first listed")
    more = [count + (v == place) for v, count in enumerate(counts)]
    position = order.index(place)
    overtakes = position == 0 or gaps[position - 1] == 0
    assert (standing(more, "first listed")[0][0] == place) is overtakes


@given(strategies.margin_tables())
def test_every_choice_of_knots_has_a_row(table: MarginTable) -> None:
    shape = table.shape
    for knots in itertools.product(range(len(shape.knots) + 1), repeat=shape.answers - 1):
        arranged, places = shape.arranged(knots)
        assert arranged in shape.states
        assert shape.arranged(arranged)[0] == arranged
        assert sorted(places) == list(range(shape.answers))
        assert places[0] == 0
        for place, knot in enumerate(knots, 1):
            assert arranged[places[place] - 1] == knot
            if knot < shape.labeled:
                assert places[place] == place
    assert list(shape.states.values()) == list(range(len(shape.states)))


@given(strategies.margin_tables(), st.integers(0, 40))
def test_shares_are_linear_in_the_power_of_the_gap(table: MarginTable, gap: int) -> None:
    shape = table.shape
    heights = [*(shape.ratio**knot for knot in shape.knots), Fraction(0)]
    shares = dict(shape.around(gap))
    total = sum(shares.values())
    assert all(share > 0 for share in shares.values())
    blended = sum(Fraction(share, total) * heights[knot] for knot, share in shares.items())
    assert blended == shape.ratio ** min(gap, shape.farthest)
    assert max(shares) - min(shares) <= 1
    if gap in shape.knots:
        assert list(shares) == [shape.knots.index(gap)]


GOOD = {
    "answers": 3,
    "neighbors": "substituted",
    "ties": "first listed",
    "knots": (0, 2),
    "farthest": 5,
    "ratio": Fraction(1, 2),
    "labeled": 1,
}


@pytest.mark.parametrize(
    "bad",
    [
        {"knots": ()},
        {"knots": (1, 2)},
        {"knots": (0, 2, 2)},
        {"knots": (0, 3, 2)},
        {"knots": (-1, 0)},
        {"farthest": 2},
        {"farthest": 10**9},
        {"knots": tuple(range(4000)), "farthest": 4000},
        {"ratio": Fraction(1, 10**100_000)},
        {"answers": 1},
        {"answers": 10**9},
        {"ratio": Fraction(0)},
        {"ratio": Fraction(1)},
        {"ratio": Fraction(-1, 2)},
        {"ties": "nobody"},
        {"ties": "any leader"},
        {"neighbors": "joined by an edge"},
        {"labeled": -1},
        {"labeled": 10**9},
    ],
)
def test_a_shape_that_is_none_is_refused(bad: dict[str, Any]) -> None:
    assert Shape(**GOOD)  # type: ignore[arg-type]
    with pytest.raises(rb.InvalidMechanism) as caught:
        Shape(**GOOD | bad)  # type: ignore[arg-type]
    reference.assert_one_sentence(caught.value)


@given(strategies.margin_tables(), st.integers(0, 40), st.integers(1, 128))
def test_bounds_of_a_share(table: MarginTable, gap: int, places: int) -> None:
    (knot, near), *rest = Vote.of(table).shares(gap)
    exact = Fraction(near, near + sum(far for _, far in rest))
    nearer, low, high = table.shape.share_bounds(gap, places)
    assert nearer == knot
    assert low <= exact * 2**places <= high <= low + 2


@given(st.fractions("1/9", "8/9", max_denominator=99), st.integers(0, 60), st.integers(8, 16))
def test_bounds_hold_however_coarse(ratio: Fraction, gap: int, places: int) -> None:
    """With few places each of them shows where a rounding goes the wrong way."""
    shape = Shape(2, "substituted", "first listed", (0, 1, 4, 40), 57, ratio, 0)
    (_, near), *rest = Vote.of(MarginTable(shape, 2, ((1, 1),) * 5)).shares(gap)
    exact = Fraction(near, near + sum(far for _, far in rest))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rainbowdp.rules.margin_table.shape._PLACES", places)
        _, low, high = shape.share_bounds(gap, places)
    assert low <= exact * 2**places <= high - 1
