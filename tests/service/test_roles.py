"""Who may do what, route by route: a route that is not listed here fails the test."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from fastapi.routing import APIRoute
from fastapi.testclient import TestClient

from rainbowdp.service.app import create_app
from rainbowdp.service.people.directory import People, people_of
from rainbowdp.service.people.roles import Role
from services import EPSILON, WINNER, make_settings

EVERYBODY = frozenset({"nobody", "curator", "analyst", "auditor"})
ANY_ROLE = EVERYBODY - {"nobody"}
ASKED = {"question": WINNER, "guarantee": EPSILON}
PLAN = {"questions": {"winner": {"question": WINNER}}, "total": EPSILON}


@dataclass(frozen=True)
class Entry:
    """Who may use a route, and a request that would do something there."""

    who: frozenset[str]
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)


def only(*roles: str) -> frozenset[str]:
    return frozenset(roles)


D = "/v1/datasets/{dataset}"
MATRIX: dict[tuple[str, str], Entry] = {
    ("get", "/health"): Entry(EVERYBODY),
    ("get", "/ready"): Entry(EVERYBODY),
    ("get", "/metrics"): Entry(only("auditor", "curator")),
    ("get", "/v1/schema"): Entry(EVERYBODY),
    ("get", "/v1/me"): Entry(ANY_ROLE),
    ("get", "/v1/datasets"): Entry(ANY_ROLE),
    ("get", D): Entry(ANY_ROLE),
    ("post", f"{D}/price"): Entry(only("analyst", "curator"), ASKED),
    ("post", f"{D}/explain"): Entry(only("analyst", "curator"), ASKED),
    ("post", f"{D}/plan"): Entry(only("analyst", "curator"), PLAN),
    ("get", f"{D}/answers/{{name}}"): Entry(ANY_ROLE),
    ("post", f"{D}/ask"): Entry(only("analyst"), ASKED, {"Idempotency-Key": "one"}),
    ("get", f"{D}/balance"): Entry(ANY_ROLE),
    ("get", f"{D}/history"): Entry(ANY_ROLE),
    ("get", f"{D}/head"): Entry(ANY_ROLE),
    ("get", "/v1/requests"): Entry(only("analyst", "curator")),
    ("post", "/v1/requests/{request}/approve"): Entry(only("curator"), {}),
    ("post", "/v1/requests/{request}/refuse"): Entry(only("curator"), {"reason": "No."}),
    ("get", "/v1/people"): Entry(only("curator")),
    ("post", "/v1/people"): Entry(only("curator"), {"name": "new", "roles": ["analyst"]}),
    ("delete", "/v1/people/{name}"): Entry(only("curator")),
    ("post", "/v1/people/{name}/tokens"): Entry(only("curator"), {}),
    ("delete", "/v1/tokens/{token}"): Entry(only("curator")),
}
FILLED = {"dataset": "visits", "request": "0" * 16, "name": "somebody", "token": "0" * 16}


@dataclass
class Running:
    client: TestClient
    people: People
    tokens: dict[str, str]

    def send(self, method: str, path: str, who: str, entry: Entry) -> Any:
        headers = dict(entry.headers)
        if who != "nobody":
            headers["Authorization"] = f"Bearer {self.tokens[who]}"
        given = {} if entry.body is None else {"json": entry.body}
        return self.client.request(method, path.format(**FILLED), headers=headers, **given)


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A service with a person of each role, and tokens that do not work any more."""
    folder: Path = tmp_path_factory.mktemp("service")
    settings = make_settings(
        folder, requests_per_minute=100_000, failed_sign_ins_per_minute=100_000
    )
    people = people_of(settings)
    tokens = {}
    for role in Role:
        people.add(f"the-{role}", [role], by="root")
        tokens[str(role)] = people.token(f"the-{role}", by="root").token
    people.add("all", list(Role), by="root")
    revoked = people.token("all", by="root")
    people.revoke(revoked.id)
    long_ago = People(people.store, clock=lambda: datetime.now(UTC) - timedelta(days=9))
    tokens |= {"revoked": revoked.token, "expired": long_ago.token("all", by="root", days=1).token}
    tokens["forged"] = tokens["curator"][:-8] + "00000000"
    people.add("removed", list(Role), by="root")
    tokens["removed"] = people.token("removed", by="root").token
    people.remove("removed", by="root")
    people.add("somebody", [Role.ANALYST], by="root")
    with TestClient(create_app(settings, people), raise_server_exceptions=False) as client:
        yield Running(client, people, tokens)


def routes(running: Running) -> list[tuple[str, str]]:
    paths = running.client.get("/v1/openapi.json").json()["paths"]
    return [(method, path) for path, methods in paths.items() for method in methods]


def test_every_route_is_listed(running: Running) -> None:
    assert set(routes(running)) == set(MATRIX)


def test_every_route_is_in_the_openapi_document(running: Running) -> None:
    app: Any = running.client.app
    hidden = [
        route.path
        for route in app.routes
        if isinstance(route, APIRoute) and not route.include_in_schema
    ]
    assert hidden == ["/"]  # the page, which anybody may load and which holds nothing


@pytest.mark.parametrize(("method", "path"), list(MATRIX), ids=lambda part: str(part))
def test_only_the_listed_roles_get_in(running: Running, method: str, path: str) -> None:
    entry = MATRIX[method, path]
    found = {who: running.send(method, path, who, entry) for who in sorted(EVERYBODY)}
    for who, reply in found.items():
        if who in entry.who:
            assert reply.status_code not in (401, 403), (who, reply.text)
            assert reply.status_code < 500, (who, reply.text)
        elif who == "nobody":
            assert (reply.status_code, reply.json()["code"]) == (401, "unauthenticated")
            assert reply.headers["WWW-Authenticate"] == "Bearer"
        else:
            assert (reply.status_code, reply.json()["code"]) == (403, "forbidden"), who


@pytest.mark.parametrize(("method", "path"), list(MATRIX), ids=lambda part: str(part))
def test_no_route_takes_a_token_that_is_none(running: Running, method: str, path: str) -> None:
    entry = MATRIX[method, path]
    if "nobody" in entry.who:
        return
    for who in ("revoked", "expired", "forged", "removed"):
        reply = running.send(method, path, who, entry)
        code = "expired" if who == "expired" else "unauthenticated"
        assert (reply.status_code, reply.json()["code"]) == (401, code), who


@pytest.mark.parametrize(
    "header",
    ["", "Bearer", "Bearer ", "Basic {token}", "{token}", "Bearer {token} x", "Token {token}"],
)
def test_a_token_is_a_bearers(running: Running, header: str) -> None:
    sent = {"Authorization": header.format(token=running.tokens["curator"])}
    assert running.client.get("/v1/me", headers=sent).status_code == 401
    sent = {"X-Token": running.tokens["curator"]}
    assert running.client.get("/v1/me", headers=sent).status_code == 401
    asked = {"token": running.tokens["curator"], "access_token": running.tokens["curator"]}
    assert running.client.get("/v1/me", params=asked).status_code == 401
    assert running.client.get("/v1/me", cookies=None).status_code == 401


def test_analysts_see_their_own_entries_and_requests(running: Running) -> None:
    asked = MATRIX["post", f"{D}/ask"]
    running.send("post", f"{D}/ask", "analyst", asked)
    entries = running.send("get", f"{D}/history", "analyst", Entry(ANY_ROLE)).json()["entries"]
    assert {entry["by"] for entry in entries} == {"the-analyst"}
    running.people.add("other", [Role.ANALYST], by="root")
    running.tokens["other"] = running.people.token("other", by="root").token
    assert running.send("get", f"{D}/history", "other", Entry(ANY_ROLE)).json() == {"entries": []}
    assert running.send("get", f"{D}/history", "auditor", Entry(ANY_ROLE)).json()["entries"]


def test_a_role_that_is_taken_away_is_gone_at_once(running: Running) -> None:
    running.people.add("short", [Role.CURATOR], by="root")
    running.tokens["short"] = running.people.token("short", by="root").token
    entry = MATRIX["get", "/v1/people"]
    assert running.send("get", "/v1/people", "short", entry).status_code == 200
    running.people.add("short", [Role.ANALYST], by="root")
    assert running.send("get", "/v1/people", "short", entry).status_code == 403
