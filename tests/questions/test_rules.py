"""What a question accepts, how it is described, and how a wrong one is found out."""

from __future__ import annotations

import dataclasses
import json
import math
import random
from collections.abc import Callable
from datetime import date, datetime
from typing import Any

import numpy as np
import pytest

from rainbowdp.errors import InvalidQuestion
from rainbowdp.questions import (
    Between,
    Custom,
    Equals,
    Quantile,
    Question,
    Share,
    Threshold,
    Winner,
    from_description,
    limited,
    refute,
)

GROUPS = [("a", Equals("a")), ("b", Equals("b"))]


def lead(counts: dict[str, int]) -> dict[str, int]:
    """The plain difference: right where one record comes or goes, wrong under substitution."""
    ahead = counts["a"] - counts["b"]
    return {"a": max(0, -ahead), "b": max(0, ahead + 1)}


ADDED = Custom(["a", "b"], lead, neighbors="added or removed", name="lead", groups=GROUPS)
SUBSTITUTED = Custom(["a", "b"], lead, neighbors="substituted", name="lead", groups=GROUPS)

DESCRIBED: list[Winner | Share | Threshold | Quantile] = [
    Winner(["red", "green"]),
    Winner(
        ["red", "green", "blue"],
        "choice",
        neighbors="added or removed",
        person="who",
        rows_per_person=3,
    ),
    Threshold(10),
    Threshold(10, "choice", equals="red", answers=["many", "few"]),
    Threshold(10, "age", minimum="0.5", maximum=65, neighbors="added or removed"),
    Quantile("1/3", [0, 10, 20.5]),
    Quantile(0.1, [(None, -1), (-1, 10), (10, None)], "age", person="who", rows_per_person=2),
    Quantile("1/3", [0, 10, 20.5], closed_ends=True),
    Quantile("1/2", ["2024-01-01", "2024-04-01", "2024-07-01T12:30:00.25"], "day"),
    Quantile("1/2", ["2024-01-01T00:00Z", "2024-04-01T00:00+02:00", None], closed_ends=True),
    Threshold(5, "day", minimum=date(2024, 1, 1), maximum="2024-07-01T12:00"),
    Share("2/3", "choice", equals="red", where="age > 65"),
    Share("0.6"),
    Winner(["red", "green"], "choice", other="else", missing="none"),
    Winner(["red", "green"], "choice", missing="else"),
    Winner(["red"], "choice", other="else"),
]


@pytest.mark.parametrize("question", DESCRIBED, ids=lambda q: type(q).__name__)
def test_a_description_is_json_and_makes_the_same_question(
    question: Winner | Share | Threshold | Quantile,
) -> None:
    described = question.describe()
    again = from_description(json.loads(json.dumps(described)))
    assert again == question
    assert again.describe() == described
    assert hash(again) == hash(question)
    assert isinstance(question, Question)
    with pytest.raises(dataclasses.FrozenInstanceError):
        question.column = "other"  # type: ignore[misc]


def test_other_questions_have_other_descriptions() -> None:
    questions: list[Question] = [*DESCRIBED, ADDED, SUBSTITUTED]
    described = [json.dumps(question.describe(), sort_keys=True) for question in questions]
    assert len(set(described)) == len(described)


def test_bins_are_named_by_what_they_hold() -> None:
    assert Quantile("1/2", [0, 10, 20, 50.5]).answers == ("< 10", "[10, 20)", "≥ 20")
    closed = Quantile("1/2", [0, 10, 20, 50.5], closed_ends=True)
    assert closed.answers == ("[0, 10)", "[10, 20)", "[20, 50.5]")
    assert Quantile("1/2", [(None, 0), (0, 1e300), (1e300, None)]).answers == (
        "< 0",
        "[0, 1e+300)",
        "≥ 1e+300",
    )
    assert Quantile("1/2", np.array([0.5, 1, 2])).answers == ("< 1", "≥ 1")
    times: list[Any] = [
        "2024-01-01",
        datetime(2024, 4, 1, 6, 30),
        np.datetime64("2024-04-01T06:30:01.5"),
        None,
    ]
    assert Quantile("1/2", times, closed_ends=True).answers == (
        "[2024-01-01, 2024-04-01 06:30)",
        "[2024-04-01 06:30, 2024-04-01 06:30:01.500000)",
        "≥ 2024-04-01 06:30:01.500000",
    )
    instants = ["2024-01-01T00:00+02:00", "2024-01-01 00:00Z", "2024-01-01T00:00:30-00:30", "inf"]
    assert Quantile("1/2", instants).answers == (
        "< 2024-01-01 00:00Z",
        "[2024-01-01 00:00Z, 2024-01-01 00:30:30Z)",
        "≥ 2024-01-01 00:30:30Z",
    )


@pytest.mark.parametrize("low", [None, "-inf", -math.inf, " -Infinity", 0, -7])
@pytest.mark.parametrize("high", [None, "inf", math.inf, "Infinity", 20, 99])
def test_outer_edges_do_not_matter_unless_they_close_the_ends(low: Any, high: Any) -> None:
    question = Quantile("1/2", [low, 5, 10, high])
    assert question == Quantile("1/2", [(low, 5), (5, 10), (10, high)])
    assert question == Quantile("1/2", [None, 5, 10, None], closed_ends=True)
    assert question.answers == ("< 5", "[5, 10)", "≥ 10")
    assert not question.closed_ends
    closed = Quantile("1/2", [low, 5, 10, high], closed_ends=True)
    given = {end for end in (low, high) if isinstance(end, int)}
    assert {closed.bins[0][0], closed.bins[-1][1]} - {None} == given
    assert closed.closed_ends == bool(given)
    assert from_description(closed.describe()) == closed
    assert limited(closed, 2).bins == closed.bins


def test_groups_say_which_records_count() -> None:
    assert Winner(["a", "b"]).groups == (("a", Equals("a")), ("b", Equals("b")))
    assert Threshold(1, "x", equals=3).groups == (("matching", Equals("3")),)
    assert Threshold(1, "x", equals=True).groups == (("matching", Equals("true")),)
    assert Threshold(1, "x", minimum=3).groups == (("matching", Between(3, None, closed=True)),)
    assert Quantile("1/2", [0, 1, 2]).groups[1] == ("≥ 1", Between(1, None))
    closed = Quantile("1/2", [0, 1, 2], closed_ends=True)
    assert closed.groups == (("[0, 1)", Between(0, 1)), ("[1, 2]", Between(1, 2, closed=True)))


def test_counts_may_be_numpy_integers() -> None:
    assert Winner(["a", "b"]).margins({"a": np.int64(3), "b": np.uint8(1)})["b"] == 2


REFUSED: list[tuple[Callable[[], object], str]] = [
    (
        lambda: Winner("red,green"),
        "answers must be a list of at least two different texts, got 'red,green'",
    ),
    (
        lambda: Winner(3),  # type: ignore[arg-type]
        "answers must be a list of at least two different texts, got 3",
    ),
    (
        lambda: Winner(["red"]),
        "answers must be a list of at least two different texts, got ['red']",
    ),
    (
        lambda: Winner(["red", ""]),
        "answers must be a list of at least two different texts, got '' among them",
    ),
    (
        lambda: Winner([1, 2]),  # type: ignore[list-item]
        "answers must be a list of at least two different texts, got 1 among them",
    ),
    (
        lambda: Winner(["red", "green", "red"]),
        "answers must be a list of at least two different texts, got 'red' twice: list it once",
    ),
    (lambda: Winner(["a", "b"], ""), "column must be the name of a column, got column=''"),
    (
        lambda: Winner(["a", "b"], person=3),  # type: ignore[arg-type]
        "person must be the name of a column, got person=3",
    ),
    (
        lambda: Winner(["a", "b"], neighbors="both"),
        "neighbors must be 'substituted' or 'added or removed', got neighbors='both'",
    ),
    (
        lambda: Winner(["a", "b"], rows_per_person=0),
        "rows_per_person must be a whole number of at least 1, got rows_per_person=0",
    ),
    (
        lambda: limited(Winner(["a", "b"]), 1.5),  # type: ignore[arg-type]
        "rows_per_person must be a whole number of at least 1, got rows_per_person=1.5",
    ),
    (
        lambda: Winner(["a", "b"]).margins({"a": -1}),
        "the count of 'a' must be a whole number of at least 0, got something else",
    ),
    (
        lambda: Winner(["a", "b"]).margins({"a": 1.0}),  # type: ignore[dict-item]
        "the count of 'a' must be a whole number of at least 0, got something else",
    ),
    (
        lambda: Winner(["a", "b"]).margins({"a": True}),
        "the count of 'a' must be a whole number of at least 0, got something else",
    ),
    (
        lambda: Winner(["a", "b"]).margins({"c": 1}),
        "counts must be of 'a', 'b', got another one: leave it out",
    ),
    (
        lambda: Winner(list("abcdefgh")).margins([1, 2]),  # type: ignore[arg-type]
        "counts must map each of 'a', 'b', 'c', 'd', 'e', 'f' and 2 more to a whole number, "
        "got list",
    ),
    (lambda: Threshold(0), "at_least must be a whole number of at least 1, got at_least=0"),
    (
        lambda: Threshold(1, answers=["a", "b", "c"]),
        "a threshold has two answers, first the one for enough records, got ['a', 'b', 'c']",
    ),
    (
        lambda: Threshold(1, "x"),
        "a threshold needs both a column and equals=, minimum= or maximum=, or neither where "
        "counts are given, got column='x' and none",
    ),
    (
        lambda: Threshold(1, minimum=3),
        "a threshold needs both a column and equals=, minimum= or maximum=, or neither where "
        "counts are given, got column=None and minimum",
    ),
    (
        lambda: Threshold(1, "x", equals="a", minimum=3),
        "equals= stands alone, got equals, minimum: leave out one or the other",
    ),
    (lambda: Threshold(1, "x", equals=""), "equals must be a value to match, got equals=''"),
    (
        lambda: Threshold(1, "x", minimum=3, maximum=2),
        "minimum must not be above maximum, got minimum=3 and maximum=2",
    ),
    (
        lambda: Threshold(1, "x", minimum=float("nan")),
        "minimum must be a finite number, got minimum=nan",
    ),
    (lambda: Quantile(1, [0, 1, 2]), "q must be strictly between 0 and 1, got q=1"),
    (lambda: Quantile("half", [0, 1, 2]), "q must be a finite number, got q='half'"),
    (
        lambda: Quantile("1/2", "0,1,2"),
        "bins must be rising edges or pairs (low, high), got bins='0,1,2'",
    ),
    (
        lambda: Quantile("1/2", [0, (0, 1)]),
        "bins must be rising edges or pairs (low, high), got both: [0, (0, 1)]",
    ),
    (
        lambda: Quantile("1/2", [0, 1]),
        "a quantile needs at least two bins, got bins=[0, 1]; "
        "to split at 5 and 10 write [None, 5, 10, None]",
    ),
    (
        lambda: Quantile("1/2", []),
        "a quantile needs at least two bins, got bins=[]; "
        "to split at 5 and 10 write [None, 5, 10, None]",
    ),
    (
        lambda: Quantile("1/2", [(0, 1, 2), (2, 3)]),
        "a bin must be a pair (low, high), got (0, 1, 2)",
    ),
    (lambda: Quantile("1/2", [0, 2, 2]), "a bin must have low < high, got [2, 2)"),
    (
        lambda: Quantile("1/2", [0, 1, float("-inf")]),
        "a bin edge must be a finite number, got -inf",
    ),
    (
        lambda: Quantile("1/2", [0, float("inf"), 1]),
        "a bin edge must be a finite number, got inf",
    ),
    (
        lambda: Quantile("1/2", [0, 1, "2024-01-01"]),
        "the ends of ranges must be all numbers, all dates or times, or all times with a time "
        "zone, got 1 and 2024-01-01",
    ),
    (
        lambda: Quantile("1/2", ["2024-01-01", "2024-01-02T00:00Z", None]),
        "the ends of ranges must be all numbers, all dates or times, or all times with a time "
        "zone, got 2024-01-01 and 2024-01-02 00:00Z",
    ),
    (
        lambda: Threshold(1, "x", minimum=1, maximum="2024-01-01"),
        "the ends of ranges must be all numbers, all dates or times, or all times with a time "
        "zone, got 1 and 2024-01-01",
    ),
    (
        lambda: Threshold(1, "x", minimum="2024-01-02", maximum="2024-01-01"),
        "minimum must not be above maximum, got minimum=2024-01-02 and maximum=2024-01-01",
    ),
    (
        lambda: Threshold(1, "x", minimum="2024-02-30"),
        "minimum must be a date or time such as 2024-12-31 or 2024-12-31T23:59Z, got '2024-02-30'",
    ),
    (
        lambda: Threshold(1, "x", minimum=np.datetime64("2024-01-01T00:00:00.000000001")),
        "minimum must be a time of the years 1 to 9999 in whole microseconds, got "
        f"{np.datetime64('2024-01-01T00:00:00.000000001')!r}",
    ),
    (
        lambda: Quantile("1/2", [0, 1, "1/2e"]),
        "a bin edge must be a finite number, got '1/2e'",
    ),
    (
        lambda: Quantile("1/2", [(0, 10), (5, 20)]),
        "bins must not overlap, got [0, 10) and [5, 20): let one begin where the other ends",
    ),
    (
        lambda: Quantile("1/2", [(0, None), (5, 20)]),
        "bins must not overlap, got ≥ 0 and [5, 20): let one begin where the other ends",
    ),
    (
        lambda: Quantile("1/2", [(10, 20), (0, 10)]),
        "bins must be listed in rising order, got [10, 20) and [0, 10)",
    ),
    (
        lambda: Quantile("1/2", [(0, 10), (11, 20)]),
        "bins must leave no gap, got [0, 10) and [11, 20): let one begin where the other ends",
    ),
    (
        lambda: from_description({"kind": "mean"}),
        "kind must be one of winner, ranking, share, threshold, quantile, quantiles, count, "
        "proportion-test, keys, got kind='mean'",
    ),
    (
        lambda: from_description({"kind": "winner", "answer": ["a", "b"]}),
        "a question of kind winner has no 'answer': it has answers, column, other, missing, ties, "
        "neighbors, person, rows_per_person, person_rule, where, apply, weight",
    ),
    (
        lambda: from_description(ADDED.describe()),
        "the function of the custom question 'lead' is not in its description; "
        "make the question again with rb.Custom",
    ),
    (
        lambda: dataclasses.replace(ADDED, function=None),  # type: ignore[arg-type]
        "function must be a function of a dataset, got None",
    ),
    (
        lambda: dataclasses.replace(ADDED, name=""),
        "name must be a text that stands for the function, got name=''",
    ),
    (
        lambda: dataclasses.replace(ADDED, groups=("ab",)),  # type: ignore[arg-type]
        "a group must be a name and an Equals or a Between, got ('a', 'b')",
    ),
    (
        lambda: dataclasses.replace(ADDED, groups=3),  # type: ignore[arg-type]
        "groups must be pairs of a name and an Equals or a Between, got 3",
    ),
    (
        lambda: dataclasses.replace(ADDED, groups=(("a", Equals("a")), ("a", Equals("b")))),
        "groups must have different names, got 'a' twice",
    ),
    (
        lambda: dataclasses.replace(ADDED, groups=(("a", Equals("a")), ("b", Equals("a")))),
        "the groups 'a' and 'b' overlap; no record may belong to two groups",
    ),
    (
        lambda: dataclasses.replace(
            ADDED, groups=(("a", Between(0, 1, closed=True)), ("b", Between(1, 2)))
        ),
        "the groups 'a' and 'b' overlap; no record may belong to two groups",
    ),
    (
        lambda: dataclasses.replace(ADDED, groups=(("a", Between(0, 1)), ("b", Equals("2")))),
        "groups must be all Equals or all Between, got both",
    ),
    (
        lambda: refute(Custom(["a", "b"], lead, neighbors="substituted", name="lead")),
        "a question without groups cannot be tested on random counts; give refute tables=, a "
        "function that returns a random pair of neighboring datasets",
    ),
    *(
        (
            lambda share=share: Share(share),
            f"a share must lie between 0 and 1, got at_least={share}: write 60 % as 0.6",
        )
        for share in (0, 1, 60, "-1/2")
    ),
    (
        lambda: Share("1/2", answers=["a", "b", "c"]),
        "a share has two answers, first the one for a share that is large enough, got "
        "['a', 'b', 'c']",
    ),
    (
        lambda: Share("1/2", "x"),
        "a share needs both a column and equals=, minimum= or maximum=, or neither where counts "
        "are given, got column='x' and none",
    ),
    (
        lambda: Winner(["red", "else", "green"], "x", other="else"),
        "answers must be a list of at least two different texts, got 'else' twice: list it once",
    ),
    (
        lambda: Winner([], "x", other="else"),
        "answers must be a list of at least a text, got []",
    ),
    (
        lambda: refute(ADDED, tries=0),
        "tries must be a whole number of at least 1, got tries=0",
    ),
]


@pytest.mark.parametrize(("make", "message"), REFUSED, ids=[message for _, message in REFUSED])
def test_what_makes_no_sense_is_refused_in_one_sentence(
    make: Callable[[], object], message: str
) -> None:
    with pytest.raises(InvalidQuestion) as caught:
        make()
    assert str(caught.value) == message


@pytest.mark.parametrize(
    "margins",
    [3, {"a": 0}, {"a": 0, "b": -1}, {"a": 0, "b": 1.5}, {"a": 0, "b": 0}, {"a": 1, "b": 1}],
)
def test_margins_of_the_wrong_shape_are_refused_without_showing_them(margins: Any) -> None:
    question = Custom(["a", "b"], lambda _: margins, neighbors="substituted", name="bad")
    with pytest.raises(InvalidQuestion, match="the function of 'bad' must return") as caught:
        question.margins(17)
    assert str(margins) not in str(caught.value)
    found = refute(question, lambda _: (1, 2), tries=1)
    assert found is not None
    assert "must return" in str(found)


def test_a_custom_question_counts_and_divides_like_the_others() -> None:
    assert ADDED.margins({"a": 9}) == {"a": 0, "b": 10}
    assert limited(ADDED, 4).margins({"a": 9}) == {"a": 0, "b": 3}
    assert isinstance(ADDED, Question)
    assert dataclasses.replace(ADDED, groups=(("a", Between(0, 1)), ("b", Between(1, 2)))).groups


@pytest.mark.parametrize(
    "question",
    [
        *DESCRIBED,
        ADDED,
        limited(ADDED, 3),
        Quantile("9/10", range(5), neighbors="added or removed"),
    ],
    ids=lambda q: type(q).__name__,
)
def test_right_margins_are_not_refuted(question: Any) -> None:
    assert refute(question, tries=500, seed=7) is None


def test_wrong_margins_are_refuted_with_a_counterexample() -> None:
    found = refute(SUBSTITUTED, seed=7)
    assert found is not None
    assert abs(found.margins["b"] - found.neighbor_margins["b"]) == 2
    assert str(found.dataset) in str(found)


def test_a_question_over_anything_is_refuted_on_the_callers_tables() -> None:
    def margins(numbers: tuple[int, ...]) -> dict[str, int]:
        total = sum(numbers)
        return {"high": max(0, 10 - total), "low": max(0, total - 9)}

    def tables(draw: random.Random) -> tuple[tuple[int, ...], tuple[int, ...]]:
        numbers = [draw.randint(0, 3) for _ in range(6)]
        other = [draw.randint(0, 3), *numbers[1:]]
        return tuple(numbers), tuple(other)

    question = Custom(["high", "low"], margins, neighbors="substituted", name="total")
    found = refute(question, tables, seed=3)
    assert found is not None
    assert "differ by at most 1" in found.reason
