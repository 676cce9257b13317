"""The best mechanism of all for a utility, by a linear program.

``polytope`` says which program, and how its multipliers bound what any mechanism can have; the
gap of a result is to that bound, computed here and not taken from the solver.

**Floats are not private.** The solver's rows break the guarantee by rounding. They are mixed
with the uniform row at the smallest weight 2^-k that repairs them, and what is reported (utility,
gap) is that of the mixed rows.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from rainbowdp.aliases import Answer, Dataset, Floats, Integers, Weights
from rainbowdp.errors import InvalidBoundary, InvalidGraph, InvalidMechanism, RainbowError
from rainbowdp.exact.check import Check
from rainbowdp.exact.mechanism import ExactMechanism, Releasable
from rainbowdp.exact.steps import BITS
from rainbowdp.expecting import expect
from rainbowdp.graphs.graph import RainbowGraph
from rainbowdp.graphs.rainbows import Utility
from rainbowdp.graphs.stepping import single_steps
from rainbowdp.guarantees.closeness import first_violation, promise_of
from rainbowdp.guarantees.curve import TradeOffCurve, curve_of
from rainbowdp.mechanisms.boundary import BoundaryCondition
from rainbowdp.mechanisms.mechanism import Mechanism
from rainbowdp.mechanisms.optimal import optimal_on_graph
from rainbowdp.mechanisms.unrestricted.envelope import (
    FixedRows,
    fixed_rows,
    preferred_columns,
    refuse_contradiction,
)
from rainbowdp.mechanisms.unrestricted.polytope import Polytope, merge_equal, private_table
from rainbowdp.mechanisms.unrestricted.stepped import MOST_PLACES, Stepped, placed_rows, spread
from rainbowdp.mechanisms.worths import AnyUtility, AnyWeights, Forbidden, Worths, goal_of
from rainbowdp.numeric.linear_programs import Progress, Solver, terminal_progress
from rainbowdp.rules.homogeneous.rule import Homogeneous

GAP = 1e-7  # the largest relative gap that is called optimal
MOST_MIXING = 2.0**-10  # fixed rows that need more repair than this are refused
WIDEST = 1e9  # worths that matter must not differ by more than this factor
SMALL = 20_000  # rows of a program up to which a vertex is asked for


@dataclass(frozen=True)
class Stage:
    """One objective: its name, what the mechanism attains, and what no mechanism can exceed.

    ``least`` is what the worst mechanism attains, everybody's last choice; the gap is relative to
    what can be had above it.
    """

    name: str
    value: float
    bound: float
    least: float

    @property
    def gap(self) -> float:
        """(bound − value), relative to bound − least; 0.0 if nothing is at stake."""
        at_stake = self.bound - self.least
        return max(0.0, self.bound - self.value) / at_stake if at_stake > 0 else 0.0


@dataclass(frozen=True)
class Programmed(Releasable):
    """The mechanism that a linear program found, its worth, and how far it is from the best.

    Attributes
    ----------
    mechanism
        The mechanism, private in the sense of ``mechanism.check()``.
    stages
        The objectives, each with its value and bound.
    mixing
        The weight of the uniform row that had to be mixed in; fixed rows moved by as much.
    status
        The solver's own verdict; ``optimal`` is ours.
    seconds
        How long the solver took.
    worth
        The worth by dataset and answer, of the first stage.

    """

    mechanism: Mechanism
    stages: tuple[Stage, ...]
    mixing: float
    status: str
    seconds: float
    worth: Floats  # by dataset and answer, of the first stage

    @property
    def objective(self) -> float:
        """The utility of ``mechanism``; the first total of a lexicographic program."""
        return self.stages[0].value

    @property
    def bound(self) -> float:
        """What no mechanism with the guarantee and the fixed rows exceeds.

        Where edges have lengths, no mechanism that has the guarantee on every single step.
        """
        return self.stages[0].bound

    @property
    def _by_step(self) -> bool:
        return self.mechanism.graph.lengths is not None

    @property
    def gap(self) -> float:
        """The largest relative gap of all stages."""
        return max(stage.gap for stage in self.stages)

    @property
    def optimal(self) -> bool:
        """Whether the relative gap is at most 1e-7."""
        return self.gap <= GAP

    def __str__(self) -> str:
        first = self.stages[0]
        any_other = "any mechanism" + (" that keeps the promise on every step" * self._by_step)
        what = f"{first.name} {first.value:.10g}, at most {first.bound:.10g} for {any_other}"
        if self.optimal:
            return f"optimal: {what} (relative gap {self.gap:.1e})"
        return f"not proved optimal ({self.status}): {what} (relative gap {self.gap:.1e})"

    @property
    def name(self) -> str:
        """What the mechanism is called."""
        return self.mechanism.name

    def __getitem__(self, dataset: Dataset) -> dict[Answer, float]:
        """{answer: probability} at ``dataset``, most preferred answer first."""
        return self.mechanism[dataset]

    def check(self, guarantee: TradeOffCurve | None = None) -> Check:
        """Does every pair of neighbors keep the guarantee? See ``Mechanism.check``.

        Parameters
        ----------
        guarantee
            What to check; without it, what the program was made for.

        Returns
        -------
        Check
            Whether it holds, and the worst pair where it does not.

        """
        return self.mechanism.check(guarantee)

    def exact(self) -> ExactMechanism:
        """The mechanism in integers with its proof: what may be released."""
        return self._exact

    @cached_property
    def _exact(self) -> ExactMechanism:
        if isinstance(self.mechanism, Stepped):
            return self.mechanism.located(exact_rows(self.mechanism.steps))
        return exact_rows(self.mechanism)

    @cached_property
    def exact_objective(self) -> Fraction:
        """The utility of ``exact()``, in which nothing is rounded but the worths themselves."""
        exact, answers = self.exact(), self.mechanism.graph.answers
        total = Fraction(0)
        numbers, group = np.unique(self.mechanism.index, return_inverse=True)
        scale = float(np.abs(self.worth).max()) or 1.0
        summed = np.stack(
            [np.bincount(group, column, len(numbers)) for column in (self.worth / scale).T], axis=1
        )
        for number, worths in zip(numbers, summed, strict=True):
            weights = exact.rule.weights((int(number), 0), answers)
            pairs = zip(worths, weights, strict=True)
            total += sum((Fraction(float(w)) * weight for w, weight in pairs), Fraction(0))
        return total * Fraction(scale) / (1 << BITS)

    @property
    def repair_cost(self) -> float:
        """What exactness costs, with the solver's own gap: ``bound`` minus the exact utility."""
        return float(Fraction(self.bound) - self.exact_objective)


def program(
    graph: RainbowGraph,
    guarantee: TradeOffCurve,
    *,
    utility: AnyUtility | None = None,
    weights: AnyWeights | None = None,
    forbid: Forbidden = (),
    boundary: Any = None,
    lexicographic: bool = False,
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> Programmed:
    """The mechanism with the most utility among all that keep the guarantee.

    Cost: an interior-point solve; for pure ε, 5,000 datasets, 4 answers and 40,000 edges take about
    half a minute. With δ > 0 slacks double the columns for every line.

    Where edges have lengths, it is the best of all that keep the guarantee on every single step,
    the places between datasets included, which are worth nothing: n steps then keep n times it.

    Parameters
    ----------
    graph
        The rainbow graph.
    guarantee
        What is promised. A ``GaussianDP`` is replaced by a polygon on its safe side, and the gap is
        to the best for that polygon.
    utility
        The expected worth, summed over datasets; by default the chance of the first choice. A
        ``Utility``, a mapping {first choice: {answer: worth}}, or an array by first choice or
        dataset, and answer.
    weights
        What each dataset counts; by default 1.
    forbid
        Answers that are never given.
    boundary
        Fixed rows: a ``BoundaryCondition``, a row in preference order for every boundary dataset,
        or a mapping dataset → distribution, the only form with lengths. By default nothing is
        fixed.
    lexicographic
        Maximize the total chance of the first choice, then that of the first two, and so on.
    time_limit
        The solver's limit in seconds; what it has by then is returned with its gap.
    progress
        Called with a line for each iteration. By default a terminal is told when a solve takes
        longer than 5 s.

    Returns
    -------
    Programmed
        The mechanism, its utility, and how far it is from the best.

    Raises
    ------
    InvalidBoundary
        If fixed rows contradict each other; the message names two datasets.

    Examples
    --------
    >>> from rainbowdp import DP
    >>> graph = RainbowGraph([(0, 1), (1, 2)], [("a", "b"), ("a", "b"), ("b", "a")])
    >>> best = program(graph, DP.from_ratio(3, 1))
    >>> best.optimal, round(best.objective, 6)
    (True, 2.416667)

    """
    expect(graph, RainbowGraph, "program", InvalidGraph)
    if lexicographic and (utility is not None or weights is not None):
        raise RainbowError(
            "program maximizes either a utility or, with lexicographic=True, prefix by prefix; "
            "leave one out"
        )
    guarantee = curve_of(guarantee, "program")
    graph, valued = goal_of(graph, utility, weights, forbid)
    order = preferred_columns(graph)
    given = isinstance(utility, Utility)
    worths = _prefix_worths(order) if lexicographic else [_worth(valued, order, given)]
    if graph.lengths is None:
        run = _Run.of(graph, guarantee, boundary, time_limit, progress)
        return run.all_stages(worths, lexicographic)
    steps, places = single_steps(graph, MOST_PLACES)
    rows = placed_rows(graph, boundary, places)
    run = _Run.of(steps, guarantee, rows, time_limit, progress)
    found = run.all_stages([spread(worth, places, len(steps)) for worth in worths], lexicographic)
    return replace(found, mechanism=Stepped(graph, found.mechanism, places), worth=worths[0])


@dataclass(frozen=True)
class _Run:
    """One call of ``program``: what stays the same from stage to stage."""

    graph: RainbowGraph
    guarantee: TradeOffCurve
    fixed: FixedRows
    polytope: Polytope
    group: Integers
    time_limit: float | None
    progress: Progress | None

    @classmethod
    def of(
        cls,
        graph: RainbowGraph,
        guarantee: TradeOffCurve,
        boundary: Any,
        time_limit: float | None,
        progress: Progress | None,
    ) -> _Run:
        """The run for a graph whose edges are one step each."""
        fixed = fixed_rows(graph, boundary)
        if len(fixed):
            refuse_contradiction(graph, guarantee, fixed)
        whole = Polytope.of(graph, guarantee, fixed)
        polytope, group = merge_equal(whole, guarantee, graph)
        return cls(graph, guarantee, fixed, polytope, group, time_limit, progress)

    def all_stages(self, worths: Sequence[Floats], lexicographic: bool) -> Programmed:
        seconds, kept = 0.0, list[tuple[Floats, float]]()
        bounds: list[float] = []
        table, mixing, status = None, 0.0, "stopped"
        for number, worth in enumerate(worths):
            scaled, base, spread = _scaled(worth)
            target = self._grouped(scaled)
            found, floats, proved, status, spent = self._solve(target, kept)
            seconds += spent
            bounds.append(proved * spread + base)
            if number == 0:
                floats = self._at_least(floats, worth, proved * spread + base, status)
            if floats is not None:
                table, mixing = floats
            if found is None:
                break
            least = float((target * found).sum())
            kept.append((target, least - 1e-9 * max(1.0, abs(least))))
        assert table is not None
        done = tuple(
            Stage(
                f"total of the first {k + 1}" if lexicographic else "utility",
                float((worths[k] * table).sum()),
                bounds[k] if k < len(bounds) else float(worths[k].max(axis=1).sum()),
                float(worths[k].min(axis=1).sum()),
            )
            for k in range(len(worths))
        )
        rows, index = np.unique(table, axis=0, return_inverse=True)
        mechanism = Mechanism(self.graph, rows, index.reshape(-1), self.guarantee, name="program")
        return Programmed(mechanism, done, mixing, status, seconds, worths[0])

    def _grouped(self, worth: Floats) -> Floats:
        return np.stack(
            [np.bincount(self.group, column, self.polytope.size) for column in worth.T], axis=1
        )

    def _solve(
        self, worth: Floats, kept: Sequence[tuple[Floats, float]]
    ) -> tuple[Floats | None, tuple[Floats, float] | None, float, str, float]:
        """(the solver's rows, private rows with their mixing, bound, status, seconds)."""
        polytope = self.polytope
        linear = polytope.program(kept)
        progress = self.progress or terminal_progress("program")
        bound = float(worth.max(axis=1).sum())  # nobody has more than the first choice
        seconds = 0.0
        small = polytope.demands <= SMALL
        for crossover, tolerance in ((small, 1e-8), (True, 1e-10)):
            left = None if self.time_limit is None else max(self.time_limit - seconds, 1e-3)
            solver = Solver(
                linear,
                crossover=crossover,
                tolerance=tolerance,
                time_limit=left,
                progress=progress,
            )
            solution = solver.maximize(polytope.cost(worth, linear))
            seconds += solution.seconds
            status = solution.message
            if solution.status == "infeasible":
                self._refuse()
            rows = polytope.table(solution.values) if solution.values.size else None
            if rows is None:
                return None, None, bound, status, seconds
            prices, extra = polytope.multipliers(solution.multipliers, len(kept))
            lifted = worth + sum(
                (price * other for price, (other, _) in zip(extra, kept, strict=True)),
                np.zeros_like(worth),
            )
            held = sum(price * least for price, (_, least) in zip(extra, kept, strict=True))
            bound = min(bound, float(polytope.bound(lifted, prices) - held))
            private = self._private(rows)
            if private is not None:
                total = float((worth * self._shrunk(private[0])).sum())
                if bound - total <= GAP * max(bound, 1e-300):
                    break
            if solution.status == "stopped":
                break
        if private is None:
            raise InvalidBoundary(
                f"fixed rows must leave room for a {self.guarantee} mechanism that floats can "
                f"hold, got rows that need a mixing above {MOST_MIXING:g}; give them a little slack"
            )
        return rows, private, bound, status, seconds

    def _private(self, rows: Floats) -> tuple[Floats, float] | None:
        most = MOST_MIXING if len(self.fixed) else 1.0
        table = rows[self.group]
        table[self.fixed.positions] = self.fixed.rows
        return private_table(table, self.graph.edge_positions(), self.guarantee, most)

    def _shrunk(self, table: Floats) -> Floats:
        """One row for each group, whose members all have the same."""
        shrunk = np.empty((self.polytope.size, table.shape[1]))
        shrunk[self.group] = table
        return shrunk

    def _refuse(self) -> None:
        refuse_contradiction(self.graph, self.guarantee, self.fixed, every_set=True)
        raise InvalidBoundary(
            f"fixed rows must leave room for a {self.guarantee} mechanism, but there is none, "
            "though every two of them can be reconciled"
        )

    def _at_least(
        self, found: tuple[Floats, float] | None, worth: Floats, bound: float, status: str
    ) -> tuple[Floats, float]:
        """What was found or, if that is not optimal and worse, the homogeneous optimum."""
        if len(self.fixed):
            if found is None:
                raise RainbowError(
                    "the solver stopped before it had a mechanism with the fixed rows "
                    f"({status}); give it more time"
                )
            return found
        total = -np.inf if found is None else float((worth * found[0]).sum())
        least = float(worth.min(axis=1).sum())
        if found is not None and bound - total <= GAP * (bound - least):
            return found
        condition = BoundaryCondition.symmetric(self.graph, self.guarantee)
        plain = optimal_on_graph(self.graph, self.guarantee, condition)
        table = plain.table[plain.index]
        better = found is None or float((worth * table).sum()) > total
        return (table, 0.0) if better or found is None else found


def _worth(valued: Worths, order: Integers, given: bool) -> Floats:
    """The worth of each answer at each dataset; ``given`` as a function or by places."""
    with np.errstate(over="ignore"):
        worth = valued.dense()
        steps = -np.diff(np.take_along_axis(worth, order, axis=1), axis=1)
        finite = np.isfinite(steps.sum()) and np.isfinite(np.abs(worth).sum())
    if not finite:
        raise RainbowError(
            f"worths must sum to a finite total, got one of {np.abs(worth).max():.3g}"
        )
    real = steps[steps > 0]
    if given and real.size and real.max() / WIDEST > real.min():
        raise RainbowError(
            f"steps in worth must be within a factor of {WIDEST:.0e} of each other, "
            f"got {real.min():.3g} and {real.max():.3g}; use lexicographic=True to put one first"
        )
    return worth


def _prefix_worths(order: Integers) -> list[Floats]:
    """For k = 1 … q − 1 the worth that counts the first k choices alike."""
    worths = []
    for k in range(1, max(order.shape[1], 2)):
        worth = np.zeros(order.shape)
        np.put_along_axis(worth, order[:, :k], 1.0, axis=1)
        worths.append(worth)
    return worths


def _scaled(worth: Floats) -> tuple[Floats, float, float]:
    """(worths in [0, 1], what was subtracted in all, what they were divided by)."""
    base = worth.min(axis=1, keepdims=True)
    spread = float((worth - base).max()) or 1.0
    return (worth - base) / spread, float(base.sum()), spread


def exact_rows(mechanism: Mechanism) -> ExactMechanism:
    """The rows of any mechanism in integers, mixed with the uniform row just enough to be proved.

    The weight is the smallest 2^-k; more than 2^-10 is refused. Construction includes the proof,
    that of homogeneous rules, over every two rows that occur on neighbors.
    """
    guarantee = mechanism.guarantee
    if guarantee is None:
        raise RainbowError("exact rows need a guarantee, got a mechanism without one")
    total, graph = 1 << BITS, mechanism.graph
    rows = [_settled([int(p * total) for p in row], total) for row in mechanism.table.tolist()]
    pairs = [(int(a), int(b)) for a, b in mechanism.row_pairs()]
    promise, suspect = promise_of(guarantee, total), 0
    for k in (None, *range(BITS - 2, int(-math.log2(MOST_MIXING)) - 1, -1)):
        mixed = rows if k is None else [_mixed(row, k, total) for row in rows]
        turned = itertools.chain(range(suspect, len(pairs)), range(suspect))  # the last culprit
        broken = next(
            (i for i in turned if first_violation(promise, *(mixed[n] for n in pairs[i]))), None
        )
        if broken is None:
            return ExactMechanism(
                guarantee,
                graph.answers,
                Homogeneous({n: (row,) for n, row in enumerate(mixed)}, {}, tuple(pairs)),
                mixing=Fraction(0) if k is None else Fraction(1, 1 << k),
                locate=lambda dataset: (int(mechanism.index[graph.position(dataset)]), 0),
            )
        suspect = broken
    raise InvalidMechanism(
        f"a mechanism must be exactly {guarantee} after a mixing of at most 2^-10, "
        "got one that needs more"
    )


def _mixed(row: Weights, k: int, total: int) -> Weights:
    share = total // len(row)
    return _settled([w + ((share - w) >> k) for w in row], total)


def _settled(weights: list[int], total: int) -> Weights:
    """Weights that sum to the total: the largest one absorbs the rounding."""
    largest = max(range(len(weights)), key=weights.__getitem__)
    weights[largest] += total - sum(weights)
    return tuple(weights)
