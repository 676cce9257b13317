"""The keys of a graph's nodes for phones: in tiles, as small JSON files, and as a SQLite database.

A tile has a file with the key of each of its nodes, which is all that a phone needs beside the
mechanism, and a file with its edges, which stays at home: by both, and the like of its neighbors,
``rainbow check`` proves every edge with no more than a tile in memory (``docs/format.md``).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rainbowdp.errors import InvalidFile, InvalidGraph, InvalidMechanism
from rainbowdp.exact.mechanism import ExactMechanism
from rainbowdp.exact.names import name_from_json, name_to_json
from rainbowdp.storage.documents import checksum, write_document
from rainbowdp.storage.whole_file import whole_file

VERSION = 1
MOST_DIGITS = 300  # hexadecimal, of a cumulative weight in a database
_ROOM = 8  # bits: fewer than one in so many draws, 2^-8, is drawn again


@dataclass(frozen=True)
class NodeKeys:
    """The key of each node in a mechanism.

    Parameters
    ----------
    nodes
        The names of the nodes: whole numbers within 2^53, or texts.
    keys
        For each node a list ready for JSON: its region and depth, which is null where no boundary
        is reached, or a margin for each answer.
    by_depth
        Whether keys are regions and depths.

    """

    nodes: Sequence[Any]
    keys: Sequence[list[Any]]
    by_depth: bool


def save_tiles(
    folder: str | PathLike[str],
    mechanism: ExactMechanism,
    placed: NodeKeys,
    edges: NDArray[np.int64],
    steps: NDArray[np.int64],
    tiles: Sequence[Any],
) -> Path:
    """Write a folder of tiles: ``index.json``, and two files for each tile.

    An edge says how many ``steps`` it has, unless it is a single one.
    """
    if len(tiles) != len(placed.nodes):
        raise InvalidGraph(
            f"tiles must have a name for each of the {len(placed.nodes):,} nodes, "
            f"got {len(tiles):,}"
        )
    target = Path(folder)
    try:
        target.mkdir()
    except OSError as error:
        raise InvalidFile(f"cannot make the folder of tiles {target}: {error.strerror}") from error
    names, number = np.unique(np.array(tiles), return_inverse=True)
    order = np.argsort(number, kind="stable")
    local = np.empty(len(order), dtype=np.int64)
    starts = np.searchsorted(number[order], np.arange(len(names) + 1))
    local[order] = np.arange(len(order)) - starts[number[order]]
    proof = checksum(mechanism.describe())
    mine = number[edges[:, 0]] if len(edges) else np.empty(0, dtype=np.int64)
    theirs = number[edges[:, 1]] if len(edges) else np.empty(0, dtype=np.int64)
    by_tile = [_Sorted(mine), _Sorted(theirs)]
    listed = []
    for tile, name in enumerate(names.tolist()):
        members = order[starts[tile] : starts[tile + 1]].tolist()
        keys = {
            "format": "rainbowdp tile",
            "version": VERSION,
            "mechanism": proof,
            "tile": name,
            "by": "depth" if placed.by_depth else "margins",
            "nodes": [name_to_json(placed.nodes[node]) for node in members],
            "keys": [placed.keys[node] for node in members],
        }
        going, coming = (found.of(tile) for found in by_tile)
        within, leaving = going[theirs[going] == tile], going[theirs[going] != tile]
        coming = coming[mine[coming] != tile]
        inside = [
            [*ends, *_several(many)]
            for ends, many in zip(local[edges[within]].tolist(), steps[within], strict=True)
        ]
        joining = np.concatenate([edges[leaving], edges[coming][:, ::-1]]).tolist()
        lengths = np.concatenate([steps[leaving], steps[coming]])
        across: dict[int, list[list[Any]]] = {}
        for (one, other), many in zip(joining, lengths, strict=True):
            there = [name_to_json(placed.nodes[other]), placed.keys[other]]
            across.setdefault(int(number[other]), []).append(
                [int(local[one]), *there, *_several(many)]
            )
        joined = {
            "format": "rainbowdp tile edges",
            "version": VERSION,
            "keys": checksum(keys),
            "inside": sorted(inside),
            "across": [
                {"tile": beside, "edges": sorted(across[beside], key=lambda edge: edge[:2])}
                for beside in sorted(across)
            ],
        }
        write_document(keys, target / f"{tile}.json", compact=True)
        write_document(joined, target / f"{tile}.edges.json", compact=True)
        entry = {"tile": name, "nodes": len(members), "keys": checksum(keys)}
        listed.append({**entry, "edges": checksum(joined)})
    index = {
        "format": "rainbowdp tiles",
        "version": VERSION,
        "mechanism": proof,
        "nodes": len(placed.nodes),
        "edges": len(edges),
        "tiles": listed,
    }
    return write_document(index, target / "index.json")


def _several(steps: Any) -> list[int]:
    return [] if steps == 1 else [int(steps)]


class _Sorted:
    """Which places have a number, found by bisection."""

    def __init__(self, numbers: NDArray[np.int64]) -> None:
        self.order = np.argsort(numbers, kind="stable")
        self.numbers = numbers[self.order]

    def of(self, number: int) -> NDArray[np.int64]:
        low, high = np.searchsorted(self.numbers, [number, number + 1])
        found: NDArray[np.int64] = self.order[low:high]
        return found


_TABLES = """
CREATE TABLE about (mechanism TEXT, bytes INTEGER);
CREATE TABLE node (node PRIMARY KEY, tile, place INTEGER) WITHOUT ROWID;
CREATE TABLE place (place INTEGER PRIMARY KEY, total TEXT);
CREATE TABLE weight (place INTEGER, upto TEXT, answer, PRIMARY KEY (place, upto)) WITHOUT ROWID;
"""


def save_sqlite(
    path: str | PathLike[str], mechanism: ExactMechanism, placed: NodeKeys, tiles: Sequence[Any]
) -> Path:
    """Write a database of nodes and rows; see ``write_sqlite``."""
    numbers: dict[str, int] = {}
    kept: list[list[Any]] = []
    at: list[int] = []
    for key in placed.keys:
        text = repr(key)
        if text not in numbers:
            numbers[text] = len(kept)
            kept.append(key)
        at.append(numbers[text])
    entries = zip(placed.nodes, tiles, at, strict=True)
    return write_sqlite(path, mechanism, lambda: kept, placed.by_depth, entries)


def write_sqlite(
    path: str | PathLike[str],
    mechanism: ExactMechanism,
    keys: Callable[[], Iterable[list[Any]]],
    by_depth: bool,
    nodes: Iterable[tuple[Any, Any, int]],
) -> Path:
    """Write a database of nodes, and of cumulative rows in hexadecimal digits of one width.

    Text of one width compares as the numbers do, so that a uniform number of as many digits finds
    its answer in SQL. Where a total is no power of 256, it and all sums are multiplied by what fits
    into a byte more, and a number that is not below the total is drawn again. ``keys`` are gone
    through twice, each different one once; a node has its name, its tile and the number of its key.
    """
    target = Path(path)
    answers = [name_to_json(answer) for answer in mechanism.answers]
    if any(isinstance(answer, list) for answer in answers):
        raise InvalidMechanism("a database can hold answers that are text or whole numbers")

    def rows() -> Iterator[tuple[int, ...]]:
        for key in keys():
            yield mechanism.rule.weights(_key(key, mechanism, by_depth), mechanism.answers)

    size = _bytes({sum(row) for row in rows()})
    with whole_file(target, "the database", InvalidFile) as draft:
        connection = sqlite3.connect(draft)
        try:
            connection.executescript(_TABLES)
            about = (checksum(mechanism.describe()), size)
            connection.execute("INSERT INTO about VALUES (?, ?)", about)
            connection.executemany("INSERT INTO node VALUES (?, ?, ?)", nodes)
            for place, row in enumerate(rows()):
                factor, held, weights = (1 << 8 * size) // sum(row), 0, []
                for answer, weight in zip(answers, row, strict=True):
                    held += factor * weight
                    if weight:
                        weights.append((place, f"{held:0{2 * size + 1}X}", answer))
                total = f"{factor * sum(row):0{2 * size + 1}X}"
                connection.execute("INSERT INTO place VALUES (?, ?)", (place, total))
                connection.executemany("INSERT INTO weight VALUES (?, ?, ?)", weights)
            connection.commit()
        except sqlite3.Error as error:
            raise InvalidFile(f"cannot write the database {target}: {error}") from error
        finally:
            connection.close()
    return target


def _key(key: list[Any], mechanism: ExactMechanism, by_depth: bool) -> Any:
    if not by_depth:
        return dict(zip(mechanism.answers, key, strict=True))
    return name_from_json(key[0]), float("inf") if key[1] is None else key[1]


def _bytes(totals: set[int]) -> int:
    """How many bytes a drawn number has."""
    most = max(totals, default=1)
    if len(totals) == 1 and most & (most - 1) == 0 and most.bit_length() % 8 == 1 and most > 1:
        size = most.bit_length() // 8
    else:
        size = -(-(most.bit_length() + _ROOM) // 8)
    if 2 * size > MOST_DIGITS:
        raise InvalidMechanism(
            f"a database can hold weights of {MOST_DIGITS} digits, and these rows need {2 * size}; "
            "use the JavaScript reader, or a mechanism with fewer answers"
        )
    return size
