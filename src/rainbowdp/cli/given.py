"""Lists as people write them on a command line."""

from __future__ import annotations

import csv
import re
from decimal import Decimal, InvalidOperation

from rainbowdp.errors import RainbowError
from rainbowdp.questions import Grouped, Weight
from rainbowdp.questions.functions import FUNCTIONS
from rainbowdp.questions.posed import Posed

_NAMES = "|".join(FUNCTIONS)
_CALL = re.compile(
    rf'(?P<function>{_NAMES})\((?P<column>[^()]+)\)|"(?P<quoted>(?:{_NAMES})\(.*\))"'
)


def listed(text: str) -> list[str]:
    """The values of ``red, "green, dark", blue``.

    >>> listed('red, "green, dark", blue')
    ['red', 'green, dark', 'blue']
    """
    return [value.strip() for value in next(csv.reader([text], skipinitialspace=True), [])]


def portion(text: str) -> str:
    """A share as a decimal or a fraction, which it may be already.

    >>> portion("60%"), portion("2/3")
    ('0.6', '2/3')
    """
    number = text.strip().removesuffix("%")
    if number == text.strip():
        return text
    try:
        return str(Decimal(number) / 100)
    except InvalidOperation:
        return text


def whole_number(text: str, option: str) -> int:
    """The whole number that an option has."""
    try:
        return int(text)
    except ValueError:
        raise RainbowError(f"{option} must be a whole number, got {text!r}.") from None


def total(text: str) -> int | str:
    """A whole number, or what may be a weight.

    >>> total("12"), total("1.5")
    (12, '1.5')
    """
    try:
        return int(text)
    except ValueError:
        return text


def derived(column: str) -> tuple[str, str | None]:
    """The column and the function of ``month(visited)``; in double quotes it is a column's name.

    >>> derived("month(visited)"), derived('"month(visited)"'), derived("age in years")
    (('visited', 'month'), ('month(visited)', None), ('age in years', None))
    """
    found = _CALL.fullmatch(column)
    if found is None:
        return column, None
    if found["quoted"] is not None:
        return found["quoted"], None
    return found["column"].strip('"'), found["function"]


def weighing(column: str | None, limit: str | None, places: int) -> Weight | None:
    """What a row weighs, if not one."""
    if column is None and limit is None:
        return None
    if column is None or limit is None:
        raise RainbowError(
            "Give --weight, the column of weights, together with --weight-limit, the largest one "
            "that counts in full: without a limit one row could weigh as much as all others."
        )
    return Weight(column, limit, places)


def grouping(question: Posed, by: str | None, groups: str | None, public: bool) -> Posed:
    """The question in each of the listed groups, if there are such."""
    if by is None and groups is None and not public:
        return question
    if by is None or groups is None:
        raise RainbowError(
            "Give --by, the column that tells groups apart, together with --groups, the groups to "
            "ask in: which groups a table has may itself be private."
        )
    column, function = derived(by)
    return Grouped(question, column, listed(groups), public=public, apply=function)


def edges(text: str) -> list[str | None]:
    """The edges of ``,10,20,``; an outer one that is left out is open.

    >>> edges(",10,20,"), edges("0, 10")
    ([None, '10', '20', None], ['0', '10'])
    """
    first, *others = [edge.strip() for edge in text.split(",")]
    return [first or None, *others[:-1], *(edge or None for edge in others[-1:])]
