"""Any database that SQLAlchemy reaches, tried on a real MariaDB: odd values are alone in it."""

from __future__ import annotations

import traceback
from pathlib import Path
from random import Random
from typing import Any

import pytest

import markers
import rainbowdp as rb
from mariadb import fresh_database, run
from rainbowdp.tables import any_database, arrow_stream, count, look

LARGE = [str(2**64 - 1), str(2**53 + 1)]
EXACT = f"{'7' * 35}.{'3' * 30}"
COLUMNS: dict[str, tuple[str, list[str], list[str]]] = {
    # the type, two values as SQL, what they are in a question
    "latin": ("VARCHAR(20) CHARACTER SET latin1", ["'Köln'", "'köln'"], ["Köln", "köln"]),
    "folded": ("VARCHAR(9) COLLATE utf8mb4_general_ci", ["'a'", "'Á'"], ["a", "Á"]),
    "spaced": ("VARCHAR(9)", ["'a'", "'a '"], ["a", "a "]),
    "padded": ("CHAR(5)", ["'a  '", "'b'"], ["a", "b"]),
    "wide": ("VARCHAR(9) CHARACTER SET ucs2", ["'A'", "'é'"], ["A", "é"]),
    "long": ("LONGTEXT", ["'t\\0'", "'😀'"], ["t\0", "😀"]),
    "json": ("JSON", ["'{}'", "'[]'"], ["{}", "[]"]),
    "chosen": ("ENUM('x', 'y')", ["'x'", "'y'"], ["x", "y"]),
    "several": ("SET('p', 'q')", ["'p'", "'p,q'"], ["p", "p,q"]),
    "uuid": (
        "UUID",
        ["'00000000-0000-0000-0000-00000000000A'", "'00000000-0000-0000-0000-00000000000b'"],
        ["00000000-0000-0000-0000-00000000000a", "00000000-0000-0000-0000-00000000000b"],
    ),
    "truth": ("BOOLEAN", ["TRUE", "FALSE"], ["1", "0"]),  # which it has as TINYINT(1)
    "small": ("TINYINT", ["-128", "127"], ["-128", "127.0"]),
    "large": ("BIGINT UNSIGNED", LARGE, LARGE),
    "year": ("YEAR", ["1999", "2024"], ["1999", "2024"]),
    "exact": ("DECIMAL(65, 30)", [f"'{EXACT}'", "'0.1'"], [EXACT, "1e-1"]),
    "single": ("FLOAT", ["0.123456789", "16777217"], ["0.123456789", "16777216"]),
    "double": ("DOUBLE", ["1e308", "0.1"], ["1e308", "0.1"]),
    "day": ("DATE", ["'2024-02-29'", "'9999-12-31'"], ["2024-02-29", "9999-12-31"]),
    "time": (
        "DATETIME(6)",
        ["'2024-01-01 00:00:00.000001'", "'1000-01-01'"],
        ["2024-01-01T00:00:00.000001", "1000-01-01"],
    ),
    "stamp": (
        "TIMESTAMP NULL",
        ["'2024-01-01'", "'2024-07-01 12:00'"],
        ["2024-01-01", "2024-07-01T12:00"],
    ),
}
ODD = {
    "wide": "_ucs2 x'D800'",  # half of a pair, at which the driver raises an error
    "day": "'0000-00-00'",
    "time": "'2024-00-00'",
    "stamp": "'0000-00-00'",
    "chosen": "'neither'",
    "several": "''",
    "exact": "'-0'",
    "double": "-0.0",
    "json": "NULL",
}
REFUSED = {"bits": "BIT(3)", "clock": "TIME", "bytes": "BLOB", "place": "GEOMETRY", "ip": "INET6"}
ALL = {name: type_ for name, (type_, *_) in COLUMNS.items()} | REFUSED


@pytest.fixture
def url(mariadb_url: str) -> str:
    return fresh_database(mariadb_url)


@pytest.fixture
def table(url: str) -> rb.SQLTable:
    """Odd values come before and after the others, in rows of their own."""
    types = ", ".join(f"`{name}` {type_}" for name, type_ in ALL.items())
    names = ", ".join(f"`{name}`" for name in COLUMNS)
    first, second = zip(*(values for _, values, _ in COLUMNS.values()), strict=True)
    odd = [
        f"INSERT INTO t (`{name}`, who) VALUES ({value}, x'ff00')" for name, value in ODD.items()
    ]
    others = [
        f"INSERT INTO t ({names}, who) VALUES ({', '.join(values)}, x'ff00')"
        for values in (first, first, second)
    ]
    run(url, f"CREATE TABLE t ({types}, who VARBINARY(9))", *odd, *others, *odd)
    return rb.SQLTable(url, "t")


def refused(table: rb.SQLTable, question: Any, kind: type[Exception] = rb.UnreadableTable) -> str:
    with pytest.raises(kind) as caught:
        count(table, question)
    assert caught.value.__cause__ is caught.value.__context__ is None
    shown = "".join(traceback.format_exception(caught.value)) + repr(table)
    assert "hunter2" not in shown
    return str(caught.value)


@pytest.mark.slow
def test_values_match_by_the_declared_type_and_odd_ones_are_alone(table: rb.SQLTable) -> None:
    for name, (_, _, listed) in COLUMNS.items():
        people = {"person": "who", "rows_per_person": 9} if name in ODD else {}
        question = rb.Winner(listed, name, **people)  # type: ignore[arg-type]
        assert list(count(table, question).values()) == [2, 1], name


@pytest.mark.slow
def test_ranges(table: rb.SQLTable) -> None:
    cases: list[tuple[str, Any, list[int]]] = [
        ("large", [0, 2**53 + 1, 2**53 + 2, None], [0, 1, 2]),
        ("exact", ["0.1", 1, None], [3, 2]),
        ("single", [0, "0.123456789", 1, None], [0, 2, 1]),
        ("day", ["2024-02-29", "2024-03-01", None], [2, 1]),
        ("time", [None, "2024-01-01T00:00:00.000001", None], [1, 2]),
        ("stamp", ["2024-01-01", "2024-07-01", "2025-01-01"], [2, 1]),
    ]
    for name, bins, found in cases:
        assert list(count(table, rb.Quantile("1/2", bins, name)).values()) == found, name
    assert count(table, rb.Threshold(1, "small", maximum=0)) == {"matching": 2}
    assert "needs a column of numbers" in refused(table, rb.Threshold(1, "padded", minimum=1))


def test_types_that_cannot_be_counted_are_refused_by_their_type(table: rb.SQLTable) -> None:
    for name, word in {"bits": "BIT", "clock": "TIME", "bytes": "BLOB", "ip": "a type"}.items():
        message = refused(table, rb.Winner(["1", "2"], name))
        assert message.startswith("a column to count must hold"), message
        assert f"got {name!r} of {word}" in message
    assert "so no record can match 'true', 'false'" in refused(
        table, rb.Winner(["true", "false"], "truth")
    )
    question = rb.Winner(["a", "b"], "padded", person="single")
    assert "floats cannot tell people apart" in refused(table, question)
    question = rb.Winner(["a", "b"], "padded", person="bits")
    assert "a person column must hold texts, whole numbers" in refused(table, question)


def test_people_are_told_apart_exactly(url: str) -> None:
    run(
        url, "CREATE TABLE p (x TEXT, who VARCHAR(9) COLLATE utf8mb4_general_ci, n BIGINT UNSIGNED)"
    )
    ids = ["a", "A", "á", "a ", "a\0", "", None]
    rows = [("on", who, 2**63 + place) for who in ids for place in range(3)]
    run(url, "INSERT INTO p VALUES (%s, %s, %s)", rows=rows)
    table = rb.SQLTable(url, "p")
    assert count(table, rb.Winner(["on", "off"], "x", person="who"))["on"] == len(ids) - 1
    assert count(table, rb.Winner(["on", "off"], "x", person="n"))["on"] == 3
    vote = rb.Winner(["on", "off"], "x", person="who", person_rule="one vote")
    assert count(table, vote)["on"] == len(ids) - 1
    assert count(table, rb.Winner(["a", "A"], "who", person="who")) == {"a": 1, "A": 1}


def test_names_schemas_views_and_looks(url: str) -> None:
    run(
        url,
        "CREATE TABLE `t %s {}` (`x y%` TEXT, who INT)",
        "INSERT INTO `t %s {}` VALUES ('on', 1), ('On', 2), (NULL, NULL)",
        "CREATE VIEW v AS SELECT `x y%` AS x, who FROM `t %s {}`",
    )
    server, _, name = url.partition("?")[0].rpartition("/")
    question = rb.Winner(["on", "off"], "x y%")
    assert count(rb.SQLTable(url, "t %s {}"), question) == {"on": 1, "off": 0}
    assert count(rb.SQLTable(server, "t %s {}", name), question) == {"on": 1, "off": 0}
    view = rb.SQLTable(url.replace("mysql+pymysql", "mariadb"), "v")
    seen = look(view, rb.Winner(["on", "off"], "x", person="who"))
    assert (seen.rows, seen.missing, seen.matched) == (3, 1, {"on": 1, "off": 0})
    assert (seen.unmatched, seen.examples) == ({"capital letters differ": 1}, (("On", 1),))
    assert seen.people is not None
    assert (seen.declared, seen.people.people) == ("TEXT", 1)
    assert "there is no column 'y', the columns are 'x', 'who'" in refused(
        view, rb.Winner(["a", "b"], "y")
    )
    assert "there is no table 'none' in mysql at 127.0.0.1/" in refused(
        rb.SQLTable(url, "none"), question
    )


def test_it_is_only_read_and_errors_show_no_row_and_no_password(url: str) -> None:
    run(
        url,
        "CREATE TABLE t (x TEXT)",
        "INSERT INTO t VALUES ('patient77')",
        "CREATE TABLE asked (x TEXT)",
        "CREATE FUNCTION noted(x TEXT) RETURNS TEXT BEGIN INSERT INTO asked VALUES (x); "
        "RETURN x; END",
        "CREATE FUNCTION loud(x TEXT) RETURNS TEXT "
        "BEGIN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = x; RETURN x; END",
        "CREATE VIEW noting AS SELECT noted(x) AS x FROM t",
        "CREATE VIEW loud AS SELECT loud(x) AS x FROM t",
        "CREATE USER IF NOT EXISTS ann IDENTIFIED BY 'hunter2'",
    )
    question = rb.Winner(["on", "off"], "x")
    for view, code in (("noting", 1792), ("loud", 1644)):
        message = refused(rb.SQLTable(url, view), question)
        assert f"cannot be read (its error code is {code})" in message
        assert "patient77" not in message
    for user in ("ann:hunter2", "bob:hunter2"):
        table = rb.SQLTable(url.replace("root", user), "t")
        assert "cannot be reached (its error code is" in refused(table, question)


def test_no_marker_comes_out(url: str, tmp_path: Path) -> None:
    run(
        url,
        "CREATE TABLE t (v TEXT)",
        "CREATE FUNCTION loud(x TEXT) RETURNS TEXT "
        "BEGIN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = x; RETURN x; END",
        "CREATE VIEW plain AS SELECT v AS x, v AS who FROM t",
        "CREATE VIEW who AS SELECT 1 AS x, loud(v) AS who FROM t",
        "CREATE VIEW wide AS SELECT CONVERT(concat(v, _ucs2 x'D800') USING ucs2) AS x, v AS who "
        "FROM t",
    )
    dice = Random(3)
    for number in range(6):
        marker = f"patient{dice.getrandbits(64):x}"
        run(url, "TRUNCATE t", "INSERT INTO t VALUES (%s)", rows=[(marker,)])
        view = ("plain", "who", "wide")[number % 3]
        made = {"view": lambda *_: rb.SQLTable(url, view)}  # noqa: B023
        folder = tmp_path / str(number)
        folder.mkdir()
        assert markers.leaks("view", marker, folder, dice, made) == []


def test_a_planted_fault_is_found(table: rb.SQLTable, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows taken many at a time, as SQLAlchemy does: one that the driver cannot read stops all."""

    def at_once(cursor: Any, _: Any) -> Any:
        yield from cursor.fetchall()

    monkeypatch.setattr(any_database, "_rows", at_once)
    assert "raised UnicodeDecodeError" in refused(table, rb.Winner(["A", "é"], "wide"))


def test_the_size_of_a_batch_does_not_matter(
    table: rb.SQLTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arrow_stream, "ROWS", 2)
    assert count(table, rb.Winner(["a", "b"], "padded")) == {"a": 2, "b": 1}
