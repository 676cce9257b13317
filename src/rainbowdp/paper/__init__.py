"""The objects of the paper *Generalized Rainbow Differential Privacy*, as values.

Gu, Zhou, Günlü, D'Oliveira, Sadeghi, Médard and Schaefer, arXiv:2309.05871. Everything here is
what the paper states, its one wrong formula included: ``printed_step`` is there to be refuted.
``exact_step`` is the right one in fractions, and ``random_rainbow_graph`` is to try conjectures on.
"""

from rainbowdp.baselines.printed import printed_step
from rainbowdp.paper.exactly import exact_rows, exact_step
from rainbowdp.paper.objects import (
    BLUE,
    BOUNDARY,
    GREEN,
    PRINTED_BOUNDARY,
    RATIO,
    RED,
    UNROUNDED_BOUNDARY,
    example_one,
    example_one_mechanisms,
    figure_one,
    rainbow,
)
from rainbowdp.paper.random_graphs import random_rainbow_graph

__all__ = [
    "BLUE",
    "BOUNDARY",
    "GREEN",
    "PRINTED_BOUNDARY",
    "RATIO",
    "RED",
    "UNROUNDED_BOUNDARY",
    "exact_rows",
    "exact_step",
    "example_one",
    "example_one_mechanisms",
    "figure_one",
    "printed_step",
    "rainbow",
    "random_rainbow_graph",
]
