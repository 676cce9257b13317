"""What each kind of mechanism is worth on a graph, over arrays of ε and δ."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from rainbowdp.aliases import Floats
from rainbowdp.display.progress import track
from rainbowdp.display.tabular import csv_text, latex_text
from rainbowdp.errors import InvalidGraph, RainbowError
from rainbowdp.expecting import expect
from rainbowdp.graphs.graph import RainbowGraph
from rainbowdp.guarantees.dp import DP
from rainbowdp.mechanisms.best_on_graphs import KINDS, Candidate, each_kind, goal_graphs
from rainbowdp.mechanisms.worths import AnyUtility, AnyWeights, Forbidden, goal_of
from rainbowdp.numeric.quantity import Number, exact

IN_FILES = ("homogeneous", "proximity", "margin-flip", "exponential")


@dataclass(frozen=True)
class Swept:
    """One kind under one guarantee: ε, δ, the kind and its value, or why there is none."""

    epsilon: Fraction
    delta: Fraction
    candidate: Candidate


@dataclass(frozen=True)
class Sweep:
    """What each kind is worth under each guarantee; made by ``rb.sweep``.

    Attributes
    ----------
    epsilons, deltas
        The guarantees.
    kinds
        The kinds of mechanisms.
    rows
        A line for each ε, δ and kind, in this order.
    goal
        What they were valued by, in words.

    """

    epsilons: tuple[Fraction, ...]
    deltas: tuple[Fraction, ...]
    kinds: tuple[str, ...]
    rows: tuple[Swept, ...]
    goal: str

    def __getitem__(self, kind: str) -> Floats:
        """The values of a kind: a row for each ε, a column for each δ; NaN where there is none."""
        if kind not in self.kinds:
            raise RainbowError(f"kind must be one of {', '.join(self.kinds)}, got {kind!r}")
        found = [row.candidate.value for row in self.rows if row.candidate.kind == kind]
        values = [math.nan if value is None else value for value in found]
        return np.array(values).reshape(len(self.epsilons), len(self.deltas))

    def __repr__(self) -> str:
        return (
            f"Sweep({len(self.epsilons)} ε, {len(self.deltas)} δ, {len(self.kinds)} kinds, "
            f"{self.goal})"
        )

    @property
    def _table(self) -> list[tuple[Any, ...]]:
        return [
            (
                _decimal(row.epsilon),
                _decimal(row.delta),
                row.candidate.kind,
                row.candidate.value,
                row.candidate.note,
            )
            for row in self.rows
        ]

    def to_csv(self) -> str:
        """The rows as comma-separated values: epsilon, delta, kind, value and note."""
        return csv_text(("epsilon", "delta", "kind", "value", "note"), self._table)

    def to_latex(self, digits: int = 4) -> str:
        """A LaTeX table with a line for each guarantee and a column for each kind.

        Parameters
        ----------
        digits
            How many digits of a value are shown.

        Returns
        -------
        str
            A ``tabular``, which needs no package.

        """
        columns = [self[kind].ravel() for kind in self.kinds]
        promises = [(e, d) for e in self.epsilons for d in self.deltas]
        lines = []
        for number, (epsilon, delta) in enumerate(promises):
            values = [column[number] for column in columns]
            shown = ["–" if math.isnan(value) else f"{value:.{digits}g}" for value in values]
            lines.append([_decimal(epsilon), _decimal(delta), *shown])
        return latex_text(["ε", "δ", *self.kinds], lines)

    def to_frame(self) -> Any:
        """The rows as a pandas frame: epsilon, delta, kind, value and note."""
        import pandas as pd

        frame = pd.DataFrame(self._table, columns=["epsilon", "delta", "kind", "value", "note"])
        return frame.astype({"epsilon": float, "delta": float, "value": float})


def _decimal(number: Fraction) -> str:
    short = f"{float(number):.12g}"
    return short if Fraction(short) == number else str(number)


def sweep(
    graph: RainbowGraph,
    epsilons: Iterable[Number],
    deltas: Iterable[Number] = (0,),
    kinds: Sequence[str] = IN_FILES,
    *,
    utility: AnyUtility | None = None,
    weights: AnyWeights | None = None,
    forbid: Forbidden = (),
) -> Sweep:
    """What each kind of mechanism is worth on a graph under each (ε,δ).

    Parameters
    ----------
    graph
        The graph.
    epsilons, deltas
        The guarantees: every pair of them.
    kinds
        The kinds, any that ``rb.best`` has on graphs; by default those that a file can hold.
    utility, weights, forbid
        The goal, as in ``rb.best``; by default the chance of the first choice.

    Returns
    -------
    Sweep
        The values in the mean over datasets, as arrays by kind, CSV, LaTeX or a pandas frame.

    Raises
    ------
    InvalidGuarantee
        If an ε or δ is none.
    RainbowError
        If there is nothing to try, or no such kind.

    Examples
    --------
    >>> graph = RainbowGraph([(0, 1), (1, 2)], [("a", "b"), ("a", "b"), ("b", "a")])
    >>> found = sweep(graph, ["0.5", 1], kinds=["homogeneous", "exponential"])
    >>> found["homogeneous"].round(4).tolist()
    [[0.672], [0.7877]]
    >>> print(found.to_csv().splitlines()[0])
    epsilon,delta,kind,value,note

    """
    expect(graph, RainbowGraph, "sweep", InvalidGraph)
    listed = tuple(exact(each, "epsilon", RainbowError) for each in epsilons)
    apart = tuple(exact(each, "delta", RainbowError) for each in deltas)
    chosen = tuple(kinds)
    strange = next((kind for kind in chosen if kind not in KINDS), None)
    if strange is not None:
        raise RainbowError(f"kinds on a graph are {', '.join(KINDS)}, got {strange!r}")
    if not (listed and apart and chosen):
        raise RainbowError("a sweep needs at least one epsilon, one delta and one kind")
    left, worths = goal_of(graph, utility, weights, forbid)
    graphs = goal_graphs(graph, left, worths, utility)
    promises = [(epsilon, delta, DP(epsilon, delta)) for epsilon in listed for delta in apart]
    rows = [
        Swept(epsilon, delta, candidate)
        for epsilon, delta, promise in track(promises, len(promises), "guarantees")
        for candidate, _ in each_kind(graphs, promise, worths, chosen)
    ]
    return Sweep(listed, apart, chosen, tuple(rows), worths.words)
