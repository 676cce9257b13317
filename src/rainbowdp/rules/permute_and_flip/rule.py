"""Permute-and-flip for a vote in integers: any number of answers, any ε, in closed form.

Every answer has a *coin* whose chance falls with its distance behind the leader; the leader's coin
always shows heads. The answers whose coins show heads are drawn among with equal chances. That is
permute-and-flip: the first heads in a random order. With the chances z_v,

    p_v = z_v · ∫₀¹ Π_{i≠v} (1 − t·z_i) dt.

Chances are integers of T = 2^127: with the distance d it is ⌊(T − C)·ratio^d⌋ + C, where C is at
least 1/(1 − ratio). So a distance that is longer by one costs at most the factor 1/ratio and never
gains, which is all that the proof needs (``docs/true-answer.md``). Where ties go to the first
listed, the distance is x_w − x_v for x_v = q·n_v − v, in q-th parts of a record: no two answers are
tied, and who is listed first has the advantage. Where any leader is right it is counted in records.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rainbowdp.aliases import Answer, Floats, Weights
from rainbowdp.errors import InvalidGuarantee, InvalidMechanism, NoPlace
from rainbowdp.guarantees.dp import DP, Guarantee
from rainbowdp.guarantees.polygons import ratio_below
from rainbowdp.numeric.quantity import ball, dyadic, precision
from rainbowdp.rules.margin_table.shape import TIES, Ties

Bounds: TypeAlias = tuple[int, int]

_BITS = 127
_TOTAL = 1 << _BITS
_GRID = 1 << 60  # ratios are multiples of 1/_GRID
_PLACES = 256  # binary places of powers, where these are enough


@dataclass(frozen=True)
class Flips:
    """Coins for a vote over ``answers`` answers where a person has up to ``rows`` records."""

    answers: int
    neighbors: str
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
        if self.neighbors not in ("substituted", "added or removed"):
            raise InvalidMechanism(f"neighbors must be stated, got {self.neighbors!r}")
        if not 0 < self.ratio < 1 or _GRID % self.ratio.denominator:
            raise InvalidMechanism(
                "a ratio of chances must be between 0 and 1 and a multiple of 2^-60, got another"
            )

    @property
    def parts(self) -> int:
        """In how many parts of a record distances are counted."""
        return self.answers if self.ties == "first listed" else 1

    @property
    def moves(self) -> int:
        """By how much one person can move all scores together."""
        return self.parts * self.rows * (2 if self.neighbors == "substituted" else 1)

    @cached_property
    def least(self) -> int:
        """The chance that every coin has at least: rounded up, 1/(1 − ratio)."""
        top, bottom = self.ratio.numerator, self.ratio.denominator
        return -(-bottom // (bottom - top))

    @cached_property
    def farthest(self) -> int:
        """A distance beyond which all coins have the least chance, as e^−89 < 2^−127."""
        return 89 * self.least

    def chance(self, distance: int) -> int:
        """The chance of heads at ``distance`` behind the leader, of 2^127."""
        if distance >= self.farthest:
            return self.least
        above, places, tables = _TOTAL - self.least, _PLACES, self._tables
        while (found := _floor(tables, distance, above, places)) is None:
            places *= 2
            tables = _tables(self.ratio, self.farthest, places)
        return found + self.least

    @cached_property
    def _tables(self) -> list[list[Bounds]]:
        return _tables(self.ratio, self.farthest, _PLACES)

    def weights(self, place: Any, answers: Sequence[Answer]) -> Weights:
        """The row where the answers have the counts ``place``."""
        return self._row([self.chance(distance) for distance in self._distances(place, answers)])

    def _row(self, chances: Sequence[int]) -> Weights:
        """The row of these chances: integers of the total lcm(1, …, q)·2^(127q).

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
        distances = np.array([[0.0, *map(float, behind)]])
        row = flipped(self._in_floats(distances))
        return float(row[distances == 0].sum())

    def rows_at(self, counts: NDArray[np.int64]) -> Floats:
        """The rows of many votes at once, in floats: to compare mechanisms, not to release."""
        delays = np.arange(self.answers) if self.ties == "first listed" else 0
        gaps = (counts.max(axis=1, keepdims=True) - counts).astype(np.float64)
        behind = self.parts * gaps + delays
        return flipped(self._in_floats(behind - behind.min(axis=1, keepdims=True)))

    def _in_floats(self, distances: Floats) -> Floats:
        rate = math.log1p(float(self.ratio - 1))
        floor = self.least / _TOTAL
        chances: Floats = (1 - floor) * np.exp(rate * distances) + floor
        return chances


def flips_for(
    answers: int, guarantee: Guarantee, neighbors: str, ties: Ties, rows: int = 1
) -> Flips:
    """The coins with the least chances that keep the guarantee."""
    if not isinstance(guarantee, DP):
        raise InvalidGuarantee(f"permute-and-flip needs an (ε,δ) guarantee, got {guarantee}")
    some = Flips(answers, neighbors, ties, rows, Fraction(1, 2))
    ratio = _root_above(1 / ratio_below(guarantee), some.moves)
    if ratio >= 1:
        raise InvalidGuarantee(
            f"permute-and-flip over {answers} answers needs a larger epsilon, got {guarantee}"
        )
    return Flips(answers, neighbors, ties, rows, ratio)


def flipped(chances: Floats) -> Floats:
    """The rows of permute-and-flip for rows of chances of which the largest are 1, in floats.

    The integrand is a polynomial of degree q − 1, so Gauss–Legendre with ⌈q/2⌉ nodes is exact,
    and as every term is positive, right to a few ulps for any number of answers.
    """
    size = chances.shape[1]
    nodes, shares = _nodes((size + 1) // 2)
    rows = np.zeros_like(chances)
    for node, share in zip((nodes + 1) / 2, shares / 2, strict=True):
        rows += share * _product_of_others(1 - node * chances)
    return chances * rows


@lru_cache(maxsize=16)
def _nodes(count: int) -> tuple[Floats, Floats]:
    nodes, shares = np.polynomial.legendre.leggauss(count)
    return nodes, shares


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


def _tables(ratio: Fraction, exponents: int, places: int) -> list[list[Bounds]]:
    """Bounds of ratio^(digit·256^position), times 2^places: for each position all 256 digits."""
    whole = ratio.numerator * (1 << places) // ratio.denominator  # no rest
    step, tables = (whole, whole), list[list[Bounds]]()
    while len(tables) * 8 < exponents.bit_length():
        powers = [(1 << places, 1 << places)]
        while len(powers) < 256:
            powers.append(_times(powers[-1], step, places))
        tables.append(powers)
        step = _times(powers[-1], step, places)
    return tables


def _floor(tables: list[list[Bounds]], exponent: int, times: int, places: int) -> int | None:
    """⌊times·ratio^exponent⌋, or none where the bounds leave it open."""
    found = times << places, times << places
    for powers in tables:
        if not exponent:
            break
        found = _times(found, powers[exponent & 255], places)
        exponent >>= 8
    low, high = found[0] >> places, found[1] >> places
    return low if low == high else None


def _times(one: Bounds, other: Bounds, places: int) -> Bounds:
    """The product of two bounded numbers with so many binary places, rounded outwards."""
    return one[0] * other[0] >> places, -(-one[1] * other[1] >> places)
