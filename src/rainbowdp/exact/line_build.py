"""Making the most powerful private test of a share (Awan and Slavković 2018).

Its chance of "yes" grows from count to count as fast as the guarantee allows, and where it begins
to grow is chosen for the size. Where the guarantee lets nothing grow from 0, as ε and μ do, counts
below have 2^−96 each.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from rainbowdp.errors import NotApplicable
from rainbowdp.exact.line import Line
from rainbowdp.exact.line_proof import size_above
from rainbowdp.exact.steps import reach_of
from rainbowdp.guarantees.closeness import BITS as ROOT_BITS
from rainbowdp.guarantees.gaussian import GaussianDP
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.guarantees.zero_concentrated import ZeroConcentrated
from rainbowdp.numeric.binomial import binomial_above
from rainbowdp.numeric.quantity import root_below

TOTAL = 1 << 192
_LEAST = 1 << 96
LONGEST = 1 << 15  # weights of a line; one that needs more is refused
_FINE = 32  # bits to which the first weight is found


def most_powerful(guarantee: Guarantee, records: int, share: Fraction, alpha: Fraction) -> Line:
    """The line with the largest size of at most ``alpha`` if each record matches that often."""
    promise = guarantee
    if isinstance(guarantee, ZeroConcentrated):
        promise = GaussianDP(root_below(2 * guarantee.exact_rho, ROOT_BITS))
    reach, chances = reach_of(promise, TOTAL), binomial_above(records, share)
    before = 0 if reach(0) else _LEAST
    grown = _grown(reach, reach(before))

    def fits(weights: tuple[int, ...], start: int) -> bool:
        return size_above(_line(before, weights, start), chances) <= alpha

    low, start = -len(grown), records + 1  # it fits where growth starts there, and not at low
    while start - low > 1:
        middle = (low + start) // 2
        low, start = (low, middle) if fits(grown, middle) else (middle, start)
    first = _largest(lambda weight: fits(_grown(reach, weight), low), before, grown[0])
    return _line(before, _grown(reach, first), low)


def _line(before: int, weights: tuple[int, ...], start: int) -> Line:
    """The line that starts to grow at a count, which may lie below 0."""
    if start >= 0:
        return Line(before, weights, start, TOTAL)
    seen = weights[-start:] or weights[-1:]  # counts below 0 there are not
    return Line(seen[0], seen, 0, TOTAL)


def _largest(fits: Callable[[int], bool], low: int, high: int) -> int:
    """The largest weight that fits, or nearly: ``low`` does."""
    if fits(high):
        return high
    for _ in range(_FINE):
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def _grown(reach: Callable[[int], int], first: int) -> tuple[int, ...]:
    """The weights from ``first`` on, as large as they may be, until they stay as they are."""
    weights = [first]
    while (following := reach(weights[-1])) != weights[-1]:
        weights.append(following)
        if len(weights) > LONGEST:
            raise NotApplicable(
                "the test would grow too slowly to be listed count by count: use a larger guarantee"
            )
    return tuple(weights)
