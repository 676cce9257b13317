"""The question which of the listed answers has the most records."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rainbowdp.aliases import Integers
from rainbowdp.errors import InvalidQuestion
from rainbowdp.expecting import expect
from rainbowdp.questions.base import CountQuestion, checked_answers
from rainbowdp.questions.functions import check_applied
from rainbowdp.questions.groups import Equals, Group, NoValue, OtherValue
from rainbowdp.questions.relations import Neighbors, PersonRule, Ties, one_of
from rainbowdp.questions.weights import Weight

_MANY = (24, 512)  # answers that are quicker to compare all at once
_LARGEST = 1 << 48  # count below which their sums and products are 64 bits


@dataclass(frozen=True, init=False)
class Winner(CountQuestion):
    """Which of the listed answers has the most records, the mode; ties go to the first listed.

    The margin of an answer is the least number of records that must change before it wins. Its
    closed forms, for both neighbor relations, are proved in ``docs/margins.md`` (The margins of a
    vote). Cost: O(q log q) for all q answers together.

    Parameters
    ----------
    answers
        At least two different texts.
    column
        The column with the votes; None if counts are given.
    other, missing
        Names of two more answers, the last ones: for records with a value that is not listed, and
        for those without a value. Without a name such records are not counted. ``answers`` may end
        with these names already.
    ties
        ``"first listed"``, or ``"any leader"`` if every answer that leads is right. That matters
        where mechanisms are compared and margin tables made; margins are those of the first listed.
    neighbors
        What one change is: ``"substituted"`` or ``"added or removed"``.
    person
        The column that says whose record it is.
    rows_per_person
        How many records of one person count.
    person_rule
        Which of them: a random ``"sample"``, or ``"one vote"`` per person.
    where
        A condition that a record must meet to be counted: ``"age > 65 and ward = 'X'"``.
    apply
        A function of the column's values to ask about: year, month, day, hour, lower, floor, round.
    weight
        ``rb.Weight(column, limit)``, if records weigh more or less than one.

    Raises
    ------
    InvalidQuestion
        If the answers are not at least two different texts, or another argument makes no sense.

    Examples
    --------
    >>> Winner(["red", "green", "blue"]).margins({"red": 10, "green": 7})
    {'red': 0, 'green': 2, 'blue': 7}

    """

    ties: Ties
    other: str | None
    missing: str | None

    def __init__(
        self,
        answers: Iterable[str],
        column: str | None = None,
        *,
        other: str | None = None,
        missing: str | None = None,
        ties: str = Ties.FIRST_LISTED,
        neighbors: str = Neighbors.SUBSTITUTED,
        person: str | None = None,
        rows_per_person: int = 1,
        person_rule: str = PersonRule.SAMPLE,
        where: str | None = None,
        apply: str | None = None,
        weight: Weight | None = None,
    ) -> None:
        every = with_rest(answers, other, missing)
        self._set_shared(
            every, column, neighbors, person, rows_per_person, person_rule, where, apply, weight
        )
        self._set(ties=one_of(Ties, ties, "ties"), other=other, missing=missing)
        check_applied(self.apply, self.groups)

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """One group for each answer: the records whose value is that answer, another or none."""
        return groups_of_a_vote(self.answers, self.other, self.missing)

    def _parameters(self) -> dict[str, Any]:
        return {
            "kind": "winner",
            "answers": list(self.answers),
            "other": self.other,
            "missing": self.missing,
            "ties": str(self.ties),
        }

    def _distances(self, counts: Sequence[int]) -> list[int]:
        return margins_of_a_vote(counts, self.neighbors)

    def _distances_together(self, counts: Sequence[int]) -> Integers | None:
        return many_margins_of_a_vote(counts, self.neighbors)


def with_rest(answers: Iterable[str], other: str | None, missing: str | None) -> tuple[str, ...]:
    """The listed answers and then those for all other values and for none.

    >>> with_rest(["red"], "else", None)
    ('red', 'else')
    """
    for name in (other, missing):
        if name is not None:
            expect(name, str, "the name of an answer", InvalidQuestion)
    listed = checked_answers(answers, least=1 if other or missing else 2)
    rest = tuple(name for name in (other, missing) if name is not None)
    if rest and listed[-len(rest) :] == rest:
        listed = listed[: -len(rest)]
    return (*listed, *rest)


def groups_of_a_vote(
    answers: Iterable[str], other: str | None, missing: str | None
) -> tuple[Group, ...]:
    """One group for each answer; ``other`` and ``missing`` are for the rest, where they are named.

    >>> [str(rule) for _, rule in groups_of_a_vote(["red", "else"], "else", None)]
    ["is 'red'", 'is something else']
    """
    rest: dict[str | None, OtherValue | NoValue] = {other: OtherValue(), missing: NoValue()}
    return tuple((answer, rest.get(answer, Equals(answer))) for answer in answers)


def margins_of_a_vote(counts: Sequence[int], neighbors: Neighbors) -> list[int]:
    """How many records must change before each answer wins.

    >>> margins_of_a_vote([10, 7, 0], Neighbors.SUBSTITUTED)
    [0, 2, 7]
    """
    together = many_margins_of_a_vote(counts, neighbors)
    if together is not None:
        listed: list[int] = together.tolist()
        return listed
    most = max(counts)
    winner = counts.index(most)
    if neighbors == Neighbors.ADDED_OR_REMOVED:  # by adding to the answer: no change does more
        return [most - own + (v > winner) for v, own in enumerate(counts)]
    distances = _substituted(counts)
    distances[winner] = 0
    return distances


def many_margins_of_a_vote(counts: Sequence[int], neighbors: Neighbors) -> Integers | None:
    """The same in 64 bits, all at once; none where that is slower or the counts are too large.

    >>> many_margins_of_a_vote([9] * 30, Neighbors.ADDED_OR_REMOVED)[:4].tolist()
    [0, 1, 1, 1]
    """
    if not _MANY[0] <= len(counts) <= _MANY[1]:
        return None
    try:
        own = np.array(counts, dtype=np.int64)
    except OverflowError:
        return None
    winner = int(own.argmax())
    most = own[winner]
    if most >= _LARGEST:
        return None
    if neighbors == Neighbors.ADDED_OR_REMOVED:
        found: Integers = most - own
        found[winner + 1 :] += 1
        return found
    return _substituted_together(own)


def _substituted(counts: Sequence[int]) -> list[int]:
    """The margin of every answer but the winner, in closed form (``docs/margins.md``).

    v wins with x records where h(x) − c_v(x) ≥ n_v: h(x) = x − Σ_i max(0, n_i − x), and c_v(x) is
    the number of answers before v with at least x. The least such x is the least x with h(x) ≥ n_v,
    or the next.
    """
    ordered = sorted(counts)
    size, highest = len(ordered), ordered[-1]
    above = list(accumulate(reversed(ordered)))[::-1]
    heights = [(size - j + 1) * n - above[j] for j, n in enumerate(ordered)]  # h of each count
    least, _ = _reached(ordered[0], heights, above)  # no x is smaller
    earlier: list[int] = []
    distances = []
    for own in counts:
        if own == highest:
            distances.append(1)
        else:
            x, spare = _reached(own, heights, above)
            distances.append(x - own + (len(earlier) - bisect_left(earlier, x) > spare))
        if own >= least:
            insort(earlier, own)
    return distances


def _reached(own: int, heights: Sequence[int], above: Sequence[int]) -> tuple[int, int]:
    """The least x with h(x) ≥ own, and by how much; h is linear between two counts."""
    place = bisect_left(heights, own)
    slope = len(heights) - place + 1
    x = -(-(own + above[place]) // slope)
    return x, slope * x - above[place] - own


def _substituted_together(own: Integers) -> Integers:
    """The same of many answers at once, the winner's 0 included.

    All is counted downwards, from the most: ``less`` is −n and ``down`` is −x, so that rounding x
    up is rounding down, with h(x) − n_v as what remains. x rises with the own count, and only those
    who have at least the least x can be among the earlier ones that have x.
    """
    less = -own
    ordered = less.copy()
    ordered.sort()
    slopes, later = _shape(len(own))
    above = ordered.cumsum()
    place = (slopes * ordered - above)[1:].searchsorted(less, "right")
    down, spare = np.divmod(above[place] + less, slopes[place])
    high = (less <= down[less.argmax()]).nonzero()[0]
    reached = less[high][:, None] <= down
    reached &= later[high]
    earlier = np.add.reduce(reached.view(np.uint8), axis=0, dtype=np.uint16)
    found: Integers = less - down
    found += earlier > spare
    return found


@lru_cache(maxsize=8)
def _shape(size: int) -> tuple[Integers, NDArray[np.bool_]]:
    """How steep h is below each count, and row by row which answers are listed after this one."""
    later = np.ascontiguousarray(np.tri(size, k=-1, dtype=np.bool_).T)
    return np.arange(2, size + 2), later
