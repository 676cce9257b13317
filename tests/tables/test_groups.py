"""Groups and weights: the same cells in every engine as in plain Python, and what one may move."""

from __future__ import annotations

import math
import random
from datetime import date
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pytest
import sqlalchemy as sa

import rainbowdp as rb
from mariadb import fresh_database, run
from postgres import connect, fresh_schema
from rainbowdp.errors import InvalidQuestion, UnreadableTable
from rainbowdp.questions import limited
from rainbowdp.tables import SQLTable, any_database, count, count_groups
from rainbowdp.tables.named import NamedTable
from rainbowdp.tables.prepared import counted

from . import engines as makers
from .engines import Row
from .test_people import COLORS, PEOPLE, RULES, make, random_rows
from .where_oracle import Record
from .where_tables import BIG, IDS, IN_PROCESS, ROWS

__all__ = ["make"]  # a fixture

BY: list[tuple[str, str | None, dict[str, Any]]] = [
    ("choice", None, {"red": "red", "RED": "RED", "it's": "it's", "3": "3", "Ära": "Ära"}),
    ("choice", "lower", {"red": "red", "it's": "it's"}),
    ("whole", None, {"-3": -3, "3.0": 3, str(BIG): BIG, "99": 99}),
    ("flag", None, {"true": True, "FALSE": False}),
    ("price", None, {"0.1": Decimal("0.1"), "-2.5": Decimal("-2.5")}),
    ("real", None, {"0": 0.0, "0.1": 0.1, "2.5": 2.5}),
    ("day", None, {"2024-02-29": date(2024, 2, 29)}),
    ("day", "month", {"1": 1, "2": 2, "12": 12}),
]
IN_SQLITE = ("choice", "whole", "real", "day")
IN_TEXT = [("choice", None), ("choice", "lower"), ("day", "month")]


def told(row: Record, column: str, function: str | None) -> Any:
    """What a record is grouped by, in plain Python."""
    value = row[column]
    if value is None or function is None:
        return value
    return value.month if function == "month" else value.lower()


def by_hand(column: str, function: str | None, groups: dict[str, Any]) -> dict[str, set[str]]:
    return {
        name: {row["id"] for row in ROWS if told(row, column, function) == value}
        for name, value in groups.items()
    }


def found_in(table: Any, column: str, function: str | None, groups: Any) -> dict[str, set[str]]:
    question = rb.Grouped(rb.Winner(IDS, "id"), column, groups, apply=function)
    return {
        name: {row for row, records in found.items() if records}
        for name, found in count_groups(table, question).items()
    }


@pytest.mark.parametrize(("column", "function", "groups"), BY)
def test_groups_are_the_same_everywhere(
    engines: dict[str, Any], column: str, function: str | None, groups: dict[str, Any]
) -> None:
    names = list(IN_PROCESS)
    if column in IN_SQLITE:
        names.append("sqlite")
    if (column, function) in IN_TEXT:
        names += ["csv", "json_lines"]
    for name in names:
        assert found_in(engines[name], column, function, groups) == by_hand(
            column, function, groups
        ), name


def units(value: Any, limit: Fraction, scale: int) -> int | None:
    """The units of a weight by exact fractions."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, float) and math.isinf(value):
        return int(limit * scale) if value > 0 else 0
    clipped = min(max(Fraction(value), Fraction(0)), limit)
    return math.floor(clipped * scale + Fraction(1, 2))


def weighed(column: str, rows: list[Record] = ROWS) -> dict[str, int]:
    return {row["id"]: units(row[column], Fraction(13, 4), 100) or 0 for row in rows}


@pytest.mark.parametrize("column", ["whole", "real", "price"])
def test_weights_are_the_same_everywhere(engines: dict[str, Any], column: str) -> None:
    question = rb.Winner(IDS, "id", weight=rb.Weight(column, "3.25", 2))
    names = [*IN_PROCESS, "csv", "json_lines", *([] if column == "price" else ["sqlite"])]
    for name in names:
        assert count(engines[name], question) == weighed(column), name


@pytest.mark.parametrize("column", ["whole", "real", "price"])
def test_groups_and_weights_and_a_condition(engines: dict[str, Any], column: str) -> None:
    weight = rb.Weight(column, "3.25", 2)
    vote = rb.Winner(IDS, "id", weight=weight, where="whole >= 0 or whole is null")
    question = rb.Grouped(vote, "flag", ["true", "false"])
    kept = [row for row in ROWS if row["whole"] is None or row["whole"] >= 0]
    expected = {
        name: dict.fromkeys(IDS, 0) | weighed(column, [r for r in kept if r["flag"] is flag])
        for name, flag in (("true", True), ("false", False))
    }
    for name in IN_PROCESS:
        assert count_groups(engines[name], question) == expected, name


def test_weights_with_few_decimals_are_exact() -> None:
    """As floats too: no text with so many places as count is rounded."""
    dice = random.Random(5)
    cents = [dice.randrange(10**9) for _ in range(20_000)]
    table = pl.DataFrame({"id": ["a"] * len(cents), "w": [c / 100 for c in cents]})
    question = rb.Threshold(1, "id", equals="a", weight=rb.Weight("w", 10**7, 2))
    assert count(table, question) == {"matching": sum(cents)}


def test_sums_of_weights_need_more_than_a_float() -> None:
    rows, most = 30_000, 10**9
    table = pl.DataFrame({"id": ["a"] * rows, "w": [most - 1] * rows})
    question = rb.Threshold(1, "id", equals="a", weight=rb.Weight("w", most, 0))
    for each in (table, table.to_pandas(), table.to_arrow()):
        assert count(each, question) == {"matching": rows * (most - 1)}


# --- What one person may move -------------------------------------------------------------------

GROUPS = ["A0", "B1", "C2", "A1"]
WEIGHT = rb.Weight("n", 6, 1)
SINGLE: list[Any] = [
    rb.Winner(COLORS, "x"),
    rb.Winner(COLORS, "x", other="other", missing="missing", weight=WEIGHT),
    rb.Quantile("1/2", [0, 2, 4, 9], "n", weight=WEIGHT),
]
WEIGHED: list[Any] = [
    limited(rb.Winner(COLORS, "x", weight=WEIGHT), 2, "who"),
    limited(rb.Winner(COLORS, "x", weight=WEIGHT, where="n <> 3"), 3, "who"),
    limited(rb.Quantile("1/2", [0, 2, 4, 9], "n", weight=WEIGHT), 1, "who"),
]


def cells(table: Any, question: Any, key: int | None = None) -> list[int]:
    if isinstance(question, rb.Grouped):
        found = count_groups(table, question, key=key)
        return [records for group in found.values() for records in group.values()]
    return list(count(table, question, key=key).values())


def moved(before: list[int], after: list[int]) -> int:
    """The most that went or came, in all cells together."""
    change = [b - a for a, b in zip(before, after, strict=True)]
    return max(sum(max(0, -c) for c in change), sum(max(0, c) for c in change))


def check_one_person(make: Any, question: Any, rounds: int) -> None:
    """All rows of one person are replaced by anything; groups are told by the name."""
    inner: Any = question.question if isinstance(question, rb.Grouped) else question
    limit = inner.limit
    for seed in range(rounds):
        draw = random.Random(seed)
        others = random_rows(draw, draw.randrange(60), [None, *PEOPLE[1:]])
        tables = []
        for _ in range(2):
            own: list[Row] = [
                (who, draw.choice(GROUPS), x, n)
                for who, _, x, n in random_rows(draw, draw.choice([0, 1, 9, 40]), [1])
            ]
            rows = [*others, *own]
            draw.shuffle(rows)
            tables.append(make(rows))
        key = draw.getrandbits(63)
        before, after = (cells(table, question, key) for table in tables)
        assert moved(before, after) <= limit, (question, seed)


def test_one_person_moves_so_much_in_all_groups_together(make: Any) -> None:
    for question in (RULES[1], WEIGHED[1]):
        check_one_person(make, rb.Grouped(question, "name", GROUPS), 2)


@pytest.mark.slow
def test_one_person_moves_so_much_whatever_is_asked(make: Any) -> None:
    asked = [question for question in (*RULES, *WEIGHED) if question.person == "who"]
    for question in asked:
        if not (isinstance(question, rb.Quantile) and question.person_rule == "one vote"):
            check_one_person(make, rb.Grouped(question, "name", GROUPS), 4)
        if question.weight is not None:
            check_one_person(make, question, 4)


def expected_cells(rows: list[Row], question: Any) -> list[int]:
    """Cells of questions without a person, by hand."""
    inner = question.question
    totals: dict[tuple[str, Any], int] = {}
    names = [name for name, _ in inner.groups]
    for _, name, x, n in rows:
        weight = 1 if inner.weight is None else units(n, Fraction(6), 10)
        if name not in GROUPS or weight is None:
            continue
        if isinstance(inner, rb.Quantile):
            group = None if n is None else names[sum(n >= edge for edge in (2, 4))]
        elif x in COLORS:
            group = x
        else:
            group = inner.missing if x is None else inner.other
        totals[name, group] = totals.get((name, group), 0) + weight
    return [totals.get((group, name), 0) for group in GROUPS for name in names]


def test_cells_are_those_counted_by_hand(make: Any) -> None:
    rows = random_rows(random.Random(3), 300, [None, *range(30)])
    table = make(rows)
    for inner in SINGLE:
        question = rb.Grouped(inner, "name", GROUPS)
        assert cells(table, question) == expected_cells(rows, question), inner


def test_a_person_below_the_limit_keeps_every_weight(make: Any) -> None:
    rows: list[Row] = [(who, "A1", COLORS[i % 3], who) for who in range(9) for i in range(3)]
    question = limited(rb.Winner(COLORS, "x", weight=WEIGHT), 3, "who")
    assert list(count(make(rows), question).values()) == [sum(min(w, 6) for w in range(9)) * 10] * 3


def test_any_database_counts_cells_too(tmp_path: Path) -> None:
    rows = random_rows(random.Random(4), 200, [None, *range(20)])
    table = makers.Files(tmp_path).sqlite(rows)

    def general(question: Any, key: int) -> list[int]:
        address = sa.make_url(table.url)
        return any_database.work_there(
            address, NamedTable("t"), question, lambda made: counted(made, key)
        )

    for inner in SINGLE:
        question = rb.Grouped(inner, "name", GROUPS)
        assert general(question, 1) == expected_cells(rows, question)
    for inner in WEIGHED:
        question = rb.Grouped(inner, "name", GROUPS)
        others = [row for row in rows if row[0] != 7]
        less = makers.Files(tmp_path).sqlite(others)
        before = general(question, 3)
        table = less
        assert moved(before, general(question, 3)) <= inner.limit
        table = makers.Files(tmp_path).sqlite(rows)


# --- Odd weights ---------------------------------------------------------------------------------


def test_postgres_weighs_whatever_numbers_there_are(postgres_url: str) -> None:
    url = fresh_schema(postgres_url)
    odd = ["1e300", "-1e300", "1e-320", "NaN", "2.345", "2.5", "Infinity", "-Infinity"]
    with connect(url) as connection:
        connection.execute(b"CREATE TABLE t (id text, a numeric, b float8, c int2, d text)")
        for place, value in enumerate(odd):
            b = "0" if value == "1e-320" else value
            connection.execute(
                b"INSERT INTO t VALUES (%s, %s, %s, %s, 'x')",
                (f"r{place}", value, b, 30_000 - place),
            )
    ids = [f"r{place}" for place in range(len(odd))]

    def found(column: str) -> list[int]:
        vote = rb.Winner(ids, "id", weight=rb.Weight(column, 3, 2))
        return list(count(SQLTable(url, "t"), vote).values())

    assert found("a") == [300, 0, 0, 0, 235, 250, 300, 0]
    assert found("b") == [300, 0, 0, 0, 235, 250, 300, 0]
    assert found("c") == [300] * 8
    with pytest.raises(UnreadableTable, match="a range of numbers needs a column of numbers"):
        found("d")


@pytest.mark.slow
def test_mariadb_weighs_decimals_exactly(mariadb_url: str) -> None:
    address = fresh_database(mariadb_url)
    run(address, "CREATE TABLE t (id VARCHAR(9), w DECIMAL(30, 10), g VARCHAR(9))")
    run(address, "INSERT INTO t VALUES ('a', 2.345, 'x'), ('a', -1, 'x'), ('b', 99, 'y')")
    vote = rb.Winner(["a", "b"], "id", weight=rb.Weight("w", 3, 2))
    assert count(SQLTable(address, "t"), vote) == {"a": 235, "b": 300}
    found = count_groups(SQLTable(address, "t"), rb.Grouped(vote, "g", ["y", "x"]))
    assert found == {"y": {"a": 0, "b": 300}, "x": {"a": 235, "b": 0}}


def test_a_column_without_values_has_no_groups_and_no_weights() -> None:
    table = pd.DataFrame({"id": ["a", "b"], "g": [None, None], "w": [math.nan, 1.0]})
    vote = rb.Winner(["a", "b"], "id", weight=rb.Weight("w", 2, 0))
    assert count(table, vote) == {"a": 0, "b": 1}
    nobody = {"x": {"a": 0, "b": 0}}
    assert count_groups(table, rb.Grouped(rb.Winner(["a", "b"], "id"), "g", ["x"])) == nobody
    empty = duckdb.connect().sql("SELECT 'a' AS id, NULL AS g")
    assert count_groups(empty, rb.Grouped(rb.Winner(["a", "b"], "id"), "g", ["x"])) == nobody


@pytest.mark.parametrize("kind", [pl.Int8, pl.UInt8, pl.Int16, pl.UInt32, pl.UInt64])
def test_a_limit_may_be_more_than_a_column_can_hold(kind: Any) -> None:
    table = pl.DataFrame({"id": ["a", "b"], "w": pl.Series([100, 5], dtype=kind)})
    vote = rb.Winner(["a", "b"], "id", weight=rb.Weight("w", 1000, 0))
    for each in (table, table.to_pandas(), table.to_arrow()):
        assert count(each, vote) == {"a": 100, "b": 5}


def test_categories_weigh_if_they_are_numbers() -> None:
    vote = rb.Winner(["a", "b"], "id", weight=rb.Weight("w", 1000, 0))
    table = pd.DataFrame({"id": ["a", "b"], "w": pd.Categorical([100, 5])})
    assert count(table, vote) == {"a": 100, "b": 5}
    texts = pd.DataFrame({"id": ["a", "b"], "w": pd.Categorical(["x", "y"])})
    with pytest.raises(UnreadableTable, match="a range of numbers needs a column of numbers"):
        count(texts, vote)


# --- Refusals ------------------------------------------------------------------------------------

VOTE = rb.Winner(["a", "b"], "x")
SURVEY = rb.Winner(["a", "b"], "x", weight=rb.Weight("w", 1))
MEDIAN = rb.Quantile("1/2", [0, 1, 2], "x")


@pytest.mark.parametrize(
    ("make_it", "message"),
    [
        (lambda: rb.Grouped(VOTE, "g", ["n", "n"]), "got 'n' twice: list it once"),
        (lambda: rb.Grouped(VOTE, "g", []), "got none: list the groups"),
        (lambda: rb.Grouped(VOTE, "g", "north"), "must be a list of different texts"),
        (lambda: rb.Grouped(VOTE, "g", ["n", ""]), "got '' among them"),
        (lambda: rb.Grouped(VOTE, None, ["n"]), "needs both its own column and by="),
        (lambda: rb.Grouped(VOTE, "g", ["1"], apply="floor"), "make a column of the rounded"),
        (lambda: rb.Grouped(VOTE, "g", map(str, range(10_001))), "at most 10,000 groups"),
        (lambda: rb.Grouped(3, "g", ["n"]), "groups need a question such as Winner"),  # type: ignore[arg-type]
        (
            lambda: rb.Grouped(
                limited(rb.Quantile("1/2", [0, 1, 2], "x"), 1, "p", "one vote"), "g", ["n"]
            ),
            "has no median",
        ),
        (lambda: rb.Weight("w", 0), "must be above 0, got limit=0"),
        (lambda: rb.Weight("w", -1), "must be above 0"),
        (lambda: rb.Weight("w", "0.0001"), "at most 3 decimal places"),
        (lambda: rb.Weight("w", 10**7), "must be at most 1,000,000 with 3 decimal places"),
        (lambda: rb.Weight("w", 1, 7), "from 0 to 6"),
        (lambda: rb.Weight("", 1), "needs the name of a column"),
        (lambda: rb.Winner(["a", "b"], weight=rb.Weight("w", 1)), "names a column of a table"),
        (lambda: rb.Winner(["a", "b"], "x", weight="w"), "must be a Weight such as"),  # type: ignore[arg-type]
        (
            lambda: limited(
                rb.Winner(["a", "b"], "x", weight=rb.Weight("w", 1)), 1, "p", "one vote"
            ),
            "all people weigh the same",
        ),
        (
            lambda: rb.Threshold("0.5", "x", equals="a", weight=rb.Weight("w", 1, 0)),
            "with at most 0 decimal places",
        ),
    ],
)
def test_refused_before_anything_is_read(make_it: Any, message: str) -> None:
    with pytest.raises(InvalidQuestion, match=message):
        make_it()


def test_given_counts_of_an_unlisted_group_are_refused() -> None:
    question = rb.Grouped(rb.Winner(["a", "b"]), None, ["n"])
    with pytest.raises(InvalidQuestion, match="of the listed groups"):
        count_groups({"secret": {"a": 1}}, question)


@pytest.mark.slow
def test_spark_counts_cells_and_weights(spark: Any, tmp_path: Path) -> None:
    files = makers.Files(tmp_path)

    def on_spark(rows: list[Row]) -> Any:
        return spark.read.parquet(str(files.parquet(rows)))

    rows = random_rows(random.Random(3), 200, [None, *range(30)])
    for inner in SINGLE:
        question = rb.Grouped(inner, "name", GROUPS)
        assert cells(on_spark(rows), question) == expected_cells(rows, question), inner
    check_one_person(on_spark, rb.Grouped(WEIGHED[0], "name", GROUPS), 1)
    odd = [*ROWS]
    table = spark.createDataFrame(
        [(r["id"], r["real"], None if r["flag"] is None else str(r["flag"])) for r in odd],
        "id string, real double, flag string",
    )
    vote = rb.Winner(IDS, "id", weight=rb.Weight("real", "3.25", 2))
    assert count(table, vote) == weighed("real")
