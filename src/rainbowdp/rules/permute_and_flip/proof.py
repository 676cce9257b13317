"""Proving coins: how far one person moves the scores, and how fast the released chances fall.

Permute-and-flip changes by at most the factor 1/ratio for each unit by which one person can move
the scores, whatever the number of answers (``docs/true-answer.md``), if for every distance d

    chance(d + 1) ≤ chance(d)   and   chance(d + 1) ≥ ratio·chance(d);

so ratio^moves · e^ε ≥ 1 is enough. What one person can move comes from the question, not from the
rule. The two inequalities are checked on the coins as they are released: each of the first few
hundred, and around every power of two after them. That they hold between those follows from what
the coins are, ⌊(total − least)·ratio^d⌋ + least with least·(1 − ratio) ≥ 1: it is checked too, with
powers that are computed here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from rainbowdp.errors import InvalidMechanism
from rainbowdp.exact.check import Check
from rainbowdp.guarantees.closeness import BITS, lines_of
from rainbowdp.guarantees.dp import DP, Guarantee

_NEAR = 512  # distances up to which every coin is looked at


@dataclass(frozen=True)
class Coins:
    """What a rule flips: the distances it sees in counts, and the chance of heads at each."""

    ratio: Fraction
    total: int
    farthest: int
    distances: Callable[[Sequence[int]], Sequence[int]]
    chance: Callable[[int], int]


def prove_coins(
    guarantee: Guarantee, answers: int, question: Mapping[str, Any], coins: Coins
) -> Check:
    """The coins keep the guarantee for every vote of the ``question``."""
    if not isinstance(guarantee, DP):
        raise InvalidMechanism(f"permute-and-flip needs an (ε,δ) guarantee, got {guarantee}")
    moves = _records_moved(question) * _units_a_record(answers, question, coins)
    ((allowed, _),) = lines_of(guarantee)
    places = BITS + 64 + math.floor(allowed).bit_length()
    low, _ = _power(coins.ratio, moves, places)
    if low * allowed.numerator < allowed.denominator << places:
        raise InvalidMechanism(f"coins must keep {guarantee}, but their chances fall too fast")
    compared = _check_chances(coins)
    steps = f"{moves} steps of a factor 1 − {float(1 - coins.ratio):.6g} a person"
    return Check.proved(
        guarantee, compared, f"permute-and-flip with {steps}, {compared} coins compared"
    )


def _records_moved(question: Mapping[str, Any]) -> int:
    """By how many records, in and out together, one person can change the counts."""
    rows, neighbors = question["rows_per_person"], question["neighbors"]
    if type(rows) is not int or rows < 1:
        raise InvalidMechanism(f"rows_per_person must be a whole number from 1, got {rows!r}")
    if neighbors == "added or removed":
        return rows
    if neighbors == "substituted":
        return 2 * rows
    raise InvalidMechanism(
        f"neighbors must be 'substituted' or 'added or removed', got {neighbors!r}"
    )


def _units_a_record(answers: int, question: Mapping[str, Any], coins: Coins) -> int:
    """By how much one record moves its answer's score, and no other: played on votes.

    In q-th parts where ties go to the first listed, in records where any leader is right.
    """
    units = {"first listed": answers, "any leader": 1}.get(question["ties"])
    if units is None:
        raise InvalidMechanism(f"ties must be 'first listed' or 'any leader', got {question!r}")
    for counts in ([0] * answers, [3] * answers, [7 * (v % 3) for v in range(answers)]):
        before = _scores(coins, counts)
        for v in {0, answers // 2, answers - 1}:
            after = _scores(coins, [count + (i == v) for i, count in enumerate(counts)])
            moved = {b - a for i, (a, b) in enumerate(zip(before, after, strict=True)) if i != v}
            if any(after[v] - before[v] - other != units for other in moved):
                raise InvalidMechanism(
                    f"one record must move its answer's score by {units} and no other, got others"
                )
    return units


def _scores(coins: Coins, counts: Sequence[int]) -> list[int]:
    """The scores, up to what all of them have in common."""
    return [-distance for distance in coins.distances(counts)]


def _check_chances(coins: Coins) -> int:
    """Refuse coins that fall too fast, rise, or are not what they are said to be; their number."""
    ratio, total, least = coins.ratio, coins.total, coins.chance(coins.farthest)
    if least * (1 - ratio) < 1:
        raise InvalidMechanism("the chances of coins must end at 1/(1 − ratio) or above")
    places = total.bit_length() + 128
    compared = 0
    for distance in _looked_at(coins.farthest):
        here, beside = coins.chance(distance), coins.chance(distance + 1)
        low, high = ((total - least) * end >> places for end in _power(ratio, distance, places))
        if not low <= here - least <= high:
            raise InvalidMechanism(f"a coin at distance {distance} has another chance than it must")
        if not here * ratio <= beside <= here:
            raise InvalidMechanism(f"coins must fall, by the ratio at most, but not at {distance}")
        compared += 1
    return compared


def _looked_at(farthest: int) -> Iterator[int]:
    yield from range(min(_NEAR, farthest))
    for bits in range(_NEAR.bit_length(), farthest.bit_length() + 1):
        yield from ((1 << bits) - 1, 1 << bits)
    yield from range(max(0, farthest - 2), farthest + 2)


def _power(base: Fraction, exponent: int, places: int) -> tuple[int, int]:
    """What base^exponent, times 2^places, is not below and not above, for 0 < base < 1."""
    low = math.floor(base * (1 << places))
    high = math.ceil(base * (1 << places))
    least = most = 1 << places
    while exponent:
        if exponent & 1:
            least, most = least * low >> places, -(-most * high >> places)
        low, high, exponent = low * low >> places, -(-high * high >> places), exponent >> 1
    return least, most
