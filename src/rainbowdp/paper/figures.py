"""Every figure of the paper, with what it prints and what is right.

Where δ > 0 the paper's operator is not private (``docs/theory.md``, Erratum): those figures show
its curves, thin and gray, behind the right ones.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from rainbowdp import paper
from rainbowdp.aliases import Floats
from rainbowdp.guarantees.dp import DP
from rainbowdp.guarantees.growth import Coefficients, Line, advance
from rainbowdp.numeric.quantity import ball
from rainbowdp.plots.curves import along, growth, real_depths, smooth
from rainbowdp.plots.nodes import boundary_graph, graph
from rainbowdp.plots.style import INK, LARGE, SOFT, label_lines, line_looks, new_figure, plot_area

DEEPEST = {"0": 60, "0.001": 50, "0.01": 40}
_ROWS = (
    {1: 0.0, 2: 1.0, 3: 2.0, 4: 3.0, 5: 4.0},
    {6: 0.5, 7: 1.5, 8: 2.5, 9: 3.5},
    {10: 1.0, 11: 2.0, 12: 3.0, 13: 4.0, 14: 5.0},
    {15: 0.5, 16: 1.5, 17: 2.5, 18: 3.5},
)  # where Figure 1(A) has its datasets, in centimeters
_POSITIONS = {
    f"d{number}": (x, -float(y)) for y, row in enumerate(_ROWS) for number, x in row.items()
}


def figures() -> Mapping[str, Callable[[], Axes]]:
    """The figures by their number in the paper, each drawn when it is called."""
    drawn: dict[str, Callable[[], Axes]] = {
        "Fig. 1(A)": lambda: graph(
            paper.figure_one(),
            _POSITIONS,
            radius=0.25,
            title="A rainbow graph: 18 datasets, 6 rainbows",
        ),
        "Fig. 1(B)": lambda: boundary_graph(
            paper.figure_one(), title="Its boundary graph: one line of depths for each rainbow"
        ),
        "Fig. 2": _example_one,
    }
    for number, delta in enumerate(DEEPEST, 3):
        drawn[f"Fig. {number}"] = lambda delta=delta: numerical(delta)  # type: ignore[misc]
    return drawn


def _example_one() -> Axes:
    turns = {f"d{k + 1}": math.radians(126 - 72 * k) for k in range(5)}
    places = {name: (math.cos(turn), math.sin(turn)) for name, turn in turns.items()}
    title = "Example 1: a boundary without an optimum"
    return graph(paper.example_one(), places, radius=0.2, title=title)


def numerical(delta: str) -> Axes:
    """Figure 3, 4 or 5: the five probabilities by depth.

    With δ > 0 it also shows them as printed, and below by how much that is too high or too low.
    """
    promise = DP.from_ratio(paper.RATIO, delta=delta)
    words = f"$e^\\varepsilon$ = 1.2, δ = {delta}"
    if not Fraction(delta):
        ax = growth(promise, paper.BOUNDARY, DEEPEST[delta])
    else:
        ax, below = new_figure(6.4, 5.4).subplots(2, 1, sharex=True, height_ratios=(3, 1))
        growth(promise, paper.BOUNDARY, DEEPEST[delta], ax=ax)
        ax.set_xlabel("")
        _draw_printed(ax, below, promise, delta)
        words += ": right, and as printed (thin gray), which is not private"
    ax.set_title(words, loc="left", fontsize=LARGE, color=INK, pad=20)
    return ax


def _draw_printed(ax: Axes, below: Axes, promise: DP, delta: str) -> None:
    times = real_depths(DEEPEST[delta])
    sums = np.array([float(s) for s in itertools.accumulate(paper.BOUNDARY)])
    right = np.diff(smooth(promise, sums, times), axis=1, prepend=0.0)
    for number, values in enumerate(printed_curves(delta, times).T):
        name = f"{number + 1} as printed"
        ax.plot(times, values, color=SOFT, linewidth=0.9, label=name, zorder=4)
        looks = {**line_looks(number), "marker": None}
        below.plot(times, 100 * (values - right[:, number]), **looks, label=str(number + 1))
    plot_area(below, "depth: steps from the boundary", "printed − right,\nin points")
    low, high = below.get_ylim()
    below.set_ylim(1.1 * low, 1.1 * high)
    label_lines(below, below.get_lines())


def printed_curves(delta: str, times: Floats) -> Floats:
    """The probabilities that the paper's own operator gives at real depths."""
    lines = printed_lines(paper.RATIO, Fraction(delta))

    def iterate(starts: Floats, whole: Floats) -> Floats:
        s, depth = (a.copy() for a in np.broadcast_arrays(starts, whole))
        return np.minimum(advance(lines, s, 1.0 - s, depth)[0], 1.0)

    sums = np.array([float(s) for s in itertools.accumulate(paper.BOUNDARY)])
    return np.diff(along(lines, iterate, sums, times), axis=1, prepend=0.0)


def printed_lines(ratio: Fraction, delta: Fraction) -> tuple[Line, Line]:
    """The paper's operator as lines: growth up to 1/(e^ε + 1), then saturation."""

    def line(slope: Fraction, until: Fraction) -> Line:
        rise = delta if slope > 1 else 1 - slope + delta
        values: tuple[Any, ...] = (slope, rise, slope + rise - 1, until, 1 - until)
        return Line(lambda: Coefficients(*map(ball, values)))

    return line(ratio, 1 / (ratio + 1)), line(1 / ratio, Fraction(1))
