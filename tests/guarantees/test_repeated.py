from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rainbowdp as rb
from rainbowdp.guarantees.curve import TradeOffCurve
from rainbowdp.guarantees.repeated import excess_after, excesses_after
from strategies import exact_rows

CURVES: list[TradeOffCurve] = [
    rb.DP.from_ratio("1.3"),
    rb.DP("0.2", "0.01"),
    rb.DP(0, "0.05"),
    rb.GaussianDP("0.3"),
]


def allowed(curve: TradeOffCurve, share: float, steps: int) -> float:
    """What a set of probability ``share`` may have ``steps`` steps away."""
    if isinstance(curve, rb.DP) and curve.delta == 0:
        ratio = curve.ratio**steps
        return min(1.0, ratio * share, 1 - (1 - share) / ratio)
    for _ in range(steps):
        share = curve.step(share)
    return share


def by_all_sets(curve: TradeOffCurve, p: list[float], q: list[float], steps: int) -> float:
    worst = 0.0
    for size in range(1, len(p)):
        for chosen in itertools.combinations(range(len(p)), size):
            here, there = (sum(row[v] for v in chosen) for row in (p, q))
            worst = max(
                worst,
                here - allowed(curve, there, steps),
                there - allowed(curve, here, steps),
            )
    return worst


@pytest.mark.slow
@settings(max_examples=150)
@given(st.data(), st.sampled_from(CURVES), st.integers(0, 5), st.integers(1, 4))
def test_every_set_of_answers_is_looked_at(
    data: st.DataObject, curve: TradeOffCurve, steps: int, answers: int
) -> None:
    rows = [data.draw(exact_rows(answers)) for _ in range(2)]
    p, q = ([float(x) for x in row] for row in rows)
    expected = by_all_sets(curve, p, q, steps)
    found = excess_after(curve, np.array(p), np.array(q), steps)
    many = excesses_after(curve, np.array([p]), np.array([q]), np.array([steps]))
    assert abs(float(found) - many[0]) < 1e-12
    if expected > 1e-9 or found > 0:
        assert found > 0
        assert expected > 0
        more, less = (p, q) if found.first else (q, p)
        chosen = [sum(row[v] for v in found.answers) for row in (more, less)]
        assert chosen[0] > allowed(curve, chosen[1], steps) - 1e-12
    if not isinstance(curve, rb.DP) or steps == 1:
        assert abs(float(found) - expected) < 1e-9


def test_tiny_probabilities_are_compared_relatively() -> None:
    curve, tiny = rb.DP.from_ratio(2), 1e-200
    p, q = np.array([8.1 * tiny, 1.0]), np.array([tiny, 1.0])
    assert excess_after(curve, p, q, 3) > 0
    assert not excess_after(curve, np.array([7.9 * tiny, 1.0]), q, 3)
    many = excess_after(rb.DP(1), np.array([0.5, 0.5]), np.array([0.0, 1.0]), 10_000)
    assert many > 0  # no number of steps makes the impossible possible
    assert excess_after(rb.DP(1, 0.1), p, q, 0) > 0


def test_what_no_float_holds_is_no_violation() -> None:
    curve = rb.GaussianDP(1)
    p, q = curve.rows(["0.6", "0.3", "0.1"], np.array([8, 43]))
    assert q[1] == 0 < p[1]
    assert not excess_after(curve, p, q, 35)
    assert excess_after(curve, p, q, 2) > 0  # 1e-308 cannot grow to 1e-16 in two steps
