"""Which records match: those with one value, or with one in a range."""

from __future__ import annotations

from datetime import date
from typing import Any

from rainbowdp.errors import InvalidQuestion
from rainbowdp.expecting import brief
from rainbowdp.questions.ends import End, GivenEnd, end, kind_of, less, shown
from rainbowdp.questions.groups import Between, Equals

MATCHING = "matching"  # the name of their count


def checked_matching(
    what: str,
    column: str | None,
    equals: str | float | date | None,
    minimum: GivenEnd | None,
    maximum: GivenEnd | None,
) -> dict[str, Any]:
    """The three fields that say which records match; ``what`` is asked is for messages."""
    found = {
        "equals": _spelled(equals),
        "minimum": None if minimum is None else end(minimum, "minimum"),
        "maximum": None if maximum is None else end(maximum, "maximum"),
    }
    given = [name for name, value in found.items() if value is not None]
    if (column is None) != (not given):
        raise InvalidQuestion(
            f"{what} needs both a column and equals=, minimum= or maximum=, or neither "
            f"where counts are given, got column={brief(column)} and {', '.join(given) or 'none'}"
        )
    if "equals" in given and len(given) > 1:
        raise InvalidQuestion(
            f"equals= stands alone, got {', '.join(given)}: leave out one or the other"
        )
    low: Any = found["minimum"]
    high: Any = found["maximum"]
    kind_of(low, high)
    if low is not None and high is not None and less(high, low):
        raise InvalidQuestion(
            f"minimum must not be above maximum, got minimum={shown(low)} and maximum={shown(high)}"
        )
    return found


def matching(equals: str | None, minimum: End | None, maximum: End | None) -> Equals | Between:
    """The rule of the matching records.

    >>> print(matching(None, 65, None))
    ≥ 65
    """
    if equals is not None:
        return Equals(equals)
    return Between(minimum, maximum, closed=True)


def _spelled(value: str | float | date | None) -> str | None:
    """The value to match as a text: ``True`` is "true", 3 is "3"."""
    if value is None:
        return None
    try:
        text = str(value).lower() if isinstance(value, bool) else str(value)
    except Exception:  # whatever a value of another type raises
        raise InvalidQuestion(f"equals must be a value to match, got {brief(value)}") from None
    if not text:
        raise InvalidQuestion("equals must be a value to match, got equals=''")
    return text
