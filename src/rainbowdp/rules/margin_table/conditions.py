"""Which conditions of a margin table's linear program are in it: few at first, others as they fail.

A corner has a condition for each set of answers, that they together exceed nothing by more than δ.
Without δ single answers are enough.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rainbowdp.aliases import Floats, Integers
from rainbowdp.numeric.linear_programs import LinearProgram
from rainbowdp.rules.margin_table.problem import Problem

_NEGLIGIBLE = 1e-9  # a condition with such coefficients is kept by the mixing
_NEAR = 0.01  # relative slack of conditions that come in with the violated ones
_MOST_ADDED = 3  # conditions a column in one round
_START = 4  # conditions a column to begin with
_NEARLY = 0.05  # the same of conditions to begin with, if a table for another ε is known
_TINY = 1e-300


@dataclass
class Conditions:
    """The conditions of a problem, and those of them that are in the program."""

    problem: Problem
    singles: Any = field(init=False)  # one of each set of equal conditions on a single answer
    _given: Any = field(init=False)  # the positive parts of these
    _active: Any = field(init=False)  # whether they are in the program
    _sets: list[Any] = field(init=False, default_factory=list)  # conditions on several answers

    def __post_init__(self) -> None:
        every = self.problem.conditions
        self.singles = every[_telling(every)]
        self._given = self.singles.maximum(0.0)
        self._active = np.zeros(self.singles.shape[0], dtype=bool)

    def start(self, values: Floats, ratio: float) -> None:
        """Put in those that are tight, or nearly so, for ``values`` that keep another e^ε.

        There are at least so many that every column has some.
        """
        slack, least = self._slack(values), _START * self.problem.width
        if least < len(slack):
            cut = max(self.problem.ratio / ratio - 1 + _NEARLY, np.partition(slack, least)[least])
            self._active = slack <= cut
        else:
            self._active[:] = True

    def program(self, lower: Floats, upper: Floats) -> LinearProgram:
        """Rows that sum to one, under the conditions that are in."""
        from scipy import sparse

        rows = self.problem.row_columns
        numbers = np.repeat(np.arange(len(rows)), rows.shape[1])
        sums = sparse.csr_array((np.ones(rows.size), (numbers, rows.ravel())))
        matrix = sparse.vstack([sums, self.singles[self._active], *self._sets], format="csr")
        most = np.full(matrix.shape[0], self.problem.delta)
        least = np.full(matrix.shape[0], -np.inf)
        most[: len(rows)] = least[: len(rows)] = 1.0
        return LinearProgram(matrix, least, most, lower, upper)

    def excess(self, values: Floats) -> float:
        """By how much ``values`` break the worst of all conditions, in the program or not."""
        if self.problem.delta:
            return float(self._parts(values).sum(axis=1).max()) - self.problem.delta
        return float((self.singles @ values).max())

    def add_violated(self, values: Floats, tolerance: float) -> int:
        """Put in what ``values`` break by more than ``tolerance``, and how many these are."""
        if self.problem.delta:
            return self._add_sets(values, tolerance)
        wrong = ~self._active & (self.singles @ values > tolerance)
        found = int(wrong.sum())
        if found:
            most = _MOST_ADDED * self.problem.width
            slack = np.where(self._active, np.inf, self._slack(values))
            near = np.flatnonzero(slack < _NEAR)
            if len(near) > most:
                near = np.argpartition(slack, most)[:most]
            self._active[near] = True
        return found

    def _slack(self, values: Floats) -> Floats:
        """How narrowly conditions are kept, relative to what they compare."""
        given = self._given @ np.maximum(values, 0.0) + _TINY
        slack: Floats = (self.problem.delta - self.singles @ values) / given
        return slack

    def _parts(self, values: Floats) -> Floats:
        """What each answer exceeds at each corner."""
        parts: Floats = np.maximum(self.problem.conditions @ values, 0.0)
        return parts.reshape(-1, self.problem.shape.answers)

    def _add_sets(self, values: Floats, tolerance: float) -> int:
        """Put in the sets of answers that together exceed δ; at most three a column."""
        from scipy import sparse

        size, conditions = self.problem.shape.answers, self.problem.conditions
        parts = self._parts(values)
        over = parts.sum(axis=1) - self.problem.delta
        worst = np.flatnonzero(over > tolerance)
        most = _MOST_ADDED * self.problem.width
        if len(worst) > most:
            worst = worst[np.argpartition(-over[worst], most)[:most]]
        number, place = np.nonzero(parts[worst])
        chosen = sparse.csr_array(
            (np.ones(len(number)), (number, worst[number] * size + place)),
            shape=(len(worst), conditions.shape[0]),
        )
        self._sets.append(chosen @ conditions)
        return len(worst)


def _telling(conditions: Any) -> Integers:
    """One of each set of equal rows that are not negligible, recognized by random projections."""
    marks = conditions @ np.random.default_rng(0).random((conditions.shape[1], 2))
    _, first = np.unique(np.round(marks, 9), axis=0, return_index=True)
    large = conditions.max(axis=1).toarray().ravel() > _NEGLIGIBLE
    return np.sort(first[large[first]])
