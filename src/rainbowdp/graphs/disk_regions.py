"""The regions of a graph on disk: what ``DiskGraph.nearest_sites`` and ``labeled`` return."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rainbowdp.aliases import Answer, Label, Rainbow
from rainbowdp.errors import InvalidGraph, InvalidMechanism
from rainbowdp.expecting import brief
from rainbowdp.graphs.forbidding import left_without

if TYPE_CHECKING:
    from rainbowdp.graphs.disk_graph import DiskGraph


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
