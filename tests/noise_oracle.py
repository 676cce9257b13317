"""Counts with noise, answer by answer: an oracle that shares no code with proof or builder."""

from __future__ import annotations

import itertools
from fractions import Fraction

from rainbowdp.exact.noise import NoiseRow


def chances_of_noise(row: NoiseRow) -> dict[int, Fraction]:
    """Every number and its chance, from the four numbers that make a row."""
    weights = dict.fromkeys(range(-row.reach, row.reach + 1), row.tail)
    for number, weight in enumerate(row.half):
        weights[number] = weights[-number] = weight
    weights[row.reach] = weights[-row.reach] = row.end
    total = sum(weights.values())
    return {number: Fraction(weight, total) for number, weight in weights.items()}


def answers(row: NoiseRow, count: int, at_most: int) -> list[Fraction]:
    """The chance of each answer from 0 to ``at_most``."""
    found = [Fraction(0)] * (at_most + 1)
    for number, chance in chances_of_noise(row).items():
        found[min(max(count + number, 0), at_most)] += chance
    return found


def answers_by_sums(row: NoiseRow, count: int, at_most: int) -> list[Fraction]:
    """The same for a row that reaches far: what lies beyond the middle is in the two ends."""
    weights = [row.weight(answer - count) for answer in range(at_most + 1)]
    listed = dict(enumerate(row.half))
    total = row.half[0] + 2 * (sum(row.half[1:]) + (row.reach - len(row.half)) * row.tail + row.end)

    def from_up(number: int) -> int:  # number ≥ 1
        near = sum(w for place, w in listed.items() if place >= number)
        return near + (row.reach - max(number, len(row.half))) * row.tail + row.end

    def from_any(number: int) -> int:
        return from_up(number) if number >= 1 else total - from_up(1 - number)

    weights[0] = from_any(count)  # as likely as −count or less
    weights[-1] = from_any(at_most - count)
    assert sum(weights) == total
    return [Fraction(weight, total) for weight in weights]


def excess(p: list[Fraction], q: list[Fraction], ratio: Fraction) -> Fraction:
    """The most that p(S) is above ratio·q(S), by trying every set of answers."""
    return max(
        sum((p[v] - ratio * q[v] for v in chosen), Fraction(0))
        for size in range(len(p) + 1)
        for chosen in itertools.combinations(range(len(p)), size)
    )


def quick_excess(p: list[Fraction], q: list[Fraction], ratio: Fraction) -> Fraction:
    """The same by its positive terms."""
    return sum((max(a - ratio * b, Fraction(0)) for a, b in zip(p, q, strict=True)), Fraction(0))


def exp_between(x: Fraction, terms: int = 60) -> tuple[Fraction, Fraction]:
    """Two rationals around e^x for 0 ≤ x ≤ 2, from the power series and its remainder."""
    term, total = Fraction(1), Fraction(1)
    for number in range(1, terms):
        term = term * x / number
        total += term
    return total, total + term
