"""Every kind of question in plain English, from its description alone."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rainbowdp as rb
from rainbowdp import questions
from rainbowdp.questions import Unit, change_in_words, in_words

VOTE = ["red", "green", "blue"]
CASES: list[tuple[Any, str]] = [
    (
        rb.Winner(VOTE, "choice", where="age > 65"),
        "Which of red, green and blue is most frequent in column choice, where age > 65?",
    ),
    (rb.Winner(["red", "green"]), "Which of red and green is most frequent in the given counts?"),
    (
        rb.Winner(["red, dark", "blue"], "choice", other="else", missing="none"),
        "Which of 'red, dark', blue, else (any other value) and none (no value) is most frequent "
        "in column choice?",
    ),
    (
        rb.Ranking(VOTE, "choice", first=2),
        "Which are the 2 most frequent of red, green and blue in column choice, in order?",
    ),
    (
        rb.Ranking(VOTE, "choice", first=2, in_order=False, apply="lower"),
        "Which are the 2 most frequent of red, green and blue in column choice in lower case, in "
        "any order?",
    ),
    (
        rb.Ranking(VOTE, first=1),
        "Which of red, green and blue is most frequent in the given counts?",
    ),
    (
        rb.Threshold(1200, "age", minimum=65),
        "Do at least 1,200 records have 65 or more in column age?",
    ),
    (
        rb.Threshold(1, "visited", maximum="2024-12-31", answers=("some", "none")),
        "Does at least 1 record have 2024-12-31 or earlier in column visited? The answer is some "
        "if so and none if not.",
    ),
    (
        rb.Threshold("2.5", "age", minimum=18, maximum=65, weight=rb.Weight("dose", "0.5")),
        "Do records with 18 to 65 in column age weigh at least 2.5 in total? Records weigh what "
        "column dose says, at most 0.5.",
    ),
    (rb.Threshold(3), "Is the given count at least 3?"),
    (
        rb.Count("visited", equals="3", apply="month", at_most=500),
        "How many records have 3 in the month of column visited? More than 500 are answered as "
        "500.",
    ),
    (rb.Count(), "How large is the given count?"),
    (
        rb.Share("0.6", "outcome", equals="recovered"),
        "Do at least 60 % of records have recovered in column outcome?",
    ),
    (
        rb.Share("2/3", "outcome", equals="recovered", weight=rb.Weight("dose", 10)),
        "Do records with recovered in column outcome have at least 2/3 of the weight? Records "
        "weigh what column dose says, at most 10.",
    ),
    (rb.Share("0.5"), "Are at least 50 % of the given counts matching ones?"),
    (
        rb.ProportionTest("0.6", "outcome", equals="recovered", records=2000),
        "Do significantly more than 60 % of 2,000 records have recovered in column outcome, at "
        "the 5 % level?",
    ),
    (
        rb.ProportionTest("0.6", records=20, alpha="0.001"),
        "Do significantly more than 60 % of 20 records match, at the 0.1 % level?",
    ),
    (
        rb.Keys("diagnosis", keys_per_person=2, person="patient"),
        "Which values does column diagnosis have? Those that enough people have are named. At "
        "most 2 values of each person (column patient) count.",
    ),
    (
        rb.Keys(keys_per_person=2),
        "Which of the given keys are there? Those that enough people have are named. Each person "
        "has at most 2 values, as was promised.",
    ),
    (
        rb.Quantile("1/2", [0, 10, 20, 50], "age", person="patient", rows_per_person=3),
        "Which bin holds the median of column age: < 10, [10, 20) or ≥ 20? At most 3 random "
        "records of each person (column patient) count.",
    ),
    (
        rb.Quantile("1/3", ["2024-01-01", "2024-04-01", "2024-07-01"], "visited"),
        "Which bin holds the 1/3 quantile of column visited: < 2024-04-01 or ≥ 2024-04-01?",
    ),
    (
        rb.Quantiles(["1/4", "0.92"], [0, 10, 20], "wait", where="ward = 'X'"),
        "Which bins hold the 25th and 92nd percentiles of column wait, where ward = 'X': < 10 or "
        "≥ 10?",
    ),
    (
        rb.Grouped(
            rb.Winner(["red", "green"], "choice", person="voter", person_rule="one vote"),
            "district",
            ["north", "south"],
        ),
        "Which of red and green is most frequent in column choice, for each of north and south in "
        "column district? Each person (column voter) has one vote.",
    ),
    (
        rb.Grouped(rb.Count("age", minimum=65), "visited", ["3"], apply="month"),
        "How many records have 65 or more in column age, for 3 in the month of column visited?",
    ),
    (
        rb.Custom(["even", "odd"], len, neighbors="substituted", name="parity", column="age"),
        "What is parity of column age: even or odd? A function of the user's own decides.",
    ),
    (
        rb.Winner(["a", "b"], "x", rows_per_person=4),
        "Which of a and b is most frequent in column x? Each person has at most 4 records, as was "
        "promised.",
    ),
]


@pytest.mark.parametrize(("question", "words"), CASES, ids=lambda value: str(value)[:40])
def test_a_question_is_said_in_plain_english(question: Any, words: str) -> None:
    assert in_words(question.describe()) == words
    kept = json.loads(json.dumps(question.describe()))  # as a ledger has it
    assert in_words(kept) == words


def test_every_kind_of_question_has_words() -> None:
    described = {question.describe()["kind"] for question, _ in CASES}
    classes = [getattr(questions, name) for name in questions.__all__]
    asked = {
        kind.__name__ for kind in classes if isinstance(kind, type) and hasattr(kind, "describe")
    }
    asked -= {"Question", "Unit", "Weight", "Grouped"}
    assert {name.lower() for name in asked} == {
        kind.replace("proportion-test", "proportiontest") for kind in described
    }


def test_long_lists_are_cut_short() -> None:
    words = in_words(rb.Winner([f"town {n}" for n in range(500)], "town").describe())
    assert words.startswith("Which of town 0, town 1,")
    assert words.endswith("town 7 and 492 more is most frequent in column town?")
    bins = rb.Quantile("1/2", range(1000), "age")
    assert len(in_words(bins.describe())) < 200


@pytest.mark.parametrize(
    ("description", "words"),
    [
        (
            {"kind": "mean", "column": "age", "bounds": [0, 100]},
            "mean: column age, bounds 0 and 100",
        ),
        ({"query": {"of": "x", "by": None}}, "query (of x)"),
        ({"kind": "winner"}, "winner"),
        ({}, "a question without a description"),
    ],
    ids=str,
)
def test_what_others_asked_is_read_out(description: Any, words: str) -> None:
    assert in_words(description) == words


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)
NAMES = sorted({name for question, _ in CASES for name in question.describe()})


@given(
    st.sampled_from([question.describe() for question, _ in CASES]),
    st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=3),
)
def test_any_description_has_printable_words(described: dict[str, Any], other: Any) -> None:
    """A ledger may hold what an older or a newer release, or somebody else, described."""
    words = in_words({**described, **other})
    assert words
    assert words.isprintable()


@pytest.mark.parametrize(
    ("unit", "neighbors", "words"),
    [
        (Unit(), "substituted", "one row, which is replaced by another."),
        (Unit(), "added or removed", "one row, which is added or removed."),
        (
            Unit(rows_per_person=3),
            "substituted",
            "the rows of one person, at most 3 as the owner promises, who is replaced by another.",
        ),
        (
            Unit(person="patient"),
            "added or removed",
            "all rows of one person (column patient), who is added or removed.",
        ),
    ],
    ids=str,
)
def test_one_change_is_said_in_a_sentence(unit: Unit, neighbors: str, words: str) -> None:
    assert change_in_words(unit, neighbors) == f"Neighboring tables differ in {words}"


def test_an_answer_is_paid_for_in_words(tmp_path: Any) -> None:
    ledger = rb.Ledger.create(tmp_path / "budget.db", dataset="town", epsilon=3)
    question = rb.Winner(["red", "green"])
    released = rb.ask(rb.best(question, rb.DP(1)), {"red": 9}, ledger=ledger)
    assert released.entry is not None
    assert released.entry.words == in_words(question.describe())
