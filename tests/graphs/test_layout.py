"""Layouts: distances, nothing on top of anything else, and the same picture every time."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

import rainbowdp as rb
import strategies as our
from rainbowdp.graphs.layout import layout
from rainbowdp.studio.examples import road_map
from rainbowdp.studio.worlds import spread

Edges = list[tuple[int, int]]


def graph(edges: Edges, size: int) -> rb.RainbowGraph:
    return rb.RainbowGraph(edges, [("yes", "no")] * size)


def path(length: int, start: int = 0) -> Edges:
    return [(i, i + 1) for i in range(start, start + length)]


def cycle(size: int) -> Edges:
    return [(i, (i + 1) % size) for i in range(size)]


def least_gap(places: Any) -> float:
    return min(float(np.linalg.norm(a - b)) for a, b in itertools.combinations(places, 2))


@pytest.mark.parametrize("length", [1, 5, 60])
def test_a_path_is_a_line_from_its_first_dataset(length: int) -> None:
    places = layout(graph(path(length), length + 1))
    across = np.arange(length + 1)
    apart = np.linalg.norm(places[:, None] - places, axis=2)
    assert apart == pytest.approx(np.abs(across[:, None] - across), rel=0.05, abs=1e-9)
    assert (np.diff(places[:, 0]) > 0).all()


@pytest.mark.parametrize("size", [4, 7, 20])
def test_a_cycle_is_round(size: int) -> None:
    places = layout(graph(cycle(size), size))
    away = np.linalg.norm(places - places.mean(axis=0), axis=1)
    assert away == pytest.approx(np.full(size, away.mean()), rel=0.02)


@settings(deadline=None)  # the first layout loads SciPy
@given(our.graphs(most=10))
def test_no_two_datasets_lie_on_each_other(world: rb.RainbowGraph) -> None:
    places = layout(world)
    assert len(places) < 2 or least_gap(places) > 0.5


def test_twins_are_parted() -> None:
    edges = [(hub, leaf) for hub in (0, 1) for leaf in range(2, 9)]
    assert least_gap(layout(graph(edges, 9))) > 0.5


def test_components_stand_in_rows_clear_of_each_other() -> None:
    """A square grid, a cycle, two paths and a dataset alone, none in the box of another."""
    grid = [(7 * i + j, 7 * i + j + step) for i in range(6) for j in range(6) for step in (1, 7)]
    parts = [grid, cycle(9), path(5), path(2)]
    edges, ends = [], [0]
    for part in parts:
        edges += [(a + ends[-1], b + ends[-1]) for a, b in part]
        ends.append(ends[-1] + 1 + max(itertools.chain(*part)))
    size = ends[-1] + 1
    places = layout(graph(edges, size))
    boxes = [
        (places[a:b].min(axis=0), places[a:b].max(axis=0))
        for a, b in itertools.pairwise([*ends, size])
    ]
    for (low, high), (left, right) in itertools.combinations(boxes, 2):
        assert (np.maximum(low, left) - np.minimum(high, right)).max() > 1
    wide, high = np.ptp(places, axis=0)
    assert 0.8 < wide / high < 3


@pytest.mark.slow
def test_a_page_takes_any_graph_and_draws_it_the_same_every_time() -> None:
    known = road_map()
    assert (spread(known) == spread(road_map())).all()
    for world in (known, graph([], 1), graph(path(1), 2), graph([(0, 1), (2, 3)], 4)):
        places = spread(world)
        assert np.abs(places).max() <= 1
        assert len({tuple(place) for place in places.tolist()}) == len(places)


def test_a_map_is_untangled() -> None:
    """Hardly two roads cross, and none is much longer than the others."""
    known = road_map()
    places = layout(known)
    first, second = (places[ends] for ends in known.edge_positions().T)
    lengths = np.linalg.norm(first - second, axis=1)
    assert lengths.max() < 2 * np.median(lengths)

    def left_of(one: Any, other: Any, point: Any) -> Any:
        (dx, dy), (px, py) = np.moveaxis(other - one, -1, 0), np.moveaxis(point - one, -1, 0)
        return dx * py - dy * px

    a, b, c, d = first[:, None], second[:, None], first[None], second[None]
    parts_cd = left_of(a, b, c) * left_of(a, b, d) < 0
    parts_ab = left_of(c, d, a) * left_of(c, d, b) < 0
    assert (parts_ab & parts_cd).sum() / 2 < 0.01 * len(first)
