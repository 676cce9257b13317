"""Proving in integers and fractions that rows keep a guarantee.

Nothing here knows how rows were made. A guarantee is turned into lines (ratio, slack) that mean

    Σ_v max(0, P_v − ratio·Q_v) ≤ slack·total,   and the same with P and Q exchanged,

which covers all sets of answers at once (the sum is attained by the set of its positive terms).
For (ε,δ) the ratio is a lower bound on e^ε from its power series, summed in integers.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

from rainbowdp.aliases import Weights
from rainbowdp.display import cards
from rainbowdp.errors import InvalidMechanism
from rainbowdp.guarantees.dp import DP, Guarantee
from rainbowdp.guarantees.gaussian import GaussianDP, lower_tail, score
from rainbowdp.guarantees.trade_off import TradeOff
from rainbowdp.numeric.quantity import ball, precision

Lines: TypeAlias = tuple[tuple[Fraction, Fraction], ...]
Promise: TypeAlias = tuple[tuple[int, int, int], ...]  # bottom·P − top·Q sums to limit at most

_BITS = 192  # of the lower bound on e^ε: finer than any builder's


@dataclass(frozen=True)
class Proof:
    """What was checked, exactly: nothing is made without one."""

    guarantee: Guarantee
    pairs: int
    statement: str

    def __str__(self) -> str:
        return f"{self.guarantee} proved exactly: {self.statement}"

    def _repr_html_(self) -> str:
        return cards.card("Proof", cards.badge(True, self))


def prove_ladders(
    guarantee: Guarantee,
    rows: Mapping[Any, Sequence[Weights]],
    touching: Iterable[tuple[Any, Any]],
) -> Proof:
    """Every row is close to the next deeper one, and the first rows of touching regions are."""
    total = check_rows(row for ladder in rows.values() for row in ladder)
    promise = promise_of(guarantee, total)
    pairs = 0
    seen: set[tuple[tuple[int, int], ...]] = set()  # closeness does not care which answer is which
    for label, ladder in rows.items():
        for depth, (row, deeper) in enumerate(itertools.pairwise(ladder)):
            shape = tuple(sorted(zip(row, deeper, strict=True)))
            if shape not in seen:
                _demand(promise, row, deeper, f"region {label!r} at depths {depth}, {depth + 1}")
                seen.add(shape)
            pairs += 1
    for first, second in touching:
        _demand(promise, rows[first][0], rows[second][0], f"regions {first!r} and {second!r}")
        pairs += 1
    return Proof(guarantee, pairs, f"{pairs} pairs of rows with total weight {total}")


def prove_margins(guarantee: Guarantee, answers: int, total: int, steps: Sequence[int]) -> Proof:
    """The weights by margin keep (ε,δ) for every margin function whatever.

    With E = e^ε, D = δ·total, q − 1 losers, weights g_1 ≥ g_2 ≥ … ≥ 0 and g_t for a margin t:

    1. g_t ≤ E·g_{t+1} + D/(q−1): losers, and every set without the true answer;
    2. total·(1−E) + (q−1)·max(E·g_{t'} − g_t) ≤ D over |t − t'| ≤ 1: a set with the true answer,
       where its complement are losers;
    3. total ≤ (1+E)·g_1 + D: the true answer across a border, where its margin is 1;
    4. g_1 ≤ E·(total − (q−1)·g_1): and back.
    """
    if not isinstance(guarantee, DP):
        raise InvalidMechanism(f"weights by margin need an (ε,δ) guarantee, got {guarantee}")
    if type(total) is not int or total <= 0 or any(type(step) is not int for step in steps):
        raise InvalidMechanism(f"weights by margin must be integers of a total, got {total!r}")
    ((ratio, delta),) = lines_of(guarantee)
    losers, slack = answers - 1, delta * total
    if losers < 1 or not steps or any(b > a for a, b in itertools.pairwise(steps)) or steps[-1] < 0:
        raise InvalidMechanism("weights by margin must fall, stay at or above 0 and have a loser")
    chain = [*steps, steps[-1]]
    widest = max(
        max(ratio * a - b, ratio * b - a, (ratio - 1) * a) for a, b in itertools.pairwise(chain)
    )
    first = steps[0]
    demands = {
        "a loser's weight falls too fast": all(
            a <= ratio * b + slack / losers for a, b in itertools.pairwise(chain)
        ),
        "the true answer rises too fast": total * (1 - ratio) + losers * widest <= slack,
        "a border is too steep": total <= (1 + ratio) * first + slack,
        "the losers have too much": first <= ratio * (total - losers * first),
    }
    for fault, holds in demands.items():
        if not holds:
            raise InvalidMechanism(f"weights by margin must keep {guarantee}, but {fault}")
    statement = f"{len(steps)} weights by margin with total weight {total}"
    return Proof(guarantee, len(steps), statement)


def prove_flips(guarantee: Guarantee, ratio: Fraction, moves: int) -> Proof:
    """Chances that fall by at most ``ratio`` a unit, where a person moves distances by ``moves``.

    Permute-and-flip changes by at most the factor 1/ratio a unit, whatever the number of answers
    (``docs/true-answer.md``); so ratio^moves · e^ε ≥ 1 is enough.
    """
    if not isinstance(guarantee, DP):
        raise InvalidMechanism(f"permute-and-flip needs an (ε,δ) guarantee, got {guarantee}")
    ((allowed, _),) = lines_of(guarantee)
    places = _BITS + 64 + math.floor(allowed).bit_length()
    if _power_below(ratio, moves, places) * allowed < 1:
        raise InvalidMechanism(f"coins must keep {guarantee}, but their chances fall too fast")
    steps = f"{moves} steps of a factor 1 − {float(1 - ratio):.6g} a person"
    return Proof(guarantee, 1, f"permute-and-flip with {steps}")


def _power_below(base: Fraction, exponent: int, places: int) -> Fraction:
    """At most base^exponent for 0 < base < 1: squared and multiplied, rounded down each time."""
    square, power = math.floor(base * (1 << places)), 1 << places
    while exponent:
        if exponent & 1:
            power = power * square >> places
        square, exponent = square * square >> places, exponent >> 1
    return Fraction(power, 1 << places)


def promise_of(guarantee: Guarantee, total: int) -> Promise:
    """The guarantee for rows of weight ``total`` as conditions on integers."""
    return tuple(
        (ratio.numerator, ratio.denominator, math.floor(ratio.denominator * slack * total))
        for ratio, slack in lines_of(guarantee)
    )


def lines_of(guarantee: Guarantee) -> Lines:
    """The guarantee as rational pairs (ratio, slack), each on the safe side."""
    if isinstance(guarantee, DP):
        if guarantee.exact_ratio is not None:
            ratio = guarantee.exact_ratio
        else:
            assert guarantee.exact_epsilon is not None
            ratio = exp_below(guarantee.exact_epsilon)
        return ((ratio, guarantee.exact_delta),)
    if isinstance(guarantee, TradeOff):
        return _steep_lines(guarantee)
    if isinstance(guarantee, GaussianDP):
        return _gaussian_lines(guarantee)
    raise InvalidMechanism(f"a proof needs DP, GaussianDP or TradeOff, got {guarantee!r}")


def exp_below(x: Fraction) -> Fraction:
    """A rational at most e^x for x ≥ 0: the power series of e^{x/2^k}, squared k times.

    Every term is positive and every rounding is down, so this is a lower bound.
    """
    halvings = max(0, (x.numerator // x.denominator).bit_length() + 8)
    scale = 1 << (_BITS + 2 * halvings)
    small = x / (1 << halvings)
    term = total = scale
    count = 0
    while term:
        count += 1
        term = term * small.numerator // (small.denominator * count)
        total += term
    for _ in range(halvings):
        total = total * total // scale
    return Fraction(total, scale)


def first_violation(promise: Promise, p: Weights, q: Weights) -> str | None:
    """Why two rows are not close, or None: both directions, all sets, exactly."""
    for more, less in ((p, q), (q, p)):
        for top, bottom, limit in promise:
            excess = sum(max(0, bottom * a - top * b) for a, b in zip(more, less, strict=True))
            if excess > limit:
                over = float(Fraction(excess - limit, bottom * sum(p)))
                return f"{more} beside {less} exceeds by {over:.3g}"
    return None


def check_rows(rows: Iterable[Weights]) -> int:
    """The common total of all rows; refuses weights that are not integers from 0."""
    total: int | None = None
    for row in rows:
        if any(type(weight) is not int or weight < 0 for weight in row):
            raise InvalidMechanism(f"weights must be integers from 0, got {row}")
        if total is None:
            total = sum(row)
        if sum(row) != total or total <= 0:
            raise InvalidMechanism(f"all rows must have one positive total, got {row}")
    return total if total is not None else 1


def _demand(promise: Promise, p: Weights, q: Weights, where: str) -> None:
    fault = first_violation(promise, p, q)
    if fault is not None:
        raise InvalidMechanism(f"neighboring rows must be close, but in {where} {fault}")


def _steep_lines(curve: TradeOff) -> Lines:
    lines = []
    for (x0, y0), (x1, y1) in itertools.pairwise(curve.knots):
        slope = (y0 - y1) / (x1 - x0)
        if slope >= 1:
            lines.append((slope, 1 - y0 - slope * x0))
    return tuple(lines)


def _gaussian_lines(guarantee: GaussianDP) -> Lines:
    """The lines of a polygon that is checked, knot by knot, to lie above the trade-off curve.

    The curve is convex, so a polygon with its knots above the curve is above it everywhere, and
    rows that keep the polygon keep the guarantee.
    """
    from rainbowdp.guarantees.polygons import safe_curve

    curve = safe_curve(guarantee)
    for x, y in curve.knots[1:-1]:
        with precision(256):
            if not lower_tail(-(score(x) + ball(guarantee.exact_mu))) <= ball(y):
                raise InvalidMechanism(f"a knot of the polygon lies below the curve: {float(x)}")
    return _steep_lines(curve)
