"""The curve of a mechanism, exactly: the largest P(S) for each Q(S), over all neighbors P and Q.

For one pair of rows the sets that matter are the answers with the largest P_v/Q_v, as many as there
are (Neyman and Pearson). The points (Q(S), P(S)) of these sets, over all pairs and both directions,
have an upper hull: a polygon of fractions, φ. It is all that tests can tell:

* δ at e^ε = E is the largest y − E·x over its corners (x, y), because that is linear in (x, y);
* the least E at δ is the largest (y − δ)/x, and without δ the first slope;
* μ is the largest Φ⁻¹(y) − Φ⁻¹(x), because the curve of μ is concave, so that it lies above the
  hull exactly if it lies above its corners.

Rényi divergences are no matter of tests; ``renyi.py`` has them.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from rainbowdp.auditing.bounds import (
    BITS,
    INFINITE,
    ZERO,
    Bounds,
    enclosed,
    greatest,
    is_positive,
    logarithm,
)
from rainbowdp.guarantees.dp import DP
from rainbowdp.guarantees.gaussian import GaussianDP
from rainbowdp.guarantees.trade_off import TradeOff
from rainbowdp.numeric.quantity import ball, precision

if TYPE_CHECKING:
    from flint import arb

Row: TypeAlias = tuple[Fraction, ...]
_ONE = Fraction(1)


@dataclass(frozen=True)
class Corner:
    """A set of answers, its chance at one dataset (power) and at a neighbor (level)."""

    level: Fraction
    power: Fraction
    rows: tuple[int, int] = (0, 0)  # the one with more, the one with less
    answers: tuple[int, ...] = ()


@dataclass(frozen=True)
class Curve:
    """The upper hull from level 0 to (1, 1), the corners from left to right."""

    corners: tuple[Corner, ...]

    @classmethod
    def over(cls, rows: Sequence[Row], pairs: Iterable[tuple[int, int]]) -> Curve:
        """The curve of all pairs of rows, in both directions."""
        weights = [_weights(row) for row in rows]
        best: dict[Fraction, _Point] = {}
        for pair in pairs:
            for point in _points(weights, pair):
                found = best.get(point.level)
                if found is None or point.power > found.power:
                    best[point.level] = point
        best.setdefault(Fraction(0), _Point(Fraction(0), Fraction(0)))
        if all(point.power < 1 for point in best.values()):
            best[_ONE] = _Point(_ONE, _ONE)
        hull = _hull([best[level] for level in sorted(best)])
        return cls(tuple(point.as_corner(weights) for point in hull))

    @cached_property
    def ratio(self) -> Fraction | None:
        """The largest P(S)/Q(S), e^ε without a δ; none where it has no bound."""
        return self.least_ratio(Fraction(0))

    def least_ratio(self, delta: Fraction) -> Fraction | None:
        """The least E ≥ 1 with P(S) ≤ E·Q(S) + δ for all sets; none where there is none."""
        found = _ONE
        for corner in self.corners:
            if corner.power > delta:
                if corner.level == 0:
                    return None
                found = max(found, (corner.power - delta) / corner.level)
        return found

    def epsilon(self, delta: Fraction = Fraction(0)) -> Bounds:
        """The least ε at this δ."""
        ratio = self.least_ratio(delta)
        return INFINITE if ratio is None else logarithm(ratio)

    def delta(self, ratio: Fraction) -> Fraction:
        """The least δ at e^ε = ratio."""
        return max(Fraction(0), *(c.power - ratio * c.level for c in self.corners))

    @cached_property
    def mu(self) -> Bounds:
        """The least μ."""
        if any(self._is_certain(corner) for corner in self.corners):
            return INFINITE
        found = [ZERO]
        for corner in self._inner:
            bits = BITS + 2 * _size(corner)
            with precision(bits):
                found.append(enclosed(_shift(corner)))
        return greatest(found)

    @staticmethod
    def _is_certain(corner: Corner) -> bool:
        """Whether a set can happen at one dataset and not at its neighbor."""
        return (corner.level == 0) != (corner.power == 0) or (corner.level < corner.power == 1)

    @property
    def _inner(self) -> list[Corner]:
        return [c for c in self.corners if 0 < c.level < c.power < 1]

    def worst(self, claim: DP | GaussianDP | TradeOff | None = None) -> Corner:
        """The corner that tells most: against a claim, or else of ε."""
        if isinstance(claim, DP):
            ratio = Fraction(claim.ratio)
            return max(self.corners, key=lambda c: c.power - ratio * c.level)
        if isinstance(claim, GaussianDP):
            certain = [c for c in self.corners if self._is_certain(c)]
            return max(certain or self._inner or self.corners, key=_size_of_shift)
        if isinstance(claim, TradeOff):
            return max(self.corners, key=lambda c: c.power - allowed(claim, c.level))
        moved = [c for c in self.corners if c.power > c.level]
        return max(moved or self.corners, key=_ratio_of)

    def keeps(self, claim: DP | GaussianDP | TradeOff, spare: Fraction) -> bool | None:
        """Whether every set keeps the claim; ``spare`` is what rounding may add to it.

        None where no precision decides it, which only a tie of transcendental numbers can do.
        """
        verdicts = [self._kept(claim, corner, spare) for corner in self.corners]
        if all(verdicts):
            return True
        return False if any(verdict is False for verdict in verdicts) else None

    @staticmethod
    def _kept(claim: DP | GaussianDP | TradeOff, corner: Corner, spare: Fraction) -> bool | None:
        broken: Callable[[], arb]
        level, power = corner.level, corner.power
        if power <= level:
            return True
        if isinstance(claim, TradeOff):
            return power <= allowed(claim, level) * (1 + spare)
        if isinstance(claim, GaussianDP):
            if Curve._is_certain(corner):
                return False
            mu = claim.exact_mu * (1 + spare)

            def broken() -> arb:
                return _shift(corner) - ball(mu)

        else:
            slack = claim.exact_delta * (1 + spare)
            if claim.exact_ratio is not None:
                return power <= claim.exact_ratio * (1 + spare) * level + slack
            if level == 0:
                return power <= slack

            def broken() -> arb:
                return ball(power - slack) - claim.ratio_ball() * ball(level * (1 + spare))

        more = is_positive(broken, BITS + 2 * _size(corner))
        return None if more is None else not more

    def as_guarantee(self) -> TradeOff:
        """The curve as a guarantee: the least that these rows keep."""
        return TradeOff([(c.level, 1 - c.power) for c in self.corners] + self._end())

    def _end(self) -> list[tuple[Fraction, Fraction]]:
        return [] if self.corners[-1].level == 1 else [(_ONE, Fraction(0))]


def allowed(curve: TradeOff, level: Fraction) -> Fraction:
    """φ(level) of a polygon."""
    for slope, rise, unit, until in curve.chords:
        if level <= until:
            return (slope * level + rise) / unit
    return _ONE


class _Weights(NamedTuple):
    """A row in integers and their sum."""

    each: tuple[int, ...]
    total: int


def _weights(row: Row) -> _Weights:
    unit = math.lcm(*(p.denominator for p in row))
    return _Weights(tuple(p.numerator * (unit // p.denominator) for p in row), unit)


class _Point(NamedTuple):
    """A corner by how many answers of a pair's order it has, or, mirrored, has not."""

    level: Fraction
    power: Fraction
    pair: tuple[int, int] | None = None
    number: int = 0
    mirrored: bool = False

    def as_corner(self, rows: Sequence[_Weights]) -> Corner:
        if self.pair is None:
            return Corner(self.level, self.power)
        one, other = self.pair
        order = _order(rows[one].each, rows[other].each)
        if self.mirrored:
            answers = tuple(sorted(order[self.number :]))
            return Corner(self.level, self.power, (other, one), answers)
        return Corner(self.level, self.power, (one, other), tuple(sorted(order[: self.number])))


def _order(p: Sequence[int], q: Sequence[int]) -> list[int]:
    """The answers that can happen, those with the largest P_v/Q_v first, exactly."""
    places = [v for v in range(len(p)) if p[v] or q[v]]
    places.sort(key=lambda v: -(p[v] / (p[v] + q[v])))  # floats, mostly right
    if all(p[a] * q[b] >= p[b] * q[a] for a, b in itertools.pairwise(places)):
        return places
    return sorted(places, key=lambda v: -Fraction(p[v], p[v] + q[v]))


def _points(rows: Sequence[_Weights], pair: tuple[int, int]) -> Iterator[_Point]:
    """The points of a pair of rows in both directions, which are mirror images."""
    (p, here), (q, there) = rows[pair[0]], rows[pair[1]]
    level = power = 0
    for number, place in enumerate(_order(p, q), 1):
        level, power = level + q[place], power + p[place]
        if power * there > level * here:
            x, y = Fraction(level, there), Fraction(power, here)
            yield _Point(x, y, pair, number)
            yield _Point(1 - y, 1 - x, pair, number, True)


def _hull(points: Sequence[_Point]) -> list[_Point]:
    """The upper hull of points with rising levels, up to the first with the largest power."""
    top = max(point.power for point in points)
    first = next(place for place, point in enumerate(points) if point.power == top)
    kept: list[_Point] = []
    for point in points[: first + 1]:
        while len(kept) > 1 and not _bends_down(kept[-2], kept[-1], point):
            kept.pop()
        kept.append(point)
    return kept


def _bends_down(a: _Point, b: _Point, c: _Point) -> bool:
    before = (b.power - a.power) * (c.level - b.level)
    after = (c.power - b.power) * (b.level - a.level)
    return before > after


def _shift(corner: Corner) -> arb:
    """Φ⁻¹(power) − Φ⁻¹(level) = √2·(erfc⁻¹(2·level) − erfc⁻¹(2·power))."""
    apart = ball(2 * corner.level).erfcinv() - ball(2 * corner.power).erfcinv()
    return apart * ball(Fraction(2)).sqrt()


def _size(corner: Corner) -> int:
    return max(corner.level.denominator, corner.power.denominator).bit_length()


def _size_of_shift(corner: Corner) -> float:
    if not 0 < corner.level < 1 or not 0 < corner.power < 1:
        return float(corner.power - corner.level)
    with precision(BITS + 2 * _size(corner)):
        return float(_shift(corner))


def _ratio_of(corner: Corner) -> Fraction:
    """P(S)/Q(S) as P(S)/(P(S) + Q(S)), which is 1 where Q(S) is 0."""
    total = corner.power + corner.level
    return corner.power / total if total else Fraction(0)
