"""Crowd tables against all pairs of small votes, and random pairs of large ones, in fractions."""

from __future__ import annotations

import itertools
import math
import secrets
import zipfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rainbowdp as rb
import reference
from rainbowdp.display.progress import say_once
from rainbowdp.errors import NoTable
from rainbowdp.exact.falling import TOTAL, Falling
from rainbowdp.exact.falling_proof import Chances
from rainbowdp.exact.keeping import ARCHIVE
from rainbowdp.rules.crowd_table.build import (
    SHELF,
    SOLVED,
    CrowdTableFamily,
    fetch_table,
    solved_below,
    wanted,
)
from rainbowdp.rules.crowd_table.iteration import Needs, iterated, with_needs
from rainbowdp.rules.crowd_table.problem import Problem
from rainbowdp.rules.crowd_table.program import (
    _SHARED,
    Plan,
    _solve,
    make_table,
    plans_for,
    shape_for,
)
from rainbowdp.rules.crowd_table.proof import Corners, _must_be_close, cases, prove_crowds
from rainbowdp.rules.crowd_table.rule import CrowdTable
from rainbowdp.rules.crowd_table.shape import Crowds, CrowdShape
from rainbowdp.rules.crowd_table.shipping import shapes

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


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", ["2.1", "5"])
def test_above_two_it_is_the_table_for_two(epsilon: str) -> None:
    question = rb.Winner(list("abcdefgh"))
    made = rb.by_kind(question, rb.DP(epsilon), "crowd-table")
    assert made.exact().rule == rb.by_kind(question, rb.DP(2), "crowd-table").exact().rule
    assert made.claim == "made for ε = 2, so ask for that and pay less"


@pytest.mark.parametrize(
    ("question", "guarantee"),
    [
        (rb.Winner(list("abcd")), rb.DP(1)),
        (rb.Winner(list("abcde")), rb.DP("0.19")),
        (rb.Winner(list("abcdef")), rb.DP("0.09")),
        (rb.Winner(list("abcdef"), ties="any leader"), rb.DP(1)),
        (rb.Winner(list("abcdef"), neighbors="added or removed"), rb.DP(1)),
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


def test_tables_for_common_guarantees_come_with_the_package() -> None:
    """All that are made for shipping, of the shape that is made or solved for, and no others."""
    names = set()
    for answers, epsilon, neighbors, ties in shapes():
        kind = neighbors, ties
        asked = wanted(answers, rb.DP(epsilon), *kind)
        content = SHELF.shipped(asked)
        assert content is not None
        larger = SOLVED.get((answers, epsilon, *kind))
        size = larger or plans_for(answers, float(epsilon), *kind)[0].size
        shape = shape_for(answers, float(epsilon), *kind, size)
        assert CrowdTable.restore(content).shape == shape
        names.add(SHELF.place(asked).name)
    with zipfile.ZipFile(str(files("rainbowdp.rules.crowd_table") / ARCHIVE)) as archive:
        assert set(archive.namelist()) == names


@pytest.mark.slow
@pytest.mark.parametrize(
    ("answers", "records", "epsilon", "least", "above"),
    [
        (5, 12, "0.3", 0.5622, 1.02),
        (6, 10, "0.3", 0.6526, 1.02),
        pytest.param(7, 4, "0.2", 0.7655, 1.05, marks=pytest.mark.slow),
        (8, 5, "0.5", 0.7242, 1.03),
        (9, 4, "1", 0.6213, 1.05),
        (5, 12, "1", 0.2423, 1.01),
        pytest.param(5, 12, "2", 0.0839, 1.01, marks=pytest.mark.slow),
        (6, 10, "1", 0.3304, 1.02),
        pytest.param(6, 8, "2", 0.1471, 1.01, marks=pytest.mark.slow),
        pytest.param(7, 7, "1", 0.4535, 1.05, marks=pytest.mark.slow),
        (7, 5, "2", 0.2420, 1.02),
        pytest.param(8, 5, "1", 0.5598, 1.04, marks=pytest.mark.slow),
        pytest.param(8, 5, "2", 0.2730, 1.03, marks=pytest.mark.slow),
    ],
)
def test_the_order_of_the_nearest_makes_it_near_the_least_error(
    answers: int, records: int, epsilon: str, least: float, above: float
) -> None:
    """All votes of so many records alike; the least of any mechanism by benchmarks/near.py."""
    question = rb.Winner([str(number) for number in range(answers)])
    places = records + answers - 1
    bars = np.array(list(itertools.combinations(range(places), answers - 1)))
    ends = np.pad(bars, ((0, 0), (0, 1)), constant_values=places)
    votes = np.diff(ends, axis=1, prepend=-1) - 1
    made = rb.by_kind(question, rb.DP(epsilon), "crowd-table").exact().rule
    assert isinstance(made, CrowdTable)
    assert made.shape.ordered >= 2
    rows = made.rows_at(question, votes, votes.astype(float))
    wrong = 1 - rows[np.arange(len(votes)), votes.argmax(axis=1)].mean()
    assert 0.9999 * least < wrong < above * least


@pytest.mark.slow
def test_where_rows_in_order_cannot_be_proved_there_are_fewer_or_none(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("RAINBOWDP_CACHE", str(tmp_path))
    asked: list[tuple[int, bool]] = []

    def make(shape: CrowdShape, guarantee: rb.DP, tell: Any, *, near: Any, iterate: bool) -> Any:
        asked.append((shape.ordered, iterate))
        if shape.ordered:
            raise NoTable("not proved")
        return make_table(shape, guarantee, tell, near=near)

    monkeypatch.setattr("rainbowdp.rules.crowd_table.build.make_table", make)
    guarantee, words = rb.DP.from_ratio(4), ("substituted", "first listed")  # ε of about 1.39
    table, _ = fetch_table(7, guarantee, *words)
    assert (asked, table.shape.ordered) == ([(3, True), (2, False), (0, False)], 0)
    assert "errs somewhat more often" in capsys.readouterr().err
    SHELF._held.clear()  # so that it is read and proved again
    say_once.cache_clear()
    assert fetch_table(7, guarantee, *words)[0] == table
    assert "keep more of the order" in capsys.readouterr().err
    fetch_table(7, rb.DP(1), *words)
    assert "more often" not in capsys.readouterr().err
    assert len(asked) == 3
    asked.clear()
    with pytest.raises(NoTable, match="not proved"):
        fetch_table(5, guarantee, *words)
    assert asked == [(5, True), (3, False)]


def test_a_kept_table_has_the_gaps_of_one_that_is_made_or_was_solved_for(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("RAINBOWDP_CACHE", str(tmp_path))
    kind, guarantee = KINDS[1], rb.DP("1.9")

    def gaps(made: int, *, solve: bool = False) -> int:
        """Of the table that is fetched where so many are made."""
        SHELF._held.clear()
        monkeypatch.setitem(_SHARED, 7, (made, 0))
        return fetch_table(7, guarantee, *kind, solve=solve)[0].shape.knots

    assert gaps(3) == 3
    solved: Any = SOLVED
    monkeypatch.setitem(solved, (7, "1.9", *kind), (4, 0))
    assert gaps(3) == 3
    assert gaps(3, solve=True) == 4
    assert capsys.readouterr().err.count("got others") == 1
    assert gaps(3) == 4
    assert not capsys.readouterr().err
    monkeypatch.delitem(solved, (7, "1.9", *kind))
    assert gaps(5) == 5
    assert "got others" in capsys.readouterr().err


def test_one_that_takes_minutes_and_is_not_there_is_not_made(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Then the margin table answers, and that is said."""
    monkeypatch.setenv("RAINBOWDP_CACHE", str(tmp_path))
    question, guarantee = rb.Winner(list("abcde")), rb.DP("0.1")
    assert rb.best(question, guarantee).name == "crowd-table"
    SHELF._held.clear()
    say_once.cache_clear()
    monkeypatch.setitem(vars(SHELF), "package", "rainbowdp.rules.proximity")
    with pytest.raises(NoTable, match="minutes to make and is not there; install the package"):
        fetch_table(5, guarantee, *KINDS[0])
    assert rb.best(question, guarantee).name == "margin-table"
    assert capsys.readouterr().err.count("Margin table answers, as there is no crowd table") == 1


@pytest.mark.parametrize("epsilon", ["0.1", "0.2"])
def test_one_of_five_answers_errs_less_than_the_margin_table_that_it_replaces(epsilon: str) -> None:
    question = rb.Winner(list("abcde"))
    rules = [
        rb.by_kind(question, rb.DP(epsilon), kind).exact().rule
        for kind in ("crowd-table", "margin-table")
    ]
    for records in (8, 12, 40, 160):
        rng = np.random.default_rng(records)
        bars = np.sort([rng.choice(records + 4, 4, replace=False) for _ in range(2_000)], axis=1)
        ends = np.pad(bars, ((0, 0), (0, 1)), constant_values=records + 4)
        votes = np.diff(ends, axis=1, prepend=-1) - 1
        crowd, margin = (
            rule.rows_at(question, votes, votes.astype(float))[
                np.arange(len(votes)), votes.argmax(axis=1)
            ].mean()
            for rule in rules
        )
        assert crowd > margin


def test_for_an_epsilon_just_above_there_is_the_larger_table_that_was_solved_for() -> None:
    question = rb.Winner([str(number) for number in range(9)], ties="any leader")
    below = solved_below(question, rb.DP("0.51"))
    assert below == CrowdTableFamily(epsilon=Fraction(1, 2))
    assert below.options() == {"epsilon": "1/2"}
    assert solved_below(question, rb.DP("0.8")) == CrowdTableFamily(epsilon=Fraction(7, 10))
    five = rb.Winner(list("abcde"))
    assert solved_below(five, rb.DP("0.35")) == CrowdTableFamily(epsilon=Fraction(3, 10))
    for other in (rb.DP("0.5"), rb.DP("0.7"), rb.DP(1), rb.DP("1.3"), rb.GaussianDP(1)):
        assert solved_below(question, other) is None
    made = rb.by_kind(question, rb.DP("0.51"), "crowd-table", epsilon="1/2")
    assert made.exact().rule == rb.by_kind(question, rb.DP("0.5"), "crowd-table").exact().rule
    assert made.claim == "made for ε = 0.5, so ask for that and pay less"


def test_how_a_table_is_made_where_somebody_waits() -> None:
    first, shared = ("substituted", "first listed"), ("substituted", "any leader")
    assert plans_for(7, 0.1, *first) == (Plan((6, 0)),)
    assert plans_for(7, 0.6, *first) == (Plan((5, 2)), Plan((6, 0)))
    assert plans_for(7, 1.0, *first) == (Plan((6, 3), True), Plan((5, 2)), Plan((6, 0)))
    assert plans_for(5, 4.0, *first) == (Plan((7, 5), True),)
    assert plans_for(7, 1.0, "added or removed", "first listed") == (Plan((6, 0)),)
    assert plans_for(7, 1.0, *shared) == (Plan((7, 0)),)
    for none in ((5, 0.15, *first), (5, 1.0, *shared), (7, 2.1, *shared), (7, 0.001, *first)):
        assert plans_for(*none) == ()
    assert plans_for(7, 1.0, "added or removed", "any leader") == ()


@pytest.mark.parametrize(
    ("neighbors", "ties", "ordered"),
    [(RELATIONS[0], TIES[0], 2), (RELATIONS[1], TIES[0], 1), (RELATIONS[0], TIES[1], 0)],
)
def test_the_iteration_keeps_all_conditions_and_is_near_the_linear_program(
    neighbors: str, ties: str, ordered: int
) -> None:
    shape = shape_for(4, 1.5, neighbors, ties, (5, ordered))
    problem = Problem(shape, rb.DP("1.5").ratio)
    values = iterated(problem)
    assert float((problem.conditions @ values).max()) < 1e-3  # in units of what is compared
    assert problem.sums @ values == pytest.approx(np.ones(shape.crowds.size), abs=1e-3)
    assert Needs(problem).left(values) < 1e-3
    flipped, best = problem.flipped(), _solve(problem, None)
    wrong, most, least = (1 - float(problem.gain @ one) for one in (values, flipped, best))
    assert least * 0.999 < wrong < least * 1.01 < most


def test_a_table_that_needs_too_much_mixing_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    shape, promise = shape_for(4, 0.2, *KINDS[0], (4, 2)), rb.DP("0.2")
    assert make_table(shape, promise)[0].keeps(promise).exact
    monkeypatch.setattr("rainbowdp.rules.crowd_table.program._MOST_MIXING", 0)
    with pytest.raises(NoTable, match=r"4 answers under 0\.2-DP needs more than a mixing"):
        make_table(shape, promise)


@pytest.mark.parametrize(("ties", "ordered"), [("first listed", 2), ("any leader", 0)])
def test_where_a_program_begins_does_not_matter(ties: str, ordered: int) -> None:
    """Values between two tables are nearly the best, and the best are found from anywhere."""
    shape = shape_for(4, 0.8, "substituted", ties, (5, ordered))
    problem = Problem(shape, rb.DP("0.8").ratio)
    near = {
        float(epsilon): table(4, epsilon, "substituted", ties, gaps, ordered)
        for epsilon, gaps in (("0.6", 4), ("1", 6))
    }
    begin, flipped = problem.between(near, 0.8), problem.flipped()
    assert problem.sums @ begin == pytest.approx(np.ones(shape.crowds.size))
    found = [_solve(problem, None, start) for start in (None, begin)]
    wrong, *least = (1 - float(problem.gain @ one) for one in (begin, *found))
    assert least[0] == pytest.approx(least[1], rel=1e-4)
    assert wrong == pytest.approx(least[0], rel=0.08)
    assert 1 - float(problem.gain @ flipped) > 1.05 * wrong


@pytest.mark.parametrize(("ties", "ordered"), [("first listed", 2), ("any leader", 0)])
def test_rivals_with_too_little_get_what_they_need(ties: str, ordered: int) -> None:
    shape = shape_for(4, 1.5, "substituted", ties, (5, ordered))
    problem = Problem(shape, rb.DP("1.5").ratio)
    best = _solve(problem, None)
    leaders = np.isin(np.arange(problem.width), problem.leaders)
    less = np.where(leaders | (np.arange(problem.width) % 5 > 0), best, 0.999 * best)
    assert (problem.conditions @ less).max() > 1e-3
    mended = with_needs(problem, less)
    assert (problem.conditions @ mended).max() < 1e-8
    assert problem.sums @ mended == pytest.approx(np.ones(shape.crowds.size))
    assert (mended[~leaders] >= less[~leaders]).all()
    assert problem.gain @ mended == pytest.approx(problem.gain @ best, abs=2e-6)
    far = np.where(leaders, best, 1e-200)  # settles nowhere
    assert np.isfinite(with_needs(problem, far)).all()


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
