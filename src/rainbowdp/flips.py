"""Permute-and-flip for a vote in integers: any number of answers, any ε, in closed form.

Every answer has a *coin* whose chance falls with its distance behind the leader; the leader's coin
always shows heads. The answers whose coins show heads are drawn among with equal chances. That is
permute-and-flip: the first heads in a random order. With the chances z_v,

    p_v = z_v · ∫₀¹ Π_{i≠v} (1 − t·z_i) dt.

Chances are integers of a total: from the total down, each is the one before times ``ratio``,
rounded up. So a distance that is longer by one costs at most the factor 1/ratio and never gains,
which is all that the proof needs (``docs/true-answer.md``). Where ties go to the first listed, the
distance is x_w − x_v for x_v = q·n_v − v, in q-th parts of a record: no two answers are tied, and
who is listed first has the advantage. Where any leader is right it is counted in records.
"""

from __future__ import annotations

import math
import secrets
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rainbowdp.curve import ratio_below
from rainbowdp.errors import InvalidGuarantee, InvalidMechanism, NoPlace
from rainbowdp.growth import Floats
from rainbowdp.guarantee import DP, Guarantee
from rainbowdp.quantity import ball, dyadic, precision
from rainbowdp.rainbow import Answer
from rainbowdp.standing import TIES, Ties

Weights: TypeAlias = tuple[int, ...]

_BITS = 63
_TOTAL = 1 << _BITS  # the first chance; all of them fit into 64 bits
_LONGEST = 1 << 20  # chances kept; a longer distance has the last one, which stays private
_GRID = 1 << 60  # ratios are multiples of 1/_GRID


@dataclass(frozen=True)
class Flips:
    """Coins for a vote over ``answers`` answers where a person has up to ``rows`` records."""

    answers: int
    neighbours: str
    ties: Ties
    rows: int
    ratio: Fraction

    def __post_init__(self) -> None:
        if any(type(number) is not int or number < 1 for number in (self.answers, self.rows)):
            raise InvalidMechanism(
                f"coins need answers and rows from 1, got {self.answers!r} and {self.rows!r}"
            )
        if self.ties not in TIES:
            raise InvalidMechanism(f"ties must be one of {TIES}, got {self.ties!r}")
        if self.neighbours not in ("substituted", "added or removed"):
            raise InvalidMechanism(f"neighbours must be stated, got {self.neighbours!r}")
        if not 0 < self.ratio < 1 or _GRID % self.ratio.denominator:
            raise InvalidMechanism(
                f"a ratio of chances must be between 0 and 1 and a multiple of 2^-60, "
                f"got {self.ratio}"
            )

    @property
    def parts(self) -> int:
        """In how many parts of a record distances are counted."""
        return self.answers if self.ties == "first listed" else 1

    @property
    def moves(self) -> int:
        """By how much one person can move the distance between two answers."""
        return self.parts * self.rows * (2 if self.neighbours == "substituted" else 1)

    @property
    def farthest(self) -> int:
        """A gap beyond which all are alike."""
        return len(self.chances)

    @cached_property
    def chances(self) -> array[int]:
        """The chance of heads by distance, of 2^63."""
        return _chances(self.ratio)

    def chance(self, distance: int) -> int:
        """The chance of heads at ``distance`` behind the leader, of 2^63."""
        return self.chances[min(distance, len(self.chances) - 1)]

    def weights(self, place: Any, answers: Sequence[Answer]) -> Weights:
        """The row where the answers have the counts ``place``."""
        return self._row([self.chance(distance) for distance in self._distances(place, answers)])

    def _row(self, chances: Sequence[int]) -> Weights:
        """The row of these chances: integers of the total lcm(1, …, q)·2^(63q).

        Π (T − t·c_i) over all answers is divided by each factor T − t·c_v in turn and integrated.
        """
        product = [1]
        for chance in chances:
            longer = [*(coefficient << _BITS for coefficient in product), 0]
            for power, coefficient in enumerate(product, 1):
                longer[power] -= chance * coefficient
            product = longer
        whole = math.lcm(*range(1, len(chances) + 1))
        row = []
        for chance in chances:
            integral = coefficient = 0
            for power in range(len(chances)):
                coefficient = (product[power] + chance * coefficient) >> _BITS  # no rest
                integral += whole // (power + 1) * coefficient
            row.append(chance * integral)
        return tuple(row)

    def draw(self, place: Any, answers: Sequence[Answer]) -> Answer:
        """One answer where they have the counts ``place``, from the system's randomness."""
        distances = self._distances(place, answers)
        heads = [
            answer
            for answer, distance in zip(answers, distances, strict=True)
            if secrets.randbits(_BITS) < self.chance(distance)
        ]
        return secrets.choice(heads)

    def _distances(self, place: Any, answers: Sequence[Answer]) -> list[int]:
        if not isinstance(place, Mapping) or set(place) != set(answers):
            raise NoPlace("counts of all answers", place)
        counts = [place[answer] for answer in answers]
        if any(type(count) is not int or count < 0 for count in counts):
            raise NoPlace("counts that are whole numbers from 0", place)
        delay = int(self.ties == "first listed")
        scores = [self.parts * count - delay * number for number, count in enumerate(counts)]
        most = max(scores)
        return [most - score for score in scores]

    def right_at(self, gaps: Sequence[int]) -> float:
        """How likely a right answer is at these gaps (see ``standing``)."""
        delays = range(1, self.answers) if self.ties == "first listed" else [0] * len(gaps)
        behind = [self.parts * gap + delay for gap, delay in zip(gaps, delays, strict=True)]
        distances = np.array([[0, *behind]])
        row = flipped(self._in_floats(distances))
        leads = distances == 0
        return float(row[leads].sum())

    def rows_at(self, counts: NDArray[np.int64]) -> Floats:
        """The rows of many votes at once, in floats: to compare mechanisms, not to release."""
        delays = np.arange(self.answers) if self.ties == "first listed" else 0
        scores = self.parts * counts - delays
        return flipped(self._in_floats(scores.max(axis=1, keepdims=True) - scores))

    def _in_floats(self, distances: NDArray[np.int64]) -> Floats:
        chances = np.frombuffer(self.chances, dtype=np.uint64)
        near = np.minimum(distances, len(chances) - 1)
        found: Floats = chances[near].astype(np.float64) / _TOTAL
        return found


def flips_for(
    answers: int, guarantee: Guarantee, neighbours: str, ties: Ties, rows: int = 1
) -> Flips:
    """The coins with the least chances that keep the guarantee."""
    if not isinstance(guarantee, DP):
        raise InvalidGuarantee(f"permute-and-flip needs an (ε,δ) guarantee, got {guarantee}")
    some = Flips(answers, neighbours, ties, rows, Fraction(1, 2))
    ratio = _root_above(1 / ratio_below(guarantee), some.moves)
    if ratio >= 1:
        raise InvalidGuarantee(
            f"permute-and-flip over {answers} answers needs a larger epsilon, got {guarantee}"
        )
    return Flips(answers, neighbours, ties, rows, ratio)


def flipped(chances: Floats) -> Floats:
    """The rows of permute-and-flip for rows of chances of which the largest are 1, in floats.

    The integrand is a polynomial of degree q − 1, so Gauss–Legendre with ⌈q/2⌉ nodes is exact,
    and as every term is positive, right to a few ulps for any number of answers.
    """
    size = chances.shape[1]
    nodes, shares = np.polynomial.legendre.leggauss((size + 1) // 2)
    rows = np.zeros_like(chances)
    for node, share in zip((nodes + 1) / 2, shares / 2, strict=True):
        rows += share * _product_of_others(1 - node * chances)
    return chances * rows


def _product_of_others(factors: Floats) -> Floats:
    """Π_{i≠v} of each row, by products from both sides: no division by what may be tiny."""
    ones = np.ones((len(factors), 1))
    before = np.cumprod(np.concatenate([ones, factors[:, :-1]], axis=1), axis=1)
    after = np.cumprod(np.concatenate([ones, factors[:, :0:-1]], axis=1), axis=1)[:, ::-1]
    return before * after


def _root_above(value: Fraction, degree: int) -> Fraction:
    """A multiple of 1/_GRID just above value^(1/degree)."""
    with precision(256):
        root = dyadic((ball(value) ** ball(Fraction(1, degree))).upper())
    return Fraction(math.ceil(root * _GRID), _GRID)


@lru_cache(maxsize=16)
def _chances(ratio: Fraction) -> array[int]:
    chances = array("Q", [_TOTAL])
    top, bottom = ratio.numerator, ratio.denominator
    while len(chances) < _LONGEST:
        following = -(-chances[-1] * top // bottom)
        if following == chances[-1]:
            break
        chances.append(following)
    return chances
