"""Look for a counterexample to a question's margins on random tables."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from rainbowdp.errors import InvalidQuestion
from rainbowdp.expecting import expect, whole
from rainbowdp.questions.base import Question

Pair: TypeAlias = tuple[Any, Any]

_SIZES = (0, 1, 2, 3, 5, 10, 100, 10**6, 10**12)


@dataclass(frozen=True)
class Refutation:
    """Two neighboring datasets on which a question's margins break the rules.

    >>> print(Refutation("they differ", {"a": 1}, {}, {"a": 0, "b": 3}, {"a": 1, "b": 0}))
    they differ:
      {'a': 1}  has margins  {'a': 0, 'b': 3}
      {}  has margins  {'a': 1, 'b': 0}
    """

    reason: str
    dataset: Any
    neighbor: Any
    margins: Any
    neighbor_margins: Any

    def __str__(self) -> str:
        return (
            f"{self.reason}:\n"
            f"  {self.dataset}  has margins  {self.margins}\n"
            f"  {self.neighbor}  has margins  {self.neighbor_margins}"
        )


def refute(
    question: Question,
    tables: Callable[[random.Random], Pair] | None = None,
    *,
    tries: int = 1000,
    seed: int | None = None,
) -> Refutation | None:
    """Look for a counterexample to a question's margins; finding none proves nothing.

    Margins must be whole numbers from 0, be 0 at exactly one answer, and change by at most 1
    between neighbors.

    Parameters
    ----------
    question
        The question to test.
    tables
        A function of a ``random.Random`` that returns a random pair of neighboring datasets. A
        question over counts has one of its own, which draws ties and near-ties of all sizes.
    tries
        How many pairs to try.
    seed
        Makes the search repeatable.

    Returns
    -------
    Refutation or None
        Two neighboring datasets with the rule they break, or None if no tried pair breaks one.

    Raises
    ------
    InvalidQuestion
        If the question has no groups and ``tables`` is not given.

    Examples
    --------
    >>> from rainbowdp.questions import Custom, Equals, Winner
    >>> print(refute(Winner(["red", "green"]), tries=100, seed=1))
    None
    >>> def wrong(counts):
    ...     ahead = counts["red"] - counts["green"]
    ...     return {"red": max(0, -ahead), "green": max(0, ahead + 1)}
    >>> colors = ["red", "green"]
    >>> guess = Custom(colors, wrong, neighbors="substituted", name="guess",
    ...                groups=[(color, Equals(color)) for color in colors])
    >>> print(refute(guess, seed=1).reason)
    the margins of neighbors must differ by at most 1, but they differ by 2 at 'green'

    """
    expect(question, Question, "refute", InvalidQuestion)
    make = tables if tables is not None else _histograms(question)
    draw = random.Random(None if seed is None else whole(seed, "seed", 0))  # noqa: S311  random tables, no secrets
    for _ in range(whole(tries, "tries", 1)):
        dataset, neighbor = make(draw)
        found = [_margins(question, dataset), _margins(question, neighbor)]
        if reason := _broken(question, *found):
            return Refutation(reason, dataset, neighbor, *found)
    return None


def _margins(question: Question, dataset: Any) -> Any:
    """The margins, or the message that says why there are none."""
    try:
        return question.margins(dataset)
    except InvalidQuestion as error:
        return str(error)


def _broken(question: Question, one: Any, other: Any) -> str | None:
    """The rule that the margins of two neighbors break, if any."""
    for margins in (one, other):
        if isinstance(margins, str):
            return margins
        if set(margins) != set(question.answers) or not all(
            isinstance(margin, int) and margin >= 0 for margin in margins.values()
        ):
            return "margins must be whole numbers from 0, one for each answer"
        if sum(margin == 0 for margin in margins.values()) != 1:
            return "margins must be 0 at exactly one answer"
    worst = max(question.answers, key=lambda answer: abs(one[answer] - other[answer]))
    change = abs(one[worst] - other[worst])
    if change > 1:
        return (
            "the margins of neighbors must differ by at most 1, "
            f"but they differ by {change} at {worst!r}"
        )
    return None


def _histograms(question: Question) -> Callable[[random.Random], Pair]:
    """A generator of random counts and a neighbor of the stated relation."""
    names = [name for name, _ in question.groups]
    if not names:
        raise InvalidQuestion(
            "a question without groups cannot be tested on random counts; give refute tables=, a "
            "function that returns a random pair of neighboring datasets"
        )

    def make(draw: random.Random) -> Pair:
        size, spread = draw.choice(_SIZES), draw.choice((0, 1, 2, 10))
        counts = {
            name: draw.choice(
                (0, max(0, size + draw.randint(-spread, spread)), draw.randint(0, size))
            )
            for name in names
        }
        neighbor = dict(counts)
        for _ in range(question.rows_per_person):
            goes, comes = draw.choice([None, *names]), draw.choice([None, *names])
            if question.neighbors == "added or removed":
                goes, comes = draw.choice([(goes, None), (None, comes)])
            if goes is not None and neighbor[goes] > 0:
                neighbor[goes] -= 1
            if comes is not None:
                neighbor[comes] += 1
        return counts, neighbor

    return make
