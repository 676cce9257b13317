"""Read the edges of a graph from a file.

``read_graph`` takes Parquet, CSV and edge lists (``columns``), ``.gr`` files (``gr``), GraphML
(``graphml``), OpenStreetMap's files (``osm``) and NumPy's ``.npy``. Nodes are names, or whole
numbers kept in 32 bits if they fit; the result goes to ``RainbowGraph`` and ``nearest_sites`` as it
is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from tokenize import TokenError
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rainbowdp.errors import InvalidGraph
from rainbowdp.expecting import brief, expect, whole
from rainbowdp.graphs.edges import Edges, numbered
from rainbowdp.graphs.readers.columns import LISTS, SEPARATORS, ColumnFile
from rainbowdp.graphs.readers.gr import read_gr
from rainbowdp.graphs.readers.graphml import read_graphml
from rainbowdp.graphs.readers.osm import ENDINGS as OSM
from rainbowdp.graphs.readers.osm import read_osm

ENDINGS = (
    ".gr",
    ".gr.gz",
    ".gr.xz",
    ".graphml",
    ".graphml.gz",
    ".npy",
    ".parquet",
    *SEPARATORS,
    *LISTS,
    *OSM,
)
_DAMAGED = (  # what NumPy raises of a file whose header says anything
    *(OSError, EOFError, ValueError, TypeError, ArithmeticError, SyntaxError, TokenError),
    *(RecursionError, MemoryError),
)


def read_graph(
    path: str | PathLike[str],
    *,
    columns: Sequence[str] | None = None,
    weight: str | None = None,
    nodes: int | None = None,
) -> Edges:
    r"""Read the edges of a graph from a file, in the format that its name ends in.

    * ``.gr``, ``.gr.gz``, ``.gr.xz``: PACE or DIMACS; the nodes are 1, 2, … as its ``p`` line says.
    * ``.parquet`` (also a folder or a glob), ``.csv``, ``.tsv`` and these with ``.gz``: two
      columns, the ends of each edge. A text file may begin with a line of column names.
    * ``.txt``, ``.edges``, ``.edgelist`` and these with ``.gz``: an edge list such as SNAP's, tabs,
      spaces or commas between its fields, comments after # or %; its columns are 1, 2, 3, …
    * ``.graphml`` and this with ``.gz``: the nodes by their ids, and ``weight`` names an attribute.
    * ``.npy``: an array of two columns, read as a memory map.
    * ``.osm.pbf``, ``.osm``, ``.osm.gz``, ``.osm.bz2``: the streets of an OpenStreetMap file, with
      their lengths in meters (the extra ``osm``).

    Nodes in text and Parquet are whole numbers if those of the first edge are, and names otherwise.

    Cost: one pass and one copy of the pairs; a memory map whose nodes are 0, 1, 2, … is not copied.

    Parameters
    ----------
    path
        The file.
    columns
        The names of the two columns with the ends of each edge, for a file with more than two.
    weight
        The name of the column or attribute with the lengths of the edges. DIMACS files have them
        without a name.
    nodes
        The number of nodes, which are then 0, 1, …, nodes − 1; by default the numbers that occur.

    Returns
    -------
    Edges
        What ``RainbowGraph`` and ``nearest_sites`` take as edges.

    Raises
    ------
    InvalidGraph
        If the file cannot be read as a graph; the message names the file and, if there is one, the
        line.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> file = pathlib.Path(folder.name, "roads.csv")
    >>> _ = file.write_text("0,1\n1,2\n")
    >>> read_graph(file)
    Edges(3 nodes, 2 edges)
    >>> folder.cleanup()

    """
    if columns is not None:
        columns = list(expect(columns, Iterable, "columns", InvalidGraph))
    if weight is not None:
        expect(weight, str, "weight", InvalidGraph)
    ending = file_ending(path)
    if ending in (".gr", ".gr.gz", ".gr.xz"):
        if columns or weight or nodes is not None:
            raise InvalidGraph(
                f"{path} is a .gr file, which says itself what its columns and nodes are; leave "
                "out columns, weight and nodes"
            )
        return read_gr(Path(path))
    if ending.startswith(".graphml"):
        if columns or nodes is not None:
            raise InvalidGraph(
                f"{path} is a GraphML file, which says itself what its nodes are; leave out "
                "columns and nodes"
            )
        return read_graphml(Path(path), weight)
    if ending in OSM:
        if columns or weight or nodes is not None:
            raise InvalidGraph(
                f"{path} is an OpenStreetMap file, whose nodes and lengths are its own; leave out "
                "columns, weight and nodes"
            )
        return read_osm(path)[0]
    if ending == ".npy":
        if columns or weight:
            raise InvalidGraph(
                f"{path} is an .npy file, which has no column names; leave out columns and weight"
            )
        return _with_nodes(_npy(Path(path)), nodes, path, lambda row: f"row {row}")
    return _table_edges(ColumnFile(path), columns, weight, nodes)


def file_ending(path: str | PathLike[str], endings: Sequence[str] = ENDINGS) -> str:
    """Which of the endings the name of a file has."""
    found = next((ending for ending in endings if str(path).lower().endswith(ending)), None)
    if found is None:
        raise InvalidGraph(f"the name of the file must end in {', '.join(endings)}, got {path}")
    return found


def _npy(path: Path) -> NDArray[Any]:
    array = load_npy(path)
    if array.ndim != 2 or array.shape[1] != 2 or array.dtype.kind not in "iu":
        raise InvalidGraph(
            f"an edge array must be of integers in two columns, got {array.dtype} of shape "
            f"{array.shape} in {path}"
        )
    if array.dtype.kind == "i" and array.size and array.min() < 0:
        row = int(np.flatnonzero((array < 0).any(axis=1))[0])
        raise InvalidGraph(
            f"nodes must be whole numbers from 0, got {array[row].tolist()} in {path}, row {row}"
        )
    return array


def load_npy(path: Path) -> NDArray[Any]:
    """An ``.npy`` file as a memory map."""
    try:
        array: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    except _DAMAGED as error:
        why = (isinstance(error, OSError) and error.strerror) or "not an array, or cut off"
        raise InvalidGraph(f"cannot read the .npy file {path}: {why}") from None
    return array


def _with_nodes(
    ids: NDArray[Any],
    nodes: int | None,
    path: str | PathLike[str],
    where: Callable[[int], str],
) -> Edges:
    """The pairs with their names: the ids that occur, or all below ``nodes``."""
    if nodes is None:
        if not ids.size:
            raise InvalidGraph(f"the edge file {path} has no edges")
        return numbered(ids)
    nodes = whole(nodes, "nodes", 0, error=InvalidGraph)
    if ids.size and ids.max() >= nodes:
        row = int(np.flatnonzero((ids >= nodes).any(axis=1))[0])
        raise InvalidGraph(
            f"nodes must be whole numbers from 0 to {nodes - 1}, got {ids[row].max()} "
            f"in {path}, {where(row)}"
        )
    return Edges(ids, range(nodes))


def _table_edges(
    file: ColumnFile, columns: Sequence[str] | None, weight: str | None, nodes: int | None
) -> Edges:
    ends = ends_of(file, columns, weight)
    if nodes is not None or file.are_numbers(ends):
        ids = file.whole_numbers(ends).reshape(-1, 2)
        edges = _with_nodes(ids, nodes, file.path, file.where)
    else:
        places, named = file.texts(ends)
        edges = Edges(places.reshape(-1, 2), named)
    if weight is None:
        return edges
    lengths, written = file.lengths(weight)
    return replace(edges, weights=lengths, written=written)


def ends_of(file: ColumnFile, columns: Sequence[str] | None, weight: str | None) -> list[str]:
    """The two columns with the ends of each edge."""
    names = file.columns
    if weight is not None:
        _must_be_column(weight, file)
    ends = [name for name in names if name != weight] if columns is None else list(columns)
    if len(ends) != 2:
        also = " and that with its length by weight" if len(names) == 3 and weight is None else ""
        raise InvalidGraph(
            f"{file.path} has the columns {_listed(names)}; name the two with the ends of each "
            f"edge by columns{also}"
        )
    for name in ends:
        _must_be_column(name, file)
    return ends


def _must_be_column(name: object, file: ColumnFile) -> None:
    if not isinstance(name, str) or name not in file.columns:
        raise InvalidGraph(
            f"{file.path} has no column {brief(name)}; its columns are {_listed(file.columns)}"
        )


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names) if names else "none"
