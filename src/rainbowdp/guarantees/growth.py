"""How probabilities grow with depth under a piecewise-linear guarantee.

A guarantee is a concave map φ of prefix sums (see ``docs/theory.md``); here φ is the minimum of
finitely many lines. A point s climbs one line after another, and t steps along one line have a
closed form, so an *orbit* is a handful of *legs* however deep it goes.

There are two ways to walk it:

* ``advance`` moves whole arrays of prefix sums in floating point; right to a few ulps of s.
* ``rows`` gives probabilities p_k = s_k − s_{k−1} that are right *relatively*, however small.
  Where legs begin is decided in balls, once; along a leg floats suffice, with an error bound
  beside each value, and the few values whose bound is too wide are computed again in balls.

Along a line φ(s) = slope·s + rise the tail r = 1 − s obeys r ↦ slope·r − drop with
drop = slope + rise − 1, and after n steps

    s_n = slopeⁿ·s + rise·G,   r_n = slopeⁿ·r − drop·G,   G = (slopeⁿ − 1)/(slope − 1).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rainbowdp.aliases import Floats
from rainbowdp.numeric.quantity import ball, first_integer_above, precision, refine

if TYPE_CHECKING:
    from flint import arb


ACCURACY = 8e-13  # relative; a float value whose error bound is wider is computed again in balls
FAINT = 1e-300  # below it floats lose digits, so growth from there is computed in balls
_UNIT = 2.0**-53
_BLOCK = 1 << 15  # entries walked at once, so that the temporaries stay in the cache


class Coefficients(NamedTuple):
    """A line as balls of the current precision; it is the active one for s ≤ until."""

    slope: arb
    rise: arb
    drop: arb
    until: arb
    left: arb  # 1 − until, given apart so that it keeps its relative precision


@dataclass(frozen=True)
class Line:
    """One linear piece of φ, as balls of any precision and as the nearest floats."""

    enclose: Callable[[], Coefficients]

    @cached_property
    def slope(self) -> float:
        """The factor of s."""
        return refine(lambda: self.enclose().slope)

    @cached_property
    def log_slope(self) -> float:
        """The logarithm of the slope, −∞ for a level line."""
        return refine(lambda: self.enclose().slope.log()) if self.slope else -math.inf

    @cached_property
    def slope_less_one(self) -> float:
        """The slope minus one, right to the last digit even if the slope is almost one."""
        return refine(lambda: self.enclose().slope - 1)

    @cached_property
    def rise(self) -> float:
        """What the line adds to slope·s."""
        return refine(lambda: self.enclose().rise)

    @cached_property
    def drop(self) -> float:
        """What the line subtracts from slope·(1 − s)."""
        return refine(lambda: self.enclose().drop)

    @cached_property
    def until(self) -> float:
        """The last s at which this line is the active one."""
        return refine(lambda: self.enclose().until)

    @cached_property
    def left(self) -> float:
        """1 − until."""
        return refine(lambda: self.enclose().left)

    @cached_property
    def rises(self) -> bool:
        """Whether the line lifts 0, even by less than a float can express."""
        with precision(64):
            return not self.enclose().rise.is_zero()

    def exponent(self, steps: Floats) -> Floats:
        """steps·log slope, kept in a range where half of it has a finite exponential."""
        if self.slope == 0 or self.slope_less_one == 0:
            return np.zeros_like(steps)
        return np.clip(steps * self.log_slope, -1500.0, 1400.0)

    def scale(self, values: Floats | float, steps: Floats) -> Floats:
        """slope^steps·values, in two factors where slope^steps alone would overflow."""
        if self.slope == 0:
            return np.where(steps > 0, 0.0, values)
        exponent = self.exponent(steps)
        if exponent.size and exponent.max() > 700.0:
            first = np.minimum(exponent, 700.0)
            return np.exp(first) * values * np.exp(exponent - first)
        return np.exp(exponent) * values

    def climb(self, s: Floats | float, steps: Floats) -> Floats:
        """The point s after ``steps``: slope^steps·s + rise·G, where every term is positive."""
        if self.slope == 0:
            return np.where(steps > 0, 1.0, s)
        if self.slope_less_one == 0:
            return s + self.rise * steps
        exponent = self.exponent(steps)
        if self.slope_less_one > 0:  # rise·G as a growing factor and one in [0, 1]: no overflow
            gained = self.scale(-np.expm1(-exponent) * self.rise, steps) / self.slope_less_one
        else:
            gained = self.rise * (np.expm1(exponent) / self.slope_less_one)
        return self.scale(s, steps) + gained

    def sink(self, r: Floats | float, steps: Floats) -> tuple[Floats, Floats]:
        """The tail after ``steps`` along a line of slope at most one: the parts kept and lost."""
        if self.slope_less_one == 0:
            return r + 0 * steps, self.drop * steps
        lost = self.drop * (np.expm1(self.exponent(steps)) / self.slope_less_one)
        return self.scale(r, steps), lost


def _saturated() -> Coefficients:
    one, nothing = ball(Fraction(1)), ball(Fraction(0))
    return Coefficients(nothing, one, nothing, one, nothing)


SATURATED = Line(_saturated)  # φ = 1


def advance(lines: Sequence[Line], s: Floats, r: Floats, depth: Floats) -> tuple[Floats, Floats]:
    """Prefix sums and their tails ``depth`` steps deeper; the three arrays have the same shape."""
    grown, tails = np.empty_like(s), np.empty_like(r)
    flat = [array.reshape(-1) for array in (s, r, depth, grown, tails)]
    for start in range(0, s.size, _BLOCK):
        block = slice(start, start + _BLOCK)
        part_s, part_r, part_depth = (array[block] for array in flat[:3])
        flat[3][block], flat[4][block] = _advance_block(lines, part_s, part_r, part_depth.copy())
    return grown, tails


def _advance_block(
    lines: Sequence[Line], s: Floats, r: Floats, left: Floats
) -> tuple[Floats, Floats]:
    for line in lines:
        if line.slope == 0:  # φ = 1 from here on
            return np.where(left > 0, 1.0, s), np.where(left > 0, 0.0, r)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            if line.slope_less_one == 0:
                if line.rise == 0:  # nothing may ever change
                    return s, r
                crossing = (line.until - s) / line.rise
            elif line.slope_less_one > 0:
                crossing = _log_ratio(line.until - s, s + line.rise / line.slope_less_one)
                crossing /= line.log_slope
            else:
                crossing = _log_ratio(line.left - r, r - line.drop / line.slope_less_one)
                crossing /= line.log_slope
            # fmax and fmin pass over the NaN of 0/0, a point that never moves
            steps = np.fmin(np.fmax(np.floor(crossing) + 1, 0), left)
            left = left - steps
            left[np.isnan(left)] = 0.0  # ∞ − ∞: arrived
        moved = steps > 0
        if line.slope_less_one > 0:
            s = np.where(moved, np.minimum(line.climb(s, steps), 1.0), s)
            r = np.where(moved, 1.0 - s, r)
        else:
            kept, lost = line.sink(r, steps)
            r = np.where(moved, np.maximum(kept - lost, 0.0), r)
            flat = line.slope_less_one == 0
            s = np.where(moved, np.minimum(line.climb(s, steps), 1.0) if flat else 1.0 - r, s)
    return s, r


def _log_ratio(way: Floats, start: Floats) -> Floats:
    """log((start + way)/start), also where the quotient overflows."""
    ratio = way / start
    if np.isinf(ratio).any():
        return np.where(np.isinf(ratio), np.log(way) - np.log(start), np.log1p(ratio))
    return np.log1p(ratio)


class Leg(NamedTuple):
    """From depth ``start`` on, the orbit climbs line number ``line``."""

    start: int
    line: int


@dataclass(frozen=True)
class Orbit:
    """The path of one prefix sum along the lines, its legs decided rigorously.

    Without lines the point stays where it is, as do the ends s_0 = 0 and s_q = 1.
    """

    lines: Sequence[Line]
    origin: Fraction

    @cached_property
    def legs(self) -> tuple[Leg, ...]:
        """The legs in order; the last one never ends."""
        legs: list[Leg] = []
        start = 0
        for number, line in enumerate(self.lines):
            steps = self._steps_along(line, legs, start)
            if steps is None:
                legs.append(Leg(start, number))
                break
            if steps > 0:
                legs.append(Leg(start, number))
                start += steps
        return tuple(legs)

    def _steps_along(self, line: Line, legs: Sequence[Leg], start: int) -> int | None:
        """Steps until the orbit is first past the line; None if it never is."""
        climbs = line.slope_less_one >= 0
        if line.slope == 0 or (line.slope_less_one == 0 and not line.rises):
            return None
        if climbs and not line.rises and self.origin == 0:
            return None
        if not climbs and line.left == 0:
            return None

        def crossing() -> arb:
            s, r = self._replay(legs, start)
            slope, rise, drop, until, left = line.enclose()
            if line.slope_less_one == 0:
                return (until - s) / rise
            if climbs:
                ratio = (until - s) / (s + rise / (slope - 1))
            else:
                ratio = (left - r) / (r - drop / (slope - 1))
            return ratio.log1p() / slope.log()

        return first_integer_above(crossing)

    def _replay(self, legs: Sequence[Leg], depth: int) -> tuple[arb, arb]:
        s, r = ball(self.origin), ball(1 - self.origin)
        for (start, number), (end, _) in itertools.pairwise([*legs, Leg(depth, -1)]):
            steps = min(end, depth) - start
            if steps <= 0:
                break
            slope, rise, drop, _, _ = self.lines[number].enclose()
            if self.lines[number].slope_less_one == 0:
                power, series = slope, slope * steps
            else:
                power = slope**steps if steps < 1 << 62 else slope ** ball(Fraction(steps))
                series = (power - 1) / (slope - 1)
            s, r = power * s + rise * series, power * r - drop * series
        return s, r

    def at(self, depth: int) -> tuple[arb, arb]:
        """(s, 1 − s) at ``depth`` as balls of the current precision."""
        return self._replay(self.legs, depth)

    def line(self, depth: int) -> Line | None:
        """The line that the orbit climbs at ``depth``; None if it does not move."""
        number = max((leg for leg in self.legs if leg.start <= depth), default=None)
        return None if number is None else self.lines[number.line]

    def exponent(self, start: int, steps: Floats) -> Floats:
        """The exponent that ``steps`` past ``start`` add up to on the line there."""
        line = self.line(start)
        return np.zeros_like(steps) if line is None else line.exponent(steps)

    def along(self, start: int, steps: Floats) -> tuple[Floats, Floats, Floats]:
        """(s, r, size of the terms whose difference is r), ``steps`` past ``start`` on one leg."""
        s = refine(lambda: self.at(start)[0])
        r = refine(lambda: self.at(start)[1])
        line = self.line(start)
        if line is None:
            ones = np.ones_like(steps)
            return s * ones, r * ones, r * ones
        s_there = line.climb(s, steps)
        if line.slope_less_one > 0:
            return s_there, 1.0 - s_there, np.ones_like(steps)
        kept, lost = line.sink(r, steps)
        return s_there, kept - lost, kept + lost


def rows(lines: Sequence[Line], row: Sequence[Fraction], depths: Floats) -> Floats:
    """The best distributions at each of ``depths`` (whole, finite) from ``row`` at depth 0.

    ``row`` is in preference order and exact. Every returned entry above 1e-300 is right to a
    relative error of 1e-12.
    """
    inner = [Orbit(lines, s) for s in itertools.accumulate(row[:-1])]
    orbits = [Orbit((), Fraction(0)), *inner, Orbit((), Fraction(1))]
    columns = [_between(low, high, depths) for low, high in itertools.pairwise(orbits)]
    return np.stack(columns, axis=-1)


def _between(low: Orbit, high: Orbit, depths: Floats) -> Floats:
    """The mass between two orbits at ``depths``."""
    if low.origin == high.origin and (low.lines or not high.lines or not high.lines[0].rises):
        return np.zeros_like(depths)  # equal prefix sums stay equal; only s_0 = 0 may stay behind

    def mass(depth: int) -> float:
        return refine(lambda: high.at(depth)[0] - low.at(depth)[0])

    result = np.empty_like(depths)
    starts = sorted({0} | {leg.start for orbit in (low, high) for leg in orbit.legs})
    for start, end in itertools.pairwise([*starts, math.inf]):
        here = (depths >= start) & (depths < end)
        if here.any():
            result[here] = _between_on_legs(low, high, int(start), depths[here] - start, mass)
    return result


def _between_on_legs(
    low: Orbit, high: Orbit, start: int, steps: Floats, mass: Callable[[int], float]
) -> Floats:
    """The mass between two orbits ``steps`` past ``start``, while neither changes its line."""
    under, over = low.line(start), high.line(start)
    base = mass(start)
    if under is SATURATED:
        return np.where(steps > 0, 0.0, base)
    climbing = [line for line in (under, over) if line is not None and line.slope_less_one > 0]
    if climbing and (base < FAINT or any(line.rises and line.rise < FAINT for line in climbing)):
        return np.array([mass(int(start + n)) for n in steps])  # too small for a float to grow
    if under is not None and under is over:
        return under.scale(base, steps)
    value, size = _difference(low.along(start, steps), high.along(start, steps))
    traveled = np.maximum(*(np.abs(orbit.exponent(start, steps)) for orbit in (low, high)))
    unsure = size * (8.0 + 2.0 * traveled) * _UNIT > ACCURACY * value
    value[unsure] = [mass(int(start + n)) for n in steps[unsure]]
    return value


def _difference(
    low: tuple[Floats, Floats, Floats], high: tuple[Floats, Floats, Floats]
) -> tuple[Floats, Floats]:
    """s_high − s_low and the size of its terms, by prefix sums or by tails, whichever is safer."""
    (s_low, r_low, size_low), (s_high, r_high, size_high) = low, high
    size_s, size_r = s_high + s_low, size_low + size_high
    by_sums = size_s <= size_r
    return np.where(by_sums, s_high - s_low, r_low - r_high), np.where(by_sums, size_s, size_r)
