"""Which keys may be named: a ladder of chances by the number of people, in integers."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from rainbowdp.errors import InvalidMechanism
from rainbowdp.exact.check import Check
from rainbowdp.guarantees.closeness import first_violation, promise_of
from rainbowdp.guarantees.guarantee import Guarantee


@dataclass(frozen=True)
class KeyLadder:
    """How likely a key is to be named, by the number of its people.

    Parameters
    ----------
    weights
        The weight of naming a key of 0, 1, 2, … people; the last one is used for all beyond. A key
        of nobody is never named.
    total
        What naming and not naming have together.

    Raises
    ------
    InvalidMechanism
        If a weight is not a whole number from 0 to ``total``, or nobody's key could be named.

    Examples
    --------
    >>> KeyLadder((0, 1, 3, 4), 4).chance(2)
    Fraction(3, 4)

    """

    weights: tuple[int, ...]
    total: int

    def __post_init__(self) -> None:
        whole = all(type(number) is int and number >= 0 for number in (*self.weights, self.total))
        if not whole or not self.weights or max(self.weights) > self.total:
            raise InvalidMechanism("a ladder must have integers from 0 to its total, got others")
        if self.weights[0]:
            raise InvalidMechanism("a key of nobody must never be named, but could be")

    def weight(self, people: int) -> int:
        """The weight of naming a key of so many people."""
        return self.weights[min(people, len(self.weights) - 1)]

    def chance(self, people: int) -> Fraction:
        """The chance that a key of this many people is named."""
        return Fraction(self.weight(people), self.total)

    def named(self, people: int) -> bool:
        """Whether a key of so many people is named, drawn anew."""
        return secrets.randbelow(self.total) < self.weight(people)


def prove_keys(guarantee: Guarantee, ladder: KeyLadder) -> Check:
    """Each key alone keeps the guarantee where one person comes or goes."""
    promise = promise_of(guarantee, ladder.total)
    for one, other in pairwise(ladder.weights):
        rows = ((one, ladder.total - one), (other, ladder.total - other))
        if first_violation(promise, *rows) is not None:
            raise InvalidMechanism(
                f"neighboring numbers of people must have close rows, but two exceed {guarantee}"
            )
    return Check.proved(
        guarantee, len(ladder.weights) - 1, f"{len(ladder.weights) - 1} pairs of rows of one key"
    )
