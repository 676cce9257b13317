"""How far two distributions are from being close where they are several steps apart.

n steps of pure ε allow n·ε, as metric privacy has it. n steps of any other curve allow φ applied n
times, which for μ is n·μ. Both are concave, and the best tests of two distributions are the sets of
answers by falling likelihood ratio (Neyman and Pearson); so two distributions are close if and
only if each of these q − 1 sets is.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rainbowdp.aliases import Floats
from rainbowdp.guarantees.curve import ROUNDING, UNDERFLOW, Excess, TradeOffCurve
from rainbowdp.guarantees.dp import DP, LARGEST_EPSILON

_SLACK = 4 * ROUNDING  # sums of probabilities, grown
Integers = NDArray[np.int64]


def excesses_after(curve: TradeOffCurve, p: Floats, q: Floats, steps: Integers) -> Floats:
    """The largest P(S) − φ(Q(S)) over all sets and both directions, for each pair of rows.

    φ is what ``steps`` steps of ``curve`` allow.
    """
    found = np.zeros(len(p))
    once = steps == 1
    if once.any():
        found[once] = curve.excesses(p[once], q[once])
    if not once.all():
        pair = p[~once], q[~once]
        forth, _ = _violations(curve, *pair, steps[~once])
        back, _ = _violations(curve, *pair[::-1], steps[~once])
        found[~once] = np.maximum(forth, back)
    return found


def excess_after(curve: TradeOffCurve, p: Floats, q: Floats, steps: int) -> Excess:
    """``excesses_after`` for one pair of rows, with the set that proves it."""
    if steps == 1:
        return curve.excess(p, q)
    times = np.array([steps])
    forth, forth_set = _violations(curve, p[None], q[None], times)
    back, back_set = _violations(curve, q[None], p[None], times)
    if max(forth[0], back[0]) == 0:
        return Excess(0.0)
    if forth[0] >= back[0]:
        return Excess(forth[0], np.flatnonzero(forth_set[0]))
    return Excess(back[0], np.flatnonzero(back_set[0]), first=False)


def _violations(
    curve: TradeOffCurve, p: Floats, q: Floats, steps: Integers
) -> tuple[Floats, NDArray[np.bool_]]:
    """For each pair the largest p(S) − φ(q(S)), zero within rounding, and the set S."""
    if isinstance(curve, DP) and curve.exact_delta == 0:
        return _pure(curve, p, q, steps)
    return _repeated(curve, p, q, steps)


def _pure(curve: DP, p: Floats, q: Floats, steps: Integers) -> tuple[Floats, NDArray[np.bool_]]:
    slope = np.exp(np.minimum(curve.epsilon * steps, LARGEST_EPSILON))[:, None]
    noise = ROUNDING * (p + slope * q) + slope * UNDERFLOW
    chosen = p - slope * q > noise
    worst = np.where(chosen, p - slope * q, 0.0).sum(axis=1)
    return worst, chosen


def _repeated(
    curve: TradeOffCurve, p: Floats, q: Floats, steps: Integers
) -> tuple[Floats, NDArray[np.bool_]]:
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(p == 0, np.where(q == 0, 0.0, -1.0), p / q)
    order = np.argsort(-ratio, axis=1, kind="stable")
    sorted_p, sorted_q = (np.take_along_axis(rows, order, axis=1) for rows in (p, q))
    heads_p, heads_q = (np.cumsum(rows, axis=1)[:, :-1] for rows in (sorted_p, sorted_q))
    tails_p, tails_q = (
        np.cumsum(rows[:, ::-1], axis=1)[:, -2::-1] for rows in (sorted_p, sorted_q)
    )
    if not heads_p.shape[1]:
        return np.zeros(len(p)), np.zeros(p.shape, dtype=np.bool_)
    depth = np.repeat(steps[:, None].astype(np.float64), heads_q.shape[1], axis=1)
    known = np.clip(heads_q, UNDERFLOW, 1.0)
    most, least = curve._advance(known, np.minimum(tails_q, 1.0), depth)
    low = most < 0.5  # of two numbers that sum to 1, the smaller one is known better
    over = np.where(low, heads_p - most, least - tails_p)
    noise = _SLACK * np.where(low, heads_p + most, least + tails_p)
    over = np.where(over > noise, over, 0.0)
    last = over.argmax(axis=1)
    chosen = np.zeros(p.shape, dtype=np.bool_)
    inside = np.arange(p.shape[1]) <= last[:, None]
    np.put_along_axis(chosen, order, inside, axis=1)
    return over.max(axis=1), chosen
