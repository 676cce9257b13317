"""A large graph as a map: a color for each region, the stronger the surer the answer.

Everything that grows with the graph is rasterized, also inside a vector file; words and keys stay
vectors. Cost: a few seconds for a million datasets.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb

from rainbowdp.aliases import Floats
from rainbowdp.display.colors import PALETTE, colors
from rainbowdp.display.numbers import uncertain
from rainbowdp.errors import RainbowError
from rainbowdp.graphs.graph import RainbowGraph
from rainbowdp.mechanisms.mechanism import Mechanism
from rainbowdp.plots.places import placed
from rainbowdp.plots.style import INK, MEDIUM, SMALL, axes, halo, heading

PALEST = 0.18  # how much of its color the least sure dataset keeps
MOST_NAMES = 12


def regions(
    world: RainbowGraph | Mechanism,
    positions: Any = None,
    *,
    shape: tuple[int, int] | None = None,
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw a large graph as a map.

    A mechanism is colored by its confidence, the probability of the first choice; a graph alone by
    depth. Up to twelve regions are named.

    Parameters
    ----------
    world
        A rainbow graph, or a mechanism on one.
    positions
        (x, y) for each dataset.
    shape
        Instead of positions, (rows, columns) of a grid whose datasets are listed row by row from
        the top.
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
    known: Any = mechanism.graph if mechanism is not None else world
    if not isinstance(known, RainbowGraph):
        raise RainbowError(f"a map needs a rainbow graph or a mechanism on one, got {world!r}")
    strength, low, high, what = _strength(known, mechanism)
    shades = shade(known, strength, low, high)
    area = axes(ax, 6.0, 5.0)
    if shape is not None:
        if positions is not None or math.prod(shape) != len(known):
            raise RainbowError(
                f"a shape must hold each of the {len(known)} datasets once and no positions, "
                f"got shape={shape}"
            )
        image = shades.reshape(*shape, 3)
        area.imshow(image, interpolation="nearest" if max(shape) <= 600 else "antialiased")
        rows, columns = np.divmod(np.arange(len(known)), shape[1])
        places = np.stack([columns, rows], axis=1).astype(np.float64)
    else:
        if positions is None:
            raise RainbowError("give a map positions or the shape of a grid")
        places = placed(known, positions)
        size = max(0.35, 2.0e5 / len(known)) if len(known) > 4_000 else 40.0
        area.scatter(
            places[:, 0], places[:, 1], s=min(size, 40.0), c=shades, marker="s", linewidths=0,
            rasterized=True,
        )  # fmt: skip
        area.set_aspect("equal")
    area.set_axis_off()
    heading(area, title)
    if len(known.regions) <= MOST_NAMES:
        _name_regions(area, known, places)
    _draw_scale(area, low, high, what, mechanism is not None)
    return area


def region_colors(known: RainbowGraph) -> list[str]:
    """A color for each region: its first answer's where that tells them apart.

    Otherwise its own, or with more regions than colors one that no touching region has, as far
    as eight colors go.
    """
    firsts = [region.rainbow[0] for region in known.regions.values()]
    if len(set(firsts)) == len(firsts) and len(known.answers) <= len(PALETTE):
        palette = colors(known.answers)
        return [palette[answer] for answer in firsts]
    if len(firsts) <= len(PALETTE):
        return list(PALETTE[: len(firsts)])
    number = {label: place for place, label in enumerate(known.regions)}
    beside: list[set[int]] = [set() for _ in number]
    for a, b in known.touching:
        beside[number[a]].add(number[b])
        beside[number[b]].add(number[a])
    chosen: list[int] = []
    for place, near in enumerate(beside):
        taken = {chosen[other] for other in near if other < place}
        free = [c for c in range(len(PALETTE)) if c not in taken]
        chosen.append(free[place % len(free)] if free else place % len(PALETTE))
    return [PALETTE[c] for c in chosen]


def shade(known: RainbowGraph, strength: Floats, low: float, high: float) -> Floats:
    """The color of each dataset: its region's, paler the weaker it is."""
    pure = np.array([to_rgb(color) for color in region_colors(known)])
    span = high - low
    share = (strength - low) / span if span > 0 else np.ones_like(strength)
    kept = PALEST + (1 - PALEST) * np.clip(share, 0.0, 1.0)
    shaded: Floats = 1.0 - kept[:, None] * (1.0 - pure[known.region_numbers])
    return shaded


def _strength(known: RainbowGraph, mechanism: Mechanism | None) -> tuple[Floats, float, float, str]:
    """What is shown by strength of color, its ends, and its name."""
    if mechanism is None:
        depths = known.depths
        finite = depths[np.isfinite(depths)]
        deepest = float(finite.max()) if finite.size else 0.0
        return np.minimum(depths, deepest), 0.0, deepest, "depth"
    place = {answer: number for number, answer in enumerate(known.answers)}
    firsts = np.array([place[region.rainbow[0]] for region in known.regions.values()])
    chance = mechanism.table[mechanism.index, firsts[known.region_numbers]]
    return chance, float(chance.min()), float(chance.max()), "confidence"


def _name_regions(ax: Axes, known: RainbowGraph, places: Floats) -> None:
    """Each region's name at the dataset nearest to the middle of its deepest third."""
    firsts = [region.rainbow[0] for region in known.regions.values()]
    by_answer = len(set(firsts)) == len(firsts)
    for number, region in enumerate(known.regions.values()):
        members = np.flatnonzero(known.region_numbers == number)
        depths = np.minimum(known.depths[members], 1e9)
        deep = members[depths >= np.quantile(depths, 2 / 3)]
        middle = places[deep].mean(axis=0)
        spot = places[deep[int(((places[deep] - middle) ** 2).sum(axis=1).argmin())]]
        name = str(firsts[number]) if by_answer else region.name
        text = ax.text(spot[0], spot[1], name, fontsize=MEDIUM, color=INK, ha="center", va="center")
        halo(text, 3.0)


def _draw_scale(ax: Axes, low: float, high: float, what: str, percent: bool) -> None:
    """A strip of grays below the map that says how strength is to be read."""
    strip = ax.inset_axes((0.36, -0.045, 0.28, 0.022))
    kept = np.linspace(PALEST, 1.0, 64)
    strip.imshow(1.0 - 0.75 * np.tile(kept[None, :, None], (1, 1, 3)), aspect="auto")
    strip.set_yticks([])
    strip.set_xticks([])
    for spine in strip.spines.values():
        spine.set_visible(False)
    for x, align, words in (
        (-0.03, "right", f"{what} {_shown(low, percent)}"),
        (1.03, "left", _shown(high, percent)),
    ):
        strip.text(
            x,
            0.5,
            words,
            transform=strip.transAxes,
            fontsize=SMALL,
            color=INK,
            ha=align,
            va="center",
        )


def _shown(value: float, percent: bool) -> str:
    """A depth, or a probability, of which none is certain."""
    return uncertain(value) if percent else f"{value:g}"
