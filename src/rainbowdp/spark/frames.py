"""Frames of nodes and edges in Spark: what they must hold, and how they are kept."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from rainbowdp.errors import InvalidGraph, MissingExtra, RainbowError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Progress: TypeAlias = Callable[[int, int], None]


class Kept:
    """Frames in Spark's storage until they are dropped, at the latest when the work ends."""

    def __init__(self) -> None:
        self.frames: list[DataFrame] = []

    def __call__(self, frame: DataFrame) -> DataFrame:
        """Keep a frame, and return it."""
        self.frames.append(frame.persist())
        return frame

    def drop(self, *frames: DataFrame) -> None:
        """Keep these frames no longer."""
        for frame in frames:
            frame.unpersist()
        self.frames = [frame for frame in self.frames if frame not in frames]

    def __enter__(self) -> Kept:
        return self

    def __exit__(self, *_: object) -> None:
        self.drop(*self.frames)


def functions_of_columns() -> Any:
    """Spark's column functions."""
    try:
        from pyspark.sql import functions
    except ImportError:
        raise MissingExtra("pyspark", "spark") from None
    return functions


def kinds_of(frame: DataFrame, what: str, *columns: str) -> dict[str, str]:
    """The type, bigint or string, in which each of the columns is compared."""
    from pyspark.sql import DataFrame
    from pyspark.sql.types import ByteType, IntegerType, LongType, ShortType, StringType

    wanted = " and ".join(repr(column) for column in columns)
    if not isinstance(frame, DataFrame):
        raise InvalidGraph(
            f"{what} must be a Spark DataFrame with the columns {wanted}, "
            f"got {type(frame).__name__}"
        )
    kinds = {}
    for column in columns:
        if frame.columns.count(column) != 1:
            raise InvalidGraph(
                f"{what} must have the columns {wanted}, each once, "
                f"got {', '.join(map(repr, frame.columns)) or 'none'}; rename or select them"
            )
        kind = frame.schema[column].dataType
        if isinstance(kind, ByteType | ShortType | IntegerType | LongType):
            kinds[column] = "bigint"
        elif isinstance(kind, StringType):
            kinds[column] = "string"
        else:
            raise InvalidGraph(
                f"{column!r} of {what} must be whole numbers or strings, "
                f"got {kind.simpleString()}; cast it"
            )
    return kinds


def way_to_cut(spark: SparkSession) -> Callable[[DataFrame], DataFrame]:
    """How to cut the lineage of a frame so that no lost executor can end the run."""
    context = spark.sparkContext
    master = str(context.master)
    if context.getCheckpointDir() is not None:
        return lambda frame: frame.checkpoint()
    if master == "local" or master.startswith("local["):
        return lambda frame: frame.localCheckpoint()
    raise RainbowError(
        "on a cluster, depths needs a checkpoint directory that all executors reach; "
        "pass --conf spark.checkpoint.dir=DIRECTORY"
    )


def known_nodes(nodes: DataFrame, kinds: Mapping[str, str]) -> DataFrame:
    """Each id once, with its region, whether its labels agree, and whether none is missing."""
    f = functions_of_columns()
    label = f.col("label").cast(kinds["label"])
    return (
        nodes.groupBy(f.col("id").cast(kinds["id"]).alias("id"))
        .agg(
            f.min(label).alias("region"),
            f.max(label).alias("other"),
            f.count(f.lit(1)).alias("rows"),
            f.count(label).alias("labels"),
        )
        .select(
            "id",
            "region",
            ((f.col("rows") == f.col("labels")) & (f.col("region") == f.col("other"))).alias(
                "sound"
            ),
        )
    )


def check_nodes(known: DataFrame, nodes: DataFrame) -> None:
    """Refuse nodes without an id, without a label, or with two."""
    f = functions_of_columns()
    [(size, nameless, wrong)] = known.agg(
        f.count(f.lit(1)),
        f.count(f.when(f.col("id").isNull(), 1)),
        f.min(f.when(~f.col("sound"), f.col("id"))),
    ).collect()
    if not size:
        raise InvalidGraph("a rainbow graph needs at least one dataset, got none")
    if nameless:
        raise InvalidGraph("the column 'id' of nodes holds a null; drop that node or give it an id")
    if wrong is not None:
        rows = nodes.where(f.col("id") == wrong).select("label").distinct().collect()
        labels = [row["label"] for row in rows]
        if None in labels:
            raise InvalidGraph(f"dataset {wrong!r} has no label; every dataset needs one")
        first, second = sorted(labels)[:2]
        raise InvalidGraph(
            f"dataset {wrong!r} has two labels, {first!r} and {second!r}; give it one"
        )


def labeled_edges(edges: DataFrame, kinds: Mapping[str, str], known: DataFrame) -> DataFrame:
    """The edges with the regions of their ends, without loops; null if an end is unknown."""
    f = functions_of_columns()
    pairs = edges.select(
        *(f.col(column).cast(kind).alias(column) for column, kind in kinds.items())
    )
    for column, name in (("src", "here"), ("dst", "there")):
        ends = known.select(f.col("id").alias(column), f.col("region").alias(name))
        pairs = pairs.join(ends, column, "left")
    return pairs.select("src", "dst", "here", "there")


def check_edges(labeled: DataFrame) -> None:
    """Refuse edges without an end, or with one that is no node."""
    f = functions_of_columns()
    [(endless, first, second)] = labeled.agg(
        f.count(f.when(f.col("src").isNull() | f.col("dst").isNull(), 1)),
        f.min(f.when(f.col("here").isNull(), f.col("src"))),
        f.min(f.when(f.col("there").isNull(), f.col("dst"))),
    ).collect()
    if endless:
        raise InvalidGraph("the column 'src' or 'dst' of edges holds a null; drop that edge")
    unknown = second if first is None else first
    if unknown is not None:
        raise InvalidGraph(
            f"an edge leads to the unknown dataset {unknown!r}; "
            "give it a label or leave the edge out"
        )


def shown_on_a_terminal() -> Progress:
    """A line for each level on a terminal; nothing elsewhere."""
    begun = time.perf_counter()

    def say(level: int, size: int) -> None:
        if sys.stderr.isatty():
            passed = time.perf_counter() - begun
            print(f"depth {level}: {size:,} datasets, {passed:.0f} s", file=sys.stderr)  # noqa: T201

    return say


def checked_kinds(nodes: DataFrame, edges: DataFrame, *columns: str) -> tuple[Any, Any]:
    """The types of the columns of nodes and edges, which must name nodes alike."""
    node_kinds = kinds_of(nodes, "nodes", "id", *columns)
    edge_kinds = kinds_of(edges, "edges", "src", "dst")
    for column, kind in edge_kinds.items():
        if kind != node_kinds["id"]:
            raise InvalidGraph(
                f"edges must name nodes by ids of one type, got {kind} in {column!r} "
                f"and {node_kinds['id']} in 'id'; cast one of them"
            )
    return node_kinds, edge_kinds


def check_options(deepest: int | None, cut_every: int) -> None:
    """Refuse limits that are not whole numbers."""
    for name, value, least in (("deepest", deepest, 0), ("cut_every", cut_every, 1)):
        if value is not None and (type(value) is not int or value < least):
            raise RainbowError(f"{name} must be a whole number from {least}, got {name}={value!r}")


def both_ways(pairs: DataFrame) -> DataFrame:
    """The edges src and dst both ways and once each, laid out and sorted by their first end.

    The number of partitions is given explicitly, so that the layout stays and no level moves them.
    """
    f = functions_of_columns()
    back = f.struct(f.col("dst").alias("src"), f.col("src").alias("dst"))
    both = pairs.where(f.col("src") != f.col("dst")).select(
        f.inline(f.array(f.struct("src", "dst"), back))
    )
    partitions = int(pairs.sparkSession.conf.get("spark.sql.shuffle.partitions") or 200)
    laid = both.repartition(partitions, "src").dropDuplicates(["src", "dst"])
    return laid.sortWithinPartitions("src")
