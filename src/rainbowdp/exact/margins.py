"""What rules that find a row by margins share: the key, and the lines on which rivals are alike."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rainbowdp.aliases import Answer, Dataset, Integers, Label
from rainbowdp.errors import NoPlace
from rainbowdp.exact.rule import Outline
from rainbowdp.questions import Question
from rainbowdp.questions.base import CountQuestion

MOST = (1 << 61) - 1  # of a number in an array
_WHOLE = np.dtype(np.int64)
ON_A_GRAPH = (
    "for neighbors whose margins are 0 at exactly the true answer and differ by at most 1; "
    "only the graph can tell whether all of its margins do"
)


def margins_at(question: Question, counted: Dataset) -> dict[str, int] | Integers:
    """The margins of a dataset, from its counts as they were counted: checked, all and in order.

    Many margins are an array, in the order of the answers: that is quicker to check and to use.
    """
    if isinstance(question, CountQuestion):
        counts = list(counted.values())
        together = question.many_margins_of(counts)
        return question.margins_of(counts) if together is None else together
    return question.margins(counted)


def array_of(key: Any, answers: Sequence[Answer], what: str) -> Integers | None:
    """The ``key`` itself where it is an array, with a number from 0 for each of the ``answers``.

    Its numbers are at most ``MOST``, so that 64 bits hold the sum of two.
    """
    if type(key) is not np.ndarray:
        return None
    if key.dtype is not _WHOLE or key.shape != (len(answers),):
        raise NoPlace(f"{what} of all answers", key)
    if key[key.argmin()] < 0 or key[key.argmax()] > MOST:
        raise NoPlace(f"{what} that are whole numbers from 0", key)
    return key


def truth_and_depth(key: Any, answers: Sequence[Answer]) -> tuple[int, int] | None:
    """Of margins in an array the place of the 0 and the least other less 1; strict, as rows leak.

    None where the margins are no array.
    """
    if type(key) is not np.ndarray:
        return None
    if key.dtype is not _WHOLE or key.shape != (len(answers),) or len(key) < 2:
        raise NoPlace("margins of all answers", key)
    ordered = key.copy()
    ordered.sort()
    if ordered[0] < 0 or ordered[-1] > MOST:
        raise NoPlace("margins that are whole numbers from 0", key)
    nearest = int(ordered[1])
    if ordered[0] > 0 or nearest == 0:
        raise NoPlace("margins with exactly one 0, at the true answer", key)
    return int(key.argmin()), nearest - 1


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
    if truth_and_depth(key, answers) is not None:
        listed: list[int] = key.tolist()
        return listed
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
