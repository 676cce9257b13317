"""Draw the two pictures of the README and the story: `python docs/figures.py`.

The pictures go to docs/figures/, the story to docs/_static/story/, which Git ignores.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

import rainbowdp as rb
from rainbowdp import plots
from rainbowdp.display.colors import colors
from rainbowdp.plots.style import (
    INK,
    LARGE,
    MEDIUM,
    PAPER,
    SMALL,
    SOFT,
    label_ends,
    line_looks,
    new_figure,
    plot_area,
)
from rainbowdp.studio.story import write_page

ANSWERS = ("red", "green", "blue")
VOTES = 12  # of the idea
RECORDS = 20  # of the gain
EPSILONS = ("0.25", "0.5", "0.75", "1", "1.5", "2", "3")
TICKS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4)


def tables() -> list[tuple[int, int, int]]:
    """All tables of so many votes among three."""
    return [(r, g, VOTES - r - g) for r in range(VOTES + 1) for g in range(VOTES + 1 - r)]


def election(
    promise: rb.DP,
) -> tuple[rb.Mechanism, dict[tuple[int, int, int], tuple[float, float]]]:
    """Our mechanism for the winner on all tables, neighbors one vote apart, in a triangle."""
    question = rb.best(rb.Winner(ANSWERS), promise)
    known = tables()
    edges = [
        (table, other)
        for table in known
        for other in known
        if table < other and sum(abs(a - b) for a, b in zip(table, other, strict=True)) == 2
    ]
    winner = {table: ANSWERS[table.index(max(table))] for table in known}
    orders = {a: (a, *(b for b in ANSWERS if b != a)) for a in ANSWERS}
    graph = rb.RainbowGraph(edges, orders, answers=ANSWERS, labels=winner)
    rows = {table: question[dict(zip(ANSWERS, table, strict=True))] for table in known}
    corners = [(0.0, 0.0), (VOTES / 2, VOTES * math.sqrt(3) / 2), (float(VOTES), 0.0)]
    places = {
        table: (
            sum(n * x for n, (x, _) in zip(table, corners, strict=True)) / VOTES,
            sum(n * y for n, (_, y) in zip(table, corners, strict=True)) / VOTES,
        )
        for table in known
    }
    return rb.Mechanism.from_table(graph, rows, promise), places


def idea() -> Figure:
    """Every table of twelve votes as a disc, and the walk from a border into the red region."""
    mechanism, places = election(rb.DP.from_ratio(5, 2))
    figure = new_figure(9.2, 4.3)
    left, right = figure.subplots(1, 2, width_ratios=(1.25, 1))
    plots.graph(mechanism, places, labels=False, key=False, radius=0.43, ax=left)
    left.set_title(
        "Each disc is a table of 12 votes, neighbors differ in one.\n"
        "Its bands are the chances of the three answers.",
        loc="left",
        fontsize=LARGE,
        color=INK,
    )
    draw_border(left, mechanism.graph, places)
    for table, side, words in (
        ((VOTES, 0, 0), (0.0, -0.75), "all red"),
        ((0, 0, VOTES), (0.0, -0.75), "all blue"),
        ((0, VOTES, 0), (1.9, 0.0), "all green"),
    ):
        x, y = places[table]
        left.text(
            x + side[0], y + side[1], words, fontsize=MEDIUM, color=INK, ha="center", va="center"
        )
    walk = [(red, VOTES - red, 0) for red in range(VOTES // 2, VOTES + 1)]
    (x0, y0), (x1, y1) = places[walk[0]], places[walk[-1]]
    left.annotate(
        "",
        (x1 - 0.9, y1 + 0.55),
        (x0 - 0.9, y0 + 0.55),
        arrowprops={"arrowstyle": "-|>", "color": INK, "linewidth": 1.2},
    )
    palette = colors(ANSWERS)
    bottom = [0.0] * len(walk)
    for answer in reversed(ANSWERS):
        heights = [mechanism[table][answer] for table in walk]
        right.bar(
            range(len(walk)),
            heights,
            0.82,
            bottom=bottom,
            color=palette[answer],
            edgecolor=INK,
            linewidth=0.6,
        )
        bottom = [low + height for low, height in zip(bottom, heights, strict=True)]
    for place, table in enumerate(walk):
        right.text(
            place,
            0.965,
            f"{math.floor(100 * mechanism[table]['red'])}",  # never certain
            ha="center",
            va="top",
            fontsize=SMALL,
            color=PAPER,
        )
    plot_area(
        right,
        "along the arrow: votes for red – green",
        "chance of each answer",
    )
    right.set_title(
        "One vote may change a chance 2.5-fold at most:\nthe further from the border, the firmer.",
        loc="left",
        fontsize=LARGE,
        color=INK,
    )
    right.set_xticks(range(len(walk)), [f"{red} – {green}" for red, green, _ in walk])
    right.set_yticks([0, 0.25, 0.5, 0.75, 1], ["0 %", "25 %", "50 %", "75 %", "100 %"])
    right.set_ylim(0, 1)
    right.grid(visible=False)
    right.tick_params(axis="x", length=0)
    right.spines["left"].set_color(SOFT)
    return figure


def draw_border(
    ax: Axes, graph: rb.RainbowGraph, places: dict[tuple[int, int, int], tuple[float, float]]
) -> None:
    """A line between the regions: across every edge that joins two, as long as a hexagon's side."""
    sides = []
    for ends in graph.edge_positions():
        one, other = graph.names(ends)
        if graph.region[one] != graph.region[other]:
            (x0, y0), (x1, y1) = places[one], places[other]
            x, y = (x0 + x1) / 2, (y0 + y1) / 2
            dx, dy = (y1 - y0) / math.sqrt(12), (x0 - x1) / math.sqrt(12)
            sides.append([(x - dx, y - dy), (x + dx, y + dy)])
    ax.add_collection(LineCollection(sides, colors=INK, linewidths=2.2, capstyle="round", zorder=5))


def gain() -> Figure:
    """How often the answer is wrong at each ε, ours and what others use, over all tables of 20."""
    makers: dict[str, Callable[[Any, Any], Any]] = {
        "rainbowdp": rb.best,
        "inverse sensitivity": rb.inverse_sensitivity,
        "permute-and-flip": rb.permute_and_flip,
        "exponential": rb.exponential,
    }
    median = rb.Quantile("1/2", [0, 20_000, 50_000, 200_000], "income")
    compared = {e: rb.compare(median, rb.DP(e), makers, records=RECORDS) for e in EPSILONS}
    figure = new_figure(6.8, 3.9)
    ax = figure.add_subplot()
    lines = []
    for number, name in enumerate(makers):
        errors = [compared[e][name].mean_error for e in EPSILONS]
        across = [float(Fraction(e)) for e in EPSILONS]
        lines += ax.plot(across, errors, **line_looks(number), markersize=3.6, label=name)
    plot_area(ax, "ε: how much one person may matter", "chance of a wrong answer")
    ax.set_yscale("log")
    ax.minorticks_off()
    ax.set_xlim(0.2, 3.05)
    ax.set_yticks(TICKS, [f"{100 * tick:g} %" for tick in TICKS])
    label_ends(ax, lines)
    needed = [compared["1"][name].epsilon_to_match or math.inf for name in list(makers)[1:]]
    ax.set_title(
        f"Which of three brackets holds the median of {RECORDS} incomes?\n"
        "To be right as often as rainbowdp with ε = 1, "
        f"others need {min(needed):.2f} to {max(needed):.2f}.",
        loc="left",
        fontsize=LARGE,
        color=INK,
    )
    return figure


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    plots.save(idea(), folder / "idea.svg")
    plots.save(gain(), folder / "gain.svg")
    write_page(folder.parent / "_static" / "story")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "figures")
