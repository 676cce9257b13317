"""Functions of one value: what ``where`` may compute, and what a question may ``apply``.

==========================  ====================================================================
year, month, day, hour      of a date or time of the years 1 to 9999; of one with a zone, in UTC
lower                       of a text: A to Z become a to z, and nothing else changes
floor, round                of a number: the next whole number below, or the nearest one, where
                            a half goes up
==========================  ====================================================================

Every engine has such functions, and no two of them agree on letters beyond ASCII, halves, zones and
dates out of range; these have one meaning everywhere. ``floor`` and ``round`` are never computed: a
rule about what they give is a rule about the number itself.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction

from rainbowdp.errors import InvalidQuestion
from rainbowdp.expecting import brief
from rainbowdp.questions.ends import End, Kind
from rainbowdp.questions.groups import Between, Equals, Group

FIELDS = ("year", "month", "day", "hour")  # of dates and times
LETTERS = ("lower",)  # of texts
ROUNDED = ("floor", "round")  # of numbers
FUNCTIONS = (*FIELDS, *LETTERS, *ROUNDED)

CAPITALS, SMALL = "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz"
_IN_LOWER = str.maketrans(CAPITALS, SMALL)
_HALF = Fraction(1, 2)
_MOST_ROUNDED = 1 << 52  # so that a half more or less is a float


def lowered(text: str) -> str:
    """The text with small letters for A to Z.

    >>> lowered("ÄRA X")
    'Ära x'
    """
    return text.translate(_IN_LOWER)


def checked_function(name: str | None, column: str | None) -> str | None:
    """The function that a question applies to its column, or ``None``."""
    if name is None:
        return None
    if not isinstance(name, str) or name not in FUNCTIONS:
        raise InvalidQuestion(
            f"apply must be one of {', '.join(FUNCTIONS)}, got apply={brief(name)}"
        )
    if column is None:
        raise InvalidQuestion(f"apply={brief(name)} needs a column to apply it to, got none")
    return name


def check_applied(function: str | None, groups: Iterable[Group]) -> None:
    """Raise where no value of the function can belong to a group."""
    if function is None:
        return
    for name, rule in groups:
        if not isinstance(rule, Equals | Between):
            continue
        if isinstance(rule, Between):
            if function in LETTERS or rule.kind != Kind.NUMBERS:
                gives = "texts" if function in LETTERS else "numbers"
                raise InvalidQuestion(
                    f"apply={brief(function)} gives {gives}, got {rule}: ask about {gives}"
                )
        elif function not in LETTERS and not isinstance(exact_end(rule.value, repr(name)), int):
            raise InvalidQuestion(
                f"apply={brief(function)} gives whole numbers, "
                f"got {brief(rule.value)}: list whole numbers"
            )
        undone(function, rule)


def undone(function: str | None, rule: Equals | Between) -> Equals | Between:
    """The rule about a number that a rule about what ``floor`` or ``round`` makes of it is.

    Other functions are left for whoever reads the column.

    >>> print(undone("floor", Equals("3")), undone("round", Between(None, 2, closed=True)))
    [3, 4) < 2.5
    """
    if function not in ROUNDED:
        return rule
    if isinstance(rule, Between):
        low = None if rule.low is None else _at_least(function, rule.low)
        high = None if rule.high is None else _up_to(function, rule.high, rule.closed)
        return Between(low, high)
    number = exact_end(rule.value, "an answer")
    return undone(function, Between(number, number, closed=True))


def exact_end(value: object, what: str) -> int | float:
    """A number that a 64-bit float spells, or a whole one of any size."""
    try:
        number = Fraction(str(value))
    except (ValueError, ZeroDivisionError):
        raise InvalidQuestion(f"{what} must be a number, got {brief(value)}") from None
    if number.denominator == 1:
        return number.numerator
    try:
        nearest = float(number)
    except OverflowError:
        nearest = math.inf
    if math.isinf(nearest) or Fraction(repr(nearest)) != number:
        raise InvalidQuestion(
            f"{what} must be a number that a 64-bit float spells, got {value}: "
            "write it with fewer digits"
        )
    return nearest


def _at_least(function: str, end: End) -> int | float:
    """The least number that the function does not take below an end."""
    return _from(function, math.ceil(_number(end)))


def _up_to(function: str, end: End, closed: bool) -> int | float:
    """The least number that the function takes past an end."""
    number = _number(end)
    return _from(function, math.floor(number) + 1 if closed else math.ceil(number))


def _from(function: str, whole: int) -> int | float:
    """The least number of which the function makes at least a whole one."""
    if function == "floor":
        return whole
    if abs(whole) > _MOST_ROUNDED:
        raise InvalidQuestion(
            f"round can be compared with numbers up to {_MOST_ROUNDED:,}, got {whole:,}: "
            "compare the column itself"
        )
    return exact_end(whole - _HALF, "an end")


def _number(end: End) -> Fraction:
    if not isinstance(end, int | float):
        raise InvalidQuestion("floor and round are of numbers, got a date or time")
    return Fraction(repr(end))
