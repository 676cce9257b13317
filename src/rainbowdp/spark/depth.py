"""Depths on Spark: region, depth and boundary of each dataset, and the mechanism made from them.

The search starts from all boundary datasets at once. Only edges inside a region matter once the
boundary is known. What comes back is small: a count for each region and depth, and the touching
pairs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rainbowdp.aliases import Label
from rainbowdp.errors import InvalidMechanism
from rainbowdp.mechanisms.leveled import Leveled
from rainbowdp.spark.frames import (
    Kept,
    Progress,
    both_ways,
    check_edges,
    check_nodes,
    check_options,
    checked_kinds,
    functions_of_columns,
    known_nodes,
    labeled_edges,
    shown_on_a_terminal,
    way_to_cut,
)
from rainbowdp.spark.search import CUT_EVERY, search

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from rainbowdp.mechanisms.mechanism import Mechanism


@dataclass(frozen=True, kw_only=True)
class SparkDepths(Leveled):
    """Region and depth of each dataset, and the small results that a mechanism needs.

    Attributes
    ----------
    nodes
        A DataFrame with the columns id, region, depth (null if infinite) and boundary. It is
        computed from the given nodes and the levels at each use, so write it to disk once.
    counts
        How many datasets each (region, depth) has; the depth may be ``math.inf``.
    touching
        The pairs of regions joined by an edge, each once.
    limit
        The depth at which the search was told to stop, if it was.
    capped
        For each region that is deeper than the limit, how many of its datasets got the limit as
        their depth. That is private: they answer by the row at the limit, as do all datasets around
        them, and the next shallower row is one step away.

    """

    nodes: DataFrame

    def with_rows(self, mechanism: Mechanism) -> DataFrame:
        """``nodes`` with one more column: the number of the dataset's row in ``mechanism.table``.

        Parameters
        ----------
        mechanism
            What ``optimal`` returned.

        Returns
        -------
        pyspark.sql.DataFrame
            The nodes with the column row.

        Raises
        ------
        InvalidMechanism
            If the mechanism lacks a row for a region and depth.

        """
        from pyspark.sql import functions as f

        stray = next((place for place in self.counts if place not in mechanism.graph), None)
        if stray is not None:
            raise InvalidMechanism(
                f"the mechanism has no row for region and depth {stray!r}; make it with optimal()"
            )
        rows = [
            (label, None if depth == math.inf else int(depth), row)
            for (label, depth), row in (
                (place, int(mechanism.index[mechanism.graph.position(place)]))
                for place in self.counts
            )
        ]
        kind = self.nodes.schema["region"].dataType.simpleString()
        table = self.nodes.sparkSession.createDataFrame(rows, f"region {kind}, depth int, row int")
        table = f.broadcast(table.withColumnsRenamed({"region": "of", "depth": "at"}))
        here = (self.nodes["region"] == table["of"]) & self.nodes["depth"].eqNullSafe(table["at"])
        return self.nodes.join(table, here).drop("of", "at")


def depths(
    nodes: DataFrame,
    edges: DataFrame,
    *,
    deepest: int | None = None,
    cut_every: int = CUT_EVERY,
    progress: Progress | None = None,
) -> SparkDepths:
    """Region, depth and boundary of each dataset of a graph in Spark.

    Edges are undirected, each given once or both ways; loops, repeats, and nodes listed twice with
    the same label are harmless. Cost: two joins over all edges, then for each level one pass over
    the edges inside regions, which stay where they are, and a shuffle of the level itself.

    Parameters
    ----------
    nodes
        A DataFrame with the columns id and label, whole numbers or strings.
    edges
        A DataFrame with the columns src and dst, of the type of id.
    deepest
        Stop the search at this depth, and give it to all datasets behind it (``capped``).
    cut_every
        After how many levels the lineage is cut: in the checkpoint directory, so that a lost
        executor costs at most these levels again; in memory if Spark runs inside one process.
    progress
        Called with each level and its number of datasets; by default a terminal shows them.

    Returns
    -------
    SparkDepths
        The depths, and what a mechanism needs to know of the graph.

    Raises
    ------
    InvalidGraph
        If columns are missing, or nodes, labels and edges do not fit together.

    """
    functions_of_columns()
    check_options(deepest, cut_every)
    node_kinds, edge_kinds = checked_kinds(nodes, edges, "label")
    cut = way_to_cut(nodes.sparkSession)
    with Kept() as kept:
        known = kept(known_nodes(nodes, node_kinds))
        check_nodes(known, nodes)
        labeled = kept(labeled_edges(edges, edge_kinds, known))
        check_edges(labeled)
        touching = _touching(labeled)
        inside = labeled.where("here = there").select("src", "dst")
        start, inner = kept(_boundary(labeled)), kept(both_ways(inside))
        for frame in (start, inner):
            frame.count()
        kept.drop(labeled)
        said = progress or shown_on_a_terminal()
        levels = search(start, inner, kept, cut, cut_every, deepest, said)
        found = _joined(known, levels, nodes.schema["id"].dataType)
        return _summary(found, touching, deepest)


def _touching(labeled: DataFrame) -> tuple[tuple[Label, Label], ...]:
    f = functions_of_columns()
    ends = f.col("here"), f.col("there")
    pairs = labeled.where(ends[0] != ends[1]).select(f.least(*ends), f.greatest(*ends)).distinct()
    return tuple(sorted((a, b) for a, b in pairs.collect()))


def _boundary(labeled: DataFrame) -> DataFrame:
    """The datasets with a neighbor in another region, at depth 0."""
    f = functions_of_columns()
    across = labeled.where(f.col("here") != f.col("there"))
    ends = across.select(f.explode(f.array("src", "dst")).alias("id"))
    return ends.distinct().withColumns({"mark": f.lit(0), "depth": f.lit(0), "new": f.lit(True)})


def _joined(known: DataFrame, levels: DataFrame, kind: Any) -> DataFrame:
    f = functions_of_columns()
    return known.join(levels, "id", "left").select(
        f.col("id").cast(kind).alias("id"),
        "region",
        "depth",
        f.coalesce(f.col("depth") == 0, f.lit(False)).alias("boundary"),
    )


def _summary(
    found: DataFrame, touching: tuple[tuple[Label, Label], ...], limit: int | None
) -> SparkDepths:
    """The counts; and, if the search stopped early, the limit for everything behind it."""
    f = functions_of_columns()
    rows = found.groupBy("region", "depth").count().collect()
    counts = {(label, math.inf if depth is None else depth): count for label, depth, count in rows}
    capped: dict[Label, int] = {}
    if limit is not None:  # a region whose search ended by itself knows its infinite depths
        for label in [label for label, depth in counts if depth == limit]:
            behind = counts.pop((label, math.inf), 0)
            if behind:
                capped[label] = behind
                counts[label, limit] += behind
    if capped:
        behind = f.col("depth").isNull() & f.col("region").isin(list(capped))
        found = found.withColumn("depth", f.when(behind, limit).otherwise(f.col("depth")))
    return SparkDepths(
        nodes=found,
        counts=dict(sorted(counts.items())),
        touching=touching,
        limit=limit,
        capped=capped,
    )
