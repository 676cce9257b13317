"""A mechanism: a distribution over the answers for each dataset.

Each distinct distribution is kept once, as a row, and every dataset points at one; a mechanism on
ten million datasets with forty distinct rows holds forty rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rainbowdp.aliases import Answer, Dataset, Floats
from rainbowdp.display import cards
from rainbowdp.display.progress import track
from rainbowdp.errors import InvalidMechanism, RainbowError
from rainbowdp.exact.check import Check
from rainbowdp.exact.mechanism import ExactMechanism, Releasable
from rainbowdp.expecting import brief, expect
from rainbowdp.graphs.engines.narrow import number_type
from rainbowdp.graphs.graph import RainbowGraph
from rainbowdp.graphs.morphisms import Morphism
from rainbowdp.graphs.rainbows import Order, Utility, Verdict, compare_rows, in_order, verdict
from rainbowdp.guarantees.curve import TradeOffCurve, curve_of
from rainbowdp.guarantees.repeated import excess_after, excesses_after
from rainbowdp.mechanisms.boundary import BoundaryCondition
from rainbowdp.mechanisms.integers import regrown, row_by_row
from rainbowdp.mechanisms.worths import AnyUtility, AnyWeights, worths_of
from rainbowdp.numeric.quantity import SUM_TOLERANCE, plain

_WHAT = "a mechanism on a graph"
_BLOCK = 1 << 16


@dataclass(frozen=True)
class Witness:
    """A dataset and a set of its most preferred answers on which two mechanisms differ."""

    dataset: Dataset
    prefix: tuple[Answer, ...]
    first: float
    second: float
    worth: bool = False

    @property
    def what(self) -> str:
        """What the two numbers are."""
        if self.worth:
            return "expected worth"
        return f"P({', '.join(str(a) for a in self.prefix)})"


@dataclass(frozen=True)
class Relation:
    """How one mechanism compares with another: the verdict, and a witness for each direction."""

    verdict: Verdict
    better: Witness | None = None
    worse: Witness | None = None

    def __str__(self) -> str:
        reasons = [
            f"{word} at {w.dataset!r}: {w.what} = {w.first:.6g} against {w.second:.6g}"
            for word, w in (("better", self.better), ("worse", self.worse))
            if w is not None
        ]
        return "; ".join([self.verdict, *reasons])


@dataclass(frozen=True)
class Homogeneity:
    """Whether each region has one distribution on its boundary, or two datasets that differ."""

    holds: bool
    differ: tuple[Dataset, Dataset] | None = None

    def __bool__(self) -> bool:
        return self.holds


class Mechanism(Releasable, Mapping[Dataset, dict[Answer, float]]):
    """A randomized answer for each dataset of a rainbow graph.

    Most people get one from ``rb.optimal`` or ``Mechanism.from_table``.

    Parameters
    ----------
    graph
        The rainbow graph.
    table
        The distinct rows: probabilities in the order of ``graph.answers``.
    index
        For each dataset the number of its row in ``table``.
    guarantee
        What the mechanism promises; not checked here.
    name
        What it is called.
    rows
        The mechanism on the boundary graph that this one is the pullback of.
    boundary
        The boundary condition it was grown from.

    Raises
    ------
    InvalidMechanism
        If rows, index and graph do not fit together, or a row is not a distribution.

    Examples
    --------
    >>> graph = RainbowGraph([("a", "b")], {"a": ("yes", "no"), "b": ("no", "yes")})
    >>> coin = Mechanism.from_table(graph, {"a": {"yes": 0.6, "no": 0.4}, "b": (0.4, 0.6)})
    >>> coin["b"]
    {'no': 0.6, 'yes': 0.4}

    """

    def __init__(
        self,
        graph: RainbowGraph,
        table: Floats,
        index: NDArray[Any],
        guarantee: TradeOffCurve | None = None,
        *,
        name: str = "given rows",
        rows: Mechanism | None = None,
        boundary: BoundaryCondition | None = None,
    ) -> None:
        if table.ndim != 2 or table.shape[1] != len(graph.answers) or index.shape != (len(graph),):
            raise InvalidMechanism(
                f"table must have {len(graph.answers)} columns, one for each answer, and index an "
                f"entry for each of the {len(graph)} datasets, got shapes {table.shape} and "
                f"{index.shape}"
            )
        _check_table(table)
        index = np.asarray(index)
        wrong = (index < 0) | (index >= len(table))
        if wrong.any() or index.dtype.kind not in "iu":
            shown = index[wrong][0] if wrong.any() else index.dtype
            raise InvalidMechanism(
                f"index must hold row numbers from 0 to {len(table) - 1}, got {shown}"
            )
        self._table, self._index = table.view(), index.astype(number_type(len(table) - 1))
        self._table.flags.writeable = self._index.flags.writeable = False
        self._begin(graph, guarantee, name, rows, boundary)

    def _begin(
        self,
        graph: RainbowGraph,
        guarantee: TradeOffCurve | None,
        name: str,
        rows: Mechanism | None = None,
        boundary: BoundaryCondition | None = None,
    ) -> None:
        self.graph = graph
        self.guarantee = None if guarantee is None else curve_of(guarantee, _WHAT)
        self._name, self._rows, self._boundary = name, rows, boundary

    @property
    def table(self) -> Floats:
        """The distinct rows: probabilities in the order of ``graph.answers``; read-only."""
        return self._table

    @property
    def index(self) -> NDArray[Any]:
        """For each dataset the number of its row in ``table``; read-only."""
        return self._index

    @classmethod
    def from_table(
        cls,
        graph: RainbowGraph,
        distributions: Mapping[Dataset, Any],
        guarantee: TradeOffCurve | None = None,
    ) -> Mechanism:
        """A mechanism from one distribution for each dataset.

        Parameters
        ----------
        graph
            The rainbow graph.
        distributions
            For each dataset a mapping {answer: probability}, or a sequence in the order of
            ``graph.answers``.
        guarantee
            What the mechanism promises; ``check`` tells whether it holds.

        Returns
        -------
        Mechanism
            The mechanism.

        Raises
        ------
        InvalidMechanism
            If a dataset has no distribution.

        """
        expect(graph, RainbowGraph, "a mechanism", InvalidMechanism)
        expect(distributions, Mapping, "Mechanism.from_table", InvalidMechanism)
        rows: dict[tuple[float, ...], int] = {}
        index = np.empty(len(graph), dtype=np.int64)
        for place, dataset in enumerate(graph.datasets):
            if dataset not in distributions:
                raise InvalidMechanism(
                    f"dataset {brief(dataset)} has no distribution; every dataset needs one"
                )
            row = tuple(float(p) for p in in_order(distributions[dataset], graph.answers))
            index[place] = rows.setdefault(row, len(rows))
        for dataset in distributions:
            graph.position(dataset)
        return cls(graph, np.array(list(rows)), index, guarantee)

    def __repr__(self) -> str:
        promise = f", {self.guarantee}" if self.guarantee is not None else ""
        return f"Mechanism({len(self)} datasets, {len(self.table)} rows{promise})"

    def _repr_html_(self) -> str:
        rows = ((name, *cards.row(self[name], self.graph.answers)) for name in self)
        counts = f"{len(self):,} datasets, {len(self.table):,} rows"
        table = cards.table(("dataset", "", "first choice"), rows, len(self))
        return cards.card("Mechanism", self.guarantee or "no guarantee", counts, table)

    def __getitem__(self, dataset: Dataset) -> dict[Answer, float]:
        """{answer: probability} at ``dataset``, most preferred answer first."""
        row = self.table[self.index[self.graph.position(dataset)]]
        place = self._answer_place
        return {answer: float(row[place[answer]]) for answer in self.graph.rainbow(dataset)}

    def __iter__(self) -> Iterator[Dataset]:
        return iter(self.graph.datasets)

    def __len__(self) -> int:
        return len(self.graph)

    __hash__ = None  # type: ignore[assignment]
    __eq__ = object.__eq__

    @property
    def rows(self) -> Mechanism:
        """The mechanism on the boundary graph that this one is the pullback of, or itself.

        For an optimal mechanism ``mechanism.rows[region, depth]`` is the row at that depth.
        """
        return self if self._rows is None else self._rows

    @cached_property
    def _answer_place(self) -> dict[Answer, int]:
        return {answer: place for place, answer in enumerate(self.graph.answers)}

    def pullback(self, morphism: Morphism) -> Mechanism:
        """The mechanism d ↦ self[morphism[d]] on the morphism's source: as private as this one.

        Parameters
        ----------
        morphism
            A morphism to this mechanism's graph.

        Returns
        -------
        Mechanism
            The mechanism on ``morphism.source``.

        Raises
        ------
        InvalidMechanism
            If the morphism leads to another graph or changes the answers.

        """
        if morphism.target is not self.graph:
            raise InvalidMechanism(
                f"the morphism leads to another graph, {brief(morphism.target)}; pull back "
                "along one to "
                "this mechanism's graph"
            )
        answers = morphism.source.answers
        if set(answers) != set(self.graph.answers):
            raise InvalidMechanism(
                f"the source of the morphism has the answers {', '.join(map(str, answers))}, but "
                f"the mechanism has {', '.join(map(str, self.graph.answers))}; they must be the "
                "same"
            )
        table = self.table[:, [self._answer_place[answer] for answer in answers]]
        index = self.index[morphism.positions]
        return Mechanism(morphism.source, table, index, self.guarantee, rows=self)

    @property
    def boundary(self) -> BoundaryCondition | None:
        """The boundary condition that an optimal mechanism was grown from, or None."""
        return self._boundary

    @property
    def name(self) -> str:
        """What the mechanism is called: its kind, or ``"given rows"``."""
        return self._name

    @property
    def promise(self) -> TradeOffCurve:
        """The guarantee; raises if the mechanism has none."""
        if self.guarantee is None:
            raise RainbowError(
                "this mechanism has no guarantee, and exact rows need one; make it by "
                "Mechanism.from_table(graph, table, DP(...))"
            )
        return self.guarantee

    def exact(self) -> ExactMechanism:
        """The mechanism in integers with its proof; built and proved once, then kept.

        An optimal mechanism is grown again from its boundary, exactly; the rows of any other are
        rounded to integers. What rounding breaks is repaired by the least mixing, or refused.
        """
        return self._exact

    @cached_property
    def _exact(self) -> ExactMechanism:
        if self.boundary is not None:
            return regrown(self.graph, self.promise, self.boundary)
        pairs = self.graph.joined_within(self.index, len(self.table))
        return row_by_row(self.graph, self.promise, self.table, self.index, *pairs)

    def check(self, guarantee: TradeOffCurve | None = None, *, every_edge: bool = False) -> Check:
        """Check the guarantee on every pair of neighbors: all sets of answers, both directions.

        Rows are floats, so the result holds up to a relative rounding of 1e-12. Cost: O(edges) and
        one comparison for each distinct pair of rows, in blocks; memory is that of the distinct
        pairs. n steps of an edge with a length allow n·ε, or φ applied n times (n·μ).

        Parameters
        ----------
        guarantee
            What to check; by default what the mechanism promises.
        every_edge
            Look at each edge of this graph. By default a pullback is checked on the graph it comes
            from, whose few edges prove the rest.

        Returns
        -------
        Check
            True if the guarantee holds; otherwise the worst pair of neighbors and the answers that
            prove it.

        Raises
        ------
        RainbowError
            If neither the argument nor the mechanism has a guarantee.

        """
        promise = guarantee if guarantee is not None else self.guarantee
        if promise is None:
            raise RainbowError(
                "this mechanism has no guarantee to check; pass one, as in check(DP(1))"
            )
        promise = curve_of(promise, _WHAT)
        if self.rows is not self and not every_edge and self.rows.check(promise):
            return Check.over_pairs(promise, len(self.rows.row_pairs()))
        pairs, steps = self.graph.joined_within(self.index, len(self.table))
        excess = np.zeros(len(pairs))
        starts = range(0, len(pairs), _BLOCK)
        for start in track(starts, len(starts), "checking"):
            block = slice(start, start + _BLOCK)
            first, second = pairs[block].T
            rows = self.table[first], self.table[second]
            excess[block] = excesses_after(promise, *rows, steps[block])
        if not excess.any():
            return Check.over_pairs(promise, len(pairs))
        place = int(excess.argmax())
        first, second = pairs[place]
        worst = excess_after(promise, self.table[first], self.table[second], int(steps[place]))
        places = np.array(self._shortest_between(first, second, int(steps[place])))
        more, less = self.graph.names(places if worst.first else places[::-1])
        answers = tuple(self.graph.answers[a] for a in worst.answers)
        return Check.broken(promise, len(pairs), float(worst), (more, less), answers)

    def _shortest_between(self, first: int, second: int, steps: int) -> tuple[int, int]:
        """The positions of two neighbors with these rows, so many steps apart."""
        if self.graph.lengths is None:
            return self.graph.edge_between(self.index == first, self.index == second)
        ends = self.graph.edge_positions()[self.graph.edge_lengths() == steps]
        ends = np.concatenate([ends, ends[:, ::-1]])
        found = ends[(self.index[ends] == [first, second]).all(axis=1)][0]
        return int(found[0]), int(found[1])

    def row_pairs(self) -> NDArray[np.int64]:
        """The distinct pairs of different rows that occur on neighbors."""
        return self.graph.joined(self.index, len(self.table))

    def rows_at(self, positions: NDArray[Any]) -> Floats:
        """The rows of the datasets at ``positions``, answers in the order of ``graph.answers``.

        Parameters
        ----------
        positions
            Indices in ``graph.datasets``.

        Returns
        -------
        array
            A row for each position.

        """
        rows: Floats = self.table[self.index[positions]]
        return rows

    def homogeneity(self) -> Homogeneity:
        """Whether each region has one and the same distribution on its whole boundary."""
        on_boundary = np.flatnonzero(self.graph.on_boundary)
        _, first = np.unique(self.graph.region_numbers[on_boundary], return_index=True)
        head = dict(
            zip(self.graph.region_numbers[on_boundary[first]], on_boundary[first], strict=True)
        )
        heads = np.array(
            [head[number] for number in self.graph.region_numbers[on_boundary]], dtype=np.int64
        )
        differ = (self.table[self.index[on_boundary]] != self.table[self.index[heads]]).any(axis=1)
        if not differ.any():
            return Homogeneity(True)
        worst = int(np.flatnonzero(differ)[0])
        one, other = self.graph.names(np.array([heads[worst], on_boundary[worst]]))
        return Homogeneity(False, (one, other))

    def utility(
        self, utility: AnyUtility | None = None, *, weights: AnyWeights | None = None
    ) -> float:
        """The expected worth of the answer, summed over all datasets.

        Parameters
        ----------
        utility
            What an answer is worth at a dataset: a ``Utility``, a mapping {first choice: {answer:
            worth}}, or an array by first choice or dataset, and answer. By default the first choice
            is worth 1.
        weights
            What each dataset counts; by default 1.

        Returns
        -------
        float
            The sum.

        """
        return worths_of(self.graph, utility, weights).total(self)

    def _preferred(self, places: NDArray[np.int64]) -> Floats:
        """The rows of the datasets at ``places`` in their own preference order."""
        order = np.array(
            [
                [self._answer_place[a] for a in region.rainbow]
                for region in self.graph.regions.values()
            ]
        )
        return np.take_along_axis(
            self.rows_at(places), order[self.graph.region_numbers[places]], axis=1
        )


def _check_table(table: Floats) -> None:
    fine = np.isfinite(table).all(axis=1) & (table >= 0).all(axis=1)
    fine &= np.abs(np.where(np.isfinite(table), table, 0.0).sum(axis=1) - 1) <= SUM_TOLERANCE
    if not fine.all():
        row = table[int(np.flatnonzero(~fine)[0])]
        raise InvalidMechanism(
            f"every row of table must be probabilities that sum to 1, got {plain(row)}"
        )


def relate(a: Mechanism, b: Mechanism, order: Order | Utility = "dominance") -> Relation:
    """How ``a`` compares with ``b`` on the same graph, dataset by dataset, with the proof.

    Parameters
    ----------
    a, b
        Two mechanisms on the same graph.
    order
        ``"dominance"`` (every prefix sum), ``"lexicographic"`` (the first that differs) or a
        ``Utility`` (its total). Differences within rounding count as equal.

    Returns
    -------
    Relation
        The verdict, with a dataset where ``a`` is better and one where it is worse, if there are
        any.

    Raises
    ------
    RainbowError
        If the mechanisms are on different graphs.

    Examples
    --------
    >>> graph = RainbowGraph([("a", "b")], {"a": ("yes", "no"), "b": ("no", "yes")})
    >>> sure = Mechanism.from_table(graph, {"a": (0.7, 0.3), "b": (0.3, 0.7)})
    >>> fair = Mechanism.from_table(graph, {"a": (0.5, 0.5), "b": (0.5, 0.5)})
    >>> relate(sure, fair).verdict
    'dominates'

    """
    for mechanism in (a, b):
        expect(mechanism, Mechanism, "a comparison of mechanisms", InvalidMechanism)
    if a.graph is not b.graph:
        raise RainbowError(
            "these mechanisms are on different graphs; only mechanisms on the same graph compare"
        )
    if isinstance(order, Utility):
        return _relate_by_utility(a, b, order)
    # Datasets that share the region and both rows compare alike; one of them speaks for all.
    keys = np.stack([a.graph.region_numbers, a.index, b.index], axis=1)
    _, places = np.unique(keys, axis=0, return_index=True)
    places.sort()
    first, second = a._preferred(places), b._preferred(places)
    signs = compare_rows(first, second, order)

    def witness(sign: int) -> Witness | None:
        found = np.argwhere(signs == sign)
        if not len(found):
            return None
        row, prefix = found[0]
        dataset = a.graph.datasets[int(places[row])]
        sums = first[row, : prefix + 1].sum(), second[row, : prefix + 1].sum()
        return Witness(
            dataset, a.graph.rainbow(dataset)[: prefix + 1], float(sums[0]), float(sums[1])
        )

    better, worse = witness(1), witness(-1)
    return Relation(verdict(better is not None, worse is not None), better, worse)


def _relate_by_utility(a: Mechanism, b: Mechanism, utility: Utility) -> Relation:
    worths = worths_of(a.graph, utility)
    first, second = worths.each(a), worths.each(b)
    gain = first.sum() - second.sum()
    if abs(gain) <= 1e-12 * (np.abs(first).sum() + np.abs(second).sum()):
        return Relation("equal")
    place = int((first - second).argmax() if gain > 0 else (second - first).argmax())
    dataset = a.graph.datasets[place]
    witness = Witness(
        dataset, a.graph.rainbow(dataset), float(first[place]), float(second[place]), worth=True
    )
    return (
        Relation("dominates", better=witness) if gain > 0 else Relation("dominated", worse=witness)
    )


def dominates(a: Mechanism, b: Mechanism) -> bool:
    """Whether every prefix sum of ``a`` is at least that of ``b``, at every dataset.

    Parameters
    ----------
    a, b
        Two mechanisms on the same graph.

    Returns
    -------
    bool
        True also if the two are equal.

    Examples
    --------
    >>> graph = RainbowGraph([("a", "b")], {"a": ("yes", "no"), "b": ("no", "yes")})
    >>> sure = Mechanism.from_table(graph, {"a": (0.7, 0.3), "b": (0.3, 0.7)})
    >>> fair = Mechanism.from_table(graph, {"a": (0.5, 0.5), "b": (0.5, 0.5)})
    >>> dominates(sure, fair), dominates(fair, sure)
    (True, False)

    """
    return relate(a, b).worse is None
