"""Graphs that stay on disk: nearest sites, regions, depths and margins, in the memory you allow."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from os import PathLike
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rainbowdp.aliases import Answer, Floats, Label, Rainbow
from rainbowdp.errors import InvalidGraph, InvalidMechanism, Unreached
from rainbowdp.expecting import brief, expect
from rainbowdp.graphs.disk_loading import DiskLengths
from rainbowdp.graphs.edges import Edges, Ids, length_in_words
from rainbowdp.graphs.engines import measured_joins
from rainbowdp.graphs.engines.joins import Joins
from rainbowdp.graphs.engines.measured_plain import FARTHEST, TooFar
from rainbowdp.graphs.forbidding import left_without
from rainbowdp.graphs.rainbows import as_rainbow
from rainbowdp.graphs.readers.goals import read_weights
from rainbowdp.graphs.readers.nodes import read_labels
from rainbowdp.graphs.saying import ON_A_GRAPH, at_a_distance


@dataclass(frozen=True, eq=False)
class DiskGraph:
    """A graph on disk; made by ``rb.graph_on_disk``.

    Attributes
    ----------
    engine
        The DuckDB that holds it.
    names
        The nodes as a range, or the table that has them.
    lengths
        In which steps edges count that go by length; None where they are counted.

    """

    engine: Joins = field(repr=False)
    names: range | str
    lengths: DiskLengths | None = None
    _tables: dict[Any, str] = field(default_factory=dict, repr=False)  # that were searched for

    def __len__(self) -> int:
        return self.engine.size

    @cached_property
    def edge_count(self) -> int:
        """The number of edges, without loops and repeats."""
        return int(self.engine.one("SELECT count(*) FROM edges")[0]) // 2

    @property
    def apart(self) -> str:
        """How far apart two nodes are that a guarantee speaks of, in words."""
        if self.lengths is None:
            return ON_A_GRAPH
        return at_a_distance(length_in_words(self.lengths.unit, self.lengths.measure))

    def nearest_sites(
        self,
        sites: Sequence[Any] | Mapping[Answer, Any],
        *,
        unreached: Literal["refuse", "first"] = "refuse",
    ) -> DiskRegions:
        """Label every node by its nearest site, and give every site its rainbow.

        Sites are nearest by length where the graph was opened with ``lengths``.

        Parameters
        ----------
        sites
            Nodes, or names with their nodes, as in ``rb.nearest_sites``.
        unreached
            What to do where no site reaches a node: ``"refuse"`` the graph, or give such nodes to
            the ``"first"`` site.

        Returns
        -------
        DiskRegions
            The regions; a tie goes to the site listed first.

        Raises
        ------
        InvalidGraph
            If a site is not a node, or is listed twice, or no site reaches some node.

        """
        expect(sites, Iterable, "nearest_sites", InvalidGraph)
        if unreached not in ("refuse", "first"):
            raise InvalidGraph(f"unreached must be 'refuse' or 'first', got {brief(unreached)}")
        nodes = list(sites.values()) if isinstance(sites, Mapping) else list(sites)
        names = tuple(sites) if isinstance(sites, Mapping) else tuple(nodes)
        places = [self._place(node) for node in nodes]
        if not places:
            raise InvalidGraph("nearest_sites needs at least one site, got none")
        if len(set(places)) < len(places):
            twice = next(node for node in nodes if nodes.count(node) > 1)
            raise InvalidGraph(f"the sites list the node {brief(twice)} twice; list it once")
        found = self._nearest(places)
        beyond = len(self) - int(self.engine.one(f"SELECT count(*) FROM {found}")[0])  # noqa: S608
        if beyond and unreached == "refuse":
            raise self._unreached(found, beyond)
        between = self._between(places)
        np.fill_diagonal(between, -1.0)
        order = np.argsort(between, axis=1, kind="stable").tolist()
        rainbows = {
            name: tuple(names[other] for other in row)
            for name, row in zip(names, order, strict=True)
        }
        table = self.engine.filled(found, "mark", 0)
        at = dict(zip(names, places, strict=True))
        return self._regions(table, names, rainbows, names, beyond, at)

    @property
    def _by_length(self) -> bool:
        return "length" in self.engine.extra

    def _nearest(self, places: Sequence[int]) -> str:
        """A table of place and mark: the first of the nearest places."""
        if self._by_length:
            return measured_joins.nearest(self.engine, places)
        return self.engine.nearest(places)

    def _between(self, places: Sequence[int]) -> NDArray[np.float64]:
        if self._by_length:
            return measured_joins.between(self.engine, self.distance_table(places), places)
        return self.engine.between(places)

    def _unreached(self, found: str, count: int) -> Unreached:
        """What to say of nodes that no site reaches."""
        (place,) = self.engine.one(
            f"SELECT min(p.range) FROM range({len(self)}) AS p ANTI JOIN {found} AS f "  # noqa: S608
            "ON p.range = f.place"
        )
        return Unreached(count, brief(self.name_of(place)))

    def distance_table(self, places: Sequence[int]) -> str:
        """A table of place and d0, d1, …: how far each node is from ``places``, null without a way.

        Parameters
        ----------
        places
            Positions of nodes.

        Returns
        -------
        str
            The name of the table; by length where nearest sites go by length.

        """
        key = ("distances", *places)
        if key not in self._tables:
            search = measured_joins.distances if self._by_length else Joins.distances
            self._tables[key] = search(self.engine, places)
        return self._tables[key]

    def depth_table(self, regions: str) -> str:
        """A table of place and level: the depth of the nodes that a boundary reaches.

        Parameters
        ----------
        regions
            A table of place and value, the number of the region.

        Returns
        -------
        str
            The name of the table; it is searched for once.

        """
        key = ("depths", regions)
        if key not in self._tables:
            if self.lengths is None:
                self._tables[key] = self.engine.depths(regions)
            else:
                self._tables[key] = self._measured_depths(regions)
        return self._tables[key]

    def _measured_depths(self, regions: str) -> str:
        try:
            return measured_joins.depths(self.engine, regions)
        except TooFar:
            raise InvalidGraph(
                f"some datasets are more than {FARTHEST:,} steps apart; use a larger unit"
            ) from None

    def margin_table(self, regions: str, truth: str, answers: int, cut: int) -> str:
        """A table of place and m0, m1, …: how far each node is from where each answer is true.

        Parameters
        ----------
        regions, truth
            Tables of place and value: the number of the region, and of the true answer.
        answers
            The number of answers.
        cut
            The distance at which the search stops; what is farther, or out of reach, has it too.

        Returns
        -------
        str
            The name of the table.

        """
        if self.lengths is None:
            return self.engine.margins(truth, answers, cut)
        return measured_joins.margins(self.engine, regions, truth, answers, cut)

    def labeled(
        self,
        labels: str | PathLike[str] | NDArray[Any],
        rainbows: Mapping[Label, Sequence[Any]],
        answers: Sequence[Answer] | None = None,
    ) -> DiskRegions:
        """Label every node from a file or an array.

        Parameters
        ----------
        labels
            A file that ``rb.read_labels`` reads, or an array with a label for each node in order;
            both are held in memory once.
        rainbows
            The rainbow of each label.
        answers
            The order in which answers are listed; by default that of the first rainbow.

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
        return self._regions(table, tuple(values.tolist()), rainbows, answers, 0, None)

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
        return read_labels(path, self._nodes())

    def weights_from(self, path: str | PathLike[str]) -> Floats:
        """What each node counts from a file, in memory.

        Parameters
        ----------
        path
            A file that ``rb.read_weights`` reads.

        Returns
        -------
        array
            A weight for each node, in order; 0 where the file lists none.

        """
        return read_weights(path, self._nodes())

    def _nodes(self) -> Edges:
        """The nodes without their edges."""
        return Edges(np.empty((0, 2), dtype=np.int64), self._listed())

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

    def name_of(self, place: int) -> Any:
        """The node at a place.

        Parameters
        ----------
        place
            Its position.

        Returns
        -------
        int or str
            The node.

        """
        if isinstance(self.names, range):
            return self.names[place]
        return self.engine.one(f"SELECT name FROM names WHERE place = {place}")[0]  # noqa: S608

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
        sites: Mapping[Answer, int] | None,
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
        return DiskRegions(self, name, orders, chosen, unreached, sites)


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
    sites
        The place of each site, where regions are those of nearest sites.

    """

    graph: DiskGraph
    table: str = field(repr=False)
    rainbows: Mapping[Label, Rainbow]
    answers: tuple[Answer, ...]
    unreached: int = 0
    sites: Mapping[Answer, int] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        self._refuse_short_borders()

    def _refuse_short_borders(self) -> None:
        """An edge without a step makes its ends one place, which cannot be in two regions."""
        if self.graph.lengths is None:
            return
        across = self.graph.engine.run(
            f"SELECT src, dst {self.graph.engine.ends(self.table, '<>')} AND edges.steps = 0 "
            "ORDER BY ALL LIMIT 1"
        )
        if across:
            one, other = (brief(self.graph.name_of(place)) for place in across[0])
            raise InvalidGraph(
                f"the edge between {one} and {other} is shorter than the unit, which makes them "
                "one place, but they are in two regions; use a smaller unit, or give both one label"
            )

    def without(self, forbidden: Answer | Iterable[Answer]) -> DiskRegions:
        """The same regions, in which some answers are never given, as by ``rb.forbid``.

        Parameters
        ----------
        forbidden
            One answer or several.

        Returns
        -------
        DiskRegions
            The regions with the answers that are left; every rainbow keeps their order.

        Raises
        ------
        InvalidRainbow
            If there is no such answer, or none would be left.

        """
        left = left_without(self.answers, forbidden)
        if left == self.answers:
            return self
        orders = {
            label: tuple(answer for answer in rainbow if answer in left)
            for label, rainbow in self.rainbows.items()
        }
        return replace(self, rainbows=orders, answers=left)

    @property
    def truth(self) -> tuple[int, ...]:
        """For each region the index of its first choice among the answers."""
        return tuple(self.answers.index(order[0]) for order in self.rainbows.values())

    @property
    def depth_table(self) -> str:
        """The table of place and level: the depth of the nodes that a boundary reaches."""
        return self.graph.depth_table(self.table)

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
        """Find margins, and check on every edge what privacy asks of them.

        They are 0 at exactly the first choice and change by at most 1 on an edge, or by its steps.

        Parameters
        ----------
        cut
            The distance at which the search stops; what is farther, or out of reach, has it too.

        Returns
        -------
        str
            The name of a table of place and m0, m1, …, a margin for each answer.

        Raises
        ------
        InvalidMechanism
            If an edge breaks it.

        """
        engine, answers = self.graph.engine, len(self.answers)
        truth = engine.renumbered(self.table, self.truth)
        found = self.graph.margin_table(self.table, truth, answers, cut)
        odd = engine.wrong_zeros(truth, found, answers)
        if odd:
            raise InvalidMechanism(
                f"a margin must be 0 at exactly the first choice, but at {odd:,} nodes it is not"
            )
        wrong = engine.wrong_margins(truth, found, answers)
        if wrong:
            raise InvalidMechanism(
                "margins must change by at most 1 between neighbors, or by the steps of an edge, "
                f"but on {wrong:,} edges they do not"
            )
        engine.run(f"DROP TABLE {truth}")
        return found

    def must_be_depths(self) -> None:
        """Refuse depths that jump: what the proof by region and depth relies on, on every edge."""
        wrong = self.graph.engine.wrong_depths(self.table, self.depth_table)
        if wrong:
            raise InvalidGraph(
                "depths must change by at most 1 on an edge, or by its steps, but on "
                f"{wrong:,} edges they do not"
            )
