"""Graphs that stay on disk: nearest sites, regions, depths and margins, in the memory you allow.

What ``RainbowGraph`` holds in memory lies in a DuckDB database here, in a folder that is gone when
the work ends; the searches are those of ``engines.joins``, and their results are the same.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rainbowdp.aliases import Answer, Label, Rainbow
from rainbowdp.errors import InvalidGraph
from rainbowdp.expecting import brief, expect
from rainbowdp.graphs.edges import Edges, Ids
from rainbowdp.graphs.engines.joins import Joins, joins
from rainbowdp.graphs.margins import half_of_memory
from rainbowdp.graphs.rainbows import as_rainbow
from rainbowdp.graphs.readers.columns import LISTS, SEPARATORS, ColumnFile
from rainbowdp.graphs.readers.edges import ends_of, file_ending, read_graph
from rainbowdp.graphs.readers.nodes import read_labels
from rainbowdp.graphs.readers.sizes import about_edges

_TEXT = (".parquet", *SEPARATORS, *LISTS)  # what DuckDB reads by itself


IN_MEMORY = 100  # bytes for each edge that the engines in memory take at their peak, measured
_ROOM = 0.8  # of the machine's memory


def too_large_for_memory(path: str | PathLike[str]) -> str | None:
    """Why a graph file does not fit into this machine's memory, in words; None where it does.

    The number of edges is that of a Parquet file's rows; of other files it is guessed from their
    beginning.
    """
    edges = about_edges(path)
    needed, there = edges * IN_MEMORY, int(2 * half_of_memory() * _ROOM)
    if needed <= there:
        return None
    return (
        f"some {edges:,} edges need about {needed / 2**30:.1f} GiB in memory, and "
        f"{there / 2**30:.1f} GiB of this machine's can be used"
    )


@contextmanager
def graph_on_disk(
    path: str | PathLike[str],
    *,
    columns: Sequence[str] | None = None,
    lengths: Literal[False] | None = None,
    memory: str | None = None,
    folder: str | PathLike[str] | None = None,
) -> Iterator[DiskGraph]:
    r"""Open a graph that is larger than memory, for depths, margins and mechanism files.

    Edges are counted, not measured. Parquet and text files are read by DuckDB
    and never held; a ``.gr``, ``.graphml`` or ``.npy`` file is read into memory once, 8 bytes for
    each edge.

    Parameters
    ----------
    path
        A file that ``rb.read_graph`` reads.
    columns
        The names of the two columns with the ends of each edge, for a file with more than two.
    lengths
        ``False`` counts the edges of a file that has lengths, which is refused otherwise.
    memory
        How much DuckDB may use, such as ``"2GB"``; by default a quarter of the machine's.
    folder
        Where to put what memory cannot hold; by default the system's folder for temporary files. We
        make a folder of our own there, which is removed at the end, whatever happens.

    Yields
    ------
    DiskGraph
        The graph, as long as the block lasts.

    Raises
    ------
    InvalidGraph
        If the file cannot be read as a graph; the message names the file and, if there is one, the
        line.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> work = tempfile.TemporaryDirectory()
    >>> file = pathlib.Path(work.name, "roads.csv")
    >>> _ = file.write_text("0,1\n1,2\n2,3\n3,4\n")
    >>> with graph_on_disk(file) as roads:
    ...     near = roads.nearest_sites({"north": 0, "south": 4})
    ...     print(near.region_numbers().tolist(), near.depths().tolist())
    [0, 0, 0, 1, 1] [2.0, 1.0, 0.0, 0.0, 1.0]
    >>> work.cleanup()

    """
    allowed = f"{half_of_memory() // 2 >> 20}MiB" if memory is None else memory
    with joins(expect(allowed, str, "memory"), folder) as engine:
        yield DiskGraph(engine, _loaded(engine, Path(path), columns, lengths))


def _loaded(
    engine: Joins, path: Path, columns: Sequence[str] | None, lengths: Literal[False] | None
) -> range | str:
    """Put the edges into DuckDB; the names of nodes as a range, or the table that has them."""
    if file_ending(path) not in _TEXT:
        edges = read_graph(path)
        if lengths is None and edges.weights is not None and not (edges.weights == 1).all():
            raise InvalidGraph(
                f"{path} has lengths, and a graph on disk counts edges; say lengths=False, or "
                "--hops on the command line"
            )
        assert edges.names is not None
        engine.load(np.asarray(edges.pairs), len(edges.names))
        return edges.names if isinstance(edges.names, range) else _named(engine, edges)
    file = ColumnFile(path)
    ends = ends_of(file, columns, None)
    whole = file.are_numbers(ends)
    query = file.selected(dict(zip(ends, ("src", "dst"), strict=True)), whole=whole)
    import duckdb

    try:
        engine.run(f"CREATE TABLE raw AS {query}")
        missing = "src IS NULL OR dst IS NULL" + ("" if whole else " OR src = '' OR dst = ''")
        count, wrong = engine.one(
            f"SELECT count(*), count(*) FILTER ({missing}) FROM raw"  # noqa: S608  ours
        )
    except duckdb.Error:
        raise file.fault(ends, whole=whole) from None
    if wrong:
        raise file.fault(ends, whole=whole)
    if not count:
        raise InvalidGraph(f"the edge file {path} has no edges")
    names = _numbered(engine, whole)
    engine.run("DROP TABLE raw")
    return names


def _numbered(engine: Joins, whole: bool) -> range | str:
    """Turn the table ``raw`` into edges between places."""
    both = "SELECT src AS name FROM raw UNION SELECT dst FROM raw"
    engine.run(
        "CREATE TABLE names AS SELECT row_number() OVER (ORDER BY name) - 1 AS place, name "  # noqa: S608
        f"FROM ({both})"
    )
    size, lowest, highest = engine.one("SELECT count(*), min(name), max(name) FROM names")
    if whole and highest - lowest + 1 == size:
        engine.run("DROP TABLE names")
        engine.load_query(f"SELECT src - {lowest} AS src, dst - {lowest} AS dst FROM raw", size)  # noqa: S608
        return range(lowest, highest + 1)
    engine.load_query(
        "SELECT a.place AS src, b.place AS dst FROM raw JOIN names AS a ON src = a.name "
        "JOIN names AS b ON dst = b.name",
        size,
    )
    return "names"


def _named(engine: Joins, edges: Edges) -> str:
    """A table with the names of nodes that are held in memory."""
    assert edges.names is not None
    named = edges.names.array if isinstance(edges.names, Ids) else np.array(edges.names, object)
    kind = "UBIGINT" if isinstance(edges.names, Ids) else "VARCHAR"
    engine.keep("names", {"place": np.arange(len(named)), "name": named}, f"name::{kind} AS name")
    return "names"


@dataclass(frozen=True, eq=False)
class DiskGraph:
    """A graph on disk; made by ``rb.graph_on_disk``.

    Attributes
    ----------
    engine
        The DuckDB that holds it.
    names
        The nodes as a range, or the table that has them.

    """

    engine: Joins = field(repr=False)
    names: range | str

    def __len__(self) -> int:
        return self.engine.size

    @cached_property
    def edge_count(self) -> int:
        """The number of edges, without loops and repeats."""
        return int(self.engine.one("SELECT count(*) FROM edges")[0]) // 2

    def nearest_sites(self, sites: Sequence[Any] | Mapping[Answer, Any]) -> DiskRegions:
        """Label every node by its nearest site, and give every site its rainbow.

        Parameters
        ----------
        sites
            Nodes, or names with their nodes, as in ``rb.nearest_sites``.

        Returns
        -------
        DiskRegions
            The regions; a tie goes to the site listed first, and so does a node that none reaches.

        Raises
        ------
        InvalidGraph
            If a site is not a node, or is listed twice.

        """
        expect(sites, Iterable, "nearest_sites", InvalidGraph)
        nodes = list(sites.values()) if isinstance(sites, Mapping) else list(sites)
        names = tuple(sites) if isinstance(sites, Mapping) else tuple(nodes)
        places = [self._place(node) for node in nodes]
        if not places:
            raise InvalidGraph("nearest_sites needs at least one site, got none")
        if len(set(places)) < len(places):
            twice = next(node for node in nodes if nodes.count(node) > 1)
            raise InvalidGraph(f"the sites list the node {brief(twice)} twice; list it once")
        between = self.engine.between(places)
        np.fill_diagonal(between, -1.0)
        order = np.argsort(between, axis=1, kind="stable").tolist()
        rainbows = {
            name: tuple(names[other] for other in row)
            for name, row in zip(names, order, strict=True)
        }
        found = self.engine.nearest(places)
        unreached = len(self) - int(self.engine.one(f"SELECT count(*) FROM {found}")[0])  # noqa: S608
        table = self.engine.filled(found, "mark", 0)
        return self._regions(table, names, rainbows, names, unreached)

    def labeled(
        self, labels: str | PathLike[str] | NDArray[Any], rainbows: Mapping[Label, Sequence[Any]]
    ) -> DiskRegions:
        """Label every node from a file or an array.

        Parameters
        ----------
        labels
            A file that ``rb.read_labels`` reads, or an array with a label for each node in order;
            both are held in memory once.
        rainbows
            The rainbow of each label.

        Returns
        -------
        DiskRegions
            The regions.

        Raises
        ------
        InvalidGraph
            If a node has no label or two, or a label has no rainbow.

        """
        if isinstance(labels, str | PathLike):
            labels = self.labels_from(labels)
        marks = np.asarray(labels)
        if marks.shape != (len(self),):
            raise InvalidGraph(
                f"there are {len(self)} datasets but {marks.size} labels; give each dataset one"
            )
        values, numbers = np.unique(marks, return_inverse=True)
        missing = next((each for each in values.tolist() if each not in rainbows), None)
        if missing is not None:
            raise InvalidGraph(f"label {brief(missing)} has no rainbow; add it to rainbows")
        table = self.engine.numbers(numbers)
        return self._regions(table, tuple(values.tolist()), rainbows, None, 0)

    def labels_from(self, path: str | PathLike[str]) -> NDArray[Any]:
        """A label for each node from a file, in memory.

        Parameters
        ----------
        path
            A file that ``rb.read_labels`` reads.

        Returns
        -------
        array
            A label for each node, in order.

        """
        return read_labels(path, Edges(np.empty((0, 2), dtype=np.int64), self._listed()))

    @cached_property
    def has_texts(self) -> bool:
        """Whether nodes are texts, not numbers."""
        if isinstance(self.names, range):
            return False
        return bool(self.engine.one("SELECT typeof(any_value(name)) = 'VARCHAR' FROM names")[0])

    def _listed(self) -> Sequence[Any]:
        """The names of nodes, in memory."""
        if isinstance(self.names, range):
            return self.names
        found = self.engine.arrays("SELECT name FROM names ORDER BY place")["name"]
        return Ids(found) if found.dtype.kind in "iu" else found.tolist()

    def _place(self, node: Any) -> int:
        whole = isinstance(node, int | np.integer) and not isinstance(node, bool)
        if isinstance(self.names, range):
            if whole and int(node) in self.names:
                return self.names.index(int(node))
        elif (whole or isinstance(node, str)) and self.has_texts == isinstance(node, str):
            found = self.engine.run("SELECT place FROM names WHERE name = $1", [node])
            if found:
                return int(found[0][0])
        raise InvalidGraph(f"the site {brief(node)} is not a node of the graph")

    def _regions(
        self,
        table: str,
        labels: tuple[Label, ...],
        rainbows: Mapping[Label, Sequence[Any]],
        answers: Sequence[Answer] | None,
        unreached: int,
    ) -> DiskRegions:
        """Regions numbered in the order of their first node, as a graph in memory has them."""
        first = self.engine.run(
            f"SELECT value, min(place) AS first FROM {table} GROUP BY value ORDER BY first"  # noqa: S608
        )
        shown = [labels[number] for number, _ in first]
        place = {number: index for index, (number, _) in enumerate(first)}
        order = [place.get(number, -1) for number in range(len(labels))]
        name = self.engine.renumbered(table, order)
        chosen = as_rainbow(answers if answers is not None else rainbows[shown[0]])
        orders = {label: as_rainbow(rainbows[label], chosen) for label in shown}
        return DiskRegions(self, name, orders, chosen, unreached)


@dataclass(frozen=True, eq=False)
class DiskRegions:
    """The regions of a graph on disk, with a rainbow for each.

    Attributes
    ----------
    graph
        The graph.
    table
        The table of place and value, the number of the region in ``rainbows``.
    rainbows
        The rainbow of each region, in order of first appearance.
    answers
        The answers in order.
    unreached
        How many nodes no site reaches.

    """

    graph: DiskGraph
    table: str = field(repr=False)
    rainbows: Mapping[Label, Rainbow]
    answers: tuple[Answer, ...]
    unreached: int = 0

    @property
    def truth(self) -> tuple[int, ...]:
        """For each region the index of its first choice among the answers."""
        return tuple(self.answers.index(order[0]) for order in self.rainbows.values())

    @cached_property
    def depth_table(self) -> str:
        """The table of place and level: the depth of the nodes that a boundary reaches."""
        return self.graph.engine.depths(self.table)

    @cached_property
    def counts(self) -> dict[tuple[Label, float], int]:
        """How many nodes each region and depth has, in order; the depth may be infinite."""
        labels = list(self.rainbows)
        rows = self.graph.engine.run(
            f"SELECT r.value, d.level, count(*) FROM {self.table} AS r LEFT JOIN "  # noqa: S608
            f"{self.depth_table} AS d ON r.place = d.place GROUP BY ALL ORDER BY ALL NULLS LAST"
        )
        return {
            (labels[number], math.inf if level is None else level): count
            for number, level, count in rows
        }

    @cached_property
    def touching(self) -> tuple[tuple[Label, Label], ...]:
        """The pairs of regions joined by an edge, each once."""
        labels = list(self.rainbows)
        return tuple((labels[a], labels[b]) for a, b in self.graph.engine.touching(self.table))

    def depths(self) -> NDArray[np.float64]:
        """The depth of each node, in memory."""
        sql = (
            f"SELECT d.level AS level FROM {self.table} AS r LEFT JOIN {self.depth_table} AS d "  # noqa: S608
            "ON r.place = d.place ORDER BY r.place"
        )
        found = self.graph.engine.arrays(sql)["level"]
        return np.ma.filled(np.ma.asarray(found).astype(np.float64), math.inf)

    def region_numbers(self) -> NDArray[Any]:
        """The index in ``rainbows`` of each node's region, in memory."""
        sql = f"SELECT value FROM {self.table} ORDER BY place"  # noqa: S608  our name
        return self.graph.engine.arrays(sql)["value"]

    def margin_table(self, cut: int) -> str:
        """Find margins: how far each node is from where each answer is the first choice.

        Parameters
        ----------
        cut
            The distance at which the search stops; what is farther, or out of reach, has it too.

        Returns
        -------
        str
            The name of a table of place and m0, m1, …, a margin for each answer.

        """
        engine = self.graph.engine
        truth = engine.renumbered(self.table, self.truth)
        found = engine.margins(truth, len(self.answers), cut)
        engine.run(f"DROP TABLE {truth}")
        return found

    def must_be_depths(self) -> None:
        """Refuse depths that jump: what the proof by region and depth relies on, on every edge."""
        wrong = self.graph.engine.one(
            f"SELECT count(*) FROM edges JOIN {self.table} AS a ON src = a.place "  # noqa: S608
            f"JOIN {self.table} AS b ON dst = b.place "
            f"LEFT JOIN {self.depth_table} AS c ON src = c.place "
            f"LEFT JOIN {self.depth_table} AS d ON dst = d.place "
            "WHERE CASE WHEN a.value <> b.value THEN c.level IS DISTINCT FROM 0 "
            "OR d.level IS DISTINCT FROM 0 ELSE (c.level IS NULL) <> (d.level IS NULL) "
            "OR abs(c.level - d.level) > 1 END"
        )[0]
        if wrong:
            raise InvalidGraph(f"depths must change by at most 1 on an edge, but {wrong} do not")
