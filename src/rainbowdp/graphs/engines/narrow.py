"""The narrowest whole numbers that hold what is asked of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def index_type(largest: int) -> type[np.unsignedinteger[Any]]:
    """Unsigned 32 bits where ``largest`` fits, otherwise 64: two types keep compiled code few."""
    return np.uint32 if largest <= np.iinfo(np.uint32).max else np.uint64


def number_type(largest: int) -> type[np.unsignedinteger[Any]]:
    """The narrowest unsigned type that holds 0 to ``largest``."""
    kinds: tuple[type[np.unsignedinteger[Any]], ...] = (np.uint8, np.uint16)
    fits = (kind for kind in kinds if largest <= np.iinfo(kind).max)
    return next(fits, index_type(largest))


def margin_type(cut: int) -> type[np.unsignedinteger[Any]]:
    """The narrowest unsigned type that holds 0 to ``cut`` and one larger number for no way."""
    return number_type(cut + 1)


def unsigned(numbers: NDArray[Any]) -> NDArray[Any]:
    """The same non-negative numbers as 32 or 64 unsigned bits, without a copy where possible."""
    if numbers.dtype.itemsize >= 4:
        return numbers.view(np.dtype(f"u{numbers.dtype.itemsize}"))
    return numbers.astype(np.uint32)
