"""Read a designer's goal from files: losses by region and answer, and weights of nodes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from rainbowdp.aliases import Answer, Floats, Label
from rainbowdp.errors import InvalidGraph, RainbowError
from rainbowdp.graphs.edges import Edges, Ids
from rainbowdp.graphs.readers.columns import ColumnFile
from rainbowdp.graphs.readers.edges import file_ending, load_npy
from rainbowdp.graphs.readers.nodes import ENDINGS, _places

MOST_WEIGHT = 1e200  # of all nodes together: times any worth it is a float


def read_loss(
    path: str | PathLike[str], rows: Sequence[Label], answers: Sequence[Answer]
) -> dict[Label, dict[Answer, float]]:
    r"""Read a loss matrix: what each answer costs in each region.

    Parameters
    ----------
    path
        A CSV, TSV or Parquet file. The first line has any word and then the answers, every further
        line a region (or first choice) and its losses.
    rows
        The regions that need a line; lines for other answers are allowed.
    answers
        The answers that need a column. Names are compared as text.

    Returns
    -------
    dict
        {region: {answer: loss}}; minus these are worths for ``rb.best``.

    Raises
    ------
    RainbowError
        If the matrix has another shape or a cell is not a finite number; the message names the
        file and the line.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> file = pathlib.Path(folder.name, "loss.csv")
    >>> _ = file.write_text("site,north,south\nnorth,0,5\nsouth,4,0\n")
    >>> read_loss(file, ["north", "south"], ["north", "south"])["south"]
    {'north': 4.0, 'south': 0.0}
    >>> folder.cleanup()

    """
    file_ending(path, ENDINGS[1:])
    lines = _records(ColumnFile(path))
    if not lines:
        raise RainbowError(f"{path} is empty; a loss matrix needs a line of answers, then regions")
    (_, head), *body = lines
    columns = _columns(head[1:], answers, f"{path}, {lines[0][0]}")
    names = {str(row): row for row in rows}
    found: dict[Label, dict[Answer, float]] = {}
    for where, (label, *cells) in body:
        spot = f"{path}, {where}"
        if len(cells) != len(head) - 1:
            raise RainbowError(
                f"a line of a loss matrix must have {len(head) - 1} losses, one for each answer in "
                f"its first line, got {len(cells)} in {spot}"
            )
        row = names.get(str(label).strip())
        if row is None:
            if str(label).strip() not in set(map(str, answers)):
                raise RainbowError(
                    f"the lines of a loss matrix must be regions of the graph, got {label} in "
                    f"{spot}"
                )
            continue  # a site that is nobody's nearest
        if row in found:
            raise RainbowError(f"{label} has two lines of losses, the second in {spot}")
        found[row] = {answer: _loss(cells[at], spot) for answer, at in columns.items()}
    missing = next((row for row in rows if row not in found), None)
    if missing is not None:
        raise RainbowError(
            f"{path} has no losses for {missing} and is a matrix of {len(body)} by "
            f"{len(head) - 1}; it needs a line for each of the {len(rows)} regions"
        )
    return found


def read_weights(path: str | PathLike[str], edges: Edges) -> Floats:
    r"""Read what each node of a graph counts, such as the people who live there.

    Parameters
    ----------
    path
        An ``.npy`` file with one number for each node, or a Parquet, CSV or TSV file with the
        columns node and weight (or any two columns). A node that is not listed counts 0: nobody
        lives there. (In a drawing of the studio, a dataset without a weight counts 1.)
    edges
        The graph, as ``rb.read_graph`` read it.

    Returns
    -------
    array
        A weight for each node, in the order of ``edges.names``.

    Raises
    ------
    RainbowError
        If a weight is not a finite number from 0; the message names the file and the line.
    InvalidGraph
        If a node is listed twice or is not in the graph.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from rainbowdp.graphs.readers.edges import read_graph
    >>> folder = tempfile.TemporaryDirectory()
    >>> roads, people = (pathlib.Path(folder.name, name) for name in ("roads.csv", "people.csv"))
    >>> _ = roads.write_text("0,1\n1,2\n"), people.write_text("node,weight\n0,70\n2,5\n")
    >>> read_weights(people, read_graph(roads)).tolist()
    [70.0, 0.0, 5.0]
    >>> folder.cleanup()

    """
    names = edges.names
    if names is None:
        raise InvalidGraph("read_weights needs a graph from a file, as rb.read_graph reads it")
    if file_ending(path, ENDINGS) == ".npy":
        array = load_npy(Path(path))
        if array.shape != (len(names),) or array.dtype.kind not in "iuf":
            raise RainbowError(
                f"an array of weights must have one number for each of the {len(names)} nodes, got "
                f"{array.dtype} of shape {array.shape} in {path}"
            )
        weights = array.astype(np.float64)
        wrong = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
        if wrong.size:
            raise RainbowError(
                f"weights must be finite numbers from 0, got {weights[wrong[0]]} at place "
                f"{int(wrong[0])} of {path}"
            )
        return _some(weights, path)
    file = ColumnFile(path)
    key, column = _node_and_weight(file)
    nodes, codes, values = file.coded(key, column, whole=isinstance(names, range | Ids))
    numbers = np.array([_number(value) for value in values] or [0.0])
    wrong = np.flatnonzero(~(np.isfinite(numbers) & (numbers >= 0)))
    if wrong.size:
        raise RainbowError(_where_not(file, column, values[int(wrong[0])]))
    places = _places(names, nodes, path, "a weight")
    weights = np.zeros(len(names))
    weights[places] = numbers[codes]
    return _some(weights, path)


def _some(weights: Floats, path: str | PathLike[str]) -> Floats:
    if not weights.any():
        raise RainbowError(f"some node must have a weight above 0, but in {path} none has")
    if weights.max() > MOST_WEIGHT / len(weights):
        raise RainbowError(
            f"the sum of weights must be at most {MOST_WEIGHT:g}, but in {path} one is "
            f"{weights.max():g}; divide them all by one number"
        )
    return weights


def _records(file: ColumnFile) -> list[tuple[str, list[Any]]]:
    """Every line of a small table with where it is; the names of columns are the first."""
    if file.separator is None:
        rows = [(f"row {number}", row) for number, row in enumerate(file.records(), 1)]
        return [("its columns", list(file.columns)), *rows]
    return [(f"line {line}", record) for line, record in file._lines()]


def _columns(head: Sequence[Any], answers: Sequence[Answer], spot: str) -> dict[Answer, int]:
    said = [str(name).strip() for name in head]
    twice = next((name for name in said if said.count(name) > 1), None)
    if twice is not None:
        raise RainbowError(f"the answers of a loss matrix must be different, got {twice} in {spot}")
    stray = next((name for name in said if name not in set(map(str, answers))), None)
    missing = next((answer for answer in answers if str(answer) not in said), None)
    if stray is not None or missing is not None:
        fault = f"the unknown {stray}" if stray is not None else f"none for {missing}"
        raise RainbowError(
            f"a loss matrix must have a column for each of the {len(answers)} answers, got {fault} "
            f"in {spot}"
        )
    return {answer: said.index(str(answer)) for answer in answers}


def _loss(cell: Any, spot: str) -> float:
    loss = _number(cell)
    if math.isinf(loss):
        raise RainbowError(
            f"a loss must be finite, got {cell} in {spot}; forbid an answer that must not be given"
        )
    if math.isnan(loss):
        raise RainbowError(
            f"a loss must be a number, got {str(cell).strip() or 'nothing'} in {spot}"
        )
    return loss


def _number(cell: Any) -> float:
    try:
        return float(cell)
    except (TypeError, ValueError):
        return math.nan


def _node_and_weight(file: ColumnFile) -> tuple[str, str]:
    columns = file.columns
    if len(columns) == 2:
        return columns[0], columns[1]
    if {"node", "weight"} <= set(columns):
        return "node", "weight"
    raise RainbowError(
        f"the file of weights {file.path} has the columns {', '.join(columns)}; it needs two "
        "columns, or two named node and weight"
    )


def _where_not(file: ColumnFile, column: str, value: Any) -> str:
    at = file.columns.index(column)
    rows = file.records() if file.separator is None else [record for _, record in file._lines()]
    skipped = 0 if file.separator is None or file._bare else 1
    row = next(number for number, record in enumerate(rows[skipped:]) if record[at] == value)
    shown = str(value).strip() or "nothing"
    return f"weights must be finite numbers from 0, got {shown} in {file.path}, {file.where(row)}"
