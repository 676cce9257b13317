"""margin-table: rows for a vote at a few gaps, blended between them, for tables of every size.

A row between knots is linear in ratio^gap for each gap, and one record multiplies ratio^gap by a
constant; so a comparison that holds at the corners of a piece holds on all of it. Shares of knots
are taken to 2^-160 and what that may move a weight is added to the worse side; where that leaves a
comparison open it is done again in exact fractions.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations, product
from math import prod

from .bounds import power_between
from .document import fraction, keys, small, weight, weights
from .errors import Refused
from .guarantee import Guarantee
from .question import Question
from .randomness import below, bits_at_random, place_in
from .scores import must_be_that_vote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_MOST_STATES, _MOST_BITS, _MOST_CORNERS = 1 << 17, 1 << 18, 1 << 20
_BITS = 160  # of a share
_FAR = 1000  # a gap that no change closes
_DRAWN = 128


class MarginTable:
    """Integer rows over choices of knots; the key is the counts of all answers."""

    own = ("shape", "total", "rows")
    by_counts = True

    def __init__(
        self,
        content: dict[str, object],
        answers: Sequence[object],
        question: Question | None,
        guarantee: Guarantee,
    ) -> None:
        ratio = guarantee.must_be_pure("a margin table")
        self.question = _a_question(question)
        self._read_shape(content["shape"], answers)
        self.total = weight(content["total"])
        rows = content["rows"]
        if not isinstance(rows, list):
            raise Refused("the rows of a margin table must stand in a list")
        self.rows = [weights(row) for row in rows]
        if len(self.rows) != len(self.states):
            raise Refused(f"a margin table must have {len(self.states)} rows, got others")
        if any(len(row) != self.size or sum(row) != self.total for row in self.rows):
            raise Refused("the rows of a margin table must sum to its total")
        if self.total <= 0:
            raise Refused("the total of a margin table must be above 0")
        self._must_treat_alike()
        slack = guarantee.delta * self.total
        cases = list(self._cases())
        corners = sum(prod(map(len, case[0])) for case in cases)
        if corners > _MOST_CORNERS:
            raise Refused("a margin table must have fewer corners to compare")
        for case in cases:
            self._compare(*case, ratio, slack)
        self.proved = f"{corners} corners of a margin table"

    def _read_shape(self, content: object, answers: Sequence[object]) -> None:
        given = keys(
            content,
            "the shape of a margin table",
            *("answers", "neighbors", "ties", "knots", "farthest", "ratio", "labeled"),
        )
        must_be_that_vote({**given, "rows": 1}, answers, self.question)
        knots = given["knots"]
        if not isinstance(knots, list) or not knots or len(knots) > _MOST_STATES:
            raise Refused("the knots of a margin table must be a list")
        self.knots = [small(knot, "a knot") for knot in knots]
        self.farthest = small(given["farthest"], "the farthest gap")
        self.ratio = fraction(given["ratio"], "ratio")
        self.labeled = small(given["labeled"], "labeled")
        rising = all(a < b for a, b in zip(self.knots, self.knots[1:], strict=False))
        if self.knots[0] != 0 or not rising or self.farthest <= self.knots[-1]:
            raise Refused("the knots of a margin table must rise from 0 to the farthest gap")
        self.size, self.first = len(answers), self.question.ties == "first listed"
        bits = self.farthest * self.ratio.denominator.bit_length()
        if not 0 < self.ratio < 1 or bits > _MOST_BITS:
            raise Refused("the ratio of a margin table must be between 0 and 1 and short")
        if self.labeled > (len(self.knots) + 1 if self.first else 0):
            raise Refused("labeled knots must be knots, and none where any leader is right")
        if (len(self.knots) + 1) ** (min(self.size, 20) - 1) > _MOST_STATES:
            raise Refused("a margin table must have fewer states")
        self.states: dict[tuple[int, ...], int] = {}
        for choice in product(range(len(self.knots) + 1), repeat=self.size - 1):
            free = [knot for knot in choice if knot >= self.labeled]
            if free == sorted(free):
                self.states[choice] = len(self.states)

    def at_knots(self, knots: Sequence[int]) -> list[int]:
        """The row where every gap is at a knot: gaps that are told apart by size stand in order."""
        free = [place for place, knot in enumerate(knots) if knot >= self.labeled]
        stands = list(range(len(knots)))
        arranged = list(knots)
        for target, source in zip(free, sorted(free, key=lambda at: knots[at]), strict=True):
            arranged[target], stands[source] = knots[source], target
        row = self.rows[self.states[tuple(arranged)]]
        return [row[0], *(row[1 + place] for place in stands)]

    def _must_treat_alike(self) -> None:
        """Rivals with equal gaps have equal weights, and so have leaders that are tied."""
        for knots, number in self.states.items():
            row = self.rows[number]
            for one, other in combinations(range(self.size - 1), 2):
                if knots[one] == knots[other] >= self.labeled and row[one + 1] != row[other + 1]:
                    raise Refused("equal gaps of a margin table must have equal weights")
            tied = [row[place + 1] for place, knot in enumerate(knots) if knot == 0]
            if not self.first and any(held != row[0] for held in tied):
                raise Refused("tied leaders of a margin table must have equal weights")

    # Neighbors.

    def _moved(self, change: Sequence[int], gaps: Sequence[int]) -> tuple[list[int], list[int]]:
        """For each answer its position and gap after a change; the leader was first."""
        if self.first:
            scores = [self.size * gain - at for at, gain in enumerate(change)]
            scores = [s - self.size * gap for s, gap in zip(scores, (0, *gaps), strict=True)]
            best = max(scores)
            behind = [best - score for score in scores]
            return [far % self.size for far in behind], [far // self.size for far in behind]
        scores = [gain - gap for gain, gap in zip(change, (0, *gaps), strict=True)]
        leader = scores.index(max(scores))
        places = list(range(self.size))
        places[0], places[leader] = leader, 0
        return places, [max(scores) - score for score in scores]

    def _changes(self) -> Iterator[tuple[list[int], bool]]:
        """What each position gains, and whether the leader must stay: other pairs are these.

        A pair of tables can be read from either end. If a record comes or goes, from where it is
        missing; if one is substituted and some leader loses it, from there; else the leader stays
        on both sides, and the pair is read from where the earlier position has it.
        """
        for v in range(self.size):
            yield [int(i == v) for i in range(self.size)], False
        if self.question.substituted:
            for u, v in combinations(range(self.size), 2):
                yield [(i == v) - (i == u) for i in range(self.size)], u > 0

    def _cases(self) -> Iterator[tuple[list[list[int]], list[int], list[int], int]]:
        """The gaps to look at, by position; how each moves, where it goes, and the old leader's."""
        seen = set()
        for change, stays in self._changes():
            reach = [max(0, gain - change[0]) for gain in change[1:]]
            for choice in product(*(range(far + 1) for far in reach)):  # the last one is free
                free = [gap == far for gap, far in zip(choice, reach, strict=True)]
                kind = (change[0], tuple(sorted(zip(change[1:], choice, strict=True))))
                if not self.first and kind in seen:
                    continue
                seen.add(kind)
                shown = [gap + _FAR * far for gap, far in zip(choice, free, strict=True)]
                goes_to, gaps = self._moved(change, shown)
                if stays and goes_to[0] != 0:
                    continue
                moved = [gap - was for gap, was in zip(gaps[1:], shown, strict=True)]
                ends = [
                    self._ends(least, by) if far else [least]
                    for least, by, far in zip(choice, moved, free, strict=True)
                ]
                yield ends, moved, goes_to, gaps[0]

    def _ends(self, least: int, moved: int) -> list[int]:
        """Where the pieces of a gap end, here or where it moves to."""
        bends = [*self.knots, self.farthest]
        found = {least, *bends, *(bend - moved for bend in bends)}
        return sorted(gap for gap in found if gap >= least)

    def _compare(
        self,
        ends: list[list[int]],
        moved: list[int],
        goes_to: list[int],
        old: int,
        ratio: Fraction,
        slack: Fraction,
    ) -> None:
        """Compare the rows at all corners of a case, in units of 2^-160 for each gap."""
        knots = range(len(self.knots) + 1)
        here = [held for at in product(knots, repeat=self.size - 1) for held in self.at_knots(at)]
        axes = [j for j in range(1, self.size) if goes_to[j]]
        there: list[int] = []
        fixed = self._share(old, Fraction) if goes_to[0] else None
        both = [fixed[0], fixed[0] + (fixed[1] != 1)] if fixed else [None]
        rows_of = {}
        for lower in both:
            listed: list[int] = []
            for at in product(knots, repeat=len(axes)):
                seats = [0] * (self.size - 1)
                for j, knot in zip(axes, at, strict=True):
                    seats[goes_to[j] - 1] = knot
                if lower is not None:
                    seats[goes_to[0] - 1] = lower
                row = self.at_knots(seats)
                listed += [row[goes_to[i]] for i in range(self.size)]
            rows_of[lower] = listed
        if fixed is None:
            there = rows_of[None]
        else:
            near = _in_bits(fixed[1])
            beyond = rows_of[both[-1]]
            there = [
                near * a + ((1 << _BITS) - near) * b
                for a, b in zip(rows_of[fixed[0]], beyond, strict=True)
            ]
        extra = _BITS * (fixed is not None)
        self._descend(here, there, ends, moved, goes_to, (old, ratio, slack), extra, ())

    def _descend(
        self,
        here: list[int],
        there: list[int],
        ends: list[list[int]],
        moved: list[int],
        goes_to: list[int],
        rest: tuple[int, Fraction, Fraction],
        extra: int,
        chosen: tuple[int, ...],
    ) -> None:
        """Blend along the next gap, on both sides, at each of its ends."""
        place = len(chosen)
        if place == self.size - 1:
            self._decide(here, there, moved, goes_to, rest, extra, chosen)
            return
        for gap in ends[place]:
            narrow = self._blend(here, gap)
            beside = self._blend(there, gap + moved[place]) if goes_to[place + 1] else there
            more = extra + (0 if goes_to[place + 1] else -_BITS)
            self._descend(narrow, beside, ends, moved, goes_to, rest, more, (*chosen, gap))

    def _blend(self, rows: list[int], gap: int) -> list[int]:
        lower, share = self._share(gap, _in_bits)
        stride = len(rows) // (len(self.knots) + 1)
        near = rows[lower * stride : (lower + 1) * stride]
        if share == 1 << _BITS:
            return [held << _BITS for held in near]
        far = rows[(lower + 1) * stride : (lower + 2) * stride]
        other = (1 << _BITS) - share
        return [share * a + other * b for a, b in zip(near, far, strict=True)]

    def _decide(
        self,
        here: list[int],
        there: list[int],
        moved: list[int],
        goes_to: list[int],
        rest: tuple[int, Fraction, Fraction],
        extra: int,
        gaps: tuple[int, ...],
    ) -> None:
        old, ratio, slack = rest
        axes = self.size - 1
        assert extra == 0  # a gap that is gone on one side is the old leader's on the other
        top, bottom, scale = ratio.numerator, ratio.denominator, 1 << _BITS * axes
        off = (top + bottom) * axes * self.total * (scale >> _BITS) + 1
        limit = bottom * slack * scale
        if all(
            sum([max(0, bottom * a - top * b + off) for a, b in zip(p, q, strict=True)]) <= limit
            for p, q in ((here, there), (there, here))
        ):
            return
        one = self._exact(gaps)
        after = [0] * axes
        for j in range(1, self.size):
            if goes_to[j]:
                after[goes_to[j] - 1] = gaps[j - 1] + moved[j - 1]
        if goes_to[0]:
            after[goes_to[0] - 1] = old
        other = self._exact(after)
        other = [other[at] for at in goes_to]
        for p, q in ((one, other), (other, one)):
            if sum(max(Fraction(0), a - ratio * b) for a, b in zip(p, q, strict=True)) > slack:
                raise Refused(f"neighboring rows of a margin table must be close, not at {gaps}")

    # Rows and draws.

    def _share(self, gap: int, number: Callable[[Fraction], Any]) -> tuple[int, Any]:
        """The last knot not beyond a gap, and its share; the next knot has the rest."""
        cache = self.__dict__.setdefault("_shares", {})
        if (gap, number) not in cache:
            lower = bisect_right(self.knots, gap) - 1
            step = min(gap, self.farthest) - self.knots[lower]
            near = self.ratio**step
            if lower + 1 < len(self.knots):
                width = self.ratio ** (self.knots[lower + 1] - self.knots[lower])
                near = (near - width) / (1 - width)
            cache[gap, number] = lower, number(near)
        found: tuple[int, Any] = cache[gap, number]
        return found

    def _exact(self, gaps: Sequence[int]) -> list[Fraction]:
        """The row at any gaps, in fractions of the total."""
        around = [self._share(gap, Fraction) for gap in gaps]
        row = [Fraction(0)] * self.size
        for at in product((0, 1), repeat=len(gaps)):
            part = prod(
                (1 - share if beyond else share)
                for beyond, (_, share) in zip(at, around, strict=True)
            )
            if part:
                knots = [lower + beyond for beyond, (lower, _) in zip(at, around, strict=True)]
                row = [a + part * b for a, b in zip(row, self.at_knots(knots), strict=True)]
        return row

    def row(self, key: object) -> list[int]:
        """The row at some counts, in integers of its exact proportions."""
        order, gaps = self.question.standing(key)
        exact = self._exact(gaps)
        common = 1
        for part in exact:
            common = common * part.denominator // _gcd(common, part.denominator)
        row = [0] * self.size
        for v, part in zip(order, exact, strict=True):
            row[v] = int(part * common)
        return row

    def draw(self, key: object) -> int:
        """A knot beside each gap by its share, then an answer of the row there."""
        order, gaps = self.question.standing(key)
        return order[place_in(self.at_knots([self._drawn_knot(gap) for gap in gaps]))]

    def _drawn_knot(self, gap: int) -> int:
        lower = bisect_right(self.knots, gap) - 1
        step = min(gap, self.farthest) - self.knots[lower]
        if step == 0:
            return lower
        if lower + 1 == len(self.knots):  # bounds of ratio^step nearly always tell
            drawn = bits_at_random(_DRAWN)
            low, high = power_between(self.ratio, step, _DRAWN + 32)
            if (drawn + 1) << 32 <= low:
                return lower
            if drawn << 32 >= high:
                return lower + 1
            share = self.ratio**step
            rest = share * (1 << _DRAWN) - drawn  # where the drawn number goes on
            return lower + (below(rest.denominator) >= rest.numerator)
        between: Fraction = self._share(gap, Fraction)[1]
        return lower + (below(between.denominator) >= between.numerator)


def _a_question(question: Question | None) -> Question:
    if question is None:
        raise Refused("a margin table must have its question")
    return question


def _in_bits(share: Fraction) -> int:
    return (share.numerator << _BITS) // share.denominator


def _gcd(a: int, b: int) -> int:
    while b:
        a, b = b, a % b
    return a
