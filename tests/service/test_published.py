"""The published JSON Schema: what describes itself fits it, and other things do not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given, settings

import rainbowdp as rb
from asked import questions
from rainbowdp.questions import Restored, from_description
from rainbowdp.service.asking import description_of
from rainbowdp.service.published import json_schema
from rainbowdp.service.schema import Asked
from services import EPSILON, WINNER, client, headers


def validator(name: str) -> Any:
    """What tells whether a value is what the schema calls so."""
    whole = json_schema()
    return jsonschema_rs.Draft202012Validator({**whole, "$ref": f"#/$defs/{name}"})


def test_it_is_a_schema() -> None:
    jsonschema_rs.Draft202012Validator(json_schema())
    names = ("Question", "Guarantee", "Answer", "Plan", "MechanismFile", "CountFile", "Problem")
    assert set(names) <= set(json_schema()["$defs"])


@pytest.mark.slow
@settings(max_examples=60)
@given(questions())
def test_every_question_fits_the_schema_and_comes_back(question: Restored) -> None:
    described = json.loads(json.dumps(question.describe()))
    validator("Question").validate(described)
    asked = Asked.model_validate({"question": described, "guarantee": EPSILON})
    assert from_description(description_of(asked.question)) == question


@pytest.mark.parametrize(
    "mechanism",
    [
        lambda: rb.best(rb.Winner(["red", "green"]), rb.DP(1)),
        lambda: rb.best(rb.Quantile("1/2", [0, 10, 20], "age"), rb.GaussianDP("1/2")),
        lambda: rb.best(rb.Share("1/3", "x", equals="y"), rb.DP.from_ratio(2)),
    ],
)
def test_mechanism_files_fit_the_schema(mechanism: Any, tmp_path: Path) -> None:
    file = mechanism().save(tmp_path / "mechanism.json")
    validator("MechanismFile").validate(json.loads(file.read_text()))


def test_files_of_counts_fit_the_schema(tmp_path: Path) -> None:
    file = rb.best(rb.Count("age", minimum=65), rb.DP(1)).save(tmp_path / "count.json")
    validator("CountFile").validate(json.loads(file.read_text()))


@pytest.mark.parametrize(
    "given",
    [
        {**WINNER, "more": 1},
        {**WINNER, "kind": "mean"},
        {"kind": "winner", "column": "x"},
        {**WINNER, "answers": []},
        {**WINNER, "ties": "last"},
    ],
)
def test_what_is_no_question_does_not_fit(given: dict[str, Any]) -> None:
    assert not validator("Question").is_valid(given)


def test_the_service_publishes_it_and_keeps_to_it(tmp_path: Path) -> None:
    body = {"question": WINNER, "guarantee": EPSILON}
    validator("Asked").validate(body)
    with client(tmp_path) as service:
        assert service.get("/v1/schema").json() == json_schema()
        answer = service.post("/v1/datasets/visits/ask", json=body, headers=headers("ann"))
        validator("Answer").validate(answer.json())
        refused = service.post("/v1/datasets/none/ask", json=body, headers=headers("ann"))
        validator("Problem").validate(refused.json())
