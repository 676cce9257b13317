"""The OpenAPI document is complete and true."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis.checks import CHECKS, load_all_checks

from asked import questions
from rainbowdp.questions import Restored
from services import EPSILON, WINNER, client, headers, make_app

OPEN = ("/health", "/ready", "/v1/schema")


def operations(document: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Every method of every path."""
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield method, path, operation


def test_every_route_says_what_it_may_refuse(tmp_path: Path) -> None:
    for method, path, operation in operations(make_app(tmp_path).openapi()):
        where = f"{method} {path}"
        refused = {int(status) for status in operation["responses"] if int(status) >= 400}
        assert {400, 408, 413, 503} <= refused, where
        assert operation["description"], where
        if path not in OPEN:
            assert {401, 429} <= refused, where
            assert operation["security"] == [{"HTTPBearer": []}], where
        if "{dataset}" in path:
            assert 404 in refused, where
        for status in refused:
            content = operation["responses"][str(status)]["content"]
            assert list(content) == ["application/problem+json"], f"{where} {status}"


def test_every_reference_leads_somewhere(tmp_path: Path) -> None:
    document = make_app(tmp_path).openapi()
    known = {f"#/components/schemas/{name}" for name in document["components"]["schemas"]}
    text = json.dumps(document)
    used = {part.split('"')[0] for part in text.split('"$ref": "')[1:]}
    assert used <= known


@pytest.mark.slow
@pytest.mark.parametrize("who", ["ann", "carl"])
def test_schemathesis_finds_nothing(tmp_path: Path, who: str) -> None:
    load_all_checks()
    # A schema cannot say all that makes a question: bins that rise, answers that are two.
    semantic = CHECKS.get_one("positive_data_acceptance")
    app = make_app(tmp_path, requests_per_minute=10**9, failed_sign_ins_per_minute=10**9)
    schema = schemathesis.openapi.from_asgi("/v1/openapi.json", app)
    for found in schema.get_all_operations():
        operation = found.ok()  # type: ignore[union-attr]

        @settings(
            max_examples=20,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            phases=[Phase.generate],
        )
        @given(case=operation.as_strategy())
        def conforms(case: Any) -> None:
            if "dataset" in (case.path_parameters or {}):
                case.path_parameters["dataset"] = "visits"
            reply = case.call(headers=headers(who))
            case.validate_response(reply, excluded_checks=[semantic])
            assert reply.status_code < 500

        conforms()


FLOATS = st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | FLOATS | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3)
    ),
    max_leaves=5,
)
KNOWN = (200, 400, 403, 404, 409, 413, 422)


def changed(draw: st.DrawFn, value: Any) -> Any:
    """The same JSON with another value somewhere in it."""
    if isinstance(value, dict) and value and draw(st.booleans()):
        key = draw(st.sampled_from(sorted(value)))
        return {**value, key: changed(draw, value[key])}
    if isinstance(value, list) and value and draw(st.booleans()):
        place = draw(st.integers(0, len(value) - 1))
        return [*value[:place], changed(draw, value[place]), *value[place + 1 :]]
    return draw(JSON)


@st.composite
def nearly_questions(draw: st.DrawFn) -> Any:
    """Requests that are nearly right."""
    question: Restored = draw(questions())
    body = {"question": json.loads(json.dumps(question.describe())), "guarantee": EPSILON}
    return changed(draw, body) if draw(st.booleans()) else body


def test_whatever_is_nearly_a_question_is_answered_or_refused(tmp_path: Path) -> None:
    with client(tmp_path, requests_per_minute=10**9, failed_sign_ins_per_minute=10**9) as service:

        @settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
        @given(nearly_questions(), st.sampled_from(["price", "ask"]))
        def refused(body: Any, route: str) -> None:
            reply = service.post(f"/v1/datasets/visits/{route}", json=body, headers=headers("ann"))
            assert reply.status_code in KNOWN, reply.text
            if reply.status_code != 200:
                assert reply.headers["content-type"] == "application/problem+json"
                assert "\n" not in reply.json()["detail"]

        refused()


def test_what_is_nearly_the_one_question_is_answered_or_refused(tmp_path: Path) -> None:
    body = {"question": {**WINNER, "where": "wait > 10"}, "guarantee": {"epsilon": "0.001"}}

    @st.composite
    def nearly(draw: st.DrawFn) -> Any:
        return changed(draw, body)

    with client(tmp_path, requests_per_minute=10**9, failed_sign_ins_per_minute=10**9) as service:

        @settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
        @given(nearly())
        def refused(body: Any) -> None:
            reply = service.post("/v1/datasets/visits/price", json=body, headers=headers("ann"))
            assert reply.status_code in KNOWN, reply.text

        refused()
