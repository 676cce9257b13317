"""What a user gave of a graph, as positions and numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rainbowdp.aliases import Answer, Dataset, Label
from rainbowdp.errors import InvalidGraph
from rainbowdp.expecting import brief, hashable
from rainbowdp.graphs.edges import Edges
from rainbowdp.graphs.engines.narrow import number_type

_BLOCK = 1 << 20


def assignment(assigned: Any, loaded: Edges, what: str) -> tuple[Sequence[Dataset], Sequence[Any]]:
    """The datasets in order, and the rainbow or label of each."""
    if isinstance(assigned, Mapping):
        names = list(assigned)
        if loaded.names is not None:
            missing = next((name for name in loaded.names if name not in assigned), None)
            if missing is not None:
                raise InvalidGraph(
                    f"dataset {brief(missing)} has no {what}; give it one, or leave out its edges"
                )
        return names, list(assigned.values())
    if isinstance(assigned, str) or not hasattr(assigned, "__len__"):
        raise InvalidGraph(
            f"{what}s must be a mapping from datasets, or a sequence for the datasets 0, 1, 2, …, "
            f"got {brief(assigned)}"
        )
    places = loaded.names if loaded.names is not None else range(len(assigned))
    if len(places) != len(assigned):
        raise InvalidGraph(
            f"there are {len(places)} datasets but {len(assigned)} {what}s; give each dataset one"
        )
    return places, assigned


def pairs_of_positions(loaded: Edges, names: Sequence[Dataset]) -> NDArray[Any]:
    """The edges as pairs of positions in ``names``; the given array itself if it fits."""
    if loaded.names is not None and loaded.names is not names:
        if (
            isinstance(loaded.names, range)
            and isinstance(names, list)
            and names == list(loaded.names)
        ):
            return np.asarray(loaded.pairs)
        place = {name: position for position, name in enumerate(names)}
        table = np.array([place[name] for name in loaded.names], dtype=np.int64)
        return table[np.asarray(loaded.pairs, dtype=np.int64)].reshape(-1, 2)
    if isinstance(loaded.pairs, np.ndarray) and (isinstance(names, range) or loaded.names is names):
        if loaded.pairs.size:
            low, high = int(loaded.pairs.min()), int(loaded.pairs.max())
            if low < 0 or high >= len(names):
                raise _unknown(low if low < 0 else high, f"the datasets are 0 to {len(names) - 1}")
        return loaded.pairs
    place = {name: position for position, name in enumerate(names)}
    listed = loaded.pairs.tolist() if isinstance(loaded.pairs, np.ndarray) else loaded.pairs
    try:
        return np.array([(place[a], place[b]) for a, b in listed], dtype=np.int64).reshape(-1, 2)
    except (KeyError, TypeError):
        ends = (end for pair in listed for end in pair)
        stray = next(e for e in ends if not hashable(e) or e not in place)
        if not hashable(stray):
            raise InvalidGraph(f"names of datasets must be hashable, got {brief(stray)}") from None
        raise _unknown(stray, "give it a rainbow, or leave the edge out") from None


def _unknown(name: Any, remedy: str) -> InvalidGraph:
    return InvalidGraph(f"an edge leads to the unknown dataset {brief(name)}; {remedy}")


def numbered_marks(marks: Sequence[Any]) -> tuple[NDArray[Any], list[Any]]:
    """A number for each distinct mark in order of first appearance, and the marks."""
    if isinstance(marks, np.ndarray) and marks.ndim == 1 and marks.dtype.kind in "iu":
        low, high = int(marks.min()), int(marks.max())
        if high - low <= 4 * len(marks):
            return _number_by_table(marks, low, high)
        values, first, numbers = np.unique(marks, return_index=True, return_inverse=True)
        order = np.argsort(first)
        kind = number_type(len(values) - 1)
        return np.argsort(order).astype(kind)[numbers], values[order].tolist()
    if isinstance(marks, np.ndarray) and marks.dtype.kind == "U":
        marks = marks.tolist()  # texts as others have them, which files can name
    found: dict[Any, int] = {}
    try:
        numbered = [found.setdefault(mark, len(found)) for mark in marks]
    except TypeError:
        odd = next(mark for mark in marks if not hashable(mark))
        raise InvalidGraph(f"labels must be hashable, got {brief(odd)}") from None
    return np.array(numbered, dtype=number_type(len(found) - 1)), list(found)


def _number_by_table(marks: NDArray[Any], low: int, high: int) -> tuple[NDArray[Any], list[Any]]:
    """``numbered_marks`` for whole numbers close together: no sorting, block by block."""
    first = np.full(high - low + 1, len(marks), dtype=np.int64)
    starts = range(0, len(marks), _BLOCK)
    for start in reversed(starts):  # of equal marks the last one written stays: the earliest
        block = marks[start : start + _BLOCK].astype(np.int64) - low
        first[block[::-1]] = np.arange(start + len(block) - 1, start - 1, -1)
    present = np.flatnonzero(first < len(marks))
    order = present[np.argsort(first[present])]
    number = np.zeros(len(first), dtype=number_type(len(order) - 1))
    number[order] = np.arange(len(order))
    numbers = np.empty(len(marks), dtype=number.dtype)
    for start in starts:
        block = marks[start : start + _BLOCK].astype(np.int64) - low
        numbers[start : start + _BLOCK] = number[block]
    return numbers, (order + low).tolist()


def rainbow_of(rainbows: Any, label: Label) -> Sequence[Answer]:
    """The rainbow given for ``label``, by a mapping or a sequence."""
    try:
        if not isinstance(rainbows, Mapping) and not 0 <= label < len(rainbows):
            raise IndexError
        order: Sequence[Answer] = rainbows[label]
        return order
    except (KeyError, IndexError, TypeError, ArithmeticError):  # NaN is in no order
        raise InvalidGraph(f"label {brief(label)} has no rainbow; add it to rainbows") from None
