"""A mechanism file for a graph, and a file with the key of each node.

A mechanism file holds rows, not nodes. The homogeneous mechanism has a row for each region and
depth, proximity a weight for each margin; a node's *key* says which row is its own. Anyone with the
mechanism file and one key, such as a phone, can draw a private answer without the graph.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rainbowdp.aliases import Answer, Dataset, Floats
from rainbowdp.answering.worlds import optimal
from rainbowdp.errors import InvalidFile, InvalidGraph, InvalidMechanism
from rainbowdp.exact.check import Check
from rainbowdp.exact.mechanism import ExactMechanism, Releasable
from rainbowdp.exact.steps import LONGEST
from rainbowdp.graphs.edges import Ids
from rainbowdp.graphs.graph import RainbowGraph
from rainbowdp.guarantees.curve import TradeOffCurve
from rainbowdp.mechanisms.mechanism import Mechanism
from rainbowdp.rules.proximity.build import proximity_weights
from rainbowdp.storage.documents import checksum
from rainbowdp.storage.sql import quoted
from rainbowdp.storage.whole_file import whole_file

MOST_WEIGHTS = 5_000_000  # of a mechanism file: regions × depths × answers


@dataclass(frozen=True, eq=False)
class Deployment(Releasable):
    """An exact mechanism, and the key of each node of a graph in it; made by ``rb.deploy``.

    Attributes
    ----------
    graph
        The graph.
    mechanism
        The mechanism in integers, with its proof.
    keys
        The columns that make up a key besides the region, with a value for each node.
    truth
        The probability of each node's first choice.

    """

    graph: RainbowGraph
    mechanism: ExactMechanism
    keys: dict[str, NDArray[Any]]
    truth: Floats

    @property
    def name(self) -> str:
        """The kind of mechanism."""
        return self.mechanism.name

    def exact(self) -> ExactMechanism:
        """The mechanism in integers, with its proof."""
        return self.mechanism

    def check(self) -> Check:
        """The exact proof of the guarantee."""
        return self.mechanism.proof

    def __getitem__(self, dataset: Dataset) -> dict[Answer, float]:
        """{answer: probability} at the node ``dataset``, likeliest answer first."""
        return {answer: float(p) for answer, p in self.mechanism[dataset].items()}

    def save(self, path: str | PathLike[str]) -> Path:
        """Write the mechanism to ``path``, and the keys beside it to a ``.parquet`` file.

        Each file appears whole or not at all. The file of keys carries the checksum of the
        mechanism it belongs to, as ``mechanism`` in its metadata.

        Parameters
        ----------
        path
            The mechanism file; the keys have its name with the ending ``.parquet``.

        Returns
        -------
        pathlib.Path
            The mechanism file.

        Raises
        ------
        InvalidFile
            If a file cannot be written.
        InvalidMechanism
            If ``path`` ends in ``.parquet``, which is for the keys.

        """
        target = Path(path)
        table = target.with_suffix(".parquet")
        if table == target:
            raise InvalidMechanism(
                f"the name of the mechanism file must not end in .parquet, got {target}"
            )
        with whole_file(table, "the file of keys", InvalidFile) as draft:
            self._write_keys(draft)
            self.mechanism.save(target)
        return target

    def _write_keys(self, draft: Path) -> None:
        import duckdb

        labels = list(self.graph.regions)
        if not all(type(label) is int for label in labels):
            labels = [str(label) for label in labels]
        columns = {"node": _ids(self.graph), "region": self.graph.region_numbers, **self.keys}
        listed = ", ".join(quoted(name, '"') for name in self.keys)
        given = {"labels": labels, "draft": str(draft), "sum": checksum(self.mechanism.describe())}
        with duckdb.connect(":memory:") as connection:
            connection.register("placed", columns)
            try:
                connection.execute(
                    f"COPY (SELECT node, $labels[region + 1] AS region, {listed} FROM placed) "  # noqa: S608  quoted
                    "TO $draft (FORMAT parquet, COMPRESSION zstd, KV_METADATA {mechanism: $sum})",
                    given,
                )
            except duckdb.IOException as error:
                raise OSError(0, "DuckDB could not open it") from error


def deploy(
    graph: RainbowGraph,
    guarantee: TradeOffCurve,
    kind: str = "homogeneous",
    *,
    boundary: Any = None,
) -> Deployment:
    """Make a mechanism for a graph exact, check every edge, and find the key of each node.

    Parameters
    ----------
    graph
        The graph, of up to millions of nodes.
    guarantee
        What is promised between neighbors.
    kind
        ``"homogeneous"``, the optimum for its boundary, or ``"proximity"``.
    boundary
        For homogeneous only: a boundary condition, or what ``rb.optimal`` takes as one.

    Returns
    -------
    Deployment
        The mechanism and the keys, ready to be saved.

    Raises
    ------
    InvalidGraph
        If the file would have more than five million weights.
    InvalidGuarantee
        If proximity is not private for so many answers.
    InvalidMechanism
        If graphs have no mechanism of this kind, or an edge breaks the guarantee.

    Examples
    --------
    >>> from rainbowdp import DP
    >>> graph = RainbowGraph([(0, 1), (1, 2)], [("a", "b"), ("a", "b"), ("b", "a")])
    >>> deploy(graph, DP(1)).keys["depth"].tolist()
    [1, 0, 0]

    """
    if kind not in DEPLOYED:
        raise InvalidMechanism(
            f"kind must be {' or '.join(DEPLOYED)} on a graph, got kind={kind!r}"
        )
    return DEPLOYED[kind](graph, guarantee, boundary)


def _homogeneous(graph: RainbowGraph, guarantee: TradeOffCurve, boundary: Any = None) -> Deployment:
    """The optimum of ``graph``; a key is a region and a depth, which is null if infinite.

    Checked on every edge; then made exact, which proves it.
    """
    deepest = [region.deepest for region in graph.regions.values() if region.deepest is not None]
    weights = sum(min(depth, LONGEST) + 1 for depth in deepest) * len(graph.answers)
    if weights > MOST_WEIGHTS:
        raise InvalidGraph(
            f"the mechanism file would have {weights:,} weights for {len(graph.regions):,} regions "
            f"and {len(graph.answers):,} answers, more than the limit of {MOST_WEIGHTS:,}; use "
            "fewer regions or answers"
        )
    mechanism = optimal(graph, guarantee, boundary)
    check = mechanism.check(every_edge=True)
    if not check:
        raise InvalidMechanism(f"the mechanism is not private on every edge: {check}")
    depths = graph.depths
    endless = np.isinf(depths)
    column = np.ma.masked_array(np.where(endless, 0, depths).astype(np.int32), endless)
    return Deployment(graph, mechanism.exact(), {"depth": column}, _truth(mechanism))


def _truth(mechanism: Mechanism) -> Floats:
    graph = mechanism.graph
    first = _first_choices(graph)[graph.region_numbers]
    found: Floats = mechanism.table[mechanism.index, first]
    return found


def _first_choices(graph: RainbowGraph) -> NDArray[np.int64]:
    """For each region the index of its first choice among the answers."""
    place = {answer: number for number, answer in enumerate(graph.answers)}
    return np.array([place[region.rainbow[0]] for region in graph.regions.values()])


def _proximity(graph: RainbowGraph, guarantee: TradeOffCurve, boundary: Any = None) -> Deployment:
    """Proximity on ``graph``; a key is a margin for each answer, in columns ``margin ANSWER``.

    Margins past the last weight are cut off there, so none is infinite. The mechanism is private
    for margins that are 0 at the true answer only and change by at most 1 between neighbors, which
    is checked on every edge. Memory: four bytes for each node and answer.
    """
    if boundary is not None:
        raise InvalidMechanism("proximity has no boundary to choose; leave out boundary")
    rule = proximity_weights(len(graph.answers), guarantee)
    truth = _first_choices(graph)[graph.region_numbers]
    edges = graph.edge_positions()
    weights = np.array([0, *rule.steps], dtype=np.float64) / rule.total
    others = np.zeros(len(graph))
    keys = {}
    for number, answer in enumerate(graph.answers):
        found = np.minimum(graph.distances(truth == number), len(rule.steps)).astype(np.int32)
        jumps = np.abs(found[edges[:, 0]] - found[edges[:, 1]]) > 1
        if jumps.any() or ((found == 0) != (truth == number)).any():
            raise InvalidMechanism(
                f"the margin of {answer!r} changes by more than 1 between two neighbors"
            )
        keys[f"margin {answer}"] = found
        others += weights[found]

    def locate(dataset: Any) -> dict[Any, int]:
        at = graph.position(dataset)
        margins = zip(graph.answers, keys.values(), strict=True)
        return {answer: int(margin[at]) for answer, margin in margins}

    exact = ExactMechanism(guarantee, graph.answers, rule, locate=locate)
    return Deployment(graph, exact, keys, 1.0 - others)


DEPLOYED: Mapping[str, Callable[[RainbowGraph, TradeOffCurve, Any], Deployment]] = {
    "homogeneous": _homogeneous,
    "proximity": _proximity,
}


def _ids(graph: RainbowGraph) -> NDArray[Any]:
    """The nodes as one array of whole numbers."""
    names = graph.datasets
    if isinstance(names, Ids):
        return names.array
    if isinstance(names, range):
        return np.arange(names.start, names.stop, dtype=np.int64)
    raise InvalidGraph("keys can be saved for nodes that are whole numbers, and these are not")
