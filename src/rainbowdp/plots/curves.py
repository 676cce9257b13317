"""How the probabilities of the answers grow with depth.

Only whole depths exist. Between them the curves follow the closed form with a real exponent:
along a line φ(s) = slope·s + rise a fraction f of a step takes s to
slope^f·s + rise·(slope^f − 1)/(slope − 1), at most 1, and under Gaussian DP to Φ(Φ⁻¹(s) + f·μ).
Whole steps come out as they are, and n steps and then f are n + f.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from matplotlib.axes import Axes

from rainbowdp.aliases import Floats
from rainbowdp.display.colors import colors
from rainbowdp.errors import RainbowError
from rainbowdp.guarantees.curve import TradeOffCurve, curve_of
from rainbowdp.guarantees.growth import Line, Orbit
from rainbowdp.guarantees.piecewise import PiecewiseLinear
from rainbowdp.numeric.quantity import exact_distribution
from rainbowdp.plots.style import (
    HAIR,
    INK,
    PAPER,
    SEEN,
    SMALL,
    SOFT,
    axes,
    darker,
    label_lines,
    line_looks,
    plot_area,
    spread,
)

Iterate: TypeAlias = Callable[[Floats, Floats], Floats]  # prefix sums and whole depths, grown

MOST_DOTS = 60
_DEEPEST = 200
_SURE = 0.995


def growth(
    guarantee: TradeOffCurve,
    row: Mapping[Any, Any] | Sequence[Any],
    depth: int | None = None,
    *,
    sums: bool = False,
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the best distribution at every depth, from ``row`` on the boundary.

    Dots mark whole depths; rings and τ mark the phase changes, the first depth at which a prefix
    sum exceeds θ and saturation begins. Gaussian DP has none.

    Parameters
    ----------
    guarantee
        What is promised between neighbors.
    row
        A mapping {answer: probability}, or a sequence, whose answers are then called 1, 2, …; in
        preference order.
    depth
        The largest depth to draw; by default far enough to see the end.
    sums
        Draw the prefix sums, which are what grows, instead of the probabilities.
    title
        The title of the figure.
    ax
        The axes to draw on; by default those of a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        The axes.

    """
    guarantee = curve_of(guarantee, "growth")
    if not isinstance(row, Mapping):
        row = {str(number): p for number, p in enumerate(row, 1)}
    exact = exact_distribution(list(row.values()))
    starts = np.array([float(s) for s in itertools.accumulate(exact)])
    deepest = depth if depth is not None else _deep_enough(guarantee, starts)
    if not isinstance(deepest, int | np.integer) or deepest < 1:
        raise RainbowError(f"depth must be a whole number from 1, got depth={depth!r}")
    area = axes(ax, 6.4, 4.0)
    times = real_depths(deepest)
    curves = smooth(guarantee, starts, times)
    drawn = draw_growth(area, times, curves, list(row), sums=sums)
    across = "depth: steps from the boundary"
    up = "probability of the first k answers" if sums else "probability of each answer"
    plot_area(area, across, up, title)
    area.set_xlim(0, deepest)
    area.set_ylim(0, 1.02)
    marks = _mark_changes(area, phase_changes(guarantee, exact), times, curves, list(row), sums)
    label_lines(area, drawn, marks)
    return area


def real_depths(deepest: int) -> Floats:
    """Every whole depth and enough between: whole ones are every tenth."""
    fine = 10 if deepest <= _DEEPEST else 1
    return np.arange(deepest * fine + 1) / fine


def smooth(guarantee: TradeOffCurve, starts: Floats, depths: Floats) -> Floats:
    """The prefix sums at real depths, one column for each start."""
    if isinstance(guarantee, PiecewiseLinear):
        return along(guarantee.lines, guarantee.grow, starts, depths)
    level = np.broadcast_to(starts, (len(depths), len(starts))).copy()
    return guarantee._advance(level, 1.0 - level, np.broadcast_to(depths[:, None], level.shape))[0]


def along(lines: Sequence[Line], iterate: Iterate, starts: Floats, depths: Floats) -> Floats:
    """The same for an operator made of lines, given its whole steps."""
    whole = np.floor(depths)
    reached = np.asarray(iterate(starts[None, :], whole[:, None]))
    share = np.broadcast_to((depths - whole)[:, None], reached.shape)
    moving = [line for line in lines if line.slope > 0]
    if not moving:  # certain after one step
        return reached + share * (1.0 - reached)
    between = moving[-1].climb(reached, share)  # past its end φ is 1, and so is this at most
    for line in reversed(moving[:-1]):
        between = np.where(reached <= line.until, line.climb(reached, share), between)
    return np.where(share == 0, reached, np.minimum(between, 1.0))


def phase_changes(guarantee: TradeOffCurve, row: Sequence[Any]) -> list[tuple[int, int]]:
    """(k, τ) for each prefix of k answers: the depths at which it changes from line to line."""
    if not isinstance(guarantee, PiecewiseLinear):
        return []
    lines, found = guarantee.lines, []
    for count, s in enumerate(itertools.accumulate(row[:-1]), 1):
        for before, leg in itertools.pairwise(Orbit(lines, s).legs):
            # The clip at 1 ends a saturation that has begun; from growth it is the change itself.
            if lines[leg.line].slope > 0 or lines[before.line].slope > 1:
                found.append((count, leg.start))
    return found


def draw_growth(
    ax: Axes, times: Floats, curves: Floats, names: Sequence[Any], *, sums: bool
) -> list[Any]:
    """A line for each answer, with a dot at every whole depth."""
    values = curves if sums else np.diff(curves, axis=1, prepend=0.0)
    palette = list(colors(names).values())
    fine = len(times) // max(int(times[-1]), 1)
    drawn = []
    for number, name in enumerate(names[: len(names) - sums]):
        label = f"first {number + 1}" if sums and number else str(name)
        (line,) = ax.plot(
            times,
            values[:, number],
            **line_looks(number, palette[number]),
            markevery=max(fine, 1),
            markersize=2.6 if times[-1] <= MOST_DOTS else 0.0,
            markeredgewidth=0,
            label=label,
            zorder=3,
        )
        drawn.append(line)
    return drawn


def _mark_changes(
    ax: Axes,
    changes: Sequence[tuple[int, int]],
    times: Floats,
    curves: Floats,
    names: Sequence[Any],
    sums: bool,
) -> list[tuple[float, float]]:
    """A ring on the curve at each phase change, a hair line up, and its τ above the axes."""
    shown = [(k, tau) for k, tau in changes if tau <= times[-1]]
    if not shown:
        return []
    marks = []
    values = curves if sums else np.diff(curves, axis=1, prepend=0.0)
    palette = list(colors(names).values())
    fine = len(times) // max(int(times[-1]), 1)
    wide = float(times[-1])
    spots = spread([tau for _, tau in shown], 0.085 * wide, 0.01 * wide, 0.98 * wide)
    for (k, tau), spot in zip(shown, spots, strict=True):
        height = float(values[tau * fine, k - 1])
        marks.append((float(tau), height))
        ax.plot(
            [tau], [height], marker="o", markersize=6.5, color=darker(palette[k - 1], SEEN),
            markerfacecolor=PAPER, markeredgewidth=1.4, linestyle="none", label=f"τ{k}", zorder=5,
        )  # fmt: skip
        ax.plot(
            [tau, tau], [height, 1.0], color=SOFT, linewidth=0.6, linestyle=(0, (1, 2)), zorder=2,
        )  # fmt: skip
        ax.annotate(
            f"τ{_below(k)} = {tau}",
            (tau, 1.0),
            xytext=(spot, 1.045),
            textcoords=ax.transData,
            fontsize=SMALL,
            color=INK,
            ha="center",
            va="bottom",
            arrowprops=HAIR,
            annotation_clip=False,
        )
    return marks


def _below(number: int) -> str:
    return str(number).translate(str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉"))


def _deep_enough(guarantee: TradeOffCurve, starts: Floats) -> int:
    """The depth at which the first answer is almost certain, 200 at most."""
    depths = np.arange(1, _DEEPEST + 1)
    sure = np.asarray(guarantee.grow(starts[0], depths)) >= _SURE
    return max(3, int(depths[sure.argmax()]) if sure.any() else _DEEPEST)
