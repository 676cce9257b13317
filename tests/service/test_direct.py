"""A question that goes straight to its handler gets the reply that all the layers would give."""

from __future__ import annotations

import json
from typing import Any

import pytest
from fastapi.testclient import TestClient

from services import EPSILON, WINNER, headers, make_app

ASK = "/v1/datasets/visits/ask"
GOOD = json.dumps({"question": WINNER, "guarantee": EPSILON})
REQUESTS: list[tuple[str, str, str, dict[str, str]]] = [
    ("POST", ASK, GOOD, {}),
    ("POST", ASK, GOOD, headers("dora")),
    ("POST", ASK, GOOD, {"Authorization": "Basic x"}),
    ("POST", ASK, GOOD, {"Authorization": "Bearer token-old"}),
    ("POST", ASK, "", headers("ann")),
    ("POST", ASK, "{", headers("ann")),
    ("POST", ASK, "[]", headers("ann")),
    ("POST", ASK, GOOD, {**headers("ann"), "Content-Type": "text/plain"}),
    ("POST", ASK, GOOD, {**headers("ann"), "Idempotency-Key": "a b"}),
    ("POST", ASK, GOOD.replace("0.5", "500"), headers("ann")),
    ("POST", ASK, GOOD.replace("diagnosis", "age"), headers("ann")),
    ("POST", ASK, "x" * 200_000, headers("ann")),
    ("POST", "/v1/datasets/nothing/ask", GOOD, headers("ann")),
    ("POST", "/v1/datasets/a%2Fb/ask", GOOD, headers("ann")),
    ("POST", "/v1/datasets//ask", GOOD, headers("ann")),
    ("GET", ASK, "", headers("ann")),
    ("OPTIONS", ASK, "", headers("ann")),
]


def told(reply: Any) -> tuple[Any, ...]:
    kept = {name: reply.headers.get(name) for name in ("content-type", "allow", "retry-after")}
    return reply.status_code, kept, reply.json()


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return make_app(tmp_path_factory.mktemp("direct"))


@pytest.mark.parametrize(("method", "path", "body", "given"), REQUESTS)
def test_what_is_refused_is_refused_alike(
    app: Any, method: str, path: str, body: str, given: dict[str, str]
) -> None:
    sent = {"Content-Type": "application/json", **given}
    straight, around = TestClient(app), TestClient(app, root_path="/rainbow")
    replies = [
        told(one.request(method, path, content=body, headers=sent)) for one in (straight, around)
    ]
    assert replies[0] == replies[1]
    assert replies[0][0] >= 400


def test_one_key_has_one_answer_on_both_ways(app: Any) -> None:
    body = json.loads(GOOD)
    replies = [
        one.post(ASK, json=body, headers=headers("ann", "key")).json()
        for one in (TestClient(app), TestClient(app, root_path="/rainbow"))
    ]
    assert [one["recalled"] for one in replies] == [False, True]
    assert replies[0]["answer"] == replies[1]["answer"]
    assert replies[0]["head"] == replies[1]["head"]
