"""One sentence where something of another type was given."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from rainbowdp.errors import InvalidQuestion, RainbowError

Some = TypeVar("Some")

_MOST_SHOWN = 200  # characters of a value in a message
_MOST_BITS = 13_000  # of a whole number, so that Python prints it


def expect(
    value: Some, kind: type[Any], what: str, error: type[RainbowError] = RainbowError
) -> Some:
    """The value, if it is of the kind; ``what`` names in the message who needs it.

    >>> expect(3, int, "a walk", RainbowError)
    3
    >>> expect("3", int, "a walk", RainbowError)
    Traceback (most recent call last):
    rainbowdp.errors.RainbowError: a walk needs an int, got a str
    """
    if isinstance(value, kind):
        return value
    raise error(f"{what} needs {_named(kind)}, got {_named(type(value))}")


def _named(kind: type[Any]) -> str:
    name = kind.__name__
    if name == "NoneType":
        return "None"
    return f"{'an' if name[0] in 'AEIOUaeiou' else 'a'} {name}"


def hashable(value: object) -> bool:
    """Whether a value can be looked up; a tuple that holds a list cannot.

    >>> hashable(("a", 1)), hashable(("a", [1]))
    (True, False)
    """
    try:
        hash(value)
    except TypeError:
        return False
    return True


def brief(value: object, shown: Callable[[object], str] = repr) -> str:
    """The beginning of what Python shows of a value.

    >>> brief("red"), brief([10**5000]), brief("red", str)
    ("'red'", 'a list', 'red')
    """
    try:
        text = shown(value)
    except Exception:  # it may be the user's own; and Python prints no number of 4,301 digits
        return _named(type(value))
    return shortened(text)


def shortened(text: str) -> str:
    """The beginning of a long text."""
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}…"


def whole(
    value: object,
    what: str,
    least: int,
    most: int | None = None,
    error: type[RainbowError] = InvalidQuestion,
) -> int:
    """A whole number from ``least`` up; NumPy's count, booleans and floats do not.

    >>> whole(np.int64(7), "at_least", 1)
    7
    """
    try:
        if isinstance(value, bool | np.bool_):
            raise TypeError
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        number = least - 1
    if number.bit_length() > _MOST_BITS:
        raise error(f"{what} must be a whole number of at most 3,900 digits, got a longer one")
    if number < least or (most is not None and number > most):
        got = f"{what}={brief(value)}" if what.isidentifier() else brief(value)
        wanted = f"of at least {least}" if number < least else f"of at most {most}"
        raise error(f"{what} must be a whole number {wanted}, got {got}")
    return number
