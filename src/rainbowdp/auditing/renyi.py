"""Rényi divergences of pairs of rows, and ρ, between bounds that are proved.

For an order α > 1, D_α(P‖Q) = log(Σ P^α Q^(1−α))/(α − 1); for α = 1 it is Σ P·log(P/Q), and for an
infinite order the logarithm of the largest ratio. ρ is the least number with D_α ≤ αρ for all α,
which is the supremum of D_α/α over α > 1, its limit at 1 included.

**A bound over an interval of orders.** K(α) = (α − 1)·D_α is convex and K(1) = 0, so between two
orders a < b it is at most its chord u + v·x with x = α − 1, and u ≤ 0. Then D_α/α = K(α)/(x(x + 1))
is at most the largest (v·x + u)/(x(x + 1)), which is attained at an end or where
v·x² + 2u·x + u = 0. Beyond the last order, D_α/α ≤ D_∞/α. The intervals with the largest bound are
halved until the bound meets what an order in it attains; the error falls with the square of the
width. (On the interval from 1 on, u = 0 and the bound is D_b, which tends to D_1.)

Floats choose which pairs and intervals to look at. Balls decide: a pair is passed over only where
its float bound is below the best value by more than floats can err.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from rainbowdp.aliases import Floats
from rainbowdp.auditing.bounds import BITS, INFINITE, ZERO, Bounds, above, below
from rainbowdp.auditing.curve import Row
from rainbowdp.numeric.quantity import ball, precision

if TYPE_CHECKING:
    from flint import arb

CLOSE = 1e-10  # relative distance of the two bounds of ρ
_EVALUATIONS = 20_000  # after which the bounds are given as they are
_UNSURE = 1e-11  # of a float logarithm, for each unit of α times the logarithms it is made of
_STEPS = (1.0, 0.25, 0.0625)  # in octaves, of the orders that floats look at in turn
_BLOCK = 4096
_FEW = 16  # ordered pairs for which balls are quicker than floats


@dataclass(frozen=True)
class Found:
    """A divergence, the pair of rows that has it (the one with more first), and the order."""

    bounds: Bounds
    rows: tuple[int, int] | None = None
    order: float = 1.0


@dataclass(frozen=True)
class Divergences:
    """The Rényi divergences of all ordered pairs of rows."""

    rows: Sequence[Row]
    pairs: Sequence[tuple[int, int]]  # unordered

    @cached_property
    def _ordered(self) -> list[tuple[int, int]]:
        return [pair for one, other in self.pairs for pair in ((one, other), (other, one))]

    @cached_property
    def _endless(self) -> tuple[int, int] | None:
        """A pair where an answer can come from one row only, if there is one."""
        support = [tuple(p > 0 for p in row) for row in self.rows]
        for one, other in self.pairs:
            if support[one] != support[other]:
                more = any(a and not b for a, b in zip(support[one], support[other], strict=True))
                return (one, other) if more else (other, one)
        return None

    @cached_property
    def _logs(self) -> Floats:
        return np.array([[_log(p) for p in row] for row in self.rows])

    def of_order(self, order: Fraction) -> Found:
        """The largest D_α over all ordered pairs, for an order from 1 on."""
        if not self.pairs:
            return Found(ZERO)
        if self._endless is not None:
            return Found(INFINITE, self._endless, float(order))
        alpha = float(order)
        values, unsure = _divergences(self._logs, self._ordered, alpha - 1)
        near = np.flatnonzero(values >= (values - unsure).max() - unsure)
        low, high, pair = 0.0, 0.0, self._ordered[int(values.argmax())]
        for place in near.tolist():
            with precision(_bits(self.rows, self._ordered[place])):
                found = _Pair(self.rows, self._ordered[place]).divergence(order)
                if below(found) > low:
                    low, pair = below(found), self._ordered[place]
                high = max(high, above(found))
        return Found(Bounds(low, high), pair, alpha)

    def rho(self, against: Fraction | None = None) -> Found:
        """The least ρ of all pairs; ``against`` a number, as sharply as it takes to compare."""
        if not self.pairs:
            return Found(ZERO)
        if self._endless is not None:
            return Found(INFINITE, self._endless, math.inf)
        near = list(range(len(self._ordered)))
        for step in _STEPS:
            if len(near) <= _FEW:
                break
            grid = np.concatenate([[0.0], 2.0 ** np.arange(-6.0, 10.0 + step, step)])
            lows, highs = _rhos(self._logs, [self._ordered[place] for place in near], grid)
            kept = np.flatnonzero(highs >= lows.max())
            near = [near[place] for place in kept[np.argsort(-lows[kept])].tolist()]
        return _search(self.rows, [self._ordered[place] for place in near], against)


def _log(p: Fraction) -> float:
    return math.log(p.numerator) - math.log(p.denominator) if p else -math.inf


def _bits(rows: Sequence[Row], pair: tuple[int, int]) -> int:
    sizes = (p.denominator.bit_length() for place in pair for p in rows[place])
    return BITS + 2 * max(sizes)


def _divergences(
    logs: Floats, pairs: Sequence[tuple[int, int]], less_one: float
) -> tuple[Floats, Floats]:
    """D_α in floats for α = 1 + ``less_one``, and by how much each may be wrong."""
    values, unsure = np.empty(len(pairs)), np.empty(len(pairs))
    ends = np.array(pairs)
    for start in range(0, len(pairs), _BLOCK):
        span = slice(start, start + _BLOCK)
        p, q = logs[ends[span, 0]], logs[ends[span, 1]]
        values[span], unsure[span] = _block(p, q, less_one)
    return values, unsure


def _block(p: Floats, q: Floats, less_one: float) -> tuple[Floats, Floats]:
    here = np.isfinite(p)
    apart = np.where(here, np.where(here, p, 0.0) - np.where(here, q, 0.0), 0.0)
    size = np.where(here, np.abs(p) + np.abs(q), 0.0).max(axis=1)
    unsure = _UNSURE * (1 + (1 + less_one) * size)
    if less_one == 0:
        return (np.where(here, np.exp(p), 0.0) * apart).sum(axis=1), unsure * (1 + size)
    powers = np.where(here, np.where(here, p, 0.0) + less_one * apart, -np.inf)
    top = powers.max(axis=1)
    moment = top + np.log(np.exp(powers - top[:, None]).sum(axis=1))
    return moment / less_one, unsure / less_one


def _rhos(logs: Floats, pairs: Sequence[tuple[int, int]], grid: Floats) -> tuple[Floats, Floats]:
    """A float below and a float above the supremum of D_α/α for each pair."""
    lows, highs = np.zeros(len(pairs)), np.zeros(len(pairs))
    before: tuple[float, Floats] | None = None
    for less_one in grid.tolist():
        values, unsure = _divergences(logs, pairs, less_one)
        lows = np.maximum(lows, (values - unsure) / (1 + less_one))
        upper = less_one * (values + unsure)
        if before is None:
            before = 0.0, upper
            continue
        start, lower = before
        slope = (upper - lower) / (less_one - start)
        base = np.minimum(lower - slope * start, 0.0)
        slope = np.maximum(slope, (upper - base) / less_one)
        highs = np.maximum(highs, _on_chord(base, slope, start, less_one))
        before = less_one, upper
    ends = np.array(pairs)
    for start in range(0, len(pairs), _BLOCK):
        span = slice(start, start + _BLOCK)
        p, q = logs[ends[span, 0]], logs[ends[span, 1]]
        here = np.isfinite(p)
        largest = np.where(here, np.where(here, p, 0.0) - np.where(here, q, 0.0), 0.0).max(axis=1)
        highs[span] = np.maximum(highs[span], largest / (1 + grid[-1]))
    return lows, highs * (1 + 1e-12)


def _on_chord(base: Floats, slope: Floats, start: float, end: float) -> Floats:
    """The largest (slope·x + base)/(x(x + 1)) for x between two numbers."""

    def value(x: Floats | float) -> Floats:
        found: Floats = (slope * x + base) / (x * (1 + x))
        return found

    if start == 0:  # base is 0 up to rounding, which an order of 1 cannot bear
        return np.maximum(slope, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        best = (-base + np.sqrt(base * base - base * slope)) / slope
    inside = np.where(np.isfinite(best), np.clip(best, start, end), end)
    largest: Floats = np.maximum(np.maximum(value(start), value(end)), value(inside))
    return largest


class _Pair:
    """An ordered pair of rows with one support, in balls of the current precision."""

    def __init__(self, rows: Sequence[Row], pair: tuple[int, int]) -> None:
        self.pair = pair
        listed = [(p, q) for p, q in zip(rows[pair[0]], rows[pair[1]], strict=True) if p]
        self.here = [ball(p) for p, _ in listed]
        self.logs = [ball(p).log() for p, _ in listed]
        self.apart = [ball(p / q).log() for p, q in listed]

    def moment(self, less_one: Fraction) -> arb:
        """K: log Σ P·(P/Q)^x."""
        from flint import arb

        x = ball(less_one)
        total = arb(0)
        for log, apart in zip(self.logs, self.apart, strict=True):
            total += (log + x * apart).exp()
        return total.log()

    def divergence(self, order: Fraction) -> arb:
        """D_α."""
        from flint import arb

        if order > 1:
            return self.moment(order - 1) / ball(order - 1)
        total = arb(0)
        for p, apart in zip(self.here, self.apart, strict=True):
            total += p * apart
        return total

    def largest(self) -> arb:
        """D_∞, at most."""
        return max(self.apart, key=lambda apart: float(apart.upper()))


def _search(
    rows: Sequence[Row], pairs: Sequence[tuple[int, int]], against: Fraction | None
) -> Found:
    """The supremum of D_α/α over pairs and orders, by halving the most promising interval."""
    low, best, order = 0.0, pairs[0], 1.0
    queue: list[tuple[float, int, _Pair, Fraction, Fraction | None, arb, arb | None]] = []
    number, evaluations = itertools.count(), 0
    bits = max(_bits(rows, pair) for pair in pairs)

    def seen(value: arb, pair: _Pair, alpha: float) -> None:
        nonlocal low, best, order
        if below(value) > low:
            low, best, order = below(value), pair.pair, alpha

    def put(pair: _Pair, a: Fraction, b: Fraction | None, at_a: arb, at_b: arb | None) -> None:
        if b is None or at_b is None:
            high = above(pair.largest() / ball(1 + a))
        else:
            high = _chord_above(a, b, at_a, at_b)
        if high > low:
            heapq.heappush(queue, (-high, next(number), pair, a, b, at_a, at_b))

    with precision(bits):
        from flint import arb

        for ends in pairs:
            pair = _Pair(rows, ends)
            seen(pair.divergence(Fraction(1)), pair, 1.0)
            one = Fraction(1)
            at_one = pair.moment(one)
            seen(at_one / 2, pair, 2.0)
            put(pair, Fraction(0), one, arb(0), at_one)
            put(pair, one, None, at_one, None)
        while queue:
            high = -queue[0][0]
            settled = against is not None and (low > against or high <= against)
            if settled or high <= low * (1 + (CLOSE if against is None else 0)):
                break
            if evaluations >= _EVALUATIONS:
                break
            _, _, pair, a, b, at_a, at_b = heapq.heappop(queue)
            middle = 2 * a if b is None else (a + b) / 2
            at_middle = pair.moment(middle)
            evaluations += 1
            x = ball(middle)
            seen(at_middle / (x * (1 + x)), pair, 1 + float(middle))
            put(pair, a, middle, at_a, at_middle)
            put(pair, middle, b, at_middle, at_b)
    high = max(low, -queue[0][0]) if queue else low
    return Found(Bounds(low, high), best, order)


def _chord_above(a: Fraction, b: Fraction, at_a: arb, at_b: arb) -> float:
    """At least the largest D_α/α for orders between 1 + a and 1 + b."""
    if a == 0:
        return above(at_b / ball(b))
    low, high = ball(a), ball(b)
    slope = (at_b - at_a) / (high - low)
    base = at_a - slope * low
    found = [at / (x * (1 + x)) for at, x in ((at_a, low), (at_b, high))]
    inside = base * base - base * slope
    if base < 0 and slope > 0 and inside > 0:
        x = (-base + inside.sqrt()) / slope
        if not (x < low or x > high):
            found.append((slope * x + base) / (x * (1 + x)))
    elif not base >= 0:  # a ball that cannot tell: the plain bound D_b/(1 + a)
        found.append(at_b / high / (1 + low))
    return max(above(value) for value in found)
