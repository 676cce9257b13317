"""The nearest of given sites on Spark: a label for each dataset, and a rainbow for each site."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from rainbowdp.aliases import Answer, Rainbow
from rainbowdp.errors import InvalidGraph, Unreached
from rainbowdp.spark.frames import (
    Kept,
    Progress,
    both_ways,
    check_options,
    checked_kinds,
    functions_of_columns,
    shown_on_a_terminal,
    way_to_cut,
)
from rainbowdp.spark.search import CUT_EVERY, search

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True)
class SparkSites:
    """The nearest site of each dataset; made by ``nearest_sites``.

    Attributes
    ----------
    nodes
        A DataFrame with the columns id, label, the name of the nearest site, and distance, null
        where no site reaches. It goes into ``depths`` and ``margins`` as it is.
    rainbows
        For each site the order of all sites by their distance from it.

    """

    nodes: DataFrame
    rainbows: Mapping[Answer, Rainbow]


def nearest_sites(
    nodes: DataFrame,
    edges: DataFrame,
    sites: Sequence[Any] | Mapping[Answer, Any],
    *,
    unreached: Literal["refuse", "first"] = "refuse",
    cut_every: int = CUT_EVERY,
    progress: Progress | None = None,
) -> SparkSites:
    """Label every dataset by its nearest site, and give every site its rainbow.

    A tie goes to the site listed first. Cost: a search of all datasets, and one that goes on from
    all sites until they have met.

    Parameters
    ----------
    nodes
        A DataFrame with the column id, whole numbers or strings.
    edges
        A DataFrame with the columns src and dst, of the type of id.
    sites
        Ids, or names with their ids, as in ``rb.nearest_sites``. Names are all whole numbers or all
        texts.
    unreached
        What becomes of datasets that no site reaches, as in ``rb.nearest_sites``.
    cut_every, progress
        As in ``depths``.

    Returns
    -------
    SparkSites
        The labels and the rainbows.

    Raises
    ------
    InvalidGraph
        If columns are missing, a site is not a node or is listed twice, or no site reaches some
        datasets.

    """
    f = functions_of_columns()
    check_options(None, cut_every)
    node_kinds, edge_kinds = checked_kinds(nodes, edges)
    places = list(sites.values()) if isinstance(sites, Mapping) else list(sites)
    names = tuple(sites) if isinstance(sites, Mapping) else tuple(places)
    if len(set(places)) < len(places) or not places:
        raise InvalidGraph("the sites must be at least one node, each listed once")
    if unreached not in ("refuse", "first"):
        raise InvalidGraph(f"unreached must be 'refuse' or 'first', got {unreached!r}")
    spark, kind = nodes.sparkSession, node_kinds["id"]
    cut, said = way_to_cut(spark), progress or shown_on_a_terminal()
    known = nodes.select(f.col("id").cast(kind).alias("id")).distinct()
    there = {row["id"] for row in known.where(f.col("id").isin(places)).collect()}
    missing = next((place for place in places if place not in there), None)
    if missing is not None:
        raise InvalidGraph(f"the site {missing!r} is not a node of the graph")
    given = [(place, number) for number, place in enumerate(places)]
    start = spark.createDataFrame(given, f"id {kind}, mark int").withColumns(
        {"depth": f.lit(0), "new": f.lit(True)}
    )
    pairs = edges.select(*(f.col(name).cast(kind).alias(name) for name in edge_kinds))
    with Kept() as kept:
        roads = kept(both_ways(pairs))
        roads.count()
        found = search(start, roads, kept, cut, cut_every, None, said)
        labels = spark.createDataFrame(
            list(enumerate(names)),
            f"number int, label {'bigint' if all(type(n) is int for n in names) else 'string'}",
        )
        reached = known.join(found.select("id", "mark", "depth"), "id", "left")
        number = f.coalesce(f.col("mark"), f.lit(0)).alias("number")
        labeled = reached.select("id", f.col("depth").alias("distance"), number).join(
            f.broadcast(labels), "number"
        )
        table = cut(labeled.select("id", "label", "distance"))
        if unreached == "refuse":
            _must_be_reached(table)
        between = _between(places, start, roads, kept, cut, cut_every)
    order = {}
    for name, line in zip(names, between, strict=True):
        nearest = sorted(range(len(places)), key=line.__getitem__)  # stable: ties as listed
        order[name] = tuple(names[other] for other in nearest)
    return SparkSites(table, order)


def _must_be_reached(table: DataFrame) -> None:
    f = functions_of_columns()
    beyond = f.when(f.col("distance").isNull(), f.col("id"))
    [(count, node)] = table.agg(f.count(beyond), f.min(beyond)).collect()
    if count:
        raise Unreached(count, repr(node))


def _between(
    places: Sequence[Any], start: DataFrame, roads: DataFrame, kept: Kept, cut: Any, cut_every: int
) -> list[list[float]]:
    """The steps between each two sites; −1 for a site and itself."""
    f = functions_of_columns()
    number = {place: index for index, place in enumerate(places)}
    found = [[math.inf] * len(places) for _ in places]
    for index in range(len(places)):
        found[index][index] = -1.0

    def met(front: DataFrame) -> bool:
        for row in front.where(f.col("id").isin(list(places))).collect():
            found[row["mark"]][number[row["id"]]] = row["depth"]
        return all(math.isfinite(steps) for line in found for steps in line)

    if len(places) > 1:
        search(start, roads, kept, cut, cut_every, None, lambda *_: None, each=True, enough=met)
    return found
