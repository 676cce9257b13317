"""What the proof of a crowd table compares: every pair of votes, in the chances that are drawn."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest

import rainbowdp as rb
from rainbowdp.exact.falling import TOTAL
from rainbowdp.exact.falling_proof import Chances
from rainbowdp.questions.votes import standing
from rainbowdp.rules.crowd_table import proof
from rainbowdp.rules.crowd_table.program import make_table, shape_for
from rainbowdp.rules.crowd_table.proof import (
    Case,
    Corners,
    _must_be_close,
    _must_be_fine,
    _must_be_rows,
    cases,
    prove_crowds,
)
from rainbowdp.rules.crowd_table.rule import CrowdTable
from rainbowdp.rules.crowd_table.shape import CrowdShape

SUBSTITUTED, ADDED = "substituted", "added or removed"
FIRST, ANY = "first listed", "any leader"
KINDS = [
    *((neighbors, FIRST, ordered) for neighbors in (SUBSTITUTED, ADDED) for ordered in (0, 1, 2)),
    *((neighbors, ANY, 0) for neighbors in (SUBSTITUTED, ADDED)),
]
OUT, TOP = 50, 100


@cache
def table(answers: int, epsilon: str, neighbors: str, ties: str, ordered: int) -> CrowdTable:
    """One with three gaps."""
    shape = shape_for(answers, float(epsilon), neighbors, ties, (3, ordered))
    return make_table(shape, rb.DP(epsilon))[0]


def beside(votes: tuple[int, ...], neighbors: str) -> Iterator[tuple[int, ...]]:
    """The votes with one record more or less, or with one substituted."""
    places = range(len(votes))
    if neighbors == ADDED:
        for one, change in itertools.product(places, (1, -1)):
            yield tuple(count + change * (place == one) for place, count in enumerate(votes))
        return
    for one, other in itertools.permutations(places, 2):
        yield tuple(n + (place == one) - (place == other) for place, n in enumerate(votes))


class Played:
    """Everybody's seat at votes, where all rivals are near knots or out."""

    def __init__(self, shape: CrowdShape) -> None:
        self.shape, self.crowds = shape, Corners(shape).crowds
        self.seated: dict[tuple[int, ...], dict[int, tuple[int, int]] | None] = {}
        parts = zip(self.crowds.words.tolist(), self.crowds.counts.tolist(), strict=True)
        self.known = {
            (tuple(letter for letter in word if letter >= 0), tuple(counts)): number
            for number, (word, counts) in enumerate(parts)
        }

    def alike(self, seats: Any) -> Any:
        """Where any leader is right, those that are tied have one weight."""
        size, any_leader = self.crowds.size, self.shape.ties == ANY
        return [seat - size if any_leader and seat // size == 1 else seat for seat in seats]

    def seats(self, votes: tuple[int, ...]) -> dict[int, tuple[int, int]] | None:
        """The seat of everybody who is not out, with the gap; the leader's is −1."""
        if votes not in self.seated:
            self.seated[votes] = self._seats(votes)
        return self.seated[votes]

    def _seats(self, votes: tuple[int, ...]) -> dict[int, tuple[int, int]] | None:
        ordered, places = self.shape.ordered, range(self.shape.ordered, self.shape.knots + 2)
        order, gaps = standing(votes, self.shape.ties)
        if any(self.shape.knots + 1 < gap < OUT - 3 for gap in gaps):
            return None
        word = tuple(gap for gap in gaps if gap < ordered)
        number = self.known[word, tuple(gaps.count(place) for place in places)]
        found, letters = {order[0]: (number, -1)}, 0
        first = 1 + (self.crowds.rivals if ordered else 0)
        for answer, gap in zip(order[1:], gaps, strict=True):
            letters += gap < ordered
            seat = letters if gap < ordered else first + gap - ordered
            if gap < OUT - 3:
                found[answer] = number + self.crowds.size * seat, gap
        return found

    def pairs(self) -> Iterator[tuple[int, int, bool]]:
        """Every answer's seats at both ends, and whether its coin may stay instead of moving."""
        last = self.shape.knots - 1
        for behind in itertools.product([*range(last + 3), OUT], repeat=self.shape.answers):
            votes = (*(TOP - gap for gap in behind), TOP - OUT)
            here = self.seats(votes) if min(behind) == 0 else None
            if here is None:
                continue
            for other in beside(votes, self.shape.neighbors):
                there = self.seats(other)
                if there is None or here.keys() != there.keys():
                    continue
                ends = [(here[answer], there[answer]) for answer in here]
                if all(min(gap, moved) <= last for (_, gap), (_, moved) in ends):
                    for (seat, gap), (other_seat, moved) in ends:
                        yield seat, other_seat, min(gap, moved) == last and gap != moved


def both_ways(pairs: set[tuple[int, int]]) -> set[tuple[int, int]]:
    """The pairs of different ends, each in both orders."""
    return {pair for a, b in pairs if a != b for pair in ((a, b), (b, a))}


@pytest.mark.parametrize(
    ("answers", "neighbors", "ties", "ordered"),
    [*((4, *kind) for kind in KINDS), (3, SUBSTITUTED, FIRST, 1), (3, SUBSTITUTED, ANY, 0)],
)
def test_the_corners_are_the_pairs_of_votes(
    answers: int, neighbors: str, ties: str, ordered: int
) -> None:
    """Every pair of votes, played on counts, is compared, and where a coin may stay, without it.

    Rivals are up to two records behind the last knot where they end or start at one, or out, as one
    more always is: it may give a record or have it.
    """
    shape = CrowdShape(answers, neighbors, ties, 3, ordered, Fraction(1, 2))
    corners, played = Corners(shape), Played(shape)
    compared: set[tuple[int, int]] = set()
    without: set[tuple[int, int]] = set()
    for case in cases(shape):
        for pair in corners.pairs(case):
            here, there = played.alike(pair.here.tolist()), played.alike(pair.there.tolist())
            compared.update(zip(here, there, strict=True))
            if corners.may_stay(*pair.gaps):
                without.update(zip(here, there, strict=True))
    seen: set[tuple[int, int]] = set()
    stay: set[tuple[int, int]] = set()
    for one, other, far in played.pairs():
        both = tuple(played.alike((one, other)))
        seen.add(both)
        if far:
            stay.add(both)
    assert not both_ways(seen) ^ both_ways(compared)
    assert not both_ways(stay) ^ both_ways(without)


def chances_of(made: CrowdTable, corners: Corners) -> Any:
    """The chances of all seats as the proof has them, crowd by crowd."""
    shares = np.array(made.rows, dtype=np.float64) / float(made.total)
    return (corners.means @ shares.T.ravel()).reshape(-1, corners.crowds.size).T


def gaps_of(word: list[int], counts: list[int], ordered: int) -> list[int]:
    """The gaps of a crowd in the order of the list; that of the counted ones does not matter."""
    counted = [place for place, many in enumerate(counts, ordered) for _ in range(many)]
    return [letter for letter in word if letter >= 0] + counted


@pytest.mark.parametrize(("ties", "ordered"), [(FIRST, 0), (FIRST, 2), (ANY, 0)])
def test_what_is_compared_is_what_is_drawn(ties: str, ordered: int) -> None:
    """The chances of the proof, in doubles, are the weights of the rule, in whole numbers."""
    made = table(4, "1", SUBSTITUTED, ties, ordered)
    corners = Corners(made.shape)
    words, counts = corners.crowds.words.tolist(), corners.crowds.counts.tolist()
    chances = chances_of(made, corners)
    last = made.shape.knots - 1
    for word, many, mine in zip(words, counts, chances, strict=True):
        gaps = gaps_of(word, many, ordered)
        row = made.at_gaps(gaps)
        shares = [weight / sum(row) for weight in row]
        letters = sum(gap < ordered for gap in gaps)
        seats = [0, *range(1, letters + 1)]
        seats += [corners.crowds.seat(gap) for gap in gaps if gap >= ordered]
        assert mine[seats] == pytest.approx(shares, rel=1e-12)
        behind = [corners.crowds.seat(last + steps) for steps in (1, 2) if last + steps not in gaps]
        assert not mine[behind].any()


def test_each_comparison_is_made_with_and_without_own_coins(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where a rival moves behind the last knot its coin may stay, so its coin is left out too."""
    made = table(3, "1", SUBSTITUTED, FIRST, 1)
    corners, chances = Corners(made.shape), chances_of(made, Corners(made.shape)).T.ravel()
    wanted = []
    for case in cases(made.shape):
        for pair in corners.pairs(case):
            p, q = chances[pair.here], chances[pair.there]
            wanted.append((p, q))
            here, there = (max(0, gap - 2) for gap in pair.gaps)  # records behind the last knot
            if min(pair.gaps) >= 2 and here != there:
                ratio = float(made.shape.ratio)
                wanted.append((p / ratio**here, q / ratio**there))
    done: list[tuple[Any, Any]] = []
    monkeypatch.setattr(proof, "_remembered", {})
    monkeypatch.setattr(proof, "_must_be_close", lambda p, q, *_: done.append((p, q)))
    check = made.keeps(rb.DP(1))
    assert len(done) == len(wanted)
    for (p, q), (here, there) in zip(done, wanted, strict=True):
        assert p == pytest.approx(here)
        assert q == pytest.approx(there)
    assert check.pairs == 2 * sum(len(p) for p, _ in wanted)
    assert check.statement.startswith(f"{check.pairs} comparisons of a crowd table")


def test_what_is_not_clear_in_doubles_is_refused() -> None:
    most = 2 * (1 - 2.0**-40)
    one, at, above = (np.array([1.0, x]) for x in (1.0, most, np.nextafter(most, 2)))
    _must_be_close(one, at, 2.0, Case((), 0))
    _must_be_close(at, one, 2.0, Case((), 0))
    for pair in ((one, above), (above, one)):
        with pytest.raises(rb.InvalidMechanism, match="must be close"):
            _must_be_close(*pair, 2.0, Case((), 0))


class TestRows:
    """The least rows that are rows: a 1 for every rival, the rest for the leader."""

    shape = CrowdShape(3, SUBSTITUTED, FIRST, 3, 1, Fraction(1, 2))
    total = 20

    def rows(self, shape: CrowdShape) -> list[list[int]]:
        taken = [[int(many > 0) for many in row] for row in shape.crowds.taken.tolist()]
        for row, many in zip(taken, shape.crowds.taken.tolist(), strict=True):
            row[0] = self.total - sum(many[1:])
        return taken

    def refused(self, rows: list[list[Any]], message: str, total: Any = 20) -> None:
        with pytest.raises(rb.InvalidMechanism, match=message):
            _must_be_rows(self.shape, total, tuple(tuple(row) for row in rows))

    def test_they_are_rows(self) -> None:
        _must_be_rows(self.shape, self.total, tuple(tuple(row) for row in self.rows(self.shape)))

    def test_at_the_first_and_last_row_and_seat(self) -> None:
        taken = self.shape.crowds.taken.tolist()
        last_taken = next(n for n, many in enumerate(taken) if many[-1] == 1)
        for number in (0, -1, last_taken):
            rows: list[list[Any]] = self.rows(self.shape)
            for place in (0, -1):
                changed = [list(row) for row in rows]
                changed[number][place] = float(changed[number][place])
                self.refused(changed, "whole numbers below")
            short = [list(row) for row in rows]
            short[number].pop()
            self.refused(short, "must have .* rows of 5 weights")
            rows[number][0] += 1
            self.refused(rows, "must sum to 20")
            rows[number][0] = 0
            self.refused(rows, "must have some weight")
        rows = self.rows(self.shape)
        rows[last_taken][0] += rows[last_taken][-1]
        rows[last_taken][-1] = 0
        self.refused(rows, "must have some weight")
        rows = self.rows(self.shape)
        rows[0][-1] += 1  # nobody is there
        self.refused(rows, "must have no weight")
        self.refused(self.rows(self.shape)[:-1], "must have .* rows")

    def test_totals(self) -> None:
        rows = self.rows(self.shape)
        for total in (0, -20, 1 << 64, 20.0, True):
            self.refused(rows, "whole numbers below", total)
        for total in (1, (1 << 64) - 1):
            self.refused(rows, "must sum to", total)

    def test_tied_leaders_are_alike(self) -> None:
        """Two for each rival that is behind, the rest for the leaders."""
        shape = CrowdShape(3, SUBSTITUTED, ANY, 3, 0, Fraction(1, 2))
        taken, rows = shape.crowds.taken.tolist(), []
        for _, tied, *behind in taken:
            each = (24 - 2 * sum(behind)) // (1 + tied)
            rows.append((each, each * (tied > 0), *(2 * (many > 0) for many in behind)))
        _must_be_rows(shape, 24, tuple(rows))
        for number, (_, tied, *_) in enumerate(taken):
            first, second, *rest = rows[number]
            moved = (first + tied, second - 1, *rest)
            if tied:
                with pytest.raises(rb.InvalidMechanism, match="tied must have equal"):
                    _must_be_rows(shape, 24, (*rows[:number], moved, *rows[number + 1 :]))


def test_how_fine_coins_must_be() -> None:
    """What they are off by, 4 · answers · least · total, is at most 2^-44 of theirs."""
    shape = CrowdShape(5, SUBSTITUTED, ANY, 3, 0, Fraction(1, 2))
    most = (4 * 5 * 3 * 1000) << 44
    coins = Chances(shape.ratio, most, most, 9, lambda d: 3 if d == 9 else most)
    _must_be_fine(shape, 1000, coins)
    with pytest.raises(rb.InvalidMechanism, match="must be finer"):
        _must_be_fine(shape, 1000, replace(coins, total=most - 1, top=most - 1))
    for other in ({"top": most - 1}, {"ratio": Fraction(1, 3)}):
        with pytest.raises(rb.InvalidMechanism, match="must fall from 1 by its ratio"):
            _must_be_fine(shape, 1000, replace(coins, **other))


def test_each_demand_is_made_of_rows_in_which_all_are_alike() -> None:
    """Private for a large ε; without any one of these demands they would pass."""
    shape = CrowdShape(3, SUBSTITUTED, FIRST, 3, 1, Fraction(1, 2))
    taken = shape.crowds.taken.tolist()
    rows = tuple(tuple(6 // sum(many) * (n > 0) for n in many) for many in taken)
    coins = CrowdTable(shape, 6, rows).coins
    chances = Chances(coins.ratio, TOTAL, coins.top, coins.farthest, coins.at)
    assert prove_crowds(rb.DP(3), shape, 6, rows, chances).holds
    for given, message in (
        ((rb.GaussianDP(9), shape, 6, rows, chances), "needs an"),
        ((rb.DP(3), shape, 6, ((5, 0, 0, 0, 0), *rows[1:]), chances), "must sum to"),
        ((rb.DP(3), shape, 6, rows, replace(chances, top=TOTAL - 1)), "must fall from 1"),
        ((rb.DP(3), shape, 6, rows, replace(chances, at=lambda d: TOTAL >> d // 2)), "distance 1"),
        ((rb.DP("0.1"), shape, 6, rows, chances), "must be close"),
    ):
        with pytest.raises(rb.InvalidMechanism, match=message):
            prove_crowds(*given)
    coarse = replace(chances, at=lambda d: max(chances.at(d), 1 << 100))
    with pytest.raises(rb.InvalidMechanism, match="must be finer"):
        prove_crowds(rb.DP(3), shape, 6, rows, coarse)
