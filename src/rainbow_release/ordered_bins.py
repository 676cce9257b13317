"""ordered-bins: the true bin of ordered ones, where near bins share what one would have alone.

The lead of an inner edge is the count below it less the rank. A bin at lead a has the weight g_a
over the total and the weights of a crowd: were it the true bin, who else would be near.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate, combinations, combinations_with_replacement
from math import comb, prod

from .document import fraction, weight, weights
from .errors import Refused
from .guarantee import Guarantee
from .question import Question
from .randomness import place_in

_MOST_STEPS = (1 << 15) + 1
_MOST_TERMS = 1_000_000
_GRID = 1 << 96


class OrderedBins:
    """The weights g_1 ≥ g_2 ≥ … of a total; the key is the lead of each inner edge."""

    own = ("total", "steps")

    def __init__(
        self,
        content: dict[str, object],
        answers: Sequence[object],
        question: Question | None,
        guarantee: Guarantee,
    ) -> None:
        self.ratio = guarantee.must_be_pure("ordered bins")
        if question is None or question.kind != "quantile" or question.limit != 1:
            raise Refused("ordered bins must be of a quantile with one record a person")
        self.answers = answers
        self.total, self.steps = weight(content["total"]), weights(content["steps"], _MOST_STEPS)
        self.q = fraction(question.content["q"], "q")
        if len(answers) < 2 or not 0 < len(self.steps) <= _MOST_STEPS or self.steps[-1] < 1:
            raise Refused("ordered bins must be two or more, with weights above 0")
        top, bottom = self.ratio.numerator, self.ratio.denominator
        for near, far in zip(self.steps, self.steps[1:], strict=False):
            if not far <= near <= Fraction(top * far, bottom):
                raise Refused("the weights of ordered bins must fall, by e^ε at most")
        if not self.steps[0] <= self.total <= self.ratio * self.steps[0]:
            raise Refused("a border of ordered bins is too steep")
        self.proved = f"{self._states_that_hold()} states of ordered bins"

    def _states_that_hold(self) -> int:
        """Margins above some T are merely far; T doubles until every state holds for certain."""
        size, nearest = len(self.answers), 1
        while True:
            states = comb(2 * nearest + size - 1, size - 1)
            if states * size**2 > _MOST_TERMS:
                raise Refused("ordered bins must be few enough to check")
            far = self._first_fault(nearest)
            if far is None:
                return states
            if far == 0 or nearest >= len(self.steps):
                raise Refused("the losers of ordered bins have too much")
            nearest *= 2

    def _first_fault(self, nearest: int) -> int | None:
        """How many bins are far in the first state that may break the promise."""
        top, bottom = self.ratio.numerator, self.ratio.denominator
        distant = -(-self._step(nearest) * _GRID // (self.total + self.steps[0]))
        for far in range(len(self.answers)):
            hidden = far * self._step(nearest - 1)
            edges = len(self.answers) - 1 - far
            for leads in combinations_with_replacement(range(-nearest, nearest), edges):
                losers = self._losers(leads)
                taken = sum(-(-held * _GRID // (self.total + crowd)) for held, crowd in losers)
                left = _GRID - taken - far * distant
                if left * (bottom + top) >= _GRID * bottom:
                    continue  # with 1/(1 + E) or more the true bin is safe
                spread = sum(held for held, _ in losers)
                if _GRID * self.steps[0] * bottom > left * (top * self.total + bottom * spread):
                    return far
                for beside in _beside(leads):
                    given = sum(
                        held * _GRID // (self.total + crowd + hidden)
                        for held, crowd in self._losers(beside)
                    )
                    if bottom * (_GRID - given) > top * left:
                        return far
        return None

    def _losers(self, leads: Sequence[int]) -> list[tuple[int, int]]:
        """For each edge the weight of the loser behind it, and of the crowd around it."""
        found = []
        for place, lead in enumerate(leads):
            up = lead >= 0
            seen = [other if up else -1 - other for other in leads]
            own = seen[place]
            crowd = self.steps[0] + sum(
                self._step(max(own - other, other)) for at, other in enumerate(seen) if at != place
            )
            found.append((self._step(own), crowd))
        return found

    def _step(self, lead: int) -> int:
        return self.steps[min(lead, len(self.steps) - 1)]

    def leads(self, counts: Sequence[int]) -> tuple[int, ...]:
        """The lead of each inner edge."""
        rank = -(-self.q.numerator * sum(counts) // self.q.denominator)
        return tuple(below - rank for below in list(accumulate(counts))[:-1])

    def row(self, key: object) -> list[int]:
        """The row at some leads."""
        if not isinstance(key, tuple | list) or len(key) != len(self.answers) - 1:
            raise Refused("a key must have a lead for each edge between two answers")
        if any(type(lead) is not int for lead in key) or list(key) != sorted(key):
            raise Refused("leads must be rising whole numbers")
        losers = self._losers(key)
        whole = prod(self.total + crowd for _, crowd in losers)
        parts = [whole // (self.total + crowd) * held for held, crowd in losers]
        true = sum(lead < 0 for lead in key)
        return [*parts[:true], whole - sum(parts), *parts[true:]]

    def draw(self, key: object) -> int:
        """The place of an answer."""
        return place_in(self.row(key))


def _beside(leads: tuple[int, ...]) -> list[tuple[int, ...]]:
    """What one record can make of leads while the true bin stays, themselves among it."""
    found = [leads]
    for start, end in combinations(range(len(leads) + 1), 2):
        for change in (-1, 1):
            run = [lead + change for lead in leads[start:end]]
            moved = (*leads[:start], *run, *leads[end:])
            same = [a < 0 for a in leads] == [b < 0 for b in moved]
            if same and list(moved) == sorted(moved):
                found.append(moved)
    return found
