"""The right operator in fractions, for proofs on paper and for tests of what floats make of it."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction

from rainbowdp.errors import InvalidGuarantee
from rainbowdp.guarantees.guarantee import checked_changes
from rainbowdp.numeric.quantity import Number, exact, exact_distribution


def exact_step(s: Number, ratio: Number, delta: Number = 0) -> Fraction:
    """φ(s) = min{1, E·s + δ, 1 − (1 − s − δ)/E}: the right step, as a fraction.

    Parameters
    ----------
    s
        A prefix sum in [0, 1].
    ratio
        E = e^ε, at least 1.
    delta
        δ in [0, 1].

    Returns
    -------
    Fraction
        The largest prefix sum that (ε,δ) allows one step away.

    Raises
    ------
    InvalidGuarantee
        If a number is out of range.

    Examples
    --------
    >>> exact_step("1/2", 2, "1/10")
    Fraction(4, 5)

    """
    prefix, e, d = (
        exact(value, name, InvalidGuarantee)
        for value, name in ((s, "s"), (ratio, "ratio"), (delta, "delta"))
    )
    if not 0 <= prefix <= 1 or e < 1 or not 0 <= d <= 1:
        raise InvalidGuarantee(
            f"a step needs s and delta in [0, 1] and a ratio of at least 1, got s={s}, "
            f"ratio={ratio}, delta={delta}"
        )
    return min(Fraction(1), e * prefix + d, 1 - (1 - prefix - d) / e)


def exact_rows(
    row: Sequence[Number], ratio: Number, delta: Number = 0, *, depth: int
) -> list[tuple[Fraction, ...]]:
    """The optimal rows at depths 0, 1, …, ``depth`` of a line, as fractions.

    Parameters
    ----------
    row
        The distribution on the boundary, most preferred answer first.
    ratio
        E = e^ε, at least 1.
    delta
        δ in [0, 1].
    depth
        The last depth, a whole number from 1.

    Returns
    -------
    list of tuple of Fraction
        A row for each depth, the boundary first.

    Raises
    ------
    InvalidDistribution
        If ``row`` is not a distribution.
    InvalidGuarantee
        If a number is out of range.

    Examples
    --------
    >>> exact_rows(["1/5", "3/10", "1/2"], 2, depth=1)[1]
    (Fraction(2, 5), Fraction(7, 20), Fraction(1, 4))

    """
    rows = [exact_distribution(list(row))]
    for _ in range(checked_changes(depth)):
        sums = itertools.accumulate(rows[-1])
        grown = [Fraction(0), *(exact_step(s, ratio, delta) for s in sums)]
        rows.append(tuple(b - a for a, b in itertools.pairwise(grown)))
    return rows
