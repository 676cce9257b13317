"""What a file promises, and whether two rows keep it."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

from .bounds import exp_below, normal_between, quantile_between, root_between
from .document import fraction, keys
from .errors import Refused

_MOST_KNOTS = 4096
_PLACES = 64  # beyond those of a weight


class Guarantee:
    """(ε,δ), μ-Gaussian, ρ-zero-concentrated privacy, or a polygon of a trade-off curve."""

    def __init__(self, content: object) -> None:
        kind = content.get("kind") if isinstance(content, dict) else None
        self.kind = kind
        self.content = content
        self.delta = Fraction(0)
        if kind == "dp" and isinstance(content, dict) and "ratio" in content:
            given = keys(content, "a guarantee", "kind", "ratio", "delta")
            self.ratio = fraction(given["ratio"], "ratio")
            self.epsilon = None
            if not 1 <= self.ratio <= exp_below(Fraction(700)):
                raise Refused("the ratio of a guarantee must be from 1 to e^700")
            self.delta = fraction(given["delta"], "delta")
        elif kind == "dp":
            given = keys(content, "a guarantee", "kind", "epsilon", "delta")
            self.epsilon = fraction(given["epsilon"], "epsilon")
            if self.epsilon > 700:
                raise Refused("the epsilon of a guarantee must be at most 700")
            self.ratio = exp_below(self.epsilon)  # at most e^ε, so the safe side
            self.delta = fraction(given["delta"], "delta")
        elif kind == "gaussian":
            self.mu = fraction(keys(content, "a guarantee", "kind", "mu")["mu"], "mu")
            if self.mu > 30:
                raise Refused("the mu of a guarantee must be at most 30")
        elif kind == "zero-concentrated":
            self.rho = fraction(keys(content, "a guarantee", "kind", "rho")["rho"], "rho")
            if not 0 < self.rho <= 450:
                raise Refused("the rho of a guarantee must be above 0 and at most 450")
        elif kind == "trade-off":
            self.lines = _lines(keys(content, "a guarantee", "kind", "knots")["knots"])
        else:
            raise Refused(
                "a guarantee must be of kind dp, gaussian, zero-concentrated or trade-off"
            )
        if self.delta > 1:
            raise Refused("the delta of a guarantee must be at most 1")
        if kind == "dp":
            self.lines = [(self.ratio, self.delta)]

    def must_be_pure(self, what: str) -> Fraction:
        """The ratio e^ε where only that helps."""
        if self.kind != "dp":
            raise Refused(f"{what} must have an (ε,δ) guarantee, got another kind")
        return self.ratio

    def squared_mu(self) -> Fraction:
        """μ² of the Gaussian promise that rows are held against."""
        if self.kind == "gaussian":
            return self.mu**2
        if self.kind == "zero-concentrated":  # μ implies ρ = μ²/2
            return 2 * self.rho
        raise Refused("here a guarantee must be Gaussian or zero-concentrated")

    def must_be_close(self, one: Sequence[int], other: Sequence[int], where: str) -> None:
        """Refuse two rows of the same total of which one has too much for some set of answers."""
        if self.kind in ("gaussian", "zero-concentrated"):
            self._must_be_under_the_curve(one, other, where)
            return
        total = sum(one)
        for ratio, slack in self.lines:
            top, bottom = ratio.numerator, ratio.denominator
            limit = slack * (bottom * total)
            for p, q in ((one, other), (other, one)):
                if sum([max(0, bottom * a - top * b) for a, b in zip(p, q, strict=True)]) > limit:
                    raise Refused(f"neighboring rows must be close, but not in {where}")

    def _must_be_under_the_curve(
        self, one: Sequence[int], other: Sequence[int], where: str
    ) -> None:
        """By Neyman and Pearson the sets that matter are the answers of the largest ratios.

        One direction is both, as the curve is its own mirror image.
        """
        total, level, power = sum(one), 0, 0
        pairs = [(a, b) for a, b in zip(one, other, strict=True) if a or b]
        for a, b in sorted(pairs, key=lambda pair: -Fraction(pair[0], pair[0] + pair[1])):
            level, power = level + b, power + a
            if power <= level:
                continue
            if not 0 < level < total or not self._allows(level, power, total):
                raise Refused(f"neighboring rows must be close, but not in {where}")

    def _allows(self, level: int, power: int, total: int) -> bool:
        """Whether power ≤ Φ(Φ⁻¹(level) + μ) is certain."""
        for spare in (_PLACES, 4 * _PLACES):
            bits = total.bit_length() + spare
            mu = root_between(self.squared_mu(), bits)[0]
            low = quantile_between(Fraction(level, total), bits)[0]
            if normal_between(low + mu, bits)[0] * total >= power << bits:
                return True
        return False

    def range_within(self) -> Fraction:
        """How far apart the ratios of all answers may be, as a factor."""
        if self.kind == "dp":
            return self.ratio
        bits = 256
        if self.kind == "gaussian":  # √R ≤ Φ(μ/2)/(1 − Φ(μ/2))
            low = normal_between((self.mu.numerator << bits) // (2 * self.mu.denominator), bits)[0]
            return Fraction(low, (1 << bits) - low) ** 2
        if self.kind == "zero-concentrated":  # log R ≤ √(8ρ)
            return exp_below(Fraction(root_between(8 * self.rho, bits)[0], 1 << bits))
        raise Refused("weights by scores must have an (ε,δ), Gaussian or ρ guarantee")


def _lines(knots: object) -> list[tuple[Fraction, Fraction]]:
    """The steep lines of a symmetric convex curve from x = 0 to (1, 0): (ratio, slack)."""
    if not isinstance(knots, list) or not 2 <= len(knots) <= _MOST_KNOTS:
        raise Refused("a trade-off curve must have from 2 to 4,096 knots")
    points = []
    for knot in knots:
        if not isinstance(knot, list) or len(knot) != 2:
            raise Refused("a knot must be a pair")
        points.append((fraction(knot[0], "a knot"), fraction(knot[1], "a knot")))
    curve = points if points[0][1] == 1 else points[:-1]
    slopes = [(b[1] - a[1]) / (b[0] - a[0]) for a, b in pairwise(points) if b[0] > a[0]]
    good = (
        points[0][0] == 0
        and points[0][1] <= 1
        and points[-1] == (Fraction(1), Fraction(0))
        and len(slopes) == len(points) - 1
        and all(slope <= 0 for slope in slopes)
        and all(a < b for a, b in pairwise(slopes))
        and {(y, x) for x, y in curve} == set(curve)
    )
    if not good:
        raise Refused("a trade-off curve must be convex, fall to (1, 0) and be its mirror image")
    return [
        (-slope, 1 - y + slope * x)
        for slope, (x, y) in zip(slopes, points, strict=False)
        if slope <= -1
    ]
