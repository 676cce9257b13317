"""The objects of the paper *Generalized Rainbow Differential Privacy*, as values.

Gu, Zhou, Günlü, D'Oliveira, Sadeghi, Médard and Schaefer, arXiv:2309.05871.
"""

from __future__ import annotations

import itertools
from fractions import Fraction

from rainbowdp.aliases import Rainbow
from rainbowdp.graphs.graph import RainbowGraph
from rainbowdp.guarantees.dp import DP
from rainbowdp.mechanisms.mechanism import Mechanism

BLUE, RED, GREEN = "blue", "red", "green"
_COLORS = {"b": BLUE, "r": RED, "g": GREEN}

# Figure 1(A), read off its source: node pictures in order, then the lines between them.
_FIGURE_RAINBOWS = (
    "brg brg brg rgb rgb brg brg bgr rgb grb bgr rbg rbg rbg grb grb gbr gbr"  # d1 … d18
)
_FIGURE_EDGES = (
    "1-2 2-3 4-5 1-6 2-6 3-7 3-11 3-17 4-8 4-9 5-9 6-7 7-8 7-10 7-16 7-11 7-12 8-11 8-12 9-16 9-13 "
    "11-12 12-13 13-14 10-15 10-16 12-16 11-17 12-18 13-18 17-18"
)

RATIO = Fraction(6, 5)  # e^ε in the three numerical figures
PRINTED_BOUNDARY = tuple(Fraction(p) for p in ("0.0005", "0.0081", "0.1364", "0.2727", "0.5822"))
_SHARES = [Fraction(x) * RATIO / (1 + RATIO) for x in ("0.001", "0.015", "0.25", "0.5")]
UNROUNDED_BOUNDARY = (*_SHARES, 1 - sum(_SHARES, Fraction(0)))
BOUNDARY = tuple(round(p, 4) for p in UNROUNDED_BOUNDARY)  # the printed one with 0.0082, sum 1


def rainbow(letters: str) -> Rainbow:
    """``"brg"`` as blue > red > green.

    Parameters
    ----------
    letters
        The first letters of colors, most preferred first.

    Returns
    -------
    tuple of str
        The colors.

    """
    return tuple(_COLORS[letter] for letter in letters)


def figure_one() -> RainbowGraph:
    """The rainbow graph of Figure 1(A): 18 datasets, 31 edges, six rainbows of three colors.

    >>> figure_one()
    RainbowGraph(18 datasets, 31 edges, 6 regions, 3 answers)
    """
    rainbows = {
        f"d{number}": rainbow(letters) for number, letters in enumerate(_FIGURE_RAINBOWS.split(), 1)
    }
    edges = [tuple(f"d{end}" for end in edge.split("-")) for edge in _FIGURE_EDGES.split()]
    return RainbowGraph(edges, rainbows, answers=(BLUE, RED, GREEN))


def example_one() -> RainbowGraph:
    """The five-cycle of Example 1, on which a boundary that is not homogeneous has no optimum."""
    order, other = (1, 2, 3), (1, 3, 2)
    rainbows = {"d1": order, "d2": order, "d3": order, "d4": order, "d5": other}
    cycle = ["d1", "d2", "d3", "d4", "d5", "d1"]
    return RainbowGraph(itertools.pairwise(cycle), rainbows)


def example_one_mechanisms() -> tuple[Mechanism, Mechanism, Mechanism]:
    """The two valid mechanisms of Example 1, and their join, which is not private.

    The paper leaves dataset d5 open; here it repeats d1, which keeps both mechanisms private.
    """
    graph, promise = example_one(), DP.from_ratio(2, 1)
    ends = {"d1": (0.2, 0.1, 0.7), "d4": (0.4, 0.1, 0.5), "d5": (0.2, 0.1, 0.7)}
    first = {"d2": (0.4, 0.2, 0.4), "d3": (0.4, 0.2, 0.4)}
    second = {"d2": (0.4, 0.1, 0.5), "d3": (0.7, 0.05, 0.25)}
    join = {"d2": first["d2"], "d3": second["d3"]}
    one, two, both = (
        Mechanism.from_table(graph, {**ends, **inside}, promise) for inside in (first, second, join)
    )
    return one, two, both
