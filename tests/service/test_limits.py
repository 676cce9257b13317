"""Too large, too many, too slow, too busy: 413, 429, 408, 503; and the floor."""

from __future__ import annotations

import asyncio
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from rainbowdp.service.datasets import Dataset
from rainbowdp.service.problems import Problem
from rainbowdp.service.rates import Rates
from services import EPSILON, WINNER, client, headers

ASK = "/v1/datasets/visits/ask"
BODY = {"question": WINNER, "guarantee": EPSILON}


def test_a_body_that_is_too_large_is_refused(tmp_path: Path) -> None:
    with client(tmp_path, largest_body="1 kB") as service:
        long = {**BODY, "name": "x" * 2000}
        refused = service.post(ASK, json=long, headers=headers("ann"))
        assert (refused.status_code, refused.json()["code"]) == (413, "too_large")
        assert refused.headers["content-type"] == "application/problem+json"
        pieces = (b"{" + b" " * 300 for _ in range(10))  # whose length nobody says beforehand
        refused = service.post(ASK, content=pieces, headers=headers("ann"))
        assert (refused.status_code, refused.json()["code"]) == (413, "too_large")


def test_too_many_requests_are_told_when_to_come_back(tmp_path: Path) -> None:
    with client(tmp_path, requests_per_minute=30) as service:
        found = [service.get("/v1/me", headers=headers("ann")) for _ in range(12)]
        refused = [one for one in found if one.status_code == 429]
        assert refused
        assert {one.json()["code"] for one in refused} == {"too_many"}
        assert all(1 <= int(one.headers["retry-after"]) <= 2 for one in refused)
        assert service.get("/v1/me", headers=headers("bob")).status_code == 200


def test_a_rate_fills_again(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    rates = Rates(60)
    for _ in range(10):
        rates.take("ann")
    with pytest.raises(Problem) as caught:
        rates.take("ann")
    assert caught.value.retry_after == 1
    now[0] += 1
    rates.take("ann")
    with pytest.raises(Problem):
        rates.take("ann")


def slowed(monkeypatch: pytest.MonkeyPatch, event: threading.Event) -> None:
    kept = Dataset.ready

    def slowly(*given: Any) -> Any:
        event.wait(20)
        return kept(*given)

    monkeypatch.setattr(Dataset, "ready", slowly)


def test_what_takes_too_long_is_given_up_and_costs_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on = threading.Event()
    slowed(monkeypatch, go_on)
    with client(tmp_path, time_limit="300 ms") as service:
        refused = service.post(ASK, json=BODY, headers=headers("ann", "k"))
        assert (refused.status_code, refused.json()["code"]) == (408, "too_slow")
        assert "retry-after" in refused.headers
        go_on.set()
    running = service.app.state.service  # type: ignore[attr-defined]
    assert running.datasets["visits"].ledger.balance().entries == 0  # its time was over


@pytest.mark.slow
def test_an_answer_that_was_paid_for_is_recorded_though_nobody_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from rainbowdp.ledger import Ledger

    go_on, kept = threading.Event(), Ledger.draw

    def slowly(*given: Any) -> Any:
        go_on.wait(20)
        return kept(*given)

    monkeypatch.setattr(Ledger, "draw", slowly)
    with client(tmp_path, time_limit="1 s") as service:
        assert service.post(ASK, json=BODY, headers=headers("ann", "k")).status_code == 408
        go_on.set()
        for _ in range(100):
            found = service.get("/v1/datasets/visits/answers/k", headers=headers("ann"))
            if found.status_code == 200:
                break
            time.sleep(0.1)
        assert found.json()["entry"]["number"] == 1
        running = service.app.state.service  # type: ignore[attr-defined]
        assert running.datasets["visits"].ledger.balance().answers == 1


def test_a_service_that_is_full_turns_others_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on = threading.Event()
    slowed(monkeypatch, go_on)
    with client(tmp_path, threads=1, waiting=0) as service:
        found: list[int] = []
        asking = threading.Thread(
            target=lambda: found.append(
                service.post(ASK, json=BODY, headers=headers("ann")).status_code
            )
        )
        asking.start()
        running = service.app.state.service  # type: ignore[attr-defined]
        while not running.running:
            time.sleep(0.01)
        refused = service.post(ASK, json=BODY, headers=headers("bob"))
        assert (refused.status_code, refused.json()["code"]) == (503, "busy")
        assert int(refused.headers["retry-after"]) >= 1
        go_on.set()
        asking.join()
        assert found == [200]


def test_every_reply_to_a_question_takes_the_floor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[float] = []
    from rainbowdp.service import limits

    class Clock:
        @staticmethod
        async def sleep(seconds: float) -> None:
            waited.append(seconds)

        timeout = staticmethod(asyncio.timeout)

    monkeypatch.setattr(limits, "asyncio", Clock)
    with client(tmp_path, floor="10 s") as service:
        service.post(ASK, json=BODY, headers=headers("ann"))
        service.post(ASK, json={}, headers=headers("ann"))
        service.post("/v1/datasets/none/ask", json=BODY, headers=headers("ann"))
        service.post(ASK, json=BODY)
        assert len(waited) == 4
        assert all(0 < seconds <= 10 for seconds in waited)
        service.get("/v1/me", headers=headers("ann"))
        assert len(waited) == 4
