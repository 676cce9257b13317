"""Where data is, as text: the same place is the same text, and no secret is in it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rainbowdp as rb
from rainbowdp.answering.sources import source_of


def test_a_glob_is_known_by_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "data")
    monkeypatch.chdir(tmp_path)
    expected = str(tmp_path / "data" / "*.csv")
    assert source_of("data/*.csv") == source_of("link/*.csv") == expected
    assert source_of("data/../link/*.csv") == expected
    assert source_of("*.csv") == str(tmp_path / "*.csv") != expected


def test_a_file_that_is_not_there_has_a_source_and_reading_will_refuse_it(tmp_path: Path) -> None:
    assert source_of(tmp_path / "none.csv") == str(tmp_path / "none.csv")
    assert source_of("a\0b.csv") == "a\\x00b.csv"


def test_a_stream_has_no_source(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.csv")
    read, write = os.pipe()
    for stream in ("-", "/dev/null", f"/dev/fd/{read}", tmp_path / "pipe.csv"):
        assert source_of(stream) is None
        assert source_of(stream, "visits, frozen") == "visits, frozen"
    os.close(read)
    os.close(write)


@pytest.mark.parametrize("table", [{"red": 3}, [1, 2], None, 7, object()])
def test_what_does_not_say_where_it_is_has_none(table: object) -> None:
    assert source_of(table) is None
    assert source_of(table, "visits") == "visits"


@given(st.text(st.characters(exclude_characters="/\0"), min_size=1, max_size=30))
def test_a_path_is_printable_text(name: str) -> None:
    found = source_of(f"/nowhere/x{name}.csv")
    assert found is not None
    assert found.isprintable()
    assert found.startswith("/nowhere/x")


def test_how_a_file_is_read_is_part_of_its_source(tmp_path: Path) -> None:
    file = tmp_path / "visits.csv"
    assert source_of(rb.TextFile(file)) == source_of(file) == str(file)
    read: list[dict[str, Any]] = [
        {},
        {"header": ["ward", "home"]},
        {"header": ["home", "ward"]},
        {"delimiter": ";"},
        {"delimiter": ";", "decimal": ","},
        {"encoding": "latin-1"},
        {"trusted": True},
        {"format": "tsv"},
    ]
    found = [source_of(rb.TextFile(file, **options)) for options in read]
    assert len(set(found)) == len(read)
    assert found == [source_of(rb.TextFile(str(file), **options)) for options in read]
    assert all(source is not None and source.isprintable() for source in found)
    assert source_of(rb.TextFile(file, delimiter="\t")) == f"{file} (delimiter='\\t')"
    assert source_of(rb.TextFile("-", delimiter=";")) is None


TOWN = "postgresql://db.example:5432/town/public.votes"


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://db.example/town",
        "postgres://db.example:5432/town",
        "postgresql+psycopg://ann@DB.example/town",
        "postgresql://ann:secret@db.example/town?sslpassword=secret",
        "postgresql://bob:s%40cret@db.example:5432/town?options=-csearch_path%3Dother",
        "postgresql:///town?host=db.example&user=ann&password=secret",
        "postgresql:///town?host=db.example&port=5432",
    ],
)
def test_a_database_is_known_without_its_user(url: str) -> None:
    assert source_of(rb.SQLTable(url, "votes", "public")) == TOWN


@pytest.mark.parametrize(
    "table",
    [
        rb.SQLTable("postgresql://db.example:5433/town", "votes", "public"),
        rb.SQLTable("postgresql://other.example/town", "votes", "public"),
        rb.SQLTable("postgresql://db.example/city", "votes", "public"),
        rb.SQLTable("postgresql://db.example/town", "votes", "private"),
        rb.SQLTable("postgresql://db.example/town", "Votes", "public"),
        rb.SQLTable("postgresql://db.example/town", "votes"),
        rb.SQLTable("postgresql://db.example/town?options=-csearch_path%3Dpublic", "votes"),
        rb.SQLTable("sqlite:///town", "votes", "public"),
    ],
    ids=lambda table: f"{table.schema} {table.table}",
)
def test_another_database_schema_or_table_is_another_source(table: rb.SQLTable) -> None:
    found = source_of(table)
    assert found not in (None, TOWN)


def test_any_database_is_known_without_its_user() -> None:
    for url in (
        "mysql+pymysql://ann:secret@DB.example/town?password=secret",
        "mariadb://db.example:3306/town",
        "mysql://db.example/town?charset=utf8mb4",
    ):
        assert source_of(rb.SQLTable(url, "votes")) == "mysql://db.example:3306/town/votes"
    there = source_of(rb.SQLTable("mysql://ann@db.example", "votes", "town"))
    assert there == "mysql://db.example:3306//town.votes"
    assert (
        source_of(rb.SQLTable("trino://ann@db:8443/lake", "votes")) == "trino://db:8443/lake/votes"
    )


@pytest.mark.parametrize(
    "url",
    [
        "mysql+pymysql:///town?unix_socket=/run/here.sock",
        "mssql+pyodbc:///?odbc_connect=SERVER%3Ddb%3BPWD%3Dsecret",
        "mssql+pyodbc://ann:secret@some_dsn",
        "oracle://ann:secret@db.example/?service_name=town",
        "mysql://ann:se@cret@db.example/town",
    ],
)
def test_an_address_that_only_its_driver_understands_has_none(url: str) -> None:
    assert source_of(rb.SQLTable(url, "votes")) is None


def test_a_search_path_is_part_of_a_table_without_a_schema() -> None:
    here, there = (
        source_of(rb.SQLTable(f"postgresql://db/town?options=-csearch_path%3D{schema}", "votes"))
        for schema in ("here", "there")
    )
    assert here != there


def test_a_database_in_a_file_is_known_by_its_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    expected = f"{tmp_path / 'town.db'}/votes"
    assert source_of(rb.SQLTable("town.db", "votes")) == expected
    assert source_of(rb.SQLTable("sqlite:///town.db", "votes")) == expected
    assert source_of(rb.SQLTable(f"sqlite:///{tmp_path}/town.db", "votes")) == expected
    assert source_of(rb.SQLTable("sqlite://", "votes")) is None
    assert source_of(rb.SQLTable("duckdb:///:memory:", "votes")) is None


def test_an_address_that_cannot_be_read_has_none() -> None:
    assert source_of(rb.SQLTable("postgresql://me:secret@host:port/money", "votes")) is None


SECRET = st.text("abcdefghijklmnopqrstuvwxyz", min_size=12, max_size=20)


@given(user=SECRET, password=SECRET, place=st.sampled_from(["ann:{p}@db/town", "{u}:{p}@db:1/t"]))
def test_no_secret_is_in_a_source(user: str, password: str, place: str) -> None:
    url = "postgresql://" + place.format(u=user, p=password) + f"?password={password}"
    found = source_of(rb.SQLTable(url, "votes"))
    assert found is not None
    assert password not in found
    assert user not in found
