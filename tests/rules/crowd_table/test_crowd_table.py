"""Crowd tables against all pairs of small votes, and random pairs of large ones, in fractions."""

from __future__ import annotations

import itertools
import math
import secrets
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rainbowdp as rb
import reference
from rainbowdp.exact.falling import TOTAL, Falling
from rainbowdp.exact.falling_proof import Chances
from rainbowdp.questions.votes import standing
from rainbowdp.rules.crowd_table.program import make_table, shape_for
from rainbowdp.rules.crowd_table.proof import Corners, _must_be_close, cases, prove_crowds
from rainbowdp.rules.crowd_table.rule import CrowdTable
from rainbowdp.rules.crowd_table.shape import CrowdShape

RELATIONS = ("substituted", "added or removed")
TIES = ("first listed", "any leader")
KINDS = list(itertools.product(RELATIONS, TIES))


@cache
def table(
    answers: int, epsilon: str, neighbors: str, ties: str, knots: int | None = None
) -> CrowdTable:
    shape = shape_for(answers, float(epsilon), neighbors, ties, knots)
    return make_table(shape, rb.DP(epsilon))[0]


def row(made: CrowdTable, votes: tuple[int, ...]) -> list[Fraction]:
    names = [str(number) for number in range(len(votes))]
    weights = made.weights(dict(zip(names, votes, strict=True)), names)
    return [Fraction(weight, sum(weights)) for weight in weights]


def beside(votes: tuple[int, ...], neighbors: str) -> Iterator[tuple[int, ...]]:
    """The votes with one record more, or with one substituted."""
    for one in range(len(votes)):
        more = tuple(count + (place == one) for place, count in enumerate(votes))
        if neighbors != "substituted":
            yield more
            continue
        for other, count in enumerate(votes):
            if other != one and count:
                yield tuple(held - (place == other) for place, held in enumerate(more))


def small_votes(answers: int, most: int) -> Iterator[tuple[int, ...]]:
    return (
        votes
        for votes in itertools.product(range(most + 1), repeat=answers)
        if sum(votes) <= most and sum(votes) > 0
    )


def must_be_close(p: list[Fraction], q: list[Fraction], epsilon: str) -> None:
    _, most = reference.exp_between(Fraction(epsilon))
    assert all(a <= most * b and b <= most * a for a, b in zip(p, q, strict=True))


@pytest.mark.parametrize(("neighbors", "ties"), KINDS)
@pytest.mark.parametrize("epsilon", ["0.3", "2"])
def test_all_small_votes_are_close(neighbors: str, ties: str, epsilon: str) -> None:
    """Up to nine records, with three rows of gaps, so that coins are tossed for most of them."""
    made = table(3, epsilon, neighbors, ties, 3)
    rows = {votes: row(made, votes) for votes in small_votes(3, 9)}
    for votes, mine in rows.items():
        for other in beside(votes, neighbors):
            if other in rows:
                must_be_close(mine, rows[other], epsilon)


@st.composite
def pairs(draw: st.DrawFn, answers: int, neighbors: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    near = st.integers(0, 8) | st.integers(0, 60)
    behind = draw(st.lists(near, min_size=answers, max_size=answers))
    votes = tuple(max(behind) + 1 - gap for gap in behind)
    other = draw(st.sampled_from(list(beside(votes, neighbors))))
    return votes, other


@pytest.mark.parametrize(("neighbors", "ties"), [kind for kind in KINDS if kind != KINDS[3]])
@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_neighboring_votes_are_close(neighbors: str, ties: str, data: st.DataObject) -> None:
    answers = data.draw(st.sampled_from([7, 10]))
    names = [f"option {number}" for number in range(answers)]
    question = rb.Winner(names, neighbors=neighbors, ties=ties)
    made = rb.by_kind(question, rb.DP(1), "crowd-table").exact().rule
    assert isinstance(made, CrowdTable)
    one, other = data.draw(pairs(answers, neighbors))
    must_be_close(row(made, one), row(made, other), "1")


@pytest.mark.parametrize(("neighbors", "ties"), KINDS)
def test_every_pair_of_votes_is_a_corner_of_some_case(neighbors: str, ties: str) -> None:
    """Played on counts: where all rivals are at knots or out, each comparison is made."""
    shape = CrowdShape(4, neighbors, ties, 4, Fraction(1, 2))
    corners = Corners(shape)
    known = {tuple(crowd): number for number, crowd in enumerate(corners.crowds.tolist())}
    compared = set()

    def alike(place: int) -> int:
        """Where any leader is right, those that are tied have one weight."""
        return 0 if ties == "any leader" and place == 1 else place

    for case in cases(shape):
        for here, there in corners.pairs(case):
            for a, b in zip(here.crowds.tolist(), there.crowds.tolist(), strict=True):
                mine, theirs = alike(here.place), alike(there.place)
                compared |= {(a, mine, b, theirs), (b, theirs, a, mine)}
    out, top = 50, 100

    def seats(votes: tuple[int, ...]) -> tuple[int, dict[int, int]] | None:
        """The crowd and everybody's place in it; none where a gap is neither a knot nor out."""
        order, gaps = standing(votes, ties)
        if any(3 < gap < out - 3 for gap in gaps):
            return None
        crowd = [sum(gap == knot for gap in gaps) for knot in range(6)]
        places = {
            answer: alike(gap + 1)
            for answer, gap in zip(order[1:], gaps, strict=True)
            if gap < out - 3
        }
        return known[tuple(crowd)], {order[0]: 0, **places}

    seen = 0
    for behind in itertools.product([0, 1, 2, 3, out], repeat=4):
        votes = tuple(top - gap for gap in behind)
        one = seats(votes)
        for beside_it in beside(votes, neighbors):
            other = seats(beside_it)
            if one is None or other is None:
                continue
            for answer, place in one[1].items():
                if answer in other[1] and (one[0], place) != (other[0], other[1][answer]):
                    assert (one[0], place, other[0], other[1][answer]) in compared
                    seen += 1
    assert seen > 1000


def coins_of(made: CrowdTable) -> Chances:
    coins = made.coins
    return Chances(coins.ratio, TOTAL, coins.top, coins.farthest, coins.at)


class TestProof:
    def made(self, ties: str = "first listed") -> CrowdTable:
        return table(4, "1", "substituted", ties, 3)

    def refused(self, made: CrowdTable, message: str, guarantee: rb.DP | None = None) -> None:
        with pytest.raises(rb.InvalidMechanism, match=message):
            prove_crowds(guarantee or rb.DP(1), made.shape, made.total, made.rows, coins_of(made))

    def changed(self, number: int, place: int, by: int, ties: str = "first listed") -> CrowdTable:
        """One weight changed, and the leader's with it, so that the row keeps its sum."""
        made = self.made(ties)
        rows = [list(weights) for weights in made.rows]
        many = int(made.shape.crowds[number][place - 1])
        rows[number][place] += by
        rows[number][0] -= many * by
        return CrowdTable(made.shape, made.total, tuple(tuple(weights) for weights in rows))

    def test_it_holds(self) -> None:
        assert self.made().keeps(rb.DP(1)).holds

    @pytest.mark.parametrize("epsilon", ["0.99", "0.5"])
    def test_a_smaller_epsilon_is_refused(self, epsilon: str) -> None:
        self.refused(self.made(), "must be close", rb.DP(epsilon))

    def test_every_row_matters(self) -> None:
        """Whichever weight is three times as large, some comparison fails."""
        made = self.made()
        for number, crowd in enumerate(made.shape.crowds.tolist()):
            for place, many in enumerate(crowd, 1):
                more = 2 * made.rows[number][place]
                if many and made.rows[number][0] > many * more:
                    self.refused(self.changed(number, place, more), "must be close")

    def test_rows_must_be_whole(self) -> None:
        made = self.made()
        first = next(n for n, crowd in enumerate(made.shape.crowds) if crowd[0] == 1)
        rows = list(made.rows)
        rows[first] = (rows[first][0] + 1, *rows[first][1:])
        broken = CrowdTable(made.shape, made.total, tuple(rows))
        self.refused(broken, "must sum to")
        rows[first] = (made.rows[first][0] + made.rows[first][1], 0, *rows[first][2:])
        self.refused(CrowdTable(made.shape, made.total, tuple(rows)), "must have some weight")
        rows[first] = (*made.rows[first][:-1], 1)
        self.refused(CrowdTable(made.shape, made.total, tuple(rows)), "must have no weight")
        self.refused(CrowdTable(made.shape, made.total, made.rows[1:]), "must have .* rows")
        self.refused(CrowdTable(made.shape, made.total * 1.0, made.rows), "whole numbers")  # type: ignore[arg-type]

    def test_tied_leaders_must_share(self) -> None:
        made = self.made("any leader")
        first = next(n for n, crowd in enumerate(made.shape.crowds) if crowd[0] == 1)
        self.refused(self.changed(first, 1, 2520, "any leader"), "tied must have equal")

    def test_coins_must_be_those_of_the_ratio(self) -> None:
        made = self.made()
        other = Falling(made.shape.ratio + Fraction(1, 1 << 30))
        coins = Chances(other.ratio, TOTAL, other.top, other.farthest, other.at)
        with pytest.raises(rb.InvalidMechanism, match="must fall from 1 by its ratio"):
            prove_crowds(rb.DP(1), made.shape, made.total, made.rows, coins)

    def test_coins_must_be_what_they_are_said_to_be(self) -> None:
        made = self.made()
        at = made.coins.at
        odd = replace(coins_of(made), at=lambda d: at(d) + (d == 5) * at(5) // 2)
        with pytest.raises(rb.InvalidMechanism, match="the chance at distance 5"):
            prove_crowds(rb.DP(1), made.shape, made.total, made.rows, odd)

    def test_both_directions_are_compared(self) -> None:
        """One row three times another is too much under ε = 1, whichever end it is at."""
        case = next(cases(self.made().shape))
        one, three = np.array([0.1, 0.1]), np.array([0.1, 0.3])
        for p, q in ((one, three), (three, one)):
            with pytest.raises(rb.InvalidMechanism, match=r"exceed by a factor of 0\.10"):
                _must_be_close(p, q, math.exp(1), case)
        _must_be_close(one, three, 3.1, case)

    def test_coins_must_be_finer_than_the_room_of_a_comparison(self) -> None:
        made = self.made()
        least = made.coins.least << 30
        coarse = replace(coins_of(made), at=lambda d: max(made.coins.at(d), least))
        with pytest.raises(rb.InvalidMechanism, match="must be finer"):
            prove_crowds(rb.DP(1), made.shape, made.total, made.rows, coarse)

    def test_a_rival_behind_the_last_knot_may_stay_instead_of_moving(self) -> None:
        """Places are gaps and one more; the last knot is where coins begin."""
        corners = Corners(self.made().shape)
        knots = corners.shape.knots
        moves = {(a, b) for a in range(knots + 3) for b in range(knots + 3)}
        stay = {pair for pair in moves if corners.may_stay(*pair)}
        assert stay == {(a, b) for a, b in moves if a != b and min(a, b) >= knots}
        assert corners.coin(knots) == 1.0
        assert corners.coin(knots + 2) == pytest.approx(float(corners.shape.ratio) ** 2)

    def test_a_ratio_that_falls_too_fast_is_refused(self) -> None:
        made = self.made()
        fast = CrowdShape(4, "substituted", "first listed", 3, made.shape.ratio * Fraction(3, 4))
        fine = CrowdShape(
            4, "substituted", "first listed", 3, Fraction(int(fast.ratio * 2**60), 2**60)
        )
        self.refused(CrowdTable(fine, made.total, made.rows), "must be close")

    def test_other_guarantees_are_refused(self) -> None:
        made = self.made()
        with pytest.raises(rb.InvalidMechanism, match="needs an"):
            made.keeps(rb.GaussianDP(1))


@pytest.mark.usefixtures("dice")
def test_far_rivals_are_drawn_by_their_coins() -> None:
    """Ten thousand draws, each share within five standard deviations of the exact weight."""
    made = table(4, "1", "substituted", "first listed", 3)
    names, votes, size = list("abcd"), {"a": 9, "b": 6, "c": 5, "d": 4}, 10_000
    draw, weights = made.drawer(votes, names), made.weights(votes, names)
    seen = Counter(draw() for _ in range(size))
    for name, weight in zip(names, weights, strict=True):
        p = weight / sum(weights)
        assert abs(seen[name] - size * p) <= 5 * math.sqrt(size * p * (1 - p)) + 1


def test_every_number_that_can_be_drawn_has_its_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """At both ends of each answer's share; nobody is far, so that no coin is tossed."""
    made = table(4, "1", "substituted", "first listed", 3)
    names, votes = list("abcd"), {"a": 9, "b": 8, "c": 8, "d": 9}
    draw = made.drawer(votes, names)
    weights = dict(zip(names, made.weights(votes, names), strict=True))
    assert sum(weights.values()) == made.total
    start = 0
    for name in ("b", "c", "d", "a"):  # round the list, the leader last
        for drawn in (start, start + weights[name] - 1):
            monkeypatch.setattr(secrets, "randbelow", lambda most, drawn=drawn: drawn)
            assert draw() == name
        start += weights[name]


@pytest.mark.parametrize(
    "given_shape",
    [
        {"answers": 1},
        {"knots": 2},
        {"knots": 10**9},
        {"answers": 10**9},
        {"ratio": Fraction(1)},
        {"answers": True},
    ],
)
def test_shapes_that_cannot_be_are_refused(given_shape: dict[str, object]) -> None:
    whole = {
        "answers": 7, "neighbors": "substituted", "ties": "first listed", "knots": 4,
        "ratio": Fraction(1, 2),
    } | given_shape  # fmt: skip
    with pytest.raises(rb.InvalidMechanism):
        CrowdShape(**whole)  # type: ignore[arg-type]


def test_it_never_names_a_leader_less_often_than_permute_and_flip_on_the_same_gaps() -> None:
    made = table(5, "1", "substituted", "any leader", 4)
    coins = (
        rb.by_kind(rb.Winner(list("abcde"), ties="any leader"), rb.DP(1), "permute-and-flip")
        .exact()
        .rule
    )
    rng = np.random.default_rng(1)
    votes = rng.integers(0, 12, size=(300, 5))
    question = rb.Winner(list("abcde"), ties="any leader")
    right = votes == votes.max(axis=1, keepdims=True)
    mine, theirs = (
        (rule.rows_at(question, votes, votes.astype(float)) * right).sum(axis=1)
        for rule in (made, coins)
    )
    assert (mine >= theirs - 1e-3).all()  # what is mixed in
    assert mine.mean() > theirs.mean() + 0.01


@pytest.mark.parametrize("epsilon", ["2.1", "5"])
def test_above_two_it_is_the_table_for_two(epsilon: str) -> None:
    question = rb.Winner(list("abcdefghij"))
    made = rb.by_kind(question, rb.DP(epsilon), "crowd-table")
    assert made.exact().rule == rb.by_kind(question, rb.DP(2), "crowd-table").exact().rule
    assert made.claim == "made for ε = 2, so ask for that and pay less"


@pytest.mark.parametrize(
    ("question", "guarantee"),
    [
        (rb.Winner(list("abcdef")), rb.DP(1)),
        (rb.Winner(list("abcdefghijk")), rb.DP(1)),
        (rb.Winner(list("abcdefgh"), rows_per_person=2), rb.DP(1)),
        (rb.Winner(list("abcdefgh"), ties="any leader", neighbors="added or removed"), rb.DP(1)),
        (rb.Winner(list("abcdefgh")), rb.DP("0.001")),
        (rb.Winner(list("abcdefgh")), rb.GaussianDP(1)),
        (rb.Quantile("1/2", range(9)), rb.DP(1)),
    ],
)
def test_where_there_is_none_it_says_what_to_use(question: Any, guarantee: Any) -> None:
    with pytest.raises(rb.NotApplicable, match=r"a crowd table is for a Winner .*; use [a-z-]+$"):
        rb.by_kind(question, guarantee, "crowd-table")
