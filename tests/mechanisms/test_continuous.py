from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import rainbowdp as rb
from rainbowdp.guarantees.closeness import first_violation, promise_of
from rainbowdp.guarantees.curve import TradeOffCurve
from rainbowdp.mechanisms.continuous import Continuous
from strategies import guarantees

POINTS = np.linspace(0, 1, 41)


def rising(guarantee: TradeOffCurve, power: float, depth: int = 0) -> Continuous:
    """Grown from the distribution function x^power."""
    return Continuous(
        guarantee,
        cdf=lambda x: np.asarray(x) ** power,
        quantile=lambda u: u ** (1 / power),
        depth=depth,
    )


@given(guarantees(), st.floats(0.5, 3), st.integers(0, 20))
def test_the_finite_theory_on_any_grid_gives_the_same_distribution_function(
    guarantee: TradeOffCurve, power: float, depth: int
) -> None:
    continuous = rising(guarantee, power, depth)
    for cells in (4, 20, 40):  # the finer the grid, the more of the function is pinned
        edges = np.linspace(0, 1, cells + 1)
        row = continuous.row(edges.tolist())
        assert np.cumsum(row) == pytest.approx(continuous.cdf(edges[1:]), abs=1e-9)


@given(guarantees(), st.floats(0.5, 3), st.integers(0, 20), st.floats(1e-6, 1))
def test_the_quantile_is_the_least_point_that_is_reached(
    guarantee: TradeOffCurve, power: float, depth: int, u: float
) -> None:
    continuous = rising(guarantee, power, depth)
    x = continuous.quantile(u)
    assert 0 <= x <= 1
    assume(x > 1e-300 or continuous.cdf(0.0) > 0)  # else no float is small enough
    assert continuous.cdf(x) >= u * (1 - 1e-6) - 1e-9
    if x > 1e-3:
        assert continuous.cdf(x * (1 - 1e-4)) <= u + 1e-6


def test_an_atom_appears_at_the_best_end_with_delta() -> None:
    uniform = rising(rb.DP(1, "0.1"), 1, 1)
    assert uniform.cdf(0.0) == pytest.approx(0.1)
    assert uniform.cdf(-0.1) == 0
    drawn = uniform.sample(20_000, seed=1)
    assert abs((drawn == 0).mean() - 0.1) < 0.02
    assert rising(rb.DP(1), 1, 3).cdf(0.0) == 0


def test_sampling_follows_the_distribution_function() -> None:
    continuous = rising(rb.GaussianDP(1), 1, 2)
    drawn = np.sort(continuous.sample(50_000, seed=7))
    steps = np.arange(1, 50_001) / 50_000
    assert np.abs(continuous.cdf(drawn) - steps).max() < 0.02  # Kolmogorov–Smirnov, far out
    assert (continuous.sample(5, seed=3) == continuous.sample(5, seed=3)).all()


@pytest.mark.parametrize("guarantee", [rb.DP(1), rb.DP("0.1", "0.01"), rb.GaussianDP(1)])
def test_integer_cells_are_exactly_private_and_near_the_real_ones(guarantee: TradeOffCurve) -> None:
    edges = np.linspace(0, 1, 9).tolist()
    rows = [rising(guarantee, 2, depth).exact(edges) for depth in range(6)]
    promise = promise_of(guarantee, 1 << 64)
    for near, deep in itertools.pairwise(rows):
        assert first_violation(promise, near, deep) is None
    real = rising(guarantee, 2, 5).row(edges)
    assert [float(Fraction(w, 1 << 64)) for w in rows[5]] == pytest.approx(real, abs=1e-3)


def test_deeper_is_better() -> None:
    shallow = rising(rb.DP("0.5"), 1, 1)
    deep = shallow.deeper(3)
    assert deep.depth == 4
    assert np.all(deep.cdf(POINTS) >= shallow.cdf(POINTS))


def test_bad_functions_and_edges_are_refused() -> None:
    with pytest.raises(rb.InvalidDistribution, match="rise to 1"):
        Continuous(rb.DP(1), cdf=lambda x: 1 - np.asarray(x), quantile=lambda u: u)
    with pytest.raises(rb.InvalidDistribution, match="rise to 1"):
        Continuous(rb.DP(1), cdf=lambda x: np.asarray(x) / 2, quantile=lambda u: u)
    uniform = rising(rb.DP(1), 1)
    for edges in ([0, 0.5], [0, 0.5, 0.5, 1], [1, 0], []):
        with pytest.raises(rb.InvalidDistribution, match="edges must rise"):
            uniform.row(edges)
