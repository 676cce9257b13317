"""crowd-table: rows for a vote by how many rivals are how near, for tables of every size.

The *gap* of a rival is how many records it is behind the leader (one less if it is listed before
it and ties go to the first listed). The gaps below ``ordered``, in the order of the list from the
leader on, are the *word* of a row; from there on up to the last of ``knots`` gaps rivals are
counted. One that is farther tosses a coin: with heads it counts at the last gap, with tails it is
out. Rows stand in the order of their words, read as numbers whose first digit is the least, then
of their counts in the same manner.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from math import comb

from .crowd_proof import Shape, must_be_close
from .document import fraction, keys, small, weight, weights
from .errors import Refused
from .falling import TOTAL, Falling
from .guarantee import Guarantee
from .question import Question
from .randomness import place_in
from .scores import must_be_that_vote

_MOST_ANSWERS, _MOST_CROWDS = 12, 1 << 15
_MOST_TOTAL = 1 << 64


class CrowdTable:
    """Integer rows over crowds; the key is the counts of all answers."""

    own = ("shape", "total", "rows")
    by_counts = True

    def __init__(
        self,
        content: dict[str, object],
        answers: Sequence[object],
        question: Question | None,
        guarantee: Guarantee,
    ) -> None:
        ratio = guarantee.must_be_pure("a crowd table")
        if question is None:
            raise Refused("a crowd table must have its question")
        self.question = question
        self._read_shape(content["shape"], answers)
        self.total = weight(content["total"])
        if not 0 < self.total < _MOST_TOTAL:
            raise Refused("the total of a crowd table must be above 0 and below 2^64")
        rows = content["rows"]
        many = _crowds(self.shape, self.shape.places)
        if not isinstance(rows, list) or len(rows) != many:
            raise Refused(f"a crowd table must have {many} rows, got others")
        self.rows = dict(zip(_listed(self.shape), map(weights, rows), strict=True))
        self._must_be_rows()
        compared = must_be_close(self.shape, self.rows, self.total, self.falling, ratio)
        self.proved = f"{compared} comparisons of a crowd table"

    def _read_shape(self, content: object, answers: Sequence[object]) -> None:
        what = "the shape of a crowd table"
        names = ("answers", "neighbors", "ties", "knots", "ordered", "ratio")
        given = keys(content, what, *names)
        must_be_that_vote({**given, "rows": 1}, answers, self.question)
        knots = small(given["knots"], "the knots of a crowd table", 3)
        ordered = small(given["ordered"], "the ordered gaps of a crowd table")
        first = self.question.ties == "first listed"
        if ordered >= (knots if first else 1):
            raise Refused(
                "the ordered gaps of a crowd table must be fewer than its knots, and none where "
                "any leader is right"
            )
        if not 2 <= len(answers) <= _MOST_ANSWERS:
            raise Refused(f"a crowd table must have 2 to {_MOST_ANSWERS} answers")
        rivals = len(answers) - 1
        self.shape = Shape(
            rivals, knots, ordered, first=first, substituted=self.question.substituted
        )
        self.falling = Falling(fraction(given["ratio"], "ratio"))
        wide = self.shape.places + 2
        if wide > 53 or (rivals + 1) ** wide > 1 << 53 or _crowds(self.shape, wide) > _MOST_CROWDS:
            raise Refused("a crowd table must have fewer gaps, for so many answers")

    def _must_be_rows(self) -> None:
        """Whoever is there has some weight, nobody else has any, and all sum to the total."""
        shape = self.shape
        for (word, counts), row in self.rows.items():
            taken = [1, *(int(spot < len(word)) for spot in range(shape.spots)), *counts]
            if len(row) != len(taken):
                raise Refused(f"the rows of a crowd table must have {len(taken)} weights")
            if any((held > 0) != (many > 0) for held, many in zip(row, taken, strict=True)):
                raise Refused("exactly the answers at the gaps of a crowd must have some weight")
            if sum(held * many for held, many in zip(row, taken, strict=True)) != self.total:
                raise Refused("the rows of a crowd table must sum to its total")
            if not shape.first and counts[0] and row[0] != row[1]:
                raise Refused("tied leaders of a crowd table must have equal weights")

    def _crowd(self, gaps: Sequence[int]) -> tuple[list[int], list[int]]:
        """The row where rivals have these gaps, all with rows; and the seat of each."""
        shape = self.shape
        word: list[int] = []
        counts, seats = [0] * shape.places, []
        for gap in gaps:
            if gap < shape.ordered:
                word.append(gap)
                seats.append(len(word))
            else:
                counts[gap - shape.ordered] += 1
                seats.append(shape.seat(gap))
        return self.rows[tuple(word), tuple(counts)], seats

    def row(self, key: object) -> list[int]:
        """The row at some counts, in integers of its exact proportions: the mean over all coins."""
        order, gaps = self.question.standing(key)
        last = self.shape.knots - 1
        chances = [self.falling.at(gap - last) if gap > last else TOTAL for gap in gaps]
        row = [0] * len(order)
        for heads in product(*((True,) if gap <= last else (True, False) for gap in gaps)):
            likely = 1
            for gap, chance, shown in zip(gaps, chances, heads, strict=True):
                if gap > last:
                    likely *= chance if shown else TOTAL - chance
            seen = [place for place, shown in enumerate(heads) if shown]
            held, seats = self._crowd([min(gaps[place], last) for place in seen])
            row[order[0]] += likely * held[0]
            for place, seat in zip(seen, seats, strict=True):
                row[order[place + 1]] += likely * held[seat]
        return row

    def draw(self, key: object) -> int:
        """Toss the coins of far rivals, then draw from the row of the crowd that is left."""
        order, gaps = self.question.standing(key)
        last = self.shape.knots - 1
        seen = self.falling.heads([max(0, gap - last) for gap in gaps])
        held, seats = self._crowd([min(gaps[place], last) for place in seen])
        drawn = place_in([held[0], *(held[seat] for seat in seats)])
        return order[seen[drawn - 1] + 1] if drawn else order[0]


def _crowds(shape: Shape, places: int) -> int:
    """How many crowds there are where rivals are counted at so many places."""
    return sum(
        shape.ordered**length * comb(shape.rivals - length + places, places)
        for length in range(shape.spots + 1)
    )


def _listed(shape: Shape) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Words and counts, in the order of the rows."""
    letters = range(shape.ordered)
    words = [word for length in range(shape.spots + 1) for word in product(letters, repeat=length)]
    padded = {word: (*word, *[-1] * (shape.spots - len(word)))[::-1] for word in words}
    for word in sorted(words, key=padded.__getitem__):
        yield from ((word, counts) for counts in _up_to(shape.rivals - len(word), shape.places))


def _up_to(most: int, places: int) -> Iterator[tuple[int, ...]]:
    """All counts that sum to at most so many, the last one rising slowest."""
    if places == 0:
        yield ()
        return
    for many in range(most + 1):
        for fewer in _up_to(most - many, places - 1):
            yield (*fewer, many)
