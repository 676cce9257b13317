"""Breadth-first searches in Spark, one level at a time, with the lineage cut now and then.

A neighbor of level t is at t − 1, t or t + 1; so the next level is the neighbors of the last one
without the last two levels, and earlier levels are never read again.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import TYPE_CHECKING

from rainbowdp.spark.frames import Kept, Progress, functions_of_columns

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

CUT_EVERY = 4  # levels; plans grow with each one that is not cut, and each cut is a job


def search(
    start: DataFrame,
    edges: DataFrame,
    kept: Kept,
    cut: Callable[[DataFrame], DataFrame],
    cut_every: int,
    deepest: int | None,
    progress: Progress,
    *,
    each: bool = False,
    enough: Callable[[DataFrame], bool] | None = None,
) -> DataFrame:
    """The id, mark and depth of each dataset that ``start`` reaches, with its lineage cut.

    ``start`` has the columns id, mark, depth 0 and new, which is true. With ``each``, a dataset has
    a row for each mark that reaches it; otherwise the least of those that reach it first.
    ``enough`` looks at each level, and may end the search.
    """
    f = functions_of_columns()
    depth = f.col("depth")
    done: list[DataFrame] = []
    front, level, size, saved = start, 0, start.count(), -1
    progress(level, size)
    while size and level != deepest:
        level += 1
        grown = kept(_grown(front, edges, each))
        size = grown.where("new").count()
        kept.drop(front)  # where a part of the grown one is lost, all since the cut runs again
        front = grown
        if size:
            progress(level, size)
        ended = enough is not None and size > 0 and enough(front.where("new"))
        if level % cut_every == 0 or not size or level == deepest or ended:
            whole = cut(front)
            kept.drop(front)
            done.append(whole.where(depth > saved))
            front, saved = whole.where(depth >= level - 1), level
        if ended:
            break
    return reduce(lambda all_, part: all_.unionAll(part), done or [cut(start)])


def _grown(front: DataFrame, edges: DataFrame, each: bool) -> DataFrame:
    """``front``, which holds at least the last two levels, and the level around it, ``new``.

    The front is named only once, because whatever appears twice in a plan doubles with every level;
    and no level's number is named, so that Spark compiles the plan once for all of them.
    """
    f = functions_of_columns()
    outward = (f.col("id") == f.col("src")) & f.col("new")
    here = f.struct("id", "mark", "depth", f.lit(False).alias("new"))
    there = f.struct(
        f.col("dst").alias("id"),
        "mark",
        (f.col("depth") + 1).alias("depth"),
        f.lit(True).alias("new"),
    )
    both = front.join(edges, outward, "left").select(f.inline(f.array(here, there)))
    named = both.where(f.col("id").isNotNull())
    if each:
        return named.groupBy("id", "mark").agg(
            f.min("depth").alias("depth"), f.min("new").alias("new")
        )
    first = f.min(f.struct("depth", "mark")).alias("first")
    found = named.groupBy("id").agg(first, f.min("new").alias("new"))
    return found.select("id", f.col("first.mark"), f.col("first.depth"), "new")
