"""More files that are made to hurt: every golden file in five ways, and data that never ends.

Some of them are true: what counts is that a reader takes or refuses each in bounded time and
memory. Together with ``crafted_files`` they are more than 200.
"""

from __future__ import annotations

import gzip
import json
import lzma
from collections.abc import Callable, Iterator
from typing import Any

from golden_files import FOLDER, MAKERS
from mechanism_files import as_numbers, as_texts
from rainbowdp.storage.documents import checksum

Content = dict[str, Any]
MANY = 20_000
HEAD = {"format", "version", "guarantee", "neighbors", "question", "answers", "mixing", "rule"}


def _lists(content: Any) -> Iterator[list[Any]]:
    """All lists, the outer ones first."""
    parts = content.values() if isinstance(content, dict) else content
    if isinstance(content, list):
        yield content
    for part in parts:
        if isinstance(part, dict | list):
            yield from _lists(part)


def _own(content: Content) -> dict[str, Any]:
    return {key: part for key, part in content.items() if key not in HEAD}


def emptied(content: Content) -> None:
    """No list of its own has anything."""
    for one in list(_lists(_own(content))):
        one.clear()


def lengthened(content: Content) -> None:
    """The longest list of its own goes on and on; a file without one has too many answers."""
    lists = list(_lists(_own(content)))
    longest = max(lists, key=len, default=None)
    if not longest:
        content["answers"] = [str(number) for number in range(MANY)]
        return
    del longest[1:]
    longest.extend([longest[0]] * (MANY - 1))


def enlarged(content: Content) -> None:
    """All weights of one size have 300 digits."""

    def grow(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: grow(part) for key, part in value.items()}
        if isinstance(value, list):
            return [grow(part) for part in value]
        return value * 10**280 if type(value) is int and value > 1 << 53 else value

    content.update(grow(_own(content)))


def leveled(content: Content) -> None:
    """Every weight of a list is 1."""
    for one in _lists(_own(content)):
        one[:] = [1 if type(part) is int else part for part in one]


def renamed(content: Content) -> None:
    """An answer with a million letters, and a person with billions of records."""
    long = "x" * 1_000_000
    if content.get("answers"):
        content["answers"][0] = long
    if content["question"]:
        content["question"]["rows_per_person"] = 9_000_000_000_000_000
        if content["question"].get("answers"):
            content["question"]["answers"][0] = long


WAYS = (emptied, lengthened, enlarged, leveled, renamed)


def variant(name: str, way: Callable[[Content], None]) -> str:
    """A golden file in one of the ways, with a checksum that fits."""
    content = as_numbers(json.loads((FOLDER / f"{name}.json").read_text("utf-8")))
    content.pop("checksum", None)
    way(content)
    content = as_texts(content)
    return json.dumps({**content, "checksum": checksum(content)})


VARIANTS = [(name, way) for name in MAKERS for way in WAYS]

# Data: a part that is repeated until it fills 64 MB, packed into some kilobytes.

_PART, _TIMES = 1 << 22, 16


def _packed(ending: str, start: bytes, part: bytes) -> bytes:
    """A packed file of several members, which unpack to one stream."""
    pack = lzma.compress if ending.endswith("xz") else gzip.compress
    return pack(start) + pack(part * (_PART // len(part))) * _TIMES


_EDGES = {
    "txt.gz": b"1 2\n",
    "edges.gz": b"1\t2\n",
    "csv.gz": b"a,b\n1,2\n",
    "tsv.gz": b"a\tb\n1\t2\n",
}
_STARTED = {
    **_EDGES,
    "edgelist.gz": b"% x\n1,2\n",
    "gr.gz": b"p tw 2 1\n1 2\n",
    "gr.xz": b"p sp 2 1\na 1 2 3\n",
    "graphml.gz": b'<graphml><key id="w" for="edge" attr.name="w"/><graph><node id="a"/>'
    b'<edge source="a" target="a"><data key="w">',
}
_PARTS = {
    "digits": b"1",
    "letters": b"x",
    "blanks": b" ",
    "quotes": b'"',
    "a comment": b"# ",
    "bytes of no text": b"\xff\x00",
}


def graphs() -> Iterator[tuple[str, bytes]]:
    """Names and bytes of graph files: what never ends begins at once, or after a good line."""
    for ending, start in _STARTED.items():
        for number, part in enumerate(_PARTS.values()):
            begins = b"" if number % 2 else start
            yield f"{number}.{ending}", _packed(ending, begins, part)


def tables() -> Iterator[tuple[str, bytes]]:
    """The same of tables."""
    for ending, start in {
        "csv.gz": b"choice,n\nred,1\n",
        "tsv.gz": b"choice\tn\nred\t1\n",
        "jsonl.gz": b'{"choice": "red"}\n',
    }.items():
        for number, part in enumerate(_PARTS.values()):
            yield f"{number}.{ending}", _packed(ending, start, part)
