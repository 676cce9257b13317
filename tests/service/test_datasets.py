"""Datasets: what is checked when the service starts, and whose data one change is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from postgres import connect, fresh_schema
from rainbowdp.errors import InvalidFile
from rainbowdp.ledger import Ledger
from rainbowdp.service.app import create_app
from services import COLUMNS, EPSILON, WINNER, InMemory, client, headers, make_app, make_settings

ASK = "/v1/datasets/visits/ask"


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"columns": {"ward": {"answers": ["x"]}}}, "columns.ward: "),
        ({"columns": {"wait": {"bins": ["soon", "later"]}}}, "columns.wait.bins"),
        ({"data": "nothing.csv"}, "dataset.visits: "),
        ({"ledger": "nothing.db"}, "There is no ledger at"),
        ({"data": "sqlite:///x.db"}, "a database needs table"),
        ({"encoding": "klingon"}, "dataset.visits: "),
    ],
)
def test_what_is_missing_is_told_when_the_service_starts(
    tmp_path: Path, changed: dict[str, Any], sentence: str
) -> None:
    settings = make_settings(tmp_path, dataset=changed)
    with pytest.raises(InvalidFile) as caught:
        create_app(settings, InMemory())
    assert sentence in str(caught.value)


def test_columns_are_checked_by_type_where_a_database_declares_it(
    tmp_path: Path, postgres_url: str
) -> None:
    place = fresh_schema(postgres_url)
    with connect(place) as connection:
        connection.execute(b"CREATE TABLE visits (diagnosis text, wait integer, who integer)")
        connection.execute(b"INSERT INTO visits VALUES ('flu', 12, 1), ('cold', 31, 2)")
    columns = {"diagnosis": COLUMNS["diagnosis"], "wait": {"bins": [0, 10, 20]}}
    said = {"data": place, "table": "visits", "columns": columns}
    with client(tmp_path, dataset=said) as service:
        body = {"question": WINNER, "guarantee": EPSILON}
        assert service.post(ASK, json=body, headers=headers("ann")).status_code == 200
    dates = {"wait": {"bins": ["2024-01-01", "2025-01-01"]}}
    (tmp_path / "visits.db").unlink()
    settings = make_settings(tmp_path, dataset={**said, "columns": dates})
    with pytest.raises(InvalidFile, match=r"columns.wait.bins"):
        create_app(settings, InMemory())


def test_data_that_changed_is_read_anew(tmp_path: Path) -> None:
    question = {"kind": "count", "column": "diagnosis", "equals": "flu"}
    body = {"question": question, "guarantee": {"epsilon": "20"}}
    with client(tmp_path) as service:
        before = service.post(ASK, json=body, headers=headers("ann")).json()["answer"]
        file = tmp_path / "visits.csv"
        file.write_text(file.read_text() + "flu,north,5,61\n" * 1000)
        after = service.post(ASK, json=body, headers=headers("ann")).json()["answer"]
    assert before < 200
    assert after > 1000


@pytest.mark.parametrize(
    ("unit", "given", "status"),
    [
        ({}, {}, 200),
        ({}, {"person": None, "rows_per_person": 1, "neighbors": "substituted"}, 200),
        ({}, {"neighbors": "added or removed"}, 403),
        ({}, {"person": "age"}, 403),
        ({"person": "age"}, {}, 200),
        ({"person": "age"}, {"rows_per_person": 3}, 200),
        ({"person": "age"}, {"person": None}, 403),
        ({"rows_per_person": 3}, {}, 200),
        ({"rows_per_person": 3}, {"rows_per_person": 2}, 403),
        ({"neighbors": "added or removed"}, {"neighbors": "added or removed"}, 200),
    ],
)
def test_a_question_is_for_the_unit_of_the_ledger(
    tmp_path: Path, unit: dict[str, Any], given: dict[str, Any], status: int
) -> None:
    with client(tmp_path, budget={"epsilon": "100", **unit}) as service:
        body = {"question": {**WINNER, **given}, "guarantee": EPSILON}
        reply = service.post("/v1/datasets/visits/price", json=body, headers=headers("ann"))
        assert reply.status_code == status, reply.text
        if status == 403:
            assert reply.json()["code"] == "not_allowed_unit"


def test_everybody_sees_what_may_be_asked_and_no_values(tmp_path: Path) -> None:
    with client(tmp_path) as service:
        for who in ("ann", "carl", "dora"):
            found = service.get("/v1/datasets/visits", headers=headers(who)).json()
            assert found["unit"] == {"kind": "record"}
            assert found["currency"] == "dp"
            assert found["columns"]["wait"]["bins"] == ["0", "10", "20", "40", "60"]
            assert "age" not in found["columns"]
        unknown = service.get("/v1/datasets/other", headers=headers("ann"))
        assert (unknown.status_code, unknown.json()["code"]) == (404, "unknown_dataset")


def test_an_analyst_sees_own_entries_alone(tmp_path: Path) -> None:
    app = make_app(tmp_path)
    ledger: Ledger = app.state.service.datasets["visits"].ledger
    from fastapi.testclient import TestClient

    from ledgers import spend
    from rainbowdp import DP

    with TestClient(app) as service:
        for number in range(30):
            spend(ledger.on_behalf_of("ann" if number % 10 == 0 else "bob"), DP("0.001"))
        path = "/v1/datasets/visits/history"
        hers = service.get(path, headers=headers("ann")).json()["entries"]
        assert [entry["number"] for entry in hers] == [1, 11, 21]
        two = service.get(f"{path}?last=2", headers=headers("ann")).json()["entries"]
        assert [entry["number"] for entry in two] == [11, 21]
        every = service.get(f"{path}?last=5", headers=headers("dora")).json()["entries"]
        assert [entry["number"] for entry in every] == [26, 27, 28, 29, 30]
        assert all("source" not in entry and "role" not in entry for entry in every)
        assert service.get(f"{path}?last=0", headers=headers("dora")).status_code == 422
