"""What the rules for votes share: counts as keys, and margins turned into gaps."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations, permutations
from typing import Any

import numpy as np

from rainbowdp.aliases import Answer, Integers
from rainbowdp.errors import InvalidMechanism, NoPlace
from rainbowdp.exact.margins import MOST, array_of, numbers_of
from rainbowdp.expecting import brief
from rainbowdp.questions import Question
from rainbowdp.questions.relations import Neighbors, Ties
from rainbowdp.questions.weights import limit_of

MANY = 12  # counts that are quicker to look at all at once


def counts_of(key: Any, answers: Sequence[Answer]) -> list[int]:
    """The counts that ``key`` has for ``answers``, checked; strict, for a wrong row would leak."""
    together = array_of(key, answers, "counts")
    if together is not None:
        listed: list[int] = together.tolist()
        return listed
    counts = numbers_of(key, answers, "counts")
    if set(map(type, counts)) != {int} or min(counts) < 0:
        raise NoPlace("counts that are whole numbers from 0", key)
    return counts


def counts_key(question: Question, counted: Any) -> dict[str, int] | Integers:
    """The counts of all answers: what rules for votes find a row by.

    Many counts that 64 bits hold are an array, in the order of the answers.
    """
    answers = question.answers
    if type(counted) is not dict or tuple(counted) != answers:
        counted = {answer: int(counted.get(answer, 0)) for answer in answers}
    return as_key(list(counted.values()), answers)


def as_key(numbers: Sequence[int], answers: Sequence[Answer]) -> dict[Answer, int] | Integers:
    """Numbers in the order of ``answers`` as a key: an array where they are many and small."""
    if len(numbers) >= MANY:
        together = np.array(numbers)  # of floats and of what 64 bits do not hold it is another type
        if together.dtype == np.int64 and together[together.argmax()] <= MOST:
            return together
    return dict(zip(answers, numbers, strict=True))


def must_be_that_vote(
    answers: tuple[Answer, ...],
    neighbors: str,
    question: Mapping[str, Any] | None,
    *,
    size: int,
    relation: str,
    ties: str,
    rows: int,
) -> None:
    """Refuse all but a vote of this size and relation, these ties and rows a person."""
    if (size, relation) != (len(answers), neighbors):
        raise InvalidMechanism(
            f"a rule for votes must be for {len(answers)} answers and neighbors "
            f"{brief(neighbors)}, "
            f"got {size} and {brief(relation)}"
        )
    given = question or {}
    asked = (given.get("kind"), given.get("ties"), limit_of(given) if given else None)
    if asked != ("winner", ties, rows):
        raise InvalidMechanism(
            f"a rule for a vote with ties {brief(ties)} and at most {rows} records (or units of "
            "weight) "
            f"a person must have such a question, got {asked}"
        )


def must_be_those_sets(
    answers: tuple[Answer, ...],
    neighbors: str,
    question: Mapping[str, Any] | None,
    *,
    size: int,
    first: int,
    relation: str,
    rows: int,
) -> None:
    """Refuse all but the sets of so many of those ranked, in their order."""
    given = question or {}
    asked = (given.get("kind"), given.get("first"), limit_of(given) if given else None, neighbors)
    if asked != ("ranking", first, rows, relation) or (given.get("in_order") and first > 1):
        raise InvalidMechanism(
            f"a rule for the first {first} as a set, with at most {rows} records a person "
            f"{relation}, must have such a question, got {asked}"
        )
    among = given.get("among")
    if not isinstance(among, list) or len(among) != size:
        raise InvalidMechanism(f"a rule for sets must rank {size}, got others")
    if answers != tuple(", ".join(chosen) for chosen in combinations(among, first)):
        raise InvalidMechanism("the answers of a rule for sets must be all sets, got others")


def chances_of_a_vote(
    right_at: Callable[[Sequence[int]], float],
    margin: int,
    *,
    answers: int,
    neighbors: str,
    ties: str,
    rows: int,
    farthest: int,
    nearest: Iterable[int],
) -> tuple[float, float]:
    """The least and the most of a right answer where the nearest rival has this margin.

    A rival overtakes after ``margin`` changes from a gap of margin − 1 where one record is added or
    removed, and from 2·margin − 2 or 2·margin − 1 where one is substituted; where a person has more
    rows, from as many times that. Where leaders share, rivals listed before the leader are seen one
    record farther behind. Of the gaps between, the first two and the last tell: with more than one
    row a person a right answer is the likelier, the farther ahead the leader is (in a tie that is
    shared there are more right answers). ``nearest`` are the positions worth trying for the rival.

    Rows that were optimized need not fall alike in every gap: of few answers in an order, those
    listed up to some place may be at one of these gaps and the others at another.
    """
    if type(margin) is not int or margin < 1:
        raise NoPlace("a margin that is a whole number from 1", margin)
    step = rows * (2 if neighbors == Neighbors.SUBSTITUTED else 1)
    first, last = step * (margin - 1), step * margin - (ties == Ties.FIRST_LISTED)
    gaps = sorted({first, min(first + 1, last), last})
    found = [
        right_at([gap if rival == near else rest for rival in range(answers - 1)])
        for gap in gaps
        for rest in (gap, farthest)
        for near in nearest
    ]
    if ties == Ties.FIRST_LISTED and answers <= MANY:
        found += [
            right_at([one] * many + [other] * (answers - 1 - many))
            for one, other in permutations(gaps, 2)
            for many in range(1, answers - 1)
        ]
    return min(found), max(found)
