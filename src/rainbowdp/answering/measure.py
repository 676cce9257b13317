"""How far off a kind of mechanism would be, before any data is seen: the stated measure.

For a quantile of three and more bins, or several, the measure is the mean of the expected distance
in records; for any other question the mean chance of a wrong answer. The mean is over a fixed list
of histograms: of 16, 64, 256, …, 1,048,576 records (times the rows of a person), each size alike,
and of each size a few dozen that are spread evenly over all histograms of that size; or of one size
alone, where it is known. Where two answers have a border between them (a share, a threshold, a
quantile of two bins), half of the histograms are on either side of it, spread evenly: else for a
rare answer the other one, whatever the data, would be the best of all mechanisms. The list depends
on the question's shape (how many answers, which neighbors, ties and rows a person, which quantile)
and that size, never on data, ε or δ. So whoever takes the least measure of all kinds that apply
answers no worse for a larger ε or δ, as no kind does.

It is computed in floats from closed forms; nothing that is released depends on its digits.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TypeAlias

import numpy as np

from rainbowdp.aliases import Floats, Integers
from rainbowdp.answering.distance import is_ordered, off_by
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
_TURNED = 8  # answers up to which a vote is turned around the list
_MARGINS = 4_096  # of a size, where answers are many choices from a few groups

Shape: TypeAlias = Winner | Ranking | Share | Threshold | Quantile | Quantiles


def measure(
    kind: Family, question: Question, guarantee: Guarantee, records: int | None = None
) -> float:
    """The stated measure of a mechanism of this kind, over the fixed histograms.

    With ``records`` over those of so many records.

    >>> from rainbowdp import DP
    >>> from rainbowdp.rules import family
    >>> poll = Winner(["red", "green", "blue", "none"])
    >>> kinds = family("permute-and-flip"), family("homogeneous")
    >>> [round(measure(kind, poll, DP(1)), 3) for kind in kinds]
    [0.03, 0.038]
    """
    shape = shape_of(question)
    counts, margins = fixed_histograms(shape, records)
    rows = kind.sketch(question, guarantee, counts, margins)
    return measure_of_rows(shape, rows, counts, margins)


def wrong(
    kind: Family, question: Question, guarantee: Guarantee, records: int | None = None
) -> float:
    """The mean chance of a wrong answer over the same histograms, whatever is measured."""
    shape = shape_of(question)
    counts, margins = fixed_histograms(shape, records)
    rows = kind.sketch(question, guarantee, counts, margins)
    return float(off_by(shape, rows, counts, margins).wrong.mean())


def measure_of_rows(question: Question, rows: Floats, counts: Integers, margins: Floats) -> float:
    """The same of rows at these histograms."""
    off = off_by(question, rows, counts, margins)
    return float((off.records if is_ordered(question) else off.wrong).mean())


def shape_of(question: Question) -> Shape:
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
def fixed_histograms(shape: Shape, records: int | None) -> tuple[Integers, Floats]:
    """The fixed histograms of a shape, of all sizes or one, and their margins."""
    size, answers = len(shape.groups), len(shape.answers)
    each = max(_LEAST, min(_EACH, 8 * _EACH // size))
    if answers > size > 1:
        each = max(1, min(each, _MARGINS // answers))
    if _has_border(shape):  # where nothing but what is near it counts
        each = 10 * _EACH
    turned = isinstance(shape, Winner) and shape.ties == Ties.FIRST_LISTED and size <= _TURNED
    if turned:
        each = max(_LEAST, 2 * _EACH // size)
    each *= len(_SIZES)
    sizes = [shape.limit * people for people in _SIZES] if records is None else [records]
    held = np.repeat(sizes, each // len(sizes))
    if records is None:  # an even number of records every other time, then an odd one
        held = held + np.arange(each) % 2
    counts = _counts(shape, held)
    if turned:
        counts = turned_around(counts)
    return counts, margins_of(shape, counts)


def _has_border(shape: Shape) -> bool:
    """Whether one number decides between two answers, from some value on for the first."""
    two_bins = isinstance(shape, Quantile) and len(shape.bins) == 2
    return two_bins or isinstance(shape, Share | Threshold)


def _counts(shape: Shape, held: Integers) -> Integers:
    """Histograms of so many records, spread evenly; where there is a border, on both its sides."""
    size = len(shape.groups)
    if _has_border(shape):
        return _on_both_sides(shape, held)
    ends = np.rint(held[:, None] * np.cumsum(_spread(len(held), size), axis=1)).astype(np.int64)
    counts: Integers = np.diff(ends, axis=1, prepend=0)
    return counts


def _on_both_sides(shape: Shape, held: Integers) -> Integers:
    """Two below the border, then two from it on: every value of a side as often as the others.

    A threshold has as many counts above it as half the records, and below it as many or all.

    >>> _on_both_sides(Quantile("1/100", range(3)), np.full(8, 9)).tolist()
    [[0, 9], [0, 9], [6, 3], [3, 6], [0, 9], [0, 9], [9, 0], [2, 7]]
    """
    if isinstance(shape, Threshold):
        scale = 1 if shape.weight is None else shape.weight.scale
        border = np.full(len(held), int(shape.at_least * scale))
        below, above = np.minimum(border, held // 2), held // 2
    else:
        assert isinstance(shape, Share | Quantile)
        share = shape.at_least if isinstance(shape, Share) else shape.q
        border = -(-share.numerator * held // share.denominator)
        below, above = border, held - border + 1
    uniform = _spread(len(held), 2)[:, 0]
    away_below, away_above = (np.floor(uniform * side).astype(np.int64) for side in (below, above))
    is_below = np.arange(len(held)) // 2 % 2 == 0
    first: Integers = np.where(is_below, border - 1 - away_below, border + away_above)
    return first[:, None] if isinstance(shape, Threshold) else np.stack([first, held - first], 1)


def turned_around(counts: Integers) -> Integers:
    """Votes turned around the list, each answer leading once: as close as before in every case.

    Who is listed before the leader is one record nearer to it than its count tells. So that no kind
    gains from where leaders happen to be listed, each vote is there once for every leader, with the
    same gaps: behind the new leader, in the order around the list, and one record more behind it
    where an answer is now listed first.

    >>> turned_around(np.array([[5, 5, 2]])).tolist()
    [[5, 5, 2], [1, 5, 5], [4, 1, 5]]
    """
    size, most = counts.shape[1], counts.max(axis=1)
    leader = counts.argmax(axis=1)
    offsets = np.arange(size)
    places = leader[:, None] + offsets
    seen = np.take_along_axis(counts, places % size, axis=1)
    gaps = most[:, None] - seen - (places >= size)
    turned = np.empty((len(counts), size, size), dtype=np.int64)
    for new in range(size):
        around = new + offsets
        turned[:, new, around % size] = most[:, None] - gaps - (around >= size)
    return np.maximum(turned, 0).reshape(-1, size)


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
