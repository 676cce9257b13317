"""Figures for papers, notebooks and slides (``pip install 'rainbowdp[plot]'``).

Every function takes ``ax``, draws on it or on a figure of its own, and returns the axes:

======================  ====================================================================
``graph``               a rainbow graph, its datasets as discs with a band for each answer
``boundary_graph``      one line of depths for each region, heads joined where regions touch
``growth``              probabilities by depth, with every phase change
``trade_off``           the curve of a guarantee
``worst_pair``          the two neighbors that are easiest to tell apart, and what is allowed
``comparison``          mechanisms by margin
``regions``             a large graph as a map, colored by region and confidence
``save``                write a figure as svg, pdf or png
======================  ====================================================================

Nothing here is drawn by pyplot. In a notebook the axes show themselves, in the colors of the page.
"""

from rainbowdp.errors import MissingExtra

try:
    import matplotlib as _matplotlib  # noqa: F401
except ImportError:
    raise MissingExtra("Matplotlib", "plot") from None

from rainbowdp.plots.curves import growth
from rainbowdp.plots.margins import comparison
from rainbowdp.plots.nodes import boundary_graph, graph
from rainbowdp.plots.style import save
from rainbowdp.plots.territory import regions
from rainbowdp.plots.testing import trade_off, worst_pair

__all__ = [
    "boundary_graph",
    "comparison",
    "graph",
    "growth",
    "regions",
    "save",
    "trade_off",
    "worst_pair",
]
