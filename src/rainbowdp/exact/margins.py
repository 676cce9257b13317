"""What rules that find a row by margins share: the key, and the lines on which rivals are alike."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from rainbowdp.aliases import Answer, Dataset, Label
from rainbowdp.errors import NoPlace
from rainbowdp.exact.rule import Outline
from rainbowdp.questions import Question
from rainbowdp.questions.base import CountQuestion

ON_A_GRAPH = (
    "for neighbors whose margins are 0 at exactly the true answer and differ by at most 1; "
    "only the graph can tell whether all of its margins do"
)


def margins_at(question: Question, counted: Dataset) -> dict[str, int]:
    """The margins of a dataset, from its counts as they were counted: checked, all and in order."""
    if isinstance(question, CountQuestion):
        return question.margins_of(list(counted.values()))
    return question.margins(counted)


def numbers_of(key: Any, answers: Sequence[Answer], what: str) -> list[Any]:
    """What ``key`` has for each of the ``answers``, and it must have no more."""
    if not isinstance(key, Mapping) or len(key) != len(answers):
        raise NoPlace(f"{what} of all answers", key)
    if tuple(key) == answers:
        return list(key.values())
    try:
        return [key[answer] for answer in answers]
    except KeyError:
        raise NoPlace(f"{what} of all answers", key) from None


def margins_of(key: Any, answers: Sequence[Answer]) -> list[int]:
    """The margins that ``key`` has for ``answers``, exactly one of them 0; strict, as rows leak."""
    margins = numbers_of(key, answers, "margins")
    if set(map(type, margins)) != {int} or min(margins) < 0:
        raise NoPlace("margins that are whole numbers from 0", key)
    if margins.count(0) != 1:
        raise NoPlace("margins with exactly one 0, at the true answer", key)
    return margins


def outline_by_margins(answers: tuple[Answer, ...], length: int) -> Outline:
    """A line for each answer, on which all rivals are equally near."""
    lines = {a: ((a, *(b for b in answers if b != a)), length) for a in answers}
    return Outline(lines, tuple(itertools.combinations(answers, 2)), {})


def margins_at_depth(
    label: Label, depth: float, answers: tuple[Answer, ...]
) -> dict[Answer, float]:
    """At depth t every rival has the margin t + 1."""
    return {answer: 0 if answer == label else depth + 1 for answer in answers}
