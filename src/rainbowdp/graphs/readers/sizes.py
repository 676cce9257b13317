"""About how many edges a graph file has, from its beginning: before it is decided where to read it.

A packed file has one to three bytes an edge, a plain one ten to thirty; so the first megabyte is
unpacked, the edges in it are counted, and the whole file is taken to be like it.
"""

from __future__ import annotations

import lzma
import zlib
from collections.abc import Callable
from os import PathLike
from pathlib import Path

from rainbowdp.errors import InvalidGraph
from rainbowdp.graphs.readers.columns import ColumnFile
from rainbowdp.graphs.readers.edges import load_npy

_SAMPLE = 1 << 20  # bytes, unpacked
_PART = 1 << 12  # bytes that are read at a time
_SHORT = 10  # bytes of an edge, where a file shows none
_PLAIN_OSM, _PACKED_OSM = 400, 40  # bytes of an edge, in a file whose beginning has none


def about_edges(path: str | PathLike[str]) -> int:
    """About how many edges there are; 0 where there is no such file."""
    file, name = Path(path), str(path).lower()
    if name.endswith(".parquet"):
        return ColumnFile(path).row_count()
    if not file.is_file():
        return 0
    if name.endswith(".npy"):
        try:
            return len(load_npy(file))
        except (InvalidGraph, TypeError):  # not an array: the reader has a sentence for it
            return 0
    size = file.stat().st_size
    if ".osm" in name:
        return size // (_PLAIN_OSM if name.endswith(".osm") else _PACKED_OSM)
    sample, read = _beginning(file, name)
    edges = sample.count(b"<edge" if ".graphml" in name else b"\n")
    if not edges or not read:
        return size // _SHORT
    return edges * size // read


def _beginning(file: Path, name: str) -> tuple[bytes, int]:
    """The first bytes of a file, unpacked, and how many of its own bytes they took."""
    unpack: Callable[[bytes, int], bytes] | None = None
    if name.endswith(".xz"):
        unpack = lzma.LZMADecompressor().decompress
    elif name.endswith(".gz"):
        unpack = zlib.decompressobj(wbits=31).decompress
    found, read = b"", 0
    try:
        with file.open("rb") as opened:
            while len(found) < _SAMPLE and (part := opened.read(_PART)):
                found += part if unpack is None else unpack(part, _SAMPLE)
                read += len(part)
    except (OSError, EOFError, lzma.LZMAError, zlib.error):
        pass  # what cannot be read is reported by the reader
    return found, read
