"""Names of answers and regions in JSON: text, whole numbers, and lists of such for tuples."""

from __future__ import annotations

from typing import Any

from rainbowdp.errors import InvalidFile
from rainbowdp.expecting import brief
from rainbowdp.storage.integers import LARGEST_NUMBER


def name_to_json(value: Any) -> Any:
    """A name in JSON: text, a whole number, or a list of such for a tuple."""
    if isinstance(value, tuple):
        return [name_to_json(part) for part in value]
    if type(value) is int and abs(value) > LARGEST_NUMBER:
        raise InvalidFile(
            f"a whole number that names an answer or a region must be within 2^53, "
            f"got {brief(value)}; "
            "name it by text"
        )
    if type(value) is int or (type(value) is str and _is_text(value)):
        return value
    raise InvalidFile(
        f"a file can name answers and regions by text or whole numbers, got {brief(value)}"
    )


def _is_text(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:  # half of a surrogate pair
        return False
    return True


def name_from_json(value: Any) -> Any:
    """The name that ``name_to_json`` wrote."""
    if isinstance(value, list):
        return tuple(name_from_json(part) for part in value)
    return name_to_json(value)
