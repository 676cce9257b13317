"""What one person can move of the scores that a rule sees, from the question and not from the rule.

Nothing here knows how a rule finds its distances: they are played on votes and on margins.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from rainbowdp.errors import InvalidMechanism
from rainbowdp.expecting import brief
from rainbowdp.questions.weights import limit_of

Distances: TypeAlias = Callable[[Sequence[int]], Sequence[int]]  # of counts, or of margins

_MARGINS = (7, 1, 2, 10**20, 3)
_FEW = 4  # rivals for which all combinations are played


def moves_of_counts(answers: int, question: Mapping[str, Any], distances: Distances) -> int:
    """By how many steps one person can move the scores of a vote, or of its first few as sets."""
    if question.get("kind") == "ranking":
        return _records_moved(question) * _steps_of_sets(answers, question, distances)
    return moves_of_a_vote(answers, question, distances)


def moves_of_a_vote(answers: int, question: Mapping[str, Any], distances: Distances) -> int:
    """By how many steps one person can move the scores of a vote, in and out together."""
    return _records_moved(question) * _steps_a_record(answers, question, distances)


def moves_of_margins(answers: int, distances: Distances) -> int:
    """By how many steps any two neighbors differ: one up and one down, as each margin moves by one.

    Signed margins are ½ − λ_v, and D − ½ for the true answer, where D is the least other margin, so
    that v is D + λ_v − 1 away from it: refused if the distances are others.
    """
    if answers < 2:
        raise InvalidMechanism(f"signed margins need at least 2 answers, got {answers}")
    for margins in _played(answers):
        depth = min(margin for margin in margins if margin)
        if list(distances(margins)) != [margin and depth + margin - 1 for margin in margins]:
            raise InvalidMechanism("distances must be those of signed margins, got others")
    return 2


def _played(answers: int) -> Iterator[list[int]]:
    """Margins of all kinds: every combination of a few for a few rivals, or cycles of them.

    Also cycles of small ones, which rules may look at in another way.
    """
    rivals = answers - 1
    few = itertools.product(_MARGINS, repeat=rivals) if rivals <= _FEW else ()
    cycles = [itertools.cycle(kinds) for kinds in (_MARGINS, _MARGINS[:3])]
    long = [tuple(itertools.islice(cycle, rivals)) for cycle in cycles for _ in range(3)]
    for near in (*few, *long):
        for place, away in itertools.product(sorted({0, rivals // 2, rivals}), (0, 4)):
            margins = [margin + away for margin in near]
            yield [*margins[:place], 0, *margins[place:]]


def _records_moved(question: Mapping[str, Any]) -> int:
    """By how many records or units, in and out together, one person can change the counts."""
    rows, neighbors = limit_of(question), question["neighbors"]
    if neighbors == "added or removed":
        return rows
    if neighbors == "substituted":
        return 2 * rows
    raise InvalidMechanism(
        f"neighbors must be 'substituted' or 'added or removed', got {brief(neighbors)}"
    )


def _steps_of_sets(answers: int, question: Mapping[str, Any], distances: Distances) -> int:
    """By how much one record moves the scores of all sets that have its answer, and no others."""
    ranked = len(question["among"])
    sets = [set(chosen) for chosen in itertools.combinations(range(ranked), question["first"])]
    if len(sets) != answers:
        raise InvalidMechanism(f"there must be {len(sets)} sets, got {answers} answers")
    for v, before, after in _one_record_more(ranked, distances):
        moved: dict[bool, set[int]] = {True: set(), False: set()}
        for chosen, a, b in zip(sets, after, before, strict=True):
            moved[v in chosen].add(b - a)
        if {a - b for a in moved[True] for b in moved[False]} != {ranked}:
            raise InvalidMechanism(
                f"one record must move the scores of its sets by {ranked} and no others"
            )
    return ranked


def _steps_a_record(answers: int, question: Mapping[str, Any], distances: Distances) -> int:
    """By how much one record moves its answer's score, and no other: played on votes.

    In q-th parts where ties go to the first listed, in records where any leader is right.
    """
    units = {"first listed": answers, "any leader": 1}.get(question["ties"])
    if units is None:
        raise InvalidMechanism(
            f"ties must be 'first listed' or 'any leader', got {brief(question)}"
        )
    for v, before, after in _one_record_more(answers, distances):
        moved = {a - b for i, (a, b) in enumerate(zip(after, before, strict=True)) if i != v}
        if any(before[v] - after[v] + other != units for other in moved):
            raise InvalidMechanism(
                f"one record must move its answer's score by {units} and no other, got others"
            )
    return units


def _one_record_more(
    answers: int, distances: Distances
) -> Iterator[tuple[int, Sequence[int], Sequence[int]]]:
    """Some votes played: who gets a record more, and the distances before and after."""
    for counts in ([0] * answers, [3] * answers, [7 * (v % 3) for v in range(answers)]):
        before = distances(counts)
        for v in sorted({0, answers // 2, answers - 1}):
            yield v, before, distances([count + (i == v) for i, count in enumerate(counts)])
