"""Read what files say about the nodes of a graph: labels, and the rainbow of each label."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rainbowdp.aliases import Answer, Label, Rainbow
from rainbowdp.errors import InvalidGraph, InvalidRainbow
from rainbowdp.expecting import brief
from rainbowdp.graphs.edges import Edges, Ids
from rainbowdp.graphs.rainbows import as_rainbow
from rainbowdp.graphs.readers.columns import SEPARATORS, ColumnFile
from rainbowdp.graphs.readers.edges import file_ending, load_npy

ENDINGS = (".npy", ".parquet", *SEPARATORS)


def read_labels(path: str | PathLike[str], edges: Edges) -> NDArray[Any]:
    r"""Read a label for each node of a graph from a file.

    Parameters
    ----------
    path
        An ``.npy`` file with one integer for each node, or a Parquet, CSV or TSV file with the
        columns node and label (or any two columns), in which every node appears once. Labels are
        whole numbers or text; in a text file they are text.
    edges
        The graph, as ``rb.read_graph`` read it.

    Returns
    -------
    array
        A label for each node, in the order of ``edges.names``.

    Raises
    ------
    InvalidGraph
        If a node has no label or two, or the file labels a node that the graph does not have.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from rainbowdp.graphs.readers.edges import read_graph
    >>> folder = tempfile.TemporaryDirectory()
    >>> roads, towns = (pathlib.Path(folder.name, name) for name in ("roads.csv", "towns.csv"))
    >>> _ = roads.write_text("0,1\n1,2\n"), towns.write_text("node,label\n0,x\n1,x\n2,y\n")
    >>> read_labels(towns, read_graph(roads)).tolist()
    ['x', 'x', 'y']
    >>> folder.cleanup()

    """
    names = edges.names
    if names is None:
        raise InvalidGraph("read_labels needs a graph from a file, as rb.read_graph reads it")
    if file_ending(path, ENDINGS) == ".npy":
        array = load_npy(Path(path))
        if array.shape != (len(names),) or array.dtype.kind not in "iu":
            raise InvalidGraph(
                f"a label array must have one integer for each of the {len(names)} nodes, got "
                f"{array.dtype} of shape {array.shape} in {path}"
            )
        return np.asarray(array)
    file = ColumnFile(path)
    key, label = _node_and_label(file)
    nodes, codes, labels = file.coded(key, label, whole=isinstance(names, range | Ids))
    places = _places(names, nodes, path)
    found = np.full(len(names), len(labels), dtype=np.int64)
    found[places] = codes
    missing = np.flatnonzero(found == len(labels))
    if missing.size:
        raise InvalidGraph(
            f"{path} has no label for node {names[int(missing[0])]}"
            + (f" and {missing.size - 1} more" if missing.size > 1 else "")
            + "; every node needs one"
        )
    return np.array(labels, dtype=None if type(labels[0]) is int else object)[found]


def _node_and_label(file: ColumnFile) -> tuple[str, str]:
    columns = file.columns
    if len(columns) == 2:
        return columns[0], columns[1]
    if {"node", "label"} <= set(columns):
        return "node", "label"
    raise InvalidGraph(
        f"the label file {file.path} has the columns {', '.join(columns)}; it needs two columns, "
        "or two named node and label"
    )


def _places(
    names: Sequence[Hashable],
    nodes: NDArray[Any],
    path: str | PathLike[str],
    what: str = "a label",
) -> NDArray[np.int64]:
    """The index of each of ``nodes`` in ``names``."""
    places: NDArray[np.int64]
    if not isinstance(names, range | Ids):
        where = {name: place for place, name in enumerate(names)}
        places = np.array([where.get(node, -1) for node in nodes], dtype=np.int64)
        known = places >= 0
    elif isinstance(names, range):
        known = (nodes >= names.start) & (nodes < names.stop)
        places = (nodes - nodes.dtype.type(names.start)).astype(np.int64)
    else:
        places = np.minimum(np.searchsorted(names.array, nodes), len(names) - 1)
        known = names.array[places] == nodes
    if not known.all():
        raise InvalidGraph(
            f"{path} has {what} for node {nodes[~known][0]}, which is not in the graph"
        )
    times = np.bincount(places, minlength=len(names))
    if (times > 1).any():
        twice = names[int(times.argmax())]
        raise InvalidGraph(
            f"{path} has {what.replace('a ', 'two ')}s for node {twice}; give it one"
        )
    return places


def read_rainbows(path: str | PathLike[str], labels: Sequence[Label]) -> dict[Label, Rainbow]:
    r"""Read the rainbow of each label from a table.

    Parameters
    ----------
    path
        A Parquet, CSV or TSV file: the label first, then the answers, most preferred first. A text
        file may begin with a line whose first word is ``label``. Labels are compared as text.
    labels
        The labels that need a rainbow.

    Returns
    -------
    dict
        The rainbow of each label.

    Raises
    ------
    InvalidGraph
        If a label has no rainbow.
    InvalidRainbow
        If a label has two, or a rainbow lists an answer twice.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> file = pathlib.Path(folder.name, "orders.csv")
    >>> _ = file.write_text("x,yes,no\ny,no,yes\n")
    >>> read_rainbows(file, ["x", "y"])
    {'x': ('yes', 'no'), 'y': ('no', 'yes')}
    >>> folder.cleanup()

    """
    file_ending(path, ENDINGS[1:])
    file = ColumnFile(path)
    records = file.records()
    if file.separator is not None and records and records[0][0] == "label":
        records = records[1:]
    table: dict[str, list[Answer]] = {}
    for label, *order in records:
        if str(label) in table:
            raise InvalidRainbow(f"{path} has two rainbows for label {brief(label)}; give it one")
        table[str(label)] = order
    missing = next((label for label in labels if str(label) not in table), None)
    if missing is not None:
        raise InvalidGraph(
            f"{path} has no rainbow for label {brief(missing)}; every label needs one"
        )
    return {label: as_rainbow(table[str(label)]) for label in labels}
