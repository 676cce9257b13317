"""A look is what would be counted, and where the rest went, the same in every engine."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rainbowdp as rb
from rainbowdp.tables import count
from rainbowdp.tables.looking import PeopleSeen

VALUES = ["red", "Red", " red ", "green", "1.0", "1", "x", None]
ROWS = st.lists(
    st.tuples(st.sampled_from(VALUES), st.sampled_from(["ann", "bob", "eve", None])),
    min_size=1,
    max_size=12,
)
QUESTION = rb.Winner(["red", "green", "1"], "vote", person="who", rows_per_person=2)
Row = tuple[str | None, str | None]


def sqlite(rows: list[Row], folder: Path) -> rb.SQLTable:
    file = folder / "votes.db"
    file.unlink(missing_ok=True)
    with sqlite3.connect(file) as connection:
        connection.execute("CREATE TABLE v (vote TEXT, who TEXT)")
        connection.executemany("INSERT INTO v VALUES (?, ?)", rows)
    connection.close()
    return rb.SQLTable(f"sqlite:///{file}", "v")


def csv(rows: list[Row], folder: Path) -> Path:
    file = folder / "votes.csv"
    lines = [",".join(cell or "" for cell in row) for row in rows]
    file.write_text("\n".join(["vote,who", *lines]) + "\n")
    return file


def frame(rows: list[Row], _: Path) -> pl.DataFrame:
    return pl.DataFrame(rows, schema={"vote": pl.String, "who": pl.String}, orient="row")


MAKERS: dict[str, Callable[[list[Row], Path], Any]] = {
    "csv": csv,
    "sqlite": sqlite,
    "polars": frame,
    "pandas": lambda rows, _: pd.DataFrame(rows, columns=["vote", "who"]),
    "objects": lambda rows, _: pd.DataFrame(rows, columns=["vote", "who"], dtype=object),
    "arrow": lambda rows, folder: frame(rows, folder).to_arrow(),
    "duckdb": lambda rows, folder: duckdb.from_arrow(frame(rows, folder).to_arrow()),
}


@pytest.mark.slow
@pytest.mark.parametrize("engine", MAKERS)
def test_a_look_agrees_with_a_plain_count(engine: str, tmp_path: Path) -> None:
    @settings(max_examples=15)
    @given(ROWS)
    def agrees(rows: list[Row]) -> None:
        found = rb.look(MAKERS[engine](rows, tmp_path), QUESTION)
        values = Counter(value for value, _ in rows)
        assert found.rows == len(rows)
        assert found.missing == values[None]
        assert found.matched == {answer: values[answer] for answer in QUESTION.answers}
        assert found.unmatched == {
            why: number
            for why, number in {
                "capital letters differ": values["Red"],
                "spaces around it": values[" red "],
                "the same number, written differently": values["1.0"],
                "not listed": values["x"],
            }.items()
            if number
        }
        assert dict(found.examples) == {
            value: values[value] for value in ("Red", " red ", "1.0", "x") if values[value]
        }
        each = Counter(who for value, who in rows if who and value in QUESTION.answers)
        assert found.people is not None
        assert found.people.people == len(each)
        assert found.people.most == max(each.values(), default=0)
        assert found.people.fewest == min(each.values(), default=0)
        assert found.people.over_limit == sum(number > 2 for number in each.values())

    agrees()


def test_rows_outside_the_bins_and_texts_that_are_no_numbers(tmp_path: Path) -> None:
    file = tmp_path / "x.csv"
    file.write_text("x\n1\n4.5\n99\n-3\n\nabc\n")
    closed = rb.Quantile("1/2", [0, 3, 10], "x", closed_ends=True)
    found = rb.look(file, closed)
    assert found.matched == {"[0, 3)": 1, "[3, 10]": 1}
    assert found.unmatched == {"outside all ranges": 2, "not a number": 1}
    assert found.missing == 1
    open_ends = rb.look(file, rb.Quantile("1/2", [0, 3, 10], "x"))
    assert sum(open_ends.matched.values()) == 4
    assert open_ends.unmatched == {"not a number": 1}


def test_a_look_counts_what_a_question_counts(tmp_path: Path) -> None:
    rows: list[Row] = [*[("red", "ann")] * 3, ("green", "bob"), ("Red", "eve")]
    table = csv(rows, tmp_path)
    plain = rb.Winner(["red", "green"], "vote")
    assert rb.look(table, plain).matched == count(table, plain)


def test_the_median_of_rows_per_person() -> None:
    rows: list[Row] = [("red", "ann"), *[("red", "bob")] * 5, *[("red", "eve")] * 9]
    found = rb.look(frame(rows, Path()), QUESTION)
    assert found.people == PeopleSeen(people=3, fewest=1, median=5, most=9, over_limit=2)


def test_a_look_is_marked_as_private() -> None:
    found = rb.look(frame([("red", "ann")], Path()), QUESTION).as_dict()
    assert found["private"] is True
    assert found["matched"] == {"red": 1, "green": 0, "1": 0}
    assert found["type"] == "String"


def test_no_value_of_the_table_is_in_a_refusal() -> None:
    class Odd:
        def __str__(self) -> str:
            raise ValueError("MARKER")

    odd = pd.DataFrame({"vote": ["red", Odd()], "who": ["MARKER", "b"]}, dtype=object)
    assert rb.look(odd, QUESTION).unmatched == {"not listed": 1}
    with pytest.raises(rb.UnreadableTable) as refused:
        rb.look(pd.DataFrame({"vote": [1, 2]}), rb.Winner(["red", "green"], "vote"))
    assert "no record can match" in str(refused.value)
    with pytest.raises(rb.InvalidQuestion):
        rb.look({"red": 1}, QUESTION)
