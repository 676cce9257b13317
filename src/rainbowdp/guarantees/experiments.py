"""Polygons as what they are about: two distributions that a test has to tell apart.

A trade-off curve with rational knots is that of two distributions over finitely many outcomes, one
for each edge: an edge from (x, y) to (x', y') has the chances x' − x and y − y', and a start below
1 is an outcome that only the second has. A best test rejects at the largest ratios first, so the
curve of any such pair is found by sorting. All of it is exact.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

from flint import arb

from rainbowdp.errors import InvalidGuarantee
from rainbowdp.numeric.quantity import dyadic, exact, plain

Point: TypeAlias = tuple[Fraction, Fraction]
Atoms: TypeAlias = Mapping[Fraction | None, Point]  # by ratio, None if only the second has it

MOST_EDGES = 20_000
_BEYOND = 40  # halvings of 1 towards either end
_NOUGHT, _ONE = Fraction(0), Fraction(1)


def height(points: Sequence[Point], x: Fraction) -> Fraction:
    """The polygon through ``points`` at x."""
    for (x0, y0), (x1, y1) in itertools.pairwise(points):
        if x <= x1:
            return y0 + (y1 - y0) * (x - x0) / (x1 - x0)
    return points[-1][1]


def _heights(points: Sequence[Point], places: Iterable[Fraction]) -> Iterator[Fraction]:
    """``height`` at places from left to right, in one pass."""
    edges = itertools.pairwise(points)
    (x0, y0), (x1, y1) = next(edges)
    for x in places:
        while x > x1:
            (x0, y0), (x1, y1) = next(edges)
        yield y0 + (y1 - y0) * (x - x0) / (x1 - x0)


def lower_hull(points: Sequence[Point]) -> list[Point]:
    """The largest convex polygon below points that are given from left to right."""
    hull: list[Point] = []
    for x, y in points:
        while len(hull) >= 2:
            (x0, y0), (x1, y1) = hull[-2:]
            if (x1 - x0) * (y - y0) > (y1 - y0) * (x - x0):
                break
            hull.pop()
        hull.append((x, y))
    return hull


def vertices_of(points: Sequence[Point]) -> list[Point]:
    """The vertices of a convex curve; raises with the one rule that ``points`` break."""

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
    return vertices


def mirrored(points: Sequence[Point]) -> list[Point]:
    """The inverse of a falling curve: its mirror image in the diagonal, on all of [0, 1]."""
    start = points[0][1]
    zero = next(x for x, y in points if y == 0)
    falling = [(x, y) for x, y in points if y > 0] + [(zero, _NOUGHT)]
    found = [(y, x) for x, y in reversed(falling)]
    return found if start == 1 else [*found, (_ONE, _NOUGHT)]


def larger(first: Sequence[Point], second: Sequence[Point]) -> list[Point]:
    """The larger of two polygons on [0, 1]."""
    places = sorted({x for x, _ in first} | {x for x, _ in second})
    heights = list(zip(_heights(first, places), _heights(second, places), strict=True))
    found: list[Point] = []
    for number, (x, (a, b)) in enumerate(zip(places, heights, strict=True)):
        if number:
            before, (c, d) = places[number - 1], heights[number - 1]
            if (a - b) * (c - d) < 0:
                share = (c - d) / ((c - d) - (a - b))
                found.append((before + share * (x - before), c + share * (a - c)))
        found.append((x, max(a, b)))
    return found


def points_above(curve: Callable[[Fraction], Any], knots: int, error: Fraction) -> list[Point]:
    """Points of a convex polygon that is nowhere below a convex curve."""
    if type(knots) is not int or knots < 4 or error < 0:
        raise InvalidGuarantee(
            f"from_function needs at least 4 knots and an error from 0, got {knots} and {error}"
        )
    even = [Fraction(number, knots // 2) for number in range(knots // 2)]
    ends = [Fraction(1, 2 ** (1 + _BEYOND * n // max(1, knots // 4))) for n in range(knots // 4)]
    places = sorted({*even, *ends, *(1 - x for x in ends)} - {_ONE})
    asked = [(x, *_asked(curve, x, error)) for x in places]
    hull = lower_hull([*((x, high) for x, _, high in asked), (_ONE, _NOUGHT)])
    for (x, low, _), above in zip(asked, _heights(hull, places), strict=True):
        if low > above:
            raise InvalidGuarantee(
                f"the function must be convex with f(1) = 0, but is not near x = {float(x):.6g}: a "
                "chord there lies below it; if it is only rounding, give its error"
            )
    return hull


def _asked(curve: Callable[[Fraction], Any], x: Fraction, error: Fraction) -> Point:
    """Bounds of f(x) from below and from above."""
    said = curve(x)
    if isinstance(said, float) and error == 0:
        raise InvalidGuarantee(
            "the function answers with floats; say by error= how far they can be from the curve"
        )
    if isinstance(said, arb) and said.is_finite():
        low, high = dyadic(said.lower()), dyadic(said.upper())
    else:
        low = high = exact(said, "f(x)", InvalidGuarantee)
    low, high = low - error, high + error
    if low > 1 or high < 0:
        raise InvalidGuarantee(
            f"f(x) must be a chance, from 0 to 1, got {float(high):.6g} at x = {float(x):.6g}"
        )
    return low, min(_ONE, high)


def atoms_of(knots: Sequence[Point]) -> Atoms:
    """The two chances of each outcome, by their ratio."""
    found: dict[Fraction | None, Point] = {}
    if knots[0][1] < 1:
        found[None] = _NOUGHT, 1 - knots[0][1]
    for (x0, y0), (x1, y1) in itertools.pairwise(knots):
        found[(y0 - y1) / (x1 - x0)] = x1 - x0, y0 - y1
    return found


def product(first: Atoms, second: Atoms) -> Atoms:
    """Both outcomes at once, independently."""
    if len(first) * len(second) > MOST_EDGES:
        raise InvalidGuarantee(
            f"this composition would have up to {len(first) * len(second):,} edges, more than the "
            f"limit of {MOST_EDGES:,}; use curves with fewer knots, or fewer of them"
        )
    pairs = (
        (None if a is None or b is None else a * b, p * r, q * s)
        for (a, (p, q)), (b, (r, s)) in itertools.product(first.items(), second.items())
    )
    return _gathered(pairs)


def weighted(parts: Iterable[tuple[Fraction, Atoms]]) -> Atoms:
    """One of several outcomes by chance."""
    return _gathered(
        (ratio, weight * p, weight * q)
        for weight, atoms in parts
        for ratio, (p, q) in atoms.items()
    )


def _gathered(outcomes: Iterable[tuple[Fraction | None, Fraction, Fraction]]) -> Atoms:
    found: dict[Fraction | None, Point] = {}
    for ratio, p, q in outcomes:
        if p or q:
            before = found.get(ratio, (_NOUGHT, _NOUGHT))
            found[ratio] = before[0] + p, before[1] + q
    return found


def curve_through(atoms: Atoms) -> list[Point]:
    """The trade-off curve of a pair: reject at the largest ratios first."""
    x, y = _NOUGHT, 1 - atoms.get(None, (_NOUGHT, _NOUGHT))[1]
    found = [(x, y)]
    for ratio in sorted((each for each in atoms if each is not None), reverse=True):
        p, q = atoms[ratio]
        x, y = x + p, y - q
        found.append((x, y))
    return found
