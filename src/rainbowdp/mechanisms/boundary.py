"""Boundary conditions: the distribution on the boundary of each region.

A condition is homogeneous: one distribution for all boundary datasets of a region. It is valid
when the distributions of every two regions that touch are close under the guarantee.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from rainbowdp.aliases import Answer, Floats, Label
from rainbowdp.errors import InvalidBoundary
from rainbowdp.expecting import brief, expect
from rainbowdp.graphs.graph import RainbowGraph
from rainbowdp.graphs.rainbows import in_order
from rainbowdp.graphs.regions import Region
from rainbowdp.guarantees.curve import TradeOffCurve, curve_of
from rainbowdp.guarantees.piecewise import PiecewiseLinear


@dataclass(frozen=True)
class Clash:
    """Two touching regions whose distributions are not close, and the answers that prove it."""

    regions: tuple[Region, Region]  # the first gives the answers too often
    answers: tuple[Answer, ...]
    excess: float

    def __str__(self) -> str:
        more, less = (region.name for region in self.regions)
        return (
            f"{{{', '.join(str(a) for a in self.answers)}}} is too likely in region ({more}) "
            f"beside region ({less}), by {self.excess:.6g}"
        )


class BoundaryCondition:
    """One distribution for the boundary of each region of a graph.

    Parameters
    ----------
    graph
        The rainbow graph.
    conditions
        A mapping from region labels to distributions, or one sequence for every region. A
        distribution is a mapping {answer: probability}, or a sequence in the region's own
        preference order. Regions without a boundary need none.

    Raises
    ------
    InvalidBoundary
        If a region that touches another has no condition, or a label is not a region.
    InvalidDistribution
        If the probabilities are not a distribution over the answers.

    Examples
    --------
    >>> graph = RainbowGraph([(0, 1)], [("yes", "no"), ("no", "yes")])
    >>> condition = BoundaryCondition(graph, (0.75, 0.25))
    >>> condition[("no", "yes")]
    {'no': 0.75, 'yes': 0.25}

    """

    def __init__(
        self,
        graph: RainbowGraph,
        conditions: Mapping[Label, Any] | Sequence[Any] | Floats | BoundaryCondition,
    ) -> None:
        self.graph = expect(graph, RainbowGraph, "a boundary condition", InvalidBoundary)
        if isinstance(conditions, BoundaryCondition):
            carried = conditions
            conditions = {label: carried.exact(label) for label in carried.exact_rows}
        needed = [r for r in graph.regions.values() if r.deepest is not None]
        if isinstance(conditions, Mapping):
            stray = next((label for label in conditions if label not in graph.regions), None)
            if stray is not None:
                raise InvalidBoundary(
                    f"the boundary condition names {brief(stray)}, which is not a region of the "
                    "graph; "
                    "graph.regions lists them"
                )
            for region in needed:
                if region.label not in conditions:
                    raise InvalidBoundary(
                        f"region ({region.name}) touches another, so it needs a boundary "
                        "condition; give it one"
                    )
        self.exact_rows: dict[Label, tuple[Fraction, ...]] = {
            region.label: in_order(
                conditions[region.label] if isinstance(conditions, Mapping) else conditions,
                region.rainbow,
            )
            for region in needed
        }

    @classmethod
    def symmetric(cls, graph: RainbowGraph, guarantee: TradeOffCurve) -> BoundaryCondition:
        """The condition that favors the first choice as far as possible and no other.

        (a, b, …, b) with a = φ(b) and a + (q−1)·b = 1; for (ε,δ) this is b = (1−δ)/(e^ε+q−1). It is
        valid on every graph, and the best homogeneous condition for the first choice if all q
        regions touch each other (``docs/theory.md``).

        Parameters
        ----------
        graph
            The rainbow graph.
        guarantee
            What is promised between neighbors.

        Returns
        -------
        BoundaryCondition
            The condition.

        """
        expect(graph, RainbowGraph, "a boundary condition", InvalidBoundary)
        others = len(graph.answers) - 1
        b = _equal_share(curve_of(guarantee, "a boundary condition"), others)
        return cls(graph, (1.0 - others * b, *[b] * others))

    def __repr__(self) -> str:
        return f"BoundaryCondition({len(self.exact_rows)} regions)"

    def __getitem__(self, label: Label) -> dict[Answer, float]:
        return {answer: float(p) for answer, p in self.exact(label).items()}

    def exact(self, label: Label) -> dict[Answer, Fraction]:
        """{answer: exact probability} on the boundary of region ``label``.

        Parameters
        ----------
        label
            A region of the graph.

        Returns
        -------
        dict
            The probabilities as fractions, most preferred answer first.

        """
        rainbow = self.graph.regions[label].rainbow
        return dict(zip(rainbow, self.exact_rows[label], strict=True))

    def clashes(self, guarantee: TradeOffCurve) -> tuple[Clash, ...]:
        """Every pair of touching regions that breaks the guarantee; none if it is valid.

        Parameters
        ----------
        guarantee
            What is promised between neighbors.

        Returns
        -------
        tuple of Clash
            The pairs, each with the answers that prove it.

        """
        curve, found = curve_of(guarantee, "a boundary condition"), []
        rows = {}
        for label in {label for pair in self.graph.touching for label in pair}:
            named = self[label]
            rows[label] = [float(named[answer]) for answer in self.graph.answers]
        for first, second in self.graph.touching:
            pair = rows[first], rows[second]
            if not curve.excesses(*(np.array([row]) for row in pair)).any():
                continue
            excess = curve.excess(*pair)
            if excess > 0:
                answers = tuple(self.graph.answers[a] for a in excess.answers)
                order = (first, second) if excess.first else (second, first)
                more, less = (self.graph.regions[label] for label in order)
                found.append(Clash((more, less), answers, float(excess)))
        return tuple(found)

    def validate(self, guarantee: TradeOffCurve) -> None:
        """Raise unless every two touching regions keep the guarantee.

        Parameters
        ----------
        guarantee
            What is promised between neighbors.

        Raises
        ------
        InvalidBoundary
            If two touching regions break the guarantee.

        """
        clashes = self.clashes(guarantee)
        if clashes:
            worst = max(clashes, key=lambda clash: clash.excess)
            more = f" ({len(clashes)} pairs fail in all)" if len(clashes) > 1 else ""
            raise InvalidBoundary(
                f"the boundary condition breaks {guarantee} where regions touch: {worst}{more}"
            )


def _equal_share(guarantee: TradeOffCurve, others: int) -> float:
    """The b with φ(b) + others·b = 1."""
    if others == 0:
        return 0.0
    if isinstance(guarantee, PiecewiseLinear):
        # φ is the least of its lines, so b is the largest of their solutions.
        return max((1.0 - line.rise) / (line.slope + others) for line in guarantee.lines)
    low, high = 0.0, 1.0 / (others + 1)  # φ(s) ≥ s puts the root at or below 1/q
    for _ in range(1100):
        middle = math.sqrt(low * high) if low > 0 else high / 2
        if not low < middle < high:
            break
        low, high = (
            (middle, high) if guarantee.step(middle) + others * middle < 1 else (low, middle)
        )
    return high
