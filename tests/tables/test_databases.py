"""Tables of databases: what is read, that nothing is written, and what is never said."""

from __future__ import annotations

import sqlite3
import traceback
from pathlib import Path
from typing import Any

import duckdb
import pytest
from sqlalchemy import make_url

from postgres import connect, fresh_schema, killable_server
from rainbowdp.errors import UnreadableTable
from rainbowdp.questions import Quantile, Threshold, Winner, limited
from rainbowdp.tables import SQLTable, count, postgres

SECRET = "Ann, 12 Mill Lane"
ON = Winner(["on", "off"], "x")


def refused(table: Any, question: Any = ON) -> str:
    """The message; neither it nor anything that is printed with it shows a row or a password."""
    with pytest.raises(UnreadableTable) as caught:
        count(table, question)
    error: BaseException = caught.value
    assert error.__cause__ is None
    assert error.__context__ is None
    shown = "".join(traceback.format_exception(error)) + repr(table)
    assert "Mill Lane" not in shown
    assert "hunter2" not in shown.replace('"postgresql://ann:hunter2@', "")
    message = str(error)
    assert "\n" not in message
    return message


def sqlite_file(path: Path, *statements: str) -> Path:
    with sqlite3.connect(path) as connection:
        for statement in statements:
            connection.execute(statement)
    connection.close()
    return path


def duckdb_file(path: Path, *statements: str) -> Path:
    with duckdb.connect(path) as connection:
        for statement in statements:
            connection.execute(statement)
    return path


@pytest.fixture(params=["sqlite", "duckdb"])
def file(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, Path]:
    """An address that begins with a kind, and a file of that kind with a table t."""
    rows = "('on', 1, 1), ('on', 1, 2), ('off', 2, 3), ('On', 2, 4), (NULL, NULL, NULL)"
    make = sqlite_file if request.param == "sqlite" else duckdb_file
    path = make(
        tmp_path / "it's 100%? #1.db",
        'CREATE TABLE "t ""%s"" {}" ("x" TEXT, "w {}?" INTEGER, n INTEGER)',
        f'INSERT INTO "t ""%s"" {{}}" VALUES {rows}',
        'CREATE VIEW v AS SELECT x FROM "t ""%s"" {}"',
    )
    return request.param, path


def test_files_are_found_by_address_and_by_path(file: tuple[str, Path]) -> None:
    kind, path = file
    table = 't "%s" {}'
    plain = path.with_name("plain 100%.db")
    plain.write_bytes(path.read_bytes())
    for url in (f"{kind}:///{plain}", str(path)):
        assert count(SQLTable(url, table), ON) == {"on": 2, "off": 1}
    assert count(SQLTable(str(path), table, "main"), ON) == {"on": 2, "off": 1}
    assert count(SQLTable(str(path), "v"), ON) == {"on": 2, "off": 1}
    bins = Quantile("1/2", [0, 2, 9], "n")
    assert list(count(SQLTable(str(path), table), bins).values()) == [1, 3]
    people = limited(bins, 1, "w {}?", "one vote")
    assert sum(count(SQLTable(str(path), table), people).values()) == 2
    assert not any(count(SQLTable(str(path), table), Winner(["y", "z"], "x")).values())


def test_files_that_cannot_be_counted(file: tuple[str, Path]) -> None:
    kind, path = file
    before = path.read_bytes()
    assert refused(SQLTable(str(path), "none")) == f"there is no table 'none' in {path}"
    assert refused(SQLTable(str(path), "v", "town")) == f"there is no table 'town.v' in {path}"
    assert refused(SQLTable(str(path), "v"), Winner(["on", "off"], "y")) == (
        "there is no column 'y', the columns are 'x'"
    )
    gone = path.with_name("gone.db")
    assert refused(SQLTable(f"{kind}:///{gone}", "t")) == f"there is no file {gone}"
    assert "must name a file" in refused(SQLTable(f"{kind}://", "t"))
    text = path.with_name("text.db")
    text.write_text(SECRET)
    assert str(text) in refused(SQLTable(f"{kind}:///{text}", "t"))
    assert "is neither an SQLite nor a DuckDB database" in refused(SQLTable(str(text), "t"))
    damaged = path.with_name("damaged.db")
    damaged.write_bytes(before[: len(before) // 2])
    refused(SQLTable(str(damaged), "v"))
    assert not gone.exists()
    assert path.read_bytes() == before
    assert {other.name for other in path.parent.iterdir()} == {path.name, "text.db", "damaged.db"}


def test_a_view_of_a_duckdb_file_reads_no_other_file(tmp_path: Path) -> None:
    (tmp_path / "other.csv").write_text(f"x\n{SECRET}\n")
    path = duckdb_file(
        tmp_path / "t.duckdb", f"CREATE VIEW v AS FROM read_csv('{tmp_path}/other.csv')"
    )
    assert "cannot be read: is it a view of other files?" in refused(SQLTable(str(path), "v"))


def test_values_that_duckdb_cannot_compute_are_not_shown(tmp_path: Path) -> None:
    path = duckdb_file(
        tmp_path / "t.duckdb",
        "CREATE TABLE t (y TEXT)",
        f"INSERT INTO t VALUES ('{SECRET}')",
        "CREATE VIEW v AS SELECT CAST(y AS INTEGER) AS x FROM t",
    )
    refused(SQLTable(str(path), "v"), Winner(["1", "2"], "x"))


def test_a_value_of_another_type_changes_no_other_in_sqlite(tmp_path: Path) -> None:
    """SQLite keeps what it cannot turn into the declared type as it is."""
    types = "i INTEGER, r REAL, t TEXT, d DATE, b BOOLEAN, u, c NUMERIC(9, 2), who INTEGER, z BLOB"
    path = sqlite_file(
        tmp_path / "t.db",
        f"CREATE TABLE t ({types})",
        "INSERT INTO t VALUES (1, 1.5, 'a', '2024-12-31', 1, 'a', 2.5, 1, 'p')",
        "INSERT INTO t VALUES (2, 3, 'A', '2025-01-01', 0, 3, 3, 1, 'p')",
    )
    questions = [
        Winner(["1", "2"], "i"),
        Quantile("1/2", [0, 2, 9], "i"),
        Quantile("1/2", [0, 2, 9], "r"),
        Winner(["1.5", "3"], "r"),
        Winner(["a", "A"], "t"),
        Winner(["2024-12-31", "2025-01-01"], "d"),
        Winner(["true", "false"], "b"),
        Winner(["a", "3"], "u"),
        Winner(["2.5", "3"], "c"),
        Quantile("1/2", [0, 3, 9], "c"),
    ]
    table = SQLTable(str(path), "t")
    for question in questions:
        assert list(count(table, question).values()) == [1, 1], question
        assert list(count(table, limited(question, 2, "who")).values()) == [1, 1], question
    assert list(count(table, Quantile("1/2", [0, 3, 9], "u")).values()) == [0, 1]
    odd: list[Any] = ["nonsense", b"\xff\x00", None, 9e999, 1 << 62, 0.5, "", "\x00a", "a\x00"]
    with sqlite3.connect(path) as connection:
        for value in odd:
            connection.execute(f"INSERT INTO t VALUES ({', '.join('?' * 9)})", [value] * 9)
        connection.execute("INSERT INTO t (t, who) VALUES (CAST(x'61ff' AS TEXT), x'61')")
    connection.close()
    for question in questions:
        found = count(table, question)
        assert all(1 <= n <= 3 for n in found.values()), question  # outer bins hold some
        people = limited(question, 2, "who")
        assert count(table, people) == found, question


def test_people_of_different_types_are_different_in_sqlite(tmp_path: Path) -> None:
    path = sqlite_file(
        tmp_path / "t.db", "CREATE TABLE t (who, x TEXT, f FLOAT, n TEXT COLLATE NOCASE)"
    )
    big = 2**53
    ids = [
        1,
        1.5,
        "1",
        b"1",
        "31",
        big,
        big + 1,
        float(big),
        "a",
        "A",
        "a ",
        b"a\x00",
        "r1.5",
        "a\x00",
    ]
    with sqlite3.connect(path) as connection:
        for who in [*ids, *ids, None]:
            connection.execute("INSERT INTO t VALUES (?, 'on', 1, ?)", [who, str(who)])
    connection.close()
    table = SQLTable(str(path), "t")
    assert count(table, limited(ON, 1, "who")) == {"on": len(ids), "off": 0}
    assert count(table, limited(ON, 1, "n"))["on"] == len({str(who) for who in [*ids, None]})
    assert "floats cannot tell people apart, got the person column 'f' of FLOAT" in refused(
        table, limited(ON, 1, "f")
    )


def test_postgresql_is_asked_in_a_read_only_transaction(postgres_url: str) -> None:
    url = fresh_schema(postgres_url)
    with connect(url) as connection:
        connection.execute("CREATE TABLE asked (at timestamp)")
        connection.execute("CREATE VIEW v AS SELECT current_setting('transaction_read_only') AS x")
        connection.execute(
            "CREATE FUNCTION noted() RETURNS text LANGUAGE sql AS "
            "$$INSERT INTO asked VALUES (now()) RETURNING 'on'$$"
        )
        connection.execute("CREATE VIEW noting AS SELECT noted() AS x")
        assert count(SQLTable(url, "v"), ON) == {"on": 1, "off": 0}
        message = refused(SQLTable(url, "noting"))
        assert message.endswith("cannot be read: it would have to write, and counting only reads")
        assert connection.execute("SELECT count(*) FROM asked").fetchone() == (0,)


@pytest.mark.slow
def test_kept_connections_are_used_again_read_nothing_old_and_survive_the_server() -> None:
    with killable_server() as server:
        with connect(server.url) as connection:
            connection.execute(
                "CREATE VIEW v AS SELECT current_setting('transaction_read_only') AS x"
            )
            connection.execute("CREATE TABLE t (x text)")
        url = server.url.replace("+psycopg", "")
        votes, mode = SQLTable(url, "t", connections=2), SQLTable(url, "v", connections=2)
        busy = "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'"
        for number in range(3):
            assert count(votes, ON) == {"on": number, "off": 0}
            assert count(mode, ON) == {"on": 1, "off": 0}
            with connect(server.url) as connection:
                assert connection.execute(busy).fetchone() == (2,)  # this one, and the kept one
                connection.execute("INSERT INTO t VALUES ('on')")
            server.kill()
            assert "cannot be reached" in refused(votes)
            assert server.start()
        for kept in (0, 2):
            nothing = SQLTable(url, "nothing", connections=kept)
            assert refused(nothing) == refused(SQLTable(url, "nothing"))
        postgres._kept(make_url(url), 2).dispose()


def test_what_the_columns_are_is_never_remembered_wrongly(postgres_url: str) -> None:
    url = fresh_schema(postgres_url)
    kept = SQLTable(url, "t", connections=2)
    number = Winner(["1", "2"], "x")
    with connect(url) as connection:
        connection.execute("CREATE TABLE t (x text, y text)")
        connection.execute("INSERT INTO t VALUES ('1', 'on'), ('2', 'on'), ('01', 'off')")
        assert count(kept, number) == {"1": 1, "2": 1}
        connection.execute("ALTER TABLE t ALTER x TYPE integer USING CAST(x AS integer)")
        assert count(kept, number) == {"1": 2, "2": 1}  # 01 is one now
        assert count(kept, Threshold(1, "x", minimum=2)) == count(
            SQLTable(url, "t"), Threshold(1, "x", minimum=2)
        )
        connection.execute("ALTER TABLE t DROP x")
        assert "there is no column 'x'" in refused(kept, number)
        connection.execute("ALTER TABLE t ADD x text DEFAULT 'off'")
        assert count(kept, ON) == {"on": 0, "off": 3}
        connection.execute("ALTER TABLE t RENAME x TO z")
        connection.execute("ALTER TABLE t RENAME y TO x")
        assert count(kept, ON) == {"on": 2, "off": 1}
        connection.execute("DROP TABLE t")
        assert "there is no table 't'" in refused(kept)
        connection.execute("CREATE TABLE t (x bool)")
        connection.execute("INSERT INTO t VALUES (true)")
        assert count(kept, Winner(["true", "false"], "x")) == {"true": 1, "false": 0}
    postgres._kept(make_url(url), 2).dispose()


@pytest.mark.parametrize("many", [1, 3, 8, 9])
def test_few_listed_values_are_counted_as_many_are(postgres_url: str, many: int) -> None:
    url = fresh_schema(postgres_url)
    with connect(url) as connection:
        connection.execute("CREATE TABLE t (x text)")
        connection.execute("INSERT INTO t SELECT 'v' || i % 10 FROM generate_series(1, 95) AS i")
        connection.execute("INSERT INTO t VALUES (NULL), ('V1'), ('')")
    names = [f"v{number}" for number in range(many)] + (["nobody"] if many == 1 else [])
    expected = {name: 0 if name == "nobody" else 9 + (0 < int(name[1]) < 6) for name in names}
    for kept in (0, 2):
        assert count(SQLTable(url, "t", connections=kept), Winner(names, "x")) == expected
    postgres._kept(make_url(url), 2).dispose()


def test_errors_of_postgresql_show_no_row(postgres_url: str) -> None:
    url = fresh_schema(postgres_url)
    with connect(url) as connection:
        connection.execute("CREATE TABLE t (y text)")
        connection.execute(f"INSERT INTO t VALUES ('{SECRET}')".encode())
        connection.execute("CREATE VIEW v AS SELECT CAST(y AS integer) AS x FROM t")
        connection.execute("CREATE VIEW slow AS SELECT y || pg_sleep(9) AS x FROM t")
    number = Winner(["1", "2"], "x")
    assert "(its error code is 22P02)" in refused(SQLTable(url, "v"), number)
    limited_url = f"{url}%20-cstatement_timeout%3D50"
    assert "a time limit or somebody stopped the query" in refused(SQLTable(limited_url, "slow"))
    nowhere = url.partition("?")[0].rpartition("/")[0] + "/nowhere"
    assert "it does not take this user, password and database" in refused(SQLTable(nowhere, "t"))


def test_a_password_is_never_shown() -> None:
    where = "ann:hunter2@127.0.0.1:1/town"
    message = refused(SQLTable(f"postgresql://{where}", "t"))
    assert message == (
        "PostgreSQL at 127.0.0.1/town cannot be reached: "
        "is the server there, and does it take connections?"
    )
    refused(SQLTable(f"postgresql://{where}?sslmode=hunter2", "t"))
    assert refused(SQLTable("postgresql://ann:hunter2@host:port/x", "t")) == (
        "the url of an SQLTable must be postgresql://user:password@host:port/database, "
        "sqlite:///file, duckdb:///file or another address of SQLAlchemy's, got something else: "
        "write an @ in a password as %40"
    )


def test_what_is_no_address_is_refused() -> None:
    assert refused(SQLTable("somewhere", "t")) == (
        "the url of an SQLTable must be an address, as postgresql://user@host/database or "
        "sqlite:///file are, or the path of a database file, got something else"
    )


def test_dates_of_postgresql_and_a_schema(postgres_url: str) -> None:
    url = fresh_schema(postgres_url)
    with connect(url) as connection:
        connection.execute('CREATE SCHEMA IF NOT EXISTS "other 100%"')
        connection.execute('CREATE TABLE "other 100%".t (x date, who uuid)')
        connection.execute("INSERT INTO \"other 100%\".t VALUES ('2024-02-29', gen_random_uuid())")
    question = Threshold(1, "x", equals="2024-02-29", person="who")
    assert count(SQLTable(url, "t", "other 100%"), question) == {"matching": 1}
    assert "there is no table 'other 100%.none'" in refused(SQLTable(url, "none", "other 100%"))
