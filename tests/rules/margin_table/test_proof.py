"""The proof of a margin table against every pair of neighbors, in fractions.

A proof looks at finitely many corners. For tables with random rows the least e^ε (or δ) that all
pairs of neighbors in a box allow is found by brute force: the proof must hold exactly there and
fail just below it. So it neither misses a pair nor demands one that does not exist.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

import rainbowdp as rb
import reference
import strategies
from kinds import prove
from rainbowdp.questions.votes import standing
from rainbowdp.rules.margin_table import proof as table_proof
from rainbowdp.rules.margin_table.build import fetch_table
from rainbowdp.rules.margin_table.rule import MarginTable
from rainbowdp.rules.margin_table.shape import Shape
from reference_votes import Counts, Vote, all_close, pairs_of_rows, tightest_delta, tightest_ratio

BELOW = 1 - Fraction(1, 10**6)
BOTH = pytest.mark.parametrize("neighbors", ["substituted", "added or removed"])
TIES = pytest.mark.parametrize("ties", ["first listed", "any leader"])


def holds(guarantee: rb.DP, table: MarginTable, *, exactly: bool) -> bool:
    table_proof._remembered.clear()
    try:
        prove(guarantee, table, exactly=exactly)
    except rb.InvalidMechanism as error:
        reference.assert_one_sentence(error)
        return False
    return True


# where the proof turns


@BOTH
@TIES
@pytest.mark.parametrize(
    ("answers", "knots", "farthest", "ratio", "labeled"),
    [
        (2, (0, 1, 3), 5, Fraction(2, 3), 2),
        (3, (0,), 2, Fraction(1, 2), 1),
        (3, (0, 2), 3, Fraction(9, 10), 0),
    ],
)
def test_the_corners_of_some_tables_are_as_tight_as_all_pairs(
    answers: int,
    knots: tuple[int, ...],
    farthest: int,
    ratio: Fraction,
    labeled: int,
    ties: str,
    neighbors: str,
) -> None:
    """A few of the tables of the slow test below."""
    labeled = 0 if ties == "any leader" else labeled
    shape = Shape(answers, neighbors, ties, knots, farthest, ratio, labeled)
    for seed in range(2):
        table = strategies.random_table(shape, random.Random(seed), 20 - 19 * seed)
        vote = Vote.of(table)
        tight = tightest_ratio(vote, vote.box())
        looser = 1 + (tight - 1) / 2
        delta = tightest_delta(vote, vote.box(), looser)
        less = rb.DP.from_ratio(looser, delta=delta * BELOW)
        for exactly in (True, False):
            assert holds(rb.DP.from_ratio(tight), table, exactly=exactly)
            assert not holds(rb.DP.from_ratio(1 + (tight - 1) * BELOW), table, exactly=exactly)
            assert holds(rb.DP.from_ratio(looser, delta=delta), table, exactly=exactly)
            assert not holds(less, table, exactly=exactly)


@pytest.mark.parametrize(
    ("neighbors", "ties", "knots", "ratio", "seed", "least"),
    [
        ("added or removed", "first listed", (0, 2), Fraction(9, 10), 2, 1),  # here at a knot
        ("added or removed", "any leader", (0, 2), Fraction(9, 10), 2, 20),
        ("substituted", "first listed", (0, 3), Fraction(1, 2), 9, 20),
        ("substituted", "first listed", (0, 3), Fraction(1, 2), 2, 20),  # or there
        ("substituted", "any leader", (0, 3), Fraction(1, 2), 6, 20),
        ("added or removed", "any leader", (0, 2), Fraction(9, 10), 7, 1),
    ],
)
def test_a_gap_may_be_at_a_knot_on_either_side(
    neighbors: str,
    ties: str,
    knots: tuple[int, ...],
    ratio: Fraction,
    seed: int,
    least: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Tables whose tightest pair is there; all corners at once, and block by block."""
    shape = Shape(3, neighbors, ties, knots, knots[-1] + 1, ratio, 0)
    table = strategies.random_table(shape, random.Random(seed), least)
    vote = Vote.of(table)
    tight = tightest_ratio(vote, vote.box())
    for block in (1 << 16, 1):
        monkeypatch.setattr(table_proof, "_BLOCK", block)
        assert holds(rb.DP.from_ratio(tight), table, exactly=False)
        assert not holds(rb.DP.from_ratio(1 + (tight - 1) * BELOW), table, exactly=False)


def test_corners_are_only_so_many(monkeypatch: pytest.MonkeyPatch) -> None:
    shape = Shape(3, "substituted", "first listed", (0, 2), 3, Fraction(1, 2), 0)
    table = strategies.random_table(shape, random.Random(0), 20)
    many = prove(rb.DP(9), table).pairs
    for most, fits in ((many, True), (many - 1, False)):
        monkeypatch.setattr(table_proof, "_MOST_CORNERS", most)
        assert holds(rb.DP(9), table, exactly=False) == fits


def test_what_is_equal_in_doubles_is_not_clear(monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer that one end never gives, with as much at the other as a δ allows, and less."""
    ends: list[Any] = [np.array([[1.0], [0.0]]), np.array([[0.0], [1.0]])]
    monkeypatch.setattr(table_proof._Case, "_ends", lambda *given: ends)
    case = table_proof._Case((0,), (True,), (0,), (0, 1), 0)
    rows: Any = None
    for more, doubtful in ((Fraction(0), 1), (Fraction(1, 1 << 41), 1), (Fraction(1, 1 << 36), 0)):
        found = case._not_clear(rows, Fraction(3), 1 + more, [[7]], 2.0**-40)
        assert found.tolist() == [[7]] * doubtful


@given(strategies.margin_tables())
@settings(max_examples=40, deadline=None)
@pytest.mark.slow
def test_the_corners_are_as_tight_as_all_pairs_of_neighbors(table: MarginTable) -> None:
    vote = Vote.of(table)
    votes = vote.box()
    ratio = tightest_ratio(vote, votes)
    less = 1 + (ratio - 1) * BELOW
    looser = 1 + (ratio - 1) / 2
    delta = tightest_delta(vote, votes, looser)
    for exactly in (True, False):
        assert holds(rb.DP.from_ratio(ratio), table, exactly=exactly)
        assert holds(rb.DP.from_ratio(looser, delta=delta), table, exactly=exactly)
        if ratio > 1:
            assert not holds(rb.DP.from_ratio(less), table, exactly=exactly)
            tight = rb.DP.from_ratio(looser, delta=delta * BELOW)
            assert not holds(tight, table, exactly=exactly)


@pytest.mark.parametrize("exactly", [True, False])
def test_what_answers_exceed_together_counts(exactly: bool) -> None:
    """Here no single answer exceeds by as much as two of them."""
    shape = Shape(3, "substituted", "first listed", (0,), 6, Fraction(1, 2), 0)
    table = MarginTable(shape, 30, ((10, 10, 10), (2, 4, 24), (10, 10, 10)))
    vote, ratio = Vote.of(table), Fraction(2)
    delta = tightest_delta(vote, vote.box(), ratio)
    alone = max(
        Fraction(a, sum(p)) - ratio * Fraction(b, sum(q))
        for p, q in pairs_of_rows(vote, vote.edges(vote.box()))
        for a, b in zip(p, q, strict=True)
    )
    assert alone < delta * BELOW
    assert holds(rb.DP.from_ratio(ratio, delta=delta), table, exactly=exactly)
    assert not holds(rb.DP.from_ratio(ratio, delta=delta * BELOW), table, exactly=exactly)


# which neighbors there are

Move = tuple[int, int, int, int]  # position and gap here, position and gap there; a leader's gap −1


def moves_of(case: Any, gaps: Sequence[int]) -> list[Move]:
    """What a case says of every answer where the rivals have these gaps."""
    moved = zip(gaps, case.moved, case.goes_to[1:], strict=True)
    there = [case.old_leader if case.goes_to[0] else -1]
    there += [gap + by if to else -1 for gap, by, to in moved]
    ends = zip([-1, *gaps], case.goes_to, there, strict=True)
    return [(place, *end) for place, end in enumerate(ends)]


def moves_in(counts: Counts, other: Counts, ties: str) -> list[Move]:
    """What happens to every answer between two votes, in the order of the positions here."""
    (order, gaps), (order_there, gaps_there) = (standing(end, ties) for end in (counts, other))
    there = dict(zip(order_there, enumerate([-1, *gaps_there]), strict=True))
    here = zip(order, enumerate([-1, *gaps]), strict=True)
    return [(*at, *there[v]) for v, at in here]


def told(moves: Iterable[Move], ties: str) -> frozenset[Any]:
    """A pair of neighbors, whichever end comes first; with interchangeable answers, their gaps."""
    if ties == "first listed":
        return frozenset([frozenset(moves), frozenset((c, d, a, b) for a, b, c, d in moves)])
    gaps = [(max(b, 0), max(d, 0)) for _, b, _, d in moves]
    return frozenset([tuple(sorted(gaps)), tuple(sorted((d, b) for b, d in gaps))])


@BOTH
@TIES
@pytest.mark.parametrize("answers", [2, 4])
def test_the_cases_are_the_pairs_of_votes(answers: int, ties: str, neighbors: str) -> None:
    """Played on counts with gaps up to 4: all pairs of neighbors are cases, and no others."""
    shape = Shape(answers, neighbors, ties, (0, 1), 3, Fraction(1, 2), 0)
    most, seen = 4, set()
    changes = [  # a record more or less, and substituted
        change
        for change in itertools.product((-1, 0, 1), repeat=answers)
        if (sum(map(abs, change)), sum(change))
        in [(1, 1), (1, -1), *([(2, 0)] if neighbors == "substituted" else [])]
    ]
    for behind in itertools.product(range(most + 2), repeat=answers):
        counts = tuple(20 - gap for gap in behind)
        for change in changes if min(behind) == 0 else []:
            other = tuple(count + more for count, more in zip(counts, change, strict=True))
            seen.add(told(moves_in(counts, other, ties), ties))
    cases = set()
    for case in table_proof._cases(shape):
        stretches = [
            range(first, most + 1) if free else [first]
            for first, free in zip(case.first, case.free, strict=True)
        ]
        for gaps in itertools.product(*stretches):
            cases.add(told(moves_of(case, gaps), ties))
    near = {pair for pair in seen if all(gap <= most for end in pair for gap in gaps_in(end))}
    assert near <= cases
    assert cases <= seen


def gaps_in(end: Iterable[Any]) -> Iterator[int]:
    """All gaps here and there."""
    for move in end:
        yield from move[-3::2] if len(move) == 4 else move


def test_where_stretches_end() -> None:
    """At the gaps that are or come to a knot or to the farthest, and at the first."""
    shape = Shape(4, "substituted", "first listed", (0, 4, 9), 15, Fraction(1, 2), 0)
    case = table_proof._Case((2, 0, 5), (True, True, False), (-1, 2, 1), (0, 1, 2, 3), 0)
    assert case.ends(shape, 0) == [2, 4, 5, 9, 10, 15, 16]
    assert case.ends(shape, 1) == [0, 2, 4, 7, 9, 13, 15]
    assert case.ends(shape, 2) == [5]
    assert case.size(shape) == 7 * 7


@BOTH
@TIES
def test_blocks_have_all_corners(
    ties: str, neighbors: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the answers that are interchangeable with the first, that one is the nearest."""
    monkeypatch.setattr(table_proof, "_BLOCK", 0)
    shape = Shape(4, neighbors, ties, (0, 2), 4, Fraction(1, 2), 0)
    for case in table_proof._cases(shape):
        gaps = [case.ends(shape, place) for place in range(3)]
        blocks = list(case._blocks(shape, gaps))
        found = [corner for block in blocks for corner in itertools.product(*block)]
        leads = [to == 0 for to in case.goes_to[1:]]
        kinds = list(zip(case.first, case.free, case.moved, leads, strict=True))
        alike = [place for place in (1, 2) if ties == "any leader" and kinds[place] == kinds[0]]
        assert len(blocks) == len(gaps[0])
        assert sorted(found) == [
            corner
            for corner in itertools.product(*gaps)
            if all(corner[place] >= corner[0] for place in alike)
        ]


# the rows at both ends, and how they are compared


def shares(weights: Sequence[int]) -> list[Fraction]:
    return [Fraction(weight, sum(weights)) for weight in weights]


BENT = [("first listed", 1), ("first listed", 0), ("first listed", 3), ("any leader", 0)]


@pytest.mark.parametrize(("ties", "labeled"), BENT)
def test_rows_at_any_gaps_are_those_of_the_definition(ties: str, labeled: int) -> None:
    """In doubles, in units of 2^-128 and in fractions, here and at the other end of each case."""
    shape = Shape(4, "substituted", ties, (0, 2), 4, Fraction(2, 3), labeled)
    table = strategies.random_table(shape, random.Random(labeled), 1)
    vote, rows = Vote.of(table), table_proof._Rows(shape, np.array(table.rows, dtype=object))
    rng = random.Random(7)
    unit = 1 << 128 * 3
    for case in table_proof._cases(shape):
        gaps = [
            sorted({first, first + rng.randrange(7), first + rng.randrange(7)}) if free else [first]
            for first, free in zip(case.first, case.free, strict=True)
        ]
        here, there = case._ends(rows, gaps)
        corners = list(itertools.product(*gaps))
        listed = [
            case._listed_ends(rows, np.array(corners), number)
            for number in (Fraction, table_proof._in_bits)
        ]
        places = itertools.product(*(range(len(ends)) for ends in gaps))
        for at, (corner, place) in enumerate(zip(corners, places, strict=True)):
            mine = shares(vote.at_gaps(corner))
            beyond = {to: gap for _, _, to, gap in moves_of(case, corner) if to}
            theirs = shares(vote.at_gaps([beyond[to] for to in range(1, 4)]))
            theirs = [theirs[to] for to in case.goes_to]
            for wanted, doubles, end in ((mine, here, 0), (theirs, there, 1)):
                found = [float(share) * table.total for share in wanted]
                assert doubles[(slice(None), *place)] == pytest.approx(found, rel=2**-44)
                assert list(listed[0][end][at]) == [share * table.total for share in wanted]
                off = [
                    abs(Fraction(got, unit) - share * table.total)
                    for got, share in zip(listed[1][end][at], wanted, strict=True)
                ]
                assert max(off) <= Fraction(3 * table.total, 1 << 129)


@pytest.mark.parametrize(("slack", "limit"), [(Fraction(0), 0), (Fraction(15, 2 << 256), 7)])
def test_what_shares_of_so_many_bits_decide(
    slack: Fraction, limit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of two shares moves a row by at most 2^-129 of the total, on either side."""
    stored = np.array([[10, 20, 40], [70, 0, 0]])
    rows: Any = SimpleNamespace(shape=SimpleNamespace(answers=3), stored=stored)
    error = (3 + 1) * 2 * 70 * (1 << 256 - 129) + 1
    case = table_proof._Case((0, 0), (True, True), (0, 0), (0, 1, 2), 0)
    for over, doubtful in ((limit, []), (limit + 1, [(4, 5)])):
        less = np.array([[1 << 250] * 3], dtype=object)
        more = 3 * less - np.array([[error - over, 2 * error, error]], dtype=object)
        for ends in ((more, less), (less, more)):
            monkeypatch.setattr(
                table_proof._Case, "_listed_ends", lambda *_, ends=ends: ends, raising=True
            )
            found = case._undecided(rows, Fraction(3), slack, np.array([[4, 5]]))
            assert list(found) == doubtful


@pytest.mark.parametrize("slack", [False, True])
def test_what_is_tight_is_never_decided_by_less_than_fractions(slack: bool) -> None:
    """At the ratio, or the δ, that just holds: doubtful in doubles, in bits, and it holds.

    A little above it bits are enough, and well above it doubles.
    """
    shape = Shape(3, "substituted", "first listed", (0, 2), 4, Fraction(2, 3), 1)
    table = strategies.random_table(shape, random.Random(3), 1)
    vote, rows = Vote.of(table), table_proof._Rows(shape, np.array(table.rows, dtype=object))
    cases = [case for case in table_proof._cases(shape) if all(case.free)]
    for case, more in itertools.product(cases, (1, 3)):
        corner = tuple(first + more for first in case.first)
        beyond = {to: gap for _, _, to, gap in moves_of(case, corner) if to}
        mine = shares(vote.at_gaps(corner))
        theirs = shares(vote.at_gaps([beyond[to] for to in (1, 2)]))
        theirs = [theirs[to] for to in case.goes_to]
        both = [*zip(mine, theirs, strict=True), *zip(theirs, mine, strict=True)]
        ratio, over = max(a / b for a, b in both), Fraction(0)
        if slack:
            ratio = 1 + (ratio - 1) / 2
            ways = (both[:3], both[3:])
            over = max(
                sum((a - ratio * b for a, b in way if a > ratio * b), Fraction(0)) for way in ways
            )
            if not over:
                continue

        def found(
            by: Fraction,
            case: Any = case,
            corner: Counts = corner,
            given: tuple[Fraction, Fraction] = (ratio, over * table.total),
        ) -> tuple[bool, bool, bool]:
            factor, limit = (given[0], given[1] * by) if slack else (given[0] * by, given[1])
            block = [[gap] for gap in corner]
            doubtful = case._not_clear(rows, factor, limit, block, 2.0**-40)
            left = list(case._undecided(rows, factor, limit, np.array([corner])))
            try:
                case._compare(rows, factor, limit, corner)
            except rb.InvalidMechanism:
                return len(doubtful) == 1, left == [corner], False
            return len(doubtful) == 1, left == [corner], True

        tiny, small = Fraction(1, 1 << 140), Fraction(1, 1 << 100)
        assert found(Fraction(1)) == (True, True, True)
        assert found(1 - tiny) == (True, True, False)
        assert found(1 - small) == (True, True, False)
        assert found(1 + tiny) == (True, True, True)
        assert found(1 + small) == (True, False, True)
        assert found(1 + Fraction(1, 1 << (16 if slack else 36))) == (False, False, True)
        assert found(1 + Fraction(1, 1 << 45)) == (True, False, True)


# tables that are made


def votes_up_to(nodes: int, answers: int, neighbors: str) -> list[Counts]:
    """The votes of the largest histogram graphs with at most so many nodes.

    These hold all smaller ones: where records come and go, in one graph; where they are
    substituted, as a vote with one record more for each of q answers has the same gaps, in the
    graphs of the q largest sizes.
    """
    if neighbors == "substituted":
        most = max(n for n in range(nodes) if math.comb(n + answers - 1, answers - 1) <= nodes)
        sizes = range(most - answers + 1, most + 1)
    else:
        most = max(n for n in range(nodes) if math.comb(n + answers, answers) <= nodes)
        sizes = range(most + 1)
    return [counts for size in sizes for counts in reference.histograms(answers, size)]


def assert_private(vote: Vote, guarantee: rb.DP, votes: Iterable[Counts]) -> int:
    """Every edge from ``votes`` is close with an e^ε from below; how many there are."""
    assert guarantee.exact_epsilon is not None
    ratio, _ = reference.exp_between(guarantee.exact_epsilon, digits=60)
    edges = list(vote.edges(votes))
    assert all_close(vote, edges, ratio, guarantee.exact_delta)
    return len(edges)


@BOTH
@TIES
@pytest.mark.parametrize(
    ("answers", "epsilon", "delta"),
    [
        (2, "0.3", "0"),
        (2, "2", "1/50"),
        (3, "1", "0"),
        pytest.param(3, "0.5", "1e-3", marks=pytest.mark.slow),
        pytest.param(4, "1", "0", marks=pytest.mark.slow),
        pytest.param(5, "2", "0", marks=pytest.mark.slow),
        pytest.param(6, "2", "0", marks=pytest.mark.slow),
    ],
)
def test_no_edge_of_a_histogram_graph_breaks_the_guarantee(
    answers: int, epsilon: str, delta: str, neighbors: str, ties: str
) -> None:
    """Every edge of every histogram graph of up to 5,000 nodes."""
    guarantee = rb.DP(epsilon, delta)
    table, _ = fetch_table(answers, guarantee, neighbors, ties)
    votes = votes_up_to(5000, answers, neighbors)
    assert assert_private(Vote.of(table), guarantee, votes) > 9000


@pytest.mark.slow
@BOTH
@TIES
def test_no_random_pair_of_large_votes_breaks_the_guarantee(neighbors: str, ties: str) -> None:
    guarantee = rb.DP("0.3")
    table, _ = fetch_table(3, guarantee, neighbors, ties)
    vote, rng = Vote.of(table), random.Random(5)
    far = table.shape.farthest + 5

    def one() -> tuple[int, ...]:
        size = rng.choice([1, 4, 16, 64, far])
        return tuple(10**18 - rng.randrange(size) for _ in range(3))

    assert assert_private(vote, guarantee, (one() for _ in range(6_000))) >= 18_000


# a proof can fail


def moved(table: MarginTable, row: int, place: int, other: int, part: float) -> MarginTable:
    rows = [list(weights) for weights in table.rows]
    much = math.ceil(rows[row][place] * part)
    rows[row][place] += much
    rows[row][other] -= much
    return MarginTable(table.shape, table.total, tuple(map(tuple, rows)))


@BOTH
def test_a_millionth_too_much_is_found(neighbors: str) -> None:
    """In a row of an optimum something is tight: of all rows most have no millionth to spare."""
    guarantee = rb.DP(1)
    table, _ = fetch_table(3, guarantee, neighbors, "first listed")
    found = 0
    for row in range(len(table.rows)):
        changed = moved(table, row, 0, 1, 1e-6)
        if not min(changed.rows[row]) > 0:
            continue
        fast = holds(guarantee, changed, exactly=False)
        if not fast:
            found += 1
            assert not holds(guarantee, changed, exactly=True)
        if found >= 10:
            break
    assert found >= 10
    assert holds(guarantee, table, exactly=False)


def test_a_proof_is_not_taken_for_another_table_or_guarantee() -> None:
    table, _ = fetch_table(3, rb.DP(1), "substituted", "first listed")
    assert prove(rb.DP(1), table).pairs > 100
    with pytest.raises(rb.InvalidMechanism):
        prove(rb.DP("0.999"), table)
    swapped = MarginTable(table.shape, table.total, tuple(row[::-1] for row in table.rows))
    with pytest.raises(rb.InvalidMechanism):
        prove(rb.DP(1), swapped)


@pytest.mark.parametrize(
    "rows",
    [
        [(5, 5), (5, 6)],
        [(5, 5), (11, -1)],
        [(5, 5), (5.0, 5)],
        [(5, 5), (True, 9)],
        [(0, 0), (0, 0)],
    ],
)
def test_rows_that_are_none_are_refused(rows: Sequence[Any]) -> None:
    shape = Shape(2, "substituted", "first listed", (0,), 3, Fraction(1, 2), 0)
    with pytest.raises(rb.InvalidMechanism):
        prove(rb.DP(9), MarginTable(shape, 10, tuple(rows)))


@pytest.mark.parametrize("rows", [((3, 3, 4), (5, 5)), ((5, 5), (10,))])
def test_every_row_has_a_weight_for_each_answer(rows: tuple[tuple[int, ...], ...]) -> None:
    shape = Shape(2, "substituted", "first listed", (0,), 3, Fraction(1, 2), 0)
    with pytest.raises(rb.InvalidMechanism, match="must have 2 weights"):
        prove(rb.DP(9), MarginTable(shape, 10, rows))


@pytest.mark.parametrize("total", [10, 14])
def test_rows_sum_to_the_total(total: int) -> None:
    """The slack of a δ is a part of the total: a larger one would allow more."""
    shape = Shape(2, "substituted", "first listed", (0,), 3, Fraction(1, 2), 0)
    with pytest.raises(rb.InvalidMechanism, match=f"must sum to {total}"):
        prove(rb.DP(9), MarginTable(shape, total, ((6, 6), (6, 6))))


def test_what_doubles_can_just_hold() -> None:
    def shape(answers: int, farthest: int, ratio: Fraction) -> Shape:
        return Shape(answers, "substituted", "any leader", (0,), farthest, ratio, 0)

    half, least = Fraction(1, 2), Fraction(1, 1 << 50)
    table_proof._check_range(shape(9, 50, half), 1 << 900)
    table_proof._check_range(shape(9, 1, 1 - least), 1 << 900)
    for answers, farthest, ratio, total in (
        (10, 50, half, 1 << 900),
        (9, 51, half, 1 << 900),
        (9, 1, 1 - least / 2, 1 << 900),
        (9, 50, half, (1 << 900) + 1),
    ):
        with pytest.raises(rb.InvalidMechanism, match="can be proved for up to 9 answers"):
            table_proof._check_range(shape(answers, farthest, ratio), total)


def test_a_total_is_a_whole_number() -> None:
    shape = Shape(2, "substituted", "first listed", (0,), 3, Fraction(1, 2), 0)
    total: Any = 10.0
    with pytest.raises(rb.InvalidMechanism, match="must be an integer"):
        prove(rb.DP(9), MarginTable(shape, total, ((5, 5), (5, 5))))


def test_a_proof_is_made_once_and_anew_where_it_is_to_be_exact(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shape = Shape(2, "substituted", "first listed", (0,), 3, Fraction(1, 2), 0)
    table, compare, compared = (
        MarginTable(shape, 10, ((5, 5), (6, 4))),
        table_proof._Case.compare,
        [],
    )

    def counted(case: Any, rows: Any, *given: Any) -> int:
        compared.append(given[-1])
        return compare(case, rows, *given)

    monkeypatch.setattr(table_proof._Case, "compare", counted)
    monkeypatch.setattr(table_proof, "_remembered", {})
    check = prove(rb.DP(9), table)
    many = len(compared)
    assert compared == [2.0**-40] * many
    assert prove(rb.DP(9), table) is check
    assert len(compared) == many
    assert prove(rb.DP(9), table, exactly=True) == check
    assert compared[many:] == [2.0**-24] * many


@pytest.mark.parametrize(("ties", "row"), [("first listed", (4, 1, 5)), ("any leader", (4, 1, 5))])
def test_equal_gaps_have_equal_weights(ties: str, row: tuple[int, ...]) -> None:
    shape = Shape(3, "substituted", ties, (0,), 3, Fraction(1, 2), 0)
    rows: list[tuple[int, ...]] = [(10, 10, 10)] * 3
    assert holds(rb.DP(1), MarginTable(shape, 30, tuple(rows)), exactly=True)
    for number in (0, 2):
        changed = [*rows]
        changed[number] = tuple(3 * w for w in row)
        assert not holds(rb.DP(50), MarginTable(shape, 30, tuple(changed)), exactly=True)


@pytest.mark.parametrize(("ties", "labeled"), BENT)
def test_which_weights_must_be_equal(ties: str, labeled: int) -> None:
    """Whichever weight of whichever row is more: refused where another one has the same gap.

    A labeled knot tells answers apart; where any leader is right, the leader has the gap 0.
    """
    shape = Shape(4, "substituted", ties, (0, 2), 4, Fraction(2, 3), labeled)
    rows = np.array(strategies.random_table(shape, random.Random(1), 1).rows, dtype=object)
    table_proof._Rows(shape, rows).check_equal_gaps()
    for number, state in enumerate(shape.states):
        leader = 0 if ties == "any leader" else -1
        gaps = [leader, *(knot if knot >= labeled else -2 - at for at, knot in enumerate(state))]
        for place, gap in enumerate(gaps):
            changed = rows.copy()
            changed[number, place] += 1
            proved = table_proof._Rows(shape, changed)
            if gaps.count(gap) == 1:
                proved.check_equal_gaps()
                continue
            with pytest.raises(rb.InvalidMechanism, match="must have equal weights"):
                proved.check_equal_gaps()


def test_leaders_of_a_tie_have_equal_weights() -> None:
    """Else it would matter which of them is seen as the leader."""
    shape = Shape(3, "substituted", "any leader", (0,), 3, Fraction(1, 2), 0)
    with pytest.raises(rb.InvalidMechanism) as caught:
        prove(rb.DP(50), MarginTable(shape, 30, ((10, 10, 10), (12, 9, 9), (10, 10, 10))))
    reference.assert_one_sentence(caught.value, "equal weights")


@pytest.mark.parametrize(
    ("answers", "farthest", "ratio", "total"),
    [
        (2, 60, Fraction(1, 2), 30),
        (2, 5, 1 - Fraction(1, 10**16), 30),
        (2, 5, Fraction(1, 2), 10**300),
        (10, 1, Fraction(1, 2), 30),
    ],
)
def test_what_doubles_cannot_hold_is_refused(
    answers: int, farthest: int, ratio: Fraction, total: int
) -> None:
    """There the doubles that a proof begins with would be nothing or too coarse."""
    shape = Shape(answers, "substituted", "any leader", (0,), farthest, ratio, 0)
    row = (total // answers,) * answers
    table = MarginTable(shape, total, (row,) * len(shape.states))
    with pytest.raises(rb.InvalidMechanism) as caught:
        prove(rb.DP(9), table)
    reference.assert_one_sentence(caught.value, "2^900")


def test_only_epsilon_and_delta_are_proved() -> None:
    table, _ = fetch_table(2, rb.DP(1), "substituted", "first listed")
    with pytest.raises(rb.InvalidMechanism) as caught:
        prove(rb.GaussianDP(1), table)
    reference.assert_one_sentence(caught.value, "(ε,δ)")
