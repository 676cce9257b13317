"""Plans over HTTP: many questions in one payment."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from services import WINNER, client, headers

PLAN = "/v1/datasets/visits/plan"
ASK = "/v1/datasets/visits/ask"
COUNT = {"kind": "count", "column": "diagnosis", "equals": "flu"}
WANTED: dict[str, Any] = {
    "mode": {"question": WINNER, "weight": 2},
    "how many": {"question": COUNT},
}


def test_a_plan_is_made_and_asked(tmp_path: Path) -> None:
    with client(tmp_path) as service:
        body: dict[str, Any] = {"questions": WANTED, "total": {"epsilon": 1}}
        planned = service.post(PLAN, json=body, headers=headers("carl"))
        assert planned.status_code == 200, planned.text
        told = planned.json()
        assert [one["name"] for one in told["questions"]] == ["mode", "how many"]
        assert told["cost"] == {"epsilon": "1", "delta": "0"}
        asked = service.post(ASK, json={"plan": body}, headers=headers("ann", "both"))
        assert asked.status_code == 200, asked.text
        found = asked.json()
        assert set(found["answer"]) == {"mode", "how many"}
        assert isinstance(found["answer"]["how many"], int)
        assert found["left"] == {"epsilon": "99", "delta": "0"}
        again = service.post(ASK, json={"plan": body}, headers=headers("ann", "both")).json()
        assert again["recalled"]
        assert again["answer"] == found["answer"]
        recalled = service.get("/v1/datasets/visits/answers/both", headers=headers("ann")).json()
        assert recalled["answer"] == found["answer"]
        assert recalled["proves"] == found["proves"]


def test_a_plan_that_is_asked_has_a_total(tmp_path: Path) -> None:
    with client(tmp_path) as service:
        made = service.post(PLAN, json={"questions": WANTED}, headers=headers("ann"))
        assert made.status_code == 200, made.text  # of what is left
        refused = service.post(ASK, json={"plan": {"questions": WANTED}}, headers=headers("ann"))
        assert (refused.status_code, refused.json()["code"]) == (422, "invalid_request")
        assert "total" in refused.json()["detail"]


def test_every_question_of_a_plan_must_be_allowed(tmp_path: Path) -> None:
    hidden = {**WANTED, "third": {"question": {**COUNT, "column": "age", "equals": "61"}}}
    with client(tmp_path) as service:
        body = {"questions": hidden, "total": {"epsilon": 1}}
        for path, sent in ((PLAN, body), (ASK, {"plan": body})):
            refused = service.post(path, json=sent, headers=headers("ann"))
            assert (refused.status_code, refused.json()["code"]) == (403, "not_allowed_column")


def test_a_plan_must_fit_the_budget_and_make_sense(tmp_path: Path) -> None:
    with client(tmp_path, budget={"epsilon": "0.5"}) as service:
        body = {"questions": WANTED, "total": {"epsilon": 1}}
        refused = service.post(ASK, json={"plan": body}, headers=headers("ann"))
        assert (refused.status_code, refused.json()["code"]) == (409, "budget_exceeded")
        for wrong, code in (
            ({"questions": {}}, "invalid_request"),
            ({"questions": WANTED, "currency": "gold"}, "invalid_guarantee"),
            ({"questions": {"mode": {"question": WINNER, "sure": 2}}}, "invalid_question"),
            ({"questions": WANTED, "total": {"mu": 1}}, "ledger_refused"),
        ):
            refused = service.post(PLAN, json=wrong, headers=headers("ann"))
            assert refused.json()["code"] == code, refused.text


def test_an_approved_plan_can_be_asked_again_from_what_the_service_kept(tmp_path: Path) -> None:
    """By somebody who has nothing but the token: the list of requests says all that is sent."""
    with client(tmp_path, dataset={"approval": True}) as service:
        body: dict[str, Any] = {"questions": WANTED, "total": {"epsilon": "0.4"}}
        waiting = service.post(ASK, json={"plan": body}, headers=headers("ann", "both"))
        assert waiting.status_code == 202, waiting.text
        number = waiting.json()["request"]
        done = service.post(f"/v1/requests/{number}/approve", json={}, headers=headers("carl"))
        assert done.status_code == 200, done.text
        [kept] = service.get("/v1/requests", headers=headers("ann")).json()["requests"]
        assert (kept["key"], kept["status"], kept["answered"]) == ("both", "approved", False)
        assert kept["question"]["kind"] == "plan"
        changed = {**kept["plan"], "total": {"epsilon": "0.5"}}
        other = service.post(ASK, json={"plan": changed}, headers=headers("ann", "both"))
        assert (other.status_code, other.json()["code"]) == (409, "name_taken")
        same = {**kept["plan"], "total": {"epsilon": "2/5"}}  # in other words
        for plan, recalled in ((same, False), (kept["plan"], True), (body, True)):
            found = service.post(ASK, json={"plan": plan}, headers=headers("ann", kept["key"]))
            assert found.status_code == 200, found.text
            assert found.json()["recalled"] is recalled
        [kept] = service.get("/v1/requests", headers=headers("ann")).json()["requests"]
        assert kept["answered"]
        assert service.get("/v1/requests", headers=headers("bob")).json()["requests"] == []
