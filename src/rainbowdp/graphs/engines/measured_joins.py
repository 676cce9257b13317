"""Searches by length for graphs larger than memory, as rounds of DuckDB joins.

Every place has its least distance so far. A round sends on the places that were lowered in the last
one, and lowers their neighbors where that is less; it ends when none is lowered. Nothing is sent
twice for one value, so that the number of rounds is that of the edges of a shortest way. Whole
steps are added as whole numbers; lengths as floats, as the engine in memory has them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rainbowdp.display.progress import timed
from rainbowdp.graphs.engines.joins import Joins
from rainbowdp.graphs.engines.measured_plain import FARTHEST, TooFar

_UNSEEN = 1 << 62  # steps
_HALVES = "((edges.steps::BIGINT - 1 + (a.value < b.value)::BIGINT) // 2)"  # from the end of a


def depths(engine: Joins, region: str) -> str:
    """A table of place and level: the depth of the places whose boundary can be reached.

    The border of two regions is in the middle of an edge, as in ``measured_plain``.
    """
    name = _started(
        engine,
        f"SELECT src AS place, min({_HALVES}) AS level {engine.ends(region, '<>')} GROUP BY src",
        {"level": f"{_UNSEEN}::BIGINT"},
    )
    _lower(engine, name, ["level"], "edges.steps", f"level < {_UNSEEN}", "Finding depths")
    farthest = engine.one(f"SELECT max(level) FROM {name} WHERE level < {_UNSEEN}")[0]  # noqa: S608
    if farthest is not None and farthest > FARTHEST:
        raise TooFar
    found = engine.table()
    engine.run(
        f"CREATE TABLE {found} AS SELECT place, level::INTEGER AS level FROM {name} "  # noqa: S608
        f"WHERE level < {_UNSEEN} ORDER BY place"
    )
    engine.run(f"DROP TABLE {name}")
    return found


def margins(engine: Joins, region: str, truth: str, answers: int, cut: int) -> str:
    """A table of place and m0, m1, …: for each answer min(cut, steps to where it is true).

    ``region`` and ``truth`` are tables of place and value; where two regions meet, the first place
    of the other one is beyond the middle of the edge.
    """
    names = [f"m{k}" for k in range(answers)]
    beyond = f"edges.steps::BIGINT - {_HALVES}"
    picked = ", ".join(f"min({beyond}) FILTER (t.value = {k}) AS m{k}" for k in range(answers))
    start = (
        f"SELECT dst AS place, {picked} FROM edges JOIN {region} AS a ON src = a.place "  # noqa: S608
        f"JOIN {region} AS b ON dst = b.place JOIN {truth} AS t ON src = t.place "
        f"JOIN {truth} AS u ON dst = u.place WHERE t.value <> u.value GROUP BY dst"
    )
    columns = ", ".join(
        f"CASE WHEN t.value = {k} THEN 0 ELSE least(coalesce(s.m{k}, {cut}), {cut}) END::BIGINT "
        f"AS m{k}"
        for k in range(answers)
    )
    name = engine.table()
    engine.run(
        f"CREATE TEMP TABLE {name} AS SELECT t.place, {columns} FROM {truth} AS t "  # noqa: S608
        f"LEFT JOIN ({start}) AS s ON t.place = s.place ORDER BY t.place"
    )
    _lower(engine, name, names, "edges.steps", "true", "Finding margins")
    found, kind = engine.table(), "INTEGER" if cut <= np.iinfo(np.int32).max else "BIGINT"
    columns = ", ".join(f"{m}::{kind} AS {m}" for m in names)
    engine.run(f"CREATE TABLE {found} AS SELECT place, {columns} FROM {name} ORDER BY place")  # noqa: S608
    engine.run(f"DROP TABLE {name}")
    return found


def distances(engine: Joins, places: Sequence[int]) -> str:
    """A table of place and d0, d1, …: the length of the way to each of ``places``, or null."""
    names = [f"d{k}" for k in range(len(places))]
    picked = ", ".join(f"min(0.0) FILTER (mark = {k}) AS d{k}" for k in range(len(places)))
    start = f"SELECT place, {picked} FROM ({engine.listed(places)}) GROUP BY place"  # noqa: S608
    name = _started(engine, start, dict.fromkeys(names, "'infinity'::DOUBLE"))
    known = f"least({', '.join(names)}, 'infinity'::DOUBLE) < 'infinity'::DOUBLE"
    _lower(engine, name, names, "edges.length", known, "Measuring distances")
    columns = ", ".join(f"nullif({d}, 'infinity'::DOUBLE) AS {d}" for d in names)
    found = engine.table()
    engine.run(f"CREATE TABLE {found} AS SELECT place, {columns} FROM {name} ORDER BY place")  # noqa: S608
    engine.run(f"DROP TABLE {name}")
    return found


def between(engine: Joins, measured: str, places: Sequence[int]) -> NDArray[np.float64]:
    """The lengths between each two of ``places``, where ``measured`` is a table of distances."""
    listed = ", ".join(f"d{k}" for k in range(len(places)))
    rows = engine.run(
        f"SELECT {listed} FROM {measured} AS m JOIN ({engine.listed(places)}) AS s "  # noqa: S608
        "ON m.place = s.place ORDER BY s.mark"
    )
    found = np.array([[np.inf if far is None else far for far in row] for row in rows])
    return np.ascontiguousarray(found.T)


def nearest(engine: Joins, places: Sequence[int]) -> str:
    """A table of place and mark: the first listed of the nearest ``places``, by length."""
    name = _started(
        engine,
        f"SELECT place, 0.0 AS far, mark FROM ({engine.listed(places)})",  # noqa: S608
        {"far": "'infinity'::DOUBLE", "mark": "-1::BIGINT"},
    )
    grown = (
        "SELECT place, first.far AS far, first.mark AS mark FROM (SELECT edges.dst AS place, "
        "min({'far': f.far + edges.length, 'mark': f.mark}) AS first "
        "FROM {front} AS f JOIN edges ON edges.src = f.place GROUP BY edges.dst)"
    )
    lower = "g.far < b.far OR (g.far = b.far AND g.mark < b.mark)"
    wanted = f"SELECT g.* FROM ({grown}) AS g JOIN {name} AS b ON g.place = b.place WHERE {lower}"  # noqa: S608
    _settle(
        engine,
        name,
        ["far", "mark"],
        wanted,
        "far < 'infinity'::DOUBLE",
        "Finding the nearest sites",
    )
    found = engine.table()
    engine.run(f"CREATE TABLE {found} AS SELECT place, mark FROM {name} WHERE mark >= 0")  # noqa: S608
    engine.run(f"DROP TABLE {name}")
    return found


def _started(engine: Joins, start: str, missing: dict[str, str]) -> str:
    """A table of all places with the columns of ``start``, or what is said where it has none."""
    name = engine.table()
    columns = ", ".join(f"coalesce(s.{c}, {value}) AS {c}" for c, value in missing.items())
    engine.run(
        f"CREATE TEMP TABLE {name} AS SELECT p.range AS place, {columns} "  # noqa: S608
        f"FROM range({engine.size}) AS p LEFT JOIN ({start}) AS s ON p.range = s.place ORDER BY 1"
    )
    return name


def _lower(
    engine: Joins, name: str, columns: Sequence[str], added: str, started: str, what: str
) -> None:
    """Lower the columns of a table by every way from where it is ``started``; edges add so much."""
    grown = ", ".join(f"min(f.{c} + {added}) AS {c}" for c in columns)
    least = ", ".join(f"least(g.{c}, b.{c}) AS {c}" for c in columns)
    lower = " OR ".join(f"g.{c} < b.{c}" for c in columns)
    wanted = (
        f"SELECT b.place, {least} FROM (SELECT edges.dst AS place, {grown} FROM {{front}} AS f "  # noqa: S608
        f"JOIN edges ON edges.src = f.place GROUP BY edges.dst) AS g JOIN {name} AS b "
        f"ON g.place = b.place WHERE {lower}"
    )
    _settle(engine, name, columns, wanted, started, what)


def _settle(
    engine: Joins, name: str, columns: Sequence[str], wanted: str, started: str, what: str
) -> None:
    """Run rounds until none lowers anything; ``wanted`` has what the next one sends on."""
    changed = ", ".join(f"{c} = n.{c}" for c in columns)
    engine.run(f"CREATE OR REPLACE TEMP TABLE front_0 AS FROM {name} WHERE {started}")
    rounds, found = 0, 1
    with timed(what) as stage:
        while found:
            last, fresh = f"front_{rounds % 2}", f"front_{1 - rounds % 2}"
            engine.run(f"CREATE OR REPLACE TEMP TABLE {fresh} AS {wanted.replace('{front}', last)}")
            [(found,)] = engine.run(
                f"UPDATE {name} SET {changed} FROM {fresh} AS n WHERE {name}.place = n.place"  # noqa: S608
            )
            rounds += 1
            stage(f"round {rounds:,}, {found:,} nodes")
