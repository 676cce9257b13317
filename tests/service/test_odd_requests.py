"""Requests that nobody should send: no failure, no trace of the inside, no private value."""

from __future__ import annotations

from pathlib import Path

import pytest

from odd_requests import fuzzed, private_in
from postgres import fresh_schema
from service_world import CANARY, world


@pytest.mark.parametrize("requests", [40, pytest.param(2000, marks=pytest.mark.slow)])
def test_nothing_that_is_sent_makes_the_service_fail(
    tmp_path: Path, postgres_url: str, requests: int
) -> None:
    folder = tmp_path / CANARY
    folder.mkdir()
    with world(folder, fresh_schema(postgres_url), 1, threads=4, time_limit="20 s") as service:
        found = fuzzed(service, requests, clients=4, seed=1)
        assert found.wrong == []
        assert private_in(service.log, service) == []
    assert found.requests == requests
    assert {200, 401, 403, 404, 422} <= set(found.statuses)


@pytest.mark.slow
def test_a_name_that_no_answer_can_have_is_not_there(tmp_path: Path, postgres_url: str) -> None:
    import httpx

    with world(tmp_path, fresh_schema(postgres_url), 1, threads=2) as service:
        headers = {"Authorization": f"Bearer {service.tokens['ann']}"}
        address = f"http://127.0.0.1:{service.port}/v1/datasets/votes/answers/%00"
        reply = httpx.get(address, headers=headers)
    assert (reply.status_code, reply.json()["code"]) == (404, "unknown_answer")
