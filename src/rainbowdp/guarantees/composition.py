"""What answers that are fixed beforehand keep together: less than their sums.

All questions and all guarantees are chosen before the first answer, so the answers are drawn
independently and their privacy losses add up. ``docs/plans.md`` has the proofs.

*(ε_i, δ_i), optimal composition* (Kairouz, Oh and Viswanath 2015; Murtagh and Vadhan 2016). An
ε-private answer is one of randomized response, processed further, so the worst of all such answers
are so many coins with losses ±ε_i, and with δ_i each of them tells all. Together they keep (ε,δ)
exactly if

    1 − Π(1 − δ_i)·(1 − D) ≤ δ,   D = Σ max(0, P(losses) − e^ε·Q(losses))

The sum is over whole multiples of one unit; an ε_i that is none is rounded up to one.

*Ranges* (Dong, Durfee and Rogers 2020). The losses of an answer of the exponential mechanism lie
between t − η and t for some t. The worst of k such answers are coins with just these two losses,
all with one t, and the worst t is one of the k + 1 numbers (ε + (l + 1)·η)/(k + 1).

Every number that decides is a ball's upper end: what is found to keep (ε,δ) does.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from rainbowdp.guarantees.dp import DP
from rainbowdp.numeric.quantity import ball, dyadic, precision

if TYPE_CHECKING:
    from flint import arb, arb_poly

_BITS = 192
_UNITS = 20_000  # of all ε together, where they have no larger common unit
_ONE = Fraction(1)
_STEPS = 48  # of a bisection in floats
_SPARED = (1e-9, 1e-6, 1e-4, 1e-2)  # of what floats find, until it is proved
_PLACES = 48  # binary places of a range


def epsilon_below(promise: DP) -> Fraction:
    """ε, or a rational below log(ratio)."""
    if promise.exact_epsilon is not None:
        return promise.exact_epsilon
    with precision(_BITS):
        return dyadic(promise.ratio_ball().log().lower())


def epsilon_above(promise: DP) -> Fraction:
    """ε, or a rational above log(ratio)."""
    if promise.exact_epsilon is not None:
        return promise.exact_epsilon
    with precision(_BITS):
        return dyadic(promise.ratio_ball().log().upper())


def composed_within(parts: Sequence[DP], total: DP) -> bool:
    """Whether answers under ``parts``, fixed beforehand, certainly keep ``total`` together.

    >>> composed_within([DP("0.126")] * 30, DP(3, "1e-6")), composed_within([DP("0.1")] * 30, DP(3))
    (True, True)
    >>> composed_within([DP("0.127")] * 30, DP(3, "1e-6"))
    False
    """
    epsilon, delta = epsilon_below(total), total.exact_delta
    spared = _ONE
    for part in parts:
        spared *= 1 - part.exact_delta
    if 1 - spared > delta:
        return False
    losses = [above for part in parts if (above := epsilon_above(part)) > 0]
    if sum(losses) <= epsilon:
        return True
    return 1 - spared * (1 - losses_above(losses, epsilon)) <= delta


def losses_above(epsilons: Sequence[Fraction], epsilon: Fraction) -> Fraction:
    """At least the δ that answers of these pure ε's leave at ``epsilon``, and at most 1."""
    unit = _unit(epsilons)
    steps = [math.ceil(each / unit) for each in epsilons]
    top = sum(steps)
    with precision(_BITS):
        # Coefficient j: the chance that the losses add up to (2j − top) units.
        chances = _chances(Counter(steps), unit)
        first = math.floor((epsilon / unit + top) / 2) + 1  # whose losses exceed ε
        over = ball(epsilon - (2 * first - top) * unit).exp()  # e^(ε − loss)
        less, found = ball(-2 * unit).exp(), ball(Fraction(0))
        for above in range(first, top + 1):
            found += chances[above] * (1 - over)
            over *= less
        return min(_ONE, dyadic(found.upper()))


def _unit(epsilons: Sequence[Fraction]) -> Fraction:
    """The largest common unit, or where that is tiny a small one to which ε's are rounded up."""
    common = epsilons[0]
    for each in set(epsilons):
        common = Fraction(
            math.gcd(common.numerator * each.denominator, each.numerator * common.denominator),
            common.denominator * each.denominator,
        )
    total = sum(epsilons, Fraction(0))
    return common if total / common <= _UNITS else total / _UNITS


def _chances(steps: Counter[int], unit: Fraction) -> arb_poly:
    """The product of (1 − p + p·x^n) over all steps n, with p = 1/(1 + e^−(n·unit))."""
    from flint import arb_poly

    made = arb_poly([1])
    for step, times in sorted(steps.items()):
        wrong = 1 / (1 + ball(step * unit).exp())
        made *= arb_poly([wrong, *[0] * (step - 1), 1 - wrong]) ** times
    return made


def ranges_within(width: Fraction, answers: int, total: DP) -> bool:
    """Whether so many answers of ranges up to ``width`` certainly keep ``total`` together.

    >>> ranges_within(Fraction(23, 100), 30, DP(3, "1e-6"))
    True
    >>> ranges_within(Fraction(25, 100), 30, DP(3, "1e-6"))
    False
    """
    epsilon, delta = epsilon_below(total), total.exact_delta
    if answers * width <= epsilon:
        return True
    return delta > 0 and not _exceeded(width, answers, epsilon, delta)


def _exceeded(width: Fraction, answers: int, epsilon: Fraction, delta: Fraction) -> bool:
    """Whether one of the worst coins may leave more than δ."""
    with precision(_BITS):
        bound = ball(delta)
        for place in range(answers + 1):
            high = (epsilon + (place + 1) * width) / (answers + 1)
            if high >= width:  # from there on nothing is left, as the larger loss never comes
                return False
            if not bool(_left(width, high, answers, epsilon, bound) <= bound):
                return True
    return False


def _left(width: Fraction, high: Fraction, answers: int, epsilon: Fraction, enough: arb) -> arb:
    """At least the δ of coins with losses ``high`` and ``high`` − ``width``, or at most enough."""
    kept = ball(-width).exp()
    chance = (1 - kept * ball(high).exp()) / (1 - kept)  # of the larger loss
    # The losses exceed ε where the larger one comes at least so often.
    first = math.floor((epsilon - answers * (high - width)) / width) + 1
    first = max(first, 0)
    if first > answers:
        return ball(Fraction(0))
    share = ball(Fraction(first, answers))
    if 0 < first < answers and bool(share > chance):
        entropy = share * (share / chance).log() + (1 - share) * ((1 - share) / (1 - chance)).log()
        most = (-answers * entropy).exp()  # Chernoff
        if bool(most <= enough):
            return most
    odds, less = chance / (1 - chance), ball(-width).exp()
    over = ball(epsilon - answers * (high - width) - first * width).exp()  # e^(ε − loss)
    term = chance**first * (1 - chance) ** (answers - first) * math.comb(answers, first)
    found = ball(Fraction(0))
    for number in range(first, answers + 1):
        found += term * (1 - over)
        term = term * (answers - number) / (number + 1) * odds
        over *= less
    return found.upper()


def largest_range(answers: int, total: DP) -> Fraction:
    """The largest range that so many answers may have to keep ``total`` together, rounded down.

    It is looked for in floats; what is found certainly keeps it.

    >>> round(float(largest_range(30, DP(3, "1e-6"))), 4)
    0.2395
    """
    least = epsilon_below(total) / answers
    if total.exact_delta == 0:
        return least
    epsilon, delta = float(epsilon_below(total)), float(total.exact_delta)
    low, high = float(least), float(least) + 1.0
    while _in_floats(high, answers, epsilon) <= delta:
        low, high = high, 2 * high
    for _ in range(_STEPS):
        middle = (low + high) / 2
        fits = _in_floats(middle, answers, epsilon) <= delta
        low, high = (middle, high) if fits else (low, middle)
    for spare in _SPARED:
        width = Fraction(math.floor(low * (1 - spare) * (1 << _PLACES)), 1 << _PLACES)
        if width > least and ranges_within(width, answers, total):
            return width
    return least


def _in_floats(width: float, answers: int, epsilon: float) -> float:
    """About the largest δ of coins with a range of ``width``."""
    import numpy as np
    from scipy.special import bdtrc

    places = np.arange(answers + 1)
    high = (epsilon + (places + 1) * width) / (answers + 1)
    high = high[high < width]
    kept = np.exp(-width)
    chance = -np.expm1(high - width) / (1 - kept)
    other = chance * np.exp(-high)
    first = answers - places[: len(high)]  # the larger loss comes at least so often
    left = bdtrc(first - 1, answers, chance) - math.exp(epsilon) * bdtrc(first - 1, answers, other)
    return float(left.max(initial=0.0))
