"""The engine for graphs larger than memory: breadth-first searches as a plain loop of DuckDB joins.

A neighbor of level t is at t − 1, t or t + 1, so the next level is the neighbors of the last one
without the last two levels, and earlier levels are never read again. Edges lie on disk, sorted by
their first end, so that a small front reads only the part that it touches. DuckDB keeps to the
memory it is given and writes what does not fit into a folder of our own, which is gone when the
work ends, by an interrupt, too.

Nodes are the *places* 0, 1, 2, …; an edge is in ``edges`` once for each direction. What is searched
for are *marks*: a node has either the least mark that reaches it first, or a row for each mark.
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

    def table(self) -> str:
        """A name for a new table."""
        self._tables += 1
        return f"table_{self._tables}"

    # --- loading --------------------------------------------------------------------------------

    def load(self, pairs: Any, size: int) -> None:
        """Take the edges between the places 0 to ``size`` − 1 from an array of pairs."""
        first, second = pairs[:, 0], pairs[:, 1]
        self.run(f"CREATE TABLE raw (src {self._kind(size)}, dst {self._kind(size)})")
        for start in range(0, len(pairs), _BLOCK):
            block = slice(start, start + _BLOCK)
            columns = {"src": np.array(first[block]), "dst": np.array(second[block])}
            self._connection.register("given", columns)
            self.run("INSERT INTO raw SELECT src, dst FROM given")
            self._connection.unregister("given")
        self.load_query("SELECT src, dst FROM raw", size)
        self.run("DROP TABLE raw")

    def load_query(self, sql: str, size: int) -> None:
        """Take the edges between the places 0 to ``size`` − 1 from a query for src and dst."""
        self.size, kind = size, self._kind(size)
        once = (
            f"SELECT DISTINCT least(src, dst)::{kind} AS src, greatest(src, dst)::{kind} AS dst "  # noqa: S608
            f"FROM ({sql}) WHERE src <> dst"
        )
        self.run(f"CREATE TABLE once AS {once}")
        self.run(
            "CREATE TABLE edges AS SELECT src, dst FROM "
            "(FROM once UNION ALL SELECT dst AS src, src AS dst FROM once) ORDER BY src"
        )
        self.run("DROP TABLE once")

    @staticmethod
    def _kind(size: int) -> str:
        return "UINTEGER" if index_type(size) is np.uint32 else "UBIGINT"

    def numbers(self, values: NDArray[Any]) -> str:
        """A table of place and value from an array with a value for each place."""
        name = self.table()
        self.run(f"CREATE TABLE {name} (place {self._kind(self.size)}, value BIGINT)")
        for start in range(0, len(values), _BLOCK):
            block = values[start : start + _BLOCK].astype(np.int64)
            places = np.arange(start, start + len(block))
            self._connection.register("given", {"place": places, "value": block})
            self.run(f"INSERT INTO {name} SELECT place, value FROM given")  # noqa: S608  our name
            self._connection.unregister("given")
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
        self.run(f"CREATE TABLE {name} AS SELECT src, dst {self._ends(region)} ORDER BY src")
        return name

    def _ends(self, region: str, compared: str = "=") -> str:
        return (
            f"FROM edges JOIN {region} AS a ON src = a.place JOIN {region} AS b ON dst = b.place "
            f"WHERE a.value {compared} b.value"
        )

    def depths(self, region: str) -> str:
        """A table of place, mark and level: the depth of the nodes whose boundary can be reached.

        ``region`` is a table of place and value; a node on the boundary has an edge to another.
        """
        start = f"SELECT DISTINCT src AS place, 0 AS mark {self._ends(region, '<>')}"
        inner = self.inner(region)
        found = self.search(start, inner, what="Finding depths")
        self.run(f"DROP TABLE {inner}")
        return found

    def touching(self, region: str) -> list[tuple[int, int]]:
        """The pairs of regions joined by an edge, each once, smaller number first, in order."""
        return [
            (int(a), int(b))
            for a, b in self.run(
                f"SELECT DISTINCT a.value, b.value {self._ends(region, '<')} ORDER BY ALL"
            )
        ]

    def nearest(self, places: Sequence[int]) -> str:
        """A table of place, mark and level: the first listed of the nearest ``places``."""
        listed = ", ".join(f"({place}, {number})" for number, place in enumerate(places))
        start = f"SELECT place, mark FROM (VALUES {listed}) AS sites(place, mark)"  # noqa: S608  ours
        return self.search(start, what="Finding the nearest sites")

    def between(self, places: Sequence[int]) -> NDArray[np.float64]:
        """The steps between each two of ``places``, infinite where there is no way.

        All searches go on at once, and end when every place has met every other.
        """
        listed = ", ".join(f"({place}, {number})" for number, place in enumerate(places))
        self.run(
            "CREATE OR REPLACE TEMP TABLE sites AS SELECT place, mark FROM "  # noqa: S608  numbers
            f"(VALUES {listed}) AS sites(place, mark)"
        )
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
        start = f"SELECT DISTINCT src AS place, a.value AS mark {self._ends(truth, '<>')}"
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

    def farthest_jump(self, table: str, columns: Sequence[str]) -> int:
        """The largest change of a column of ``table`` between neighbors."""
        changes = [f"abs(a.{name} - b.{name})" for name in columns]
        largest = changes[0] if len(changes) == 1 else f"greatest({', '.join(changes)})"
        (jump,) = self.one(
            f"SELECT coalesce(max({largest}), 0) FROM edges JOIN {table} AS a ON src = a.place "  # noqa: S608
            f"JOIN {table} AS b ON dst = b.place WHERE src < dst"
        )
        return int(jump)


@contextmanager
def joins(memory: str, folder: str | PathLike[str] | None = None) -> Iterator[Joins]:
    """DuckDB with at most ``memory``, such as ``"1GB"``, and an own folder in ``folder``.

    The folder is removed with all that is in it, whatever happens.
    """
    import duckdb

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
            raise RainbowError(
                f"memory must be an amount such as '2GB', got {brief(memory)}"
            ) from None
        yield Joins(connection, memory)
