"""Fixed rows, and how far they let every other dataset go.

A fixed row at distance t from a dataset d allows a set S of answers at most the probability
φ^t(P(S)) at d. The least of these over all fixed rows is the *envelope* of S. Two fixed rows whose
own probabilities exceed each other's envelopes contradict each other: no mechanism has both.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rainbowdp.aliases import Answer, Dataset, Floats
from rainbowdp.errors import InvalidBoundary, InvalidGraph
from rainbowdp.expecting import expect
from rainbowdp.graphs.graph import RainbowGraph
from rainbowdp.graphs.rainbows import in_order
from rainbowdp.guarantees.curve import ROUNDING, TradeOffCurve
from rainbowdp.mechanisms.boundary import BoundaryCondition

Integers = NDArray[np.int64]

_NOISE = 4e-13  # below what a check counts as rounding, above what growth makes of it


@dataclass(frozen=True)
class FixedRows:
    """Datasets whose distribution is given, by position, in the order of the graph's answers."""

    positions: Integers
    exact: tuple[tuple[Fraction, ...], ...]
    answers: int

    @cached_property
    def rows(self) -> Floats:
        """The rows as floats."""
        rows = [[float(p) for p in row] for row in self.exact]
        return np.array(rows, dtype=np.float64).reshape(len(self.exact), self.answers)

    def __len__(self) -> int:
        return len(self.positions)


def fixed_rows(graph: RainbowGraph, boundary: Any) -> FixedRows:
    """A boundary in any form as rows at positions; None gives none at all.

    A ``BoundaryCondition`` or a row in preference order fixes every boundary dataset of each
    region; a mapping dataset → distribution fixes exactly those datasets, each row a mapping
    {answer: probability} or a sequence in the order of ``graph.answers``.
    """
    expect(graph, RainbowGraph, "a linear program", InvalidGraph)
    if boundary is None:
        boundary = {}
    if isinstance(boundary, Mapping):
        given = {graph.position(d): in_order(row, graph.answers) for d, row in boundary.items()}
    else:
        condition = BoundaryCondition(graph, boundary)
        rows = {
            label: tuple(exact[answer] for answer in graph.answers)
            for label, exact in ((key, condition.exact(key)) for key in condition.exact_rows)
        }
        given = {graph.position(d): rows[graph.region[d]] for d in graph.boundary}
    positions = np.array(sorted(given), dtype=np.int64)
    rows_there = tuple(given[int(place)] for place in positions)
    return FixedRows(positions, rows_there, len(graph.answers))


@dataclass(frozen=True)
class Envelope:
    """The most that fixed rows leave to one set of answers at each dataset, and which row binds.

    ``most[d]`` = min over fixed b of φ^{dist(d,b)}(P_b(set)); ``source`` is that b's number
    among the fixed rows (−1 if none is reached: the most is 1) and ``hops`` the distance.
    """

    most: Floats
    source: Integers
    hops: Integers


def envelope(
    graph: RainbowGraph, guarantee: TradeOffCurve, fixed: FixedRows, columns: Sequence[int]
) -> Envelope:
    """The ``Envelope`` of the answers in ``columns``, by one sweep from all fixed datasets at once.

    φ is monotone, so each dataset keeps only its least value; a dataset is visited again when a
    farther row turns out to bind harder. Cost: O(edges) array work for each round, and as many
    rounds as the longest way on which a row binds.
    """
    inside = np.zeros(fixed.answers, dtype=np.bool_)
    inside[list(columns)] = True
    share, other = (np.clip(fixed.rows[:, side].sum(axis=1), 0, 1) for side in (inside, ~inside))
    most, rest = np.ones(len(graph)), np.zeros(len(graph))  # rest is 1 − most, kept apart
    source = np.full(len(graph), -1, dtype=np.int64)
    hops = np.zeros(len(graph), dtype=np.int64)
    front = fixed.positions
    most[front], rest[front], source[front] = share, other, np.arange(len(fixed))
    offsets, targets = graph.compressed
    while front.size:
        starts = offsets[front].astype(np.int64)
        counts = offsets[front + 1].astype(np.int64) - starts
        ends = np.cumsum(counts)
        along = np.arange(ends[-1]) - np.repeat(ends - counts, counts)
        reached = targets[np.repeat(starts, counts) + along]
        giver = np.repeat(front, counts)
        s, r = guarantee._advance(
            share[source[front]], other[source[front]], hops[front].astype(np.float64) + 1
        )
        s, r, low = np.repeat(s, counts), np.repeat(r, counts), np.repeat(s < 0.5, counts)
        # less, or a larger rest, by more than rounding: or rounding would go round in circles
        better = np.where(low, s < most[reached] * (1 - _NOISE), r > rest[reached] * (1 + _NOISE))
        order = np.flatnonzero(better)
        order = order[np.lexsort((np.where(low, s, -r)[order], ~low[order], reached[order]))]
        front, first = np.unique(reached[order], return_index=True)
        chosen = order[first]
        most[front], rest[front] = s[chosen], r[chosen]
        source[front], hops[front] = source[giver[chosen]], hops[giver[chosen]] + 1
    return Envelope(most, source, hops)


@dataclass(frozen=True)
class Contradiction:
    """Two fixed rows that no mechanism with the guarantee can have at their distance."""

    datasets: tuple[Dataset, Dataset]  # the first gives the answers too often
    distance: int
    answers: tuple[Answer, ...]
    excess: float

    def __str__(self) -> str:
        more, less = self.datasets
        steps = "1 step" if self.distance == 1 else f"{self.distance} steps"
        return (
            f"{{{', '.join(str(a) for a in self.answers)}}} is too likely at {more!r}, {steps} "
            f"from {less!r}, by {self.excess:.6g}"
        )


def contradiction(
    graph: RainbowGraph, guarantee: TradeOffCurve, fixed: FixedRows, sets: Iterable[Sequence[int]]
) -> Contradiction | None:
    """The worst pair of fixed rows with P(S) > φ^distance(Q(S)) for one of ``sets``, or None."""
    worst: Contradiction | None = None
    for columns in sets:
        shares = fixed.rows[:, list(columns)].sum(axis=1)
        reach = envelope(graph, guarantee, fixed, columns)
        most = reach.most[fixed.positions]
        over = np.where(shares - most > ROUNDING * (shares + most), shares - most, 0.0)
        place = int(over.argmax()) if over.size else 0
        if over.size and over[place] > (worst.excess if worst else 0.0):
            here = fixed.positions[place]
            pair = graph.names(np.array([here, fixed.positions[reach.source[here]]]))
            answers = tuple(graph.answers[v] for v in columns)
            worst = Contradiction(
                (pair[0], pair[1]), int(reach.hops[here]), answers, float(over[place])
            )
    return worst


def refuse_contradiction(
    graph: RainbowGraph, guarantee: TradeOffCurve, fixed: FixedRows, *, every_set: bool = False
) -> None:
    """Raise ``InvalidBoundary``, naming the pair, if two fixed rows contradict each other.

    Neighbors are compared on all sets of answers, others on single answers, or with ``every_set``
    on all sets too.
    """
    found = _beside(graph, guarantee, fixed)
    if found is None and len(fixed) > 1:
        found = contradiction(graph, guarantee, fixed, _sets(graph, every_set))
    if found is not None:
        raise InvalidBoundary(
            f"fixed rows must leave room for a {guarantee} mechanism, but {found}"
        )


def _sets(graph: RainbowGraph, every: bool) -> list[tuple[int, ...]]:
    """Single answers, or half of all sets: the other half are their complements."""
    size = len(graph.answers)
    largest = size // 2 if every and size <= 12 else 1
    sizes = range(1, largest + 1)
    return [columns for k in sizes for columns in itertools.combinations(range(size), k)]


def _beside(
    graph: RainbowGraph, guarantee: TradeOffCurve, fixed: FixedRows
) -> Contradiction | None:
    number = np.full(len(graph), -1, dtype=np.int64)
    number[fixed.positions] = np.arange(len(fixed))
    pairs = number[graph.edge_positions()]
    pairs = pairs[(pairs >= 0).all(axis=1)]
    over = guarantee.excesses(fixed.rows[pairs[:, 0]], fixed.rows[pairs[:, 1]])
    if not over.any():
        return None
    pair = pairs[int(over.argmax())]
    worst = guarantee.excess(*fixed.rows[pair])
    more, less = graph.names(fixed.positions[pair if worst.first else pair[::-1]])
    answers = tuple(graph.answers[v] for v in worst.answers)
    return Contradiction((more, less), 1, answers, float(worst))


def preferred_columns(graph: RainbowGraph) -> Integers:
    """For each dataset the columns of its answers, most preferred first."""
    place = {answer: number for number, answer in enumerate(graph.answers)}
    orders = np.array([[place[a] for a in region.rainbow] for region in graph.regions.values()])
    found: Integers = orders[graph.region_numbers]
    return found
