"""A retry is free and exact, whoever answers it and whatever happened before."""

from __future__ import annotations

import json
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from postgres import fresh_schema
from rainbowdp import DP, Winner
from rainbowdp.ledger import Ledger
from rainbowdp.service.app import create_app
from services import EPSILON, WINNER, InMemory, client, headers, make_settings

ASK = "/v1/datasets/visits/ask"
HEADERS = {**headers("ann", "k"), "Content-Type": "application/json"}
BODY: dict[str, Any] = {"question": WINNER, "guarantee": {"epsilon": "0.01"}}


@pytest.mark.slow
def test_a_key_belongs_to_one_question_and_one_person(tmp_path: Path) -> None:
    with client(tmp_path) as service:
        first = service.post(ASK, json=BODY, headers=headers("ann", "k")).json()
        other = {**BODY, "guarantee": {"epsilon": "0.02"}}
        refused = service.post(ASK, json=other, headers=headers("ann", "k"))
        assert (refused.status_code, refused.json()["code"]) == (409, "name_taken")
        hers = service.post(ASK, json=BODY, headers=headers("bob", "k")).json()
        assert hers["entry"]["name"] == "bob/k"
        assert hers["entry"]["number"] == first["entry"]["number"] + 1
        named = service.post(ASK, json={**BODY, "name": "k"}, headers=headers("ann")).json()
        assert named["recalled"]
        both = service.post(ASK, json={**BODY, "name": "x"}, headers=headers("ann", "k"))
        assert both.status_code == 422


@pytest.mark.slow
def test_numbers_are_one_however_they_are_written(tmp_path: Path) -> None:
    with client(tmp_path) as service:
        first = service.post(ASK, json=BODY, headers=headers("ann", "k")).json()
        for text in ("0.01", "1e-2", '"0.010"', '"1/100"', "0.0100000000000000000000000"):
            body = '{"question": %s, "guarantee": {"epsilon": %s}}' % (json.dumps(WINNER), text)  # noqa: UP031
            again = service.post(ASK, content=body, headers=HEADERS)
            assert again.json()["head"] == first["head"], again.text
        nearly = '{"question": %s, "guarantee": {"epsilon": 0.010000000000000000000001}}' % (  # noqa: UP031
            json.dumps(WINNER)
        )
        assert service.post(ASK, content=nearly, headers=HEADERS).status_code == 409


@pytest.mark.slow
def test_an_entry_that_was_cut_off_is_completed(tmp_path: Path) -> None:
    """Somebody paid and crashed before the answer was recorded, which is what ``spend`` leaves."""
    with client(tmp_path, budget={"epsilon": "0.01"}) as service:
        question = Winner(WINNER["answers"], "diagnosis")
        ledger = Ledger.open(tmp_path / "visits.db", by="ann")
        ledger.spend(
            DP("0.01"),
            question=question.describe(),
            unit=ledger.unit,
            neighbors=ledger.neighbors,
            source="visits",
            name="ann/k",
        )
        missing = service.get("/v1/datasets/visits/answers/k", headers=headers("ann"))
        assert (missing.status_code, missing.json()["code"]) == (404, "unknown_answer")
        found = service.post(ASK, json=BODY, headers=headers("ann", "k"))
        assert found.status_code == 200, found.text
        again = service.post(ASK, json=BODY, headers=headers("ann", "k")).json()
        assert again["recalled"]
        assert again["answer"] == found.json()["answer"]
        assert ledger.balance().entries == ledger.balance().answers == 1


@pytest.mark.slow
@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_many_retries_at_once_in_two_processes_get_one_answer(
    tmp_path: Path, database: str, request: pytest.FixtureRequest
) -> None:
    place = None if database == "sqlite" else fresh_schema(request.getfixturevalue("postgres_url"))
    settings = make_settings(tmp_path, place, requests_per_minute=100_000)
    with ExitStack() as stack:
        services = [
            stack.enter_context(TestClient(create_app(settings, InMemory()))) for _ in range(2)
        ]

        def ask(number: int) -> dict[str, Any]:
            one = services[number % 2]
            key = f"k{number // 8}"
            while True:
                reply = one.post(ASK, json=BODY, headers=headers("ann", key))
                if reply.status_code != 503:  # the mechanism is being made, and enough wait for it
                    break
                assert reply.json()["code"] == "busy"
                time.sleep(float(reply.headers["retry-after"]) / 10)
            assert reply.status_code == 200, reply.text
            told: dict[str, Any] = reply.json()
            return told

        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(ask, range(32)))
        for first in range(0, 32, 8):
            same = found[first : first + 8]
            assert len({one["head"] for one in same}) == 1
            assert len({one["answer"] for one in same}) == 1
            assert sum(not one["recalled"] for one in same) == 1
        history = services[0].get("/v1/datasets/visits/history", headers=headers("dora")).json()
        assert len(history["entries"]) == 4
    ledger = Ledger.open(place or tmp_path / "visits.db")
    ledger.verify()
    assert ledger.balance().entries == 4


def test_answers_are_recalled_by_those_who_may(tmp_path: Path) -> None:
    with client(tmp_path) as service:
        body = {
            "question": {"kind": "count", "column": "diagnosis", "equals": "flu"},
            "guarantee": EPSILON,
        }
        told = service.post(ASK, json=body, headers=headers("ann", "flu")).json()
        path = "/v1/datasets/visits/answers/"
        for who, name in (("ann", "flu"), ("dora", "ann/flu"), ("carl", "ann/flu")):
            found = service.get(path + name, headers=headers(who))
            assert found.status_code == 200, found.text
            assert found.json()["answer"] == told["answer"]
            assert isinstance(told["answer"], int)
            assert found.json()["proves"] == told["proves"]
        for who, name in (("bob", "flu"), ("bob", "ann/flu"), ("dora", "flu"), ("ann", "ann/flu")):
            assert service.get(path + name, headers=headers(who)).status_code == 404
