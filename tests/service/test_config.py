"""``service.toml``: what it says, and what is wrong with it in one sentence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rainbowdp.errors import InvalidFile
from rainbowdp.service.config import read_settings

TEXT = """
title = "Town hospital"
port = 9000
floor = "0.5 s"
time_limit = "2 min"
largest_body = "64 kB"

[dataset.visits]
data = "visits.csv"
ledger = "budgets/visits.db"
approval = true

[dataset.visits.columns.wait]
bins = [0, 10, 20.5, 2026-01-01]
answers = [true, 3, "x"]
weight = 2.5
"""


def written(folder: Path, text: str) -> Path:
    file = folder / "service.toml"
    file.write_text(text)
    return file


def test_what_a_file_says(tmp_path: Path) -> None:
    found = read_settings(written(tmp_path, TEXT))
    assert (found.title, found.port, found.floor, found.time_limit) == (
        "Town hospital",
        9000,
        0.5,
        120.0,
    )
    assert (found.largest_body, found.workers, found.host) == (64_000, 1, "127.0.0.1")
    column = found.dataset["visits"].columns["wait"]
    assert column.bins == ("0", "10", "20.5", "2026-01-01")
    assert column.answers == ("true", "3", "x")
    assert column.weight == "2.5"
    assert found.placed("a.csv") == str(tmp_path / "a.csv")
    assert found.placed("postgresql://host/x") == "postgresql://host/x"
    assert found.listening_at(1).placed("a.csv") == found.placed("a.csv")


def test_secrets_come_from_the_environment(tmp_path: Path, monkeypatch: Any) -> None:
    text = TEXT.replace('"budgets/visits.db"', '"env:THE_LEDGER"')
    with pytest.raises(InvalidFile, match="where THE_LEDGER is not set"):
        read_settings(written(tmp_path, text))
    monkeypatch.setenv("THE_LEDGER", "postgresql://service:secret@db/town")
    found = read_settings(written(tmp_path, text))
    assert found.dataset["visits"].ledger == "postgresql://service:secret@db/town"


@pytest.mark.parametrize(
    ("before", "after", "sentence"),
    [
        ("port = 9000", "port = 'x'", "port: input should be a valid integer"),
        ("port = 9000", "prot = 9000", "prot: there is no such key"),
        ('"0.5 s"', '"soon"', "floor: must be a time such as"),
        ('"64 kB"', "64", "largest_body: must be a size such as"),
        ('data = "visits.csv"', "", "dataset.visits.data: this key is missing"),
        ("[dataset.visits]", '[dataset."a b"]', "a dataset's name has letters"),
        ("weight = 2.5", "weight = 0", "columns.wait.weight: must be a number above 0"),
        ("weight = 2.5", 'apply = ["sqrt"]', "columns.wait.apply: must be of year, month"),
        ("weight = 2.5", 'filter = "maybe"', "columns.wait.filter: input should be 'no'"),
        ("port = 9000", "workers = 4", "4 processes need PostgreSQL for store"),
        ("port = 9000", "port = ", "cannot be read as TOML"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, before: str, after: str, sentence: str) -> None:
    text = TEXT.replace(before, after)
    if "a b" in after:
        text = text.replace("[dataset.visits.", '[dataset."a b".')
    with pytest.raises(InvalidFile) as caught:
        read_settings(written(tmp_path, text))
    assert sentence in str(caught.value)
    assert str(tmp_path / "service.toml") in str(caught.value)


def test_a_message_shows_no_password(tmp_path: Path) -> None:
    text = TEXT.replace('"budgets/visits.db"', '["postgresql://service:secret@db/town"]')
    with pytest.raises(InvalidFile) as caught:
        read_settings(written(tmp_path, text))
    assert "secret" not in str(caught.value)


def test_there_must_be_a_file(tmp_path: Path) -> None:
    with pytest.raises(InvalidFile, match="No such file"):
        read_settings(tmp_path / "service.toml")
