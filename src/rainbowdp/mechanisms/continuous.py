"""Answers from an interval, smaller ones preferred: the finite theory in the limit.

With answers in [0, 1] and smaller ones preferred, prefix sums become the distribution function F,
and dominance is first-order stochastic dominance. The best distribution t steps deeper is
F_t(x) = φᵗ(F_0(x)) (``docs/theory.md``). If φ(0) > 0, as under (ε,δ), an atom appears at the best
end. Answers are drawn by quantiles: F_0⁻¹(φ⁻ᵗ(U)) for a uniform U.

>>> from rainbowdp import DP
>>> deeper = Continuous(DP.from_ratio(2, 1), cdf=lambda x: x, quantile=lambda u: u, depth=1)
>>> deeper.cdf(0.25), deeper.quantile(0.5)
(0.5, 0.25)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rainbowdp.aliases import Floats, Weights
from rainbowdp.errors import InvalidDistribution
from rainbowdp.exact.steps import BITS, ladder, on_grid
from rainbowdp.guarantees.curve import FloatOrArray, TradeOffCurve, curve_of
from rainbowdp.guarantees.polygons import safe_curve


@dataclass(frozen=True)
class Continuous:
    """The best distribution on [0, 1], ``depth`` steps from a given one on the boundary.

    Parameters
    ----------
    guarantee
        What is promised between neighbors.
    cdf
        The boundary's distribution function; it must take arrays.
    quantile
        Its generalized inverse, the least x with cdf(x) ≥ u; it must take arrays.
    depth
        The number of steps from the boundary.

    Raises
    ------
    InvalidDistribution
        If ``cdf`` does not rise to 1 on [0, 1].

    """

    guarantee: TradeOffCurve
    base: Callable[[Any], Any]
    base_quantile: Callable[[Any], Any]
    depth: int

    def __init__(
        self,
        guarantee: TradeOffCurve,
        *,
        cdf: Callable[[Any], Any],
        quantile: Callable[[Any], Any],
        depth: int = 0,
    ) -> None:
        for name, value in (
            ("guarantee", curve_of(guarantee, "a continuous answer")),
            ("base", cdf),
            ("base_quantile", quantile),
            ("depth", depth),
        ):
            object.__setattr__(self, name, value)
        ends = np.asarray(cdf(np.array([0.0, 0.25, 0.5, 0.75, 1.0])), dtype=np.float64)
        if not (np.all(np.diff(ends) >= 0) and ends[0] >= 0 and abs(ends[-1] - 1) <= 1e-12):
            raise InvalidDistribution(
                f"cdf must rise to 1 on [0, 1], got {ends.tolist()} at 0, 0.25, 0.5, 0.75 and 1"
            )

    def cdf(self, x: ArrayLike) -> FloatOrArray:
        """P(answer ≤ x); the jump at 0 is the atom at the best end.

        Parameters
        ----------
        x
            A number, or an array of them.

        Returns
        -------
        float or array
            The probabilities.

        """
        points = np.asarray(x, dtype=np.float64)
        start = np.clip(np.asarray(self.base(points), dtype=np.float64), 0.0, 1.0)
        grown = np.where(points < 0, 0.0, self.guarantee.grow(start, self.depth))
        return grown.item() if points.ndim == 0 else grown

    def quantile(self, u: ArrayLike) -> FloatOrArray:
        """The least x with cdf(x) ≥ u.

        Parameters
        ----------
        u
            A number in [0, 1], or an array of them.

        Returns
        -------
        float or array
            The quantiles.

        """
        start = self.guarantee.ungrow(u, self.depth)
        found = np.asarray(self.base_quantile(start), dtype=np.float64)
        return found.item() if found.ndim == 0 else found

    def sample(self, size: int, seed: int | None = None) -> Floats:
        """Simulated answers, for experiments: **not** a private release.

        Parameters
        ----------
        size
            How many answers.
        seed
            Makes them repeatable.

        Returns
        -------
        array
            Numbers in [0, 1].

        """
        drawn: Floats = self.quantile(np.random.default_rng(seed).random(size))
        return drawn

    def deeper(self, steps: int) -> Continuous:
        """The same boundary, ``steps`` further in.

        Parameters
        ----------
        steps
            The number of steps.

        Returns
        -------
        Continuous
            The best distribution there.

        """
        return Continuous(
            self.guarantee,
            cdf=self.base,
            quantile=self.base_quantile,
            depth=self.depth + steps,
        )

    def row(self, edges: Sequence[float]) -> Floats:
        """The probabilities of the cells between ``edges``.

        The finite theory on those cells gives the same numbers: prefix sums are the distribution
        function at the edges.

        Parameters
        ----------
        edges
            Rising numbers from 0 to 1.

        Returns
        -------
        array
            A probability for each cell.

        Raises
        ------
        InvalidDistribution
            If the edges do not rise from 0 to 1.

        """
        inner = np.asarray(edges, dtype=np.float64)
        if len(inner) < 2 or inner[0] != 0 or inner[-1] != 1 or np.any(np.diff(inner) <= 0):
            raise InvalidDistribution(f"edges must rise from 0 to 1, got {list(edges)}")
        start = np.diff(np.asarray(self.base(inner), dtype=np.float64), prepend=0.0)[1:]
        start[0] += float(self.base(0.0))
        cells = [Fraction(p) for p in np.maximum(start, 0.0)]
        total = sum(cells, Fraction(0))
        return self.guarantee.rows([p / total for p in cells], self.depth)

    def exact(self, edges: Sequence[float], total: int = 1 << BITS) -> Weights:
        """The weights of the cells in integers, exactly private step by step.

        Parameters
        ----------
        edges
            Rising numbers from 0 to 1.
        total
            What the weights sum to.

        Returns
        -------
        tuple of int
            A weight for each cell.

        """
        base = Continuous(self.guarantee, cdf=self.base, quantile=self.base_quantile)
        start = on_grid(_normal(base.row(edges)), total)
        rows = ladder(safe_curve(self.guarantee), start, self.depth)
        return rows[min(self.depth, len(rows) - 1)]


def _normal(row: Floats) -> list[Fraction]:
    exact = [Fraction(p) for p in row]
    total = sum(exact, Fraction(0))
    return [p / total for p in exact]
