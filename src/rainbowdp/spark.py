"""Depths on Spark, for graphs that do not fit in one machine's memory: DataFrames in and out.

The search starts from all boundary datasets at once and takes one level of depth at a time. Only
edges inside a region matter once the boundary is known, and a neighbor of level t is at t − 1, t or
t + 1; so the next level is the neighbors of the last one without the last two levels, and earlier
levels are never read again.

What comes back is small: a count for each region and depth, and the touching pairs. That is the
boundary graph; the optimal mechanism of the whole graph is the pullback of the one on it (theory,
Theorem 3). So the mechanism is made on the driver, and a dataset's row is that of its region and
depth.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import TYPE_CHECKING, Any, TypeAlias

from rainbowdp.errors import InvalidGraph, InvalidMechanism, MissingExtra, RainbowError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from rainbowdp.graphs.graph import RainbowGraph
    from rainbowdp.guarantees.curve import TradeOffCurve
    from rainbowdp.mechanisms.mechanism import Mechanism

Label: TypeAlias = Any  # an integer or a string
Progress: TypeAlias = Callable[[int, int], None]

CUT_EVERY = 4  # levels; plans grow with each one that is not cut, and each cut is a job


__all__ = ["SparkDepths", "SparkRegion", "depths", "session"]


@dataclass(frozen=True)
class SparkRegion:
    """What is known of a region.

    Attributes
    ----------
    size
        The number of its datasets.
    boundary
        The number of those on the boundary.
    deepest
        The largest finite depth; None for a region without a boundary.
    unbounded
        The number of datasets in components without a boundary.

    """

    size: int
    boundary: int
    deepest: int | None
    unbounded: int


@dataclass(frozen=True)
class SparkDepths:
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
    counts: Mapping[tuple[Label, float], int] = field(repr=False)
    touching: tuple[tuple[Label, Label], ...] = field(repr=False)
    limit: int | None = None
    capped: Mapping[Label, int] = field(default_factory=dict)

    @property
    def regions(self) -> dict[Label, SparkRegion]:
        """The regions by label, in the order of their labels."""
        lines: dict[Label, dict[float, int]] = {}
        for (label, depth), count in self.counts.items():
            lines.setdefault(label, {})[depth] = count
        return {label: self._region(label, line) for label, line in lines.items()}

    def _region(self, label: Label, line: Mapping[float, int]) -> SparkRegion:
        finite = [int(depth) for depth in line if depth < math.inf]
        boundary = line.get(0, 0) - (self.capped.get(label, 0) if self.limit == 0 else 0)
        return SparkRegion(
            size=sum(line.values()),
            boundary=boundary,
            deepest=max(finite, default=None),
            unbounded=line.get(math.inf, 0),
        )

    def boundary_graph(
        self, rainbows: Mapping[Label, Sequence[Any]], answers: Sequence[Any] | None = None
    ) -> RainbowGraph:
        """The boundary graph: datasets (region, depth), with the rainbow of each region.

        Parameters
        ----------
        rainbows
            The preference order of each region.
        answers
            The order in which answers are listed; by default that of the first rainbow.

        Returns
        -------
        RainbowGraph
            A small graph on the driver.

        """
        from rainbowdp.graphs.graph import RainbowGraph

        heads = [((a, 0), (b, 0)) for a, b in self.touching]
        steps = [
            ((label, depth), (label, depth + 1))
            for label, region in self.regions.items()
            for depth in range(region.deepest or 0)
        ]
        places = {place: place[0] for place in self.counts}
        return RainbowGraph([*heads, *steps], rainbows, answers, labels=places)

    def optimal(
        self,
        rainbows: Mapping[Label, Sequence[Any]],
        guarantee: TradeOffCurve,
        boundary: Any = None,
        answers: Sequence[Any] | None = None,
    ) -> Mechanism:
        """The optimal mechanism, on the boundary graph: its datasets are (region, depth).

        Parameters
        ----------
        rainbows
            The preference order of each region.
        guarantee
            What is promised between neighbors.
        boundary
            As in ``rb.optimal``. If it is designed, every dataset of the whole graph counts.
        answers
            The order in which answers are listed; by default that of the first rainbow.

        Returns
        -------
        Mechanism
            The mechanism, whose rows ``with_rows`` assigns to nodes.

        """
        from rainbowdp.answering.worlds import optimal
        from rainbowdp.mechanisms.design import default_boundary

        graph = self.boundary_graph(rainbows, answers)
        if boundary is None:
            finite = {
                (r, int(depth)): n for (r, depth), n in self.counts.items() if depth < math.inf
            }
            boundary = default_boundary(graph, guarantee, finite)
        return optimal(graph, guarantee, boundary)

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
    _functions()
    for name, value, least in (("deepest", deepest, 0), ("cut_every", cut_every, 1)):
        if value is not None and (type(value) is not int or value < least):
            raise RainbowError(f"{name} must be a whole number from {least}, got {name}={value!r}")
    node_kinds = _kinds(nodes, "nodes", "id", "label")
    edge_kinds = _kinds(edges, "edges", "src", "dst")
    for column, kind in edge_kinds.items():
        if kind != node_kinds["id"]:
            raise InvalidGraph(
                f"edges must name nodes by ids of one type, got {kind} in {column!r} "
                f"and {node_kinds['id']} in 'id'; cast one of them"
            )
    cut = _cut(nodes.sparkSession)
    with _Kept() as kept:
        known = kept(_known(nodes, node_kinds))
        _check_nodes(known, nodes)
        labeled = kept(_labeled(edges, edge_kinds, known))
        _check_edges(labeled)
        touching = _touching(labeled)
        start, inner = kept(_boundary(labeled)), kept(_inner(labeled))
        for frame in (start, inner):
            frame.count()
        kept.drop(labeled)
        levels = _levels(start, inner, kept, cut, cut_every, deepest, progress or _show())
        found = _joined(known, levels, nodes.schema["id"].dataType)
        return _summary(found, touching, deepest)


def session(name: str = "rainbowdp") -> SparkSession:
    """The running Spark session, or a new one.

    Parameters
    ----------
    name
        The name of a new session.

    Returns
    -------
    pyspark.sql.SparkSession
        The session.

    Raises
    ------
    MissingExtra
        If pyspark is not installed.
    RainbowError
        If there is no Java that Spark can start.

    """
    _functions()
    from pyspark.errors import PySparkRuntimeError
    from pyspark.sql import SparkSession

    try:
        return SparkSession.builder.appName(name).getOrCreate()
    except PySparkRuntimeError as error:
        if error.getCondition() != "JAVA_GATEWAY_EXITED":
            raise
        raise RainbowError(
            "Spark needs Java 17 or later and found none; put java on PATH or set JAVA_HOME"
        ) from None


class _Kept:
    """Frames in Spark's storage until they are dropped, at the latest when the work ends."""

    def __init__(self) -> None:
        self.frames: list[DataFrame] = []

    def __call__(self, frame: DataFrame) -> DataFrame:
        self.frames.append(frame.persist())
        return frame

    def drop(self, *frames: DataFrame) -> None:
        for frame in frames:
            frame.unpersist()
        self.frames = [frame for frame in self.frames if frame not in frames]

    def __enter__(self) -> _Kept:
        return self

    def __exit__(self, *_: object) -> None:
        self.drop(*self.frames)


def _functions() -> Any:
    """Spark's column functions."""
    try:
        from pyspark.sql import functions
    except ImportError:
        raise MissingExtra("pyspark", "spark") from None
    return functions


def _kinds(frame: DataFrame, what: str, *columns: str) -> dict[str, str]:
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


def _cut(spark: SparkSession) -> Callable[[DataFrame], DataFrame]:
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


def _known(nodes: DataFrame, kinds: Mapping[str, str]) -> DataFrame:
    """Each id once, with its region, whether its labels agree, and whether none is missing."""
    f = _functions()
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


def _check_nodes(known: DataFrame, nodes: DataFrame) -> None:
    f = _functions()
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


def _labeled(edges: DataFrame, kinds: Mapping[str, str], known: DataFrame) -> DataFrame:
    """The edges with the regions of their ends, without loops; null if an end is unknown."""
    f = _functions()
    pairs = edges.select(
        *(f.col(column).cast(kind).alias(column) for column, kind in kinds.items())
    )
    for column, name in (("src", "here"), ("dst", "there")):
        ends = known.select(f.col("id").alias(column), f.col("region").alias(name))
        pairs = pairs.join(ends, column, "left")
    return pairs.select("src", "dst", "here", "there")


def _check_edges(labeled: DataFrame) -> None:
    f = _functions()
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


def _touching(labeled: DataFrame) -> tuple[tuple[Label, Label], ...]:
    f = _functions()
    ends = f.col("here"), f.col("there")
    pairs = labeled.where(ends[0] != ends[1]).select(f.least(*ends), f.greatest(*ends)).distinct()
    return tuple(sorted((a, b) for a, b in pairs.collect()))


def _boundary(labeled: DataFrame) -> DataFrame:
    """The datasets with a neighbor in another region, at depth 0."""
    f = _functions()
    across = labeled.where(f.col("here") != f.col("there"))
    ends = across.select(f.explode(f.array("src", "dst")).alias("id"))
    return ends.distinct().withColumns({"depth": f.lit(0), "new": f.lit(True)})


def _inner(labeled: DataFrame) -> DataFrame:
    """The edges inside regions, both ways and once each, laid out and sorted by their first end.

    The number of partitions is given explicitly, so that the layout stays and no level moves them.
    """
    f = _functions()
    inside = labeled.where((f.col("here") == f.col("there")) & (f.col("src") != f.col("dst")))
    back = f.struct(f.col("dst").alias("src"), f.col("src").alias("dst"))
    both = inside.select(f.inline(f.array(f.struct("src", "dst"), back)))
    partitions = int(labeled.sparkSession.conf.get("spark.sql.shuffle.partitions") or 200)
    laid = both.repartition(partitions, "src").dropDuplicates(["src", "dst"])
    return laid.sortWithinPartitions("src")


def _levels(
    start: DataFrame,
    inner: DataFrame,
    kept: _Kept,
    cut: Callable[[DataFrame], DataFrame],
    cut_every: int,
    deepest: int | None,
    progress: Progress,
) -> DataFrame:
    """The id and depth of each dataset that a boundary reaches, with its lineage cut."""
    f = _functions()
    depth = f.col("depth")
    done: list[DataFrame] = []
    front, level, size, saved = start, 0, start.count(), -1
    progress(level, size)
    while size and level != deepest:
        level += 1
        grown = kept(_grown(front, inner))
        size = grown.where("new").count()
        kept.drop(front)  # where a part of the grown one is lost, all since the cut runs again
        front = grown
        if size:
            progress(level, size)
        if level % cut_every == 0 or not size or level == deepest:
            whole = cut(front)
            kept.drop(front)
            done.append(whole.where(depth > saved))
            front, saved = whole.where(depth >= level - 1), level
    return reduce(lambda all_, part: all_.unionAll(part), done or [cut(start)])


def _grown(front: DataFrame, inner: DataFrame) -> DataFrame:
    """``front``, which holds at least the last two levels, and the level around it, ``new``.

    The front is named only once, because whatever appears twice in a plan doubles with every level;
    and no level's number is named, so that Spark compiles the plan once for all of them.
    """
    f = _functions()
    outward = (f.col("id") == f.col("src")) & f.col("new")
    here = f.struct("id", "depth", f.lit(False).alias("new"))
    there = f.struct(
        f.col("dst").alias("id"), (f.col("depth") + 1).alias("depth"), f.lit(True).alias("new")
    )
    both = front.join(inner, outward, "left").select(f.inline(f.array(here, there)))
    named = both.where(f.col("id").isNotNull()).groupBy("id")
    return named.agg(f.min("depth").alias("depth"), f.min("new").alias("new"))


def _joined(known: DataFrame, levels: DataFrame, kind: Any) -> DataFrame:
    f = _functions()
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
    f = _functions()
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
    return SparkDepths(found, dict(sorted(counts.items())), touching, limit, capped)


def _show() -> Progress:
    """A line for each level on a terminal; nothing elsewhere."""
    begun = time.perf_counter()

    def say(level: int, size: int) -> None:
        if sys.stderr.isatty():
            passed = time.perf_counter() - begun
            print(f"depth {level}: {size:,} datasets, {passed:.0f} s", file=sys.stderr)  # noqa: T201

    return say
