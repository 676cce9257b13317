"""Making noise for counts.

*Canonical noise* (Awan and Vadhan 2023) has a distribution function with F(x + k) = φ(F(x)): where
one person changes a count by k, no noise lets more through, and none that lets as little through is
nearer to 0. For k = 1 its chances are those of the optimal two-answer line.

(ε,δ)      steps of k numbers, each e^ε times as likely as the next, cut off where δ allows it; how
           wide the first step is decides what the noise is in the mean
Gaussian   rounded normal noise
a polygon  F is linear over the first k numbers and grown from there

What rounding to integers may break is mended by as many units for every number of the range as the
proof needs, together less than 2^−60. ``noise_proof`` judges every row; nothing here is trusted.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate, count, pairwise

from rainbowdp.errors import InvalidMechanism, NotApplicable
from rainbowdp.exact.noise import NoiseRow
from rainbowdp.exact.noise_proof import prove_noise
from rainbowdp.exact.steps import reach_of, symmetric_pair
from rainbowdp.guarantees.closeness import BITS as ROOT_BITS
from rainbowdp.guarantees.dp import DP
from rainbowdp.guarantees.gaussian import GaussianDP
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.guarantees.polygons import ratio_below
from rainbowdp.guarantees.trade_off import TradeOff
from rainbowdp.guarantees.zero_concentrated import ZeroConcentrated
from rainbowdp.numeric.quantity import ball, dyadic, precision, root_below

STEP_BITS = 128  # of the weight of 0, where weights fall in steps
CURVE_BITS = 192  # of the total, where they follow a curve
LONGEST = 1 << 18  # weights on one side; noise that needs more is refused
LONGEST_CURVE = 1 << 15  # where each is proved by balls, which take longer
_SPARE = 64  # 2^-SPARE of the total is spread over the range
_LEAST_REACH = 10**6
_DEVIATIONS = 15  # beyond them no weight is left
_NOTHING = 1 << 32  # units that no curve is followed below


@lru_cache(maxsize=64)
def canonical_noise(guarantee: Guarantee, change: int, at_most: int) -> NoiseRow:
    """Proved noise for counts up to ``at_most`` of which one person changes ``change``.

    >>> row = canonical_noise(DP(1), 1, 1000)
    >>> [round(float(row.at_least(number)), 4) for number in (0, 1, 2)]
    [0.7311, 0.2689, 0.0989]
    """
    if isinstance(guarantee, ZeroConcentrated):
        found = _normal(root_below(2 * guarantee.exact_rho, ROOT_BITS) / change, change, at_most)
    elif isinstance(guarantee, GaussianDP):
        found = _normal(guarantee.exact_mu / change, change, at_most)
    elif isinstance(guarantee, DP):
        found = _steps(guarantee, change, at_most)
    else:
        assert isinstance(guarantee, TradeOff)
        found = _grown(guarantee, change, at_most)
    try:
        prove_noise(guarantee, found, change, at_most)
    except InvalidMechanism:
        raise NotApplicable(
            f"there is no exact noise for {guarantee} and a change of {change}; use another "
            "guarantee, or ask a threshold"
        ) from None
    return found


def _steps(guarantee: DP, change: int, at_most: int) -> NoiseRow:
    """Steps that fall by e^ε, cut off by δ, or else down to a few units for every number."""
    ratio, delta = ratio_below(guarantee), guarantee.exact_delta
    half: list[int] = []
    sums = [0]  # of the weights of 0, of 0 and 1, and so on
    for weight in _levels(ratio, _first_step(float(ratio), change), change):
        last = _last(half, sums, ratio, delta, change) if delta and half else None
        if last is not None and last <= weight:
            cut = (*half, last) if last else tuple(half)
            row = NoiseRow(cut, 0, 0, _reach(len(cut), change, at_most))
            if _holds(guarantee, row, change, at_most):
                return row
        half.append(weight)
        sums.append(sums[-1] + weight)
        _must_be_short(len(half), guarantee)
    tail = half[-1]
    end = -(-change * tail * ratio.denominator // (ratio.numerator - ratio.denominator))
    return NoiseRow(tuple(half), tail, end, _reach(len(half), change, at_most))


def _levels(ratio: Fraction, first: int, change: int) -> Iterator[int]:
    """The weights of 0, 1, …: ``first`` numbers alike, then steps of ``change`` numbers.

    It ends where rounding up leaves the next step as it is.
    """
    weight, numbers = 1 << STEP_BITS, first
    while True:
        yield from (weight for _ in range(numbers))
        following = -(-weight * ratio.denominator // ratio.numerator)
        if following == weight and ratio > 1:
            return
        weight, numbers = following, change


def _first_step(ratio: float, change: int) -> int:
    """How many numbers from 0 up are alike, for noise that is nearest to 0 in the mean.

    With r such numbers and a = e^−ε the weights sum to 2r − 1 + 2k·a/(1 − a), and those times the
    distance from 0 to r(r − 1) + (2kr + k(k − 1))·a/(1 − a) + 2k²·a²/(1 − a)².
    """
    if ratio == 1:
        return change
    odds, k = 1 / (ratio - 1), change

    def mean(r: int) -> float:
        far = r * (r - 1) + (2 * k * r + k * (k - 1)) * odds + 2 * k * k * odds * odds
        return far / (2 * r - 1 + 2 * k * odds)

    return min(range(1, change + 1), key=mean)


def _last(
    half: list[int], sums: list[int], ratio: Fraction, delta: Fraction, change: int
) -> int | None:
    """The least weight of the next number after which nothing need follow.

    Noise that ends with r after the weights so far, of sum S, has an excess over e^ε times its
    copy of r + (the k weights before) − e^ε·r, which must not be above δ(S + 2r).
    """
    size = len(half)
    before = sums[size] - sums[max(size - change, 0)]
    if change > size:  # beyond 0 on the other side
        before += sums[min(change - size + 1, size)] - half[0]
    missing = before - delta * (2 * sums[size] - half[0])
    return max(0, math.ceil(missing / (ratio - 1 + 2 * delta)))


def _normal(mu: Fraction, change: int, at_most: int) -> NoiseRow:
    """Normal noise of standard deviation 1/μ, rounded to whole numbers."""
    total = 1 << CURVE_BITS
    size = math.ceil(_DEVIATIONS / mu)
    _must_be_short(size, f"standard deviation {float(1 / mu):.6g}", LONGEST_CURVE)
    above: list[int] = []  # what lies above ½, 1½, …
    for place in count():
        with precision(CURVE_BITS + 64):
            argument = ball(mu * (2 * place + 1)) / ball(Fraction(8)).sqrt()
            above.append(math.floor(dyadic((argument.erfc() / 2).lower()) * total))
        if above[-1] < _NOTHING:
            return _spread(above, total, change, at_most)
    raise AssertionError


def _grown(curve: TradeOff, change: int, at_most: int) -> NoiseRow:
    """F(x + k) = φ(F(x)), from a straight piece of F around 0."""
    total = 1 << CURVE_BITS
    high, low = symmetric_pair(curve, 2, total)
    reach = reach_of(curve, total)

    def straight(place: int) -> int:  # what lies above place + ½, for |place + ½| ≤ k/2
        return total // 2 - (high - low) * (2 * place + 1) // (2 * change)

    above: list[int] = []
    for place in count():
        _must_be_short(place, curve, LONGEST_CURVE)
        if 2 * place + 1 <= change:
            above.append(straight(place))
            continue
        before = above[place - change] if place >= change else straight(place - change)
        above.append(total - reach(total - before))
        if above[-1] < _NOTHING:
            return _spread(above, total, change, at_most)
    raise AssertionError


def _spread(above: list[int], total: int, change: int, at_most: int) -> NoiseRow:
    """Weights from what lies above ½, 1½, …, and a few units more for every number in reach."""
    reach = _reach(len(above), change, at_most)
    few = max(1, (total >> _SPARE) // (2 * reach))
    weights = [total - 2 * above[0], *(one - two for one, two in pairwise(above))]
    falling = list(accumulate(reversed(weights), max))  # rounding may have turned two around
    return NoiseRow(tuple(weight + few for weight in reversed(falling)), few, few * reach, reach)


def _reach(size: int, change: int, at_most: int) -> int:
    return max(at_most, _LEAST_REACH, size + change)


def _holds(guarantee: Guarantee, row: NoiseRow, change: int, at_most: int) -> bool:
    try:
        prove_noise(guarantee, row, change, at_most)
    except InvalidMechanism:
        return False
    return True


def _must_be_short(size: int, what: object, longest: int = LONGEST) -> None:
    if size > longest:
        raise NotApplicable(
            f"the noise of {what} is too wide to be listed number by number: use a larger "
            "guarantee, or ask a threshold"
        )
