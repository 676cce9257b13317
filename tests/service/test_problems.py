"""What is refused: every code has a kind, and no sentence shows where anything is."""

from __future__ import annotations

from pathlib import Path

import pytest

from rainbowdp import errors
from rainbowdp.service.problems import KINDS, Code, Problem, problem_of
from services import EPSILON, WINNER, client, headers

BODY = {"question": WINNER, "guarantee": EPSILON}
ASK = "/v1/datasets/visits/ask"


def test_every_code_has_a_status_and_a_title() -> None:
    assert set(KINDS) == set(Code)
    for code in Code:
        told = Problem(code, "Because.").as_dict()
        assert told["status"] >= 400
        assert told["type"] == f"urn:rainbowdp:problem:{code}"


@pytest.mark.parametrize(
    ("error", "code", "shown"),
    [
        (errors.InvalidQuestion("q must be less"), "invalid_question", True),
        (errors.InvalidGuarantee("epsilon must be more"), "invalid_guarantee", True),
        (errors.NotApplicable("there is none"), "invalid_guarantee", True),
        (errors.BudgetExceeded("This costs more."), "budget_exceeded", True),
        (errors.NameTaken("The name is taken."), "name_taken", True),
        (errors.LedgerError("It is closed."), "ledger_refused", True),
        (errors.Unavailable("/srv/x.db at 10.0.0.1 is locked"), "not_ready", False),
        (errors.UnreadableTable("/srv/visits.csv has no header"), "data_unreadable", False),
    ],
)
def test_errors_of_the_library_are_problems(
    error: errors.RainbowError, code: str, shown: bool
) -> None:
    problem = problem_of(error)
    assert problem is not None
    assert problem.code == code
    assert (str(error).rstrip(".") in problem.detail) == shown
    assert (problem.retry_after is not None) == (problem.status == 503)


def test_other_errors_are_our_own_fault() -> None:
    for kind in (errors.InvalidFile, errors.InvalidMechanism, errors.RainbowError):
        assert problem_of(kind("/srv/secret")) is None


def test_no_sentence_shows_where_the_ledger_is(tmp_path: Path) -> None:
    with client(tmp_path, budget={"epsilon": "0.6"}) as service:
        post = service.post
        much = {**BODY, "guarantee": {"epsilon": "0.7"}}
        replies = [
            post(ASK, json=much, headers=headers("ann")),
            post(ASK, json=BODY, headers=headers("ann", "k")),
            post(ASK, json=BODY, headers=headers("ann")),
            post(ASK, json={**BODY, "guarantee": {"epsilon": "0.1"}}, headers=headers("ann", "k")),
            post(ASK, json={**BODY, "guarantee": {"mu": "0.1"}}, headers=headers("ann")),
            post(ASK, json={**BODY, "guarantee": {"rho": "0.1"}}, headers=headers("ann")),
        ]
        told = [(one.status_code, one.json().get("code")) for one in replies]
        assert told == [
            (409, "budget_exceeded"),
            (200, None),
            (409, "budget_exceeded"),
            (409, "name_taken"),
            (409, "ledger_refused"),
            (409, "ledger_refused"),
        ]
        (tmp_path / "visits.db").write_bytes(b"no ledger at all" * 100)
        broken = post(ASK, json=BODY, headers=headers("ann"))
        assert (broken.status_code, broken.json()["code"]) == (503, "not_ready")
        ready = service.get("/ready")
        assert (ready.status_code, ready.json()["code"]) == (503, "not_ready")
        for one in [*replies, broken, ready]:
            assert str(tmp_path) not in one.text
            assert "visits.db" not in one.text


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (b"", 422, "invalid_request"),
        (b"{", 400, "malformed"),
        (b"\xff\xfe", 400, "malformed"),
        (b"[" * 100_000, 413, "too_large"),
        (b"[" * 50_000, 400, "malformed"),
        (b'{"question": NaN}', 400, "malformed"),
        (b"1" * 5000, 400, "malformed"),
        (b"1e999999999", 422, "invalid_request"),
        (b"null", 422, "invalid_request"),
        (b'{"question": {"kind": "winner"}, "guarantee": {"epsilon": 1}}', 422, "invalid_request"),
    ],
)
def test_what_is_no_request_is_one_sentence(
    tmp_path: Path, body: bytes, status: int, code: str
) -> None:
    with client(tmp_path, largest_body="60 kB") as service:
        sent = {**headers("ann"), "Content-Type": "application/json"}
        reply = service.post(ASK, content=body, headers=sent)
        assert (reply.status_code, reply.json()["code"]) == (status, code)
        assert reply.headers["content-type"] == "application/problem+json"
        assert len(reply.json()["detail"]) < 800


def test_who_asks_must_be_known(tmp_path: Path) -> None:
    with client(tmp_path) as service:
        nobody = service.get("/v1/me")
        assert (nobody.status_code, nobody.json()["code"]) == (401, "unauthenticated")
        assert nobody.headers["www-authenticate"] == "Bearer"
        old = service.get("/v1/me", headers={"Authorization": "Bearer token-old"})
        assert (old.status_code, old.json()["code"]) == (401, "expired")
        basic = service.get("/v1/me", headers={"Authorization": "Basic abc"})
        assert basic.status_code == 401
        for who in ("carl", "dora"):
            refused = service.post(ASK, json=BODY, headers=headers(who))
            assert (refused.status_code, refused.json()["code"]) == (403, "forbidden")
        assert service.put("/v1/me").json()["code"] == "no_such_method"
