"""Release private answers from mechanism files, with the standard library alone.

A mechanism file holds integers and what they promise. This package reads it, proves in integers
that the promise is kept, and draws. It shares no code with ``rainbowdp``, which made the file, so
it is a second opinion; and it needs nothing but Python, so a release can run where NumPy cannot.

>>> import rainbow_release                                                   # doctest: +SKIP
>>> mechanism = rainbow_release.load("poll.json")                            # doctest: +SKIP
>>> mechanism.release({"red": 10, "green": 7})                               # doctest: +SKIP
'red'

A file knows no budget: every release spends its guarantee once more.
"""

from __future__ import annotations

from .errors import Refused
from .mechanism import Mechanism, NoisyCount, load, loads
from .tiles import Tile, check_tiles

__all__ = [
    "Mechanism",
    "NoisyCount",
    "Refused",
    "Tile",
    "check_tiles",
    "javascript",
    "load",
    "loads",
    "schema",
    "sql",
]


def javascript() -> str:
    """The same reader for browsers, phones and Node: an ES module without dependencies."""
    return _resource("rainbow-release.js")


def sql() -> str:
    """The query that draws an answer from a database of a map."""
    return _resource("release.sql")


def schema() -> str:
    """The JSON Schema of all files that this package reads."""
    return _resource("files.schema.json")


def _resource(name: str) -> str:
    with open(f"{__path__[0]}/{name}", encoding="utf-8") as file:
        return file.read()
