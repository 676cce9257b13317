"""Guarantees given as polygons."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, reduce
from typing import Any

from rainbowdp.errors import InvalidGuarantee, RainbowError
from rainbowdp.expecting import brief
from rainbowdp.guarantees.experiments import (
    Point,
    atoms_of,
    curve_through,
    height,
    larger,
    mirrored,
    points_above,
    product,
    vertices_of,
    weighted,
)
from rainbowdp.guarantees.growth import SATURATED, Coefficients, Line
from rainbowdp.guarantees.guarantee import checked_changes
from rainbowdp.guarantees.piecewise import PiecewiseLinear
from rainbowdp.numeric.quantity import Number, ball, exact, plain


@dataclass(frozen=True, repr=False)
class TradeOff(PiecewiseLinear):
    """A guarantee given as a polygon: ``knots`` are the points (x, f(x)) of a trade-off curve.

    The curve runs from x = 0 to (1, 0), is convex, and is its own mirror image in the diagonal.
    That is checked exactly, so give fractions or strings where floats are not exact:
    ``("1/3", "1/3")``.

    Parameters
    ----------
    knots
        Pairs (x, f(x)) from left to right.

    Raises
    ------
    InvalidGuarantee
        If the knots are not those of a symmetric trade-off curve; the message says which rule
        they break.

    Examples
    --------
    >>> TradeOff([(0, 1), ("1/3", "1/3"), (1, 0)]).step(0.25)       # the curve of log(2)-DP
    0.5

    """

    knots: tuple[Point, ...]

    def __init__(self, knots: Iterable[tuple[Number, Number]]) -> None:
        object.__setattr__(self, "knots", _checked_curve(_read(knots)))

    def __repr__(self) -> str:
        inside = ", ".join(f"({x}, {y})" for x, y in self.knots)
        return f"TradeOff([{inside}])"

    def __str__(self) -> str:
        return f"trade-off curve with {len(self.knots)} knots"

    def group(self, changes: int) -> TradeOff:
        """φ applied k times: the polygon of 1 − φ(φ(…)), exactly.

        Parameters
        ----------
        changes
            k, a whole number from 1.

        Returns
        -------
        TradeOff
            What holds between datasets that many changes apart, with up to k times the knots.

        """
        steps = checked_changes(changes)
        points = [(x, 1 - y) for x, y in self.knots]  # of φ
        grown = points
        for _ in range(steps - 1):
            levels = {x for x, _ in grown}
            levels |= {x for y, _ in points for x in _levels_at(grown, y)}
            grown = [(x, height(points, height(grown, x))) for x in sorted(levels)]
        return TradeOff([(x, 1 - y) for x, y in grown])

    @classmethod
    def both_ways(cls, knots: Iterable[tuple[Number, Number]]) -> TradeOff:
        """The guarantee of a curve that need not be its own mirror image.

        Neighbors are neighbors in both directions, so a promise f for each ordered pair is the
        promise max(f, f⁻¹), neither more nor less. Where only one direction is meant, as when
        records may be added but never removed, nothing here applies: growth goes both ways.

        Parameters
        ----------
        knots
            Pairs (x, f(x)) of a convex curve from left to right, from x = 0 to (1, 0).

        Returns
        -------
        TradeOff
            The larger of the curve and its mirror image, exactly.

        Raises
        ------
        InvalidGuarantee
            If the knots are not those of a trade-off curve.

        Examples
        --------
        >>> TradeOff.both_ways([(0, 1), ("1/2", "1/4"), (1, 0)])
        TradeOff([(0, 1), (2/5, 2/5), (1, 0)])

        """
        points = vertices_of(_read(knots))
        return cls(larger(points, mirrored(points)))

    @classmethod
    def from_function(
        cls, curve: Callable[[Fraction], Any], *, knots: int = 256, error: Number = 0
    ) -> TradeOff:
        """A polygon that is nowhere below a convex trade-off curve given as a function.

        Whatever keeps the polygon keeps the curve. The function is asked at rational x and answers
        with exact numbers, with python-flint's balls (``arb``), whose upper ends are taken, or with
        floats, for which ``error`` must say how far they can be from the curve. A chord between
        points above a convex curve is above it, too. That the curve is convex is your claim; where
        the points refute it, it is refused. It need not be symmetric, as in ``both_ways``.

        Parameters
        ----------
        curve
            f: the least chance of a miss at a chance x of a false alarm, with f(1) = 0.
        knots
            At how many points it is asked: half of them evenly, half towards 0 and 1.
        error
            How far an answer can be from f(x).

        Returns
        -------
        TradeOff
            The polygon, which is a guarantee of its own.

        Raises
        ------
        InvalidGuarantee
            If an answer is no chance, floats come without an ``error``, or the points show that
            the curve is not convex or does not fall.

        Examples
        --------
        >>> curve = TradeOff.from_function(lambda x: (1 - x) ** 2)
        >>> f"{curve.step(0.5):.3f}"        # 1 − f⁻¹(0.5), the larger of the two, is √0.5
        '0.707'

        """
        return cls.both_ways(points_above(curve, knots, exact(error, "error", InvalidGuarantee)))

    @classmethod
    def composed(cls, curves: Iterable[TradeOff]) -> TradeOff:
        """What several answers keep together, each with a curve fixed beforehand: exactly.

        A polygon is the trade-off of two distributions over its edges, and the composition that of
        their products (Dong, Roth and Su 2022). For guarantees chosen after earlier answers use a
        ledger: adding up curves is not valid then.

        Parameters
        ----------
        curves
            The guarantees, each a ``TradeOff``.

        Returns
        -------
        TradeOff
            Their composition.

        Raises
        ------
        InvalidGuarantee
            If there is none, one is not a polygon, or the composition would have more than 20,000
            edges.

        Examples
        --------
        >>> one = TradeOff([(0, 1), ("1/3", "1/3"), (1, 0)])       # the curve of log(2)-DP
        >>> TradeOff.composed([one, one])
        TradeOff([(0, 1), (1/9, 5/9), (5/9, 1/9), (1, 0)])

        """
        parts = [_polygon(curve) for curve in curves]
        if not parts:
            raise InvalidGuarantee("a composition needs at least one curve, got none")
        return cls(curve_through(reduce(product, (atoms_of(part.knots) for part in parts))))

    @classmethod
    def mixed(cls, parts: Iterable[tuple[Number, TradeOff]]) -> TradeOff:
        """What is kept if chance decides which of several answers is given, whatever the data.

        It holds even where it is told which one it was.

        Parameters
        ----------
        parts
            Pairs of a weight and a guarantee; weights add up to 1.

        Returns
        -------
        TradeOff
            The mixture, exactly.

        Raises
        ------
        InvalidGuarantee
            If weights are negative or do not add up to 1, or a guarantee is not a polygon.

        Examples
        --------
        >>> none, all_ = TradeOff([(0, 1), (1, 0)]), TradeOff([(0, 0), (1, 0)])
        >>> TradeOff.mixed([("3/4", none), ("1/4", all_)]).knots[0]      # (0, 1/4)-DP
        (Fraction(0, 1), Fraction(3, 4))

        """
        given = [(exact(w, "a weight", InvalidGuarantee), _polygon(curve)) for w, curve in parts]
        if any(weight < 0 for weight, _ in given) or sum(weight for weight, _ in given) != 1:
            raise InvalidGuarantee(
                "the weights of a mixture must be numbers from 0 that add up to 1, exactly; write "
                "fractions as texts: '1/3'"
            )
        return cls(curve_through(weighted((w, atoms_of(curve.knots)) for w, curve in given)))

    @cached_property
    def lines(self) -> tuple[Line, ...]:
        """φ = 1 − f as lines, one for each edge of the polygon."""
        return tuple(_chord(*ends) for ends in itertools.pairwise(self.knots))

    @cached_property
    def chords(self) -> tuple[tuple[int, int, int, Fraction], ...]:
        """φ = 1 − f on each edge in integers (slope, rise, unit), and where the edge ends.

        φ(w/t)·t = (slope·w + rise·t)/unit for whole w and t.
        """
        found = []
        for (x0, y0), (x1, y1) in itertools.pairwise(self.knots):
            slope = (y0 - y1) / (x1 - x0)
            rise = 1 - y0 - slope * x0
            unit = math.lcm(slope.denominator, rise.denominator)
            found.append((int(slope * unit), int(rise * unit), unit, x1))
        return tuple(found)


def _levels_at(points: Sequence[Point], y: Fraction) -> Iterator[Fraction]:
    """Where the polygon through ``points`` crosses the height y."""
    for (x0, y0), (x1, y1) in itertools.pairwise(points):
        if y0 < y < y1:
            yield x0 + (x1 - x0) * (y - y0) / (y1 - y0)


def _chord(start: Point, end: Point) -> Line:
    """The line of φ = 1 − f through two knots of f."""
    (x0, y0), (x1, y1) = start, end
    slope = (y0 - y1) / (x1 - x0)
    if slope == 0:
        return SATURATED
    rise = 1 - y0 - slope * x0
    return Line(lambda: Coefficients(*map(ball, (slope, rise, slope + rise - 1, x1, 1 - x1))))


def _read(knots: Iterable[tuple[Number, Number]]) -> tuple[Point, ...]:
    try:
        return tuple(
            (exact(x, "a knot", InvalidGuarantee), exact(y, "a knot", InvalidGuarantee))
            for x, y in knots
        )
    except (TypeError, ValueError) as error:
        if isinstance(error, RainbowError):
            raise
        raise InvalidGuarantee(
            f"knots must be pairs (x, f(x)) of a trade-off curve, got {brief(knots)}"
        ) from None


def _polygon(curve: object) -> TradeOff:
    if not isinstance(curve, TradeOff):
        raise InvalidGuarantee(
            f"only polygons can be combined, got {brief(curve)}; put it as a rb.TradeOff"
        )
    return curve


def _checked_curve(points: tuple[Point, ...]) -> tuple[Point, ...]:
    """The vertices of a trade-off curve; raises with the one rule that ``points`` break."""
    vertices = vertices_of(points)
    curve = vertices if vertices[0][1] == 1 else vertices[:-1]
    known = set(curve)
    for x, y in curve:
        if (y, x) not in known:
            raise InvalidGuarantee(
                "a trade-off curve must be its own mirror image in the diagonal, got "
                f"{plain((x, y))} without its mirror image; TradeOff.both_ways makes one of any "
                "curve"
            )
    return tuple(vertices)
