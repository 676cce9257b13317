"""The question which of the listed answers has the most records."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any

from rainbowdp.questions.base import CountQuestion, Equals, Group
from rainbowdp.questions.relations import Neighbors, PersonRule, Ties, one_of


@dataclass(frozen=True, init=False)
class Winner(CountQuestion):
    """Which of the listed answers has the most records; ties go to the answer listed first.

    The margin of an answer is the least number of records that must change before it wins. Its
    closed forms, for both neighbor relations, are proved in ``docs/theory.md`` (The margins of a
    vote). Cost: O(q log q log n) for all q answers together and n records.

    Parameters
    ----------
    answers
        At least two different texts.
    column
        The column with the votes; None if counts are given.
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
        Which of them: a random ``"sample"``, or ``"one vote"`` a person.

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

    def __init__(
        self,
        answers: Iterable[str],
        column: str | None = None,
        *,
        ties: str = Ties.FIRST_LISTED,
        neighbors: str = Neighbors.SUBSTITUTED,
        person: str | None = None,
        rows_per_person: int = 1,
        person_rule: str = PersonRule.SAMPLE,
    ) -> None:
        self._set_shared(answers, column, neighbors, person, rows_per_person, person_rule)
        self._set(ties=one_of(Ties, ties, "ties"))

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """One group for each answer: the records whose value is that answer."""
        return tuple((answer, Equals(answer)) for answer in self.answers)

    def _parameters(self) -> dict[str, Any]:
        return {"kind": "winner", "answers": list(self.answers), "ties": str(self.ties)}

    def _distances(self, counts: Sequence[int]) -> list[int]:
        rule = _substituted if self.neighbors == Neighbors.SUBSTITUTED else _added_or_removed
        distances = rule(counts)
        distances[counts.index(max(counts))] = 0
        return distances


def _substituted(counts: Sequence[int]) -> list[int]:
    """The margin of every answer but the winner, by bisection over the number of substitutions t.

    The sum is taken over sorted counts: Σ_i max(0, n_i − x) + #{i before v: n_i ≥ x} with x = n_v +
    t, to which v itself adds nothing.
    """
    ordered = sorted(counts)
    below = [0, *accumulate(ordered)]
    earlier: list[int] = []
    distances = []
    for own in counts:

        def surplus(x: int, earlier: list[int] = earlier) -> int:
            first = bisect_right(ordered, x)
            above = below[-1] - below[first] - (len(ordered) - first) * x
            return above + len(earlier) - bisect_left(earlier, x)

        low, high = 1, max(1, ordered[-1] + 1 - own)
        while low < high:
            middle = (low + high) // 2
            if surplus(own + middle) <= middle:
                high = middle
            else:
                low = middle + 1
        distances.append(low)
        insort(earlier, own)
    return distances


def _added_or_removed(counts: Sequence[int]) -> list[int]:
    """The margin of every answer but the winner, at the final count where it is least."""
    before = _highest_two(counts)
    after = _highest_two(counts[::-1])[::-1]
    distances = []
    for v, own in enumerate(counts):
        rivals = (before[v][0] + 1, before[v][1] + 1, *after[v])
        second, highest = sorted(rivals)[2:]
        final = max(own, min(v, 1), second)
        distances.append(final - own + max(0, highest - final))
    return distances


def _highest_two(counts: Sequence[int]) -> list[tuple[int, int]]:
    """The second highest and the highest count before each position; −1 if there is none."""
    found = [(-1, -1)]
    for n in counts[:-1]:
        second, highest = found[-1]
        found.append((max(second, min(highest, n)), max(highest, n)))
    return found
