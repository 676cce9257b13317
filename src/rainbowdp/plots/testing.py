"""Telling neighbors apart: trade-off curves of guarantees and of pairs of rows.

Whoever guesses which of two datasets an answer came from raises false alarms at some rate and
misses at another. A guarantee is the least rate of misses for each rate of false alarms.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from rainbowdp.aliases import Floats
from rainbowdp.baselines import Baseline
from rainbowdp.display.colors import BLUE, ORANGE
from rainbowdp.errors import RainbowError
from rainbowdp.guarantees.curve import TradeOffCurve, curve_of
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.guarantees.piecewise import PiecewiseLinear
from rainbowdp.mechanisms.mechanism import Mechanism
from rainbowdp.plots.style import DASHES, SMALL, SOFT, axes, line_looks, plot_area


def trade_off(
    guarantees: TradeOffCurve | Sequence[TradeOffCurve],
    *,
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the trade-off curve of one guarantee or of several.

    The diagonal is pure guessing; the nearer a curve is to it, the stronger the promise.

    Parameters
    ----------
    guarantees
        One or more guarantees.
    title
        The title of the figure.
    ax
        The axes to draw on; by default those of a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        The axes.

    """
    if isinstance(guarantees, Guarantee):
        guarantees = [curve_of(guarantees, "trade_off")]
    listed = list(guarantees)
    if not listed or not all(isinstance(g, TradeOffCurve) for g in listed):
        raise RainbowError(f"a trade-off curve needs guarantees such as DP(1), got {guarantees!r}")
    area = axes(ax, 4.4, 4.4)
    _guessing(area)
    for number, guarantee in enumerate(listed):
        level, missed = curve(guarantee)
        area.plot(
            level,
            missed,
            **{**line_looks(number), "marker": None},
            label=str(guarantee),
        )
    _square(area, title)
    return area


def worst_pair(
    mechanism: Mechanism | Baseline,
    guarantee: TradeOffCurve | None = None,
    *,
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the two neighbors that are easiest to tell apart, beside what the guarantee allows.

    Of all neighboring rows, these are the ones whose curve comes nearest to the guarantee's or
    falls deepest below it; among equals, those that differ most. A curve that dips below breaks the
    guarantee.

    Parameters
    ----------
    mechanism
        A mechanism on a graph.
    guarantee
        What to compare with; by default what the mechanism promises.
    title
        The title of the figure.
    ax
        The axes to draw on; by default those of a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        The axes.

    """
    rows: Any = mechanism.mechanism if isinstance(mechanism, Baseline) else mechanism
    if not isinstance(rows, Mechanism):
        raise RainbowError("worst_pair draws a mechanism on a graph, got one for a question")
    promise = guarantee if guarantee is not None else rows.guarantee
    if promise is None:
        raise RainbowError("this mechanism has no guarantee; pass one to worst_pair")
    promise = curve_of(promise, "worst_pair")
    first, second, slack = _easiest(rows, promise)
    level, missed = polygon(rows.table[first], rows.table[second])
    area = axes(ax, 4.4, 4.4)
    _guessing(area)
    allowed_at, allowed = curve(promise)
    area.plot(
        allowed_at, allowed, color=ORANGE, linestyle=DASHES[1], linewidth=1.6, label=str(promise)
    )
    area.fill_between(allowed_at, 0, allowed, color=ORANGE, alpha=0.1, linewidth=0)
    ends = rows.graph.edge_between(rows.index == first, rows.index == second)
    here, there = (rows.graph.datasets[end] for end in ends)
    area.plot(
        level,
        missed,
        color=BLUE,
        linewidth=1.6,
        marker="o",
        markersize=4,
        label=f"{here} – {there}",
    )
    words = f"{-slack:.3g} below" if slack < -1e-9 else "not below"
    _square(area, title if title is not None else f"The worst pair is {words} what is allowed")
    return area


def curve(guarantee: TradeOffCurve) -> tuple[Floats, Floats]:
    """The trade-off curve as points; a polygon's own corners are among them."""
    level = np.linspace(0.0, 1.0, 401)
    if isinstance(guarantee, PiecewiseLinear):
        level = np.union1d(level, [line.until for line in guarantee.lines])
    return level, 1.0 - np.asarray(guarantee.step(level))


def polygon(p: Floats, q: Floats) -> tuple[Floats, Floats]:
    """The trade-off curve of telling row ``q`` from row ``p``: the best tests, in order.

    By Neyman and Pearson the best test at its level says "q" on the answers of the largest q/p.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(p > 0, q / p, np.where(q > 0, np.inf, 0.0))
    order = np.argsort(-ratio, kind="stable")
    level = np.concatenate([[0.0], np.cumsum(p[order])])
    missed = 1.0 - np.concatenate([[0.0], np.cumsum(q[order])])
    return np.minimum(level, 1.0), np.maximum(missed, 0.0)


def _easiest(rows: Mechanism, promise: TradeOffCurve) -> tuple[int, int, float]:
    """The neighboring rows with the least room left, first the one that false alarms come from."""
    pairs = rows.row_pairs()
    if not len(pairs):
        raise RainbowError(
            "no two neighbors have different rows, so there is no worst pair to draw"
        )
    both = np.concatenate([pairs, pairs[:, ::-1]])
    found = []
    for first, second in both:
        level, missed = polygon(rows.table[first], rows.table[second])
        room = missed[1:-1] - (1.0 - np.asarray(promise.step(level[1:-1])))
        apart = float(np.abs(rows.table[first] - rows.table[second]).sum())
        found.append((round(float(room.min()), 12), -apart, int(first), int(second)))
    slack, _, first, second = min(found)
    return first, second, slack


def _guessing(ax: Axes) -> None:
    ax.plot([0, 1], [1, 0], color=SOFT, linewidth=1.0, label="pure guessing")


def _square(ax: Axes, title: str | None) -> None:
    plot_area(ax, "false alarms", "misses", title)
    ax.set_xlim(0, 1)
    ax.set_ylim(0, 1)
    ax.set_aspect("equal")
    # No curve lies above the diagonal, so there is always room up there.
    ax.legend(loc="upper right", frameon=False, fontsize=SMALL, handlelength=3.2)
