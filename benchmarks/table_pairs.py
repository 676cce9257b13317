"""Random pairs of tables that differ in one record, or in one person, through every engine.

A chain of small tables, each made of the one before by replacing, adding or removing one record, or
by giving one person any other records, is counted with one question and one key. Two tables that
follow each other are a pair, and their counts may differ by one record, or by as many as the
question takes of a person. Values, old and new, are drawn from lists of odd ones: nulls, NaN,
infinities, numbers that no float holds, texts of all kinds, days and times that no calendar of
Python has, objects that raise errors, values of other types where the engine takes them.

Each engine is tried again with a fault that must be found: a hash of people that is drawn anew in
every counting. Prints a Markdown table; ``--engines`` names some of them.

    python benchmarks/table_pairs.py --pairs 100000
"""

from __future__ import annotations

import argparse
import gzip
import itertools
import json
import random
import secrets
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias
from unittest import mock

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet
import sqlalchemy as sa

import rainbowdp as rb
from odd_values import (
    ARROW,
    CATEGORIES,
    COMMON,
    HALVES,
    IN_DUCKDB,
    IN_FILES,
    IN_MARIADB,
    IN_OBJECTS,
    IN_POLARS,
    IN_POSTGRES,
    IN_SQLITE,
    Kind,
)
from rainbowdp.questions import Question
from rainbowdp.tables import (
    any_database,
    count,
    duck,
    files,
    frame_people,
    identities,
    locked,
    postgres,
)
from rainbowdp.tables import sqlite as sqlite_way
from rainbowdp.tables.locked import locked_connection
from rainbowdp.tables.named import NamedTable
from rainbowdp.tables.prepared import counted
from rainbowdp.tables.query import Dialect
from rainbowdp.tables.values import counts_by_name

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

import mariadb
import postgres as postgres_server
import spark_session

CHAIN = 25  # pairs of one chain
ROWS = 12
FAULTY = 100  # pairs in which the fault must be found

Row: TypeAlias = tuple[Any, Any]  # a value and a person
Make: TypeAlias = Callable[[Kind, list[Row]], Any]


class Engine(NamedTuple):
    """How its tables are made and counted, and the kinds of columns that it has."""

    make: Make
    kinds: Sequence[Kind]
    counts: Callable[..., dict[str, int]] = count


# --- Tables -------------------------------------------------------------------------------------


def array(values: Sequence[Any], type_: Any) -> Any:
    """An Arrow array; days and times come as whole numbers, some beyond every calendar."""
    if pa.types.is_temporal(type_):
        whole = pa.int32() if pa.types.is_date32(type_) else pa.int64()
        return pa.array(values, whole).view(type_)
    if pa.types.is_float16(type_):
        return pa.array([None if v is None else np.float16(v) for v in values], type_)
    return pa.array(values, type_)


def people(kind: Kind, rows: list[Row]) -> Any:
    texts = isinstance(kind.people[0], str)
    return pa.array([who for _, who in rows], pa.string() if texts else pa.int64())


def arrow(kind: Kind, rows: list[Row]) -> Any:
    return pa.table({"x": array([x for x, _ in rows], kind.type_), "who": people(kind, rows)})


def pandas(kind: Kind, rows: list[Row]) -> Any:
    """The types of pandas itself, nullable where it has such."""
    types = {pa.int64(): pd.Int64Dtype(), pa.int8(): pd.Int8Dtype(), pa.uint64(): pd.UInt64Dtype()}
    types |= {pa.bool_(): pd.BooleanDtype(), pa.float32(): pd.Float32Dtype()}
    return arrow(kind, rows).to_pandas(types_mapper=types.get, date_as_object=False)


def pandas_arrow(kind: Kind, rows: list[Row]) -> Any:
    return arrow(kind, rows).to_pandas(types_mapper=pd.ArrowDtype)


def pandas_objects(kind: Kind, rows: list[Row]) -> Any:
    columns = {}
    for place, name in enumerate(("x", "who")):
        held = np.empty(len(rows), dtype=object)
        for i, row in enumerate(rows):
            held[i] = row[place]
        columns[name] = pd.Series(held, dtype=object)
    return pd.DataFrame(columns)


def pandas_categories(kind: Kind, rows: list[Row]) -> Any:
    frame = pandas_objects(kind, rows)
    seen = sorted({x for x, _ in rows if x is not None}, key=repr)
    categories = pd.Series([*kind.usual, *(x for x in seen if x not in kind.usual)])
    frame["x"] = pd.Categorical(frame["x"], categories=categories)
    return frame.assign(who=frame["who"].astype("category"))


def polars(kind: Kind, rows: list[Row]) -> Any:
    return pl.from_arrow(arrow(kind, rows))


def relation(connection: duckdb.DuckDBPyConnection) -> Make:
    def make(kind: Kind, rows: list[Row]) -> Any:
        connection.register("rows", arrow(kind, rows))
        connection.execute("CREATE OR REPLACE TABLE kept AS FROM rows")
        return connection.sql("FROM kept")

    return make


class Folder:
    """Makers of files."""

    def __init__(self, path: Path) -> None:
        self.path, self._numbers = path, itertools.count()

    def _new(self, suffix: str) -> Path:
        for old in self.path.glob(f"*.{suffix}"):
            old.unlink()
        return self.path / f"{next(self._numbers)}.{suffix}"

    def text(self, suffix: str) -> Make:
        """A file of lines, every field in quotes."""
        delimiter = "\t" if "tsv" in suffix else ","

        def field(value: str | None) -> str:
            text = (value or "").replace('"', '""')
            return f'"{text}"'

        def line(row: Row) -> str:
            if "jsonl" in suffix:
                return json.dumps({"x": row[0], "who": row[1]})
            return delimiter.join(map(field, row))

        def make(kind: Kind, rows: list[Row]) -> Path:
            path = self._new(suffix)
            header = [] if "jsonl" in suffix else [f"x{delimiter}who"]
            whole = ("\n".join([*header, *map(line, rows)]) + "\n").encode()
            path.write_bytes(gzip.compress(whole, 1) if suffix.endswith("gz") else whole)
            return path

        return make

    def parquet(self, kind: Kind, rows: list[Row]) -> Path:
        """A Parquet file."""
        path = self._new("parquet")
        pyarrow.parquet.write_table(arrow(kind, rows), path)
        return path

    def dataset(self, kind: Kind, rows: list[Row]) -> Any:
        """A dataset of one Parquet file."""
        return pyarrow.dataset.dataset(self.parquet(kind, rows))

    def duckdb(self, kind: Kind, rows: list[Row]) -> Any:
        """A table in a DuckDB file."""
        path = self._new("duckdb")
        with duckdb.connect(path) as connection:
            connection.register("rows", arrow(kind, rows))
            connection.execute("CREATE TABLE t AS FROM rows")
        return rb.SQLTable(f"duckdb:///{path}", "t")

    def sqlite(self, kind: Kind, rows: list[Row]) -> Any:
        """A table in an SQLite file."""
        path = self._new("db")
        connection = sqlite3.connect(path, isolation_level=None)
        connection.execute("PRAGMA synchronous = off")
        connection.execute("PRAGMA journal_mode = off")
        who = "TEXT" if isinstance(kind.people[0], str) else "INTEGER"
        connection.execute(f"CREATE TABLE t (x {kind.type_}, who {who})")
        connection.executemany("INSERT INTO t VALUES (?, ?)", rows)
        connection.close()
        return rb.SQLTable(f"sqlite:///{path}", "t")


def in_postgres(url: str, connection: Any) -> Make:
    connection.prepare_threshold = None  # tables of one name have columns of other types

    def make(kind: Kind, rows: list[Row]) -> Any:
        who = "varchar" if isinstance(kind.people[0], str) else "int8"
        connection.execute("DROP TABLE IF EXISTS t")
        connection.execute(f"CREATE TABLE t (x {kind.type_}, who {who})".encode())
        with connection.cursor() as cursor:
            cursor.executemany("INSERT INTO t VALUES (%s, %s)", rows)
        return rb.SQLTable(url, "t")

    return make


def in_mariadb(url: str) -> Make:
    def make(kind: Kind, rows: list[Row]) -> Any:
        who = "VARCHAR(9)" if isinstance(kind.people[0], str) else "BIGINT"
        made = f"CREATE TABLE t (x {kind.type_}, who {who}) ENGINE = MEMORY"
        made = made if kind.type_ != "TEXT" else made.replace("MEMORY", "InnoDB")
        mariadb.run(url, "DROP TABLE IF EXISTS t", made, "INSERT INTO t VALUES (%s, %s)", rows=rows)
        return rb.SQLTable(url, "t")

    return make


def in_spark(session: Any) -> Make:
    return lambda kind, rows: session.createDataFrame(arrow(kind, rows))


def generally(table: Any, question: Question, *, key: int) -> dict[str, int]:
    """Counts by the way for any database."""
    address = sa.make_url(table.url)
    name = NamedTable(table.table)
    found = any_database.work_there(address, name, question, lambda made: counted(made, key))
    return counts_by_name(question, found)


# --- Pairs --------------------------------------------------------------------------------------


def options(draw: random.Random, planted: bool) -> dict[str, Any]:
    """What a question says of people; a fault in what is kept of them needs some."""
    if planted:
        return {"person": "who", "rows_per_person": 1}
    if draw.random() < 0.4:
        return {}
    if draw.random() < 0.4:
        return {"person": "who", "person_rule": "one vote"}
    return {"person": "who", "rows_per_person": draw.randint(1, 3)}


def row(kind: Kind, draw: random.Random, who: Any = ...) -> Row:
    value = draw.choice(kind.odd if draw.random() < 0.4 else kind.usual)
    if who is ...:
        who = None if draw.random() < 0.15 else draw.choice(kind.people)
    return value, who


def changed(kind: Kind, rows: list[Row], draw: random.Random, person: bool) -> list[Row]:
    """The table with one record changed, come or gone, or with other records of one person."""
    made = rows.copy()
    if person:
        who = draw.choice(kind.people)
        made = [one for one in made if type(one[1]) is not type(who) or one[1] != who]
        new = [row(kind, draw, who) for _ in range(draw.randint(0, 6))]
    else:
        if made and draw.random() < 0.7:
            made.pop(draw.randrange(len(made)))
        new = [row(kind, draw)] if len(made) == len(rows) or draw.random() < 0.7 else []
    for one in new:
        made.insert(draw.randint(0, len(made)), one)
    return made


def apart(here: dict[str, int], there: dict[str, int]) -> int:
    """How many records must have come or gone at least."""
    changes = [there[answer] - here[answer] for answer in here]
    return max(sum(c for c in changes if c > 0), -sum(c for c in changes if c < 0))


def tried(engine: Engine, seed: int, planted: bool) -> Iterator[tuple[bool, bool]]:
    """For each pair: whether it is apart by more than is allowed, and whether it was refused."""
    draw = random.Random(seed)  # noqa: S311 - tables, not a secret
    while True:
        kind, people, key = draw.choice(engine.kinds), options(draw, planted), draw.getrandbits(63)
        question = draw.choice(kind.asked)(**people)
        allowed = question.rows_per_person if people.get("rows_per_person") else 1
        rows = [row(kind, draw) for _ in range(3 * ROWS if planted else draw.randint(0, ROWS))]
        before: dict[str, int] | None = None
        for place in range(CHAIN + 1):
            if place:
                rows = changed(kind, rows, draw, bool(people))
            table = engine.make(kind, rows)
            try:
                found = engine.counts(table, question, key=key)
            except Exception as error:
                print(f"  {kind.type_}: {error!r} {question!r}", file=sys.stderr)
                yield False, True
                break
            if place and before is not None:
                wrong = apart(before, found) > allowed
                if wrong and not planted:
                    print(f"  {kind.type_} {question!r}: {before} {found}", file=sys.stderr)
                yield wrong, False
            before = found


# --- Engines ------------------------------------------------------------------------------------


@contextmanager
def fault() -> Iterator[None]:
    """A hash of people that is drawn anew, in every engine."""

    def drawn(dialect: Dialect) -> Dialect:
        return Dialect(lambda _, terms: dialect.hashed(secrets.randbits(60), terms), dialect.spread)

    true = identities.hashed
    with ExitStack() as stack:
        for module, name in (
            (duck, "DIALECT"),
            (any_database, "DIALECT"),
            (sqlite_way, "_DIALECT"),
            (postgres, "_DIALECT"),
            (frame_people, "SPARK"),
        ):
            wrong = drawn(getattr(module, name))
            stack.enter_context(mock.patch.object(module, name, wrong))
        stack.enter_context(
            mock.patch.object(
                frame_people, "hashed", lambda values, _: true(values, secrets.randbits(60))
            )
        )
        yield


@contextmanager
def kept_connections(folder: Path) -> Iterator[None]:
    """Connecting takes far longer than counting such a table, so connections are kept.

    Those that are made for one file, Parquet or DuckDB, are made anew for each.
    """
    engines: dict[str, Any] = {}

    def kept(make: Callable[[sa.URL], sa.Engine]) -> Callable[[sa.URL], Any]:
        def engine(url: sa.URL) -> Any:
            known = engines.get(f"{make.__module__} {url}")
            if known is None or url.get_backend_name() == "sqlite":
                known = engines[f"{make.__module__} {url}"] = make(url)
                if url.get_backend_name() != "sqlite":
                    pooled = sa.create_engine(known.url, pool_size=1)
                    pooled.dispose = lambda *_, **__: None  # type: ignore[method-assign]
                    engines[f"{make.__module__} {url}"] = known = pooled
            return known

        return engine

    with ExitStack() as stack:
        quick = (*locked._SETTINGS, "threads = 1")  # a second thread is no help
        stack.enter_context(mock.patch.object(locked, "_SETTINGS", quick))
        connection = stack.enter_context(locked_connection(folder))

        @contextmanager
        def again(there: Path, named: Any = (), **more: Any) -> Iterator[Any]:
            if named or more:
                with locked_connection(there, named, **more) as other:
                    yield other
                return
            connection.execute(f"DROP TABLE IF EXISTS {any_database._KEPT}")
            yield connection

        for module in (files, duck, any_database):
            stack.enter_context(mock.patch.object(module, "locked_connection", again))
        for way in (postgres, any_database):
            stack.enter_context(mock.patch.object(way, "_engine", kept(way._engine)))
        yield


@contextmanager
def some_engine(name: str, folder: Path) -> Iterator[Engine]:
    """An engine by its name; servers run as long as they are needed."""
    here = Folder(folder)
    simple: dict[str, Engine] = {
        "CSV": Engine(here.text("csv"), IN_FILES),
        "CSV, gzip": Engine(here.text("csv.gz"), IN_FILES),
        "TSV": Engine(here.text("tsv"), IN_FILES),
        "JSON lines": Engine(here.text("jsonl"), IN_FILES),
        "Parquet": Engine(here.parquet, COMMON),
        "PyArrow table": Engine(arrow, ARROW),
        "PyArrow dataset": Engine(here.dataset, COMMON),
        "pandas": Engine(pandas, COMMON),
        "pandas, Arrow types": Engine(pandas_arrow, [*ARROW, HALVES]),
        "pandas, objects": Engine(pandas_objects, IN_OBJECTS),
        "pandas, categories": Engine(pandas_categories, CATEGORIES),
        "Polars": Engine(polars, IN_POLARS),
        "Polars, lazy": Engine(lambda kind, rows: polars(kind, rows).lazy(), IN_POLARS),
        "DuckDB file": Engine(here.duckdb, COMMON),
        "SQLite": Engine(here.sqlite, IN_SQLITE),
        "any database: SQLite": Engine(here.sqlite, IN_SQLITE, generally),
    }
    with ExitStack() as stack:
        if name in simple:
            yield simple[name]
        elif name == "DuckDB relation":
            yield Engine(relation(stack.enter_context(duckdb.connect())), IN_DUCKDB)
        elif name.endswith("PostgreSQL"):
            url = postgres_server.fresh_schema(stack.enter_context(postgres_server.server()))
            make = in_postgres(url, stack.enter_context(postgres_server.connect(url)))
            if name == "PostgreSQL":
                yield Engine(make, IN_POSTGRES)
            else:
                yield Engine(make, IN_POSTGRES, generally)
        elif name.endswith("MariaDB"):
            url = mariadb.fresh_database(stack.enter_context(mariadb.server()))
            yield Engine(in_mariadb(url), IN_MARIADB)
        else:
            spark_session.provide_java()
            session = spark_session.start()
            session.conf.set("spark.sql.codegen.wholeStage", "false")  # compiling takes longest
            session.conf.set("spark.sql.shuffle.partitions", "1")
            session.conf.set("spark.sql.timestampType", "TIMESTAMP_NTZ")  # of times without a zone
            session.sparkContext.setLogLevel("OFF")
            stack.callback(session.stop)
            yield Engine(in_spark(session), COMMON)


SHARES = {  # of all pairs: slow engines have few
    "CSV": 40,
    "CSV, gzip": 15,
    "TSV": 15,
    "JSON lines": 40,
    "Parquet": 15,
    "PyArrow table": 60,
    "PyArrow dataset": 15,
    "DuckDB relation": 20,
    "DuckDB file": 5,
    "pandas": 50,
    "pandas, Arrow types": 40,
    "pandas, objects": 60,
    "pandas, categories": 25,
    "Polars": 135,
    "Polars, lazy": 135,
    "SQLite": 200,
    "PostgreSQL": 110,
    "any database: SQLite": 35,
    "any database: PostgreSQL": 15,
    "any database: MariaDB": 10,
    "Spark": 5,
}


def measured(engine: Engine, pairs: int, planted: bool = False) -> tuple[int, int]:
    found = list(itertools.islice(tried(engine, 5, planted), pairs))
    return sum(wrong for wrong, _ in found), sum(refused for _, refused in found)


def main() -> None:
    parser = argparse.ArgumentParser(description="Try pairs of tables that differ in one record.")
    parser.add_argument("--pairs", type=int, default=5_000, help="over all engines")
    parser.add_argument("--engines", nargs="*", default=list(SHARES), choices=list(SHARES))
    given = parser.parse_args()
    print("| engine | pairs | apart by more than the unit | refused | the fault: found in |")
    print("| --- | --- | --- | --- | --- |")
    for name in given.engines:
        pairs = -(-given.pairs * SHARES[name] // sum(SHARES.values()))
        with (
            tempfile.TemporaryDirectory() as folder,
            some_engine(name, Path(folder)) as engine,
            kept_connections(Path(folder)),
        ):
            wrong, refused = measured(engine, pairs)
            with fault():
                caught, _ = measured(engine, FAULTY, planted=True)
        print(
            f"| {name} | {pairs:,} | {wrong:,} | {refused:,} | {caught:,} of {FAULTY:,} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
