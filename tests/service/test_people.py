"""People, tokens, limits and approvals over HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from openid_issuer import AUDIENCE, issuer
from rainbowdp.ledger import Ledger
from rainbowdp.service.app import create_app
from rainbowdp.service.config import Settings
from rainbowdp.service.people.directory import People, people_of
from rainbowdp.service.people.roles import Role
from services import EPSILON, WINNER, make_settings
from token_forgeries import Clock, forgeries, with_openid

ASKED: dict[str, Any] = {"question": WINNER, "guarantee": EPSILON}
NORTH = {"where": "district = 'north'"}
ASK = "/v1/datasets/visits/ask"


class Caller:
    """A client that speaks as people of the store."""

    def __init__(self, settings: Settings, people: People, client: TestClient) -> None:
        self.settings, self.people, self.client = settings, people, client
        self.tokens: dict[str, str] = {}
        self.ledger = Ledger.open(settings.placed(settings.dataset["visits"].ledger))

    def add(self, name: str, *roles: Role) -> None:
        self.people.add(name, roles, by="root")
        self.tokens[name] = self.people.token(name, by="root").token

    def __call__(self, who: str, method: str, path: str, body: Any = None, key: str = "") -> Any:
        headers = {"Authorization": f"Bearer {self.tokens[who]}"}
        headers |= {"Idempotency-Key": key} if key else {}
        return self.client.request(method, path, json=body, headers=headers)

    def asks(self, who: str, key: str, asked: Any = None) -> Any:
        return self(who, "post", ASK, ASKED if asked is None else asked, key)


@pytest.fixture(params=[{}], ids=["plain"])
def call(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Caller]:
    settings = make_settings(tmp_path, **request.param)
    people = people_of(settings)
    with TestClient(create_app(settings, people), raise_server_exceptions=False) as client:
        found = Caller(settings, people, client)
        found.add("cora", Role.CURATOR)
        found.add("ann", Role.ANALYST)
        found.add("ben", Role.ANALYST)
        yield found


APPROVAL = pytest.mark.parametrize("call", [{"dataset": {"approval": True}}], indirect=True)


def test_a_curator_adds_people_and_makes_tokens(call: Caller) -> None:
    made = call("cora", "post", "/v1/people", {"name": "dan", "roles": ["analyst"]})
    assert made.status_code == 201, made.text
    assert made.json()["added_by"] == "cora"
    new = call("cora", "post", "/v1/people/dan/tokens", {"days": 7})
    assert new.status_code == 201, new.text
    call.tokens["dan"] = new.json()["token"]
    assert call("dan", "get", "/v1/me").json()["expires"] == new.json()["expires"]
    assert call.asks("dan", "first").json()["entry"]["by"] == "dan"
    listed = call("cora", "get", "/v1/people")
    assert new.json()["token"] not in listed.text
    assert "argon2" not in listed.text
    gone = call("cora", "delete", f"/v1/tokens/{new.json()['id']}")
    assert gone.json()["revoked"] is not None
    assert call.asks("dan", "first").status_code == 401
    for path, body, code in [
        ("/v1/people/nobody/tokens", {}, "unknown_person"),
        ("/v1/people/dan/tokens", {"days": 0}, "invalid_request"),
        ("/v1/people/dan/tokens", {"days": "7"}, "invalid_request"),
        ("/v1/people", {"name": "A B", "roles": ["analyst"]}, "invalid_request"),
        ("/v1/people", {"name": "ab", "roles": ["root"]}, "invalid_request"),
        ("/v1/people", {"name": "ab", "roles": []}, "invalid_request"),
    ]:
        assert call("cora", "post", path, body).json()["code"] == code, path
    assert call("cora", "delete", f"/v1/tokens/{'0' * 16}").json()["code"] == "unknown_token"
    assert call("cora", "delete", "/v1/people/dan").json()["removed"] is not None
    assert call("cora", "delete", "/v1/people/nobody").json()["code"] == "unknown_person"


@pytest.mark.parametrize(("method", "path"), [("post", "/%00/tokens"), ("delete", "/%00")])
def test_a_name_that_no_database_keeps_is_refused(call: Caller, method: str, path: str) -> None:
    refused = call("cora", method, f"/v1/people{path}", {} if method == "post" else None)
    assert (refused.status_code, refused.json()["code"]) == (422, "invalid_request")


def test_limits_of_an_analyst_and_a_window_hold(call: Caller) -> None:
    about: Any = {"source": "visits", "per": "900 weeks", "signed_by": "cora"}
    call.ledger.limit("ann", epsilon=1, **about)
    price = call("ann", "post", "/v1/datasets/visits/price", ASKED).json()
    assert price["answers_left"] == 2
    assert call("ben", "post", "/v1/datasets/visits/price", ASKED).json()["answers_left"] == 200
    assert [call.asks("ann", key).status_code for key in "ab"] == [200, 200]
    refused = call.asks("ann", "c")
    assert (refused.status_code, refused.json()["code"]) == (409, "limit_exceeded")
    assert "ann on this source in the ledger of visits has ε = 0 left until" in refused.text
    assert str(call.settings.placed("")) not in refused.text
    assert call.asks("ann", "a").json()["recalled"]
    assert call.asks("ben", "c").status_code == 200
    [limit] = call("ann", "get", "/v1/datasets/visits/balance").json()["yours"]
    assert (limit["per"], limit["left"]["epsilon"], limit["shared"]) == ("900 weeks", "0", False)
    assert call("ben", "get", "/v1/datasets/visits/balance").json()["yours"] == []


@APPROVAL
def test_a_question_waits_is_approved_and_answered_once(call: Caller) -> None:
    waiting = call.asks("ann", "k1")
    assert waiting.status_code == 202, waiting.text
    number = waiting.json()["request"]
    assert waiting.json() == {"request": number, "status": "waiting"}
    assert call.asks("ann", "k1").json() == waiting.json()
    assert call.ledger.balance().entries == 0
    [seen] = call("cora", "get", "/v1/requests?status=waiting").json()["requests"]
    assert seen["person"] == "ann"
    assert seen["words"].startswith("Which of flu, cold and fracture is most frequent")
    assert seen["price"] == "ε 0.5"
    assert "95 %" in seen["certainty"]
    assert call("ben", "get", "/v1/requests").json() == {"requests": []}
    assert len(call("ann", "get", "/v1/requests").json()["requests"]) == 1
    for who in ("ann", "ben"):
        path = f"/v1/requests/{number}/approve"
        assert call(who, "post", path, {}).json()["code"] == "forbidden"
    done = call("cora", "post", f"/v1/requests/{number}/approve", {"reason": "For May"})
    assert (done.status_code, done.json()["status"]) == (200, "approved")
    note = list(call.ledger.records())[-1]
    assert note.kind == "note"
    assert (note.content["by"], note.content["signed_by"]) == ("cora", "cora")
    assert f"Approved the request {number} of ann, to be answered as ann/k1" in note.content["text"]
    assert call.asks("ben", "k1").status_code == 202  # approved for ann alone
    other = call.asks("ann", "k1", {**ASKED, "guarantee": {"epsilon": "0.6"}})
    assert other.json()["code"] == "name_taken"
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: call.asks("ann", "k1"), range(8)))
    assert {answer.status_code for answer in answers} == {200}
    assert len({answer.json()["answer"] for answer in answers}) == 1
    assert sum(not answer.json()["recalled"] for answer in answers) == 1
    assert call.ledger.balance().entries == 1
    assert call.asks("ann", "k2").status_code == 202  # another key, another approval
    again = call("cora", "post", f"/v1/requests/{number}/refuse", {"reason": "No"})
    assert (again.status_code, again.json()["code"]) == (409, "conflict")


@APPROVAL
def test_a_plan_waits_as_one_question(call: Caller) -> None:
    questions = {"all": {"question": WINNER}, "north": {"question": {**WINNER, **NORTH}}}
    plan = {"plan": {"questions": questions, "total": {"epsilon": "1"}}}
    waiting = call.asks("ann", "k1", plan)
    assert waiting.status_code == 202, waiting.text
    [seen] = call("ann", "get", "/v1/requests").json()["requests"]
    assert seen["price"] == "ε 1"
    assert seen["words"]
    number = waiting.json()["request"]
    assert call("cora", "post", f"/v1/requests/{number}/approve", {}).status_code == 200
    assert set(call.asks("ann", "k1", plan).json()["answer"]) == {"all", "north"}
    changed = {"plan": {**plan["plan"], "total": {"epsilon": "2"}}}
    assert call.asks("ann", "k1", changed).json()["code"] == "name_taken"


@APPROVAL
def test_a_refusal_is_told_with_its_reason(call: Caller) -> None:
    number = call.asks("ann", "k1").json()["request"]
    bare = call("cora", "post", f"/v1/requests/{number}/refuse", {})
    assert (bare.status_code, bare.json()["code"]) == (422, "invalid_request")
    call("cora", "post", f"/v1/requests/{number}/refuse", {"reason": "Too narrow"})
    told = call.asks("ann", "k1")
    assert (told.status_code, told.json()["code"]) == (403, "refused")
    assert told.json()["detail"] == "cora refused this question: Too narrow"
    assert call.ledger.balance().entries == 0
    assert "Refused the request" in list(call.ledger.records())[-1].content["text"]


@APPROVAL
def test_curators_do_not_approve_their_own(call: Caller) -> None:
    call.add("both", Role.CURATOR, Role.ANALYST)
    number = call.asks("both", "k1").json()["request"]
    own = call("both", "post", f"/v1/requests/{number}/approve", {})
    assert (own.status_code, own.json()["code"]) == (403, "forbidden")
    assert call.asks("both", "k1").status_code == 202
    assert call("cora", "post", f"/v1/requests/{number}/approve", {}).status_code == 200
    assert call.asks("both", "k1").status_code == 200


@APPROVAL
def test_what_could_not_be_answered_does_not_wait(call: Caller) -> None:
    bare = call("ann", "post", ASK, ASKED)
    assert (bare.status_code, bare.json()["code"]) == (422, "invalid_request")
    assert "Idempotency-Key" in bare.json()["detail"]
    dear = call.asks("ann", "k1", {**ASKED, "guarantee": {"epsilon": "101"}})
    assert dear.json()["code"] == "budget_exceeded"
    odd = call.asks("ann", "k1", {**ASKED, "question": {**WINNER, "column": "age"}})
    assert odd.json()["code"] == "not_allowed_column"
    assert call("cora", "get", "/v1/requests").json() == {"requests": []}
    missing = call("cora", "post", f"/v1/requests/{'0' * 16}/approve", {})
    assert (missing.status_code, missing.json()["code"]) == (404, "unknown_request")


def test_people_of_an_issuer_ask(tmp_path: Path) -> None:
    with issuer() as found:
        said: Any = {"issuer": found.address, "audience": AUDIENCE, "roles": {"office": "analyst"}}
        settings = make_settings(tmp_path, openid=said)
        with TestClient(create_app(settings), raise_server_exceptions=False) as client:

            def ask(token: str) -> Any:
                headers = {"Authorization": f"Bearer {token}", "Idempotency-Key": "k"}
                return client.post(ASK, json=ASKED, headers=headers)

            answer = ask(found.token(roles=["office"]))
            assert answer.status_code == 200, answer.text
            assert answer.json()["entry"]["by"] == "ann@127.0.0.1"
            assert answer.json()["entry"]["name"] == "ann@127.0.0.1/k"
            assert ask(found.token(roles=["office"], aud="another")).status_code == 401
            late = ask(found.token(roles=["office"], exp=5))
            assert (late.status_code, late.json()["code"]) == (401, "expired")


@pytest.mark.slow
def test_no_forged_token_gets_in(tmp_path: Path) -> None:
    """All of the thousand that fit into a header, at a route that is for any role."""
    with issuer() as found:
        clock = Clock()
        people = with_openid(str(tmp_path / "people.db"), found, clock)
        forged = forgeries(people, found, clock, tmp_path)
        settings = make_settings(
            tmp_path, requests_per_minute=10_000, failed_sign_ins_per_minute=10_000
        )
        with TestClient(create_app(settings, people), raise_server_exceptions=False) as client:

            def status(token: str) -> int:
                sent = {"Authorization": f"Bearer {token}"}
                return int(client.get("/v1/me", headers=sent).status_code)

            fit = [token for token in forged if token.isascii() and token.isprintable()]
            sent = [token for token in fit if token == token.strip()]  # as HTTP does to a header
            assert len(sent) > 980
            assert {status(token) for token in sent} == {401}
            people.add("ann", [Role.ANALYST], by="root")
            assert status(people.token("ann", by="root").token) == 200
            assert status(found.token()) == 200
