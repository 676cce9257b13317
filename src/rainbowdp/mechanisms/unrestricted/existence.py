"""Does one mechanism with given rows dominate all others? The mechanism, or a proof that none does.

With fixed rows the prefix sum s_k of a dataset d has a largest value among all mechanisms. A
mechanism that dominates all others must attain every one of these; so it exists if and only if
the vector of maxima, the *join*, is private itself.

**The envelope.** s_k(d) is at most U_k(d) = min over fixed b of φ^{dist(d,b)}(P_b(first k)). φ is
monotone, so the U_k(d) rise with k and are prefix sums of a row. If these rows are private, they
are the optimum, and no linear program is needed. That is so for a valid homogeneous boundary, whose
envelope is the paper's optimum, and for two answers whenever at least one of every two neighbors
with different preferences is fixed (``docs/theory.md``, Beyond the homogeneous boundary).

**Otherwise** each maximum is a linear program; all have the same feasible set, so each starts
from the vertex of the last. If the join breaks the guarantee on an edge, the maximizers at its
two ends (two in the paper's Example 1, up to 2(q−1)) prove that there is no optimum: it would
have to dominate each of them, while the multipliers of the programs show that it cannot have
more, so at this edge it would be the join.

**Lexicographic order** is total at each dataset: of all mechanisms one row comes first there, found
by a chain of programs, each prefix sum as large as the ones before it allow. A mechanism that comes
first everywhere has all of these rows, so it exists if and only if they are private.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rainbowdp.aliases import Floats, Integers
from rainbowdp.errors import InvalidBoundary, InvalidGraph, InvalidGuarantee, RainbowError
from rainbowdp.expecting import brief, expect
from rainbowdp.graphs.graph import RainbowGraph
from rainbowdp.graphs.rainbows import Order
from rainbowdp.guarantees.curve import TradeOffCurve, curve_of
from rainbowdp.guarantees.piecewise import PiecewiseLinear
from rainbowdp.mechanisms.mechanism import Mechanism
from rainbowdp.mechanisms.unrestricted.certificates import Certificate, Limit
from rainbowdp.mechanisms.unrestricted.envelope import (
    Envelope,
    FixedRows,
    envelope,
    fixed_rows,
    preferred_columns,
    refuse_contradiction,
)
from rainbowdp.mechanisms.unrestricted.polytope import Polytope
from rainbowdp.numeric.linear_programs import LinearProgram, Progress, Solver

TOLERANCE = 1e-8  # a join that breaks the guarantee by less is rounding of the solver
_LEXICOGRAPHIC_TOLERANCE = 1e-7  # the same where each maximum rests on the ones before it
_KEPT = 1e-11  # of a prefix sum that is kept, so that rounding leaves room for it
_ATTAINED = 1e-9  # a prefix sum this close to a bound attains it
_REPAIRS = (0.0, *(2.0**-k for k in range(50, 29, -2)))  # weights of the average that are tried


@dataclass(frozen=True)
class Existence:
    """Whether a mechanism with the fixed rows dominates all others; made by ``rb.optimum``.

    Attributes
    ----------
    mechanism
        The mechanism that attains every largest prefix sum, or None.
    certificate
        The proof that there is none, or None.
    closed_form
        Whether the envelope decided, without a linear program.
    within
        How closely ``mechanism`` attains the largest prefix sums.
    order
        The order that it is first in.

    """

    mechanism: Mechanism | None
    certificate: Certificate | None
    closed_form: bool = False
    within: float = 0.0
    order: Order = "dominance"

    @property
    def exists(self) -> bool:
        """Whether there is such a mechanism."""
        return self.mechanism is not None

    def __bool__(self) -> bool:
        return self.exists

    def __str__(self) -> str:
        if self.certificate is not None:
            return str(self.certificate)
        how = "in closed form" if self.closed_form else f"within {self.within:.1e}"
        said = "dominates all others"
        if self.order == "lexicographic":
            said = "is first in lexicographic order everywhere"
        return f"one mechanism {said} with these rows ({how})"


def optimum(
    graph: RainbowGraph,
    guarantee: TradeOffCurve,
    boundary: Any,
    *,
    order: Order = "dominance",
    progress: Progress | None = None,
) -> Existence:
    """The mechanism that dominates all others with the fixed rows, or the proof that none does.

    Cost: one sweep over the graph for each set of preferred answers; if that does not decide, up to
    datasets × (answers − 1) linear programs.

    Parameters
    ----------
    graph
        The rainbow graph.
    guarantee
        What is promised. A ``GaussianDP`` that the envelope does not decide is refused: a polygon
        in its place would prove nothing about the curve.
    boundary
        A mapping dataset → distribution for any datasets, usually every boundary dataset (rows as
        mappings, or in the order of ``graph.answers``), or a homogeneous ``BoundaryCondition``.
    order
        ``"dominance"``: every prefix sum is as large as any other mechanism's. ``"lexicographic"``:
        at every dataset, the first prefix sum that differs from another mechanism's is larger.
    progress
        Called with a line for each linear program.

    Returns
    -------
    Existence
        The mechanism, or a certificate that checks itself.

    Raises
    ------
    InvalidBoundary
        If fixed rows contradict each other; the message names two datasets.
    InvalidGraph
        If edges have lengths.
    InvalidGuarantee
        If linear programs are needed and the guarantee is not piecewise linear.

    Examples
    --------
    >>> from rainbowdp import DP, paper
    >>> rows = {"d1": (0.2, 0.1, 0.7), "d4": (0.4, 0.1, 0.5), "d5": (0.2, 0.1, 0.7)}
    >>> found = optimum(paper.example_one(), DP.from_ratio(2, 1), rows)
    >>> found.exists, found.certificate.edge, bool(found.certificate.check())
    (False, ('d2', 'd3'), True)

    """
    if expect(graph, RainbowGraph, "optimum", InvalidGraph).lengths is not None:
        raise InvalidGraph(
            "whether one mechanism dominates all others is decided on edges of one step, and those "
            "of this graph have lengths; use rb.program, which has the best for a utility"
        )
    if order not in ("dominance", "lexicographic"):
        raise RainbowError(
            f"order must be 'dominance' or 'lexicographic', got order={brief(order)}"
        )
    guarantee = curve_of(guarantee, "optimum")
    fixed = fixed_rows(graph, boundary)
    refuse_contradiction(graph, guarantee, fixed)
    columns = preferred_columns(graph)
    reached = _prefix_envelopes(graph, guarantee, fixed, columns)
    table = _envelope_table(graph, guarantee, fixed, columns, reached)
    grown = _mechanism(graph, table, guarantee)
    if grown.check(every_edge=True):
        return Existence(grown, None, closed_form=True, order=order)
    if not isinstance(guarantee, PiecewiseLinear):
        raise InvalidGuarantee(
            "whether an optimum exists is decided by linear programs here, which need a "
            f"piecewise-linear guarantee, got {brief(guarantee, str)}; use DP or TradeOff"
        )
    most = np.ones(columns.shape)
    for k, envelopes in enumerate(reached):
        most[:, k] = envelopes.most
    search = _Search if order == "dominance" else _Lexicographic
    return search(graph, guarantee, fixed, columns, most, progress).run()


def _prefix_envelopes(
    graph: RainbowGraph, guarantee: TradeOffCurve, fixed: FixedRows, order: Integers
) -> list[Envelope]:
    """For k = 1 … q − 1 the envelope of each dataset's own first k answers."""
    known: dict[frozenset[int], Envelope] = {}
    found = []
    for k in range(1, order.shape[1]):
        whole = Envelope(
            np.ones(len(graph)),
            np.full(len(graph), -1, dtype=np.int64),
            np.zeros(len(graph), dtype=np.int64),
        )
        sets = np.sort(order[:, :k], axis=1)
        for columns in np.unique(sets, axis=0):
            key = frozenset(int(c) for c in columns)
            if key not in known:
                known[key] = envelope(graph, guarantee, fixed, [int(c) for c in columns])
            here = (sets == columns).all(axis=1)
            for name in ("most", "source", "hops"):
                getattr(whole, name)[here] = getattr(known[key], name)[here]
        found.append(whole)
    return found


def _envelope_table(
    graph: RainbowGraph,
    guarantee: TradeOffCurve,
    fixed: FixedRows,
    order: Integers,
    reached: Sequence[Envelope],
) -> Floats:
    """The rows whose prefix sums are the envelopes, as precisely as floats can hold them."""
    n, q = order.shape
    table = np.zeros((n, q))
    if q == 1:
        return np.ones((n, 1))
    sums = np.stack([e.most for e in reached], axis=1)
    preferred = np.clip(np.diff(sums, axis=1, prepend=0.0, append=1.0), 0.0, 1.0)
    source = np.stack([e.source for e in reached], axis=1)
    first = (source >= 0).argmax(axis=1)
    places = np.arange(n)
    lead = source[places, first]
    hops = np.stack([e.hops for e in reached], axis=1)[places, first]
    # Where one fixed row binds at every prefix, its own growth has no cancellation in it.
    bound = np.flatnonzero(lead >= 0)
    own = np.take_along_axis(fixed.rows[lead[bound]], order[bound], axis=1) if bound.size else sums
    if q == 2 and bound.size:
        s, r = guarantee._advance(own[:, 0], own[:, 1], hops[bound].astype(np.float64))
        preferred[bound] = np.stack([s, r], axis=1)
    elif bound.size:
        starts = np.clip(np.cumsum(own, axis=1)[:, :-1], 0.0, 1.0)
        alone = guarantee.grow(starts, hops[bound, None])
        single = (np.abs(alone - sums[bound]) <= 1e-14).all(axis=1)
        keys = np.stack([graph.region_numbers[bound], lead[bound]], axis=1)[single]
        chosen = bound[single]
        kinds, number = np.unique(keys, axis=0, return_inverse=True)
        for kind, (_, row) in enumerate(kinds):
            members = chosen[number.reshape(-1) == kind]
            start = [fixed.exact[int(row)][int(c)] for c in order[members[0]]]
            preferred[members] = guarantee.rows(start, hops[members])
    np.put_along_axis(table, order, preferred, axis=1)
    table[fixed.positions] = fixed.rows
    return table


def _mechanism(graph: RainbowGraph, table: Floats, guarantee: TradeOffCurve) -> Mechanism:
    rows, index = np.unique(table, axis=0, return_inverse=True)
    return Mechanism(graph, rows, index.reshape(-1), guarantee)


class _Search:
    """The maxima by linear programs, and what follows from them."""

    named: Order = "dominance"

    def __init__(
        self,
        graph: RainbowGraph,
        guarantee: PiecewiseLinear,
        fixed: FixedRows,
        order: Integers,
        most: Floats,
        progress: Progress | None,
    ) -> None:
        self.graph, self.guarantee, self.fixed, self.order = graph, guarantee, fixed, order
        self.most, self.progress = most, progress
        self.polytope = Polytope.of(graph, guarantee, fixed)
        self.linear: LinearProgram = self.polytope.program()
        self.solver = Solver(self.linear, method="simplex", tolerance=1e-10)
        self.best = np.zeros(order.shape)  # the largest prefix sums seen so far
        self.center, self.seen = np.zeros(order.shape), 0

    def run(self) -> Existence:
        q = self.order.shape[1]
        free = np.setdiff1d(np.arange(len(self.graph)), self.fixed.positions)
        everything = np.zeros(self.order.shape)
        for place in free:
            everything += self._wish(int(place), range(1, q))
        together, _ = self._maximize(everything)
        open_ones = [(int(d), k) for d in free for k in range(1, q)]
        for number, (place, k) in enumerate(open_ones, 1):
            if self.best[place, k - 1] < self.most[place, k - 1] - _ATTAINED / 10:
                self._maximize(self._wish(place, [k]))
            if self.progress is not None:
                self.progress(f"prefix {number} of {len(open_ones)}")
        sums = np.minimum(np.maximum.accumulate(self.best, axis=1), 1.0)
        preferred = np.diff(sums[:, :-1], axis=1, prepend=0.0, append=1.0)
        table = np.zeros(self.order.shape)
        np.put_along_axis(table, self.order, np.maximum(preferred, 0.0), axis=1)
        table[self.fixed.positions] = self.fixed.rows
        edges = self.graph.edge_positions()
        excess = self.guarantee.excesses(table[edges[:, 0]], table[edges[:, 1]])
        if excess.max() > TOLERANCE:
            return self._refuted(edges[int(excess.argmax())])
        for candidate in (table, together):
            mended = self._mended(candidate)
            if mended is not None:
                there = self._sums(mended.table[mended.index])
                within = float((self.best - there)[free, : q - 1].max(initial=0.0))
                return Existence(mended, None, within=max(within, 0.0))
        raise self._undecided()

    def _wish(self, place: int, counts: Sequence[int] | range) -> Floats:
        """The worth that adds up the prefix sums of one dataset."""
        worth = np.zeros(self.order.shape)
        for k in counts:
            worth[place, self.order[place, :k]] += 1.0
        return worth

    def _sums(self, table: Floats) -> Floats:
        return np.cumsum(np.take_along_axis(table, self.order, axis=1), axis=1)

    def _maximize(self, worth: Floats) -> tuple[Floats, Floats]:
        """(rows, prices) of a maximizer of ``worth``."""
        table, multipliers = self._solved(self.solver, self.linear, worth)
        self.best = np.maximum(self.best, self._sums(table))
        return table, self.polytope.multipliers(multipliers)[0]

    def _solved(
        self, solver: Solver, linear: LinearProgram, worth: Floats
    ) -> tuple[Floats, Floats]:
        """(rows, multipliers) of a maximizer of ``worth`` in ``linear``."""
        solution = solver.maximize(self.polytope.cost(worth, linear))
        if solution.status == "infeasible":
            refuse_contradiction(self.graph, self.guarantee, self.fixed, every_set=True)
            raise InvalidBoundary(
                f"fixed rows must leave room for a {self.guarantee} mechanism, but there is none, "
                "though every two of them can be reconciled"
            )
        table = self.polytope.table(solution.values) if solution.values.size else None
        if solution.status != "optimal" or table is None:
            raise RainbowError(f"the solver stopped without an answer: {solution.message}")
        self.center += table
        self.seen += 1
        return table, solution.multipliers

    def _mended(self, table: Floats) -> Mechanism | None:
        """``table`` with the rounding taken out by a little of the average of all maximizers."""
        center = self.center / self.seen
        for weight in _REPAIRS:
            mixed = (1 - weight) * table + weight * center
            mixed[self.fixed.positions] = self.fixed.rows
            mechanism = _mechanism(self.graph, mixed, self.guarantee)
            if mechanism.check(every_edge=True):
                return mechanism
        return None

    def _undecided(self) -> RainbowError:
        return RainbowError(
            "whether an optimum exists could not be decided in floats: the fixed rows leave no "
            "room for rounding; give them a little slack"
        )

    def _refuted(self, edge: Integers) -> Existence:
        ends = [int(place) for place in edge]
        given = {int(place) for place in self.fixed.positions}
        mechanisms: list[Mechanism] = []
        limits: list[Limit] = []
        for place in (end for end in ends if end not in given):
            for table in self._maximizers(place, limits):
                mended = self._mended(table)
                if mended is None:
                    raise self._undecided()
                mechanisms.append(mended)
        names = self.graph.names(edge)
        draft = Certificate(
            self.graph,
            self.guarantee,
            self.fixed,
            tuple(mechanisms),
            tuple(limits),
            (names[0], names[1]),
            (),
            0.0,
            self.named,
        )
        answers = self.graph.answers
        first, second = (np.array([row[a] for a in answers]) for row in draft.join.values())
        worst = self.guarantee.excess(np.maximum(first, 0.0), np.maximum(second, 0.0))
        turned = not worst.first
        per_end = self.named == "lexicographic"
        certificate = replace(
            draft,
            mechanisms=draft.mechanisms[::-1] if turned and per_end else draft.mechanisms,
            edge=draft.edge[::-1] if turned else draft.edge,
            answers=tuple(answers[v] for v in worst.answers),
            excess=float(worst),
        )
        if not certificate.check():
            raise self._undecided()
        return Existence(None, certificate, order=self.named)

    def _maximizers(self, place: int, limits: list[Limit]) -> Iterator[Floats]:
        """One mechanism with all the largest prefix sums of a dataset if there is one, or more."""
        counts = range(1, self.order.shape[1])
        single = []
        for k in counts:
            table, prices = self._maximize(self._wish(place, [k]))
            most = self.polytope.bound(self._wish(place, [k]), prices)
            limits.append(Limit(self.graph.datasets[place], k, most, prices))
            single.append(table)
        together, _ = self._maximize(self._wish(place, counts))
        there = self._sums(together)[place, :-1]
        if (there >= self.best[place, :-1] - _ATTAINED).all():
            yield together
            return
        attained = np.zeros(len(counts))
        for k, table in zip(counts, single, strict=True):
            if attained[k - 1] < self.best[place, k - 1] - _ATTAINED:
                attained = np.maximum(attained, self._sums(table)[place, :-1])
                yield table


class _Lexicographic(_Search):
    """The first row of each dataset by a chain of programs, and what follows from them."""

    named: Order = "lexicographic"

    def run(self) -> Existence:
        free = np.setdiff1d(np.arange(len(self.graph)), self.fixed.positions)
        table = np.zeros(self.order.shape)
        for number, place in enumerate(free.tolist(), 1):
            table[place] = self._first(place, [])[place]
            if self.progress is not None:
                self.progress(f"dataset {number} of {len(free)}")
        table[self.fixed.positions] = self.fixed.rows
        edges = self.graph.edge_positions()
        excess = self.guarantee.excesses(table[edges[:, 0]], table[edges[:, 1]])
        if excess.max(initial=0.0) > _LEXICOGRAPHIC_TOLERANCE:
            return self._refuted(edges[int(excess.argmax())])
        mended = self._mended(table)
        if mended is None:
            raise self._undecided()
        there = self._sums(mended.table[mended.index])
        within = float(np.abs(self._sums(table) - there).max(initial=0.0))
        return Existence(mended, None, within=within, order=self.named)

    def _first(self, place: int, limits: list[Limit]) -> Floats:
        """A mechanism whose row at ``place`` comes first, with the limits that prove it."""
        kept: list[tuple[Floats, float]] = []
        table = np.zeros(self.order.shape)
        for k in range(1, self.order.shape[1]):
            wish = self._wish(place, [k])
            linear = self.polytope.program(kept)
            solver = Solver(linear, method="simplex", tolerance=1e-10)
            table, multipliers = self._solved(solver, linear, wish)
            prices, earlier = self.polytope.multipliers(multipliers, len(kept))
            lifted, held = wish.copy(), 0.0
            for price, (other, least) in zip(earlier, kept, strict=True):
                lifted, held = lifted + price * other, held + price * least
            most = self.polytope.bound(lifted, prices) - held
            name = self.graph.datasets[place]
            limits.append(Limit(name, k, float(most), prices, tuple(earlier.tolist())))
            kept.append((wish, float(self._sums(table)[place, k - 1]) - _KEPT))
        return table

    def _maximizers(self, place: int, limits: list[Limit]) -> Iterator[Floats]:
        yield self._first(place, limits)
