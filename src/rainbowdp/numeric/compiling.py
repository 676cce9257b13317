"""How loops over arrays are compiled. Importing this loads Numba, which takes half a second."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit

Function = TypeVar("Function", bound=Callable[..., Any])


def kernel(function: Function) -> Function:
    """Compile without the interpreter lock, and keep the result on disk where that is allowed."""
    try:
        compiled: Any = njit(cache=True, nogil=True, error_model="numpy")(function)
    except RuntimeError:  # neither the package's folder nor the user's can be written
        compiled = njit(nogil=True, error_model="numpy")(function)
    return cast(Function, compiled)
