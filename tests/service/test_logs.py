"""One line a request: who, what route, how it ended, and nothing of what was asked or answered."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import pytest

from rainbowdp.errors import UnreadableTable
from rainbowdp.service.datasets import Dataset
from rainbowdp.service.logs import LOGGER, _Lines
from services import EPSILON, TOKENS, WINNER, client, headers

ASK = "/v1/datasets/visits/ask"
BODY = {"question": WINNER, "guarantee": EPSILON}


class Kept(logging.Handler):
    """Keeps the lines that a service manager would collect."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[dict[str, Any]] = []
        self.setFormatter(_Lines())

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(json.loads(self.format(record)))


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> Kept:
    found = Kept()
    monkeypatch.setattr(LOGGER, "handlers", [found])
    monkeypatch.setattr(LOGGER, "level", logging.INFO)
    monkeypatch.setattr(LOGGER, "propagate", False)
    LOGGER.manager._clear_cache()  # type: ignore[attr-defined]
    return found


def test_a_request_is_one_line(tmp_path: Path, kept: Kept) -> None:
    with client(tmp_path) as service:
        reply = service.post(ASK, json=BODY, headers=headers("ann", "secret-key"))
        service.post(
            ASK + "?x=secret-query", json={**BODY, "name": "no good"}, headers=headers("ann")
        )
        service.get("/v1/me", headers={"Authorization": "Bearer secret-token"})
        service.get("/secret-path")
    first, second, third, fourth = kept.lines
    assert set(first) == {
        *("time", "level", "event", "id", "person", "method", "route", "status", "ms", "code")
    }
    assert first["id"] == reply.headers["x-request-id"]
    assert reply.headers["cache-control"] == "no-store"
    assert (first["person"], first["route"]) == ("ann", "/v1/datasets/{dataset}/ask")
    assert (first["status"], first["code"]) == (200, None)
    assert (second["status"], second["code"]) == (422, "invalid_request")
    assert (third["status"], third["code"], third["person"]) == (401, "unauthenticated", None)
    assert (fourth["status"], fourth["route"]) == (404, None)
    written = json.dumps([{**line, "time": None, "ms": None} for line in kept.lines])
    for secret in ("secret", TOKENS["ann"], "flu", "diagnosis", "0.5", str(tmp_path)):
        assert secret not in written


def test_what_should_not_happen_is_hidden_and_logged(
    tmp_path: Path, kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*given: Any) -> Any:
        raise ZeroDivisionError("Ann, 12 Mill Lane")

    monkeypatch.setattr(Dataset, "ready", fails)
    with client(tmp_path) as service:
        reply = service.post(ASK, json=BODY, headers=headers("ann"))
    told = reply.json()
    assert (reply.status_code, told["code"]) == (500, "internal")
    failure, request = kept.lines
    assert failure["id"] == request["id"] == reply.headers["x-request-id"]
    assert request["id"] in told["detail"]
    assert failure["error"] == "ZeroDivisionError"
    assert any("service/asking.py" in place for place in failure["at"])
    assert "Mill Lane" not in json.dumps(kept.lines) + reply.text


def test_trouble_with_data_is_told_to_the_curator_alone(
    tmp_path: Path, kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    with client(tmp_path) as service:
        (tmp_path / "visits.csv").unlink()
        reply = service.post(ASK, json=BODY, headers=headers("ann"))
    assert (reply.status_code, reply.json()["code"]) == (503, "data_unreadable")
    assert int(reply.headers["retry-after"]) > 0
    assert "visits.csv" not in reply.text
    trouble, _ = kept.lines
    assert "visits.csv" in trouble["message"]


def test_a_question_that_no_type_fits_is_told_apart_from_data_that_cannot_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unfit(*given: Any) -> Any:
        raise UnreadableTable("column 'wait' holds dates, see /srv/visits.csv")

    with client(tmp_path) as service:
        dataset = service.app.state.service.datasets["visits"]  # type: ignore[attr-defined]
        monkeypatch.setattr("rainbowdp.service.datasets.must_have", unfit)
        monkeypatch.setattr("rainbowdp.answering.mechanism.QuestionMechanism.ready", unfit)
        reply = service.post(ASK, json=BODY, headers=headers("ann"))
        assert (reply.status_code, reply.json()["code"]) == (422, "unfit")
        assert "srv" not in reply.text
        assert dataset.ledger.balance().entries == 0
