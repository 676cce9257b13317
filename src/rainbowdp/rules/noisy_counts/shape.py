"""Normal noise rounded to whole numbers, in integers, and what the largest of noisy scores is.

The weights of 0, ±1, …, ±K are what normal noise of the given deviation has within half a unit of
them, in units of 2^−bits and rounded; beyond K there is less than a unit. ``proof`` judges them.
"""

from __future__ import annotations

import math
import secrets
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate, count, pairwise
from operator import mul

import numpy as np

from rainbowdp.aliases import Floats, Integers, Weights
from rainbowdp.errors import InvalidMechanism
from rainbowdp.numeric.quantity import ball, dyadic, precision

LONGEST = 1 << 15  # weights on one side; each takes a ball to make and one to prove
MOST_BITS = 1 << 12
_FIRST = 63  # bits of a uniform number that are drawn at once
_SPARE_BITS = 64  # of balls
_FAR = 9  # deviations beyond which a float has nothing left
_FINE = 10  # points a deviation are enough for a sum over smooth noise
_AT_ONCE = 1 << 22  # numbers of a block of rows


@dataclass(frozen=True)
class RoundedNormal:
    """Normal noise, rounded to whole numbers, with weights in integers.

    Parameters
    ----------
    deviation
        The standard deviation before it is rounded.
    bits
        The weights sum to 2^bits.

    Raises
    ------
    InvalidMechanism
        If there are no such weights, or too many to be listed.

    Examples
    --------
    >>> noise = RoundedNormal(Fraction(2), 64)
    >>> noise.farthest, sum(noise.half) * 2 - noise.half[0] == 2**64
    (18, True)

    """

    deviation: Fraction
    bits: int

    def __post_init__(self) -> None:
        if type(self.bits) is not int or not _FIRST < self.bits <= MOST_BITS:
            raise InvalidMechanism(
                f"the bits of noise must be a whole number from 64 to {MOST_BITS}, got {self.bits}"
            )
        if self.deviation <= 0 or places_of(float(self.deviation), self.bits) > LONGEST:
            raise InvalidMechanism(
                f"noise must have a deviation above 0 and at most {LONGEST:,} weights on a side, "
                f"got the deviation {float(self.deviation):.6g}"
            )

    @cached_property
    def half(self) -> Weights:
        """The weights of 0, 1, …, K, and so of −1, …, −K."""
        total = 1 << self.bits
        above: list[int] = []  # what lies above ½, 1½, …
        with precision(self.bits + _SPARE_BITS):
            scale = ball(self.deviation) * ball(Fraction(8)).sqrt()
            for place in count():
                tail = (ball(Fraction(2 * place + 1)) / scale).erfc() * (total >> 1)
                above.append(math.floor(dyadic(tail.lower())))
                if not above[-1]:
                    break
        return (total - 2 * above[0], *(one - two for one, two in pairwise(above)))

    @property
    def farthest(self) -> int:
        """K: nothing beyond is drawn."""
        return len(self.half) - 1

    @cached_property
    def _ends(self) -> list[int]:
        """The sums of the weights of −K, of −K and −K + 1, and so on up to K."""
        return list(accumulate((*reversed(self.half[1:]), *self.half)))

    @cached_property
    def _first(self) -> Integers:
        """The first bits of these sums, but for the last, which is all."""
        rest = self.bits - _FIRST
        return np.array([end >> rest for end in self._ends[:-1]], dtype=np.int64)

    def draw(self, size: int) -> Integers:
        """So many independent numbers, exactly with these weights.

        The first bits of a uniform number mostly tell which weight it falls on; where they do not
        the other bits are drawn, and the sums of the weights themselves decide.
        """
        drawn = (np.frombuffer(secrets.token_bytes(8 * size), dtype=np.uint64) >> 1).view(np.int64)
        found = np.searchsorted(self._first, drawn, side="right")
        open_ = np.searchsorted(self._first, drawn, side="left") != found
        rest = self.bits - _FIRST
        for number in np.flatnonzero(open_).tolist():
            whole = int(drawn[number]) << rest | secrets.randbits(rest)
            found[number] = bisect_right(self._ends, whole)
        numbers: Integers = found - self.farthest
        return numbers

    def shares_of_largest(self, behind: Sequence[int]) -> Weights:
        """How likely each score is the largest once it has noise, of 2 · 2^(bits · scores).

        Scores are so far ``behind`` the highest. Of those that are then tied a coin takes the first
        or the last.
        """
        far, size = self.farthest, len(behind)
        near = [number for number, distance in enumerate(behind) if distance <= 2 * far]
        found = [0] * size
        sums = [0, *self._ends, *[self._ends[-1]] * 2 * far]
        for place in range(2 * far + 1):  # of the highest score with its noise
            upto = [sums[place + behind[number] + 1] for number in near]
            below = [sums[place + behind[number]] for number in near]
            first = zip(_products_before(below), _products_after(upto), strict=True)
            last = zip(_products_before(upto), _products_after(below), strict=True)
            for number, one, less, (a, b), (c, d) in zip(
                near, upto, below, first, last, strict=True
            ):
                found[number] += (one - less) * (a * b + c * d)
        return tuple(share << self.bits * (size - len(near)) for share in found)


def _products_before(factors: Sequence[int]) -> list[int]:
    """For each factor the product of those before it."""
    return list(accumulate(factors[:-1], mul, initial=1))


def _products_after(factors: Sequence[int]) -> list[int]:
    """For each factor the product of those after it."""
    return _products_before(factors[::-1])[::-1]


def places_of(deviation: float, bits: int) -> int:
    """About how many weights there are on a side: Φ(−x) ≤ e^(−x²/2)/2 is 2^−bits there."""
    return math.ceil(deviation * math.sqrt(2 * math.log(2) * bits)) + 1


def rows_of_largest(behind: Floats, deviation: float) -> Floats:
    """How likely each score is the largest once it has noise, many rows at once, in floats.

    The sum over all places is taken over every so many of them where the noise is wide: sums over
    evenly spaced points of what is as smooth as this are right to many more digits than needed.
    """
    step = max(1, int(deviation / _FINE))
    far = math.ceil(_FAR * deviation) + 1
    numbers = np.arange(-far, far + 1)
    upto = _normal_upto(numbers, deviation)
    at = upto[numbers + far] - np.concatenate([[0.0], upto[:-1]])
    at = np.minimum(at, at[::-1])  # the lower end has the digits
    places = np.arange(-far, far + 1, step)
    rows = np.empty_like(behind)
    block = max(1, _AT_ONCE // (behind.shape[1] * len(places)))
    for start in range(0, len(behind), block):
        gaps = np.minimum(behind[start : start + block], 4.0 * far).astype(np.int64)
        seen = gaps[:, :, None] + places + far
        below = np.minimum(seen, 2 * far)
        here = np.where(seen <= 2 * far, at[below], 0.0)
        upto_here, less = upto[below], np.where(below > 0, upto[below - 1], 0.0)
        first = _before(less) * _before(upto_here[:, ::-1])[:, ::-1]
        last = _before(upto_here) * _before(less[:, ::-1])[:, ::-1]
        rows[start : start + block] = (here * (first + last)).sum(axis=2)
    found: Floats = rows / rows.sum(axis=1, keepdims=True)
    return found


def _before(chances: Floats) -> Floats:
    """The products of all before each, along the second axis."""
    found = np.ones_like(chances)
    np.cumprod(chances[:, :-1], axis=1, out=found[:, 1:])
    return found


def _normal_upto(numbers: Integers, deviation: float) -> Floats:
    """The chances of rounded noise up to each number."""
    from scipy.special import ndtr

    found: Floats = ndtr((numbers + 0.5) / deviation)
    return found
