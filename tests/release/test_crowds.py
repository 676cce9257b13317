"""Crowd tables in the plain reader: every change that can be played on counts is compared."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from typing import Any

import pytest

from rainbow_release.crowd_proof import Pair, Shape, Word, corners

# answers, knots, gaps with letters, ties to the first listed, records substituted
SHAPES = [
    *((4, 3, 0, first, sub) for first in (True, False) for sub in (True, False)),
    *((4, 3, letters, True, sub) for letters in (1, 2) for sub in (True, False)),
    (3, 4, 2, True, True),
    (5, 3, 2, True, True),
]
Side = tuple[Word, int, dict[int, tuple[int, int]]]


def standing(counts: tuple[int, ...], *, first: bool) -> tuple[int, list[int], dict[int, int]]:
    """The leader, the others in the order of the list from it on, and their gaps."""
    size = len(counts)
    leader = max(range(size), key=lambda v: (counts[v], -v))
    others = [(leader + j) % size for j in range(1, size)]
    nearer = {v: int(first and v < leader) for v in others}
    return leader, others, {v: counts[leader] - counts[v] - nearer[v] for v in others}


def neighbors(counts: tuple[int, ...], *, substituted: bool) -> Iterator[tuple[int, ...]]:
    size = len(counts)
    for gains in range(size):
        more = tuple(count + (v == gains) for v, count in enumerate(counts))
        if not substituted:
            yield more
            continue
        for loses in range(size):
            if loses != gains and counts[loses]:
                yield tuple(count - (v == loses) for v, count in enumerate(more))


def side(shape: Shape, leader: int, others: list[int], gaps: dict[int, int]) -> Side:
    """Word, code and seats with gaps, of those who are not out."""
    word: list[int] = []
    code, seats = 0, {leader: (0, 0)}
    for v in others:
        if gaps[v] < shape.ordered:
            word.append(gaps[v])
            seats[v] = (len(word), gaps[v])
        else:
            code += shape.one(gaps[v])
            seats[v] = (shape.seat(gaps[v]), gaps[v])
    return tuple(word), code, seats


def swapped(pair: Pair) -> Pair:
    return pair[2], pair[3], pair[0], pair[1]


@pytest.mark.parametrize(("answers", "knots", "ordered", "first", "substituted"), SHAPES)
def test_every_change_is_among_the_corners(
    answers: int, knots: int, ordered: int, first: bool, substituted: bool
) -> None:
    """Those who are behind the last knot on both sides are out; who leads in a tie is any of them."""
    shape = Shape(answers - 1, knots, ordered, first=first, substituted=substituted)
    compared: dict[Any, set[Pair]] = {}
    for word, code, word_there, code_there, pairs in corners(shape):
        compared.setdefault((word, code, word_there, code_there), set()).update(pairs)
        back = compared.setdefault((word_there, code_there, word, code), set())
        back.update(map(swapped, pairs))
    votes = list(itertools.product(range(knots + 4), repeat=answers))
    some = random.Random(1).sample(votes, min(len(votes), 250))
    for vote in some:
        for other in neighbors(vote, substituted=substituted):
            leader, order, gaps = standing(vote, first=first)
            next_leader, next_order, next_gaps = standing(other, first=first)
            if not first:
                both = [v for v in range(answers) if vote[v] == max(vote) and other[v] == max(other)]
                if both:  # and whoever leads in both may be called the leader
                    leader = next_leader = both[0]
                gaps = {v: max(vote) - vote[v] for v in range(answers)}
                next_gaps = {v: max(other) - other[v] for v in range(answers)}
                order = [v for v in range(answers) if v != leader]
                next_order = [v for v in range(answers) if v != next_leader]
            out = {
                v
                for v in range(answers)
                if v not in (leader, next_leader) and min(gaps[v], next_gaps[v]) >= knots
            }
            here = side(shape, leader, [v for v in order if v not in out], gaps)
            there = side(shape, next_leader, [v for v in next_order if v not in out], next_gaps)
            found = compared.get((*here[:2], *there[:2]), set())
            for v in set(range(answers)) - out:
                pair = shape.pair(here[2][v], there[2][v])
                alike = here[:2] == there[:2] and here[2][v] == there[2][v]
                assert alike or pair in found, (vote, other, v)
