"""Numbers for people: one way to write a probability, in pages, figures, cards and terminals.

``display/static/numbers.js`` has the same for pages in a browser; a test compares them.
"""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction

_HUNDREDTH = Decimal("0.01")
_ALMOST = 1 - 2**-53  # the float before 1


def percent(chance: float | Fraction) -> str:
    """A probability in percent with two decimals: "0 %" and "100 %" only if it is exactly that.

    >>> percent(0.7310585786), percent(0.5), percent(1), percent(1e-9), percent(0.999999)
    ('73.11 %', '50.00 %', '100 %', '< 0.01 %', '> 99.99 %')
    """
    share = float(chance)
    if share in (0.0, 1.0):
        return f"{int(share) * 100} %"
    rounded = Decimal(100 * share).quantize(_HUNDREDTH, ROUND_HALF_UP)
    if rounded >= 100:
        return "> 99.99 %"
    if rounded <= 0:
        return "< 0.01 %"
    return f"{rounded} %"


def uncertain(chance: float) -> str:
    """The same for what is never certain: a float of 1 is then only the nearest that there is.

    >>> uncertain(1.0)
    '> 99.99 %'
    """
    return percent(min(chance, _ALMOST))
