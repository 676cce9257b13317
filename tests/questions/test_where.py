"""The text of a condition: what is read, its canonical form, and what is refused, by name."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rainbowdp as rb
from rainbowdp.errors import InvalidFile, InvalidQuestion, RainbowError
from rainbowdp.questions import Between, Custom, Equals, from_description
from rainbowdp.questions.conditions import All, Below, Missing, Not, OneOf
from rainbowdp.questions.conditions import Any as Either
from rainbowdp.questions.functions import check_applied, undone
from rainbowdp.questions.where import LONGEST, canonical, condition_of
from tables.where_oracle import Tree, text
from tables.where_tables import TYPED, trees

SAME = {
    "age > 65": [
        "65 < age",
        "(age>65)",
        "NOT age <= 65",
        "age > 65.0 -- old",
        '"age" > 65',
        "age > 6.5e1",
    ],
    "ward = 'X'": ["ward in ('X')", "'X' = ward", "not not ward = 'X'", "ward in ('X', 'X')"],
    "ward <> 'X'": ["ward != 'X'", "not ward = 'X'", "ward not in ('X')"],
    "a = 1 and b = 2": [
        "b = 2 AND a = 1",
        "a = 1 and (b = 2 and a = 1)",
        "/* x */ a = 1\nand b = 2",
    ],
    "a = 1 or b is null": ["b IS NULL OR a = 1"],
    "x <= 3 and x >= 1": ["x between 1 and 3", "x >= 1 and 3 >= x"],
    "month(t) in (1, 2)": ["MONTH(t) IN (2, 1, 1.0)", 'month("t") in (2, 1)'],
    "d < '2024-01-01'": ["d < '2024-01-01T00:00'", "not d >= '2024-01-01 00:00:00'"],
    "t < '2024-01-01 00:00Z'": ["t < '2024-01-01T01:00+01:00'"],
}


@pytest.mark.parametrize("form", SAME)
def test_conditions_that_are_the_same_have_one_text(form: str) -> None:
    assert canonical(form) == form
    for other in SAME[form]:
        assert canonical(other) == form
        assert condition_of(other) == condition_of(form)


def test_what_a_condition_is_read_as() -> None:
    assert condition_of(None) is None
    assert condition_of("a = 1 and not (b < 2.5 or lower(c) is null)") == All(
        (
            OneOf("a", None, (1,)),
            Not(Either((Below("b", None, 2.5, False), Missing("c", "lower")))),
        )
    )
    assert condition_of('"it\'s ""x""" = \'it\'\'s\'') == OneOf('it\'s "x"', None, ("it's",))
    assert condition_of("x = 9007199254740993") == OneOf("x", None, (2**53 + 1,))
    assert condition_of("x > 1e300") == Not(Below("x", None, 10**300, True))


@settings(deadline=None, max_examples=60)
@given(trees(TYPED))
def test_the_canonical_text_is_read_as_itself(tree: Tree) -> None:
    form = canonical(text(tree))
    assert canonical(form) == form
    assert condition_of(form) == condition_of(text(tree))


@settings(deadline=None, max_examples=60)
@given(st.text(min_size=1, max_size=9), st.text(max_size=9))
def test_any_name_and_text_can_be_quoted(name: str, value: str) -> None:
    where = '"' + name.replace('"', '""') + "\" = '" + value.replace("'", "''") + "'"
    try:
        condition = condition_of(where)
    except InvalidQuestion:
        assert (
            "\0" in where
            or not where.isprintable()
            or any(0xD800 <= ord(c) < 0xE000 for c in where)
        )
        return
    assert condition == OneOf(name, None, (value,))
    assert condition_of(canonical(where)) == condition


REFUSED = {
    "": "must be a text",
    " ": "must be a text",
    "count(*) > 1": "the aggregate count",
    "x = 1 and max(x) = 2": "the aggregate max",
    "x in (select 1)": "a subquery",
    "x = (select max(x) from t)": "a subquery",
    "exists(select 1)": "a subquery",
    "sum(x) over () > 1": "a window function",
    "read_csv('x') = 1": "the function readcsv",
    "pg_sleep(9) = 1": "the function pg_sleep",
    "abs(x) = 1": "the function abs",
    "random() < 1": "the function rand",
    "x = current_date": "the function currentdate",
    "x=1; drop table y": "several statements",
    "x=1;": "several statements",
    "drop table x": "cannot be read",
    "x = 1 union select 1": "cannot be read",
    "x = 'abc": "cannot be read",
    "x = 1 and": "cannot be read",
    "`x` = 1": "cannot be read",
    "t.x = 1": "leave out what is before the dot",
    "a = b": "got another column, b",
    "month(t) = year(u)": "write the value itself",
    "x = null": "write is null",
    "x in (1, null)": "write is null",
    "x in (1, 'a')": "several types",
    "x in ()": "must list a value",
    "x is true": "use = for anything else",
    "x": "write x = true",
    "not x": "write x = true",
    "true": "must compare a column",
    "1 = 1": "must compare a column",
    "x = 1 or 'b'": "must compare a column",
    "1 < x < 5": "cannot compare a comparison",
    "x < 'abc'": "orders numbers, dates and times",
    "lower(x) < '2024-01-01'": "orders numbers, dates and times",
    "x < true": "cannot order truth values",
    "lower(x) = 1": "a text in quotes",
    "month(t) = '1'": "a number without quotes",
    "month(t) = 1.5": "use a whole number",
    "round(x, 2) = 1": "write round(column)",
    "lower(lower(x)) = 'a'": "write lower(column)",
    "x like 'a%'": "x LIKE 'a%'",
    "x + 1 = 2": "x + 1",
    "x = 1 y": "which it does not know",
    "x <=> 1": "which it does not know",
    "x is distinct from 1": "which it does not know",
    "x between symmetric 3 and 1": "which it does not know",
    "case when x = 1 then true end": "which it does not know",
    "(x, y) = (1, 2)": "which it does not know",
    "x = 'a' collate nocase": "which it does not know",
    "x = date '2024-01-01'": "no casts",
    "x::int = 1": "no casts",
    "x = :p": "the placeholder :p",
    "x = ?": "the placeholder ?",
    "x = 0.12345678901234567890123": "write it with fewer digits",
    "round(x) = 9007199254740993": "compare the column itself",
    "x = 1e400": "at most 300 digits",
    "x = 1e-999999999": "at most 300 digits",
    "x = '\0'": "without NUL",
    "x = '\ud800'": "without NUL",
    "(" * 5000 + "x = 1" + ")" * 5000: "deep",
    "not (y = 1 or " * 60 + "x = 1" + ")" * 60: "deep",
    " or ".join(f"x{i} = 1" for i in range(300)): "200 comparisons",
    f"x in ({', '.join(map(str, range(1001)))})": "1000 listed values",
    f"x = '{'a' * LONGEST}'": "characters",
    f"x in ({', '.join(f'{i}e299' for i in range(1, 99))})": "characters",
}


@pytest.mark.parametrize("where", REFUSED, ids=lambda where: where[:30])
def test_refused_in_one_sentence(where: str) -> None:
    with pytest.raises(InvalidQuestion) as caught:
        canonical(where)
    message = str(caught.value)
    assert REFUSED[where] in message
    assert "where" in message or "round" in message
    assert "\n" not in message
    assert len(message) < 400


@pytest.mark.parametrize("where", [3, b"x = 1", ["x"], {}, True])
def test_a_condition_is_a_text(where: Any) -> None:
    with pytest.raises(InvalidQuestion, match="must be a text"):
        rb.Winner(["a", "b"], "c", where=where)


QUESTIONS = [
    rb.Winner(["1", "2"], "t", apply="month", where="b = 1 and a = 2"),
    rb.Threshold(3, "x", minimum=2, apply="round", where="lower(s) <> 'it''s'"),
    rb.Quantile("1/2", [0, 1, 2], "x", apply="floor", where="d is not null"),
]


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: type(question).__name__)
def test_described_and_made_again(question: Any) -> None:
    described = json.loads(json.dumps(question.describe()))
    assert described["where"] == canonical(question.where)
    assert from_description(described) == question
    assert rb.Winner(["a", "b"], "c").describe()["where"] is None


def test_proofs_and_files_say_it(tmp_path: Any) -> None:
    mechanism = rb.best(rb.Winner(["a", "b"], "c", where="age>65"), rb.DP(1))
    assert mechanism.proof.scope.endswith("counting only records where age > 65")
    path = tmp_path / "m.json"
    mechanism.save(path)
    question = rb.load(path).question
    assert question is not None
    assert question["where"] == "age > 65"
    for forged in ("age>65", "count(*) > 1", "", 3, ["age > 65"]):
        content = json.loads(path.read_text())
        content["question"]["where"] = forged
        with pytest.raises(InvalidFile):
            _restored(content)


def _restored(content: dict[str, Any]) -> Any:
    from rainbowdp.rules.files import restore

    try:
        return restore(content)
    except InvalidFile:
        raise
    except RainbowError as error:
        raise InvalidFile(str(error)) from None


def test_functions_of_a_column() -> None:
    assert undone("floor", Equals("3")) == Between(3, 4)
    assert undone("round", Equals("-2")) == Between(-2.5, -1.5)
    assert undone("floor", Between(0.5, 2)) == Between(1, 2)
    assert undone("floor", Between(0.5, 2, closed=True)) == Between(1, 3)
    assert undone("round", Between(None, 2.5, closed=True)) == Between(None, 2.5)
    assert undone("month", Equals("3")) == Equals("3")
    check_applied(None, [("a", Equals("a"))])
    wrong: list[tuple[str, Any, str]] = [
        ("floor", Equals("a"), "must be a number"),
        ("month", Equals("2.5"), "list whole numbers"),
        ("floor", Equals("2.5"), "list whole numbers"),
        ("lower", Between(1, 2), "gives texts"),
        ("year", Between("2024-01-01", None), "gives numbers"),
    ]
    for function, rule, why in wrong:
        with pytest.raises(InvalidQuestion, match=why):
            check_applied(function, [("a", rule)])
    with pytest.raises(InvalidQuestion, match="apply must be one of year, month"):
        rb.Winner(["a", "b"], "c", apply="sqrt")
    with pytest.raises(InvalidQuestion, match="needs a column"):
        rb.Winner(["a", "b"], apply="lower")


def test_custom_questions_have_conditions() -> None:
    groups = [("a", Equals("a"))]
    question = Custom(
        ["yes", "no"],
        lambda counts: {"yes": 0, "no": 1},
        neighbors="substituted",
        name="one",
        column="c",
        groups=groups,
        where="b=1",
        apply="lower",
    )
    assert (question.describe()["where"], question.describe()["apply"]) == ("b = 1", "lower")


def test_nobody_loads_the_parser_without_a_condition() -> None:
    code = (
        "import sys, rainbowdp as rb; rb.Winner(['a', 'b'], 'c').describe(); "
        "assert 'sqlglot' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
