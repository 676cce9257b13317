"""A lifted mechanism: exact rows on the grid, with the check of every edge that made them."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rainbowdp.aliases import Answer, Dataset, Floats, Integers
from rainbowdp.errors import InvalidMechanism
from rainbowdp.exact.check import Check
from rainbowdp.exact.mechanism import ExactMechanism
from rainbowdp.exact.rows import ExactRow
from rainbowdp.graphs.engines.narrow import number_type
from rainbowdp.graphs.graph import RainbowGraph
from rainbowdp.guarantees.dp import DP
from rainbowdp.mechanisms.lifted.grid import TOTAL, Bound, worst_edge
from rainbowdp.mechanisms.mechanism import Mechanism
from rainbowdp.rules.homogeneous.rule import Homogeneous

_BLOCK = 1 << 14  # rows that are compared at a time


class Lifted(Mechanism):
    """A mechanism that says the true answer, with exact rows and a proof; made by ``rb.lifted``.

    ``exact()`` makes an ``ExactMechanism`` without further rounding, in Python's integers: for up
    to some millions of weights.

    Parameters
    ----------
    graph
        The rainbow graph.
    weights
        A row for each dataset, or for each number in ``index``, in units of 2^-52.
    guarantee
        What is promised; weights that break it on an edge are refused.
    index
        The number of each dataset's row, where datasets share them.
    rounds
        How many rounds a fixed point took.
    change
        How far its s is from 1 − Σ R_v.
    relieved
        How many datasets had to be made less certain before every edge was private.
    name
        What it is called.

    Raises
    ------
    InvalidMechanism
        If an edge breaks the guarantee.

    """

    _steps: Lifted | None = None

    def __init__(
        self,
        graph: RainbowGraph,
        weights: Integers,
        guarantee: DP,
        *,
        index: NDArray[Any] | None = None,
        rounds: int = 0,
        change: float = 0.0,
        relieved: int = 0,
        name: str = "lifted",
    ) -> None:
        _must_be_rows_of(graph, weights, index)
        pairs = graph.edge_positions() if index is None else graph.joined(index, len(weights))
        worst = worst_edge(weights, pairs, Bound.of(guarantee))
        if worst.excess > 0:
            raise InvalidMechanism(
                f"the weights must keep {guarantee} on every edge, but one edge exceeds it by "
                f"{worst.excess / TOTAL:.3g}"
            )
        self.weights, numbers = _distinct(weights)
        index = numbers if index is None else numbers[index]
        self.weights.flags.writeable = False
        self._begin(graph, guarantee, name)
        self._index = index.astype(number_type(len(self.weights) - 1))
        edges = graph.edge_count
        statement = f"{edges} edges between rows with total weight {TOTAL}"
        self._proof = Check.proved(guarantee, edges, statement)
        self.rounds, self.change, self.relieved = rounds, change, relieved

    @cached_property
    def table(self) -> Floats:
        """The distinct rows as floats, which hold them exactly."""
        found: Floats = self.weights / TOTAL
        found.flags.writeable = False
        return found

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
        rows: Floats = self.weights[self.index[positions]] / TOTAL
        return rows

    @property
    def proof(self) -> Check:
        """The proof on every edge, in the units of the grid."""
        return self._proof

    @classmethod
    def along(cls, graph: RainbowGraph, steps: Lifted, places: Integers) -> Lifted:
        """What ``steps`` says on the single steps of a graph with lengths, on the graph itself.

        Parameters
        ----------
        graph
            The rainbow graph.
        steps
            A mechanism on its single steps, all of which were checked.
        places
            The place of each dataset among the single steps.

        Returns
        -------
        Lifted
            A mechanism that keeps n times the promise between the ends of n steps.

        """
        self = cls.__new__(cls)
        self.weights, self._steps = steps.weights, steps
        self._begin(graph, steps.guarantee, steps.name)
        self._index, self._proof = steps.index[places], steps.proof
        self.rounds, self.change, self.relieved = steps.rounds, steps.change, steps.relieved
        return self

    @cached_property
    def _exact(self) -> ExactMechanism:
        """Each distinct row as a region of its own; those touch that occur on neighbors."""
        rows = {number: (tuple(row),) for number, row in enumerate(self.weights.tolist())}
        pairs = (self if self._steps is None else self._steps).row_pairs()
        touching = tuple((one, other) for one, other in pairs.tolist())
        return ExactMechanism(
            self.promise,
            self.graph.answers,
            Homogeneous(rows, {}, touching),
            self.graph.apart,
            locate=lambda dataset: (int(self.index[self.graph.position(dataset)]), 0),
        )

    def at(self, dataset: Dataset) -> ExactRow:
        """The exact row of ``dataset``.

        Parameters
        ----------
        dataset
            A node of the graph.

        Returns
        -------
        ExactRow
            The answers and their integer weights.

        """
        row = self.weights[self.index[self.graph.position(dataset)]]
        return ExactRow(self.graph.answers, tuple(row.tolist()))

    def release(self, dataset: Dataset) -> Answer:
        """Draw one answer for ``dataset`` from exact integers: the answer to publish.

        Parameters
        ----------
        dataset
            A node of the graph.

        Returns
        -------
        object
            One of the answers.

        """
        return self.at(dataset).draw()


def _must_be_rows_of(graph: RainbowGraph, weights: Integers, index: NDArray[Any] | None) -> None:
    numbers = np.arange(len(weights)) if index is None else index
    fits = numbers.shape == (len(graph),) and numbers.dtype.kind in "iu"
    if not fits or (numbers < 0).any() or (numbers >= len(weights)).any():
        raise InvalidMechanism(
            f"each of the {len(graph)} datasets must have one of the {len(weights)} rows of "
            "weights, but has another"
        )


def _distinct(rows: Integers) -> tuple[Integers, Integers]:
    """The distinct rows and the number of each row among them.

    Rows are distinguished by a random linear form modulo 2^64, which is much faster than sorting
    whole rows; if two rows share its value, they are sorted after all.
    """
    form = np.random.default_rng(0).integers(0, 1 << 63, rows.shape[1]) | 1
    _, first, index = np.unique(rows @ form, return_index=True, return_inverse=True)
    found = rows[first]
    blocks = (slice(at, at + _BLOCK) for at in range(0, len(rows), _BLOCK))
    if all((found[index[block]] == rows[block]).all() for block in blocks):
        return found, index
    found, index = np.unique(rows, axis=0, return_inverse=True)
    return found, index.reshape(-1)
