"""Read graphs in ``.gr`` files, as the PACE and DIMACS challenges write them.

PACE: a line ``p tw NODES EDGES``, then a line ``u v`` for each edge. DIMACS, for shortest paths: a
line ``p sp NODES ARCS``, then a line ``a u v length`` for each arc. Nodes count from 1, lines that
begin with ``c`` are comments, and ``.gz`` or ``.xz`` may follow the name.

Regular blocks are read by whole-array arithmetic; a block that contains anything else is read line
by line, and a line that makes no sense is named in the error.
"""

from __future__ import annotations

import gzip
import lzma
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from rainbowdp.errors import InvalidGraph
from rainbowdp.expecting import brief
from rainbowdp.graphs.edges import Edges

_BLOCK = 1 << 23  # bytes parsed at a time
_MOST_NODES = (1 << 32) - 1
_LONGEST = 1 << 16  # bytes of a line
_MOST_COMMENTS = 1 << 22  # bytes above the first edge
_LONELY = 10**6, 100  # nodes that may be there anyway, and for each edge
_LARGEST = 1 << 53  # a length that a float still holds exactly
_NEWLINE, _SPACE, _ARC = b"\n a"
_NUMBERS = np.zeros(256, dtype=np.bool_)  # the bytes of a regular block
_NUMBERS[list(b"0123456789 \t\r\n")] = True


@dataclass(frozen=True)
class _Head:
    """What the ``p`` line promises."""

    path: Path
    weighted: bool
    nodes: int
    edges: int
    lines: int  # that came before the first edge

    @property
    def fields(self) -> int:
        """The number of numbers on the line of an edge."""
        return 3 if self.weighted else 2


def read_gr(path: Path) -> Edges:
    """The edges of a ``.gr``, ``.gr.gz`` or ``.gr.xz`` file; its nodes are named 1, 2, 3, …"""
    try:
        with opened(path) as file:
            head, rest = _read_head(path, file)
            blocks, weights = _read_body(head, rest, file)
    except (OSError, EOFError, lzma.LZMAError, zlib.error) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise InvalidGraph(f"cannot read the graph file {path} to its end: {why}") from None
    pairs = np.concatenate(blocks)
    if len(pairs) != head.edges:
        raise InvalidGraph(
            f"the p line of {path} announces {head.edges:,} edges, but {len(pairs):,} follow; "
            "is the file complete?"
        )
    if head.nodes > max(_LONELY[0], _LONELY[1] * len(pairs)):
        raise InvalidGraph(
            f"the p line of {path} announces {head.nodes:,} nodes, but there are only "
            f"{len(pairs):,} edges; give the number of nodes that the edges have"
        )
    lengths = np.concatenate(weights).astype(np.float64) if head.weighted else None
    return Edges(pairs, range(1, head.nodes + 1), lengths)


def opened(path: Path) -> IO[bytes]:
    """A file as bytes, unpacked if its name ends in .gz or .xz."""
    packing = path.suffix.lower()
    if packing == ".xz":
        return lzma.open(path)
    if packing == ".gz":
        return gzip.open(path)  # type: ignore[return-value]
    return path.open("rb")


def _read_head(path: Path, file: IO[bytes]) -> tuple[_Head, bytes]:
    """The content of the ``p`` line, and the first line below it that is not a comment."""
    head: _Head | None = None
    for number, line in enumerate(iter(lambda: file.readline(_LONGEST), b""), 1):
        if len(line) == _LONGEST or file.tell() > _MOST_COMMENTS:
            raise _too_long(path, number)
        words = line.split()
        if not words or words[0].startswith(b"c"):
            continue
        if words[0] == b"p" and head is None:
            head = _promise(path, words, number)
            continue
        if head is None:
            break
        return _Head(path, head.weighted, head.nodes, head.edges, number - 1), line
    if head is None:
        raise InvalidGraph(
            f"{path} does not begin with a line 'p tw NODES EDGES' or 'p sp NODES ARCS', as a .gr "
            "file must"
        )
    return head, b""


def _promise(path: Path, words: list[bytes], number: int) -> _Head:
    nodes, edges = (_whole(word) for word in words[2:]) if len(words) == 4 else (None, None)
    if nodes is None or edges is None:
        shown = b" ".join(words).decode(errors="replace")
        raise InvalidGraph(
            f"a p line must have a word and two counts, got {brief(shown)} in {path}, line {number}"
        )
    if not 1 <= nodes <= _MOST_NODES:
        raise InvalidGraph(
            f"a graph must have 1 to {_MOST_NODES} nodes, got {nodes} in {path}, line {number}"
        )
    return _Head(path, words[1] == b"sp", nodes, edges, number)


def _read_body(
    head: _Head, rest: bytes, file: IO[bytes]
) -> tuple[list[NDArray[np.uint32]], list[NDArray[np.int64]]]:
    pairs, weights = [np.empty((0, 2), dtype=np.uint32)], [np.empty(0, dtype=np.int64)]
    line = head.lines + 1
    for block in _blocks(head.path, rest, file):
        numbers = _regular(head, block)
        if numbers is None:
            numbers = _line_by_line(head, block, line)
        pairs.append((numbers[:, :2] - 1).astype(np.uint32))
        if head.weighted:
            weights.append(numbers[:, 2].copy())
        line += block.count(b"\n")
    return pairs, weights


def _blocks(path: Path, rest: bytes, file: IO[bytes]) -> Iterator[bytes]:
    """The file from ``rest`` on, in blocks that end where lines do."""
    while chunk := file.read(_BLOCK):
        whole, newline, begun = chunk.rpartition(b"\n")
        if newline:
            yield rest + whole + newline
            rest = begun
        else:
            rest += chunk
        if len(rest) > _LONGEST:
            raise _too_long(path)
    if rest.strip():
        yield rest if rest.endswith(b"\n") else rest + b"\n"


def _regular(head: _Head, block: bytes) -> NDArray[np.int64] | None:
    """The numbers of a block in which every line is an edge; None if one is not."""
    text = np.frombuffer(block, dtype=np.uint8)
    ends = np.flatnonzero(text == _NEWLINE)
    if head.weighted:
        starts = np.append(0, ends[:-1] + 1)
        if not (text[starts] == _ARC).all():
            return None
        text = text.copy()
        text[starts] = _SPACE
    if not _NUMBERS[text].all():
        return None
    blank = text <= _SPACE
    begins = np.flatnonzero(blank[:-1] & ~blank[1:]) + 1
    if not blank[0]:
        begins = np.append(0, begins)
    if len(begins) != head.fields * len(ends):
        return None
    words = begins.reshape(-1, head.fields)
    if (words[:, -1] > ends).any() or (words[1:, 0] < ends[:-1]).any():
        return None
    numbers = np.fromstring(text.tobytes() if head.weighted else block, dtype=np.int64, sep=" ")
    numbers = numbers.reshape(-1, head.fields)
    ids = numbers[:, :2]
    fits = ids.min() >= 1 and ids.max() <= head.nodes and numbers.max() <= _LARGEST
    return numbers if fits else None


def _line_by_line(head: _Head, block: bytes, first: int) -> NDArray[np.int64]:
    found = []
    for number, line in enumerate(block.splitlines(), first):
        words = line.split()
        if not words or words[0].startswith(b"c"):
            continue
        numbers = _edge(head, words)
        if numbers is None:
            rule = "'a u v length'" if head.weighted else "'u v'"
            raise InvalidGraph(
                f"the line of an edge must be {rule} in whole numbers, nodes from 1 to "
                f"{head.nodes}, got {brief(line.decode(errors='replace')[:60])} "
                f"in {head.path}, line {number}"
            )
        found.append(numbers)
    return np.array(found, dtype=np.int64).reshape(-1, head.fields)


def _edge(head: _Head, words: list[bytes]) -> list[int] | None:
    """The numbers on the line of an edge, or None if it is not one."""
    if head.weighted and words.pop(0) != b"a":
        return None
    numbers = [number for word in words if (number := _whole(word)) is not None]
    if len(numbers) != len(words) or len(words) != head.fields:
        return None
    return numbers if all(1 <= node <= head.nodes for node in numbers[:2]) else None


def _too_long(path: Path, line: int | None = None) -> InvalidGraph:
    where = "" if line is None else f", line {line}"
    return InvalidGraph(
        f"a line of a .gr file has at most {_LONGEST:,} bytes, and its comments at most "
        f"{_MOST_COMMENTS:,}, but {path} has more{where}; is it a .gr file?"
    )


def _whole(word: bytes) -> int | None:
    """The whole number that a word spells."""
    return int(word) if word.isdigit() and len(word) < 20 and int(word) <= _LARGEST else None
