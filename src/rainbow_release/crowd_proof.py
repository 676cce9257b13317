"""Proving a crowd table: finitely many comparisons for votes of every size.

**Corners.** Coins are independent, so a chance is affine in the chance z of each. Where a rival
stays at or behind the last knot and its gap grows by s, z becomes z·ratio^s, and P − E·Q is affine
along that line: at most 0 if it is so at its ends, where the rival is out on both sides, or at the
last knot on the nearer one. Whoever is before it on one side has one of finitely many gaps there.
So it is enough to let the nearer gap of everybody be a knot, or to leave them out.

**A rival's own coin** is a factor of its chance, and falls by between 1 and ratio^-s. With A and B
for the other factors, on the nearer and the farther side, A ≤ E·ratio^s·B and B ≤ E·A cover all
distances. If the nearer gap is before the last knot there is one coin only, and it is bounded.

**Coins in integers** are off their power of the ratio by at most ``least`` of 2^127. For other
answers that moves a chance by at most ``rivals`` times as much of the total, and no chance is
below 1 without its own coin. A part of E is put aside, and has to be enough for that.

**Changes** are played: some stand in the order of the list, with their gaps, and a record comes or
goes. Whoever has no letter on either side may stand anywhere, that is, before or after the one
that leads next.

Chances are in units of 2^-64 of a weight, each less than 2 units below the true one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import permutations, product
from math import comb

from .errors import Refused
from .falling import TOTAL, Falling

_FINE, _COARSE = 160, 64  # binary places of the chances of heads, and of means of weights
_ASIDE = Fraction(1, 1 << 41)
_FAR = 1000  # a gap that no change closes
_MOST_CORNERS = 1 << 21

Word = tuple[int, ...]
Rows = Mapping[tuple[Word, tuple[int, ...]], Sequence[int]]
Bounds = tuple[list[int], list[int]]  # upper ones, and E times the lower ones, by seat
Pair = tuple[int, int, int, int]  # seats: upper and lower here, upper and lower there


class Shape:
    """How many rivals and gaps, how many of these with letters, and what neighbors are."""

    def __init__(
        self, rivals: int, knots: int, ordered: int, *, first: bool, substituted: bool
    ) -> None:
        self.rivals, self.knots, self.ordered = rivals, knots, ordered
        self.first, self.substituted = first, substituted
        self.places = knots - ordered
        self.spots = rivals if ordered else 0  # of a word

    def seat(self, gap: int) -> int:
        """Where the weight of rivals at a gap without a letter stands in a row."""
        return 1 + self.spots + gap - self.ordered

    def one(self, gap: int) -> int:
        """What one rival at a gap without a letter adds to the code of a crowd."""
        base: int = (self.rivals + 1) ** (gap - self.ordered)
        return base

    def pair(self, here: tuple[int, int], there: tuple[int, int]) -> Pair:
        """What to compare of somebody with these seats and gaps, or none for a leader's gap."""
        uppers = []
        for (seat, gap), (_, other) in ((here, there), (there, here)):
            tossed = gap == self.knots and other < self.knots - 1
            uppers.append(self.seat(gap) + 2 if tossed else seat)
        return uppers[0], here[0], uppers[1], there[0]


class Scene:
    """A change: what the leader gains, gap and gain of others, and how many more it needs.

    ``lead`` is the number of the one that leads afterwards, or none if the leader stays.
    """

    def __init__(
        self, gain: int, movers: Sequence[tuple[int, int]], lead: int | None, unseen: int
    ) -> None:
        self.gain, self.movers, self.lead, self.unseen = gain, movers, lead, unseen


def scenes(shape: Shape) -> Iterator[Scene]:
    """One end of every pair of neighbors: where a record is missing, or a leader has it.

    If neither has, the leader stays. A rival that is out gives and takes unseen. Which of these
    can be is found by playing them.
    """
    gaps, unseen = range(shape.knots + 2), int(shape.substituted)
    yield Scene(1, [], None, unseen)
    for gap, lead in product(gaps, (None, 0)):
        yield Scene(0, [(gap, 1)], lead, unseen)
    if not shape.substituted:
        return
    for gap, lead in product(gaps, (None, 0)):
        yield Scene(-1, [(gap, 1)], lead, 0)
    for loser, gainer in product(gaps, gaps):
        yield Scene(0, [(loser, -1), (gainer, 1)], None, 0)
    if shape.first:  # a third one leads next; where any leader is right, it was right before
        yield Scene(-1, [(0, 0)], 0, 1)
        for gap in gaps:
            yield Scene(-1, [(0, 0), (gap, 1)], 0, 0)


class Line:
    """Some in the order of the list from the leader on, at place 0, and what a change makes of it.

    ``here`` and ``there`` are the places of all who may have a letter, in the order from the leader
    on, before and after. Of ``bystanders``, ``gaps`` and ``after`` are what to add to the nearer of
    their two gaps. ``shifts`` are what the change adds to the gaps of those without a letter.
    """

    def __init__(self, shape: Shape, scene: Scene, spots: Word, many: int) -> None:
        length = 1 + len(spots) + many
        gains, gaps = [0] * (length + 2), [_FAR] * (length + 2)
        gains[0], gaps[0] = scene.gain, 0
        for spot, (gap, gain) in zip(spots, scene.movers, strict=True):
            gains[spot], gaps[spot] = gain, gap
        stand = [0, length, *range(1, length), length + 1]  # two more: first and last of all
        order, after = _played(stand, gains, gaps, first=shape.first)
        self.leads = order[0]
        self.fits = self.leads == (0 if scene.lead is None else spots[scene.lead]) and all(
            min(gaps[spot], after[spot]) < shape.knots for spot in spots
        )
        self.shifts = tuple(sorted({after[length] - _FAR, after[length + 1] - _FAR}))
        self.spots, self.bystanders = spots, [p for p in range(1, length) if p not in spots]
        for place in self.bystanders:
            shift = after[place] - _FAR
            gaps[place], after[place] = max(0, -shift), max(0, shift)
        self.gaps, self.after = gaps[:length], after[:length]
        near = [min(both) < shape.ordered for both in zip(self.gaps, self.after, strict=True)]
        self.here = [place for place in range(1, length) if near[place]]
        self.there = [place for place in order[1:] if place < length and near[place]]

    def signature(self) -> object:
        """What makes a difference: of lines that have the same, one is compared."""
        named = {place: n for n, place in enumerate((0, *self.spots, *self.bystanders))}
        ends = [tuple([named[place] for place in end]) for end in (self.here, self.there)]
        moved = [(self.gaps[place], self.after[place]) for place in named]
        return (*ends, *moved, self.shifts)


def _played(
    stand: Sequence[int], gains: Sequence[int], gaps: Sequence[int], *, first: bool
) -> tuple[list[int], list[int]]:
    """After a change: all places in the order from the leader on, and the gap of each."""
    unit = len(stand) if first else 1  # parts of a record, for places in the list
    behind = [0] * len(stand)
    for late, place in enumerate(stand):
        behind[place] = unit * (gaps[place] - gains[place]) + (late if first else 0)
    least = min(behind)
    order = sorted(stand, key=lambda place: (behind[place] > least, (behind[place] - least) % unit))
    return order, [(far - least) // unit for far in behind]


def lines(shape: Shape) -> Iterator[tuple[Line, int]]:
    """All that have to be compared, and how many more bystanders there may be."""
    for scene in scenes(shape):
        free = shape.rivals - scene.unseen - len(scene.movers)
        seen = set()
        for many in range(free + 1 if shape.ordered else min(1, free + 1)):
            for spots in permutations(range(1, 1 + len(scene.movers) + many), len(scene.movers)):
                line = Line(shape, scene, spots, many)
                signature = line.signature()
                if line.fits and signature not in seen:
                    seen.add(signature)
                    yield line, free - many


def more_of(shape: Shape, shifts: Word, most: int) -> list[tuple[int, int, list[Pair]]]:
    """All crowds of up to so many bystanders without a letter: both codes, and what to compare."""
    moves = []
    for shift, near in product(shifts, range(shape.ordered, shape.knots)):
        gap, other = near + max(0, -shift), near + max(0, shift)
        pair = shape.pair((shape.seat(gap), gap), (shape.seat(other), other))
        moves.append((shape.one(gap), shape.one(other), pair))
    found: list[tuple[int, int, list[Pair]]] = [(0, 0, [])]
    latest: list[tuple[int, int, list[Pair], int]] = [(0, 0, [], 0)]
    for _ in range(most):
        latest = [
            (here + one, there + other, pairs if pair in pairs else [*pairs, pair], number)
            for here, there, pairs, lowest in latest
            for number, (one, other, pair) in enumerate(moves[lowest:], lowest)
        ]
        found += [crowd[:3] for crowd in latest]
    return found


class Means:
    """Bounds of the chances of a crowd, over the coins of those behind the last knot."""

    def __init__(
        self, shape: Shape, rows: Rows, total: int, falling: Falling, ratio: Fraction
    ) -> None:
        self.shape, self.ratio = shape, falling.ratio
        self.rows: dict[Word, dict[int, Sequence[int]]] = {}
        for (word, counts), row in rows.items():
            code = sum([many * shape.one(gap) for gap, many in enumerate(counts, shape.ordered)])
            self.rows.setdefault(word, {})[code] = row
        allowed = ratio * (1 - _ASIDE)
        off = Fraction(shape.rivals * falling.least * total, TOTAL)
        if off * (1 + ratio) > (ratio - allowed) * self.ratio**2:
            raise Refused("the coins of a crowd table must be finer, or its total smaller")
        self.allowed = [allowed * self.ratio**steps for steps in range(3)]
        self.coin = self.ratio + Fraction(falling.least, TOTAL)
        self._ways: dict[tuple[int, int], list[int]] = {}

    def ways(self, one: int, two: int) -> list[int]:
        """The chance of each number of heads among coins one and two records behind the knot."""
        if (one, two) not in self._ways:
            exact = [Fraction(1)]
            for chance in [self.ratio] * one + [self.ratio**2] * two:
                tails, heads = (
                    [way * (1 - chance) for way in exact],
                    [way * chance for way in exact],
                )
                none = Fraction(0)
                exact = [a + b for a, b in zip([*tails, none], [none, *heads], strict=True)]
            self._ways[one, two] = [(way.numerator << _FINE) // way.denominator for way in exact]
        return self._ways[one, two]

    def at(self, word: Word, code: int) -> Bounds:
        """Bounds of all seats, without the own coins of rivals behind the last knot.

        These lower E instead. The last upper bound is one of a rival one record behind the knot,
        with its coin.
        """
        shape, rows = self.shape, self.rows[word]
        last = shape.one(shape.knots - 1)
        coins, near = divmod(code, last * (shape.rivals + 1))
        two, one = divmod(coins, shape.rivals + 1)
        ways = list(enumerate(self.ways(one, two)))
        lows = [
            sum([way * rows[near + heads * last][seat] for heads, way in ways]) if held else 0
            for seat, held in enumerate(rows[near])
        ]
        for own, fewer in ((one, (one - 1, two)), (two, (one, two - 1))):
            beside = enumerate(self.ways(*fewer), 1) if own else ()
            lows.append(sum([way * rows[near + heads * last][-1] for heads, way in beside]))
        lows = [low >> _FINE - _COARSE for low in lows]
        behind = len(lows) - 2
        uppers = [low + 2 for low in lows]
        uppers.append(-(-uppers[behind] * self.coin.numerator // self.coin.denominator))
        allowed = [self.allowed[max(0, seat - behind + 1)] for seat in range(len(lows))]
        return uppers, [
            low * most.numerator // most.denominator
            for low, most in zip(lows, allowed, strict=True)
        ]


def corners(shape: Shape) -> Iterator[tuple[Word, int, Word, int, list[Pair]]]:
    """Word and code of a crowd on both sides, and what has to be compared of it."""
    plan = []
    many = 0
    for line, most in lines(shape):
        moves = len(line.shifts) * shape.places
        many += shape.ordered ** len(line.bystanders) * comb(most + moves, most)
        if many > _MOST_CORNERS:
            raise Refused("a crowd table must have fewer corners to compare")
        plan.append((line, most))
    crowds: dict[tuple[Word, int], list[tuple[int, int, list[Pair]]]] = {}
    for line, most in plan:
        if (line.shifts, most) not in crowds:
            crowds[line.shifts, most] = more_of(shape, line.shifts, most)
        for letters in product(range(shape.ordered), repeat=len(line.bystanders)):
            (word, code), (word_there, code_there), own = _ends(shape, line, letters)
            for more, more_there, others in crowds[line.shifts, most]:
                yield word, code + more, word_there, code_there + more_there, own + others


def must_be_close(shape: Shape, rows: Rows, total: int, falling: Falling, ratio: Fraction) -> int:
    """How many comparisons hold, if all do."""
    means = Means(shape, rows, total, falling, ratio)
    known: dict[Word, dict[int, Bounds]] = {word: {} for word, _ in rows}
    compared = 0
    for word, code, word_there, code_there, pairs in corners(shape):
        here, there = known[word], known[word_there]
        if code not in here:
            here[code] = means.at(word, code)
        if code_there not in there:
            there[code_there] = means.at(word_there, code_there)
        (p, lower_p), (q, lower_q) = here[code], there[code_there]
        for upper, lower, upper_there, lower_there in pairs:
            if p[upper] > lower_q[lower_there] or q[upper_there] > lower_p[lower]:
                raise Refused("neighboring rows of a crowd table must be close, but some are not")
        compared += 2 * len(pairs)
    return compared


def _ends(
    shape: Shape, line: Line, letters: Word
) -> tuple[tuple[Word, int], tuple[Word, int], list[Pair]]:
    """Word and code of a line on both sides, and what to compare of those who stand in it."""
    near = dict(zip(line.bystanders, letters, strict=True))
    sides, seats = [], []
    for gaps, order, leader in (
        (line.gaps, line.here, 0),
        (line.after, line.there, line.leads),
    ):
        word, code, seat_of = [], 0, {leader: (0, 0)}
        lettered = [place for place in order if gaps[place] + near.get(place, 0) < shape.ordered]
        for place in [*lettered, *(p for p in range(len(gaps)) if p not in lettered)]:
            gap = gaps[place] + near.get(place, 0)
            if place == leader:
                continue
            if place in lettered:
                word.append(gap)
                seat_of[place] = (len(word), gap)
            else:
                code += shape.one(gap)
                seat_of[place] = (shape.seat(gap), gap)
        sides.append((tuple(word), code))
        seats.append(seat_of)
    pairs = [shape.pair(seats[0][place], seats[1][place]) for place in range(len(line.gaps))]
    return sides[0], sides[1], pairs
