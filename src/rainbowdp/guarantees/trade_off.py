"""Guarantees given as polygons."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TypeAlias

from rainbowdp.errors import InvalidGuarantee, RainbowError
from rainbowdp.guarantees.growth import SATURATED, Coefficients, Line
from rainbowdp.guarantees.guarantee import checked_changes
from rainbowdp.guarantees.piecewise import PiecewiseLinear
from rainbowdp.numeric.quantity import Number, ball, exact, plain

Point: TypeAlias = tuple[Fraction, Fraction]


@dataclass(frozen=True, repr=False)
class TradeOff(PiecewiseLinear):
    """A guarantee given as a polygon: ``knots`` are the points (x, f(x)) of a trade-off curve.

    The curve runs from x = 0 to (1, 0), is convex, and is its own mirror image in the diagonal.
    That is checked exactly, so give fractions or strings where floats would miss:
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
        try:
            points = tuple(
                (exact(x, "a knot", InvalidGuarantee), exact(y, "a knot", InvalidGuarantee))
                for x, y in knots
            )
        except (TypeError, ValueError) as error:
            if isinstance(error, RainbowError):
                raise
            raise InvalidGuarantee(
                f"knots must be pairs (x, f(x)) of a trade-off curve, got {knots!r}"
            ) from None
        object.__setattr__(self, "knots", _checked_curve(points))

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
            What holds between datasets so many changes apart; its knots are up to k times as many.

        """
        steps = checked_changes(changes)
        points = [(x, 1 - y) for x, y in self.knots]  # of φ
        grown = points
        for _ in range(steps - 1):
            levels = {x for x, _ in grown}
            levels |= {x for y, _ in points for x in _levels_at(grown, y)}
            grown = [(x, _height(points, _height(grown, x))) for x in sorted(levels)]
        return TradeOff([(x, 1 - y) for x, y in grown])

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


def _height(points: Sequence[Point], x: Fraction) -> Fraction:
    """The polygon through ``points`` at x."""
    for (x0, y0), (x1, y1) in itertools.pairwise(points):
        if x <= x1:
            return y0 + (y1 - y0) * (x - x0) / (x1 - x0)
    return points[-1][1]


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


def _checked_curve(
    points: tuple[Point, ...],
) -> tuple[Point, ...]:
    """The vertices of a trade-off curve; raises with the one rule that ``points`` break."""

    def refuse(rule: str, got: str) -> InvalidGuarantee:
        return InvalidGuarantee(f"a trade-off curve must {rule}, got {got}")

    def show(point: Point) -> str:
        return plain(point)

    if len(points) < 2 or points[0][0] != 0 or points[-1] != (Fraction(1), Fraction(0)):
        ends = f"{show(points[0])} … {show(points[-1])}" if points else "no knots"
        raise refuse("run from x = 0 to the point (1, 0)", ends)
    if not 0 <= points[0][1] <= 1:
        raise refuse("start at a height in [0, 1]", show(points[0]))
    for before, after in itertools.pairwise(points):
        if after[0] <= before[0] or after[1] > before[1]:
            raise refuse("have rising x and falling f(x)", f"{show(before)} then {show(after)}")
    vertices = [points[0]]
    for index in range(1, len(points) - 1):
        (x0, y0), (x1, y1), (x2, y2) = vertices[-1], points[index], points[index + 1]
        bend = (y2 - y1) * (x1 - x0) - (y1 - y0) * (x2 - x1)
        if bend < 0:
            raise refuse(
                "be convex (exact fractions avoid rounding)",
                f"a bend inward at {show(points[index])}",
            )
        if bend > 0:
            vertices.append(points[index])
    vertices.append(points[-1])
    curve = vertices if vertices[0][1] == 1 else vertices[:-1]
    known = set(curve)
    for x, y in curve:
        if (y, x) not in known:
            raise refuse(
                "be its own mirror image in the diagonal",
                f"{show((x, y))} without its mirror image",
            )
    return tuple(vertices)
