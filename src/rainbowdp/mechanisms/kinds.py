"""The kinds of mechanisms that exist on graphs, by the names of their families."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from rainbowdp.mechanisms.by_margins import exponential_on_graph, margin_flip_on_graph
from rainbowdp.mechanisms.mechanism import Mechanism
from rainbowdp.mechanisms.optimal import optimal_on_graph
from rainbowdp.mechanisms.proximity import proximity_on_graph

ON_GRAPHS: Mapping[str, Callable[..., Mechanism]] = {
    "homogeneous": optimal_on_graph,
    "proximity": proximity_on_graph,
    "margin-flip": margin_flip_on_graph,
    "exponential": exponential_on_graph,
}
