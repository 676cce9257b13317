"""Read graphs in GraphML files, as yEd, Gephi, networkx, igraph and OSMnx write them.

The file is read as a stream by expat. A document type of its own is refused: GraphML needs none,
and entities are how a small file makes a reader fill its memory.
"""

from __future__ import annotations

import gzip
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any
from xml.parsers import expat

import numpy as np

from rainbowdp.errors import InvalidGraph
from rainbowdp.expecting import brief
from rainbowdp.graphs.edges import Edges

_BLOCK = 1 << 16  # bytes read at a time
_LONGEST = 1 << 20  # bytes of a tag or a name
_MOST_SPELLED = 1000  # characters of a length
_SPELLED_BACK = 15  # digits that a float spells back as they were written


@dataclass
class _Found:
    """What was read so far."""

    path: Path
    weight: str | None
    parser: Any
    keys: set[str] = field(default_factory=set)  # networkx writes one a type
    places: dict[str, int] = field(default_factory=dict)
    ends: list[tuple[str, str]] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    lengths: list[float] = field(default_factory=list)
    graphs: int = 0
    digits: int = 0  # of the longest length
    length: str | None = None  # of the edge at hand, as far as it was read
    inside: bool = False  # of the datum with the length
    on_edge: bool = False

    def started(self, tag: str, said: dict[str, str]) -> None:
        """An element begins."""
        name = tag.rpartition(":")[2]
        if name == "key" and said.get("for", "edge") in ("edge", "all"):
            if self.weight is not None and said.get("attr.name", said.get("id")) == self.weight:
                self.keys.add(self.of(said, "id", "a key"))
        elif name == "graph":
            self.graphs += 1
            if self.graphs > 1:
                raise self.wrong("has more than one graph, or graphs inside nodes; give it one")
            if self.weight is not None and not self.keys:
                raise self.wrong(f"has no attribute {brief(self.weight)} of edges before its graph")
        elif name == "node":
            node = self.of(said, "id", "a node")
            if node in self.places:
                raise self.wrong(f"has the node {brief(node)} twice")
            self.places[node] = len(self.places)
        elif name == "hyperedge":
            raise self.wrong("has a hyperedge; give it edges of two nodes")
        elif name == "edge":
            self.ends.append(
                (self.of(said, "source", "an edge"), self.of(said, "target", "an edge"))
            )
            self.lines.append(self.parser.CurrentLineNumber)
            self.on_edge, self.length = True, None
        elif name == "data" and self.on_edge and said.get("key") in self.keys:
            self.inside, self.length = True, ""

    def read(self, text: str) -> None:
        """Text inside an element."""
        if self.inside:
            self.length = (self.length or "") + text
            if len(self.length) > _MOST_SPELLED:
                raise self.wrong(
                    f"needs a {self.weight} at each edge in at most {_MOST_SPELLED:,} characters, "
                    "got a longer one"
                )

    def ended(self, tag: str) -> None:
        """An element ends."""
        name = tag.rpartition(":")[2]
        if name == "data":
            self.inside = False
        elif name == "edge":
            self.on_edge = False
            if self.weight is not None:
                self.lengths.append(self.measured())

    def measured(self) -> float:
        """The length of the edge that just ended."""
        try:
            length = float(self.length or "")
        except ValueError:
            length = float("nan")
        if not 0 <= length < float("inf"):
            got = "none" if self.length is None else repr(self.length[:40])
            raise self.wrong(f"needs a {self.weight} from 0 at each edge, got {got}")
        self.digits = max(self.digits, sum(map(str.isdigit, self.length or "")))
        return length

    def of(self, said: dict[str, str], attribute: str, what: str) -> str:
        """An attribute that must be there."""
        if attribute not in said:
            raise self.wrong(f"has {what} without {attribute}")
        return said[attribute]

    def wrong(self, what: str) -> InvalidGraph:
        return InvalidGraph(f"{self.path} {what}, line {self.parser.CurrentLineNumber}")


def read_graphml(path: Path, weight: str | None = None) -> Edges:
    """The edges of a GraphML file; its nodes are named by their ids.

    Directed edges are read as undirected, since being neighbors is mutual.
    """
    parser, read = expat.ParserCreate(), 0
    found = _Found(path, weight, parser)
    parser.StartElementHandler = found.started
    parser.CharacterDataHandler = found.read
    parser.EndElementHandler = found.ended
    parser.StartDoctypeDeclHandler = lambda *_: _refuse(found)
    try:
        with _open(path) as file:
            while block := file.read(_BLOCK):
                parser.Parse(block)
                # What expat holds back is one unfinished tag, which it reads anew with each block.
                if (read := read + len(block)) - parser.CurrentByteIndex > _LONGEST:
                    raise found.wrong(f"has a tag of more than {_LONGEST:,} bytes")
            parser.Parse(b"", True)
    except expat.ExpatError as error:
        why = expat.errors.messages[error.code]
        raise InvalidGraph(f"{path} is not GraphML: {why}, line {error.lineno}") from None
    except (OSError, EOFError, zlib.error) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise InvalidGraph(f"cannot read the graph file {path} to its end: {why}") from None
    if not found.graphs:
        raise InvalidGraph(f"{path} has no graph; a GraphML file must have one")
    if weight is None:
        return Edges(_pairs(found), list(found.places))
    lengths = np.array(found.lengths, dtype=np.float64)
    written = True if found.digits <= _SPELLED_BACK else None
    return Edges(_pairs(found), list(found.places), lengths, written=written)


def _pairs(found: _Found) -> Any:
    try:
        places = [(found.places[a], found.places[b]) for a, b in found.ends]
    except KeyError as error:
        stray = error.args[0]
        at = next(n for n, ends in enumerate(found.ends) if stray in ends)
        raise InvalidGraph(
            f"{found.path} has an edge to the unknown node {brief(stray)}, line {found.lines[at]}"
        ) from None
    return np.array(places, dtype=np.int64).reshape(-1, 2)


def _refuse(found: _Found) -> None:
    raise found.wrong("has a document type, which GraphML does not need; remove it")


def _open(path: Path) -> IO[bytes]:
    if path.suffix.lower() == ".gz":
        return gzip.open(path)  # type: ignore[return-value]
    return path.open("rb")
