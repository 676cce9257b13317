"""All Hypothesis generators of the test suite."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from random import Random
from typing import Any

import networkx as nx
import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

import rainbowdp as rb
import reference
from rainbowdp.guarantees.curve import TradeOffCurve
from rainbowdp.guarantees.polygons import safe_curve
from rainbowdp.questions.relations import Ties
from rainbowdp.rules.margin_table.rule import MarginTable
from rainbowdp.rules.margin_table.shape import Shape

ANSWERS = ("red", "green", "blue", "gold", "gray")


@st.composite
def rows(
    draw: st.DrawFn, answers: int | None = None, smallest: float = 1e-300
) -> tuple[float, ...]:
    """A distribution in floats; entries are ordinary, tiny or zero."""
    size = answers if answers is not None else draw(st.integers(1, 6))
    entry = st.one_of(
        st.floats(0.01, 1),
        st.floats(-300, 0).map(lambda x: 10.0**x).filter(lambda x: x >= smallest),
        st.just(0.0),
    )
    weights = draw(st.lists(entry, min_size=size, max_size=size).filter(lambda w: sum(w) > 0.005))
    total = sum(weights)
    return tuple(w / total for w in weights)


@st.composite
def exact_rows(draw: st.DrawFn, answers: int, zeros: bool = True) -> tuple[Fraction, ...]:
    """A distribution in small exact fractions."""
    smallest = 0 if zeros else 1
    weights = draw(
        st.lists(st.integers(smallest, 20), min_size=answers, max_size=answers).filter(any)
    )
    return tuple(Fraction(w, sum(weights)) for w in weights)


def epsilons(smallest: float = 1e-6, largest: float = 20.0) -> st.SearchStrategy[float]:
    """Privacy parameters of every size, zero and round numbers included."""
    return st.one_of(
        st.sampled_from([0.0, smallest, 0.1, 0.5, 1.0, 2.0, largest]),
        st.floats(smallest, largest),
        st.floats(-6, 1.3).map(lambda x: min(max(10.0**x, smallest), largest)),
    )


def ratios() -> st.SearchStrategy[Fraction]:
    """e^ε as an exact fraction."""
    return st.builds(lambda top: Fraction(top, 10), st.integers(10, 60))


def deltas() -> st.SearchStrategy[float]:
    """δ from 0 to 1, both ends and both neighborhoods included."""
    return st.one_of(
        st.just(0.0),
        st.sampled_from([1e-9, 1e-3, 0.25, 0.5, 1.0]),
        st.floats(1e-300, 1),
        st.floats(-300, 0).map(lambda x: 10.0**x),
        st.floats(-15, -1).map(lambda x: 1 - 10.0**x),
    )


def depths() -> st.SearchStrategy[int]:
    """Depths to a million."""
    return st.one_of(st.integers(0, 5), st.integers(0, 300), st.integers(0, 10**6), st.just(10**6))


@st.composite
def trade_offs(draw: st.DrawFn) -> rb.TradeOff:
    """A convex symmetric polygon: the upper envelope of a few (ε,δ) curves with rational e^ε."""
    promises = draw(
        st.lists(
            st.tuples(ratios(), st.integers(0, 8).map(lambda d: Fraction(d, 20))),
            min_size=1,
            max_size=3,
        )
    )
    lines = [(Fraction(0), Fraction(0))]
    for ratio, delta in promises:
        lines += [(-ratio, 1 - delta), (-1 / ratio, (1 - delta) / ratio)]
    return rb.TradeOff(_envelope(lines))


def _envelope(lines: Sequence[tuple[Fraction, Fraction]]) -> list[tuple[Fraction, Fraction]]:
    """The vertices over [0, 1] of the maximum of lines slope·x + height."""

    def top(x: Fraction) -> Fraction:
        return max(slope * x + height for slope, height in lines)

    crossings = {Fraction(0), Fraction(1)}
    for (a, c), (b, d) in itertools.combinations(lines, 2):
        if a != b and 0 < (d - c) / (a - b) < 1:
            crossings.add((d - c) / (a - b))
    return [(x, top(x)) for x in sorted(crossings)]


def guarantees() -> st.SearchStrategy[TradeOffCurve]:
    """A guarantee of any kind, of moderate strength."""
    return st.one_of(
        st.builds(rb.DP, epsilons(1e-3, 5.0), deltas()),
        st.builds(
            lambda r, d: rb.DP.from_ratio(r.numerator, r.denominator, delta=d), ratios(), deltas()
        ),
        st.builds(rb.GaussianDP, st.floats(0, 3)),
        trade_offs(),
    )


@st.composite
def graphs(
    draw: st.DrawFn,
    most: int = 8,
    answers: int | None = None,
    labeled: bool | None = None,
    touching: bool = False,
) -> rb.RainbowGraph:
    """A small random rainbow graph, connected or not, sometimes with labeled regions.

    With ``touching`` the first two datasets are neighbors in different regions.
    """
    least = 2 if touching else 1
    size = draw(st.integers(least, most))
    colors = ANSWERS[: answers if answers is not None else draw(st.integers(1, 4))]
    pairs = st.tuples(st.integers(0, size - 1), st.integers(0, size - 1))
    edges = draw(st.lists(pairs, max_size=2 * size))
    orders = st.permutations(colors).map(tuple)
    kinds = draw(st.lists(orders, min_size=least, max_size=3, unique=touching))
    marks = draw(st.lists(st.integers(0, len(kinds) - 1), min_size=size, max_size=size))
    if touching:
        edges, marks = [(0, 1), *edges], [0, 1, *marks[2:]]
    if draw(st.booleans()) if labeled is None else labeled:
        return rb.RainbowGraph(edges, dict(enumerate(kinds)), colors, labels=marks)
    return rb.RainbowGraph(edges, [kinds[mark] for mark in marks], colors)


@st.composite
def deep_graphs(
    draw: st.DrawFn, most: int = 7, labeled: bool | None = None, kinds: int = 3
) -> rb.RainbowGraph:
    """A small graph with deep regions: mostly a chain, cut into blocks, in one piece or more."""
    size = draw(st.integers(2, most))
    colors = ANSWERS[: draw(st.integers(2, 4))]
    edges = []
    for node in range(1, size):
        before = draw(st.sampled_from((1, 1, 1, 2, 0)))  # 0 starts a new component
        if before:
            edges.append((max(0, node - before), node))
    places = st.integers(0, size - 1)
    edges += draw(st.lists(st.tuples(places, places), max_size=2))
    cuts = draw(st.lists(places, max_size=kinds - 1))
    marks = [sum(cut <= node for cut in cuts) for node in range(size)]
    orders = draw(st.lists(st.permutations(colors).map(tuple), min_size=kinds, max_size=kinds))
    if draw(st.booleans()) if labeled is None else labeled:
        return rb.RainbowGraph(edges, orders, colors, labels=marks)
    return rb.RainbowGraph(edges, [orders[mark] for mark in marks], colors)


@st.composite
def exact_promises(
    draw: st.DrawFn, polygons: bool | None = None
) -> tuple[TradeOffCurve, list[tuple[Fraction, Fraction]]]:
    """A piecewise-linear guarantee and the exact lines (slope, rise) of its φ."""
    if draw(st.booleans()) if polygons is None else polygons:
        curve = draw(trade_offs())
        return curve, reference.polygon_lines(curve.knots)
    ratio = draw(ratios())
    delta = draw(st.sampled_from((0, 0, 1, 2, 7))) * Fraction(1, 20)
    promise = rb.DP.from_ratio(ratio.numerator, ratio.denominator, delta=delta)
    return promise, [(ratio, delta), (1 / ratio, 1 - (1 - delta) / ratio)]


@st.composite
def valid_boundaries(
    draw: st.DrawFn, graph: rb.RainbowGraph, lines: Sequence[tuple[Fraction, Fraction]]
) -> dict[object, dict[object, Fraction]]:
    """A valid homogeneous boundary condition in exact fractions, often a barely valid one.

    All regions start at one common row, which is always valid, and go towards rows of their own
    as far as halving allows.
    """
    answers = len(graph.answers)
    common = draw(exact_rows(answers))
    own = {label: draw(exact_rows(answers)) for label in graph.regions}
    if draw(st.booleans()):  # the most favored answer of each region, as symmetric ones have it
        own = {
            label: tuple(Fraction(int(a == region.rainbow[0])) for a in graph.answers)
            for label, region in graph.regions.items()
        }

    def mixed(weight: Fraction) -> dict[object, tuple[Fraction, ...]]:
        return {
            label: tuple((1 - weight) * a + weight * b for a, b in zip(common, row, strict=True))
            for label, row in own.items()
        }

    def valid(rows: dict[object, tuple[Fraction, ...]]) -> bool:
        return not any(reference.worst_by_lines(rows[a], rows[b], lines) for a, b in graph.touching)

    low, high = Fraction(0), Fraction(1)
    if valid(mixed(high)):
        low = high
    for _ in range(draw(st.integers(1, 6))):
        middle = (low + high) / 2
        low, high = (middle, high) if valid(mixed(middle)) else (low, middle)
    return {label: dict(zip(graph.answers, row, strict=True)) for label, row in mixed(low).items()}


@st.composite
def morphisms(draw: st.DrawFn) -> tuple[rb.RainbowGraph, rb.RainbowGraph, dict[int, int]]:
    """Two graphs with the same answers and a map between them, a morphism about half the time."""
    answers = draw(st.integers(2, 3))
    source, target = draw(graphs(6, answers)), draw(graphs(4, answers))
    places = st.integers(0, len(target) - 1)
    return source, target, {d: draw(places) for d in range(len(source))}


def prefix_sums() -> st.SearchStrategy[float]:
    """Numbers in [0, 1]: ordinary, tiny, almost one, and both ends."""
    return st.one_of(
        st.floats(0, 1, allow_subnormal=False),
        st.floats(-300, 0).map(lambda x: 10.0**x),
        st.floats(-15, -1).map(lambda x: 1 - 10.0**x),
        st.sampled_from([0.0, 0.25, 0.5, 1.0]),
    )


def dps() -> st.SearchStrategy[rb.DP]:
    """(ε,δ) guarantees of every size, given by ε or by an exact e^ε."""
    return st.one_of(
        st.builds(rb.DP, epsilons(), deltas()),
        st.builds(
            lambda r, d: rb.DP.from_ratio(r.numerator, r.denominator, delta=d), ratios(), deltas()
        ),
    )


@st.composite
def exact_pairs(draw: st.DrawFn) -> tuple[tuple[Fraction, ...], tuple[Fraction, ...]]:
    """Two distributions over the same one to five answers, in small fractions."""
    size = draw(st.integers(1, 5))
    return draw(exact_rows(size)), draw(exact_rows(size))


@st.composite
def colored_graphs(draw: st.DrawFn, most: int = 14) -> tuple[nx.Graph, list[int]]:
    """A networkx graph without loops and a region number for each node."""
    size = draw(st.integers(1, most))
    places = st.integers(0, size - 1)
    graph = nx.empty_graph(size)
    graph.add_edges_from((i, i + 1) for i in range(size - 1) if draw(st.booleans()))
    graph.add_edges_from(draw(st.lists(st.tuples(places, places), max_size=6)))
    graph.remove_edges_from(list(nx.selfloop_edges(graph)))
    cuts = draw(st.lists(places, max_size=3))
    return graph, [sum(cut <= i for cut in cuts) for i in range(size)]


@st.composite
def table_pairs(
    draw: st.DrawFn,
) -> tuple[rb.RainbowGraph, dict[object, tuple[Fraction, ...]], dict[object, tuple[Fraction, ...]]]:
    """Two tables on one graph in exact fractions: equal, comparable or anything.

    The second table moves probability down (or up) each dataset's rainbow, or is independent.
    """
    graph = draw(graphs(5))
    size = len(graph.answers)
    kind = draw(st.sampled_from(("equal", "down", "up", "any", "mixed")))
    first: dict[object, tuple[Fraction, ...]] = {}
    second: dict[object, tuple[Fraction, ...]] = {}
    for d in graph.datasets:
        row = list(draw(exact_rows(size)))
        other = list(draw(exact_rows(size)) if kind == "any" else row)
        if kind in ("down", "up", "mixed"):
            places = sorted(draw(st.tuples(st.integers(0, size - 1), st.integers(0, size - 1))))
            if kind == "up" or (kind == "mixed" and draw(st.booleans())):
                places.reverse()
            source, target = (graph.answers.index(graph.rainbow(d)[place]) for place in places)
            moved = other[source] * draw(st.integers(0, 4)) / 4
            other[source] -= moved
            other[target] += moved
        first[d], second[d] = tuple(row), tuple(other)
    return graph, first, second


@st.composite
def weight_rows(
    draw: st.DrawFn, answers: int | None = None, total: int | None = None
) -> tuple[int, ...]:
    """Whole weights of a given or any total: ordinary, tiny and zero ones."""
    size = answers if answers is not None else draw(st.integers(1, 5))
    whole = (
        total
        if total is not None
        else draw(st.one_of(st.integers(1, 60), st.just(1 << 64), st.integers(1, 10**30)))
    )
    cut = st.one_of(
        st.integers(0, whole),
        st.integers(0, min(3, whole)),
        st.integers(0, min(3, whole)).map(lambda x: whole - x),
    )
    cuts = sorted(draw(st.lists(cut, min_size=size - 1, max_size=size - 1)))
    return tuple(b - a for a, b in itertools.pairwise([0, *cuts, whole]))


@functools.cache
def _gaussian_polygon(mu: str) -> rb.TradeOff:
    return safe_curve(rb.GaussianDP(mu))


def rational_curves() -> st.SearchStrategy[rb.TradeOff]:
    """Polygons of every kind that exact rows are grown against."""
    return st.one_of(
        st.builds(safe_curve, st.builds(rb.DP, epsilons(), deltas())),
        st.builds(
            lambda r, d: safe_curve(rb.DP.from_ratio(r, delta=Fraction(d, 20))),
            ratios(),
            st.integers(0, 19),
        ),
        trade_offs(),
        st.sampled_from(("0", "0.01", "0.5", "1", "4", "30")).map(_gaussian_polygon),
    )


@st.composite
def steps_by_margin(draw: st.DrawFn) -> tuple[rb.DP, int, int, tuple[int, ...]]:
    """A guarantee, a number of answers, a small total and weights by margin near the closed form.

    Small totals make rounding matter; a unit more or less makes many of them break the promise.
    """
    answers = draw(st.integers(2, 4))
    ratio = Fraction(draw(st.integers(8, 60)), 10)
    ratio = max(ratio, Fraction(1))
    delta = Fraction(draw(st.sampled_from((0, 0, 1, 2, 5))), 20)
    total = draw(st.integers(5, 120))
    each = delta * total / (answers - 1)
    steps = [math.ceil((total - delta * total) / (1 + ratio))]
    for _ in range(draw(st.integers(0, 4))):
        steps.append(max(0, math.ceil((steps[-1] - each) / ratio)))
    bent = [max(0, s + draw(st.sampled_from((0, 0, 0, 0, -1, 1)))) for s in steps]
    guarantee = rb.DP.from_ratio(ratio, delta=delta)
    return guarantee, answers, total, tuple(sorted(bent, reverse=True))


@dataclass(frozen=True)
class RoughGraph:
    """Edges as they come in files: loops, repeats, isolated nodes; a region for each node."""

    pairs: NDArray[np.uint32]
    region: NDArray[np.uint8]

    @property
    def regions(self) -> int:
        return int(self.region.max()) + 1

    def networkx(self) -> nx.Graph:
        graph = nx.empty_graph(len(self.region))
        graph.add_edges_from(self.pairs[self.pairs[:, 0] != self.pairs[:, 1]].tolist())
        return graph


@st.composite
def rough_graphs(draw: st.DrawFn) -> RoughGraph:
    """Random graphs, grids and hypercubes, with some edges left out and others repeated."""
    kind = draw(st.sampled_from(("random", "grid", "cube", "line")))
    if kind == "grid":
        base = nx.grid_2d_graph(draw(st.integers(1, 7)), draw(st.integers(1, 7)))
    elif kind == "cube":
        base = nx.hypercube_graph(draw(st.integers(1, 5)))
    elif kind == "line":
        base = nx.path_graph(draw(st.integers(1, 40)))
    else:
        size = draw(st.integers(1, 30))
        base = nx.gnm_random_graph(size, draw(st.integers(0, 3 * size)), seed=draw(st.integers(0)))
    graph = nx.convert_node_labels_to_integers(base)
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    size, pairs = len(graph), np.array(graph.edges, dtype=np.uint32).reshape(-1, 2)
    pairs = pairs[rng.random(len(pairs)) < draw(st.sampled_from((1.0, 0.9, 0.5)))]
    extra = rng.integers(0, size, (draw(st.integers(0, 3)), 1)).repeat(2, axis=1)  # loops
    pairs = np.concatenate([pairs, pairs[: draw(st.integers(0, 5)), ::-1], extra])
    names = rng.permutation(size).astype(np.uint32)
    sites = rng.integers(0, size, draw(st.integers(1, 4)))
    near = np.abs(np.arange(size)[:, None] - sites).argmin(axis=1)  # stretches of numbers
    region = np.empty(size, dtype=np.uint8)
    region[names] = np.unique(near, return_inverse=True)[1]
    return RoughGraph(names[rng.permutation(pairs)], region)


@st.composite
def margin_tables(draw: st.DrawFn) -> MarginTable:
    """Tiny margin tables with random positive rows, equal where a table must have them equal."""
    answers = draw(st.sampled_from([2, 3, 3, 4]))
    few, more = [(0,), (0, 2)], [(0, 1, 3), (0, 3)]
    knots = draw(st.sampled_from(few if answers == 4 else few + more))
    ties = draw(st.sampled_from(Ties))
    shape = Shape(
        answers,
        draw(st.sampled_from(["substituted", "added or removed"])),
        ties,
        knots,
        knots[-1] + draw(st.integers(1, 1 if answers == 4 else 3)),
        draw(st.sampled_from([Fraction(1, 2), Fraction(2, 3), Fraction(9, 10)])),
        0 if ties == "any leader" else draw(st.integers(0, len(knots) + 1)),
    )
    least = draw(st.sampled_from([1, 20]))
    return random_table(shape, draw(st.randoms(use_true_random=False)), least)


def random_table(shape: Shape, rng: Random, least: int) -> MarginTable:
    """Random positive rows, equal where a table must have them equal."""
    rows = []
    for state in shape.states:
        names: list[Any] = ["leader"]
        for place, knot in enumerate(state):
            shared = shape.ties == "any leader" and knot == 0
            names.append("leader" if shared else (knot, place if knot < shape.labeled else None))
        weights = {name: rng.randint(least, least + 12) for name in sorted(names, key=str)}
        rows.append([weights[name] for name in names])
    total = math.lcm(*map(sum, rows))
    scaled = (tuple(weight * (total // sum(row)) for weight in row) for row in rows)
    return MarginTable(shape, total, tuple(scaled))


_PIECES = (
    *(b"red", b"blue", "é".encode(), b"1", b"2,5", b"-7", b"nan", b"x" * 70),
    *(b",", b",", b";", b"\t", b"|", b'"', b'"', b'""', b'\\"', b"'", b" ", b"\\", b"#"),
    *(b"\r", b"\r\r", b"\0", b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe9"),
    *(b"\xef\xbb\xbf", "\u2028".encode(), b"\x1a", b"\x85", b"\x81"),
    *(b'{"choice": "red"}', b'{"choice":', b"{", b"}", b"[", b"null", b'"red"', b"\\ud800"),
)  # fmt: skip


def lines() -> st.SearchStrategy[bytes]:
    """One line of a text file: any bytes but a newline, most of them apt to mislead a reader."""
    pieces = st.lists(st.sampled_from(_PIECES), max_size=8).map(b"".join)
    return st.one_of(
        pieces,
        pieces,
        st.sampled_from([b"red", b"blue,1", b'1,"red",2', b'{"choice": "blue", "n": 2}']),
        st.binary(max_size=12).map(lambda line: line.replace(b"\n", b"")),
    )


@dataclass(frozen=True)
class Measured:
    """A graph with whole lengths: pairs, steps beside them, and a region for each node."""

    pairs: NDArray[np.int64]
    steps: NDArray[np.uint32]
    region: NDArray[np.uint8]

    @property
    def size(self) -> int:
        return len(self.region)


@st.composite
def measured_graphs(
    draw: st.DrawFn, *, longest: int = 9, zeros: bool = True, regions: int = 3
) -> Measured:
    """Up to nine nodes, loops and repeats included; one edge may be far longer than the others."""
    size = draw(st.integers(1, 9))
    node = st.integers(0, size - 1)
    length = st.integers(0 if zeros else 1, longest)
    edges = draw(st.lists(st.tuples(node, node, length), max_size=18))
    pairs = np.array([edge[:2] for edge in edges], dtype=np.int64).reshape(-1, 2)
    steps = np.array([edge[2] for edge in edges], dtype=np.uint32)
    marks = draw(st.lists(st.integers(0, regions - 1), min_size=size, max_size=size))
    order = list(dict.fromkeys(marks))  # numbered as a graph numbers them, by first appearance
    return Measured(pairs, steps, np.array([order.index(m) for m in marks], dtype=np.uint8))
