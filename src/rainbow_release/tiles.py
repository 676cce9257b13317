"""Tiles of a map: the keys of some nodes, and the check of every edge with one tile in memory.

Two nodes that an edge joins keep the promise of the mechanism, whose rows were proved, if their
keys are neighbors: of one region at depths that differ by one at most, or at depth 0 of regions
that touch; or margins that are 0 at the true answer only and differ by one at most. On an edge of n
steps, which says so after its ends, n such steps must lead from one key to the other; that of none
joins nodes with one key. Both tiles of an edge across a border list it with both keys, in one
order, so that a digest of each border shows whether they agree.
"""

from __future__ import annotations

from collections.abc import Iterator

from . import document
from .errors import Refused
from .ladders import Ladders
from .margins import margins_of
from .mechanism import Mechanism
from .question import ON_A_GRAPH

VERSION = 1
_BOTH = "listed by both"


class Tile:
    """The keys of the nodes of one tile, for a mechanism that was loaded."""

    def __init__(self, text: str, mechanism: Mechanism) -> None:
        content = document.parse(text)
        self.checksum = document.checksum(content)
        document.keys(
            content,
            "a tile",
            *("format", "version", "mechanism", "tile", "by", "nodes", "keys"),
        )
        _must_be(content, "rainbowdp tile")
        if content["mechanism"] != mechanism.checksum:
            raise Refused("a tile must be of this mechanism, got one of another")
        nodes, keys = content["nodes"], content["keys"]
        if not isinstance(nodes, list) or not isinstance(keys, list) or len(nodes) != len(keys):
            raise Refused("a tile must have a key for each node")
        self.name = document.name(content["tile"])
        self.names = [document.name(node) for node in nodes]
        self.by_depth = content["by"] == "depth"
        if content["by"] not in ("depth", "margins"):
            raise Refused("the keys of a tile must be by depth or by margins")
        if self.by_depth != isinstance(mechanism._rule, Ladders):
            raise Refused("the keys of a tile must be those of its mechanism")
        self.mechanism = mechanism
        self.keys = [self._read(key) for key in keys]
        self._places = {node: place for place, node in enumerate(self.names)}
        if len(self._places) != len(self.names):
            raise Refused("a tile must have each node once")

    def _read(self, key: object) -> object:
        """A key, which must have a row."""
        if not isinstance(key, list):
            raise Refused("the key of a node must be a list")
        if self.by_depth:
            if len(key) != 2:
                raise Refused("the key of a node must be a region and a depth")
            place: object = (document.name(key[0]), key[1])
            self.mechanism.row_at(place)
            return place
        if len(key) != len(self.mechanism.answers):
            raise Refused("the key of a node must have a margin for each answer")
        margins = dict(zip(self.mechanism.answers, key, strict=True))
        margins_of(margins, self.mechanism.answers)
        if getattr(self.mechanism._rule, "most", None) is not None:
            self.mechanism.row_at(margins)
        return margins

    def key(self, node: object) -> object:
        """The key of a node, to be released at."""
        if node not in self._places:
            raise Refused("a node must be one of the tile")
        return self.keys[self._places[node]]

    def release(self, node: object) -> object:
        """One answer at a node."""
        return self.mechanism.release_at(self.key(node))

    def are_within(self, one: object, other: object, steps: int) -> bool:
        """Whether the rows of two keys were proved to be so many steps apart, or fewer."""
        if self.by_depth:
            rule = self.mechanism._rule
            assert isinstance(rule, Ladders)
            assert isinstance(one, tuple)
            assert isinstance(other, tuple)
            return rule.are_within(one, other, steps)
        assert isinstance(one, dict)
        assert isinstance(other, dict)
        true, there = (min(margins, key=margins.__getitem__) for margins in (one, other))
        if true != there and one[there] + other[true] > steps + 1:
            return False  # one margin must fall to 0 before the other rises from it
        return all(abs(one[answer] - other[answer]) <= steps for answer in one)


def check_tiles(folder: object, mechanism: Mechanism) -> tuple[int, int, int]:
    """Check every edge that the tiles of a folder list; the numbers of tiles, nodes and edges."""
    import hashlib

    index = document.parse(document.read(f"{folder}/index.json"))
    names = ("format", "version", "mechanism", "nodes", "edges", "tiles")
    document.keys(index, "the index of tiles", *names)
    _must_be(index, "rainbowdp tiles")
    listed = index["tiles"]
    if index["mechanism"] != mechanism.checksum or not isinstance(listed, list):
        raise Refused("the index of tiles must be of this mechanism, got one of another")
    nodes = inside = 0
    borders: dict[tuple[int, int], tuple[str, int]] = {}
    for number, entry in enumerate(listed):
        given = document.keys(entry, "an entry of the index", "tile", "nodes", "keys", "edges")
        where = f"tile {given['tile']} ({folder}/{number}.json, {number}.edges.json)"
        try:
            tile = Tile(document.read(f"{folder}/{number}.json"), mechanism)
            joined = document.parse(document.read(f"{folder}/{number}.edges.json"))
            if (tile.checksum, document.checksum(joined)) != (given["keys"], given["edges"]):
                raise Refused("it is not the one that the index lists")
            nodes += len(tile.names)
            inside += _check_inside(tile, joined)
            for beside, records in _across(tile, joined, number, len(listed)):
                digest = hashlib.sha256()
                many = 0
                for record in records:
                    digest.update(record.encode())
                    many += 1
                found = (digest.hexdigest(), many)
                if number < beside:  # the lower tile comes first, and both must have listed it
                    borders[number, beside] = found
                elif borders.get((beside, number)) != found:
                    raise Refused(f"it does not fit its neighbor, tile {_named(listed[beside])}")
                else:
                    borders[beside, number] = (_BOTH, many)
        except Refused as error:
            raise Refused(f"{where} is refused: {error}") from None
    for (one, other), (seen, _) in borders.items():
        if seen != _BOTH:
            raise Refused(
                f"tile {_named(listed[one])} does not fit its neighbor, tile "
                f"{_named(listed[other])}, which lists no edge to it"
            )
    edges = inside + sum(many for _, many in borders.values())
    if (nodes, edges) != (index["nodes"], index["edges"]):
        raise Refused("the tiles must have as many nodes and edges as their index says")
    return len(listed), nodes, edges


def _named(entry: object) -> object:
    return document.keys(entry, "an entry of the index", "tile", "nodes", "keys", "edges")["tile"]


def _check_inside(tile: Tile, joined: dict[str, object]) -> int:
    document.keys(joined, "the edges of a tile", "format", "version", "keys", "inside", "across")
    _must_be(joined, "rainbowdp tile edges")
    inside = joined["inside"]
    if joined["keys"] != tile.checksum or not isinstance(inside, list):
        raise Refused("the edges of a tile must be those of its keys")
    seen: set[tuple[int, object]] = set()
    for edge in inside:
        if not isinstance(edge, list) or len(edge) not in (2, 3):
            raise Refused("an edge must be two places of nodes, and its steps if it has several")
        one, other = sorted(_place(end, tile) for end in edge[:2])
        if one == other:
            raise Refused("an edge must join two different nodes")
        _must_be_once((one, other), seen)
        steps = _steps(edge[2:], tile)
        if not tile.are_within(tile.keys[one], tile.keys[other], steps):
            raise Refused(_too_far(tile.names[one], tile.names[other], steps))
    return len(inside)


def _across(
    tile: Tile, joined: dict[str, object], number: int, tiles: int
) -> Iterator[tuple[int, Iterator[str]]]:
    """The borders of a tile: the other tile, and its edges as both sides write them."""
    borders = joined["across"]
    if not isinstance(borders, list):
        raise Refused("the borders of a tile must stand in a list")
    seen = -1
    for border in borders:
        given = document.keys(border, "a border", "tile", "edges")
        beside, edges = document.small(given["tile"], "a tile"), given["edges"]
        if beside >= tiles or beside == number or beside <= seen or not isinstance(edges, list):
            raise Refused("the borders of a tile must be to other tiles, in rising order")
        seen = beside
        yield beside, _records(tile, edges, number < beside)


def _records(tile: Tile, edges: list[object], first: bool) -> Iterator[str]:
    """Each edge with both keys and its steps, the node of the lower tile first, sorted."""
    import json

    found = []
    seen: set[tuple[int, object]] = set()
    for edge in edges:
        if not isinstance(edge, list) or len(edge) not in (3, 4):
            raise Refused(
                "an edge across a border must be a place, a node and its key, and its steps if it "
                "has several"
            )
        place, node, key = _place(edge[0], tile), document.name(edge[1]), tile._read(edge[2])
        _must_be_once((place, node), seen)
        steps = _steps(edge[3:], tile)
        if not tile.are_within(tile.keys[place], key, steps):
            raise Refused(_too_far(tile.names[place], node, steps))
        mine = (tile.names[place], _plain(tile.keys[place]))
        theirs = (node, _plain(key))
        found.append(json.dumps((mine, theirs, steps) if first else (theirs, mine, steps)))
    return iter(sorted(found))


def _must_be_once(ends: tuple[int, object], seen: set[tuple[int, object]]) -> None:
    """Edges are counted, so that a second one could stand for one that is missing."""
    if ends in seen:
        raise Refused("an edge must be listed once")
    seen.add(ends)


def _steps(said: list[object], tile: Tile) -> int:
    """How many steps an edge has: a single one if nothing is said."""
    steps = document.small(said[0], "the steps of an edge") if said else 1
    if steps != 1 and tile.mechanism.neighbors == ON_A_GRAPH:
        raise Refused("an edge must be one step where neighbors are joined by an edge")
    return steps


def _too_far(one: object, other: object, steps: int) -> str:
    apart = "" if steps == 1 else f" at {steps} steps"
    return f"the keys of {one} and {other} are not those of neighbors{apart}"


def _plain(key: object) -> object:
    return list(key.items()) if isinstance(key, dict) else key


def _place(value: object, tile: Tile) -> int:
    place = document.small(value, "the place of a node")
    if place >= len(tile.names):
        raise Refused("an edge must be of nodes of its tile")
    return place


def _must_be(content: dict[str, object], wanted: str) -> None:
    version = content["version"]
    if content["format"] != wanted or type(version) is not int or version != VERSION:
        raise Refused(f"a file of format {wanted!r} and version {VERSION} is wanted")
