"""Guarantees whose curve consists of lines: (ε,δ) and polygons."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from rainbowdp.aliases import Floats
from rainbowdp.guarantees.curve import UNDERFLOW, TradeOffCurve
from rainbowdp.guarantees.growth import Line, advance, rows


class PiecewiseLinear(TradeOffCurve):
    """A guarantee whose φ is the minimum of finitely many lines."""

    @property
    def moves(self) -> bool:
        """Whether φ differs from the identity."""
        line = self.lines[0]
        return line.slope_less_one != 0 or line.rises

    @property
    def _lifts_zero(self) -> bool:
        return self.lines[0].rises

    @property
    @abstractmethod
    def lines(self) -> tuple[Line, ...]:
        """The pieces of φ from left to right, with falling slopes."""

    def _advance(self, s: Floats, r: Floats, depth: Floats) -> tuple[Floats, Floats]:
        return advance(self.lines, s, r, depth)

    def _rows(self, row: Sequence[Fraction], depths: Floats) -> Floats:
        return rows(self.lines, row, depths)

    def _violations(
        self, p: Floats, q: Floats, rounding: float
    ) -> tuple[Floats, NDArray[np.bool_]]:
        # A line of slope below one says of S what its mirror image says of the complement, the
        # other way round; so the steep lines suffice, and for each the best set is explicit.
        worst = np.zeros(len(p))
        sets = np.zeros(p.shape, dtype=np.bool_)
        for line in self.lines:
            if line.slope < 1:
                continue
            gap = p - line.slope * q
            noise = rounding * (p + line.slope * q) + (line.slope * UNDERFLOW if rounding else 0.0)
            chosen = gap > noise  # term by term: rounding in one must not hide another
            violation = np.where(chosen, gap, 0.0).sum(axis=1) - line.rise
            doubt = np.where(chosen, noise, 0.0).sum(axis=1) if line.rise else 0.0
            larger = (violation > doubt) & (violation > worst)
            worst[larger] = violation[larger]
            sets[larger] = chosen[larger]
        return worst, sets
