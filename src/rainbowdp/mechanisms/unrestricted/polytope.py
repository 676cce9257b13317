"""All mechanisms with a guarantee, as the feasible set of a linear program.

A mechanism is a probability p_d(v) for each dataset and answer. A guarantee is the minimum of
lines α·s + β, and of two neighbors d, d' a line with α ≥ 1 asks, both ways,

    Σ_v max(0, p_d(v) − α·p_d'(v)) ≤ β,

(the lines with α < 1 say the same of the complement, the other way round). With β = 0 that is
p_d(v) ≤ α·p_d'(v); otherwise it is linear with slacks z ≥ p_d − α·p_d', z ≥ 0, Σz ≤ β. Any
worth u_d(v) is linear too, and so are fixed rows.

**How good is it, whatever the solver says.** For any multipliers y ≥ 0, one for each line,
directed edge and answer, every mechanism with the guarantee has

    Σ_d u_d·p_d ≤ Σ_{lines, edges} β·max_v y(v) + Σ_d max_v r_d(v),

r_d(v) = u_d(v) − Σ_{edges d→d'} y(v) + Σ_{edges d'→d} α·y(v); a dataset with a fixed row p_d has
r_d·p_d in place of the maximum. The bound of a result is this sum, computed here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rainbowdp.aliases import Floats, Integers
from rainbowdp.graphs.graph import RainbowGraph
from rainbowdp.guarantees.curve import TradeOffCurve
from rainbowdp.guarantees.piecewise import PiecewiseLinear
from rainbowdp.guarantees.polygons import safe_curve
from rainbowdp.guarantees.trade_off import TradeOff
from rainbowdp.mechanisms.unrestricted.envelope import FixedRows
from rainbowdp.numeric.linear_programs import LinearProgram

_GAUSSIAN_STRIDE = 8  # of the polygon's knots one in so many is kept


def polygon_of(guarantee: TradeOffCurve) -> PiecewiseLinear:
    """The guarantee itself, or for a curve a polygon on its safe side with about 130 knots."""
    if isinstance(guarantee, PiecewiseLinear):
        return guarantee
    knots = safe_curve(guarantee).knots
    half = [knot for knot in knots if knot[0] <= knot[1]]
    kept = {*half[::_GAUSSIAN_STRIDE], half[-1]}
    return TradeOff(sorted(kept | {(y, x) for x, y in kept}))


@dataclass(frozen=True)
class Polytope:
    """All mechanisms with a guarantee and given rows, as the feasible set of a linear program.

    Columns: p_d(v), dataset by dataset, then the slacks. Rows: for each line the directed edges
    answer by answer and, if the line has slacks, their sums; then Σ_v p_d(v) = 1. Edges between two
    fixed datasets are left out, since they have been checked.
    """

    size: int
    answers: int
    edges: Integers  # directed, one a row
    lines: tuple[tuple[float, float], ...]
    positions: Integers  # of the fixed datasets
    rows: Floats

    @classmethod
    def of(cls, graph: RainbowGraph, guarantee: TradeOffCurve, fixed: FixedRows) -> Polytope:
        """The mechanisms on ``graph``."""
        given = np.zeros(len(graph), dtype=np.bool_)
        given[fixed.positions] = True
        edges = graph.edge_positions()
        edges = edges[~given[edges].all(axis=1)]
        lines = [(float(x.slope), float(x.rise)) for x in polygon_of(guarantee).lines]
        return cls(
            len(graph),
            len(graph.answers),
            np.concatenate([edges, edges[:, ::-1]]),
            tuple(line for line in lines if line[0] >= 1),
            fixed.positions,
            fixed.rows,
        )

    @property
    def demands(self) -> int:
        """The number of inequalities."""
        return len(self.lines) * len(self.edges) * self.answers

    def program(self, kept: Sequence[tuple[Floats, float]] = ()) -> LinearProgram:
        """The linear program; ``kept`` are worths with the least total that each must have."""
        q, many = self.answers, len(self.edges) * self.answers
        own = self.size * q
        here = (self.edges[:, :1] * q + np.arange(q)).reshape(-1)
        there = (self.edges[:, 1:] * q + np.arange(q)).reshape(-1)
        row, column, entry = [], [], []
        limits: list[Floats] = []
        height, width = 0, own

        def put(rows: Integers, columns: Integers, value: float | Floats) -> None:
            row.append(rows)
            column.append(columns)
            entry.append(np.broadcast_to(np.asarray(value, dtype=np.float64), rows.shape))

        for slope, rise in self.lines:
            line, scale = height + np.arange(many), _scale(slope)
            put(line, here, scale)
            put(line, there, -slope * scale)
            limits.append(np.zeros(many))
            height += many
            if rise:
                slack = width + np.arange(many)
                put(line, slack, -scale)
                put(height + np.arange(many) // q, slack, 1.0)
                limits.append(np.full(len(self.edges), rise))
                height, width = height + len(self.edges), width + many
        free = np.setdiff1d(np.arange(self.size), self.positions)
        put(
            height + np.repeat(np.arange(len(free)), q),
            (free[:, None] * q + np.arange(q)).reshape(-1),
            1.0,
        )
        limits.append(np.ones(len(free)))
        lower = [np.full(height, -np.inf), np.ones(len(free))]
        height += len(free)
        for worth, least in kept:
            put(np.full(own, height), np.arange(own), worth.reshape(-1))
            limits.append(np.array([np.inf]))
            lower.append(np.array([least]))
            height += 1
        from scipy import sparse

        matrix = sparse.csc_array(
            (np.concatenate(entry), (np.concatenate(row), np.concatenate(column))),
            shape=(height, width),
        )
        matrix.eliminate_zeros()
        lowest, highest = np.zeros(width), np.full(width, np.inf)
        given = (self.positions[:, None] * q + np.arange(q)).reshape(-1)
        lowest[given] = highest[given] = self.rows.reshape(-1)
        return LinearProgram(matrix, np.concatenate(lower), np.concatenate(limits), lowest, highest)

    def cost(self, worth: Floats, program: LinearProgram) -> Floats:
        """A worth (dataset by answer) as an objective of ``program``."""
        return np.concatenate([worth.reshape(-1), np.zeros(len(program.lower) - worth.size)])

    def multipliers(self, found: Floats, kept: int = 0) -> tuple[Floats, Floats]:
        """The solver's multipliers by line, directed edge and answer; and those of ``kept``."""
        many, start = len(self.edges) * self.answers, 0
        prices = np.empty((len(self.lines), len(self.edges), self.answers))
        for number, (slope, rise) in enumerate(self.lines):
            price = found[start : start + many] * _scale(slope)
            prices[number] = np.maximum(price, 0.0).reshape(-1, self.answers)
            start += many + (len(self.edges) if rise else 0)
        return prices, np.maximum(-found[len(found) - kept :], 0.0)

    def bound(self, worth: Floats, prices: Floats) -> float:
        """The upper bound on Σ worth·p that ``prices`` ≥ 0 prove (see the top of this file)."""
        total, reduced = 0.0, worth.reshape(-1).copy()
        size, q = len(reduced), self.answers
        here = (self.edges[:, :1] * q + np.arange(q)).reshape(-1)
        there = (self.edges[:, 1:] * q + np.arange(q)).reshape(-1)
        for (slope, rise), price in zip(self.lines, prices, strict=True):
            flat = price.reshape(-1)
            reduced -= np.bincount(here, flat, size)
            reduced += slope * np.bincount(there, flat, size)
            total += rise * float(price.max(axis=1).sum()) if rise and price.size else 0.0
        table = reduced.reshape(-1, q)
        free = np.ones(self.size, dtype=np.bool_)
        free[self.positions] = False
        fixed = (table[self.positions] * self.rows).sum()
        return total + float(table[free].max(axis=1).sum() + fixed)

    def table(self, values: Floats) -> Floats | None:
        """The rows of a solution, made distributions; fixed rows as they were given.

        None if they are nowhere near distributions, as after a solver that stopped early.
        """
        table = np.clip(values[: self.size * self.answers].reshape(-1, self.answers), 0.0, 1.0)
        if not (np.abs(table.sum(axis=1) - 1.0) < 0.1).all():  # also where it is not a number
            return None
        table /= table.sum(axis=1, keepdims=True)
        table[self.positions] = self.rows
        return table


def _scale(slope: float) -> float:
    """Divide rows with huge slopes by them: the solver wants numbers of ordinary size."""
    return 1.0 / slope if slope > 1e6 else 1.0


def merge_equal(
    polytope: Polytope, guarantee: TradeOffCurve, graph: RainbowGraph
) -> tuple[Polytope, Integers]:
    """Datasets that must have the same row become one: whole components if φ(s) = s.

    Returns the smaller polytope and for each dataset its number in it. Nothing else is merged.
    """
    if guarantee.moves or len(polytope.lines) != 1 or polytope.lines[0] != (1.0, 0.0):
        return polytope, np.arange(polytope.size)
    edges = graph.edge_positions()
    shape = (polytope.size, polytope.size)
    from scipy import sparse
    from scipy.sparse.csgraph import connected_components

    joined = sparse.coo_array((np.ones(len(edges)), (edges[:, 0], edges[:, 1])), shape=shape)
    count, found = connected_components(joined, directed=False)
    group = found.astype(np.int64)
    places, first = np.unique(group[polytope.positions], return_index=True)
    smaller = Polytope(
        int(count), polytope.answers, polytope.edges[:0], (), places, polytope.rows[first]
    )
    return smaller, group


def private_table(
    table: Floats, edges: Integers, guarantee: TradeOffCurve, most: float = 1.0
) -> tuple[Floats, float] | None:
    """``table`` mixed with the uniform row at the least weight 2^-k that makes it private.

    Private up to the rounding that ``Mechanism.check`` allows. None if more than ``most`` would be
    needed.
    """
    mixing = 0.0
    while mixing <= most:
        mixed = (1.0 - mixing) * table + mixing / table.shape[1]
        if not _breaks(mixed, edges, guarantee):
            return mixed, mixing
        mixing = mixing * 2 if mixing else 2.0**-52
    return None


def _breaks(table: Floats, edges: Integers, guarantee: TradeOffCurve) -> bool:
    for start in range(0, len(edges), 1 << 16):
        first, second = edges[start : start + (1 << 16)].T
        if guarantee.excesses(table[first], table[second]).any():
            return True
    return False
