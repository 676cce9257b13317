"""Read streets from OpenStreetMap files, with pyosmium: ``.osm.pbf``, ``.osm`` and these packed.

Nodes are OpenStreetMap's own, by their ids; an edge joins two that follow each other on a way, and
is as long as the great circle between them. A way that may be driven in one direction only is an
edge like any other, because a promise between neighbors is mutual.
"""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Sequence
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rainbowdp.aliases import Floats
from rainbowdp.errors import InvalidGraph, MissingExtra
from rainbowdp.graphs.edges import Edges, Ids, numbered
from rainbowdp.graphs.readers.coordinates import lengths_by_coordinates, meters_between

ENDINGS = (".osm.pbf", ".osm", ".osm.gz", ".osm.bz2")
NOT_DRIVEN = frozenset(  # values of highway=* that are no streets for cars, or not yet, or no more
    (
        *("abandoned", "construction", "demolished", "disused", "no", "planned", "proposed"),
        *("razed", "bridleway", "bus_guideway", "busway", "corridor", "cycleway", "elevator"),
        *("escalator", "footway", "path", "pedestrian", "platform", "raceway", "rest_area"),
        *("services", "steps", "track"),
    )
)
_DEGREE = 10_000_000  # OpenStreetMap's coordinates are whole numbers of this part
_FARTHEST = 10_000  # meters from a place to the node that is meant by it


def read_osm(path: str | PathLike[str]) -> tuple[Edges, Floats]:
    """The streets with their lengths in meters, and each node's longitude and latitude.

    Ways with highway=* are streets, unless the value is one of ``NOT_DRIVEN`` or the way is an
    area.
    """
    ids, places, follows = _ways(path)
    if not follows.any():
        raise InvalidGraph(
            f"{path} has no street: no way with highway=*, of a kind for cars and two nodes or more"
        )
    ends = np.flatnonzero(follows)
    edges = numbered(np.stack([ids[ends], ids[ends + 1]], axis=1))
    names = edges.names
    known = names.array if isinstance(names, Ids) else np.asarray(names)
    _, first = np.unique(ids, return_index=True)
    where = first[np.searchsorted(ids[first], known)]
    degrees: Floats = places[where] / _DEGREE
    return lengths_by_coordinates(edges, degrees), degrees


def _ways(
    path: str | PathLike[str],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
    """The nodes of all ways in turn, where they are, and whether the next is joined to each."""
    try:
        import osmium
        from osmium.filter import EntityFilter, KeyFilter
        from osmium.osm import NODE, WAY
    except ImportError:
        raise MissingExtra("osmium", "osm") from None
    ids, places, follows = array("q"), array("i"), array("b")
    try:
        ways: Any = osmium.FileProcessor(str(path), NODE | WAY).with_locations()
        for way in ways.with_filter(EntityFilter(WAY)).with_filter(KeyFilter("highway")):
            if way.tags["highway"] in NOT_DRIVEN or way.tags.get("area") == "yes":
                continue
            for node in way.nodes:
                if not node.location.valid():
                    raise InvalidGraph(_unplaced(path, way.id, node.ref))
                if follows and follows[-1]:
                    follows[-1] = ids[-1] != node.ref  # a node that is named twice in a row
                ids.append(node.ref)
                places.extend((node.x, node.y))
                follows.append(True)
            if follows:
                follows[-1] = False
    except (RuntimeError, ValueError, osmium.InvalidLocationError) as error:
        why = str(error).rstrip(".").replace(". ", "; ")
        raise InvalidGraph(f"cannot read the OpenStreetMap file {path}: {why}") from None
    return (
        np.array(ids, dtype=np.int64),
        np.array(places, dtype=np.int64).reshape(-1, 2),
        np.array(follows, dtype=np.bool_),
    )


def _unplaced(path: str | PathLike[str], way: int, node: int) -> str:
    if node < 0:
        return (
            f"way {way} of {path} has the node {node}, and ids of OpenStreetMap are above 0; "
            "renumber the file, as `osmium renumber` does"
        )
    return (
        f"{path} does not say where node {node} of way {way} is; nodes must come before ways, and "
        "an extract needs all nodes of its ways, as `osmium extract --strategy complete_ways` has "
        "them"
    )


def nearest_nodes(
    path: str | PathLike[str], wanted: Sequence[tuple[float, float]]
) -> list[Hashable]:
    """For each latitude and longitude the node of a street that is nearest."""
    edges, places = read_osm(path)
    assert edges.names is not None
    found = []
    for latitude, longitude in wanted:
        away = meters_between(places, np.array([[longitude, latitude]]))
        nearest = int(np.argmin(away))
        if not away[nearest] <= _FARTHEST:
            raise InvalidGraph(
                f"the place {latitude:g}/{longitude:g} is {away[nearest] / 1000:,.0f} km from the "
                f"nearest street of {path}; give its latitude/longitude in degrees"
            )
        found.append(edges.names[nearest])
    return found
