"""What a promise is worth to one person, in words."""

from __future__ import annotations

import math

_ROUNDING = 1e-10  # percent: what floats may be off by
_LAST = 99  # percent: anything above is said in words


def guess_in_words(chance: float, about: str) -> str:
    """How often a fifty-fifty guess can be right afterwards, in whole percent, rounded up.

    >>> guess_in_words(0.7311, "one record")
    'a fifty-fifty guess about one record is right at most 74 % of the time once the answer is out'
    >>> guess_in_words(0.9933, "one person")
    'a fifty-fifty guess about one person can become nearly certain once the answer is out'
    """
    percent = math.ceil(100 * chance - _ROUNDING)
    if chance >= 1:
        can = "can become certain"
    elif percent > _LAST:
        can = "can become nearly certain"
    else:
        can = f"is right at most {percent} % of the time"
    return f"a fifty-fifty guess about {about} {can} once the answer is out"
