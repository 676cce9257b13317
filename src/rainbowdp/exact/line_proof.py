"""Proving lines: neighboring counts have close rows, and a test has its size."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

from rainbowdp.errors import InvalidMechanism
from rainbowdp.exact.check import Check
from rainbowdp.exact.line import Line
from rainbowdp.exact.noise_proof import promise_for_numbers
from rainbowdp.guarantees.closeness import first_violation
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.numeric.binomial import BITS


def prove_line(guarantee: Guarantee, line: Line) -> Check:
    """Counts that differ by one have close rows, and so keep the guarantee."""
    weights = (line.before, *line.weights)
    promise = promise_for_numbers(guarantee, line.total)
    for one, other in pairwise(weights):
        rows = ((one, line.total - one), (other, line.total - other))
        if first_violation(promise, *rows) is not None:
            raise InvalidMechanism(
                f"neighboring counts must have close rows, but two exceed {guarantee}"
            )
    return Check.proved(
        guarantee, len(line.weights), f"{len(line.weights)} pairs of rows of neighboring counts"
    )


def size_above(line: Line, chances: Sequence[int]) -> Fraction:
    """The chance of "yes" where counts have the ``chances``, in units of 2^−256, or more than it.

    >>> size_above(Line(0, (1,), 1, 1), [1 << BITS - 1, 1 << BITS - 1])
    Fraction(1, 2)
    """
    summed = sum(chance * line.weight(count) for count, chance in enumerate(chances))
    return Fraction(summed, line.total << BITS)
