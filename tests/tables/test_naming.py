"""The people of keys that nobody listed: the same everywhere, and what one person may change."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pytest
import sqlalchemy as sa

import rainbowdp as rb
from rainbowdp.errors import InvalidQuestion, UnreadableTable
from rainbowdp.tables import any_database, count_names
from rainbowdp.tables.named import NamedTable
from rainbowdp.tables.naming import named_people

from . import engines as makers
from .engines import Row
from .test_people import PEOPLE, make, random_rows

__all__ = ["make"]  # a fixture


def by_hand(rows: list[Row], column: int = 2) -> dict[str, int]:
    who: dict[str, set[Any]] = defaultdict(set)
    for row in rows:
        if row[column] is not None and row[0] is not None:
            who[str(row[column])].add(row[0])
    return {key: len(people) for key, people in who.items()}


@pytest.fixture
def rows() -> list[Row]:
    return random_rows(random.Random(8), 200, [None, *range(25)])


def test_people_count_once_in_each_of_their_keys(make: Any, rows: list[Row]) -> None:
    table = make(rows)
    for column, place in (("x", 2), ("n", 3)):
        question = rb.Keys(column, person="who", keys_per_person=99)
        assert count_names(table, question) == by_hand(rows, place)


def test_records_count_one_by_one_without_people(make: Any, rows: list[Row]) -> None:
    found = count_names(make(rows), rb.Keys("x"))
    assert found == Counter(row[2] for row in rows if row[2] is not None)


def test_a_condition_and_a_function(make: Any, rows: list[Row]) -> None:
    question = rb.Keys("x", person="who", keys_per_person=99, where="n > 3", apply="lower")
    kept = [row for row in rows if row[3] is not None and row[3] > 3]
    assert count_names(make(kept), question) == by_hand(kept)
    assert count_names(make(rows), question) == by_hand(kept)


def test_one_person_is_in_few_keys(make: Any) -> None:
    for seed, limit in ((1, 1), (2, 2), (3, 3)):
        draw = random.Random(seed)
        others = random_rows(draw, 40, [None, *PEOPLE[1:]])
        question = rb.Keys("x", person="who", keys_per_person=limit)
        found = []
        for _ in range(2):
            both = [*others, *random_rows(draw, draw.choice([0, 3, 30]), [1])]
            draw.shuffle(both)
            found.append(count_names(make(both), question, key=7))
        before, after = found
        change = {k: after.get(k, 0) - before.get(k, 0) for k in {*before, *after}}
        assert all(abs(moved) <= 1 for moved in change.values())
        assert sum(moved > 0 for moved in change.values()) <= limit
        assert sum(moved < 0 for moved in change.values()) <= limit


def test_the_choice_of_keys_favors_none(make: Any) -> None:
    rows: list[Row] = [(who, "A0", x, 1) for who in range(600) for x in ("a", "b", "c")]
    found = count_names(make(rows), rb.Keys("x", person="who"), key=3)
    assert sum(found.values()) == 600
    assert all(140 < people < 260 for people in found.values())


def test_any_database(tmp_path: Path, rows: list[Row]) -> None:
    table = makers.Files(tmp_path).sqlite(rows)
    question: Any = rb.Keys("x", person="who", keys_per_person=99)
    found = any_database.work_there(
        sa.make_url(table.url), NamedTable("t"), question, lambda made: named_people(made, 99, None)
    )
    assert found == by_hand(rows)


def test_any_database_names_what_a_function_makes(tmp_path: Path) -> None:
    upper: list[Row] = [(who, "A0", x, 1) for who, x in enumerate(("Red", "RED", "blue"))]
    table = makers.Files(tmp_path).sqlite(upper)
    question: Any = rb.Keys("x", apply="lower")
    found = any_database.work_there(
        sa.make_url(table.url), NamedTable("t"), question, lambda made: named_people(made, 1, None)
    )
    assert found == {"red": 2, "blue": 1}


def test_dates_and_odd_texts_are_keys() -> None:
    table = pl.DataFrame({"x": ["Ä", "ä", " a", "it's", "", None, "Ä"]})
    assert count_names(table, rb.Keys("x")) == {"Ä": 2, "ä": 1, " a": 1, "it's": 1, "": 1}
    days = duckdb.connect().sql("SELECT DATE '2024-02-29' AS x")
    assert count_names(days, rb.Keys("x")) == {"2024-02-29": 1}
    assert count_names(days, rb.Keys("x", apply="month")) == {"2": 1}


@pytest.mark.parametrize("values", [[0.5, 1.0], [True, False]])
def test_other_types_are_refused(values: list[Any]) -> None:
    for table in (pl.DataFrame({"x": values}), pd.DataFrame({"x": values})):
        with pytest.raises(UnreadableTable, match="keys must be texts, whole numbers or dates"):
            count_names(table, rb.Keys("x"))


def test_rounded_keys_are_refused() -> None:
    with pytest.raises(InvalidQuestion, match="make a column of the rounded numbers"):
        rb.Keys("x", apply="floor")


def test_asked_paid_and_remembered(tmp_path: Path) -> None:
    table = pl.DataFrame({"x": ["flu"] * 900 + ["rare"], "who": range(901)})
    book = rb.Ledger.create(
        tmp_path / "b.db",
        dataset="d",
        epsilon=3,
        delta="1e-3",
        person="who",
        neighbors="added or removed",
    )
    mechanism = rb.best(rb.Keys("x", person="who"), rb.DP(1, "1e-12"))
    first = rb.ask(mechanism, table, ledger=book, name="keys", source="s")
    again = rb.ask(mechanism, table, ledger=book, name="keys", source="s")
    assert first.answer == again.answer == ("flu",)
    assert again.recalled
    assert first.proves == again.proves == mechanism.proves()
    assert "flu" in first._repr_html_()
    assert "28 people" in mechanism.proves("0.5").in_words()
    assert "key of" in mechanism._repr_html_()
