"""The same counts from every kind of table as from plain Python."""

from __future__ import annotations

import csv
import gzip
import math
import random
import tempfile
from collections import defaultdict
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeAlias

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from postgres import connect, fresh_schema
from rainbowdp.questions import (
    Between,
    Equals,
    Quantile,
    Question,
    Share,
    Threshold,
    Winner,
    limited,
)
from rainbowdp.questions.groups import NoValue, OtherValue
from rainbowdp.tables import SQLTable, TextFile, count

Row: TypeAlias = dict[str, Any]
Make: TypeAlias = Callable[[list[Row], Path], Any]

DAYS = [date(2024, 1, 31), date(2024, 2, 29), date(2025, 12, 31)]
SCHEMA = pa.schema(
    {
        "choice": pa.string(),
        "whole": pa.int32(),
        "real": pa.float64(),
        "single": pa.float32(),
        "price": pa.decimal128(10, 2),
        "flag": pa.bool_(),
        "day": pa.date32(),
        "who": pa.int64(),
    }
)


def random_rows(size: int, seed: int) -> list[Row]:
    draw = random.Random(seed)
    nan, inf = math.nan, math.inf
    values: dict[str, list[Any]] = {
        "choice": ["red", "green", "blue", "it's", 'a "b"', "Red", " red", "3", "ü", None],
        "whole": [*range(-3, 12), 2**31 - 1, -(2**31), None],
        "real": [-0.0, 0.0, 0.1, 2.5, 3.0, -1.5, 9.999, 10.0, 1e300, nan, inf, -inf, None],
        "single": [0.0, 0.10000000149011612, 2.5, 3.0, 10.0, nan, None],
        "price": [Decimal("0.10"), Decimal("2.50"), Decimal("3.00"), Decimal("10.01"), None],
        "flag": [True, False, None],
        "day": [*DAYS, date(2030, 1, 1), None],
        "who": [*range(size // 4), None],
    }
    return [{name: draw.choice(v) for name, v in values.items()} for _ in range(size)]


ROWS = random_rows(600, seed=3)

TEXTS: list[Any] = [
    Winner(["red", "green", "blue", "it's", 'a "b"', "ü", "3"], "choice"),
    Threshold(1, "choice", equals="red"),
    Winner(["red", "green", "ü"], "choice", other="else", missing="none"),
    Winner(["red"], "choice", missing="none"),
    Share("1/3", "choice", equals="red"),
]
RANGES: list[Any] = [
    Quantile("1/2", [-2, 0, "0.5", 3, 7.25, 10], "whole"),
    Quantile("1/2", [(None, 0), (0, 3), (3, 2**40), (2**40, None)], "whole"),
    Threshold(1, "whole", minimum=2, maximum=7),
    Quantile("1/2", [-2, 0, "0.5", 3, 7.25, 10], "whole", closed_ends=True),
    Threshold(1, "whole", maximum=10**30),
    Quantile("1/2", [0, 0.1, 3, 10], "real"),
    Quantile("1/2", [(None, 0), (0, 2.5), (2.5, None)], "real"),
    Threshold(1, "real", maximum=3),
    Threshold(1, "real", minimum="0.1", maximum=10),
    Quantile("1/2", [0, 0.1, 3, 11], "price"),
    Quantile("1/2", [0, 0.1, 3, 10.01], "price", closed_ends=True),
    Share("1/3", "whole", minimum=0, maximum=3),
    Share("0.6", "real", minimum=0.1),
    Share("2/7", "price", maximum=3),
]
TYPED: list[Any] = [
    Winner(["3", "2.0", "-1", "red", "2.5", "99999999999999999999", "2147483647"], "whole"),
    Winner(["3", "0", "2.5", "0.1", "red", "nan", "inf", "1e999"], "real"),
    Winner(["3", "0.1", "1e39"], "single"),
    Quantile("1/2", [0, 0.1, 3, 11], "single"),
    Winner(["0.1", "2.5", "3"], "price"),
    Winner(["True", "false", "maybe"], "flag"),
    Winner([str(DAYS[0]), str(DAYS[2]), "yesterday"], "day"),
    Threshold(1, "whole", equals=3),
    Threshold(1, "flag", equals=True),
    Winner(["red", "3"], "whole"),
    *(
        Winner(listed, column, other="else", missing="none")
        for column, listed in {
            "whole": ["3", "2.0"],
            "real": ["0", "0.1"],
            "single": ["3", "0.1"],
            "price": ["0.1"],
            "flag": ["true"],
            "day": [str(DAYS[0])],
        }.items()
    ),
    Share("1/2", "flag", equals=False),
]
ALL = [*TEXTS, *RANGES, *TYPED]


def group_of(value: Any, question: Question) -> int | None:
    """The group of a value, by the stated rules and Python's own comparisons."""
    rest = {type(rule): index for index, (_, rule) in enumerate(question.groups)}
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return rest.get(NoValue)
    for index, (_, rule) in enumerate(question.groups):
        if isinstance(rule, Equals):
            spelled: Any = rule.value
            if isinstance(value, bool):
                spelled = {"true": True, "false": False}.get(spelled.lower())
            elif isinstance(value, date):
                spelled = next((day for day in DAYS if str(day) == spelled), None)
            elif not isinstance(value, str):
                try:
                    spelled = float(spelled)
                except ValueError:
                    continue
                if question.column == "single":
                    spelled = pa.scalar(spelled, pa.float32()).as_py()
                value = float(value)
            if value == spelled and spelled not in (math.inf, -math.inf):
                return index
        elif isinstance(rule, Between):
            low, high = rule.low, rule.high
            if question.column == "single":
                low, high = (
                    None if end is None else pa.scalar(float(end), pa.float32()).as_py()  # type: ignore[arg-type]
                    for end in (low, high)
                )
            value = float(value) if isinstance(value, Decimal) else value
            above = low is None or value >= low
            below = high is None or value < high or (rule.closed and value == high)
            if above and below:
                return index
    return rest.get(OtherValue)


def expected(rows: list[Row], question: Question) -> dict[str, int]:
    found = [group_of(row[str(question.column)], question) for row in rows]
    return {name: found.count(i) for i, (name, _) in enumerate(question.groups)}


def check_limited(table: Any, question: Question, rows: list[Row]) -> None:
    """All that is certain of a sample: how many records in all, and of each group at most."""
    people: dict[Any, list[int]] = defaultdict(list)
    for row in rows:
        group, person = group_of(row[str(question.column)], question), row[str(question.person)]
        if group is not None and person is not None:
            people[person].append(group)
    found, limit = list(count(table, question).values()), question.rows_per_person
    assert sum(found) == sum(min(limit, len(groups)) for groups in people.values()), question
    for number, records in enumerate(found):
        least = sum(
            max(0, min(limit, len(groups)) - sum(group != number for group in groups))
            for groups in people.values()
        )
        most = sum(min(limit, groups.count(number)) for groups in people.values())
        assert least <= records <= most, question


def table_of(rows: list[Row]) -> pa.Table:
    return pa.Table.from_pylist(rows, schema=SCHEMA)


def as_pandas(rows: list[Row], folder: Path) -> Any:
    frame = pd.DataFrame({name: [row[name] for row in rows] for name in SCHEMA.names})
    frame["day"] = frame["day"].astype(object)
    return frame.astype(
        {
            "choice": "str",
            "single": "float32",
            "price": pd.ArrowDtype(pa.decimal128(10, 2)),
            "flag": "boolean",
            "day": pd.ArrowDtype(pa.date32()),
            "who": "Int64",
        }
    )


def as_pandas_arrow(rows: list[Row], folder: Path) -> Any:
    return table_of(rows).to_pandas(types_mapper=pd.ArrowDtype)


def as_polars(rows: list[Row], folder: Path) -> Any:
    return pl.from_arrow(table_of(rows))


def as_polars_lazy(rows: list[Row], folder: Path) -> Any:
    frame = pl.from_arrow(table_of(rows))
    assert isinstance(frame, pl.DataFrame)
    return frame.lazy().with_columns(pl.col("choice").cast(pl.Categorical))


def as_arrow(rows: list[Row], folder: Path) -> Any:
    return table_of(rows)


def as_relation(rows: list[Row], folder: Path) -> Any:
    connection = duckdb.connect()
    connection.register("rows", table_of(rows))
    connection.execute("CREATE TABLE kept AS FROM rows")
    return connection.sql("FROM kept")


def as_parquet(rows: list[Row], folder: Path) -> Any:
    pyarrow.parquet.write_table(table_of(rows), folder / "it's [1].parquet")
    return folder / "it's [1].parquet"


def as_parquet_files(rows: list[Row], folder: Path) -> Any:
    for part in range(3):
        pyarrow.parquet.write_table(table_of(rows[part::3]), folder / f"part{part}.parquet")
    return str(folder / "part*.parquet")


def as_csv(rows: list[Row], folder: Path) -> Any:
    pyarrow.csv.write_csv(table_of(rows), folder / "rows.csv")
    return folder / "rows.csv"


def as_csv_gz(rows: list[Row], folder: Path) -> Any:
    path = folder / "rows.CSV.gz"
    path.write_bytes(gzip.compress(as_csv(rows, folder).read_bytes()))
    return path


def as_tsv(rows: list[Row], folder: Path) -> Any:
    options = pyarrow.csv.WriteOptions(delimiter="\t")
    pyarrow.csv.write_csv(table_of(rows), folder / "rows.tsv", options)
    return str(folder / "rows.tsv")


FRAMES: list[Make] = [as_pandas, as_pandas_arrow, as_polars, as_polars_lazy, as_arrow, as_relation]
FILES: list[Make] = [as_csv, as_csv_gz, as_tsv]


def check(table: Any, questions: list[Any], rows: list[Row] = ROWS) -> None:
    for number, question in enumerate(questions):
        assert count(table, question) == expected(rows, question), question
        check_limited(table, limited(question, (1, 3)[number % 2], "who"), rows)


@pytest.mark.parametrize(
    "make",
    [
        *(as_pandas, as_polars, as_parquet),
        *(
            pytest.param(make, marks=pytest.mark.slow)
            for make in (as_arrow, as_pandas_arrow, as_polars_lazy, as_relation, as_parquet_files)
        ),
    ],
)
def test_typed_tables_count_as_plain_python(make: Make, tmp_path: Path) -> None:
    check(make(ROWS, tmp_path), ALL)


@pytest.mark.parametrize("make", FILES)
def test_text_files_count_as_plain_python(make: Make, tmp_path: Path) -> None:
    check(make(ROWS, tmp_path), [*TEXTS, *RANGES])


def test_text_files_hold_texts(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text('x,y\n3,1\n3.0,2\n"3",3\n 3,4\n,5\n"",6\n12,7\n1e1,8\nten,9\n')
    found = count(tmp_path / "t.csv", Winner(["3", "3.0", "ten"], "x"))
    assert found == {"3": 2, "3.0": 1, "ten": 1}
    assert count(tmp_path / "t.csv", Threshold(1, "x", minimum=3, maximum=12)) == {"matching": 6}


@pytest.mark.parametrize("make", [*FRAMES, as_parquet])
def test_an_empty_table_has_no_records(make: Make, tmp_path: Path) -> None:
    check(make([], tmp_path), ALL[::4], [])


@pytest.mark.parametrize("make", FILES)
def test_an_empty_text_file_has_no_records(make: Make, tmp_path: Path) -> None:
    check(make([], tmp_path), (TEXTS + RANGES)[::4], [])


def test_a_column_without_values_needs_no_type() -> None:
    tables: list[Any] = [
        pd.DataFrame({"x": [None, None]}),
        pd.DataFrame({"x": pd.Series([None, None], dtype=pd.ArrowDtype(pa.null()))}),
        pd.DataFrame({"x": pd.Series([], dtype=object)}),
        pl.DataFrame({"x": []}),
        pl.LazyFrame({"x": [None]}),
        pa.table({"x": []}),
        pa.table({"x": pa.nulls(3)}),
        duckdb.connect().sql("SELECT NULL AS x"),
    ]
    for table in tables:
        assert count(table, Winner(["a", "b"], "x")) == {"a": 0, "b": 0}
        assert count(table, Quantile("1/2", [0, 1, 2], "x")) == {"< 1": 0, "≥ 1": 0}


@pytest.mark.parametrize("make", [*FRAMES, as_parquet])
def test_nobody_is_no_person(make: Make, tmp_path: Path) -> None:
    """Persons may be texts, decimals, dates and truth values, but for those that are missing."""
    table = make(ROWS, tmp_path)
    for person in ("choice", "price", "day", "flag"):
        check_limited(table, limited(Winner(["3", "4", "5"], "whole"), 2, person), ROWS)


def test_a_person_may_be_the_value_itself() -> None:
    table = pl.DataFrame({"x": ["a", "a", "b", None]})
    assert count(table, Winner(["a", "b"], "x", person="x")) == {"a": 1, "b": 1}
    assert count(table.to_arrow(), Winner(["a", "b"], "x", person="x")) == {"a": 1, "b": 1}


@pytest.mark.parametrize("bits", [8, 16, 32, 64])
@pytest.mark.parametrize("signed", [True, False])
def test_whole_numbers_are_exact_at_both_ends(bits: int, signed: bool) -> None:
    low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
    type_ = getattr(pa, f"{'' if signed else 'u'}int{bits}")()
    table = pa.table({"x": pa.array([low, low + 1, high - 1, high, high], type_)})
    listed = Winner([str(high), str(high - 1), str(high + 1), str(low), str(low - 1)], "x")
    edges = [low - 1, low + 1, high - 1, high, high + 1, high + 5]
    bins = Quantile("1/2", edges, "x", closed_ends=True)
    for frame in (table, pl.from_arrow(table), table.to_pandas(), duckdb.from_arrow(table)):
        assert list(count(frame, listed).values()) == [2, 1, 0, 1, 0]
        assert list(count(frame, bins).values()) == [1, 1, 1, 2, 0]


@pytest.mark.slow
def test_many_answers_and_many_bins(tmp_path: Path) -> None:
    draw = random.Random(5)
    numbers = [draw.randrange(900) for _ in range(2000)]
    table = pa.table({"x": numbers})
    pyarrow.parquet.write_table(table, tmp_path / "x.parquet")
    each = [numbers.count(i) for i in range(600)]
    for frame in (table, pl.from_arrow(table), table.to_pandas(), tmp_path / "x.parquet"):
        assert list(count(frame, Winner([str(i) for i in range(600)], "x")).values()) == each
        bins = Quantile("1/2", range(601), "x", closed_ends=True)
        assert list(count(frame, bins).values()) == [*each[:-1], each[-1] + numbers.count(600)]


def test_parquet_statistics_that_leave_nan_out_do_not_count_it(tmp_path: Path) -> None:
    """Without nulls and within all bounds, where DuckDB takes every comparison for true."""
    path = tmp_path / "nan.parquet"
    numbers = [1.0, 2.0, math.nan, 3.0] * 5000
    persons = [0, 1, 2, 1] * 5000
    pyarrow.parquet.write_table(pa.table({"x": numbers, "who": persons}), path)
    relation = duckdb.connect().read_parquet(str(path))
    for table in (path, relation, pl.scan_parquet(path), pa.parquet.read_table(path)):
        assert count(table, Threshold(1, "x", minimum=0, maximum=9)) == {"matching": 15_000}
        assert count(table, Threshold(1, "x", minimum=2)) == {"matching": 10_000}
        assert list(count(table, Quantile("1/2", [0, 2, 9], "x")).values()) == [5000, 10_000]
        limit = limited(Quantile("1/2", [0, 2, 9], "x"), 7, "who")
        assert sum(count(table, limit).values()) == 14


def test_a_file_where_every_row_has_its_own_value(tmp_path: Path) -> None:
    numbers = [i * 0.5 for i in range(20_000)]
    pyarrow.parquet.write_table(pa.table({"x": numbers}), tmp_path / "x.parquet")
    bins = Quantile("1/2", [0, 10, 1000, 10_000], "x")
    assert list(count(tmp_path / "x.parquet", bins).values()) == [20, 1980, 18_000]
    assert list(count(tmp_path / "x.parquet", Winner(["3", "3.5", "x"], "x")).values()) == [1, 1, 0]


def test_counts_pass_through() -> None:
    assert count({"green": 3}, Winner(["red", "green"])) == {"red": 0, "green": 3}


@pytest.mark.slow
def test_progress_runs_from_nothing_to_all(tmp_path: Path) -> None:
    path = tmp_path / "n.parquet"
    pyarrow.parquet.write_table(pa.table({"n": pa.array(range(5_000_000))}), path)
    seen: list[float] = []
    question = Quantile("1/2", range(0, 5_000_001, 100_000), "n")
    assert set(count(path, question, progress=seen.append).values()) == {100_000}
    assert seen
    assert all(0 <= share <= 1 for share in seen)
    assert seen[-1] == 1


def test_an_interrupted_count_stops(tmp_path: Path) -> None:
    def stop(share: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        count(as_parquet(ROWS, tmp_path), TEXTS[0], progress=stop)


@pytest.fixture
def database(postgres_url: str) -> str:
    url = fresh_schema(postgres_url)
    with connect(url) as connection:
        connection.execute("CREATE TYPE color AS ENUM ('red', 'green', 'blue')")
        connection.execute(
            "CREATE TABLE rows (choice text, whole integer, real double precision, "
            "single real, price numeric(10, 2), flag boolean, day date, who bigint)"
        )
        with connection.cursor().copy(
            f"COPY rows ({', '.join(SCHEMA.names)}) FROM STDIN".encode()
        ) as copy:
            for row in ROWS:
                copy.write_row([row[name] for name in SCHEMA.names])
    return url


def test_postgresql_counts_as_plain_python(database: str) -> None:
    check(SQLTable(database, "rows"), ALL)
    check(SQLTable(database.replace("postgresql+psycopg", "postgresql"), "rows"), TEXTS)
    assert not any(count(SQLTable(database, "rows"), Winner(["x", "y"], "choice")).values())


def test_postgresql_types_and_names_of_all_kinds(database: str) -> None:
    with connect(database) as connection:
        connection.execute("CREATE DOMAIN tone AS varchar(9)")
        connection.execute('CREATE TABLE "it\'s 100% :x ""{}""" ("a %s :b" color, "{}" tone)')
        connection.execute(
            """INSERT INTO "it's 100% :x ""{}""\" VALUES ('red', 'x'), ('red', 'y'), (NULL, 'y')"""
        )
    table = SQLTable(database, 'it\'s 100% :x "{}"')
    assert count(table, Winner(["red", "mauve"], "a %s :b")) == {"red": 2, "mauve": 0}
    assert sum(count(table, Winner(["x", "y"], "{}", person="a %s :b")).values()) == 1
    schema = database.rpartition("%3D")[2]
    there = SQLTable(database.partition("?")[0], table.table, schema)
    assert count(there, Winner(["x", "y"], "{}")) == {"x": 1, "y": 2}


@pytest.mark.slow
def test_spark_counts_as_plain_python(spark: Any, tmp_path: Path) -> None:
    frame = spark.read.parquet(as_parquet_files(ROWS, tmp_path))
    for question in (TEXTS[0], RANGES[1]):
        assert count(frame, question) == expected(ROWS, question), question
    check_limited(frame, limited(TEXTS[0], 2, "who"), ROWS)


@pytest.mark.slow
def test_spark_counts_values_of_every_type_as_plain_python(spark: Any, tmp_path: Path) -> None:
    frame = spark.read.parquet(as_parquet_files(ROWS, tmp_path))
    for question in (RANGES[5], *TYPED[:7]):
        assert count(frame, question) == expected(ROWS, question), question
    check_limited(frame, limited(RANGES[5], 2, "who"), ROWS)


RECORDS = st.one_of(
    st.sampled_from(
        ["red", "blue", "green", "'", "'tis", "dogs'", '"', 'say ""', ";", "a;b", "#x"]
    ),
    st.just("a\nred,b\nblue"),
    st.text(st.characters(codec="utf-8", exclude_characters="\x00\r\n"), max_size=4),
)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(RECORDS, RECORDS), max_size=30), st.tuples(RECORDS, RECORDS), st.data())
def test_one_record_of_a_well_formed_file_changes_no_other(
    rows: list[tuple[str, str]], other: tuple[str, str], data: st.DataObject
) -> None:
    """Whatever a reader guesses from the rows would break privacy; nothing may be guessed."""
    place = data.draw(st.integers(0, len(rows)))
    question = Winner(["red", "blue", "green"], "choice")
    with tempfile.TemporaryDirectory() as folder:
        found = []
        for number, listed in enumerate((rows, [*rows[:place], other, *rows[place:]])):
            file = Path(folder) / f"{number}.csv"
            with file.open("w", newline="", encoding="utf-8") as lines:
                writer = csv.writer(lines)
                writer.writerow(["choice", "note"])
                writer.writerows(listed)
            found.append(count(TextFile(file, trusted=True), question))
    plain = {v: sum(row[0] == v for row in rows) for v in question.answers}
    assert found[0] == plain
    assert found[1] == {v: n + (other[0] == v) for v, n in plain.items()}


@pytest.mark.parametrize(
    ("before", "last"),
    [
        (["red"] * 30 + ["'"] + ["blue"] * 60, "'"),  # two of them look like quotes
        (["red", "red", "'", "red", "red", "'", "'", "blue", "'", "red"], "; ; ;"),
        (["red", "red", "blue"], "Ann Smith;x"),  # looks like a header with another delimiter
        (["red", "red", "blue"], "# note"),
    ],
)
def test_a_record_that_misleads_a_guess_changes_no_other(
    tmp_path: Path, before: list[str], last: str
) -> None:
    question = Winner(["red", "blue"], "choice")
    plain = {v: before.count(v) for v in question.answers}
    for number, rows in enumerate((before, [*before, last], [*before, "green"])):
        file = tmp_path / f"{number}.csv"
        file.write_text("\n".join(["choice", *rows]) + "\n")
        assert count(file, question) == plain
