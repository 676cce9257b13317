"""Questions over HTTP: prices, answers, retries."""

from __future__ import annotations

from pathlib import Path

from services import EPSILON, WINNER, client, headers

ASK = "/v1/datasets/visits/ask"


def test_a_question_is_priced_explained_and_answered(tmp_path: Path) -> None:
    body = {"question": WINNER, "guarantee": EPSILON}
    with client(tmp_path) as service:
        price = service.post("/v1/datasets/visits/price", json=body, headers=headers("ann"))
        assert price.status_code == 200, price.text
        assert price.json() == {
            "cost": {"epsilon": "1/2", "delta": "0"},
            "answers_left": 200,
            "left": {"epsilon": "100", "delta": "0"},
        }
        explained = service.post("/v1/datasets/visits/explain", json=body, headers=headers("ann"))
        assert explained.status_code == 200, explained.text
        assert "corners" in explained.json()["proof"]
        answer = service.post(ASK, json=body, headers=headers("ann", "first"))
        assert answer.status_code == 200, answer.text
        told = answer.json()
        assert told["answer"] in WINNER["answers"]
        assert told["entry"]["by"] == "ann"
        assert told["entry"]["name"] == "ann/first"
        assert told["left"] == {"epsilon": "199/2", "delta": "0"}
        assert not told["recalled"]
        again = service.post(ASK, json=body, headers=headers("ann", "first"))
        assert again.json()["recalled"]
        assert again.json()["answer"] == told["answer"]
        assert again.json()["left"] == told["left"]
        history = service.get("/v1/datasets/visits/history", headers=headers("ann")).json()
        assert [entry["answer"] for entry in history["entries"]] == [told["answer"]]
        assert service.get("/v1/datasets/visits/history", headers=headers("bob")).json() == {
            "entries": []
        }
        head = service.get("/v1/datasets/visits/head", headers=headers("bob")).json()
        assert head["head"] == told["head"]
        balance = service.get("/v1/datasets/visits/balance", headers=headers("bob")).json()
        assert balance["entries"] == 1
        assert service.get("/ready").json() == {"status": "ready"}
        assert service.get("/metrics").status_code == 401
        assert b"rainbow_budget_left" in service.get("/metrics", headers=headers("dora")).content
        told = service.get("/v1/datasets", headers=headers("ann")).json()
        assert list(told["datasets"][0]["columns"]) == ["diagnosis", "district", "wait"]
        assert service.get("/v1/me", headers=headers("ann")).json()["roles"] == ["analyst"]
        assert service.get("/v1/openapi.json").status_code == 200
        assert service.get("/nothing").json()["code"] == "not_found"
