"""A mechanism file for a graph, and a file with the key of each node.

A mechanism file holds rows, not nodes. The homogeneous mechanism has a row for each region and
depth, the other kinds find theirs by margins; a node's *key* says which row is its own. Anyone with
the mechanism file and one key, such as a phone, can draw a private answer without the graph.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rainbowdp.aliases import Answer, Dataset, Floats
from rainbowdp.answering.worlds import optimal
from rainbowdp.errors import InvalidFile, InvalidGraph, InvalidGuarantee, InvalidMechanism
from rainbowdp.exact.check import Check
from rainbowdp.exact.mechanism import ExactMechanism, Releasable
from rainbowdp.exact.names import name_to_json
from rainbowdp.exact.steps import LONGEST
from rainbowdp.expecting import brief, expect
from rainbowdp.graphs.edges import Ids
from rainbowdp.graphs.forbidding import forbid as forbidding
from rainbowdp.graphs.graph import RainbowGraph
from rainbowdp.guarantees.curve import TradeOffCurve
from rainbowdp.mechanisms.best_on_graphs import Choice, best_on_graph
from rainbowdp.mechanisms.by_margins import ByMargins
from rainbowdp.mechanisms.kinds import ON_GRAPHS
from rainbowdp.mechanisms.mechanism import Mechanism
from rainbowdp.mechanisms.worths import AnyUtility, AnyWeights, Forbidden, worths_of
from rainbowdp.storage.documents import sealed, write_sealed
from rainbowdp.storage.integers import LARGEST_NUMBER
from rainbowdp.storage.sql import quoted
from rainbowdp.storage.whole_file import whole_file

if TYPE_CHECKING:
    from rainbowdp.tiling import NodeKeys

MOST_WEIGHTS = 5_000_000  # of a mechanism file: regions × depths × answers
MOST_OF_ROWS = 4_000_000  # the same, of a row for each class of nodes


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
    choice
        What it was chosen from, if you asked for the best.
    rows
        The number of each node's row, if the regions of the mechanism are single rows.
    kept
        The kind whose rows they are.

    """

    graph: RainbowGraph
    mechanism: ExactMechanism
    keys: dict[str, NDArray[Any]]
    truth: Floats
    choice: Choice | None = None
    rows: NDArray[Any] | None = None
    kept: str | None = None

    @property
    def name(self) -> str:
        """The kind of mechanism; one whose rows are kept has the file of a homogeneous one."""
        return self.mechanism.name if self.kept is None else self.kept

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
        document = sealed(self.mechanism.describe())
        with whole_file(table, "the file of keys", InvalidFile) as draft:
            self._write_keys(draft, document.checksum)
            write_sealed(document, target)
        return target

    def save_tiles(
        self, path: str | PathLike[str], tiles: Sequence[Any], *, folder: str | PathLike[str]
    ) -> Path:
        """Write the mechanism to ``path`` and the keys in tiles to a new ``folder``, for phones.

        Parameters
        ----------
        path
            The mechanism file.
        tiles
            The name of each node's tile, such as ``"14/4823/6160"``, in the order of the graph.
        folder
            Where to write the tiles; it must not exist.

        Returns
        -------
        pathlib.Path
            The index of the tiles. ``rainbow check`` proves every edge from it, tile by tile.

        Raises
        ------
        InvalidFile
            If a file cannot be written.
        InvalidGraph
            If a node has no tile, or is not a whole number or a text.

        """
        from rainbowdp.tiling import save_tiles

        self.mechanism.save(path)
        edges, steps = self.graph.edge_positions(), self.graph.edge_lengths()
        return save_tiles(folder, self.mechanism, self._node_keys(), edges, steps, tiles)

    def save_sqlite(self, path: str | PathLike[str], tiles: Sequence[Any] | None = None) -> Path:
        """Write a SQLite database from which a phone draws in SQL (``docs/format.md``).

        Parameters
        ----------
        path
            The database.
        tiles
            The name of each node's tile, to leave out what a phone does not need.

        Returns
        -------
        pathlib.Path
            The database.

        Raises
        ------
        InvalidFile
            If it cannot be written.
        InvalidMechanism
            If the rows are too long for a table.

        """
        from rainbowdp.tiling import save_sqlite

        placed = self._node_keys()
        named = [None] * len(placed.nodes) if tiles is None else list(tiles)
        return save_sqlite(path, self.mechanism, placed, named)

    def _node_keys(self) -> NodeKeys:
        from rainbowdp.tiling import NodeKeys

        nodes = _ids(self.graph).tolist()
        columns = [column.tolist() for column in self.keys.values()]
        if "depth" not in self.keys:
            return NodeKeys(nodes, [list(key) for key in zip(*columns, strict=True)], False)
        if self.rows is None:
            labels = [name_to_json(label) for label in self.graph.regions]
            regions = [labels[number] for number in self.graph.region_numbers.tolist()]
        else:
            regions = self.rows.tolist()
        keys = [[region, depth] for region, depth in zip(regions, columns[0], strict=True)]
        return NodeKeys(nodes, keys, True)

    def _write_keys(self, draft: Path, mechanism: str) -> None:
        import duckdb

        labels = region_column(list(self.graph.regions)) if self.rows is None else []
        must_be_columns(list(self.keys))
        numbers = self.graph.region_numbers if self.rows is None else self.rows
        columns = {"node": _ids(self.graph), "region": numbers, **self.keys}
        listed = ", ".join(quoted(name, '"') for name in self.keys)
        given: dict[str, Any] = {"draft": str(draft), "sum": mechanism}
        region = "region"
        if self.rows is None:
            region, given["labels"] = "$labels[region + 1] AS region", labels
        with duckdb.connect(":memory:") as connection:
            connection.register("placed", columns)
            try:
                connection.execute(
                    f"COPY (SELECT node, {region}, {listed} FROM placed) "  # noqa: S608  quoted
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
    utility: AnyUtility | None = None,
    weights: AnyWeights | None = None,
    forbid: Forbidden = (),
) -> Deployment:
    """Make a mechanism for a graph exact, check every edge, and find the key of each node.

    Parameters
    ----------
    graph
        The graph, of up to millions of nodes.
    guarantee
        What is promised between neighbors.
    kind
        ``"homogeneous"``, the optimum for its boundary, ``"proximity"``, ``"margin-flip"``,
        ``"exponential"``, ``"fixed-point"`` or ``"primal-dual"``; or ``"best"``, whichever of them
        is worth most.
    boundary
        For homogeneous only: a boundary condition, or what ``rb.optimal`` takes as one.
    utility, weights
        For best only: the goal, as in ``rb.best``.
    forbid
        Answers that are never given, as in ``rb.best``; a boundary is then one without them.

    Returns
    -------
    Deployment
        The mechanism and the keys, ready to be saved.

    Raises
    ------
    InvalidGraph
        If the file would have more than five million weights.
    InvalidGuarantee
        If the kind is not private here under this guarantee.
    InvalidMechanism
        If there is no such kind on graphs, or an edge breaks the guarantee.

    Examples
    --------
    >>> from rainbowdp import DP
    >>> graph = RainbowGraph([(0, 1), (1, 2)], [("a", "b"), ("a", "b"), ("b", "a")])
    >>> deploy(graph, DP(1)).keys["depth"].tolist()
    [1, 0, 0]

    """
    expect(graph, RainbowGraph, "deploy", InvalidGraph)
    if not isinstance(kind, str) or (kind != "best" and kind not in DEPLOYED):
        raise InvalidMechanism(
            f"kind must be best, {' or '.join(DEPLOYED)} on a graph, got kind={brief(kind)}"
        )
    if kind != "homogeneous" and boundary is not None:
        raise InvalidMechanism(f"{kind} has no boundary to choose; leave out boundary")
    if kind != "best":
        if utility is not None or weights is not None:
            raise InvalidMechanism(f"utility and weights are for best, got kind={brief(kind)}")
        graph = forbidding(graph, forbid)
        if boundary is not None:
            return DEPLOYED[kind](optimal(graph, guarantee, boundary))
        if kind in ON_GRAPHS:
            return DEPLOYED[kind](ON_GRAPHS[kind](graph, guarantee))
        found = best_on_graph(graph, guarantee, kinds=[kind], most_weights=MOST_OF_ROWS)
        return DEPLOYED[kind](found.mechanism)
    choice = best_on_graph(
        graph,
        guarantee,
        utility,
        weights,
        forbid=forbid,
        kinds=_that_fit(graph),
        most_weights=MOST_OF_ROWS,
    )
    return replace(DEPLOYED[choice.name](choice.mechanism), choice=choice)


def _that_fit(graph: RainbowGraph) -> list[str]:
    """The kinds that a file is possible for."""
    return [kind for kind in DEPLOYED if kind != "homogeneous" or _weights(graph) <= MOST_WEIGHTS]


def _weights(graph: RainbowGraph) -> int:
    """How many weights the file of the homogeneous mechanism has."""
    deepest = [region.deepest for region in graph.regions.values() if region.deepest is not None]
    return sum(min(depth, LONGEST) + 1 for depth in deepest) * len(graph.answers)


def _homogeneous(mechanism: Mechanism) -> Deployment:
    """The optimum of a boundary; a key is a region and a depth, which is null if infinite.

    Checked on every edge; then made exact, which proves it.
    """
    graph = mechanism.graph
    weights = _weights(graph)
    if weights > MOST_WEIGHTS:
        raise InvalidGraph(
            f"the mechanism file would have {weights:,} weights for {len(graph.regions):,} regions "
            f"and {len(graph.answers):,} answers, more than the limit of {MOST_WEIGHTS:,}; use "
            "fewer regions or answers"
        )
    check = mechanism.check(every_edge=True)
    if not check:
        raise InvalidMechanism(f"the mechanism is not private on every edge: {check}")
    depths = graph.depths
    endless = np.isinf(depths)
    column = np.ma.masked_array(np.where(endless, 0, depths).astype(np.int32), endless)
    return Deployment(graph, mechanism.exact(), {"depth": column}, _truth(mechanism))


def _by_margins(mechanism: Mechanism) -> Deployment:
    """A key is a margin for each answer, in columns ``margin ANSWER``.

    Margins past the last that makes a difference are cut off, so none is infinite. That they are 0
    at the true answer only and change by at most 1 between neighbors was checked on every edge.
    """
    if not isinstance(mechanism, ByMargins):
        raise InvalidGuarantee(
            f"{mechanism.name} holds on this graph, but not for margins alone, so that no file can "
            "prove it; use margin-flip or a larger epsilon"
        )
    graph, last = mechanism.graph, mechanism.last
    beyond = np.iinfo(mechanism.whole.dtype).max
    kind = np.int32 if last <= np.iinfo(np.int32).max else np.int64
    keys = {}
    for number, name in enumerate(margin_columns(graph.answers)):
        column = mechanism.whole[:, number].astype(kind)  # wide enough for the last margin
        column[mechanism.whole[:, number] == beyond] = last
        keys[name] = column
    return Deployment(graph, mechanism.exact(), keys, _truth(mechanism))


def _by_rows(mechanism: Mechanism) -> Deployment:
    """A key is the number of a row, and the depth 0; checked on every edge when it was made."""
    graph, rows = mechanism.graph, np.asarray(mechanism.index)
    depths = np.zeros(len(graph), dtype=np.int32)
    return Deployment(
        graph,
        mechanism.exact(),
        {"depth": depths},
        _truth(mechanism),
        rows=rows.astype(np.int64),
        kept=mechanism.name,
    )


def _truth(mechanism: Mechanism) -> Floats:
    return worths_of(mechanism.graph).each(mechanism)


DEPLOYED: Mapping[str, Callable[[Mechanism], Deployment]] = {
    "homogeneous": _homogeneous,
    "proximity": _by_margins,
    "margin-flip": _by_margins,
    "exponential": _by_margins,
    "fixed-point": _by_rows,
    "primal-dual": _by_rows,
}


def margin_columns(answers: Sequence[Answer]) -> list[str]:
    """The column of each answer's margin; refused where two would be one."""
    named = [f"margin {answer}" for answer in answers]
    twice = _first_repeated(named)
    if twice is not None:
        raise InvalidMechanism(
            f"the file of keys would have the column {twice!r} for two answers; name one of them "
            "by another text"
        )
    return named


def must_be_columns(names: Sequence[str]) -> None:
    """Refuse names that differ in case only: a query for one of them would find the other."""
    twice = _first_repeated([name.lower() for name in names])
    if twice is not None:
        alike = " and ".join(repr(name) for name in names if name.lower() == twice)
        raise InvalidFile(
            f"the file of keys would have the columns {alike}, which differ in case only and which "
            "a table does not tell apart; name one of the answers by another text"
        )


def region_column(labels: list[Any]) -> list[Any]:
    """What a table calls each region: a whole number if all of them are, else a text."""
    if all(type(label) is int for label in labels):
        return labels
    named = [str(label) for label in labels]
    twice = _first_repeated(named)
    if twice is not None:
        raise InvalidFile(
            f"the file of keys would call two regions {twice!r}; name one of them by another text"
        )
    return named


def _first_repeated(names: Sequence[str]) -> str | None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None


def _ids(graph: RainbowGraph) -> NDArray[Any]:
    """The nodes as one array of whole numbers, or of texts."""
    names = graph.datasets
    if isinstance(names, Ids):
        return names.array
    if isinstance(names, range):
        return np.arange(names.start, names.stop, dtype=np.int64)
    if all(isinstance(name, str) for name in names):
        return np.array(names, dtype=object)
    if all(type(name) is int and abs(name) <= LARGEST_NUMBER for name in names):
        return np.array(names, dtype=np.int64)
    raise InvalidGraph("keys can be saved for nodes that are whole numbers or texts, not for these")
