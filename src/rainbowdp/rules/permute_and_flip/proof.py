"""Proving coins: one inequality, whatever the number of answers."""

from __future__ import annotations

import math
from fractions import Fraction

from rainbowdp.errors import InvalidMechanism
from rainbowdp.exact.check import Check
from rainbowdp.guarantees.closeness import BITS, lines_of
from rainbowdp.guarantees.dp import DP, Guarantee
from rainbowdp.questions.relations import Neighbors, Ties


def prove_coins(
    guarantee: Guarantee, ratio: Fraction, answers: int, neighbors: str, ties: str, rows: int
) -> Check:
    """Chances that fall by at most ``ratio`` a unit keep the guarantee.

    Permute-and-flip changes by at most the factor 1/ratio for each unit by which one person can
    move the scores, whatever the number of answers (``docs/true-answer.md``); so
    ratio^moves · e^ε ≥ 1 is enough. A record is one unit, or q where ties go to the first listed
    and distances are counted in q-th parts; a substituted one leaves one answer for another.
    """
    if not isinstance(guarantee, DP):
        raise InvalidMechanism(f"permute-and-flip needs an (ε,δ) guarantee, got {guarantee}")
    units = answers if ties == Ties.FIRST_LISTED else 1
    changed = 2 if neighbors == Neighbors.SUBSTITUTED else 1
    moves = rows * changed * units
    ((allowed, _),) = lines_of(guarantee)
    places = BITS + 64 + math.floor(allowed).bit_length()
    if _power_below(ratio, moves, places) * allowed < 1:
        raise InvalidMechanism(f"coins must keep {guarantee}, but their chances fall too fast")
    steps = f"{moves} steps of a factor 1 − {float(1 - ratio):.6g} a person"
    return Check.proved(guarantee, 1, f"permute-and-flip with {steps}")


def _power_below(base: Fraction, exponent: int, places: int) -> Fraction:
    """At most base^exponent for 0 < base < 1: squared and multiplied, rounded down each time."""
    square, power = math.floor(base * (1 << places)), 1 << places
    while exponent:
        if exponent & 1:
            power = power * square >> places
        square, exponent = square * square >> places, exponent >> 1
    return Fraction(power, 1 << places)
