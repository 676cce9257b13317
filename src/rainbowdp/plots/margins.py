"""Mechanisms side by side, by margin."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, MaxNLocator

from rainbowdp.comparison import Comparison, Standing
from rainbowdp.errors import RainbowError
from rainbowdp.plots.style import axes, label_ends, line_looks, plot_area

FAINTEST = 1e-9  # an error below this is not drawn


def comparison(
    compared: Comparison,
    *,
    error: bool = True,
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw how often each mechanism is wrong at each margin, in the worst case.

    A margin is the number of changes after which another answer is the true one. Mechanisms with
    the same curve share one line and its label.

    Parameters
    ----------
    compared
        What ``rb.compare`` returned.
    error
        Draw the chance of a wrong answer on a logarithmic scale; if False, the probability of the
        true answer on a plain one.
    title
        The title of the figure.
    ax
        The axes to draw on; by default those of a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        The axes.

    """
    if not isinstance(compared, Comparison):
        raise RainbowError(f"plots.comparison draws what rb.compare returns, got {compared!r}")
    area = axes(ax, 6.4, 4.0)
    lines = []
    for number, alike in enumerate(_groups(compared.standings)):
        by_margin = alike[0].by_margin
        margins = np.array(sorted(by_margin))
        chance = np.array([by_margin[m] for m in margins])
        height = 1.0 - chance if error else chance
        keep = height >= FAINTEST if error else np.ones(len(height), dtype=np.bool_)
        lines += area.plot(
            margins[keep],
            height[keep],
            **line_looks(number),
            markersize=3.6,
            label=", ".join(standing.name for standing in alike),
        )
    up = "chance of a wrong answer" if error else "probability of the true answer"
    heading = title if title is not None else f"{compared.what}, {compared.guarantee}"
    plot_area(area, "margin: changes after which another answer is true", up, heading)
    if error:
        area.set_yscale("log")
        area.minorticks_off()
        area.set_ylim(top=1.0)
    else:
        area.set_ylim(0, 1.02)
    area.yaxis.set_major_formatter(FuncFormatter(_percent))
    area.xaxis.set_major_locator(MaxNLocator(integer=True))
    area.margins(x=0.03)
    area.autoscale_view(scaley=False)
    label_ends(area, lines)
    return area


def _groups(standings: Sequence[Standing]) -> list[list[Standing]]:
    """Standings with one and the same curve together."""
    found: list[list[Standing]] = []
    for standing in standings:
        for group in found:
            other = group[0].by_margin
            if set(other) == set(standing.by_margin) and all(
                np.isclose(other[m], p, rtol=1e-9, atol=1e-12)
                for m, p in standing.by_margin.items()
            ):
                group.append(standing)
                break
        else:
            found.append([standing])
    return found


def _percent(share: float, _: object = None) -> str:
    return f"{100 * share:g} %"
