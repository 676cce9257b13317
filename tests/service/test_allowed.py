"""What may be asked: all that a curator lists, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asked import questions
from rainbowdp.questions import Grouped, Restored, from_description
from rainbowdp.questions.conditions import columns
from rainbowdp.questions.where import condition_of
from rainbowdp.service.allowed import must_be_allowed
from rainbowdp.service.config import Column, DatasetSettings
from rainbowdp.service.problems import Problem
from services import COLUMNS, WINNER


def settings(columns: dict[str, Any] = COLUMNS, **more: Any) -> DatasetSettings:
    """A dataset with some columns."""
    said = {
        name: {k: tuple(v) if isinstance(v, list) else v for k, v in column.items()}
        for name, column in columns.items()
    }
    return DatasetSettings.model_validate(
        {"data": "x.csv", "ledger": "x.db", "columns": said, **more}
    )


COUNT = {"kind": "count", "column": "diagnosis", "equals": "flu"}
WAIT = {"kind": "quantile", "column": "wait", "q": "1/2", "bins": [0, 10, 20, 60]}

ALLOWED = [
    WINNER,
    {**WINNER, "answers": ["cold", "flu"]},
    {**WINNER, "answers": ["cold", "flu"], "other": "else"},
    {"kind": "ranking", "column": "diagnosis", "among": ["flu", "cold"], "first": 1},
    COUNT,
    {**COUNT, "where": "district = 'anything' and wait >= 10 and diagnosis in ('flu', 'cold')"},
    {**COUNT, "where": "wait is null or not (wait > 60)"},
    {**COUNT, "by": {"column": "district", "groups": ["north"]}},
    {**COUNT, "apply": "lower"},
    {"kind": "keys", "column": "diagnosis"},
    WAIT,
    {**WAIT, "bins": [[None, "10.0"], ["1e1", 20], [20, None]]},
    {"kind": "share", "at_least": "0.5", "column": "wait", "minimum": 10, "maximum": 40},
    {**WINNER, "weight": {"column": "wait", "limit": 10}},
    {"kind": "threshold", "at_least": 3, "column": "district", "equals": "north"},
]

REFUSED = [
    ({**WINNER, "column": "age"}, "not_allowed_column", "There are diagnosis, district, wait"),
    ({**WINNER, "column": None}, "not_allowed_column", "must name a column"),
    ({**WINNER, "answers": ["flu", "plague"]}, "not_allowed_value", "plague is not among"),
    ({**WINNER, "missing": "none"}, "not_allowed_column", "missing may not be an answer"),
    ({**COUNT, "equals": "plague"}, "not_allowed_value", "These are: flu, cold, fracture"),
    ({**COUNT, "where": "age > 3"}, "not_allowed_column", "no column 'age'"),
    ({**COUNT, "where": "wait > 11"}, "not_allowed_value", "11 is not among the edges"),
    ({**COUNT, "where": "diagnosis = 'plague'"}, "not_allowed_value", "plague"),
    ({**COUNT, "where": "not (month(district) = 3)"}, "not_allowed_column", "month may not"),
    ({**COUNT, "apply": "year", "equals": "3"}, "not_allowed_column", "these may: lower"),
    ({**COUNT, "by": {"column": "diagnosis", "groups": ["flu"]}}, "not_allowed_value", "groups"),
    ({**COUNT, "by": {"column": "age", "groups": ["flu"]}}, "not_allowed_column", "'age'"),
    ({**COUNT, "by": {"column": "district", "groups": ["west"]}}, "not_allowed_value", "north"),
    (
        {**COUNT, "by": {"column": "district", "groups": ["north"]}, "groups_are_public": True},
        "not_allowed_column",
        "not public",
    ),
    ({"kind": "keys", "column": "district"}, "not_allowed_column", "may not be asked for"),
    ({**WAIT, "bins": [0, 10, 15, 60]}, "not_allowed_value", "15 is not among"),
    ({**WAIT, "column": "diagnosis"}, "not_allowed_value", "It has none"),
    (
        {**WINNER, "weight": {"column": "wait", "limit": 11}},
        "not_allowed_column",
        "a limit above 10",
    ),
    ({**WINNER, "weight": {"column": "district", "limit": 1}}, "not_allowed_column", "weighed"),
]


@pytest.mark.parametrize("asked", ALLOWED)
def test_what_is_listed_may_be_asked(asked: dict[str, Any]) -> None:
    must_be_allowed(from_description(asked), settings())


@pytest.mark.parametrize(("asked", "code", "sentence"), REFUSED)
def test_what_is_not_listed_is_refused(asked: dict[str, Any], code: str, sentence: str) -> None:
    with pytest.raises(Problem) as caught:
        must_be_allowed(from_description(asked), settings())
    assert caught.value.code == code
    assert sentence in caught.value.detail
    assert caught.value.status == 403


def test_kinds_may_be_listed() -> None:
    with pytest.raises(Problem, match="These may: winner"):
        must_be_allowed(from_description(COUNT), settings(kinds=("winner", "share")))


def looked_at(question: Restored) -> set[str]:
    """The columns that a question names anywhere, told from its description alone."""
    asked = question.describe()
    found = {asked["column"]}
    if asked.get("weight") is not None:
        found.add(asked["weight"]["column"])
    if isinstance(question, Grouped):
        found.add(asked["by"]["column"])
    condition = condition_of(asked["where"])
    return found | (set() if condition is None else set(columns(condition)))


ALL = Column(
    answers="any",
    other=True,
    missing=True,
    bins="any",
    groups="any",
    groups_are_public=True,
    filter="any",
    apply=("lower",),
    keys=True,
    weight="1000000",
)


@given(questions(), st.data())
def test_a_column_that_is_not_listed_is_never_looked_at(
    question: Restored, data: st.DataObject
) -> None:
    named = looked_at(question)
    said = DatasetSettings(data="x", ledger="y", columns=dict.fromkeys(named, ALL))
    must_be_allowed(question, said)
    hidden = data.draw(st.sampled_from(sorted(named)))
    others = {name: ALL for name in named if name != hidden}
    with pytest.raises(Problem) as caught:
        must_be_allowed(question, said.model_copy(update={"columns": others}))
    assert caught.value.code == "not_allowed_column"


@given(questions(), st.sampled_from(["answers", "bins", "groups", "filter", "weight", "keys"]))
def test_whatever_a_column_is_used_for_must_be_allowed(question: Restored, without: str) -> None:
    nothing: dict[str, Any] = {"filter": "no", "weight": None, "keys": False}
    column = ALL.model_copy(update={without: nothing.get(without, ())})
    said = DatasetSettings(data="x", ledger="y", columns=dict.fromkeys(looked_at(question), column))
    asked = question.describe()
    kind = asked["kind"]
    matched = asked.get("equals") is not None
    uses = {
        "answers": kind in ("winner", "ranking") or matched,
        "bins": kind in ("quantile", "quantiles")
        or asked.get("minimum") is not None
        or asked.get("maximum") is not None,
        "groups": "by" in asked,
        "filter": asked["where"] is not None,
        "weight": asked.get("weight") is not None,
        "keys": kind == "keys",
    }
    if uses[without]:
        with pytest.raises(Problem):
            must_be_allowed(question, said)
    else:
        must_be_allowed(question, said)
