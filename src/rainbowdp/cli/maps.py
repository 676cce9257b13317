"""What the commands about maps share: sites as they are written, and counts in words."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rainbowdp.errors import RainbowError, Unreached

_DIGITS = 20  # of the largest node


def sites_from(text: str, named: bool) -> dict[Any, int | str]:
    """Names and nodes from ``17,5000`` or ``Bellevue=17,Sinai=5000``; nodes may have names."""
    found: dict[Any, int | str] = {}
    for part in text.split(","):
        name, _, last = (word.strip() for word in part.rpartition("="))
        if not (last if named else last.isdecimal() and len(last) <= _DIGITS):
            kind = "" if named else f", a whole number of at most {_DIGITS} digits"
            part = part if len(part) < 100 else f"{part[:100]}…"
            raise RainbowError(f"a site must be a node or NAME=NODE{kind}, got {part.strip()!r}")
        node = last if named else int(last)
        key = name or node
        if key in found:
            raise RainbowError(f"sites must be different, got {key!r} twice")
        found[key] = node
    return found


def places_as_nodes(text: str, edges: Path) -> str:
    """The sites with the nearest node for each ``LATITUDE/LONGITUDE`` of an OpenStreetMap file."""
    from rainbowdp.graphs.readers.osm import ENDINGS, nearest_nodes

    parts = [part.rpartition("=") for part in text.split(",")]
    places = [last for *_, last in parts if "/" in last]
    if not places or not str(edges).lower().endswith(ENDINGS):
        return text
    nodes = dict(zip(places, nearest_nodes(edges, [_degrees(p) for p in places]), strict=True))
    return ",".join(f"{name}{equals}{nodes.get(last, last)}" for name, equals, last in parts)


def _degrees(place: str) -> tuple[float, float]:
    try:
        latitude, longitude = (float(number) for number in place.split("/"))
    except ValueError:
        latitude = longitude = math.nan
    if not (abs(latitude) <= 90 and abs(longitude) <= 180):
        raise RainbowError(f"a place must be LATITUDE/LONGITUDE in degrees, got {place.strip()!r}")
    return latitude, longitude


@contextmanager
def all_reached(edges: Path) -> Iterator[None]:
    """Say of nodes that no site reaches which file they are in, and what the command can do."""
    try:
        yield
    except Unreached as error:
        where, option = f"{edges}: ", "--unreached first"
        raise Unreached(error.count, error.node, where=where, option=option) from None


def counted(number: int, noun: str) -> str:
    """``1 node``, ``1,000 nodes``."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
