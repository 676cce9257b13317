"""Keyed hashes of people's values, where an engine has none.

A hash is that of the value and its type, never of a place: one record more would shift the places
of all that follow it, and with them what is kept of other people.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from hashlib import blake2b
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Words: TypeAlias = NDArray[np.uint64]

STEP = np.uint64(0x9E3779B97F4A7C15)  # the step and the factors of SplitMix64
_FACTORS = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_START = datetime(1970, 1, 1, tzinfo=UTC)


def hashed(values: Sequence[Any] | NDArray[Any], key: int) -> Words:
    """The keyed hash of each value of a column of one type, or of the spellings of several."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "iu":
        first, second = np.frombuffer(_start(key, 16).digest(), np.uint64)
        return mixed(mixed(values.astype(np.uint64) ^ first) + second)
    start = _start(key, 8)
    words = np.empty(len(values), np.uint64)
    for place, value in enumerate(values):
        hashing = start.copy()
        hashing.update(spelled(value) or b"")
        words[place] = int.from_bytes(hashing.digest(), "little")
    return words


def mixed(words: Words) -> Words:
    """The finalizer of SplitMix64: a bijection in which every bit hangs on every other."""
    words = (words ^ (words >> np.uint64(30))) * _FACTORS[0]
    words = (words ^ (words >> np.uint64(27))) * _FACTORS[1]
    return words ^ (words >> np.uint64(31))


def spelled(value: Any) -> bytes | None:
    """A value and its type in bytes, the same for equal values of one type alone.

    ``None`` for what tells nobody from anybody else: missing values and objects of other types. No
    value raises, as one record must not stop the counting of all others.

    >>> spelled(1), spelled(True), spelled("1"), spelled(Decimal("1.00")), spelled([1])
    (b'int 1', b'bool True', b'str 1', b'Decimal 0 1 0', None)
    """
    try:
        return _spelled(value)
    except Exception:  # a time zone or a subclass of somebody's own may do anything
        return None


def _spelled(value: Any) -> bytes | None:
    if isinstance(value, np.number | np.bool_ | np.str_ | np.bytes_):
        value = value.item()
    if isinstance(value, bytes):
        return b"bytes " + value
    if isinstance(value, str):
        return b"str " + str.encode(value, "utf-8", "surrogatepass")
    if value is None or value != value:  # NaN and NaT
        return None
    if isinstance(value, bool | uuid.UUID):
        return f"{type(value).__name__} {value}".encode()
    if isinstance(value, int):
        return b"int %d" % value
    if isinstance(value, float):
        return f"float {value + 0.0!r}".encode()  # without a sign of zero
    if isinstance(value, Decimal):
        sign, digits, exponent = value.as_tuple()
        text = "".join(map(str, digits)).lstrip("0")
        short = text.rstrip("0")
        if isinstance(exponent, str) or not short:
            return f"Decimal {value if isinstance(exponent, str) else 0}".encode()
        return f"Decimal {sign} {short} {exponent + len(text) - len(short)}".encode()
    if isinstance(value, datetime):
        when = value.isoformat() if value.tzinfo is None else repr(value - _START)
        return f"datetime {when}".encode()
    return f"date {value}".encode() if isinstance(value, date) else None


def _start(key: int, size: int) -> Any:
    return blake2b(key.to_bytes(8, "little"), digest_size=size)
