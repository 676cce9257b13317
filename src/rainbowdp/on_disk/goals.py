"""What answers are worth at the nodes of a graph on disk, and which regions a goal is served by.

The worth of a node is a row by its region, or minus its distances to the sites; what it counts is a
column. All sums over nodes are made by DuckDB, for each region and depth, so that the boundary
graph, which is small, stands for the whole one: designs and values on it are those of every node.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from rainbowdp.aliases import Answer, Floats, Integers, Label
from rainbowdp.errors import InvalidMechanism, RainbowError
from rainbowdp.expecting import brief, expect
from rainbowdp.graphs.disk_graph import DiskRegions
from rainbowdp.graphs.graph import RainbowGraph
from rainbowdp.mechanisms.leveled import Leveled
from rainbowdp.mechanisms.preferring import best_columns, reordered
from rainbowdp.mechanisms.worths import Forbidden, Worths, weights_that_count

_MOST_PLACES = 20_000_000  # regions × depths of a boundary graph in memory


@dataclass(frozen=True)
class Places:
    """The boundary graph of regions on disk, and what its places are worth.

    Attributes
    ----------
    graph
        The boundary graph: its datasets are (region, depth).
    counts
        How many nodes each region and depth has.
    worths
        What answers are worth there in the mean over nodes as they count.

    """

    graph: RainbowGraph
    counts: Mapping[tuple[Label, float], int]
    worths: Worths

    @property
    def sizes(self) -> Integers:
        """How many nodes each dataset of the graph stands for."""
        return np.array([self.counts.get(place, 0) for place in self.graph.datasets])

    @property
    def bounded(self) -> dict[tuple[Label, int], int]:
        """``counts`` where a boundary is reached."""
        return {(r, int(depth)): n for (r, depth), n in self.counts.items() if depth < math.inf}


@dataclass(frozen=True, eq=False)
class DiskGoal:
    """A goal for a graph on disk; made by ``goal_on_disk``.

    Attributes
    ----------
    regions
        The regions, without the forbidden answers.
    table
        What each answer is worth in each region; none where that goes by distance.
    far
        The table of place and of a column for each answer, how far its site is; none if worths go
        by region.
    weights
        The table of place and value, what each node counts; none if all count alike.
    words
        What is valued, in words.
    free
        Whether regions and rainbows may follow the goal: it is not about the graph's own order.
    fewer
        Whether answers are forbidden.

    """

    regions: DiskRegions
    table: Floats | None
    far: str | None
    weights: str | None
    words: str
    free: bool
    fewer: bool

    @property
    def _columns(self) -> list[str]:
        return [f"u{k}" for k in range(len(self.regions.answers))] if self.far else []

    def _joined(self, place: str) -> str:
        """The tables that have a node's region, distances and weight, in SQL."""
        found = f"JOIN {self.regions.table} AS own ON own.place = {place} "
        if self.far is not None:
            found += f"JOIN {self.far} AS far ON far.place = {place} "
        if self.weights is not None:
            found += f"JOIN {self.weights} AS w ON w.place = {place} "
        return found

    @property
    def _weight(self) -> str:
        return "1.0::DOUBLE" if self.weights is None else "w.value"

    @cached_property
    def mass(self) -> float:
        """What all nodes count together."""
        if self.weights is None:
            return float(len(self.regions.graph))
        return float(self.regions.graph.engine.one(f"SELECT sum(value) FROM {self.weights}")[0])  # noqa: S608

    def _sums(self, grouped: str, source: str) -> list[tuple[tuple[Any, ...], int, float, Floats]]:
        """For each group of nodes: its key, how many they are, what they count and are worth."""
        sums = "".join(f", -sum({self._weight} * far.{u}::DOUBLE)" for u in self._columns)
        keys = grouped.count(",") + 1
        rows = self.regions.graph.engine.run(
            f"SELECT {grouped}, own.value, count(*), sum({self._weight}){sums} FROM {source} "  # noqa: S608
            f"{self._joined('r.place')} GROUP BY ALL ORDER BY ALL NULLS LAST"
        )
        found: dict[tuple[Any, ...], tuple[int, float, Floats]] = {}
        for row in rows:
            key, own, count, weight = row[:keys], row[keys], row[keys + 1], row[keys + 2]
            worth = np.array(row[keys + 3 :]) if self.table is None else self.table[own] * weight
            if key in found:
                known = found[key]
                found[key] = known[0] + count, known[1] + weight, known[2] + worth
            else:
                found[key] = count, weight, worth
        return [(key, *values) for key, values in found.items()]

    def places(self, regions: DiskRegions) -> Places:
        """The boundary graph of ``regions`` with what its places count and are worth."""
        labels, lengths = list(regions.rainbows), regions.graph.lengths
        source = f"{regions.table} AS r LEFT JOIN {regions.depth_table} AS d ON r.place = d.place"
        counts, weight, worth = {}, {}, {}
        for (number, level), count, counted, sums in self._sums("r.value, d.level", source):
            place = labels[number], math.inf if level is None else int(level)
            counts[place], weight[place], worth[place] = count, counted, sums
        leveled = Leveled(
            counts=counts,
            touching=regions.touching,
            unit=None if lengths is None else lengths.unit,
            measure="" if lengths is None else lengths.measure,
        )
        depths = sum((each.deepest or 0) + 1 for each in leveled.regions.values())
        if depths > _MOST_PLACES:
            raise InvalidMechanism(
                f"the regions have {depths:,} depths together, more than {_MOST_PLACES:,}; use "
                "fewer regions, or a larger unit"
            )
        graph = leveled.boundary_graph(regions.rainbows, regions.answers)
        table = np.zeros((len(graph), len(graph.answers)))
        held = np.zeros(len(graph))
        for number, place in enumerate(graph.datasets):
            if weight.get(place):
                table[number], held[number] = worth[place] / weight[place], weight[place]
        index = np.arange(len(graph))
        return Places(graph, counts, Worths(table, index, held, self.words, self.far is not None))

    def served_by(self) -> list[DiskRegions]:
        """The regions that kinds are made for, as ``rb.best`` chooses them in memory.

        They have the rainbows that the goal has; and, if they differ, there are those that the goal
        itself makes, too: where each answer is worth most.
        """
        if not self.free or (not self.fewer and self.far is None):
            return [self._reordered()]
        aimed = self._aimed()
        return [self._reordered()] if aimed is None else [aimed, self._reordered()]

    def aimed_at(self) -> DiskRegions:
        """The regions that a boundary is designed for, in the sum over nodes."""
        return (self._aimed() if self.free else None) or self._reordered()

    def _reordered(self) -> DiskRegions:
        """The same regions and first choices, the others by their mean worth."""
        if not self.free:
            return self.regions
        places = self.places(self.regions)
        order = reordered(places.graph, places.worths)
        if order is places.graph:
            return self.regions
        named = {label: region.rainbow for label, region in order.regions.items()}
        return replace(self.regions, rainbows=named)

    def _aimed(self) -> DiskRegions | None:
        """A region for each answer that is worth most somewhere; none if these are as they were."""
        regions, engine = self.regions, self.regions.graph.engine
        best = self._best_answers()
        (changed,) = engine.one(
            f"SELECT count(*) FROM {best} AS b JOIN {regions.table} AS r ON b.place = r.place "  # noqa: S608
            f"WHERE b.value <> list_value({', '.join(map(str, regions.truth))})[r.value + 1]"
        )
        if not changed:
            return None
        sums = {key[0]: worth for key, _, _, worth in self._sums("r.value", f"{best} AS r")}
        present, answers = sorted(sums), regions.answers
        numbers = [present.index(k) if k in sums else -1 for k in range(len(answers))]
        orders = {}
        for first in present:
            others = [k for k in range(len(answers)) if k != first]
            others.sort(key=lambda k: -sums[first][k])
            orders[answers[first]] = tuple(answers[k] for k in (first, *others))
        return replace(regions, table=engine.renumbered(best, numbers), rainbows=orders)

    def _best_answers(self) -> str:
        """A table of place and value: the answer that is worth most, the first choice if it is."""
        regions, engine = self.regions, self.regions.graph.engine
        if self.table is not None:
            rows = np.arange(len(self.table))
            best = best_columns(self.table, rows, np.array(regions.truth))
            return engine.renumbered(regions.table, best.tolist())
        name, columns = engine.table(), ", ".join(f"far.{u}" for u in self._columns)
        first = f"list_value({', '.join(map(str, regions.truth))})[own.value + 1]"
        engine.run(
            f"CREATE TABLE {name} AS SELECT own.place, CASE WHEN [{columns}][{first} + 1] <= "  # noqa: S608
            f"least({columns}) THEN {first} ELSE list_position([{columns}], least({columns})) - 1 "
            f"END::BIGINT AS value FROM {regions.table} AS own JOIN {self.far} AS far "
            "ON own.place = far.place ORDER BY own.place"
        )
        return name

    def blocks(
        self, margins: str, answers: int, most: int
    ) -> Iterator[tuple[Floats, Floats, Floats]]:
        """Margins, worths and weights of all nodes, some at a time."""
        engine, step = self.regions.graph.engine, max(1, most // answers)
        held = [f"m{k}" for k in range(answers)]
        listed = ", ".join([*(f"m.{m}" for m in held), *(f"far.{u}" for u in self._columns)])
        for start in range(0, len(self.regions.graph), step):
            found = engine.arrays(
                f"SELECT {listed}, own.value AS own, {self._weight} AS weight FROM {margins} AS m "  # noqa: S608
                f"{self._joined('m.place')} WHERE m.place >= {start} AND m.place < {start + step}"
            )
            block = np.stack([found[m] for m in held], axis=1).astype(np.float64)
            if self.table is None:
                worth = -np.stack([found[u] for u in self._columns], axis=1).astype(np.float64)
            else:
                worth = self.table[found["own"]]
            yield block, worth, np.asarray(found["weight"], dtype=np.float64)


def goal_on_disk(
    regions: DiskRegions, utility: Any = None, weights: Any = None, forbid: Forbidden = ()
) -> DiskGoal:
    """What ``utility`` and ``weights`` say of each node and answer, without the forbidden ones."""
    left = regions.without(forbid)
    counted = None if weights is None else _weights(regions, weights)
    suffix = "" if weights is None else ", datasets by their weights"
    fewer = left is not regions
    if utility is None:
        chances = np.eye(len(left.answers))[list(left.truth)]
        words = f"chance of the first choice{suffix}"
        return DiskGoal(left, chances, None, counted, words, False, fewer)
    if isinstance(utility, str):
        far = _distances(regions, left, utility)
        words = f"worth by dataset and answer{suffix}"
        return DiskGoal(left, None, far, counted, words, True, fewer)
    table = _by_region(regions, utility)
    kept = [number for number, answer in enumerate(regions.answers) if answer in left.answers]
    words = f"worth by region and answer{suffix}"
    return DiskGoal(left, table[:, kept], None, counted, words, True, fewer)


def _by_region(regions: DiskRegions, utility: Mapping[Any, Mapping[Answer, float]]) -> Floats:
    expect(utility, Mapping, "utility", InvalidMechanism)
    rows = []
    for label in regions.rainbows:
        if label not in utility or set(utility[label]) != set(regions.answers):
            raise InvalidMechanism(
                f"utility must have a worth for each answer in the region {brief(label)}"
            )
        rows.append([float(utility[label][answer]) for answer in regions.answers])
        if not np.isfinite(rows[-1]).all():
            raise InvalidMechanism(f"worths must be finite numbers, got others in {brief(label)}")
    return np.array(rows)


def _distances(regions: DiskRegions, left: DiskRegions, utility: str) -> str:
    """The table of place and u0, u1, …: how far the site of each answer is that is left.

    As in memory, a site that cannot be reached is as far as any, and distances have 32 bits.
    """
    if utility != "distance" or regions.sites is None:
        raise InvalidMechanism(
            "a utility on disk must be a mapping {region: {answer: worth}}, or 'distance' for the "
            f"regions of nearest_sites, got {brief(utility)}"
        )
    engine, answers = regions.graph.engine, regions.answers
    found = regions.graph.distance_table([regions.sites[answer] for answer in answers])
    names = [f"d{k}" for k in range(len(answers))]
    largest = ", ".join(f"max({d})" for d in names)
    (far,) = engine.one(f"SELECT coalesce(greatest({largest}), 0) FROM {found}")  # noqa: S608
    kept = [f"d{answers.index(answer)}" for answer in left.answers]
    columns = ", ".join(f"coalesce({d}, {float(far)!r})::FLOAT AS u{k}" for k, d in enumerate(kept))
    name = engine.table()
    engine.run(f"CREATE TABLE {name} AS SELECT place, {columns} FROM {found} ORDER BY place")  # noqa: S608
    return name


def _weights(regions: DiskRegions, weights: Any) -> str:
    """A table of place and value from an array, or from a file."""
    if isinstance(weights, Mapping):
        raise RainbowError("weights on disk must be an array with a number for each node, in order")
    try:
        found = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise RainbowError("weights must be numbers, but one is not") from None
    size = len(regions.graph)
    if found.shape != (size,):
        raise RainbowError(
            f"weights must have a number for each of the {size:,} nodes, got the shape "
            f"{found.shape}"
        )
    return regions.graph.engine.numbers(weights_that_count(found))
