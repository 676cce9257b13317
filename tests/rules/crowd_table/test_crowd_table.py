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

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rainbowdp as rb
import reference
from rainbowdp.exact.falling import TOTAL, Falling
from rainbowdp.exact.falling_proof import Chances
from rainbowdp.rules.crowd_table.program import (
    make_table,
    shape_for,
)
from rainbowdp.rules.crowd_table.proof import Corners, _must_be_close, cases, prove_crowds
from rainbowdp.rules.crowd_table.rule import CrowdTable
from rainbowdp.rules.crowd_table.shape import Crowds, CrowdShape

RELATIONS = ("substituted", "added or removed")
TIES = ("first listed", "any leader")
KINDS = list(itertools.product(RELATIONS, TIES))


@cache
def table(
    answers: int, epsilon: str, neighbors: str, ties: str, knots: int, ordered: int | None = None
) -> CrowdTable:
    """With the order of the list at two gaps where it matters, if nothing else is asked for."""
    if ordered is None:
        ordered = 2 if ties == "first listed" else 0
    shape = shape_for(answers, float(epsilon), neighbors, ties, (knots, ordered))
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


ORDERED = [(*kind, n) for kind in KINDS for n in ((0, 1, 2) if kind[1] == TIES[0] else (0,))]


@pytest.mark.parametrize(("neighbors", "ties", "ordered"), ORDERED)
@pytest.mark.parametrize("epsilon", ["0.3", "2"])
def test_all_small_votes_are_close(neighbors: str, ties: str, ordered: int, epsilon: str) -> None:
    """Up to nine records, with three rows of gaps, so that coins are tossed for most of them."""
    made = table(3, epsilon, neighbors, ties, 3, ordered)
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
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_neighboring_votes_are_close(neighbors: str, ties: str, data: st.DataObject) -> None:
    answers, epsilon = data.draw(st.sampled_from([(7, "1"), (9, "0.5"), (10, "1")]))
    names = [f"option {number}" for number in range(answers)]
    question = rb.Winner(names, neighbors=neighbors, ties=ties)
    made = rb.by_kind(question, rb.DP(epsilon), "crowd-table").exact().rule
    assert isinstance(made, CrowdTable)
    one, other = data.draw(pairs(answers, neighbors))
    must_be_close(row(made, one), row(made, other), epsilon)


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
        many = int(made.shape.crowds.taken[number][place])
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
        for number, taken in enumerate(made.shape.crowds.taken.tolist()):
            for place, many in enumerate(taken[1:], 1):
                more = 2 * made.rows[number][place]
                if many and made.rows[number][0] > many * more:
                    self.refused(self.changed(number, place, more), "must be close")

    def test_rows_must_be_whole(self) -> None:
        made = self.made()
        first = next(n for n, taken in enumerate(made.shape.crowds.taken) if taken[1] == 1)
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
        first = next(n for n, taken in enumerate(made.shape.crowds.taken) if taken[1] == 1)
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
        """The last knot is where coins begin."""
        corners = Corners(self.made().shape)
        last = corners.shape.knots - 1
        moves = {(a, b) for a in range(last + 3) for b in range(last + 3)}
        stay = {pair for pair in moves if corners.may_stay(*pair)}
        assert stay == {(a, b) for a, b in moves if a != b and min(a, b) >= last}
        assert corners.coin(last) == 1.0
        assert corners.coin(last + 2) == pytest.approx(float(corners.shape.ratio) ** 2)

    def test_a_ratio_that_falls_too_fast_is_refused(self) -> None:
        made = self.made()
        fast = made.shape.ratio * Fraction(3, 4)
        fine = replace(made.shape, ratio=Fraction(int(fast * 2**60), 2**60))
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


@pytest.mark.parametrize("heads", [(), (0,), (1,), (0, 1)])
def test_with_these_heads_every_number_that_can_be_drawn_has_its_answer(
    heads: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who has heads is drawn as if it were at the last knot, who has tails is never drawn."""
    made = table(5, "1", "substituted", "first listed", 4)
    names, last = list("abcde"), 3
    tossed = []

    def toss(coins: Falling, steps: list[int]) -> list[int]:
        tossed.append(steps)
        return list(heads)

    monkeypatch.setattr(Falling, "heads", toss)
    draw = made.drawer({"c": 40, "d": 39, "e": 40 - last, "a": 20, "b": 31}, names)
    placed = {"c": 10**9, "d": 10**9 - 1, "e": 10**9 - last, "a": 0, "b": 0}
    placed |= {"ab"[number]: 10**9 - last - 1 for number in heads}  # a record more, listed before
    exact = made.weights(placed, names)
    unit = Fraction(made.total, sum(exact))  # who is so far behind has next to nothing
    weights = {name: round(weight * unit) for name, weight in zip(names, exact, strict=True)}
    assert sum(weights.values()) == made.total
    start = 0
    for name in ("d", "e", *("ab"[number] for number in heads), "c"):
        for drawn in (start, start + weights[name] - 1):
            monkeypatch.setattr(secrets, "randbelow", lambda most, drawn=drawn: drawn)
            assert draw() == name
        start += weights[name]
    assert start == made.total
    assert tossed[0] == [19 - last, 8 - last]


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
        {"ordered": 4},
        {"ordered": -1},
        {"ordered": 2, "ties": "any leader"},
        {"answers": 10**9},
        {"ratio": Fraction(1)},
        {"answers": True},
    ],
)
def test_shapes_that_cannot_be_are_refused(given_shape: dict[str, object]) -> None:
    whole = {
        "answers": 7, "neighbors": "substituted", "ties": "first listed", "knots": 4,
        "ordered": 0, "ratio": Fraction(1, 2),
    } | given_shape  # fmt: skip
    with pytest.raises(rb.InvalidMechanism):
        CrowdShape(**whole)  # type: ignore[arg-type]


@pytest.mark.parametrize(("rivals", "letters", "places"), [(3, 1, 29), (3, 3, 28), (1, 0, 62)])
def test_no_two_crowds_are_taken_for_one(rivals: int, letters: int, places: int) -> None:
    """With two gaps more numbers of 64 bits repeat: a row would be proved in another's place."""
    crowds = Crowds(rivals, letters, places)
    known = crowds.word_codes(crowds.words) + crowds.count_codes(crowds.counts)
    assert crowds.numbers(known).tolist() == list(range(crowds.size))
    with pytest.raises(rb.InvalidMechanism, match="cannot be told apart"):
        Crowds(rivals, letters, places + 1)


def test_a_table_with_more_crowds_than_numbers_is_refused() -> None:
    """Its row of a tie of three could be anything: it was compared with nothing."""
    assert CrowdShape(4, "added or removed", "first listed", 28, 1, Fraction(3, 4)).crowds.size
    with pytest.raises(rb.InvalidMechanism, match="fewer gaps for 4 answers"):
        CrowdShape(4, "added or removed", "first listed", 29, 1, Fraction(3, 4))


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


def test_what_is_remembered_is_these_rows_for_this_guarantee() -> None:
    """A proof is not made twice, and not lent to other rows, shapes or guarantees."""
    made = table(3, "2", "substituted", "first listed", 3, 1)
    assert made.keeps(rb.DP(2)) == made.keeps(rb.DP(2))
    for smaller in ("1.9", "0.1"):
        with pytest.raises(rb.InvalidMechanism, match="must be close"):
            made.keeps(rb.DP(smaller))
    moved = list(made.rows)
    many = made.shape.crowds.taken[5]
    seat = next(place for place in range(1, len(many)) if many[place])
    changed = list(moved[5])
    changed[0], changed[seat] = changed[0] + int(many[seat]), changed[seat] - 1
    nearly = replace(made, rows=(*moved[:5], tuple(changed), *moved[6:]))
    worse = list(moved[5])
    worse[0], worse[seat] = worse[0] + int(many[seat]) * (worse[seat] - 1), 1
    broken = replace(made, rows=(*moved[:5], tuple(worse), *moved[6:]))
    assert nearly.keeps(rb.DP("2.1"))
    steeper = replace(made, shape=replace(made.shape, ratio=Fraction(1, 64)))
    with pytest.raises(rb.InvalidMechanism, match="must be close"):
        steeper.keeps(rb.DP(2))
    with pytest.raises(rb.InvalidMechanism, match="must be close"):
        broken.keeps(rb.DP(2))


@pytest.mark.parametrize("ties", TIES)
def test_rows_of_many_votes_are_the_rows_of_each(ties: str) -> None:
    made = table(5, "1", "substituted", ties, 4)
    votes = np.random.default_rng(3).integers(0, 9, size=(60, 5))
    rows = made.rows_at(rb.Winner(list("abcde")), votes, votes.astype(float))
    for counts, mine in zip(votes.tolist(), rows, strict=True):
        assert mine == pytest.approx([float(share) for share in row(made, tuple(counts))], abs=1e-9)


@pytest.mark.parametrize("ties", TIES)
def test_a_right_answer_is_as_likely_as_its_weights(ties: str) -> None:
    made = table(4, "1", "substituted", ties, 3)
    for gaps in itertools.product((0, 1, 2, 7), repeat=3):
        weights = made.at_gaps(gaps)
        tied = [weight for gap, weight in zip(gaps, weights[1:], strict=True) if not gap]
        right = weights[0] + (sum(tied) if ties == "any leader" else 0)
        assert made.right_at(gaps) == pytest.approx(float(Fraction(right, sum(weights))))


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("knots", [3, 4])
def test_what_far_rivals_have_is_the_most_over_all_gaps(ties: str, knots: int) -> None:
    """One that is farther than all knots counts as far as it is, whoever else is where."""
    made, question = table(4, "1", "substituted", ties, knots), rb.Winner(list("abcd"))
    out = knots + made.coins.farthest
    for short in range(knots + 3):
        cut = short + (ties == "any leader")
        together, alone = [0.0], [0.0]
        for gaps in itertools.product({*range(knots), cut, out}, repeat=3):
            weights = made.at_gaps(gaps)
            far = [w for gap, w in zip(gaps, weights[1:], strict=True) if gap >= cut]
            together.append(float(Fraction(sum(far), sum(weights))))
            alone += [float(Fraction(weight, sum(weights))) for weight in far]
        assert made.far_alone(question, short) == pytest.approx(max(alone))
        most = max(together) if cut < knots else 3 * max(alone)
        assert made.far(question, short) == pytest.approx(most)


@pytest.mark.parametrize(
    ("answers", "neighbors", "ties"),
    [*((4, *kind) for kind in KINDS), *((2, relation, TIES[0]) for relation in RELATIONS)],
)
def test_chances_are_the_extremes_over_all_gaps_of_a_margin(
    answers: int, neighbors: str, ties: str
) -> None:
    """Rows need not fall alike in every gap: the least may be where gaps are mixed."""
    made, question = table(answers, "1", neighbors, ties, 3), rb.Winner(list("abcd"[:answers]))
    step = 2 if neighbors == "substituted" else 1
    gaps = [*range(6), made.shape.knots + made.coins.farthest]
    for margin in (1, 2):
        found = [
            made.right_at(held)
            for held in itertools.product(gaps, repeat=answers - 1)
            if step * (margin - 1) <= min(held) <= step * margin - (ties == TIES[0])
        ]
        said = made.chances(question, margin)
        assert said == pytest.approx((min(found), max(found)), rel=1e-9)
