"""The engine for graphs larger than memory: breadth-first searches as a plain loop of DuckDB joins.

A neighbor of level t is at t − 1, t or t + 1, so the next level is the neighbors of the last one
without the last two levels, and earlier levels are never read again. Edges lie on disk, sorted by
their first end, so that a small front reads only the part that it touches. DuckDB keeps to the
memory it is given and writes what does not fit into a folder of our own, which is gone when the
work ends, by an interrupt, too.

Nodes are the *places* 0, 1, 2, …; an edge is in ``edges`` once for each direction, with its length
and its whole steps where it has them (``measured_joins``). What is searched for are *marks*: a node
has either the least mark that reaches it first, or a row for each mark.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rainbowdp.display.progress import timed
from rainbowdp.errors import RainbowError
from rainbowdp.expecting import brief
from rainbowdp.graphs.engines.narrow import index_type
from rainbowdp.storage.sql import quoted

if TYPE_CHECKING:
    import duckdb

_BLOCK = 1 << 22  # edges that go over from arrays at a time
_ROWS = 10_000  # that are fetched at a time
_SETTINGS = (
    "preserve_insertion_order = false",
    "autoinstall_known_extensions = false",
    "autoload_known_extensions = false",
    "python_enable_replacements = false",  # a name in SQL is never a variable of Python
)


class Joins:
    """A graph in a DuckDB database of its own; made by ``joins``."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, memory: str) -> None:
        self._connection, self._memory = connection, memory
        self._tables = 0
        self.size = 0
        self.extra: tuple[str, ...] = ()  # columns of edges: length, steps

    def run(self, sql: str, given: Any = None) -> list[tuple[Any, ...]]:
        """The rows of a query; a sentence where memory or disk do not suffice."""
        import duckdb

        try:
            return self._connection.execute(sql, given).fetchall()
        except duckdb.OutOfMemoryException:
            raise RainbowError(
                f"DuckDB cannot work with a memory of {self._memory} on this graph; give it more"
            ) from None
        except duckdb.IOException as error:
            said = str(error).partition("\n")[0]
            raise RainbowError(f"DuckDB cannot write what memory cannot hold: {said}") from None

    def one(self, sql: str) -> tuple[Any, ...]:
        """The only row of a query."""
        [row] = self.run(sql)
        return row

    def arrays(self, sql: str) -> dict[str, NDArray[Any]]:
        """The columns of a query, in memory."""
        return dict(self._connection.execute(sql).fetchnumpy())

    def stream(self, sql: str) -> Iterator[tuple[Any, ...]]:
        """The rows of a query, some in memory at a time; other queries may run meanwhile."""
        with self._connection.cursor() as cursor:
            cursor.execute(sql)
            while rows := cursor.fetchmany(_ROWS):
                yield from rows

    def table(self) -> str:
        """A name for a new table."""
        self._tables += 1
        return f"table_{self._tables}"

    # --- loading --------------------------------------------------------------------------------

    def raw(self, pairs: NDArray[Any], lengths: NDArray[Any] | None = None) -> None:
        """A table ``raw`` of src and dst, and of the length where there are any, from arrays."""
        typed = "" if lengths is None else ", length DOUBLE"
        self.run(f"CREATE TABLE raw (src UBIGINT, dst UBIGINT{typed})")
        for start in range(0, len(pairs), _BLOCK):
            block = slice(start, start + _BLOCK)
            columns = {"src": np.array(pairs[block, 0]), "dst": np.array(pairs[block, 1])}
            if lengths is not None:
                columns["length"] = lengths[block].astype(np.float64)
            self.insert("raw", columns)

    def insert(self, table: str, columns: dict[str, NDArray[Any]]) -> None:
        """More rows for a table, from arrays."""
        self._connection.register("given", columns)
        try:
            self.run(f"INSERT INTO {table} SELECT {', '.join(columns)} FROM given")  # noqa: S608
        finally:
            self._connection.unregister("given")

    def load_query(self, sql: str, size: int, extra: tuple[str, ...] = ()) -> None:
        """Take the edges between the places 0 to ``size`` − 1 from a query for src and dst.

        Of ``extra`` columns, length and steps, the least of an edge that is there twice counts.
        """
        self.size, self.extra, kind = size, extra, self._kind(size)
        least = "".join(f", min({name}) AS {name}" for name in extra)
        both = "".join(f", {name}" for name in extra)
        self.run(
            f"CREATE TABLE once AS SELECT least(src, dst)::{kind} AS src, "  # noqa: S608
            f"greatest(src, dst)::{kind} AS dst{least} FROM ({sql}) WHERE src <> dst GROUP BY 1, 2"
        )
        self.run(
            f"CREATE TABLE edges AS SELECT src, dst{both} FROM "  # noqa: S608
            f"(FROM once UNION ALL SELECT dst AS src, src AS dst{both} FROM once) ORDER BY src"
        )
        self.run("DROP TABLE once")

    @property
    def steps(self) -> str:
        """How many steps an edge has, in SQL."""
        return "edges.steps::BIGINT" if "steps" in self.extra else "1"

    @staticmethod
    def _kind(size: int) -> str:
        return "UINTEGER" if index_type(size) is np.uint32 else "UBIGINT"

    def numbers(self, values: NDArray[Any]) -> str:
        """A table of place and value from an array with a whole number or float for each place."""
        name, kind = self.table(), "DOUBLE" if values.dtype.kind == "f" else "BIGINT"
        self.run(f"CREATE TABLE {name} (place {self._kind(self.size)}, value {kind})")
        for start in range(0, len(values), _BLOCK):
            block = np.array(values[start : start + _BLOCK])
            self.insert(name, {"place": np.arange(start, start + len(block)), "value": block})
        return name

    def keep(self, name: str, columns: dict[str, Any], last: str) -> None:
        """A table of place and one column more, from arrays."""
        self._connection.register("given", columns)
        self.run(f"CREATE TABLE {name} AS SELECT place, {last} FROM given")  # noqa: S608  ours
        self._connection.unregister("given")

    def filled(self, found: str, column: str, default: int) -> str:
        """A table of place and value for all places, ``default`` where ``found`` has none."""
        name = self.table()
        self.run(
            f"CREATE TABLE {name} AS SELECT p.range::{self._kind(self.size)} AS place, "  # noqa: S608
            f"coalesce(f.{column}, {default})::BIGINT AS value FROM range({self.size}) AS p "
            f"LEFT JOIN {found} AS f ON p.range = f.place ORDER BY place"
        )
        self.run(f"DROP TABLE {found}")
        return name

    def renumbered(self, table: str, numbers: Sequence[int]) -> str:
        """A table of place and value like ``table``, with ``numbers[value]`` in its place."""
        name = self.table()
        self.run(
            f"CREATE TABLE {name} AS SELECT place, list_value({', '.join(map(str, numbers))})"  # noqa: S608
            f"[value + 1]::BIGINT AS value FROM {table} ORDER BY place"
        )
        return name

    # --- searching ------------------------------------------------------------------------------

    def levels(
        self, start: str, edges: str = "edges", *, each: bool = False, what: str
    ) -> Iterator[int]:
        """Yield each level's number, with its nodes in the table ``front`` (place, mark).

        ``start`` is a query for level 0. With ``each``, a node has a row for each mark that reaches
        it; otherwise the least of those that reach it first.
        """
        keys = ("place", "mark") if each else ("place",)
        joined = f"FROM front JOIN {edges} AS e ON e.src = front.place"
        if each:
            grown = f"SELECT DISTINCT e.dst AS place, mark {joined}"
        else:
            grown = f"SELECT e.dst AS place, min(mark) AS mark {joined} GROUP BY e.dst"
        shared = ", ".join(keys)
        following = (
            f"CREATE OR REPLACE TEMP TABLE next AS SELECT place, mark FROM ({grown}) "  # noqa: S608
            f"ANTI JOIN front USING ({shared}) ANTI JOIN before USING ({shared})"
        )
        self.run(f"CREATE OR REPLACE TEMP TABLE front AS {start}")
        self.run("CREATE OR REPLACE TEMP TABLE before AS FROM front LIMIT 0")
        level, found = 0, self._filled("front")
        with timed(what) as stage:
            while found:
                stage(f"step {level:,}, {found:,} nodes")
                yield level
                self.run(following)
                level, found = level + 1, self._filled("next")
                self.run("DROP TABLE before")
                self.run("ALTER TABLE front RENAME TO before")
                self.run("ALTER TABLE next RENAME TO front")

    def _filled(self, table: str) -> int:
        (count,) = self.one(f"SELECT count(*) FROM {table}")  # noqa: S608  our name
        return int(count)

    def search(
        self,
        start: str,
        edges: str = "edges",
        *,
        each: bool = False,
        cut: int | None = None,
        what: str = "Searching the graph",
    ) -> str:
        """A table of place, mark and level of all nodes that are nearer than ``cut``."""
        name = self.table()
        self.run("CREATE OR REPLACE TEMP TABLE reached (place UBIGINT, mark BIGINT, level INTEGER)")
        for level in self.levels(start, edges, each=each, what=what):
            if cut is not None and level >= cut:
                break
            self.run(f"INSERT INTO reached SELECT place, mark, {level} FROM front")  # noqa: S608
        kind = self._kind(self.size)
        self.run(
            f"CREATE TABLE {name} AS SELECT place::{kind} AS place, mark, level FROM reached "  # noqa: S608
            "ORDER BY place"
        )
        self.run("DROP TABLE reached")
        return name

    def inner(self, region: str) -> str:
        """The edges inside regions, where ``region`` is a table of place and value."""
        name = self.table()
        self.run(f"CREATE TABLE {name} AS SELECT src, dst {self.ends(region)} ORDER BY src")
        return name

    def ends(self, region: str, compared: str = "=") -> str:
        """The edges with the values a and b of their ends in ``region``, compared so, in SQL."""
        return (
            f"FROM edges JOIN {region} AS a ON src = a.place JOIN {region} AS b ON dst = b.place "
            f"WHERE a.value {compared} b.value"
        )

    def depths(self, region: str) -> str:
        """A table of place, mark and level: the depth of the nodes whose boundary can be reached.

        ``region`` is a table of place and value; a node on the boundary has an edge to another.
        """
        start = f"SELECT DISTINCT src AS place, 0 AS mark {self.ends(region, '<>')}"
        inner = self.inner(region)
        found = self.search(start, inner, what="Finding depths")
        self.run(f"DROP TABLE {inner}")
        return found

    def touching(self, region: str) -> list[tuple[int, int]]:
        """The pairs of regions joined by an edge, each once, smaller number first, in order."""
        return [
            (int(a), int(b))
            for a, b in self.run(
                f"SELECT DISTINCT a.value, b.value {self.ends(region, '<')} ORDER BY ALL"
            )
        ]

    def nearest(self, places: Sequence[int]) -> str:
        """A table of place, mark and level: the first listed of the nearest ``places``."""
        return self.search(self.listed(places), what="Finding the nearest sites")

    @staticmethod
    def listed(places: Sequence[int]) -> str:
        """A query for each of ``places``, with its number as the mark."""
        rows = ", ".join(f"({place}, {number})" for number, place in enumerate(places))
        return f"SELECT place, mark FROM (VALUES {rows}) AS sites(place, mark)"  # noqa: S608  ours

    def distances(self, places: Sequence[int]) -> str:
        """A table of place and d0, d1, …: the steps to each of ``places``, null without a way."""
        found = self.search(self.listed(places), each=True, what="Measuring distances")
        picked = ", ".join(
            f"min(level) FILTER (mark = {k})::DOUBLE AS d{k}" for k in range(len(places))
        )
        name = self.table()
        self.run(
            f"CREATE TABLE {name} AS SELECT p.range::{self._kind(self.size)} AS place, "  # noqa: S608
            f"f.* EXCLUDE (place) FROM range({self.size}) AS p LEFT JOIN "
            f"(SELECT place, {picked} FROM {found} GROUP BY place) AS f ON p.range = f.place "
            "ORDER BY 1"
        )
        self.run(f"DROP TABLE {found}")
        return name

    def between(self, places: Sequence[int]) -> NDArray[np.float64]:
        """The steps between each two of ``places``, infinite where there is no way.

        All searches go on at once, and end when every place has met every other.
        """
        self.run(f"CREATE OR REPLACE TEMP TABLE sites AS {self.listed(places)}")
        found = np.full((len(places), len(places)), np.inf)
        for level in self.levels("FROM sites", each=True, what="Comparing sites"):
            met = self.run(
                "SELECT f.mark, sites.mark FROM front AS f JOIN sites ON f.place = sites.place"
            )
            for one, other in met:
                found[one, other] = level
            if np.isfinite(found).all():
                break
        return found

    def margins(self, truth: str, answers: int, cut: int) -> str:
        """A table of place and m0, m1, …: for each answer min(cut, steps to where it is true).

        ``truth`` is a table of place and value, the number of the true answer. A node from which no
        way leads to an answer has the cut, too.
        """
        start = f"SELECT DISTINCT src AS place, a.value AS mark {self.ends(truth, '<>')}"
        found = self.search(start, each=True, cut=cut, what="Finding margins")
        picked = ", ".join(f"min(level) FILTER (mark = {k}) AS m{k}" for k in range(answers))
        columns = ", ".join(
            f"(CASE WHEN t.value = {k} THEN 0 ELSE coalesce(m{k}, {cut}) END)::INTEGER AS m{k}"
            for k in range(answers)
        )
        name = self.table()
        self.run(
            f"CREATE TABLE {name} AS SELECT t.place, {columns} FROM {truth} AS t LEFT JOIN "  # noqa: S608
            f"(SELECT place, {picked} FROM {found} GROUP BY place) AS p ON t.place = p.place "
            "ORDER BY t.place"
        )
        self.run(f"DROP TABLE {found}")
        return name

    # --- checking -------------------------------------------------------------------------------

    def wrong_depths(self, region: str, depth: str) -> int:
        """On how many edges depths break what the proof by region and depth relies on.

        Inside a region they change by at most the steps of the edge. Across a border the two depths
        and the step between the first rows are no more than its steps.
        """
        (found,) = self.one(
            f"SELECT count(*) FROM edges JOIN {region} AS a ON src = a.place "  # noqa: S608
            f"JOIN {region} AS b ON dst = b.place LEFT JOIN {depth} AS c ON src = c.place "
            f"LEFT JOIN {depth} AS d ON dst = d.place WHERE src < dst AND "
            "CASE WHEN a.value <> b.value "
            f"THEN coalesce(c.level::BIGINT + d.level + 1 > {self.steps}, true) "
            "ELSE (c.level IS NULL) <> (d.level IS NULL) "
            f"OR abs(c.level::BIGINT - d.level) > {self.steps} END"
        )
        return int(found)

    def wrong_margins(self, truth: str, margins: str, answers: int) -> int:
        """On how many edges margins break what the proof by margins relies on.

        None changes by more than the steps of the edge; and where the true answer changes, the
        margins of the other end's true answer add up to the steps and one more at most.
        """
        names = [f"m{k}" for k in range(answers)]
        jumps = " OR ".join(f"abs(c.{m}::BIGINT - d.{m}) > {self.steps}" for m in names)
        one, other = (f"[{', '.join(f'{side}.{m}' for m in names)}]" for side in "cd")
        (found,) = self.one(
            f"SELECT count(*) FROM edges JOIN {truth} AS a ON src = a.place "  # noqa: S608
            f"JOIN {truth} AS b ON dst = b.place JOIN {margins} AS c ON src = c.place "
            f"JOIN {margins} AS d ON dst = d.place WHERE src < dst AND ({jumps} OR "
            f"(a.value <> b.value AND {one}[b.value + 1]::BIGINT + {other}[a.value + 1] "
            f"> {self.steps} + 1))"
        )
        return int(found)

    def wrong_zeros(self, truth: str, margins: str, answers: int) -> int:
        """At how many places a margin is not 0 at exactly the true answer."""
        odd = " OR ".join(f"(m{k} = 0) <> (value = {k}) OR m{k} < 0" for k in range(answers))
        (found,) = self.one(
            f"SELECT {self.size} - count(*) FILTER (NOT ({odd})) FROM {truth} AS t "  # noqa: S608
            f"JOIN {margins} AS m ON t.place = m.place"
        )
        return int(found)


@contextmanager
def joins(memory: str, folder: str | PathLike[str] | None = None) -> Iterator[Joins]:
    """DuckDB with at most ``memory``, such as ``"1GB"``, and an own folder in ``folder``.

    The folder is removed with all that is in it, whatever happens.
    """
    import duckdb

    wrong = RainbowError(f"memory must be an amount such as '2GB', got {brief(memory)}")
    if memory.lstrip().startswith("-"):  # DuckDB takes it for no limit
        raise wrong
    with (
        TemporaryDirectory(prefix="rainbowdp-", dir=folder) as own,
        duckdb.connect(str(Path(own) / "graph.duckdb")) as connection,
    ):
        for setting in _SETTINGS:
            connection.execute(f"SET {setting}")
        connection.execute(f"SET temp_directory = {quoted(own, chr(39))}")
        try:
            connection.execute(f"SET memory_limit = {quoted(memory, chr(39))}")
        except (duckdb.ParserException, duckdb.InvalidInputException):
            raise wrong from None
        yield Joins(connection, memory)
