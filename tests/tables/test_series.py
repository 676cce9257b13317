"""One column, and value counts."""

from __future__ import annotations

import pandas as pd
import polars as pl
import pytest

from rainbowdp.errors import UnreadableTable
from rainbowdp.questions import Quantile, Winner, limited
from rainbowdp.tables import count

VOTE = Winner(["red", "green", "blue"], "x")
COLUMN = ["red", "red", "green", None, "mauve"]


def test_a_series_is_a_column_of_its_name() -> None:
    for series in (pd.Series(COLUMN, name="x"), pl.Series("x", COLUMN)):
        assert count(series, VOTE) == {"red": 2, "green": 1, "blue": 0}
        assert count(series, limited(VOTE, 1, "x")) == {"red": 1, "green": 1, "blue": 0}


def test_value_counts_are_counts() -> None:
    found = pd.Series(COLUMN, name="x").value_counts(dropna=False)
    assert count(found, VOTE) == {"red": 2, "green": 1, "blue": 0}
    assert count(found * 10**12, VOTE) == {"red": 2 * 10**12, "green": 10**12, "blue": 0}
    assert count(found.astype("Int64"), VOTE) == {"red": 2, "green": 1, "blue": 0}
    numbers = pd.Series([1, 1, 2, 7, 99], name="n").value_counts()
    assert list(count(numbers, Quantile("1/2", [0, 2, 9], "n")).values()) == [2, 3]
    assert list(count(numbers, Winner(["1", "2.0", "x"], "n")).values()) == [2, 1, 0]
    frame = pd.DataFrame({"x": COLUMN})
    assert count(frame.groupby("x").size(), VOTE) == {"red": 2, "green": 1, "blue": 0}


def test_numbers_are_a_column_where_they_have_its_name() -> None:
    numbers = pd.Series([1, 1, 2], name="n", index=pd.Index(["a", "b", "c"], name="n"))
    assert list(count(numbers, Quantile("1/2", [0, 2, 9], "n")).values()) == [2, 1]


@pytest.mark.parametrize(
    ("series", "message"),
    [
        (pd.Series(COLUMN), "a Series must have a name, that of the question's column, got none"),
        (pd.Series(COLUMN, name="y"), "there is no column 'x', the columns are 'y'"),
        (
            pd.Series(COLUMN, name="x").value_counts(normalize=True),
            "value counts must be whole numbers, got a Series of float64",
        ),
        (
            -pd.Series(COLUMN, name="x").value_counts(),
            "value counts must be whole numbers from 0, got a Series of int64 with others",
        ),
    ],
)
def test_other_series_are_refused(series: pd.Series, message: str) -> None:
    with pytest.raises(UnreadableTable) as caught:
        count(series, VOTE)
    assert str(caught.value).startswith(message)


def test_value_counts_have_no_people() -> None:
    found = pd.Series(COLUMN, name="x").value_counts()
    with pytest.raises(UnreadableTable, match="there is no column 'who'"):
        count(found, limited(VOTE, 1, "who"))
