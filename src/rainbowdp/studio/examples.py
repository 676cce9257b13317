"""The worlds that are shipped with the studio.

To ship another one, add a function that makes its ``World`` to ``EXAMPLES``. Questions are shown
by histograms of a few records that nobody gave: no row of any table is here.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Mapping
from functools import cache
from typing import TypeAlias

import numpy as np

from rainbowdp.errors import RainbowError
from rainbowdp.graph import RainbowGraph
from rainbowdp.paper import BOUNDARY, figure_one
from rainbowdp.questions import Winner
from rainbowdp.rainbow import Rainbow
from rainbowdp.studio.worlds import World, of_question, spread, winding

Crossing: TypeAlias = tuple[int, int]
Street: TypeAlias = tuple[Crossing, Crossing]

_ONE = {"kind": "dp", "epsilon": "1", "delta": "0"}
_SITES = {"North": (3, 1), "East": (12, 3), "South": (7, 8), "West": (1, 7)}
_BLOCKS = (15, 10)  # crossings from west to east and from north to south
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
        ("from rainbowdp.paper import figure_one", "world = figure_one()"),
        start={"guarantee": _ONE, "dataset": 0},
    )


def election() -> World:
    """Who won, with two candidates."""
    return of_question(
        "election",
        "Election: Clinton or Dole?",
        "Who has more votes in a table of 24 voters; neighbours differ in one vote.",
        Winner(["Clinton", "Dole"], "vote"),
        24,
        ('world = rb.Winner(["Clinton", "Dole"], "vote")',),
        {"guarantee": {**_ONE, "epsilon": "0.5"}, "dataset": 17},
    )


def travel() -> World:
    """Which way of travelling is the most chosen, with three of them."""
    return of_question(
        "travel",
        "Travel: air, train or bus?",
        "Which is chosen most by 12 travellers; neighbours differ in one choice.",
        Winner(["air", "train", "bus"], "mode"),
        12,
        ('world = rb.Winner(["air", "train", "bus"], "mode")',),
        {"guarantee": _ONE, "dataset": 80},
    )


def street_grid(seed: int = 4) -> RainbowGraph:
    """A small town: crossings, the streets between them, and the fire station nearest by.

    Datasets are crossings "column,row". A region are the crossings nearest to one station; it
    prefers the other stations by their distance from its own.

    >>> street_grid()
    RainbowGraph(150 datasets, 227 edges, 4 regions, 4 answers)
    """
    wide, high = _BLOCKS
    crossings = [(x, y) for y in range(high) for x in range(wide)]
    streets = [((x, y), (x + 1, y)) for x, y in crossings if x + 1 < wide]
    streets += [((x, y), (x, y + 1)) for x, y in crossings if y + 1 < high]
    random.Random(seed).shuffle(streets)  # noqa: S311 - a town, not a secret
    kept = _connected(streets, spare=len(crossings) // 2 + 3)
    bare = RainbowGraph(kept, dict.fromkeys(crossings, ("here",)))
    position = {one: bare.position(one) for one in crossings}
    reach = {
        name: bare.distances(np.arange(len(bare)) == position[site])
        for name, site in _SITES.items()
    }
    nearest = {
        f"{x},{y}": min(_SITES, key=lambda name: reach[name][position[x, y]]) for x, y in crossings
    }
    orders: dict[str, Rainbow] = {
        name: tuple(sorted(_SITES, key=lambda other: reach[other][position[site]]))
        for name, site in _SITES.items()
    }
    named = [(f"{a},{b}", f"{c},{d}") for (a, b), (c, d) in kept]
    return RainbowGraph(named, orders, tuple(_SITES), labels=nearest)


def streets() -> World:
    """Which fire station is nearest to a phone."""
    graph = street_grid()
    wiggle = random.Random(1)  # noqa: S311 - a picture
    places = np.array(
        [
            [wiggle.uniform(-0.14, 0.14) + float(part) for part in name.split(",")]
            for name in graph.datasets
        ]
    )
    places = (places - places.mean(axis=0)) / (np.abs(places - places.mean(axis=0)).max())
    return World(
        "streets",
        "Streets: which fire station?",
        "A phone at a crossing says which station is nearest; neighbours are one block apart.",
        graph,
        places,
        ("from rainbowdp.studio.examples import street_grid", "world = street_grid()"),
        signs={graph.position(f"{x},{y}"): name for name, (x, y) in _SITES.items()},
        start={"guarantee": {**_ONE, "epsilon": "0.7"}, "dataset": graph.position("7,7")},
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
        mechanisms=("optimal",),  # both regions want the same, so others would say just that
        start={
            "guarantee": {"kind": "dp", "ratio": "6/5", "delta": "1/1000"},
            "boundary": [float(p) for p in BOUNDARY],
            "dataset": _PLACES_OF_LINE + 12,
        },
    )


EXAMPLES: Mapping[str, Callable[[], World]] = {
    make.__name__: cache(make) for make in (paper, election, travel, streets, growth)
}


def example(name: str) -> World:
    """The example called ``name``."""
    if name not in EXAMPLES:
        raise RainbowError(f"an example must be one of {', '.join(EXAMPLES)}, got {name!r}")
    return EXAMPLES[name]()


def _connected(streets: list[Street], spare: int) -> list[Street]:
    """A spanning tree of the streets as they come, and ``spare`` of the others."""
    home = {end: end for street in streets for end in street}

    def find(one: Crossing) -> Crossing:
        while home[one] != one:
            home[one] = one = home[home[one]]
        return one

    kept: list[Street] = []
    others: list[Street] = []
    for first, second in streets:
        joins = find(first) != find(second)
        (kept if joins else others).append((first, second))
        home[find(first)] = find(second)
    return kept + others[:spare]
