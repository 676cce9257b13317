"""The wrapper around HiGHS: certificates, statuses, bad input."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sparse
from hypothesis import given, settings
from hypothesis import strategies as st

import rainbowdp as rb
from rainbowdp.numeric.linear_programs import LinearProgram, Solver


def box(matrix: object, upper: list[float], highest: float = 1.0) -> LinearProgram:
    rows = sparse.csc_array(np.array(matrix, dtype=np.float64))
    height, width = rows.shape
    return LinearProgram(
        rows,
        np.full(height, -np.inf),
        np.array(upper),
        np.zeros(width),
        np.full(width, highest),
    )


@pytest.mark.parametrize("method", ["interior point", "simplex"])
@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_certificates_close(method: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    height, width = rng.integers(1, 6, 2)
    program = box(rng.normal(size=(height, width)), rng.random(height).tolist())
    cost = rng.normal(size=width)
    found = Solver(program, method=method, crossover=True).maximize(cost)  # type: ignore[arg-type]
    assert found.status == "optimal"
    assert program.violation(found.values) < 1e-7
    assert found.objective <= found.bound + 1e-7
    assert found.gap * max(abs(found.bound), abs(found.objective)) < 1e-6
    # every other feasible point is below the bound, and so it is for made-up multipliers
    for multipliers in (found.multipliers, rng.normal(size=height)):
        bound = program.bound(cost, multipliers)
        for point in rng.random((50, width)):
            if program.violation(point) <= 0:
                assert cost @ point <= bound + 1e-9


def test_objectives_one_after_the_other() -> None:
    solver = Solver(box([[1.0, 1.0]], [1.5]), method="simplex")
    assert solver.maximize(np.array([2.0, 1.0])).objective == pytest.approx(2.5)
    second = solver.maximize(np.array([1.0, 3.0]))
    assert second.objective == pytest.approx(3.5)
    assert second.multipliers == pytest.approx([1.0])


def test_statuses() -> None:
    infeasible = Solver(box([[1.0], [-1.0]], [0.2, -0.8])).maximize(np.ones(1))
    assert (infeasible.status, infeasible.values.size) == ("infeasible", 0)
    endless = LinearProgram(
        sparse.csc_array((1, 1)), np.zeros(1), np.ones(1), np.zeros(1), np.full(1, np.inf)
    )
    assert Solver(endless, method="simplex").maximize(np.ones(1)).status == "unbounded"


def test_no_bound_is_said_to_be_infinite() -> None:
    program = box([[1.0]], [1.0], highest=np.inf)
    assert program.bound(np.ones(1), np.zeros(1)) == np.inf
    assert program.bound(np.ones(1), np.ones(1)) == 1.0
    assert program.bound(np.ones(1), -np.ones(1)) == np.inf  # a price the wrong way counts as none
    above = LinearProgram(
        program.matrix, np.array([0.3]), np.array([np.inf]), np.zeros(1), np.ones(1)
    )
    assert above.bound(-np.ones(1), -np.ones(1)) == pytest.approx(-0.3)
    assert above.bound(-np.ones(1), np.ones(1)) == 0.0


def test_progress_is_told_of_iterations() -> None:
    rng = np.random.default_rng(0)
    told: list[str] = []
    program = box(rng.random((40, 60)), [10.0] * 40)
    Solver(program, progress=told.append).maximize(rng.random(60))
    assert told
    assert told[-1].startswith("iteration ")


def test_bad_input() -> None:
    program = box([[1.0]], [1.0])
    with pytest.raises(rb.RainbowError, match="time_limit must be above 0"):
        Solver(program, time_limit=0)
    with pytest.raises(rb.RainbowError, match="objective must be finite"):
        Solver(program).maximize(np.array([np.inf]))
