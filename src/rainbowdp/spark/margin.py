"""Margins on Spark: how far each answer is from each dataset, and mechanisms that go by them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import TYPE_CHECKING

from rainbowdp.aliases import Answer, Label
from rainbowdp.errors import InvalidGraph, InvalidMechanism
from rainbowdp.exact.mechanism import ExactMechanism
from rainbowdp.expecting import whole
from rainbowdp.graphs.rainbows import as_rainbow
from rainbowdp.graphs.saying import ON_A_GRAPH
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.mechanisms.margin_rules import BY_MARGINS, margin_rule
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


@dataclass(frozen=True)
class SparkMargins:
    """The margins of each dataset, checked on every edge; made by ``margins``.

    Attributes
    ----------
    nodes
        A DataFrame with the columns id, region and ``margin ANSWER`` for each answer: the keys of
        the mechanism. Write it to disk once.
    answers
        The answers in order.
    cut
        The distance at which the search stopped; what is farther, or out of reach, has it too.

    """

    nodes: DataFrame
    answers: tuple[Answer, ...]
    cut: int
    _columns: tuple[str, ...] = field(repr=False)

    def mechanism(self, guarantee: Guarantee, kind: str = "margin-flip") -> ExactMechanism:
        """A mechanism in integers, proved, that finds its rows by these margins.

        Parameters
        ----------
        guarantee
            What is promised between neighbors.
        kind
            ``"margin-flip"`` or ``"exponential"``, which hold everywhere, or ``"proximity"``, for
            which the dataset with the most rivals nearby is looked for.

        Returns
        -------
        ExactMechanism
            The mechanism; a key is the margin of each answer.

        Raises
        ------
        InvalidGuarantee
            If the kind is not private here under this guarantee.
        InvalidMechanism
            If there is no such kind.

        """
        if kind not in BY_MARGINS:
            raise InvalidMechanism(f"kind must be {' or '.join(BY_MARGINS)}, got kind={kind!r}")
        rule = margin_rule(kind, self.answers, guarantee, self._most)
        return ExactMechanism(guarantee, self.answers, rule, ON_A_GRAPH)

    def _most(self, weights: Sequence[int]) -> int:
        """The largest sum of the weights of a dataset's margins."""
        f = functions_of_columns()
        listed = f.array(*(f.lit(weight).cast("decimal(38,0)") for weight in weights))
        last = f.lit(len(weights) - 1)
        parts = [
            f.element_at(listed, (f.least(f.col(_quoted(name)), last) + 1).cast("int"))
            for name in self._columns
        ]
        [(found,)] = self.nodes.agg(f.max(reduce(lambda a, b: a + b, parts))).collect()
        return int(found)


def margins(
    nodes: DataFrame,
    edges: DataFrame,
    rainbows: Mapping[Label, Sequence[Answer]],
    *,
    cut: int,
    answers: Sequence[Answer] | None = None,
    cut_every: int = CUT_EVERY,
    progress: Progress | None = None,
) -> SparkMargins:
    """How far each dataset is from those that prefer each answer, at most ``cut``.

    Cost: as many levels as ``cut``, each with a row for every dataset and answer it reaches; then
    two joins over all edges, which check that no margin changes by more than 1 on any of them.

    Parameters
    ----------
    nodes
        A DataFrame with the columns id and label, whole numbers or strings.
    edges
        A DataFrame with the columns src and dst, of the type of id.
    rainbows
        The preference order of each label.
    cut
        The distance at which the search stops. Margins cut off anywhere are private; what is given
        up is only the firmness of what is farther.
    answers
        The order in which answers are listed; by default that of the first rainbow.
    cut_every, progress
        As in ``depths``.

    Returns
    -------
    SparkMargins
        The margins, and the mechanisms made from them.

    Raises
    ------
    InvalidGraph
        If columns are missing, or nodes, labels and edges do not fit together.

    """
    f = functions_of_columns()
    check_options(None, cut_every)
    cut = whole(cut, "cut", 1, error=InvalidGraph)
    listed = as_rainbow(answers if answers is not None else next(iter(rainbows.values())))
    first = {label: listed.index(as_rainbow(order, listed)[0]) for label, order in rainbows.items()}
    node_kinds, edge_kinds = checked_kinds(nodes, edges, "label")
    break_off = way_to_cut(nodes.sparkSession)
    with Kept() as kept:
        known = kept(known_nodes(nodes, node_kinds))
        check_nodes(known, nodes)
        truths = nodes.sparkSession.createDataFrame(
            list(first.items()), f"region {node_kinds['label']}, truth int"
        )
        placed = kept(known.select("id", "region").join(f.broadcast(truths), "region", "left"))
        stray = placed.where("truth IS NULL").select("region").first()
        if stray is not None:
            raise InvalidGraph(f"label {stray['region']!r} has no rainbow; add it to rainbows")
        ends = placed.select("id", f.col("truth").alias("region"))
        labeled = kept(labeled_edges(edges, edge_kinds, ends))
        check_edges(labeled)
        across = labeled.where("here <> there")
        border = across.select("src", "here").unionAll(across.select("dst", "there")).distinct()
        start = kept(border.toDF("id", "mark").withColumns({"depth": f.lit(0), "new": f.lit(True)}))
        roads = kept(both_ways(labeled.select("src", "dst")))
        said = progress or shown_on_a_terminal()
        found = search(start, roads, kept, break_off, cut_every, cut - 1, said, each=True)
        columns = tuple(f"margin {answer}" for answer in listed)
        table = _wide(placed, found, columns, cut)
        wide = break_off(table)
        _check(wide, roads, columns)
        kind = nodes.schema["id"].dataType
        shown = wide.select(
            f.col("id").cast(kind).alias("id"),
            "region",
            *(f.col(_quoted(name)) for name in columns),
        )
        return SparkMargins(shown, listed, cut, columns)


def _wide(placed: DataFrame, found: DataFrame, columns: Sequence[str], cut: int) -> DataFrame:
    """A column for each answer: 0 where it is true, the distance, or the cut."""
    f = functions_of_columns()
    met = found.groupBy("id").agg(
        *(
            f.min(f.when(f.col("mark") == number, f.col("depth"))).alias(f"m{number}")
            for number in range(len(columns))
        )
    )
    shown = (
        f.when(f.col("truth") == number, 0)
        .otherwise(f.coalesce(f.col(f"m{number}"), f.lit(cut)))
        .alias(name)
        for number, name in enumerate(columns)
    )
    return placed.join(met, "id", "left").select("id", "region", *shown)


def _check(wide: DataFrame, roads: DataFrame, columns: Sequence[str]) -> None:
    """Refuse margins that jump on an edge, or that are not 0 at exactly one answer."""
    f = functions_of_columns()
    zeros = reduce(
        lambda a, b: a + b, (f.when(f.col(_quoted(name)) == 0, 1).otherwise(0) for name in columns)
    )
    here = wide.select(f.col("id").alias("src"), f.array(*map(_quoted, columns)).alias("here"))
    there = wide.select(f.col("id").alias("dst"), f.array(*map(_quoted, columns)).alias("there"))
    jumps = roads.join(here, "src").join(there, "dst")
    far = f.array_max(f.zip_with("here", "there", lambda a, b: f.abs(a - b)))
    [(jump,)] = jumps.agg(f.max(far)).collect()
    if (jump or 0) > 1 or wide.where(zeros != 1).first() is not None:
        raise InvalidMechanism(
            "margins must be 0 at exactly the first choice and change by at most 1 between "
            "neighbors, but these do not"
        )


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
