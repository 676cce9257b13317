"""Rainbow graphs: a disc for each dataset, with a band for each answer, most preferred on top.

The area of a band is the share of its answer: falling steps where only the order matters, the
probability where a mechanism is given. Lines inside a region are solid, between regions dotted.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.path import Path
from numpy.typing import NDArray

from rainbowdp.aliases import Dataset, Floats
from rainbowdp.display.colors import colors
from rainbowdp.errors import RainbowError
from rainbowdp.graphs.graph import RainbowGraph
from rainbowdp.mechanisms.mechanism import Mechanism
from rainbowdp.plots.places import placed, ring_order
from rainbowdp.plots.style import (
    INK,
    SMALL,
    SOFT,
    Positions,
    axes,
    drawing_area,
    extent,
    halo,
)

MOST_LABELS = 40
_WORDS = 34.0  # points that a label such as “depth 12” takes, before the axes are stretched
_SHOWN_DEPTHS = 5  # of a longer line the first few and the last are drawn
_HEIGHTS = np.linspace(1.0, -1.0, 2001)
_AREA_ABOVE = (np.arccos(_HEIGHTS) - _HEIGHTS * np.sqrt(1 - _HEIGHTS**2)) / math.pi


def graph(
    world: RainbowGraph | Mechanism,
    positions: Any = None,
    *,
    labels: bool | None = None,
    key: bool = True,
    radius: float | None = None,
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw a rainbow graph, or a mechanism on it.

    Parameters
    ----------
    world
        A rainbow graph, or a mechanism on one.
    positions
        An (n, 2) array, or a mapping from dataset to (x, y). By default up to 2,000 datasets are
        laid out so that distances on paper match distances in the graph.
    labels
        Write the names of the datasets; by default if there are at most 40.
    key
        Add the colors of the answers.
    radius
        The radius of a disc in units of the drawing; by default a third of the least gap.
    title
        The title of the figure.
    ax
        The axes to draw on; by default those of a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        The axes.

    """
    mechanism = world if isinstance(world, Mechanism) else None
    known = mechanism.graph if mechanism is not None else _graph(world)
    places = placed(known, positions)
    size = radius if radius is not None else 0.34 * _least_gap(places)
    area = axes(ax, 6.0, 4.4)
    edges = known.edge_positions()
    inside = known.region_numbers[edges[:, 0]] == known.region_numbers[edges[:, 1]]
    draw_edges(area, places, edges, inside)
    draw_discs(area, known, places, size, _shares(known, mechanism))
    if labels if labels is not None else len(known) <= MOST_LABELS:
        _name_datasets(area, known, places, edges, size)
    drawing_area(area, places, 2.4 * size, title)
    if key:
        draw_key(area, known)
    return area


def boundary_graph(
    world: RainbowGraph | Mechanism,
    *,
    key: bool = True,
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw one line of depths for each region, its head on a circle where regions touch.

    Each disc is labeled with its depth and, if they are few, the datasets it stands for. Long lines
    are shortened in the middle; regions without a boundary stand apart, at depth ∞.

    Parameters
    ----------
    world
        A rainbow graph, or a mechanism on one whose rows depend on region and depth alone.
    key
        Add the colors of the answers.
    title
        The title of the figure.
    ax
        The axes to draw on; by default those of a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        The axes.

    """
    mechanism = world if isinstance(world, Mechanism) else None
    known = mechanism.graph if mechanism is not None else _graph(world)
    lines = known.boundary_graph()
    places, outward, shown = _sun(known, lines)
    area = axes(ax, 6.0, 5.2)
    edges = lines.edge_positions()
    heads = lines.region_numbers[edges[:, 0]] != lines.region_numbers[edges[:, 1]]
    edges, heads = _shortened(edges, heads, lines, shown)
    draw_edges(area, places, edges, ~heads)
    if mechanism is not None and mechanism.rows.graph.datasets != lines.datasets:
        raise RainbowError(
            "a mechanism is drawn on the boundary graph only if depth decides its rows, "
            "got another one; draw it with plots.graph"
        )
    shares = _shares(lines, mechanism.rows if mechanism is not None else None)
    kept = np.flatnonzero(shown)
    draw_discs(area, lines, places, 0.3, shares, kept)
    drawing_area(area, places[kept], 1.15, title)
    roomy = 1.15 * _points_per_unit(area) > _WORDS
    members = _members(known) if roomy else {}
    for place in kept:
        label, depth = lines.datasets[int(place)]
        words = "∞" if math.isinf(depth) else str(depth)
        if roomy:
            words = f"depth {words}"
        here = members.get((label, depth), ())
        if here:
            words = f"{', '.join(map(str, here))}\n{words}"
        side = _beside(outward[place])
        spot = places[place] + side * 0.36 + 0.2 * outward[place] * (depth == 0)
        text = area.text(
            spot[0],
            spot[1],
            words,
            fontsize=SMALL,
            color=INK,
            ha=_aligned(side[0], "right", "left"),
            va=_aligned(side[1], "top", "bottom"),
            linespacing=1.15,
            zorder=2,
        )
        halo(text)
    if key:
        draw_key(area, known, "" if roomy else "numbers are depths")
    return area


def draw_edges(
    ax: Axes, places: Positions, edges: NDArray[np.int64], inside: NDArray[np.bool_]
) -> None:
    """Solid lines inside regions, dotted ones between them."""
    for chosen, style, color in ((inside, "solid", SOFT), (~inside, (0, (1.2, 1.6)), INK)):
        ax.add_collection(
            LineCollection(
                list(places[edges[chosen]]),
                linewidths=0.9,
                linestyles=style,
                colors=color,
                zorder=1,
            )
        )


def draw_discs(
    ax: Axes,
    known: RainbowGraph,
    places: Positions,
    radius: float,
    shares: Floats,
    chosen: NDArray[np.int64] | None = None,
) -> None:
    """Discs at the chosen places, the k-th band in the color of the k-th choice."""
    picked = np.arange(len(places)) if chosen is None else chosen
    palette = colors(known.answers)
    tints = np.array([[palette[a] for a in r.rainbow] for r in known.regions.values()])
    above = np.clip(np.cumsum(shares[picked], axis=1), 0.0, 1.0)
    ends = np.interp(above, _AREA_ABOVE, _HEIGHTS)
    starts = np.concatenate([np.ones((len(picked), 1)), ends[:, :-1]], axis=1)
    ends[:, -1] = -1.0
    for band in range(ends.shape[1]):
        outline = _band(starts[:, band], ends[:, band]) * radius + places[picked, None, :]
        faces = tints[known.region_numbers[picked], band]
        ax.add_collection(
            _curved(
                outline,
                facecolors=list(faces),
                edgecolors=list(faces),
                linewidths=0.2,
                zorder=3,
            )
        )
    rim = _band(np.ones(len(picked)), -np.ones(len(picked))) * radius + places[picked, None, :]
    ax.add_collection(_curved(rim, facecolors="none", edgecolors=INK, linewidths=0.7, zorder=4))


def draw_key(ax: Axes, known: RainbowGraph, note: str = "") -> None:
    """The answers and their colors, under the drawing."""
    from matplotlib.patches import Patch

    palette = colors(known.answers)
    ax.legend(
        handles=[Patch(facecolor=palette[a], edgecolor=INK, lw=0.5, label=str(a)) for a in palette],
        loc="upper center",
        bbox_to_anchor=(0.5, 0.0),
        ncols=min(len(palette), 6),
        frameon=False,
        fontsize=SMALL,
        labelcolor=INK,
        handlelength=0.9,
        handleheight=0.9,
        columnspacing=1.4,
        handletextpad=0.5,
        title=note or None,
        title_fontsize=SMALL,
    )


def _graph(world: Any) -> RainbowGraph:
    if isinstance(world, RainbowGraph):
        return world
    raise RainbowError(f"this draws a rainbow graph or a mechanism on one, got {world!r}")


def _shares(known: RainbowGraph, mechanism: Mechanism | None) -> Floats:
    """The share of each place of the rainbow, for every dataset."""
    answers = len(known.answers)
    if mechanism is None:
        falling = np.arange(answers, 0, -1, dtype=np.float64) + 0.5 * (answers > 1)
        return np.tile(falling / falling.sum(), (len(known), 1))
    return np.array([list(mechanism[dataset].values()) for dataset in known.datasets])


def _band(top: Floats, bottom: Floats) -> Floats:
    """The part of the unit disc between two heights: corners and control points of ``_CURVES``."""
    high, low = np.arcsin(top), np.arcsin(bottom)
    middle = (high + low) / 2
    reach = 4 / 3 * np.tan((high - low) / 8)  # of the control points, for half the arc

    def at(angle: Floats, ahead: Floats | float = 0.0) -> Floats:
        x, y = np.cos(angle), np.sin(angle)
        return np.stack([x + ahead * y, y - ahead * x], axis=-1)  # ahead along the way down

    right = [at(high), at(high, reach), at(middle, -reach), at(middle)]
    right += [at(middle, reach), at(low, -reach), at(low)]
    left = [point * np.array([-1.0, 1.0]) for point in reversed(right)]
    return np.stack([*right, *left, right[0]], axis=1)


_CURVES = [Path.MOVETO, *[Path.CURVE4] * 6, Path.LINETO, *[Path.CURVE4] * 6, Path.CLOSEPOLY]


def _curved(outlines: Floats, **looks: Any) -> PolyCollection:
    """Outlines from ``_band`` as a collection."""
    drawn = PolyCollection([], **looks)
    codes: Any = [_CURVES] * len(outlines)
    drawn.set_verts_and_codes(list(outlines), codes)
    return drawn


def _least_gap(places: Positions) -> float:
    """The distance between the two nearest places, or 1."""
    if len(places) < 2:
        return 1.0
    from scipy.spatial import KDTree

    distances, _ = KDTree(places).query(places, k=2)
    gap = float(np.asarray(distances)[:, 1].min())
    return gap if gap > 0 else 1.0


def _name_datasets(
    ax: Axes, known: RainbowGraph, places: Positions, edges: NDArray[np.int64], radius: float
) -> None:
    """Each dataset's name on that side of its disc where most room is left by lines and discs."""
    turns = np.deg2rad(np.arange(0, 360, 15) + 90.0)
    ways = np.stack([np.cos(turns), np.sin(turns)], axis=1)
    ends = np.concatenate([edges, edges[:, ::-1]])
    named: list[Floats] = []
    for place, dataset in enumerate(known.datasets):
        spots = places[place] + ways * 1.9 * radius
        gaps = np.linalg.norm(spots[:, None] - np.delete(places, place, axis=0)[None], axis=-1)
        room = np.minimum(gaps.min(axis=1, initial=9 * radius) - radius, 2.5 * radius)
        lines = _distance_to_lines(spots, places[ends[:, 0]], places[ends[:, 1]])
        room = np.minimum(room, lines.min(axis=1, initial=9 * radius) * 1.6)
        for other in named:
            gap = np.linalg.norm(spots - other, axis=1)
            room = np.where(gap < 1.6 * radius, np.minimum(room, gap - 0.8 * radius), room)
        best = int(np.argmax(np.round(4 * room / radius)))  # of equals the first, from above
        way = ways[best]
        named.append(spots[best])
        spot = places[place] + way * 1.22 * radius
        text = ax.text(
            spot[0],
            spot[1],
            str(dataset),
            fontsize=SMALL,
            color=INK,
            ha=_aligned(way[0], "right", "left"),
            va=_aligned(way[1], "top", "bottom"),
            zorder=2,
        )
        halo(text)


def _distance_to_lines(spots: Positions, start: Positions, end: Positions) -> Floats:
    """From each spot to each line segment."""
    way = end - start
    length = np.maximum((way**2).sum(axis=1), 1e-300)
    along = ((spots[:, None] - start[None]) * way[None]).sum(axis=-1) / length
    foot = start[None] + np.clip(along, 0, 1)[..., None] * way[None]
    return np.asarray(np.linalg.norm(spots[:, None] - foot, axis=-1))


def _sun(
    known: RainbowGraph, lines: RainbowGraph
) -> tuple[Positions, Positions, NDArray[np.bool_]]:
    """Heads on a circle, tails outward, regions without boundary in a row below; who is shown."""
    labels = list(known.regions)
    number = {label: place for place, label in enumerate(labels)}
    headed = [n for n, region in enumerate(known.regions.values()) if region.deepest is not None]
    seat = {n: place for place, n in enumerate(headed)}
    pairs = [(seat[number[a]], seat[number[b]]) for a, b in known.touching]
    around = [headed[place] for place in ring_order(len(headed), pairs)]
    turn = {n: math.pi - 2 * math.pi * k / len(around) for k, n in enumerate(around)}
    inner = max(1.1, 1.9 * len(around) / (2 * math.pi))
    places, outward = np.zeros((len(lines), 2)), np.zeros((len(lines), 2))
    shown = np.ones(len(lines), dtype=np.bool_)
    lone: list[int] = []
    for place, (label, depth) in enumerate(lines.datasets):
        if math.isinf(depth):
            outward[place] = (0.0, -1.0)
            lone.append(place)
            continue
        deepest = known.regions[label].deepest
        assert deepest is not None
        if deepest > _SHOWN_DEPTHS:
            shown[place] = depth < _SHOWN_DEPTHS - 1 or depth == deepest
            depth = _SHOWN_DEPTHS if depth == deepest else depth
        angle = turn[number[label]]
        outward[place] = (math.cos(angle), math.sin(angle))
        places[place] = (inner + 1.15 * depth) * outward[place]
    seen = [place for place in np.flatnonzero(shown) if place not in lone]
    left, bottom = places[seen].min(axis=0) if seen else (0.0, 1.4)
    for column, place in enumerate(lone):
        places[place] = left + 2.0 * column, bottom - 1.4
    return places, outward, shown


def _shortened(
    edges: NDArray[np.int64],
    heads: NDArray[np.bool_],
    lines: RainbowGraph,
    shown: NDArray[np.bool_],
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The lines between shown discs, with one across each gap."""
    kept = shown[edges].all(axis=1)
    order = np.flatnonzero(shown)
    gaps = [
        (a, b)
        for a, b in itertools.pairwise(order)
        if b - a > 1 and lines.region_numbers[a] == lines.region_numbers[b]
    ]
    across = np.array(gaps, dtype=np.int64).reshape(-1, 2)
    return (
        np.concatenate([edges[kept], across]),
        np.concatenate([heads[kept], np.ones(len(across), dtype=np.bool_)]),
    )


def _points_per_unit(ax: Axes) -> float:
    """How large one unit of the drawing is on paper, about."""
    (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
    return float(min(extent(ax) / (right - left, top - bottom)))


def _members(known: RainbowGraph) -> dict[tuple[Any, float], Sequence[Dataset]]:
    """The datasets of each region and depth, where they can be named in a few words."""
    if len(known) > MOST_LABELS:
        return {}
    found: dict[tuple[Any, float], list[Dataset]] = {}
    for dataset in known.datasets:
        found.setdefault((known.region[dataset], known.depth[dataset]), []).append(dataset)
    return {place: here for place, here in found.items() if len(here) <= 3}


def _beside(outward: Floats) -> Floats:
    """The side on which the labels of a line stand: beside a steep one, above or below a flat."""
    if abs(outward[0]) < 0.6:
        return np.array([-1.0 if outward[0] < -1e-9 else 1.0, 0.0])
    return np.array([0.0, 1.0 if outward[1] > -0.3 else -1.0])


def _aligned(way: float, before: str, after: str) -> Any:
    if abs(way) < 0.4:
        return "center"
    return after if way > 0 else before
