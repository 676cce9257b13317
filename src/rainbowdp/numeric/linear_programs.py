"""Linear programs, solved by HiGHS: arrays in, values and multipliers out.

    maximize cost·x   where   row_lower ≤ matrix·x ≤ row_upper,   lower ≤ x ≤ upper

Nothing here trusts the solver's claim of optimality: every multiplier y gives the bound

    cost·x = y·(matrix·x) + (cost − matrixᵀy)·x
           ≤ Σ_i max(y_i·row_lower_i, y_i·row_upper_i) + Σ_j max(r_j·lower_j, r_j·upper_j),

with r = cost − matrixᵀy, whatever y is; ``bound`` computes it from the returned multipliers.

HiGHS runs in a thread of its own. On the main thread it would keep Ctrl-C waiting until it ends, or
take it for a failure of its own wherever it calls back into Python, and go on.
"""

from __future__ import annotations

import re
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np

from rainbowdp.aliases import Floats
from rainbowdp.errors import RainbowError
from rainbowdp.expecting import brief

Status: TypeAlias = Literal["optimal", "infeasible", "unbounded", "stopped"]
Progress: TypeAlias = Callable[[str], None]

QUIET_FOR = 5.0  # seconds before a terminal is told that something is going on
_POLL = 0.2  # seconds between two looks for Ctrl-C where waiting cannot be interrupted
_GRACE = 1.0  # seconds that an interrupted solver has for ending
_ITERATION = re.compile(r"^\s*(\d+)\*?(?:\s+[-\d]\S*){4}\s+([-\d]\S*)\s+\S+\s*$")


@dataclass(frozen=True)
class LinearProgram:
    """The feasible set of a linear program; objectives are given when it is solved."""

    matrix: Any  # SciPy sparse, rows by columns
    row_lower: Floats
    row_upper: Floats
    lower: Floats
    upper: Floats

    def bound(self, cost: Floats, multipliers: Floats) -> float:
        """An upper bound on cost·x over the feasible set, valid for any multipliers whatsoever.

        A multiplier on a side without a limit is treated as zero. The bound is infinite if a column
        without a limit is not priced out; give columns finite limits to avoid that.
        """
        y = np.where(np.isinf(self.row_upper), np.minimum(multipliers, 0.0), multipliers)
        y = np.where(np.isinf(self.row_lower), np.maximum(y, 0.0), y)
        reduced = cost - self.matrix.T @ y
        return _largest(y, self.row_lower, self.row_upper) + _largest(
            reduced, self.lower, self.upper
        )

    def violation(self, values: Floats) -> float:
        """By how much ``values`` break the worst row or limit."""
        rows = self.matrix @ values
        parts = [self.row_lower - rows, rows - self.row_upper]
        parts += [self.lower - values, values - self.upper]
        return max((float(part.max()) for part in parts if part.size), default=0.0)


@dataclass(frozen=True)
class Solution:
    """What the solver found. ``values`` is empty if it found no point at all.

    ``multipliers[i]`` is the worth of one more unit at row i: at least zero if the row's upper
    limit binds, at most zero if its lower limit does.
    """

    status: Status
    values: Floats
    multipliers: Floats
    objective: float
    bound: float
    message: str
    seconds: float

    @property
    def gap(self) -> float:
        """How far the objective may be from the best, relative to the larger of the two."""
        if not np.isfinite(self.bound - self.objective):
            return np.inf
        size = max(abs(self.objective), abs(self.bound))
        return max(0.0, self.bound - self.objective) / size if size else 0.0


@dataclass
class Solver:
    """HiGHS with one feasible set loaded; each ``maximize`` starts where the last one ended.

    ``method``: ``"interior point"`` for one large program, ``"simplex"`` for many objectives on
    the same set, which then start warm. ``crossover`` moves an interior solution to a vertex:
    sharper and, on large programs, slower by more than the solve itself. ``presolve`` can mistake a
    feasible program with hardly any slack for an infeasible one; turn it off for those.
    """

    program: LinearProgram
    method: Literal["interior point", "simplex"] = "interior point"
    crossover: bool = False
    time_limit: float | None = None
    tolerance: float = 1e-8
    presolve: bool = True
    progress: Progress | None = None
    _highs: Any = field(init=False, repr=False)
    _stop: threading.Event = field(init=False, repr=False, default_factory=threading.Event)

    def __post_init__(self) -> None:
        import highspy
        from scipy import sparse

        if self.time_limit is not None and not self.time_limit > 0:
            raise RainbowError(
                f"time_limit must be above 0 seconds, got time_limit={brief(self.time_limit)}"
            )
        program, matrix = self.program, sparse.csc_array(self.program.matrix)
        model = highspy.HighsLp()
        model.num_row_, model.num_col_ = (int(side) for side in matrix.shape)
        model.col_cost_ = np.zeros(matrix.shape[1])
        model.col_lower_, model.col_upper_ = program.lower, program.upper
        model.row_lower_, model.row_upper_ = program.row_lower, program.row_upper
        model.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        model.a_matrix_.start_ = matrix.indptr
        model.a_matrix_.index_ = matrix.indices
        model.a_matrix_.value_ = matrix.data
        highs: Any = highspy.Highs()  # type: ignore[no-untyped-call]
        self._highs = highs
        options: dict[str, object] = {
            "log_to_console": False,
            "output_flag": False,
            "solver": "ipx" if self.method == "interior point" else "simplex",
            "run_crossover": "on" if self.crossover else "off",
            "primal_feasibility_tolerance": max(self.tolerance, 1e-10),
            "dual_feasibility_tolerance": max(self.tolerance, 1e-10),
            "ipm_optimality_tolerance": max(self.tolerance, 1e-12),
            "small_matrix_value": 1e-12,
            "presolve": "choose" if self.presolve else "off",
        }
        if self.method == "simplex":
            options["simplex_strategy"] = 4  # primal: a new objective keeps the vertex feasible
        for name, value in options.items():
            self._must(highs.setOptionValue(name, value), f"option {name}={value}")
        if self.progress is not None:
            highs.setOptionValue("output_flag", True)
            highs.cbLogging.subscribe(self._report)
        for interrupt in (highs.cbIpmInterrupt, highs.cbSimplexInterrupt):
            interrupt.subscribe(self._may_go_on)
        self._must(highs.passModel(model), "the program")

    def maximize(self, cost: Floats) -> Solution:
        """The best point for ``cost``, with multipliers and the bound they prove."""
        import highspy

        if not np.isfinite(cost).all():
            raise RainbowError("the objective must be finite numbers, got one that is not")
        highs = self._highs
        columns = np.arange(len(cost), dtype=np.int32)
        self._must(highs.changeColsCost(len(cost), columns, -cost), "the objective")
        start = time.perf_counter()
        if self.time_limit is not None:  # HiGHS counts from its beginning
            highs.setOptionValue("time_limit", highs.getRunTime() + self.time_limit)
        self._run()
        seconds = time.perf_counter() - start
        found, kinds = highs.getModelStatus(), highspy.HighsModelStatus
        status: Status = "stopped"
        if found == kinds.kOptimal:
            status = "optimal"
        elif found == kinds.kInfeasible:
            status = "infeasible"
        elif found in (kinds.kUnbounded, kinds.kUnboundedOrInfeasible):
            status = "unbounded" if found == kinds.kUnbounded else "infeasible"
        message = str(highs.modelStatusToString(found))
        answer = highs.getSolution()
        none = np.empty(0)
        if status in ("infeasible", "unbounded") or not answer.value_valid:
            limit = -np.inf if status == "infeasible" else np.inf
            return Solution(status, none, none, -np.inf, limit, message, seconds)
        values = np.array(answer.col_value)
        rows = len(self.program.row_lower)
        multipliers = -np.array(answer.row_dual) if answer.dual_valid else np.zeros(rows)
        bound = self.program.bound(cost, multipliers)
        return Solution(status, values, multipliers, float(cost @ values), bound, message, seconds)

    def _run(self) -> None:
        """Run HiGHS beside this thread; whatever interrupts the waiting interrupts HiGHS, too."""
        # HiGHS looks for an interrupt between iterations. One that is busy with something else is
        # left behind after a while, as a daemon that keeps nobody from ending. An event says when
        # it ends: Thread.join takes a thread for ended once it was interrupted (Python 3.11).
        ended = threading.Event()

        def run() -> None:
            try:
                self._highs.run()
            finally:
                ended.set()

        threading.Thread(target=run, name="HiGHS", daemon=True).start()
        try:
            while not ended.wait(_POLL):
                pass
        except BaseException:
            self._stop.set()
            ended.wait(_GRACE)
            raise

    def _may_go_on(self, event: Any) -> None:
        if self._stop.is_set():
            event.interrupt()

    def _report(self, event: Any) -> None:
        assert self.progress is not None
        for line in str(event.message).splitlines():
            found = _ITERATION.match(line)
            if found is not None:
                self.progress(f"iteration {found[1]}, gap {found[2]}")

    def _must(self, status: Any, what: str) -> None:
        import highspy

        if status == highspy.HighsStatus.kError:
            raise RainbowError(f"HiGHS, the solver of linear programs, refused {what}")


def terminal_progress(what: str) -> Progress | None:
    """A callback that reports a long solve on standard error; None where there is no terminal."""
    if not sys.stderr.isatty():
        return None
    start = time.perf_counter()

    def say(line: str) -> None:
        passed = time.perf_counter() - start
        if passed > QUIET_FOR:
            print(f"\r{what}: {line}, {passed:.0f} s", end="", file=sys.stderr, flush=True)  # noqa: T201

    return say


def _largest(prices: Floats, lower: Floats, upper: Floats) -> float:
    """Σ max over [lower, upper] of price·x."""
    side = np.where(prices > 0, upper, lower)
    moved = prices != 0
    return float((prices[moved] * side[moved]).sum())
