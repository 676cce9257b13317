"""Group privacy: what k changes cost, against the iterates that the curves themselves have."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rainbowdp as rb
from reference import number
from strategies import dps, trade_offs

LEVELS = np.linspace(0.0, 1.0, 41)


@given(trade_offs(), st.integers(1, 5))
def test_a_polygon_is_applied_so_often(curve: rb.TradeOff, changes: int) -> None:
    grouped = curve.group(changes)
    assert grouped.step(LEVELS) == pytest.approx(curve.grow(LEVELS, changes), abs=1e-12)


@given(dps(), st.integers(1, 4))
def test_epsilon_and_delta_are_not_below_the_iterated_curve(promise: rb.DP, changes: int) -> None:
    if promise.epsilon * changes > 20:
        return
    grouped = promise.group(changes)
    assert (grouped.step(LEVELS) >= promise.grow(LEVELS, changes) - 1e-12).all()
    small = np.array([1e-9])  # where the two agree, for a group costs no less than this
    wanted = promise.grow(small, changes)
    if wanted < 1e-3:
        assert grouped.step(small) == pytest.approx(wanted, rel=1e-9)


@given(st.fractions("1/20", 3, max_denominator=40), st.integers(2, 6))
def test_delta_is_the_sum_rounded_up(epsilon: Fraction, changes: int) -> None:
    delta = Fraction(1, 10**6)
    grouped = rb.DP(epsilon, delta).group(changes)
    assert grouped.exact_epsilon == epsilon * changes
    with mp.workdps(150):
        truth = number(delta) * mp.fsum(mp.exp(number(epsilon) * i) for i in range(changes))
        truth = min(truth, mp.mpf(1))
        found = number(grouped.exact_delta)
        assert truth <= found <= truth * (1 + mp.mpf("1e-60"))


def test_exact_ratios_stay_exact() -> None:
    grouped = rb.DP.from_ratio(3, 2, delta="0.01").group(3)
    assert grouped == rb.DP.from_ratio(
        27, 8, delta=Fraction("0.01") * (1 + Fraction(3, 2) + Fraction(9, 4))
    )
    assert rb.DP(0, "0.1").group(4) == rb.DP(0, "0.4")
    assert rb.DP(0, "0.3").group(4).exact_delta == 1
    assert rb.DP(2).group(1) == rb.DP(2)


def test_rows_on_a_path_keep_the_group() -> None:
    """Three steps of the best rows use up what three changes may cost, by an exact audit."""
    promise = rb.DP.from_ratio(2, delta="0.01")
    line = rb.optimal_line(("yes", "no"), 6, promise, ("1/100", "99/100"))
    rows = {depth: line[depth] for depth in range(4)}
    found = rb.audit(rows, pairs=[(0, 3)], claim=promise.group(3))
    assert found.verdict == "holds"
    tighter = rb.TradeOff([(0, "99/100"), ("33/100", "33/100"), ("99/100", 0), (1, 0)]).group(3)
    assert rb.audit(rows, pairs=[(0, 3)], claim=tighter).verdict == "holds"
    assert rb.audit(rows, pairs=[(0, 3)], claim=promise.group(2)).verdict == "broken"


@pytest.mark.parametrize("changes", [0, -1, 1.5, "2", True, None])
@pytest.mark.parametrize("promise", [rb.DP(1), rb.GaussianDP(1), rb.ZeroConcentrated(1)])
def test_other_numbers_are_refused(promise: Any, changes: Any) -> None:
    with pytest.raises(rb.InvalidGuarantee, match="changes must be a whole number from 1"):
        promise.group(changes)
    with pytest.raises(rb.InvalidGuarantee):
        rb.DP(500).group(2)
