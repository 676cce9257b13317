"""The look that all figures share: axes, lines told apart without color, labels, files.

Figures are made without pyplot and without touching Matplotlib's settings, so nothing a caller
has set up changes.
"""

from __future__ import annotations

import io
import os
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke
from matplotlib.text import Text

from rainbowdp.aliases import Floats
from rainbowdp.display.colors import PALETTE
from rainbowdp.errors import RainbowError
from rainbowdp.plots import vectors
from rainbowdp.plots.vectors import luminance
from rainbowdp.storage.whole_file import whole_file

INK, SOFT, FAINT, PAPER = vectors.INK, vectors.SOFT, vectors.FAINT, vectors.PAPER
SMALL, MEDIUM, LARGE = 8.0, 9.0, 10.5  # points
DASHES: tuple[Any, ...] = (
    "solid",
    (0, (6, 1.6)),
    (0, (1.4, 1.4)),
    (0, (6, 1.6, 1.4, 1.6)),
    (0, (3, 1.4)),
    (0, (9, 2)),
    (0, (6, 1.4, 1.4, 1.4, 1.4, 1.4)),
    (0, (1, 2.6)),
)
MARKERS = "os^DvPX*"
SEEN, READ = 2.2, 4.5  # contrast to white that a line and a word need
HAIR: dict[str, Any] = {
    "arrowstyle": "-",
    "color": SOFT,
    "linewidth": 0.5,
    "shrinkA": 1,
    "shrinkB": 0,
}

Positions: TypeAlias = Floats  # one row (x, y) for each dataset


def axes(ax: Axes | None, width: float, height: float) -> Axes:
    """The axes to draw on: those given, or new ones on a figure of their own, in inches."""
    if ax is not None:
        return ax
    return new_figure(width, height).add_subplot(axes_class=Picture)


class Picture(Axes):
    """Axes that show their figure in a notebook, as they are the last value of a cell."""

    def _repr_html_(self) -> str | None:
        figure = self.get_figure(root=True)
        if not isinstance(figure, Figure):
            return None
        return vectors.for_notebooks(vectors.compact(as_svg(figure, "notebook")))


def new_figure(width: float, height: float) -> Figure:
    """A white figure of this size in inches, whose parts keep clear of each other."""
    layout = ConstrainedLayoutEngine(w_pad=0.08, h_pad=0.08)
    return Figure(figsize=(width, height), layout=layout, facecolor=PAPER)


def plot_area(ax: Axes, across: str, up: str, title: str | None = None) -> None:
    """Axes for curves: two spines, a faint grid, quiet ticks."""
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        ax.spines[side].set_color(SOFT)
    ax.tick_params(colors=SOFT, labelcolor=INK, labelsize=SMALL, length=3)
    ax.grid(True, color=FAINT, linewidth=0.5)
    ax.set_axisbelow(True)
    ax.set_xlabel(across, fontsize=MEDIUM, color=INK)
    ax.set_ylabel(up, fontsize=MEDIUM, color=INK)
    heading(ax, title)


def drawing_area(ax: Axes, positions: Positions, room: float, title: str | None = None) -> None:
    """Axes for a drawing: nothing but the drawing, in true proportions, with room around it."""
    ax.set_aspect("equal")
    ax.set_axis_off()
    low, high = positions.min(axis=0) - room, positions.max(axis=0) + room
    ax.set_xlim(low[0], high[0])
    ax.set_ylim(low[1], high[1])
    heading(ax, title)


def heading(ax: Axes, title: str | None) -> None:
    """A title flush left, in as many lines as it needs."""
    if title:
        width = int(extent(ax)[0] / (0.56 * LARGE))
        words = "\n".join(textwrap.fill(part, width) for part in title.split("\n"))
        ax.set_title(words, loc="left", fontsize=LARGE, color=INK)


def halo(text: Text, width: float = 2.4) -> Text:
    """The text with a white edge, readable on top of lines."""
    text.set_path_effects([withStroke(linewidth=width, foreground=PAPER)])
    return text


def darker(color: str, contrast: float) -> str:
    """The color darkened until it stands out from white: 4.5 is enough to read, 2.2 to see."""
    red, green, blue = to_rgb(color)
    while 1.05 / (luminance(red, green, blue) + 0.05) < contrast:
        red, green, blue = 0.97 * red, 0.97 * green, 0.97 * blue
    return to_hex((red, green, blue))


def line_looks(number: int, color: str | None = None) -> dict[str, Any]:
    """How the line of this number is told from the others: by color, dashes and marker."""
    return {
        "color": darker(color or PALETTE[number % len(PALETTE)], SEEN),
        "linestyle": DASHES[number % len(DASHES)],
        "marker": MARKERS[number % len(MARKERS)],
        "linewidth": 1.6,
    }


def label_ends(ax: Axes, lines: Sequence[Line2D]) -> list[Text]:
    """Write each line's label to the right of the axes, at the height where the line ends."""
    to_axes = ax.transScale + ax.transLimits
    ends = np.array([to_axes.transform(np.asarray(line.get_xydata())[-1]) for line in lines])
    spots = spread(ends[:, 1], 1.45 * SMALL / extent(ax)[1], 0.0, 1.0)
    return [
        ax.annotate(
            str(line.get_label()),
            (float(x), float(y)),
            xytext=(1.045, float(spot)),
            xycoords="axes fraction",
            fontsize=SMALL,
            color=darker(str(line.get_color()), READ),
            va="center",
            annotation_clip=False,
            arrowprops={**HAIR, "relpos": (0.0, 0.5)},
        )
        for line, (x, y), spot in zip(lines, ends, spots, strict=True)
    ]


def extent(ax: Axes) -> Floats:
    """The width and height of the axes in points, about."""
    box, figure = ax.get_position(), ax.get_figure()
    inches = figure.get_size_inches() if isinstance(figure, Figure) else (6.0, 4.0)
    return np.array([box.width * inches[0], box.height * inches[1]]) * 72


def label_lines(
    ax: Axes, lines: Sequence[Line2D], marks: Sequence[tuple[float, float]] = ()
) -> list[Text]:
    """Write each line's label on the line, where the other lines leave most room.

    Call it when the limits of the axes are final. Each place is chosen in turn among points of
    the line: as far as possible from other lines, from labels already there, from ``marks`` and
    from the edges. Lines that cannot be told apart share one label.
    """
    to_axes = ax.transScale + ax.transLimits
    stretch = extent(ax)
    across = np.linspace(0.03, 0.97, 95)
    heights = []
    for line in lines:
        points = to_axes.transform(np.asarray(line.get_xydata(), dtype=np.float64))
        inside = np.interp(across, points[:, 0], points[:, 1], left=np.nan, right=np.nan)
        heights.append(np.where((inside < -0.001) | (inside > 1.001), np.nan, inside))
    curves = np.array(heights)
    back = to_axes.inverted()
    placed = [(to_axes.transform(mark) * stretch, 4.0) for mark in marks]
    texts = []
    for number, alike in _same(curves):
        line = lines[number]
        words = ", ".join(str(lines[other].get_label()) for other in alike)
        half = np.array([0.29 * SMALL * len(words) + 3, 0.62 * SMALL])  # points, about
        room = np.full(len(across), -np.inf)
        for place, x in enumerate(across):
            spot = np.array([x, curves[number, place]]) * stretch
            margin = np.minimum(spot, stretch - spot) - half
            if np.isnan(spot[1]) or margin[0] < 0:
                continue
            near = np.abs(across - x) * stretch[0] <= half[0]
            others = np.delete(curves, alike, axis=0)[:, near] * stretch[1]
            gaps = np.abs(others - spot[1])
            clear = np.nanmin(gaps, initial=60.0) if np.isfinite(gaps).any() else 60.0
            own = curves[number, near] * stretch[1]
            steep = float(np.nanmax(own) - np.nanmin(own))
            apart = [
                max(abs(spot[0] - p[0]) - half[0] - w, abs(spot[1] - p[1]) - 2 * half[1])
                for p, w in placed
            ]
            room[place] = min(clear, 4 * min(apart, default=15.0), 40.0)
            room[place] += min(float(margin[1]), 8.0) - 0.15 * steep
        best = int(room.argmax())
        x, y = back.transform((across[best], curves[number, best]))
        text = ax.text(
            x,
            y,
            words,
            color=darker(str(line.get_color()), READ),
            fontsize=SMALL,
            ha="center",
            va="center",
            zorder=6,
        )
        text.set_bbox({"facecolor": PAPER, "edgecolor": "none", "pad": 0.8})
        placed.append((np.array([across[best], curves[number, best]]) * stretch, float(half[0])))
        texts.append(text)
    return texts


def _same(curves: Floats) -> list[tuple[int, list[int]]]:
    """The curves that no eye tells apart together, each group with its first."""
    groups: list[tuple[int, list[int]]] = []
    for number, curve in enumerate(curves):
        for first, alike in groups:
            if np.allclose(curve, curves[first], rtol=0.0, atol=0.004, equal_nan=True):
                alike.append(number)
                break
        else:
            groups.append((number, [number]))
    return groups


def spread(
    wanted: Sequence[float] | Floats, gap: float, low: float = -np.inf, high: float = np.inf
) -> Floats:
    """Places in the same order, ``gap`` apart, between two ends, as near as can be to the wanted.

    >>> spread([0.0, 0.0, 5.0], 1.0)
    array([-0.5,  0.5,  5. ])
    """
    order = np.argsort(wanted, kind="stable")
    steps = gap * np.arange(len(order))
    shifted = np.asarray(wanted, dtype=np.float64)[order] - steps
    shifted = np.maximum(np.minimum(shifted, high - gap * (len(order) - 1)), low)
    blocks: list[tuple[float, int]] = []
    for value in shifted:  # pool neighbors that are out of order into their mean
        mean, size = float(value), 1
        while blocks and blocks[-1][0] > mean:
            before, count = blocks.pop()
            mean, size = (before * count + mean * size) / (count + size), size + count
        blocks.append((mean, size))
    flat = np.repeat([mean for mean, _ in blocks], [size for _, size in blocks])
    result = np.empty(len(order))
    result[order] = flat + steps
    return result


def save(drawn: Axes | Figure, path: str | os.PathLike[str]) -> Path:
    """Write a figure to ``path``, whole or not at all; the same figure gives the same bytes.

    Parameters
    ----------
    drawn
        A figure or its axes.
    path
        A file that ends in ``.svg``, ``.pdf`` or ``.png``.

    Returns
    -------
    pathlib.Path
        The file.

    Raises
    ------
    RainbowError
        If ``drawn`` is not a figure, or the file cannot be written.

    """
    figure = drawn if isinstance(drawn, Figure) else drawn.get_figure()
    if not isinstance(figure, Figure):
        raise RainbowError(f"only a figure or its axes can be saved, got {type(drawn).__name__}")
    target = Path(path)
    kind = target.suffix.removeprefix(".").lower()
    if kind not in {"svg", "pdf", "png"}:
        raise RainbowError(f"a figure must be saved as svg, pdf or png, got {target.name!r}")
    with whole_file(target, "the figure") as draft:
        if kind == "svg":
            picture = vectors.for_files(vectors.compact(as_svg(figure, target.name)))
            draft.write_text(picture, "utf-8")
        else:
            undated = {"CreationDate": None} if kind == "pdf" else None
            figure.savefig(draft, format=kind, dpi=200, metadata=undated)
    return target


def as_svg(figure: Figure, salt: str) -> str:
    """The figure as Matplotlib writes it, on a transparent ground, the same text every time."""
    written = io.StringIO()
    with rc_context({"svg.hashsalt": salt}):
        figure.savefig(
            written,
            format="svg",
            dpi=200,
            transparent=True,
            metadata={"Date": None, "Creator": None},
        )
    return written.getvalue()
