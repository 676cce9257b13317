"""Read where nodes are from DIMACS ``.co`` files, and measure edges as the crow flies.

A line ``p aux sp co NODES``, then a line ``v node x y`` for each node: longitude and latitude in
millionths of a degree. Nodes count from 1, lines that begin with ``c`` are comments, and ``.gz`` or
``.xz`` may follow the name.
"""

from __future__ import annotations

import lzma
import zlib
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rainbowdp.aliases import Floats
from rainbowdp.errors import InvalidGraph
from rainbowdp.expecting import brief
from rainbowdp.graphs.edges import Edges, Ids, placed
from rainbowdp.graphs.readers.gr import opened
from rainbowdp.storage.short_lines import LongLine, short_lines

RADIUS = 6_371_008.8  # of the earth in meters, in the mean
_DEGREE = 1_000_000
_LONGEST = 1 << 16  # bytes of a line
_WIDEST = 360_000_000, 90_000_000  # what a longitude and a latitude may be


def read_coordinates(path: str | PathLike[str], edges: Edges) -> Floats:
    r"""Read the longitude and latitude of each node from a DIMACS ``.co`` file.

    Parameters
    ----------
    path
        The file: ``.co``, ``.co.gz`` or ``.co.xz``.
    edges
        The graph, as ``rb.read_graph`` read it.

    Returns
    -------
    array
        A row (longitude, latitude) in degrees for each node, in the order of ``edges.names``.

    Raises
    ------
    InvalidGraph
        If the file cannot be read, or a node has no place or two; the message names the line.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from rainbowdp.graphs.readers.edges import read_graph
    >>> folder = tempfile.TemporaryDirectory()
    >>> roads, where = (pathlib.Path(folder.name, name) for name in ("city.gr", "city.co"))
    >>> _ = roads.write_text("p tw 2 1\n1 2\n")
    >>> _ = where.write_text("p aux sp co 2\nv 1 -73530767 41085396\nv 2 -73530538 41086098\n")
    >>> read_coordinates(where, read_graph(roads)).tolist()
    [[-73.530767, 41.085396], [-73.530538, 41.086098]]
    >>> folder.cleanup()

    """
    names = edges.names
    if not isinstance(names, range | Ids):
        raise InvalidGraph("a .co file is for nodes that are whole numbers, and these have names")
    ids, places, lines = _read(Path(path))
    wanted = np.asarray(names.array if isinstance(names, Ids) else np.arange(len(names)))
    first = 0 if isinstance(names, Ids) else names.start
    wanted = wanted + first
    order = np.argsort(ids, kind="stable")
    ids, places, lines = ids[order], places[order], lines[order]
    twice = np.flatnonzero(ids[1:] == ids[:-1])
    if twice.size:
        at = twice[0] + 1
        raise InvalidGraph(f"{path} has the node {ids[at]} twice, line {lines[at]}")
    spot = np.searchsorted(ids, wanted)
    missing = spot >= len(ids)
    missing[~missing] = ids[spot[~missing]] != wanted[~missing]
    if missing.any():
        node = int(wanted[int(np.flatnonzero(missing)[0])])
        raise InvalidGraph(f"{path} does not say where node {node} is; every node needs a line")
    found: Floats = places[spot] / _DEGREE
    return found


def _read(path: Path) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """The nodes, their two coordinates and their lines."""
    found: list[tuple[int, int, int, int]] = []
    promised: int | None = None
    try:
        with opened(path) as file:
            for number, line in enumerate(short_lines(file, _LONGEST), 1):
                words = line.split()
                if not words or words[0].startswith(b"c"):
                    continue
                if words[0] == b"p":
                    promised = int(words[-1]) if words[-1].isdigit() and len(words[-1]) < 12 else -1
                    continue
                found.append((*_place(path, number, line), number))
                if promised is not None and len(found) > promised:
                    break
    except (OSError, EOFError, LongLine, lzma.LZMAError, zlib.error) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise InvalidGraph(f"cannot read the coordinates in {path} to their end: {why}") from None
    if promised is None:
        raise InvalidGraph(f"{path} has no line 'p aux sp co NODES', as a .co file must")
    if promised != len(found):
        raise InvalidGraph(
            f"the p line of {path} announces another number of places than the {len(found):,} that "
            "were found; is the file complete?"
        )
    array = np.array(found, dtype=np.int64).reshape(-1, 4)
    return array[:, 0], array[:, 1:3], array[:, 3]


def _place(path: Path, number: int, line: bytes) -> tuple[int, int, int]:
    """Node, longitude and latitude, as a line has them."""
    first, *words = line.split()
    numbers = [_whole(word) for word in words]
    if first == b"v" and len(numbers) == 3:
        node, x, y = numbers
        near = x is not None and abs(x) <= _WIDEST[0] and y is not None and abs(y) <= _WIDEST[1]
        if node is not None and x is not None and y is not None and near:
            return node, x, y
    raise InvalidGraph(
        "the line of a place must be 'v node x y', longitude and latitude in millionths "
        f"of a degree, got {brief(line.decode(errors='replace').strip()[:60])} in {path}, line "
        f"{number}"
    )


def _whole(word: bytes) -> int | None:
    digits = word[1:] if word[:1] == b"-" else word
    return int(word) if digits.isdigit() and len(digits) < 12 else None


def lengths_by_coordinates(edges: Any, coordinates: Floats) -> Edges:
    """The edges with their lengths in meters as the crow flies, rounded down to millimeters.

    Great circles on a sphere; a road is longer, so a promise by these lengths is the stricter one.

    Parameters
    ----------
    edges
        The edges in any form that ``RainbowGraph`` takes.
    coordinates
        A row (longitude, latitude) in degrees for each node, as ``rb.read_coordinates`` gives them.

    Returns
    -------
    Edges
        The edges with these lengths as their weights; ``rb.with_lengths`` makes them count.

    Raises
    ------
    InvalidGraph
        If a node has no coordinates, or a coordinate is none.

    Examples
    --------
    >>> apart = lengths_by_coordinates([(0, 1)], [(0.0, 51.0), (0.0, 52.0)])
    >>> apart.weights.round().tolist()
    [111195.0]

    """
    loaded = placed(edges)
    assert loaded.names is not None
    places = np.asarray(coordinates, dtype=np.float64)
    if places.shape != (len(loaded.names), 2):
        raise InvalidGraph(
            f"coordinates must be a longitude and a latitude for each of the {len(loaded.names)} "
            f"nodes, got the shape {places.shape}"
        )
    if not (np.isfinite(places).all() and (np.abs(places) <= [360, 90]).all()):
        raise InvalidGraph("coordinates must be degrees, up to 360 east and 90 north, got others")
    first, second = np.asarray(loaded.pairs, dtype=np.int64).reshape(-1, 2).T
    whole = np.floor(meters_between(places[first], places[second]) * 1000).astype(np.int64)
    return replace(loaded, weights=whole / 1000, written=True, steps=None, unit=None)


def meters_between(first: Floats, second: Floats) -> Floats:
    """The great circles between places, rows of a longitude and a latitude in degrees."""
    (x, y), (there, up) = np.radians(first).T, np.radians(second).T
    chord = np.sin((y - up) / 2) ** 2 + np.cos(y) * np.cos(up) * np.sin((x - there) / 2) ** 2
    meters: Floats = 2 * RADIUS * np.arcsin(np.sqrt(np.minimum(chord, 1.0)))
    return meters
