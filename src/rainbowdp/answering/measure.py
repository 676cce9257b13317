"""How often a kind of mechanism would be wrong, before any data is seen.

The measure is the mean chance of a wrong answer over a fixed list of histograms: of 16, 64, 256, …,
1,048,576 records (times the rows of a person), each size alike, and of each size a few dozen that
are spread evenly over all histograms of that size; or of one size alone, where it is known. It
depends on the question's shape (how many answers, which neighbors, ties and rows a person, which
quantile) and that size, never on data, ε or δ. So whoever takes the least measure of all kinds that
apply answers no worse for a larger ε or δ, as no kind does.

It is computed in floats from closed forms; nothing that is released depends on its digits.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TypeAlias

import numpy as np

from rainbowdp.aliases import Floats, Integers
from rainbowdp.exact.rule import Family
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.questions import (
    Quantile,
    Quantiles,
    Question,
    Ranking,
    Share,
    Threshold,
    Winner,
)
from rainbowdp.questions.histograms import margins_of
from rainbowdp.questions.relations import Ties

_SIZES = tuple(4**power for power in range(2, 11))
_EACH = 48  # histograms of a size; fewer for many answers, as their margins take longer
_LEAST = 8
_MARGINS = 4_096  # of a size, where answers are many choices from a few groups

Shape: TypeAlias = Winner | Ranking | Share | Threshold | Quantile | Quantiles


def wrong(
    kind: Family, question: Question, guarantee: Guarantee, records: int | None = None
) -> float:
    """The mean chance of a wrong answer by a mechanism of this kind, over the fixed histograms.

    With ``records`` over those of so many records.

    >>> from rainbowdp import DP
    >>> from rainbowdp.rules import family
    >>> poll = Winner(["red", "green", "blue", "none"])
    >>> wrong(family("permute-and-flip"), poll, DP(1)) < wrong(family("homogeneous"), poll, DP(1))
    True
    """
    shape = _shape(question)
    counts, margins = _histograms(shape, records)
    rows = kind.sketch(shape, guarantee, counts, margins)
    if isinstance(shape, Winner) and shape.ties == Ties.ANY_LEADER:
        right = counts == counts.max(axis=1, keepdims=True)
    else:
        right = margins == 0
    return float(1.0 - (rows * right).sum(axis=1).mean())


def _shape(question: Question) -> Shape:
    """The question without its names; for one of the user's own a vote of as many answers."""
    if isinstance(question, Share | Threshold):
        return question
    size, neighbors, rows = len(question.answers), question.neighbors, question.limit
    if isinstance(question, Ranking):
        ranked = [str(number) for number in range(len(question.among))]
        return Ranking(
            ranked,
            first=question.first,
            in_order=question.in_order,
            neighbors=neighbors,
            rows_per_person=rows,
        )
    if isinstance(question, Quantiles):
        edges = range(len(question.bins) + 1)
        return Quantiles(question.qs, edges, neighbors=neighbors, rows_per_person=rows)
    if isinstance(question, Quantile):
        bins = range(size + 1)
        return Quantile(question.q, bins, neighbors=neighbors, rows_per_person=rows)
    ties = question.ties if isinstance(question, Winner) else Ties.FIRST_LISTED
    names = [str(number) for number in range(size)]
    return Winner(names, ties=ties, neighbors=neighbors, rows_per_person=rows)


@lru_cache(maxsize=64)
def _histograms(shape: Shape, records: int | None) -> tuple[Integers, Floats]:
    """The fixed histograms of a shape, of all sizes or one, and their margins."""
    size, answers = len(shape.groups), len(shape.answers)
    each = max(_LEAST, min(_EACH, 8 * _EACH // size))
    if answers > size > 1:
        each = max(1, min(each, _MARGINS // answers))
    each *= len(_SIZES)
    sizes = [shape.limit * people for people in _SIZES] if records is None else [records]
    shares = _spread(each, size).reshape(len(sizes), -1, size)
    held = np.array(sizes, dtype=np.float64)[:, None, None]
    ends = np.rint(held * np.cumsum(shares, axis=2)).astype(np.int64)
    counts: Integers = np.diff(ends, axis=2, prepend=0).reshape(-1, size)
    return counts, margins_of(shape, counts)


def _spread(points: int, size: int) -> Floats:
    """Points spread evenly over all shares of ``size`` answers: multiples of √2, √3, √5, … mod 1.

    As logarithms of uniform numbers, divided by their sum, they are uniform among all shares.
    """
    roots = np.sqrt(np.array(_primes(size), dtype=np.float64))
    uniform = np.arange(1, points + 1)[:, None] * roots % 1.0
    parts = -np.log1p(-uniform)
    shares: Floats = parts / parts.sum(axis=1, keepdims=True)
    return shares


def _primes(count: int) -> list[int]:
    found: list[int] = []
    number = 2
    while len(found) < count:
        if all(number % prime for prime in found if prime <= math.isqrt(number)):
            found.append(number)
        number += 1
    return found
