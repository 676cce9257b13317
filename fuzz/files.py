"""Files of every kind that is read, whole ones, and how they are damaged."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from choices import ODD, Choices
from mechanism_files import KINDS, contents, write

VOTES = b'choice,age,who\nred,3,a\ngreen,4.5,b\n,7,c\n"b,lue",x,d\nred,1e400,a\n'
LINES = b'{"choice": "red", "age": 3}\n{"choice": null, "age": 4.5}\n{"choice": "green"}\n'
ROADS = b"c roads\np sp 4 4\na 1 2 3\na 2 3 1\na 3 4 2\na 4 1 9\n"
EDGES = b"# from to\nalpha beta 1.5\nbeta gamma 2\ngamma alpha 3\n"
GRAPHML = (
    b'<?xml version="1.0"?><graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
    b'<key id="d0" for="edge" attr.name="weight" attr.type="double"/>'
    b'<graph edgedefault="undirected">'
    b'<node id="a"/><node id="b"/><edge source="a" target="b"><data key="d0">2</data></edge>'
    b"</graph></graphml>"
)
TOKENS = (
    *(b"\x00", b"\xff\xfe", b"\n", b"\r", b",", b'"', b"'", b"99999999999999999999", b"-1", b"nan"),
    *(b"[" * 2000, b"{" * 2000, b"p sp 4294967295 1\n", b"a 0 0 0\n", b"1e400", b"\xed\xa0\x80"),
    *(b"<!ENTITY x 'y'>", b"#", b"c\n", b"\xef\xbb\xbf", b"x" * 100_000, b"null", b"9" * 5000),
)


def parquet() -> bytes:
    """A small table."""
    out = io.BytesIO()
    table = pa.table({"choice": ["red", None, "green"], "age": [1.0, 2.5, None], "who": [1, 2, 2]})
    pyarrow.parquet.write_table(table, out)
    return out.getvalue()


def saved(value: Any) -> bytes:
    """An array as NumPy saves it."""
    out = io.BytesIO()
    np.save(out, value)
    return out.getvalue()


PACKED: dict[str, Callable[[bytes], bytes]] = {
    "": lambda data: data,
    ".gz": gzip.compress,
    ".xz": lambda data: lzma.compress(data, preset=0),
    ".bz2": bz2.compress,
}


def damaged(choices: Choices, data: bytes) -> bytes:
    """The file with some of its bytes changed, left out, repeated or put in."""
    for _ in range(choices.below(4)):
        place = choices.below(len(data) + 1)
        end = place + choices.below(16)
        how = choices.below(5)
        if how == 0:
            data = data[:place] + choices.bytes(8) + data[end:]
        elif how == 1:
            data = data[:place] + choices.one(TOKENS) + data[place:]
        elif how == 2:
            data = data[:place]
        elif how == 3:
            data = data[:place] + data[place:end] * 50 + data[end:]
        else:
            data = data[:place] + data[end:]
    return data


def damaged_tree(choices: Choices, value: Any, deep: int = 0) -> Any:
    """JSON with one thing in it replaced, left out or doubled."""
    if isinstance(value, dict) and value and deep < 12 and not choices.chance(8):
        key = choices.one(sorted(value))
        if choices.chance(8):
            return {other: kept for other, kept in value.items() if other != key}
        return {**value, key: damaged_tree(choices, value[key], deep + 1)}
    if isinstance(value, list) and value and deep < 12 and not choices.chance(8):
        place = choices.below(len(value))
        if choices.chance(8):
            return value[:place] + value[place:] * 2
        return [*value[:place], damaged_tree(choices, value[place], deep + 1), *value[place + 1 :]]
    if isinstance(value, int) and not isinstance(value, bool) and choices.chance(2):
        return value + choices.one((1, -1, value, 2**64, -value))
    return choices.one([each for each in ODD if _is_json(each)])


def _is_json(value: Any) -> bool:
    try:
        json.dumps(value)
    except (TypeError, ValueError):
        return False
    return True


def mechanism(choices: Choices, folder: Path) -> Path:
    """A mechanism file, changed in its tree, resealed or not, or in its bytes."""
    content = contents(choices.one(KINDS))
    file = folder / "mechanism.json"
    if choices.chance(3):
        write(content, file)
        file.write_bytes(damaged(choices, file.read_bytes()))
        return file
    for _ in range(1 + choices.below(2)):
        content = damaged_tree(choices, content)
    if isinstance(content, dict) and not choices.chance(4):
        with suppress(UnicodeEncodeError):  # a lone surrogate has no checksum
            return write(content, file)
    file.write_text(json.dumps(content))
    return file
