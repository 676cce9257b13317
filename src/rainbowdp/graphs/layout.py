"""Where to draw the datasets of a graph: the same graph always gives the same picture.

A layout minimizes *stress*, the sum over pairs of (distance on paper / distance in the graph − 1)²,
by majorization (Gansner, Koren and North, 2004). It starts from the plane that shows the distances
best and uses no randomness. Components are placed in rows, the tallest first.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from rainbowdp.aliases import Floats
from rainbowdp.graphs.graph import RainbowGraph

_ROUNDS = 150
_STILL = 1e-3  # of a step: a round that moves nothing further is the last
_SOLVED = 12  # iterations of a linear system, which starts near its solution
_APART = 0.8  # of a step: how near two datasets may be drawn
_BETWEEN = 1.5  # steps from one component to the next
_GOLDEN = math.pi * (3 - math.sqrt(5))  # turns by it never meet


def layout(graph: RainbowGraph) -> Floats:
    """A position (x, y) for each dataset in order, neighbors about 1 apart.

    >>> layout(RainbowGraph([("a", "b")], {"a": ("yes", "no"), "b": ("no", "yes")})).round(6)
    array([[0., 0.],
           [1., 0.]])
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components, shortest_path

    size = len(graph)
    first, second = graph.edge_positions().T
    links = csr_array((np.ones(len(first)), (first, second)), shape=(size, size))
    count, component = connected_components(links, directed=False)
    steps = shortest_path(links, directed=False, unweighted=True)
    members = [np.flatnonzero(component == number) for number in range(count)]
    parts = [_turned(_parted(_least_stress(steps[np.ix_(part, part)]))) for part in members]
    places = np.empty((size, 2))
    for part, corner, drawn in zip(members, _corners(parts), parts, strict=True):
        places[part] = drawn + corner
    return places


def _least_stress(steps: Floats) -> Floats:
    """Positions of low stress: each round solves two linear systems and never raises it."""
    from scipy.sparse.linalg import cg

    if len(steps) == 1:
        return np.zeros((1, 2))
    places = _principal(steps)
    weights = (steps + np.eye(len(steps))) ** -2.0 - np.eye(len(steps))
    laplacian = np.diag(weights.sum(axis=1)) - weights
    for _ in range(_ROUNDS):
        aims = _along(weights * steps / _lengths(places), places)
        # By iteration from where we are: LAPACK's threads may take seconds to factor a Laplacian.
        pairs = zip(aims.T, places.T, strict=True)
        moved = np.stack([cg(laplacian, *pair, maxiter=_SOLVED)[0] for pair in pairs], axis=1)
        still = np.abs(moved - places).max() < _STILL
        places = moved
        if still:
            break
    return places


def _principal(steps: Floats) -> Floats:
    """The two leading principal coordinates, nearly: iterated, since LAPACK may take seconds."""
    squares = steps**2
    across = squares.mean(axis=0)
    products = (across + across[:, None] - squares - across.mean()) / 2
    turn = _GOLDEN * np.arange(len(steps))
    spiral = np.stack([np.cos(turn), np.sin(turn)], axis=1)
    plane = spiral
    for _ in range(60):
        plane = np.linalg.qr(products @ plane)[0]
    stretch = np.sqrt(np.maximum(((products @ plane) * plane).sum(axis=0), 0.0))
    # Twins would stay on top of each other for ever; a spiral too small to see parts them.
    found: Floats = plane * stretch + 1e-3 * spiral
    return found


def _parted(places: Floats) -> Floats:
    """The positions with any two that are too close pushed apart."""
    for _ in range(60):
        lengths = _lengths(places)
        push = np.maximum(_APART - lengths, 0.0) / lengths
        np.fill_diagonal(push, 0.0)
        if not push.any():
            break
        places = places + 0.3 * _along(push, places)
    return places


def _lengths(places: Floats) -> Floats:
    """The distance between every two positions, never quite 0."""
    from scipy.spatial.distance import cdist

    return np.maximum(cdist(places, places), 1e-9)


def _along(forces: Floats, places: Floats) -> Floats:
    """Σ_j force_ij · (place_i − place_j) for each i."""
    found: Floats = forces.sum(axis=1, keepdims=True) * places - forces @ places
    return found


def _turned(places: Floats) -> Floats:
    """Rotated into the smallest upright box, its longer side across and its corner at (0, 0).

    Of the four mirror images, the one with the first datasets at the left and at the top.
    """
    centered = places - places.mean(axis=0)
    _, axes = np.linalg.eigh(centered.T @ centered)
    upright = centered @ axes[:, ::-1]  # the widest way across, to begin with

    def turned(degrees: float) -> Floats:
        c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
        return np.asarray(upright @ np.array([[c, -s], [s, c]]))

    def size(degrees: float) -> tuple[float, float]:
        return round(float(np.prod(np.ptp(turned(degrees), axis=0))), 6), abs(degrees)

    best = turned(min(np.arange(-45.0, 45.5, 0.5).tolist(), key=size))
    best = best if np.ptp(best[:, 0]) >= np.ptp(best[:, 1]) else best[:, ::-1]
    first = (2 * np.abs(best) > np.abs(best).max(axis=0)).argmax(axis=0)  # clearly off the middle
    mirrored = best * np.where(best[first, [0, 1]] < 0, 1, -1) * [1, -1]
    return np.asarray(mirrored - mirrored.min(axis=0))


def _corners(parts: Sequence[Floats]) -> Floats:
    """Where the corner (0, 0) of each part goes: in rows about twice as wide as all are high."""
    boxes = np.array([np.ptp(part, axis=0) for part in parts]).round(6)
    wide = max(boxes[:, 0].max(), math.sqrt(2 * (boxes + _BETWEEN).prod(axis=1).sum()))
    corners = np.empty_like(boxes)
    left = top = tall = 0.0
    for number in np.argsort(-boxes[:, 1], kind="stable"):
        width, height = boxes[number]
        if left + width > wide:
            left, top = 0.0, top - tall - _BETWEEN
        tall = tall if left else height
        corners[number] = left, top - (tall + height) / 2
        left += width + _BETWEEN
    return corners
