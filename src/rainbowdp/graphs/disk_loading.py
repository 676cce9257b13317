"""The edges of a file in DuckDB: places instead of names, and lengths in whole steps.

Parquet and text files are read by DuckDB and never held; others are read into memory once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np

from rainbowdp.aliases import Floats
from rainbowdp.errors import InvalidGraph
from rainbowdp.graphs.edges import Edges, Ids
from rainbowdp.graphs.engines.joins import Joins
from rainbowdp.graphs.lengths import MOST_STEPS, floored
from rainbowdp.graphs.readers.columns import LISTS, SEPARATORS, ColumnFile
from rainbowdp.graphs.readers.edges import ends_of, file_ending, read_graph
from rainbowdp.numeric.quantity import Number, exact

_TEXT = (".parquet", *SEPARATORS, *LISTS)  # what DuckDB reads by itself
_SAMPLE = 1 << 20  # lengths by which a unit is chosen
_BLOCK = 1 << 20  # different lengths that are divided at a time

Lengths: TypeAlias = bool | Literal["nearest"] | None
Unit: TypeAlias = Number | Callable[[Floats], Number]


@dataclass(frozen=True)
class Wanted:
    """What a file's lengths are for, and in which steps they count.

    Attributes
    ----------
    columns, weight
        The columns of the ends, and the one of lengths.
    lengths
        False counts edges, ``"nearest"`` has sites go by length and promises by edge, and True has
        both go by length.
    unit, measure, scale
        The length of one step in ``measure``, of which a length of 1 has ``scale``.

    """

    columns: Sequence[str] | None
    weight: str | None
    lengths: Lengths
    unit: Unit
    measure: str
    scale: Number


@dataclass(frozen=True)
class DiskLengths:
    """In which steps the lengths of a graph on disk count.

    Attributes
    ----------
    unit
        The length of one step.
    measure
        What it is measured in.
    kept
        Which share of all length is left in whole steps.
    joined
        How many edges are shorter than the unit, so that their ends are one place.

    """

    unit: Fraction
    measure: str
    kept: float
    joined: int


def load_edges(engine: Joins, path: Path, wanted: Wanted) -> tuple[range | str, DiskLengths | None]:
    """Put the edges into DuckDB: the names of nodes as a range, or the table that has them."""
    if file_ending(path) in _TEXT:
        whole, spelled = _raw_by_duckdb(engine, path, wanted)
        has_lengths = wanted.weight is not None
    else:
        edges = read_graph(path, columns=wanted.columns, weight=wanted.weight)
        has_lengths, whole, spelled = edges.weights is not None, None, edges.written
        uneven = edges.weights is not None and not bool((edges.weights == 1).all())
        _must_be_said(path, wanted.lengths, uneven)
        engine.raw(np.asarray(edges.pairs), _exact_floats(edges, path) if wanted.lengths else None)
    if wanted.lengths and not has_lengths:
        raise InvalidGraph(
            f"{path} has no lengths; name their column or attribute by weight, or --weight on the "
            "command line"
        )
    measured, extra = None, tuple(["length"] if wanted.lengths else [])
    if wanted.lengths is True:
        measured, extra = _stepped(engine, wanted, spelled), ("length", "steps")
    if whole is None:
        assert edges.names is not None
        names = edges.names if isinstance(edges.names, range) else _named(engine, edges)
        engine.load_query("FROM raw", len(edges.names), extra)
    else:
        names = _numbered(engine, whole, extra)
    engine.run("DROP TABLE raw")
    return names, measured


def _must_be_said(path: Path, lengths: Lengths, uneven: bool) -> None:
    if lengths is None and uneven:
        raise InvalidGraph(
            f"{path} has lengths, and it must be said what they are for: lengths=False counts "
            "edges, True goes by length, 'nearest' for sites alone (--hops, --epsilon-per-km or "
            "--weighted on the command line)"
        )


def _exact_floats(edges: Edges, path: Path) -> Floats | None:
    """The lengths as floats that are exactly them."""
    given = edges.weights
    if given is None:
        return None
    if given.dtype.kind in "iu" and int(given.max(initial=0)) > 1 << 53:
        raise InvalidGraph(f"lengths on disk must be at most 2^53, got a longer one in {path}")
    floats = given.astype(np.float64)
    if not (np.isfinite(floats) & (floats >= 0)).all():
        raise InvalidGraph(f"a length must be a finite number from 0, got another in {path}")
    return floats


def _raw_by_duckdb(engine: Joins, path: Path, wanted: Wanted) -> tuple[bool, bool | None]:
    """A table ``raw`` from a file that DuckDB reads: whether ids are numbers, lengths spelled."""
    import duckdb

    file = ColumnFile(path)
    ends = ends_of(file, wanted.columns, wanted.weight)
    _must_be_said(path, wanted.lengths, wanted.weight is not None)
    whole, weight = file.are_numbers(ends), wanted.weight if wanted.lengths else None
    aliases = dict(zip(ends, ("src", "dst"), strict=True))
    try:
        engine.run(f"CREATE TABLE raw AS {file.selected(aliases, whole=whole, length=weight)}")
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
    if weight is None:
        return whole, None
    known = "coalesce(isfinite(length) AND length >= 0, false)"
    (odd,) = engine.one(f"SELECT count(*) FROM raw WHERE NOT {known}")  # noqa: S608  ours
    if odd:
        file.lengths(weight)  # says which, and where
        raise InvalidGraph(f"a length must be a finite number from 0, got another in {path}")
    return whole, file.spelled_back(weight)


def _stepped(engine: Joins, wanted: Wanted, spelled: bool | None) -> DiskLengths:
    """Give ``raw`` a column of whole steps: each different length is divided once, exactly."""
    scale = exact(wanted.scale, "scale", InvalidGraph)
    unit = exact(_unit(engine, wanted, scale), "unit", InvalidGraph)
    if unit <= 0 or scale <= 0:
        raise InvalidGraph(f"unit must be a length above 0, got unit={unit}")
    step = unit / scale
    (longest,) = engine.one("SELECT coalesce(max(length), 0) FROM raw")
    if longest > float(step) * MOST_STEPS:
        raise InvalidGraph(
            f"the length of an edge must be at most {MOST_STEPS:,} units of {float(step):g}, got "
            f"{longest:g}"
        )
    engine.run("CREATE TABLE different AS SELECT DISTINCT length FROM raw")
    engine.run("CREATE TABLE stepped (length DOUBLE, steps UINTEGER)")
    (count,) = engine.one("SELECT count(*) FROM different")
    for start in range(0, count, _BLOCK):
        found = engine.arrays(
            f"SELECT length FROM different WHERE rowid >= {start} AND rowid < {start + _BLOCK}"  # noqa: S608
        )["length"]
        engine.insert("stepped", {"length": found, "steps": floored(found, step, spelled)})
    engine.run("DROP TABLE different")
    engine.run(  # the ends of an edge without a step are one place
        "CREATE TABLE measured AS SELECT src, dst, raw.length AS given, steps, "
        "CASE WHEN steps = 0 THEN 0 ELSE raw.length END AS length "
        "FROM raw JOIN stepped ON raw.length = stepped.length"
    )
    engine.run("DROP TABLE raw")
    engine.run("DROP TABLE stepped")
    engine.run("ALTER TABLE measured RENAME TO raw")
    whole, every, joined = engine.one(
        "SELECT coalesce(sum(steps), 0), coalesce(sum(given), 0), count(*) FILTER (steps = 0) "
        "FROM raw"
    )
    kept = float(whole) * float(step) / every if every else 1.0
    return DiskLengths(unit, wanted.measure, kept, int(joined))


def _unit(engine: Joins, wanted: Wanted, scale: Fraction) -> Number:
    """The unit that was given, or what is chosen for a sample of the lengths."""
    if not callable(wanted.unit):
        return wanted.unit
    (count,) = engine.one("SELECT count(*) FROM raw")
    every = max(1, count // _SAMPLE)
    sample = engine.arrays(f"SELECT length FROM raw WHERE rowid % {every} = 0")["length"]  # noqa: S608
    return wanted.unit(np.asarray(sample) * float(scale))


def _numbered(engine: Joins, whole: bool, extra: tuple[str, ...]) -> range | str:
    """Turn the table ``raw`` into edges between places."""
    both = "SELECT src AS name FROM raw UNION SELECT dst FROM raw"
    engine.run(
        "CREATE TABLE names AS SELECT row_number() OVER (ORDER BY name) - 1 AS place, name "  # noqa: S608
        f"FROM ({both})"
    )
    size, lowest, highest = engine.one("SELECT count(*), min(name), max(name) FROM names")
    more = "".join(f", {name}" for name in extra)
    if whole and highest - lowest + 1 == size:
        engine.run("DROP TABLE names")
        engine.load_query(
            f"SELECT src - {lowest} AS src, dst - {lowest} AS dst{more} FROM raw",  # noqa: S608
            size,
            extra,
        )
        return range(lowest, highest + 1)
    engine.load_query(
        f"SELECT a.place AS src, b.place AS dst{more} FROM raw JOIN names AS a ON src = a.name "  # noqa: S608
        "JOIN names AS b ON dst = b.name",
        size,
        extra,
    )
    return "names"


def _named(engine: Joins, edges: Edges) -> str:
    """A table with the names of nodes that are held in memory."""
    assert edges.names is not None
    named: Any = (
        edges.names.array if isinstance(edges.names, Ids) else np.array(edges.names, object)
    )
    kind = "UBIGINT" if isinstance(edges.names, Ids) else "VARCHAR"
    engine.keep("names", {"place": np.arange(len(named)), "name": named}, f"name::{kind} AS name")
    return "names"
