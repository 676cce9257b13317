"""What files say about the nodes of a graph: labels, and the rainbow of each label."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rainbowdp.aliases import Answer, Label, Rainbow
from rainbowdp.errors import InvalidGraph, InvalidRainbow
from rainbowdp.graphs.edges import Edges, Ids
from rainbowdp.graphs.rainbows import as_rainbow
from rainbowdp.graphs.readers.columns import SEPARATORS, ColumnFile
from rainbowdp.graphs.readers.edges import file_ending, load_npy

ENDINGS = (".npy", ".parquet", *SEPARATORS)


def read_labels(path: str | PathLike[str], edges: Edges) -> NDArray[Any]:
    """A label for each node of ``edges``, in the order of its names.

    An ``.npy`` file holds one integer for each node. A Parquet, CSV or TSV file has two columns,
    node and label, or more with two so named; every node must stand there once. Labels are
    whole numbers or text; in a text file they are text.
    """
    names = edges.names
    if not isinstance(names, range | Ids):
        raise InvalidGraph("labels from a file are for a graph from a file; see read_graph")
    if file_ending(path, ENDINGS) == ".npy":
        array = load_npy(Path(path))
        if array.shape != (len(names),) or array.dtype.kind not in "iu":
            raise InvalidGraph(
                f"a label array must have one integer for each of the {len(names)} nodes, got "
                f"{array.dtype} of shape {array.shape} in {path}"
            )
        return np.asarray(array)
    file = ColumnFile(path)
    nodes, codes, labels = file.coded(*_node_and_label(file))
    places = _places(names, nodes, path)
    found = np.full(len(names), len(labels), dtype=np.int64)
    found[places] = codes
    missing = np.flatnonzero(found == len(labels))
    if missing.size:
        raise InvalidGraph(
            f"every node needs a label, got none for node {names[int(missing[0])]} in {path}"
            + (f" and {missing.size - 1} more" if missing.size > 1 else "")
        )
    return np.array(labels, dtype=None if type(labels[0]) is int else object)[found]


def _node_and_label(file: ColumnFile) -> tuple[str, str]:
    columns = file.columns
    if len(columns) == 2:
        return columns[0], columns[1]
    if {"node", "label"} <= set(columns):
        return "node", "label"
    raise InvalidGraph(
        "a label file must have two columns, or more with two named node and label, got "
        f"{', '.join(columns)} in {file.path}"
    )


def _places(
    names: range | Ids, nodes: NDArray[Any], path: str | PathLike[str]
) -> NDArray[np.int64]:
    """Where each of ``nodes`` stands among ``names``."""
    places: NDArray[np.int64]
    if isinstance(names, range):
        known = (nodes >= names.start) & (nodes < names.stop)
        places = (nodes - nodes.dtype.type(names.start)).astype(np.int64)
    else:
        places = np.minimum(np.searchsorted(names.array, nodes), len(names) - 1)
        known = names.array[places] == nodes
    if not known.all():
        raise InvalidGraph(
            f"labels must be for nodes of the graph, got one for node {nodes[~known][0]} in {path}"
        )
    times = np.bincount(places, minlength=len(names))
    if (times > 1).any():
        twice = names[int(times.argmax())]
        raise InvalidGraph(f"every node needs one label, got two for node {twice} in {path}")
    return places


def read_rainbows(path: str | PathLike[str], labels: Sequence[Label]) -> dict[Label, Rainbow]:
    """The rainbow of each of ``labels``, from a table with a row for each of them.

    Parquet, CSV or TSV: the label first, then the answers, most preferred first. A text file may
    begin with a line whose first word is ``label``. Labels are compared as text.
    """
    file_ending(path, ENDINGS[1:])
    file = ColumnFile(path)
    records = file.records()
    if file.separator is not None and records and records[0][0] == "label":
        records = records[1:]
    table: dict[str, list[Answer]] = {}
    for label, *order in records:
        if str(label) in table:
            raise InvalidRainbow(f"a label must have one rainbow, got two for {label!r} in {path}")
        table[str(label)] = order
    missing = next((label for label in labels if str(label) not in table), None)
    if missing is not None:
        raise InvalidGraph(f"every label needs a rainbow, got none for label {missing!r} in {path}")
    return {label: as_rainbow(table[str(label)]) for label in labels}
