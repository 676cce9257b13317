"""What each kind of mechanism is worth on a graph or for a question, over arrays of ε and δ."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from rainbowdp.aliases import Floats
from rainbowdp.answering.measure import measure
from rainbowdp.display.progress import track
from rainbowdp.display.tabular import csv_text, latex_text
from rainbowdp.errors import InvalidGraph, RainbowError
from rainbowdp.expecting import brief, expect
from rainbowdp.graphs.graph import RainbowGraph
from rainbowdp.guarantees.dp import DP
from rainbowdp.mechanisms.best_on_graphs import KINDS, Candidate, each_kind, goal_graphs
from rainbowdp.mechanisms.worths import AnyUtility, AnyWeights, Forbidden, Worths, goal_of
from rainbowdp.numeric.quantity import Number, exact
from rainbowdp.questions import Question
from rainbowdp.rules import FAMILIES, family

IN_FILES = (
    "homogeneous",
    "proximity",
    "margin-flip",
    "exponential",
    "fixed-point",
    "primal-dual",
)


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
        What they were judged by, in words.

    """

    epsilons: tuple[Fraction, ...]
    deltas: tuple[Fraction, ...]
    kinds: tuple[str, ...]
    rows: tuple[Swept, ...]
    goal: str

    def __getitem__(self, kind: str) -> Floats:
        """The values of a kind: a row for each ε, a column for each δ; NaN where there is none."""
        if kind not in self.kinds:
            raise RainbowError(f"kind must be one of {', '.join(self.kinds)}, got {brief(kind)}")
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
    world: RainbowGraph | Question,
    epsilons: Iterable[Number],
    deltas: Iterable[Number] = (0,),
    kinds: Sequence[str] | None = None,
    *,
    utility: AnyUtility | None = None,
    weights: AnyWeights | None = None,
    forbid: Forbidden = (),
    records: int | None = None,
) -> Sweep:
    """What each kind of mechanism is worth on a graph, or for a question, under each (ε,δ).

    Parameters
    ----------
    world
        The graph, or the question.
    epsilons, deltas
        The guarantees: every pair of them.
    kinds
        The kinds, any that ``rb.best`` has. By default, on a graph those that fit into a file, and
        for a question those that are made at once.
    utility, weights, forbid
        For a graph: the goal, as in ``rb.best``; by default the chance of the first choice.
    records
        For a question: how many records there are, as in ``rb.best``.

    Returns
    -------
    Sweep
        The values in the mean over datasets, as arrays by kind, CSV, LaTeX or a pandas frame. For a
        question they are minus the measure that ``rb.best`` goes by, over its fixed histograms.

    Raises
    ------
    InvalidGuarantee
        If an ε or δ is out of range.
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
    listed = tuple(exact(each, "epsilon", RainbowError) for each in epsilons)
    apart = tuple(exact(each, "delta", RainbowError) for each in deltas)
    asked = isinstance(world, Question)
    if not asked:
        expect(world, RainbowGraph, "sweep", InvalidGraph)
    known = tuple(each.kind for each in FAMILIES) if asked else tuple(KINDS)
    usual = _usual(world) if isinstance(world, Question) else IN_FILES
    chosen = usual if kinds is None else tuple(kinds)
    strange = next((kind for kind in chosen if kind not in known), None)
    if strange is not None:
        where = "for a question" if asked else "on a graph"
        raise RainbowError(f"kinds {where} are {', '.join(known)}, got {brief(strange)}")
    if not (listed and apart and chosen):
        raise RainbowError("a sweep needs at least one epsilon, one delta and one kind")
    promises = [(epsilon, delta, DP(epsilon, delta)) for epsilon in listed for delta in apart]
    each: Callable[[DP], Iterable[Candidate]]
    if isinstance(world, Question):
        if utility is not None or weights is not None or not _is_nothing(forbid):
            raise RainbowError(
                "utility, weights and forbid are for a graph; leave them out for a question"
            )
        words = "minus the measure of rb.best"
        each = partial(_measured, world, chosen, records)
    else:
        if records is not None:
            raise RainbowError("records are for a question; leave them out for a graph")
        left, worths = goal_of(world, utility, weights, forbid)
        graphs = goal_graphs(world, left, worths, utility)
        words = worths.words
        each = partial(_valued, graphs, worths, chosen)
    rows = [
        Swept(epsilon, delta, candidate)
        for epsilon, delta, promise in track(promises, len(promises), "guarantees")
        for candidate in each(promise)
    ]
    return Sweep(listed, apart, chosen, tuple(rows), words)


def _is_nothing(forbid: Forbidden) -> bool:
    return isinstance(forbid, tuple | list | set | frozenset) and not forbid


def _usual(question: Question) -> tuple[str, ...]:
    return tuple(each.kind for each in FAMILIES if not each.costly and each.suits(question))


def _valued(
    graphs: Sequence[RainbowGraph], worths: Worths, kinds: tuple[str, ...], promise: DP
) -> Iterator[Candidate]:
    return (candidate for candidate, _ in each_kind(graphs, promise, worths, kinds))


def _measured(
    question: Question, kinds: tuple[str, ...], records: int | None, promise: DP
) -> Iterator[Candidate]:
    """Each kind's measure, negative since less is better; or why it does not apply."""
    for kind in kinds:
        started, chosen = time.process_time(), family(kind)
        reason = chosen.unfit(question, promise)
        value = None if reason is not None else -measure(chosen, question, promise, records)
        yield Candidate(kind, value, reason or "", time.process_time() - started)
