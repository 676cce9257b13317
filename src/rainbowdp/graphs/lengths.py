"""Lengths of edges in whole units, by which distances and promises are measured.

A length ℓ counts as ⌊ℓ/u⌋ steps of the unit u. Rounding down makes places nearer than they are,
so what is promised by steps holds by length as well. The division is exact: a whole number or
fraction is itself, a float the binary fraction it is, and a number in a text file the decimal that
it spells.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rainbowdp.errors import InvalidGraph
from rainbowdp.expecting import brief
from rainbowdp.graphs.edges import Edges, read_edges
from rainbowdp.numeric.quantity import Number, exact

MOST_STEPS = 2_000_000_000  # that one edge may have
_NEAR = 1e-9  # a quotient as near as this to a whole number is divided exactly

AnyLengths: TypeAlias = (
    "bool | str | Mapping[tuple[Hashable, Hashable], Number] | Sequence[Number] | NDArray[Any]"
)


def with_lengths(
    edges: Any,
    lengths: AnyLengths = True,
    *,
    unit: Number = 1,
    measure: str = "",
    mutual: bool = False,
) -> Edges:
    """Edges whose lengths count: ⌊length/unit⌋ steps each, exactly.

    ``RainbowGraph`` and ``nearest_sites`` then go by length. An edge that is shorter than the unit
    has no step at all: its two ends are one place to every promise.

    Parameters
    ----------
    edges
        The edges in any form that ``RainbowGraph`` takes.
    lengths
        True for the weights that a file, a matrix or another library's graph has; the name of an
        attribute of edges, in networkx and igraph; {(a, b): length}; or a length for each edge, in
        order. False drops all weights, so that edges are counted.
    unit
        The length of one step, in the measure of the lengths.
    measure
        What lengths are measured in, for messages and files: ``"m"``.
    mutual
        Whether an edge of a directed graph counts both ways, although none leads back. Of two
        lengths between the same nodes the shorter counts.

    Returns
    -------
    Edges
        What ``RainbowGraph`` and ``nearest_sites`` take as edges.

    Raises
    ------
    InvalidGraph
        If a length is missing, negative, not finite or too large for its unit; or if edges have
        directions and ``mutual`` does not say that each counts both ways.

    Examples
    --------
    >>> roads = with_lengths([("a", "b"), ("b", "c")], [120, 85.5], unit=10, measure="m")
    >>> roads
    Edges(2 edges, lengths in steps of 10 m)
    >>> roads.steps.tolist()
    [12, 8]

    """
    if lengths is False:
        loaded = read_edges(edges, mutual=mutual)
        return replace(loaded, weights=None, steps=None, unit=None, measure="", written=False)
    weight = lengths if isinstance(lengths, str) else "weight"
    loaded = read_edges(edges, weight, mutual)
    step = exact(unit, "unit", InvalidGraph)
    if step <= 0:
        raise InvalidGraph(f"unit must be a length above 0, got unit={unit}")
    if lengths is True or isinstance(lengths, str):
        if loaded.weights is None:
            raise InvalidGraph(
                "lengths are asked for, and these edges have none; give lengths=, or name the "
                "column or attribute that has them"
            )
        given, written = loaded.weights, loaded.written
    else:
        given, written = _numbers(loaded, lengths), False  # numbers are what they are
    steps = whole_steps(loaded, given, step, written)
    weights = given if given.dtype != object else given.astype(np.float64)
    return replace(
        loaded, weights=weights, steps=steps, unit=step, measure=measure, written=written
    )


def _numbers(loaded: Edges, lengths: Any) -> NDArray[Any]:
    """One length for each edge: numbers of NumPy where they are, otherwise exact fractions."""
    if isinstance(lengths, Mapping):
        found = []
        for first, second in (_ends(loaded, number) for number in range(len(loaded.pairs))):
            length = lengths.get((first, second), lengths.get((second, first)))
            if length is None:
                raise InvalidGraph(
                    f"the edge between {brief(first)} and {brief(second)} has no length"
                )
            found.append(length)
        lengths = found
    if isinstance(lengths, str) or not hasattr(lengths, "__len__"):
        raise InvalidGraph(
            "lengths must be a number for each edge, {edge: number}, True or False, got "
            f"{type(lengths).__name__}"
        )
    if len(lengths) != len(loaded.pairs):
        raise InvalidGraph(f"there are {len(loaded.pairs)} edges but {len(lengths)} lengths")
    plain = np.asarray(lengths) if isinstance(lengths, np.ndarray) else None
    if plain is not None and plain.ndim == 1 and plain.dtype.kind in "iuf":
        return plain
    exactly = [exact(length, "a length", InvalidGraph) for length in lengths]
    if all(type(length) is int for length in lengths) and all(
        abs(length) < 1 << 62 for length in exactly
    ):
        return np.array([int(length) for length in exactly], dtype=np.int64)
    values = np.empty(len(exactly), dtype=object)
    values[:] = exactly
    return values


def whole_steps(
    loaded: Edges, given: NDArray[Any], unit: Fraction, written: bool | None
) -> NDArray[np.uint32]:
    """⌊length/unit⌋ for each edge; a length that is none is refused with its edge.

    A float that is but near a longer decimal is taken for the next smaller one: not too much.
    """
    if given.dtype.kind not in "iufO":
        raise InvalidGraph(f"lengths must be numbers, got {given.dtype}")
    floats = given.astype(np.float64)
    wrong = ~(np.isfinite(floats) & (floats >= 0))
    if wrong.any():
        place = int(np.flatnonzero(wrong)[0])
        raise _refusal(loaded, given, place, "must be a finite number from 0")
    far = floats > float(unit) * MOST_STEPS
    if far.any():
        place = int(np.flatnonzero(far)[0])
        raise _refusal(
            loaded, given, place, f"must be at most {MOST_STEPS:,} units of {float(unit):g}"
        )
    if given.dtype.kind in "iu" and int(given.max(initial=0)) * unit.denominator < 1 << 62:
        whole = given.astype(np.int64) * unit.denominator // unit.numerator
        return np.asarray(whole, dtype=np.uint32)
    return floored(given, unit, written).astype(np.uint32)


def floored(given: NDArray[Any], unit: Fraction, written: bool | None) -> NDArray[np.int64]:
    """⌊length/unit⌋ for lengths that are known to be finite, not negative and not too many."""
    floats = given.astype(np.float64)
    if written is None:
        given = floats = np.nextafter(floats, 0.0)
    quotients = floats / float(unit)
    whole = np.floor(quotients).astype(np.int64)
    doubt = np.abs(quotients - np.rint(quotients)) <= _NEAR * (1 + quotients)
    if given.dtype == object:
        doubt[:] = True
    if doubt.any():
        values, inverse = np.unique(given[doubt], return_inverse=True)
        exactly = (
            Fraction(repr(float(value)) if written else value) // unit for value in values.tolist()
        )
        whole[doubt] = np.fromiter(exactly, dtype=np.int64, count=len(values))[inverse]
    return whole


def _refusal(loaded: Edges, given: NDArray[Any], place: int, rule: str) -> InvalidGraph:
    first, second = _ends(loaded, place)
    shown = given[place]
    shown = float(shown) if isinstance(shown, Fraction) else shown.item()
    return InvalidGraph(
        f"the length of an edge {rule}, got {shown} between {first!r} and {second!r}"
    )


def _ends(loaded: Edges, place: int) -> tuple[Hashable, Hashable]:
    """The names of an edge's two ends."""
    ends: Any = loaded.pairs[place]
    if loaded.names is not None:
        return loaded.names[int(ends[0])], loaded.names[int(ends[1])]
    first, second = ends.tolist() if isinstance(ends, np.ndarray) else ends
    return first, second


def measured(edges: Any, lengths: AnyLengths | None, unit: Number | None) -> Edges:
    """Edges as a graph takes them: with steps, or without weights; weights are never dropped."""
    if lengths is not None or unit is not None:
        given: AnyLengths = True if lengths is None else lengths
        return with_lengths(edges, given, unit=1 if unit is None else unit)
    loaded = read_edges(edges)
    if loaded.steps is None and loaded.weights is not None and not _all_one(loaded.weights):
        raise InvalidGraph(
            "these edges have weights, and it must be said what they are: lengths=True goes by "
            "them, lengths=False counts edges"
        )
    return loaded


def _all_one(weights: NDArray[Any]) -> bool:
    return bool((weights == 1).all())


def merged_weights(edges: Edges) -> NDArray[np.float64]:
    """Lengths by which a site is nearest: an edge without a step has none, its ends are one."""
    assert edges.weights is not None
    assert edges.steps is not None
    return np.where(edges.steps == 0, 0.0, edges.weights.astype(np.float64))
