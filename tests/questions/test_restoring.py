"""Questions from JSON: the exact inverse of ``describe``, and one sentence for everything else."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rainbowdp as rb
from asked import TEXTS, questions
from rainbowdp.errors import InvalidQuestion
from rainbowdp.questions import Restored, from_description, with_margins


@given(questions())
def test_restoring_is_the_inverse_of_describing(question: Restored) -> None:
    described = json.loads(json.dumps(question.describe()))
    again = from_description(described)
    assert again == question
    assert type(again) is type(question)
    assert again.describe() == question.describe()


@given(questions(), st.data())
def test_a_key_that_a_kind_does_not_have_is_refused(
    question: Restored, data: st.DataObject
) -> None:
    described = question.describe()
    key = data.draw(TEXTS.filter(lambda key: key not in {*described, "by", "groups_are_public"}))
    with pytest.raises(InvalidQuestion, match="has no"):
        from_description({**described, key: None})


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=True) | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(questions(), JSON, st.data())
def test_any_other_value_makes_a_question_or_one_sentence(
    question: Restored, value: Any, data: st.DataObject
) -> None:
    described = question.describe()
    key = data.draw(st.sampled_from(sorted(described)))
    with suppress(InvalidQuestion):
        from_description({**described, key: value})


@given(JSON)
def test_any_json_makes_a_question_or_one_sentence(value: Any) -> None:
    with pytest.raises(InvalidQuestion):
        from_description(value)


def test_what_has_a_default_may_be_left_out() -> None:
    asked = from_description({"kind": "count", "column": "age", "minimum": 65})
    assert asked == rb.Count("age", minimum=65)
    defaults = {"person": "who", "neighbors": "added or removed", "rows_per_person": 1}
    keys = from_description({"kind": "keys", "column": "ill"}, defaults)
    assert keys == rb.Keys("ill", person="who")
    winner = from_description(
        {"kind": "winner", "answers": ["a", "b"], "column": "x", "person": None}, defaults
    )
    assert winner == rb.Winner(["a", "b"], "x", neighbors="added or removed")


@pytest.mark.parametrize(
    ("described", "sentence"),
    [
        ({"kind": "mean"}, "kind must be one of winner"),
        ({"kind": "custom", "name": "lead"}, "the function of the custom question 'lead'"),
        ({"kind": "winner"}, "needs answers"),
        ({"kind": "ranking", "among": ["a", "b"]}, "needs first"),
        ({"kind": "winner", "answers": "ab"}, "answers must be a list of texts"),
        ({"kind": "count", "column": "x", "equals": "a", "by": "y"}, "by must be an object"),
        ({"kind": "winner", "answers": ["a", "b"], "weight": {"column": "w"}}, "weight must be"),
        ({"kind": ["winner"]}, "kind must be one of"),
    ],
)
def test_what_is_wrong_is_said(described: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InvalidQuestion, match=sentence):
        from_description(described)


def test_where_margins_are_needed_other_questions_are_refused() -> None:
    winner = rb.Winner(["a", "b"])
    assert with_margins(winner.describe()) == winner
    with pytest.raises(InvalidQuestion, match="of kind count"):
        with_margins(rb.Count().describe())
