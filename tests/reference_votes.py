"""Slow, independent references for margin tables: every vote, every neighbor, in fractions.

Nothing here imports the code under test: a table is taken as the plain data that it holds.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

Counts = tuple[int, ...]
ROOM = 1e-12


@dataclass
class Vote:
    """What a margin table says of each vote, straight from the definition."""

    answers: int
    neighbors: str
    ties: str
    knots: Sequence[int]
    farthest: int
    ratio: Fraction
    labeled: int
    rows: Sequence[Sequence[int]]
    stored: dict[tuple[int, ...], Sequence[int]] = field(init=False)
    turned: dict[tuple[int, ...], Sequence[int]] = field(init=False, default_factory=dict)
    known: dict[Any, list[int]] = field(init=False, default_factory=dict)
    found: dict[Counts, list[int]] = field(init=False, default_factory=dict)
    shared: dict[int, list[tuple[int, int]]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        every = itertools.product(range(len(self.knots) + 1), repeat=self.answers - 1)
        kept = [k for k in every if self.in_order(k)]
        self.stored = dict(zip(kept, self.rows, strict=True))

    @classmethod
    def of(cls, table: Any) -> Vote:
        """The plain data of a table."""
        s = table.shape
        return cls(
            s.answers,
            s.neighbors,
            s.ties,
            s.knots,
            s.farthest,
            s.ratio,
            s.labeled,
            table.rows,
        )

    def in_order(self, knots: tuple[int, ...]) -> bool:
        """Whether the knots that go without their positions rise."""
        free = [k for k in knots if k >= self.labeled]
        return free == sorted(free)

    def at_knots(self, knots: tuple[int, ...]) -> Sequence[int]:
        """The row at knots: that of any order of the free ones which is stored, turned back."""
        if knots not in self.turned:
            free = [i for i, k in enumerate(knots) if k >= self.labeled]
            for turned in itertools.permutations(free):
                moved = list(knots)
                for to, source in zip(free, turned, strict=True):
                    moved[to] = knots[source]
                if self.in_order(tuple(moved)):
                    row = self.stored[tuple(moved)]
                    back = list(row)
                    for to, source in zip(free, turned, strict=True):
                        back[source + 1] = row[to + 1]
                    self.turned[knots] = back
        return self.turned[knots]

    def shares(self, gap: int) -> list[tuple[int, int]]:
        """Knots and their shares, linear in ratio^gap, times what makes them whole."""
        if gap not in self.shared:
            heights = [self.ratio**k for k in self.knots] + [Fraction(0)]
            here = self.ratio ** min(gap, self.farthest)
            for cell, (upper, lower) in enumerate(itertools.pairwise(heights)):
                if upper >= here > lower:
                    share = (here - lower) / (upper - lower)
                    near, whole = share.numerator, share.denominator
                    self.shared[gap] = [(cell, near), (cell + 1, whole - near)]
        return self.shared[gap]

    def at_gaps(self, gaps: Sequence[int]) -> list[int]:
        """The row at gaps, by position, in whole numbers."""
        row = [0] * self.answers
        parts = [[(k, part) for k, part in self.shares(gap) if part] for gap in gaps]
        for choice in itertools.product(*parts):
            share = math.prod(part for _, part in choice)
            corner = self.at_knots(tuple(k for k, _ in choice))
            row = [a + share * b for a, b in zip(row, corner, strict=True)]
        return row

    def row(self, counts: Counts) -> list[int]:
        """The row of a vote, in the order of the list, in whole numbers."""
        if counts not in self.found:
            self.found[counts] = self._row(counts)
        return self.found[counts]

    def _row(self, counts: Counts) -> list[int]:
        leader = min(v for v in range(self.answers) if counts[v] == max(counts))
        if self.ties == "first listed":
            others = [(leader + j) % self.answers for j in range(1, self.answers)]
        else:
            others = [v for v in range(self.answers) if v != leader]
        gaps = []
        for v in others:
            gap = counts[leader] - counts[v]
            if self.ties == "first listed" and v < leader:
                gap -= 1
            gaps.append(min(gap, self.farthest))
        key = (leader, *gaps)
        if key not in self.known:
            seen = self.at_gaps(gaps)
            row = [0] * self.answers
            for v, p in zip([leader, *others], seen, strict=True):
                row[v] = p
            self.known[key] = row
        return self.known[key]

    def changes(self) -> list[Counts]:
        """What may happen to the counts between neighbors, one of each way and its reverse."""
        one = [tuple(int(i == v) for i in range(self.answers)) for v in range(self.answers)]
        if self.neighbors == "added or removed":
            return one
        pairs = itertools.combinations(range(self.answers), 2)
        moved = [tuple((i == v) - (i == u) for i in range(self.answers)) for u, v in pairs]
        return one + moved

    def edges(self, votes: Iterable[Counts]) -> Iterable[tuple[Counts, Counts]]:
        """Every pair of neighbors that starts at one of the votes."""
        changes = self.changes()
        for counts in votes:
            for change in changes:
                other = tuple(a + b for a, b in zip(counts, change, strict=True))
                if min(other) >= 0:
                    yield counts, other

    def box(self, beyond: int = 3) -> list[Counts]:
        """Votes with every combination of gaps up to ``beyond`` the farthest."""
        most = self.farthest + beyond + 2
        every = itertools.product(range(most + 1), repeat=self.answers)
        return [counts for counts in every if max(counts) == most]


def pairs_of_rows(
    vote: Vote, edges: Iterable[tuple[Counts, Counts]]
) -> Iterable[tuple[list[int], list[int]]]:
    """The rows at both ends of each edge, each pair of rows once in each direction."""
    seen = set()
    for one, other in edges:
        p, q = vote.row(one), vote.row(other)
        if (id(p), id(q)) not in seen:
            seen.add((id(p), id(q)))
            yield p, q
            yield q, p


def excess(p: Sequence[int], q: Sequence[int], ratio: Fraction) -> tuple[int, int]:
    """The least δ for which p is close to q with this e^ε, as a fraction that is not reduced."""
    here, there = sum(p), sum(q)
    up, down = ratio.numerator * here, ratio.denominator * there
    return sum(max(0, down * a - up * b) for a, b in zip(p, q, strict=True)), down * here


def close(p: Sequence[int], q: Sequence[int], ratio: Fraction, delta: Fraction) -> bool:
    """Whether p exceeds q by no more than e^ε and δ."""
    over, whole = excess(p, q, ratio)
    return over * delta.denominator <= delta.numerator * whole


def all_close(
    vote: Vote, edges: Iterable[tuple[Counts, Counts]], ratio: Fraction, delta: Fraction
) -> bool:
    """Whether both rows of every edge are close, either way.

    Doubles decide where they have a thousand times the room that their errors need; the other
    pairs, those that are tight, are compared in whole numbers.
    """
    rows: list[list[int]] = []
    number: dict[int, int] = {}

    def place(counts: Counts) -> int:
        row = vote.row(counts)
        if id(row) not in number:
            number[id(row)] = len(rows)
            rows.append(row)
        return number[id(row)]

    found = np.array(list({(place(one), place(other)) for one, other in edges}))
    pairs = np.concatenate([found, found[:, ::-1]])
    chances = np.array([[weight / sum(row) for weight in row] for row in rows])
    most = float(ratio) * (1 - ROOM) * chances[pairs[:, 1]]
    over = np.maximum(chances[pairs[:, 0]] - most, 0).sum(axis=1)
    doubtful = over > max(float(delta) - ROOM, 0.0)
    return all(close(rows[a], rows[b], ratio, delta) for a, b in pairs[doubtful].tolist())


def tightest_ratio(vote: Vote, votes: Iterable[Counts]) -> Fraction:
    """The least e^ε for which all edges from ``votes`` are close, without a δ."""
    worst = Fraction(1)
    for p, q in pairs_of_rows(vote, vote.edges(votes)):
        here, there = sum(p), sum(q)
        worst = max(worst, *(Fraction(a * there, b * here) for a, b in zip(p, q, strict=True)))
    return worst


def tightest_delta(vote: Vote, votes: Iterable[Counts], ratio: Fraction) -> Fraction:
    """The least δ for which all edges from ``votes`` are close with this e^ε."""
    pairs = pairs_of_rows(vote, vote.edges(votes))
    return max((Fraction(*excess(p, q, ratio)) for p, q in pairs), default=Fraction(0))
