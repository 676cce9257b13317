"""The worlds that are shipped with the studio.

To ship another one, add a function that makes its ``World`` to ``EXAMPLES``. Questions are shown
by histograms of a few records that nobody gave: no row of any table is here.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

import numpy as np

from rainbowdp.errors import RainbowError
from rainbowdp.graphs.graph import RainbowGraph
from rainbowdp.graphs.readers.gr import read_gr
from rainbowdp.graphs.sites import nearest_sites
from rainbowdp.paper.objects import BOUNDARY, figure_one
from rainbowdp.questions import Winner
from rainbowdp.studio.worlds import World, of_question, spread, winding

_SKETCH = {
    "north": ("yes", "no", "maybe"),
    "middle": ("yes", "no", "maybe"),
    "west": ("no", "yes", "maybe"),
    "south": ("no", "yes", "maybe"),
    "east": ("maybe", "yes", "no"),
}
_STREETS = (("north", "middle"), ("middle", "west"), ("middle", "east"), ("west", "south"))
_ONE = {"kind": "dp", "epsilon": "1", "delta": "0"}
_ROADS = Path(__file__).parent / "roads.gr"
_STATIONS = {"A": 283, "B": 305, "C": 78, "D": 156}  # that share the junctions about evenly
_PLACES_OF_LINE = 38


def paper() -> World:
    """Figure 1 of the paper."""
    graph = figure_one()
    return World(
        "paper",
        "The paper’s graph",
        "18 datasets, three answers and all six orders of preference (Figure 1).",
        graph,
        spread(graph),
        ("from rainbowdp import paper", "world = paper.figure_one()"),
        start={"guarantee": _ONE, "dataset": 0},
    )


def election() -> World:
    """Who won, with two candidates."""
    return of_question(
        "election",
        "Election: Clinton or Dole?",
        "Who has more votes in a table of 24 voters; neighbors differ in one vote.",
        Winner(["Clinton", "Dole"], "vote"),
        24,
        ('world = rb.Winner(["Clinton", "Dole"], "vote")',),
        {"guarantee": {**_ONE, "epsilon": "0.5"}, "dataset": 17},
    )


def travel() -> World:
    """Which way of traveling is the most chosen, with three of them."""
    return of_question(
        "travel",
        "Travel: air, train or bus?",
        "Which is chosen most by 12 travelers; neighbors differ in one choice.",
        Winner(["air", "train", "bus"], "mode"),
        12,
        ('world = rb.Winner(["air", "train", "bus"], "mode")',),
        {"guarantee": _ONE, "dataset": 80},
    )


def road_map() -> RainbowGraph:
    """A part of New York City: junctions, the roads between them, and the fire station nearest by.

    A region are the junctions nearest to one station; it prefers the other stations by their
    distance from its own.

    >>> road_map()
    RainbowGraph(375 datasets, 652 edges, 4 regions, 4 answers)
    """
    roads = read_gr(_ROADS)
    near = nearest_sites(roads, _STATIONS)
    return RainbowGraph(roads, near.rainbows, near.names, labels=near.labels)


def roads() -> World:
    """Which fire station is nearest to a phone."""
    graph = road_map()
    return World(
        "roads",
        "Roads: which fire station?",
        "A phone at one of 375 junctions of New York says which of four stations is nearest; "
        "neighbors are one road apart. The roads are real, the stations are made up, and as the "
        "data has no coordinates, the map is drawn from the roads alone.",
        graph,
        spread(graph),
        ("from rainbowdp.studio.examples import road_map", "world = road_map()"),
        noun="junction",
        signs={graph.position(junction): name for name, junction in _STATIONS.items()},
        start={"guarantee": {**_ONE, "epsilon": "0.5"}, "dataset": graph.position(340)},
    )


def sketch_graph() -> RainbowGraph:
    """Five places to begin a graph of one's own with.

    >>> sketch_graph()
    RainbowGraph(5 datasets, 4 edges, 3 regions, 3 answers)
    """
    return RainbowGraph(_STREETS, _SKETCH)


def sketch() -> World:
    """A small graph to edit."""
    graph = sketch_graph()
    return World(
        "sketch",
        "Your own graph",
        "Five datasets to begin with: change them under Edit the graph.",
        graph,
        np.array([[-0.2, -1.0], [-0.1, -0.1], [-0.9, 0.3], [-0.7, 1.0], [0.9, 0.2]]),
        ("from rainbowdp.studio.examples import sketch_graph", "world = sketch_graph()"),
        start={"guarantee": _ONE, "dataset": 1},
    )


def growth_line() -> RainbowGraph:
    """Two regions with one order of five answers, touching at one edge: the paper's figures.

    >>> growth_line()
    RainbowGraph(76 datasets, 75 edges, 2 regions, 5 answers)
    """
    names = [*range(-_PLACES_OF_LINE, 0), *range(1, _PLACES_OF_LINE + 1)]
    edges = list(itertools.pairwise(names))
    labels = {name: "left" if name < 0 else "right" for name in names}
    order = ("first", "second", "third", "fourth", "fifth")
    return RainbowGraph(edges, {"left": order, "right": order}, labels=labels)


def growth() -> World:
    """The paper's numerical figures: how a boundary row grows with depth."""
    graph = growth_line()
    return World(
        "growth",
        "The paper’s growth figure",
        "Five answers, e^ε = 1.2 and a timid boundary: each prefix turns at a depth of its own.",
        graph,
        winding(len(graph), _PLACES_OF_LINE // 2),
        ("from rainbowdp.studio.examples import growth_line", "world = growth_line()"),
        mechanisms=("homogeneous",),  # both regions want the same, so others would say just that
        start={
            "guarantee": {"kind": "dp", "ratio": "6/5", "delta": "1/1000"},
            "boundary": [float(p) for p in BOUNDARY],
            "dataset": _PLACES_OF_LINE + 12,
        },
    )


EXAMPLES: Mapping[str, Callable[[], World]] = {
    make.__name__: cache(make) for make in (travel, election, roads, paper, growth, sketch)
}


def example(name: str) -> World:
    """The example called ``name``."""
    if name not in EXAMPLES:
        raise RainbowError(f"an example must be one of {', '.join(EXAMPLES)}, got {name!r}")
    return EXAMPLES[name]()
