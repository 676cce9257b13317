"""(ε,δ) guarantees: their parameters, the phase change, the theorem, and bad input."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import rainbowdp as rb
import reference
import strategies
from rainbowdp.guarantees.curve import Excess, TradeOffCurve

HALF = Fraction(1, 2)
ROW = (0.5, 0.5)
SMALL_DELTAS = st.integers(0, 20).map(lambda n: Fraction(n, 20))


def promise(ratio: Fraction, delta: Fraction | str = Fraction(0)) -> rb.DP:
    return rb.DP.from_ratio(ratio.numerator, ratio.denominator, delta=delta)


def excess(guarantee: TradeOffCurve, p: Any, q: Any) -> Excess:
    """``excess`` of exact fractions, which numpy's types do not name."""
    return guarantee.excess(p, q)


def step(s: Fraction, e: Fraction, delta: Fraction) -> Fraction:
    """φ from its definition, in exact fractions."""
    return min(Fraction(1), e * s + delta, 1 - (1 - s - delta) / e)


def floats(row: tuple[Fraction, ...]) -> list[float]:
    return [float(p) for p in row]


# Parameters


def test_parameters_are_kept_exactly() -> None:
    tenth = rb.DP("0.1", "1e-6")
    assert (tenth.exact_epsilon, tenth.exact_delta) == (Fraction(1, 10), Fraction(1, 10**6))
    assert rb.DP(0.1).exact_epsilon == Fraction(0.1)
    assert rb.DP(Decimal("0.1")) == rb.DP("1/10") == rb.DP(Fraction(1, 10))
    assert rb.DP(0.1) != rb.DP("0.1")
    assert rb.DP.from_ratio(4, 2) == rb.DP.from_ratio(2)
    assert rb.DP.from_ratio(1) == rb.DP(0)
    assert len({rb.DP(1), rb.DP("1"), rb.DP(1, "0.1"), rb.DP(1, 0.1)}) == 3


@pytest.mark.parametrize("kind", [np.int64, np.uint8, np.float64, np.float32])
def test_numbers_of_numpy_are_numbers(kind: Any) -> None:
    assert rb.DP(kind(1)) == rb.DP(1)
    assert rb.DP(kind(1)).ratio == pytest.approx(math.e, rel=1e-15)
    assert rb.DP.from_ratio(kind(6), kind(5)).rows(ROW, 30) == pytest.approx(
        rb.DP.from_ratio(6, 5).rows(ROW, 30), rel=1e-12
    )


@given(st.floats(1e-100, 700))
def test_the_ratio_is_the_nearest_float(epsilon: float) -> None:
    with mp.workdps(60):
        assert rb.DP(epsilon).ratio == float(mp.exp(mp.mpf(epsilon)))
    assert rb.DP(epsilon).epsilon == epsilon


@given(strategies.ratios(), SMALL_DELTAS)
@settings(max_examples=50, deadline=None)
def test_epsilon_of_a_ratio_and_the_threshold(ratio: Fraction, delta: Fraction) -> None:
    guarantee = promise(ratio, delta)
    with mp.workdps(60):
        assert guarantee.epsilon == float(mp.log(reference.number(ratio)))
    assert guarantee.ratio == float(ratio)
    theta = (1 - delta) / (ratio + 1)
    assert guarantee.threshold == pytest.approx(float(theta), rel=1e-14)
    # there, and nowhere else, the two branches meet
    assert ratio * theta + delta == 1 - (1 - theta - delta) / ratio


@pytest.mark.parametrize(
    ("guarantee", "long", "short"),
    [
        (rb.DP(1), "DP(epsilon=1)", "1-DP"),
        (rb.DP("0.1", delta=1e-6), "DP(epsilon=0.1, delta=1e-06)", "(0.1, 1e-06)-DP"),
        (rb.DP.from_ratio(6, 5), "DP.from_ratio(6, 5)", "log(6/5)-DP"),
        (
            rb.DP.from_ratio(2, delta=0.25),
            "DP.from_ratio(2, 1, delta=0.25)",
            "(log(2), 0.25)-DP",
        ),
        (rb.DP(0), "DP(epsilon=0)", "0-DP"),
        (rb.DP(0, 1), "DP(epsilon=0, delta=1)", "(0, 1)-DP"),
    ],
)
def test_guarantees_print_themselves(guarantee: rb.DP, long: str, short: str) -> None:
    assert repr(guarantee) == long
    assert str(guarantee) == short


# Phase change


@given(
    strategies.ratios(),
    SMALL_DELTAS,
    st.one_of(
        st.integers(0, 64).map(lambda n: n / 64), st.floats(1e-4, 1), st.sampled_from([0.0, 1e-9])
    ),
)
@settings(max_examples=100, deadline=None)
def test_phase_change_by_iteration(ratio: Fraction, delta: Fraction, s: float) -> None:
    theta = (1 - delta) / (ratio + 1)
    there, depth = Fraction(s), 0
    still = delta == 0 and (ratio == 1 or s == 0)
    while there <= theta and not still:
        there, depth = step(there, ratio, delta), depth + 1
    wanted = math.inf if there <= theta else depth
    assert promise(ratio, delta).phase_change(s) == wanted


@pytest.mark.parametrize(
    ("ratio", "delta", "s", "tau"),
    [
        # s^t = θ exactly at the depth before τ
        (Fraction(3), Fraction(0), 0.25, 1),
        (Fraction(7), Fraction(0), 0.125, 1),
        (Fraction(2), Fraction(1, 4), 0.25, 1),
        (Fraction(2), Fraction(1, 4), 0.0, 2),
        (Fraction(1), Fraction(1, 4), 0.125, 2),
        (Fraction(1), Fraction(0), 0.5, math.inf),
        (Fraction(3, 2), Fraction(1, 16), 0.375, 1),
        # and a hair beside the tie
        (Fraction(3), Fraction(0), 0.25 + 2**-54, 0),
        (Fraction(3), Fraction(0), 0.25 - 2**-54, 1),
        (Fraction(2), Fraction(1, 4), 5e-324, 1),
        # ends
        (Fraction(2), Fraction(1), 0.0, 1),
        (Fraction(2), Fraction(1), 5e-324, 0),
        (Fraction(1), Fraction(1), 0.0, 1),
        (Fraction(2), Fraction(0), 0.0, math.inf),
        (Fraction(2), Fraction(0), 1.0, 0),
        (Fraction(2), Fraction(0), 2.0**-1000, 999),
        (Fraction(1), Fraction(1, 3 * 10**5), 0.25, 75000),
    ],
)
def test_phase_change_at_ties(ratio: Fraction, delta: Fraction, s: float, tau: float) -> None:
    assert promise(ratio, delta).phase_change(s) == tau


@pytest.mark.parametrize(
    ("delta", "tau"),
    [
        ("0", [38, 22, 7, 1, 0]),
        ("0.001", [25, 20, 7, 1, 0]),
        ("0.01", [13, 12, 6, 1, 0]),
    ],
)
def test_phase_changes_of_the_figures_of_the_paper(delta: str, tau: list[int]) -> None:
    s = np.cumsum([0.0005, 0.0081, 0.1364, 0.2727, 0.5823])
    s[-1] = 1.0
    found = promise(Fraction(6, 5), delta).phase_change(s)
    assert found.tolist() == tau
    assert promise(Fraction(6, 5), delta).phase_change(s.reshape(5, 1)).shape == (5, 1)


# The theorem


def test_the_operator_printed_in_the_paper_is_refuted() -> None:
    e, delta = Fraction(2), Fraction(1, 10)
    guarantee = promise(e, delta)
    printed = min(Fraction(1), min(e * HALF, 1 - (1 - HALF) / e) + delta)
    assert printed == Fraction(17, 20)
    wrong = excess(guarantee, (HALF, HALF), (printed, 1 - printed))
    assert float(wrong) == pytest.approx(0.1, rel=1e-12)  # 0.5 − 2·0.15 − 0.1
    assert wrong.answers == (1,)
    assert wrong.first
    assert reference.worst_set((HALF, HALF), (printed, 1 - printed), e, delta) == Fraction(1, 10)
    right = guarantee.rows((HALF, HALF), 1)
    assert right == pytest.approx([0.8, 0.2], rel=1e-12)
    assert not excess(guarantee, (HALF, HALF), right)
    # what was printed keeps only (ε, E·δ)
    assert not excess(promise(e, e * delta), (HALF, HALF), (printed, 1 - printed))


@given(st.integers(2, 4).flatmap(strategies.exact_rows), strategies.ratios(), SMALL_DELTAS)
@settings(max_examples=40, deadline=None)
def test_the_next_row_is_close_and_greatest(
    p: tuple[Fraction, ...], ratio: Fraction, delta: Fraction
) -> None:
    found = promise(ratio, delta).rows(p, 1)
    sums = [Fraction(0), *(step(s, ratio, delta) for s in itertools.accumulate(p))]
    best = tuple(b - a for a, b in itertools.pairwise(sums))
    assert found == pytest.approx(floats(best), rel=1e-12)
    assert reference.worst_set(p, best, ratio, delta) == 0
    # Linear programs over all that is close to p: none has a larger prefix sum, and each one
    # is reached.
    size = len(p)
    above: list[list[float]] = []
    limits: list[float] = []
    for chosen in reference.every_set(size):
        inside = [float(i in chosen) for i in range(size)]
        mass = float(sum(p[i] for i in chosen))
        above += [inside, [-float(ratio) * x for x in inside]]
        limits += [float(ratio) * mass + float(delta), float(delta) - mass]
    for k in range(1, size):
        result = linprog([-float(i < k) for i in range(size)], above, limits, [[1.0] * size], [1.0])
        assert result.status == 0
        assert result.fun is not None
        assert -result.fun == pytest.approx(float(sums[k]), abs=1e-7)


@pytest.mark.slow
@given(strategies.exact_rows(3), strategies.ratios(), SMALL_DELTAS)
@settings(max_examples=15, deadline=None)
def test_nothing_on_a_grid_that_is_close_goes_higher(
    p: tuple[Fraction, ...], ratio: Fraction, delta: Fraction
) -> None:
    highest = np.cumsum(promise(ratio, delta).rows(p, 1))
    parts = 15
    for a, b in itertools.product(range(parts + 1), repeat=2):
        if a + b <= parts:
            other = tuple(Fraction(n, parts) for n in (a, b, parts - a - b))
            if reference.worst_set(p, other, ratio, delta) == 0:
                assert (np.cumsum(floats(other)) <= highest + 1e-12).all()


# Bad input

BAD: list[tuple[Callable[[], object], type[rb.RainbowError], list[str]]] = [
    (lambda: rb.DP(math.nan), rb.InvalidGuarantee, ["epsilon=nan"]),
    (lambda: rb.DP(math.inf), rb.InvalidGuarantee, ["epsilon=inf"]),
    (lambda: rb.DP(-1), rb.InvalidGuarantee, ["epsilon=-1", "[0, 700]"]),
    (lambda: rb.DP(-1e-300), rb.InvalidGuarantee, ["epsilon=-1e-300"]),
    (lambda: rb.DP("-0.1"), rb.InvalidGuarantee, ["epsilon=-0.1"]),
    (lambda: rb.DP(700.5), rb.InvalidGuarantee, ["epsilon=700.5", "[0, 700]"]),
    (lambda: rb.DP(True), rb.InvalidGuarantee, ["epsilon=True"]),
    (lambda: rb.DP("abc"), rb.InvalidGuarantee, ["epsilon='abc'"]),
    (lambda: rb.DP(None), rb.InvalidGuarantee, ["epsilon=None"]),  # type: ignore[arg-type]
    (lambda: rb.DP(1, 1.5), rb.InvalidGuarantee, ["delta=1.5", "[0, 1]"]),
    (lambda: rb.DP(1, -1e-9), rb.InvalidGuarantee, ["delta=-1e-09"]),
    (lambda: rb.DP(1, math.nan), rb.InvalidGuarantee, ["delta=nan"]),
    (lambda: rb.DP(1, False), rb.InvalidGuarantee, ["delta=False"]),
    (lambda: rb.DP(1, "small"), rb.InvalidGuarantee, ["delta='small'"]),
    (lambda: rb.DP.from_ratio(1, 2), rb.InvalidGuarantee, ["got 1/2"]),
    (lambda: rb.DP.from_ratio(2, 0), rb.InvalidGuarantee, ["got 2/0"]),
    (lambda: rb.DP.from_ratio(-2, -1), rb.InvalidGuarantee, ["got -2/-1"]),
    (lambda: rb.DP.from_ratio("x"), rb.InvalidGuarantee, ["numerator='x'"]),
    (lambda: rb.DP.from_ratio(2, math.nan), rb.InvalidGuarantee, ["denominator=nan"]),
    (lambda: rb.DP.from_ratio(10**400), rb.InvalidGuarantee, ["e^700"]),
    (lambda: rb.DP.from_ratio(2, delta=2), rb.InvalidGuarantee, ["delta=2"]),
    (lambda: rb.DP(1).phase_change(2), rb.InvalidDistribution, ["got 2"]),
]


@pytest.mark.parametrize(("call", "kind", "said"), BAD)
def test_bad_input_is_refused_with_its_value(
    call: Callable[[], Any], kind: type[rb.RainbowError], said: list[str]
) -> None:
    with pytest.raises(rb.RainbowError) as caught:
        call()
    assert type(caught.value) is kind
    reference.assert_one_sentence(caught.value, *said)


def test_a_ratio_given_as_a_fraction_is_shown_as_one() -> None:
    with pytest.raises(rb.InvalidGuarantee) as caught:
        rb.DP.from_ratio(HALF)
    reference.assert_one_sentence(caught.value, "got 1/2")
    assert "1/2/1" not in str(caught.value)
