"""A question of one's own: the library's numbers, and what is wrong said of its field."""

from __future__ import annotations

import contextlib
import io
import json
import pickle
import shlex
from typing import Any

import pytest
from typer.testing import CliRunner

import rainbowdp as rb
from rainbowdp.cli import app
from rainbowdp.studio import asking
from rainbowdp.studio.settings import Wrong

PROMISE = {"by": "epsilon", "epsilon": "1", "delta": "0"}
ASKED: dict[str, dict[str, Any]] = {
    "winner": {"options": ["red", "green"], "counts": [7, 5]},
    "share": {"at_least": "1/2", "counts": [9, 4]},
    "threshold": {"at_least": "10", "counts": [12]},
    "quantile": {"q": "1/2", "bins": ["0", "10", "20", "30"], "counts": [4, 9, 2]},
    "ranking": {"options": ["a", "b", "c"], "first": 2, "counts": [6, 4, 2]},
}
MADE: dict[str, Any] = {
    "winner": lambda: rb.Winner(["red", "green"]),
    "share": lambda: rb.Share("1/2", "answer", equals="yes"),
    "threshold": lambda: rb.Threshold(10, "answer", equals="yes"),
    "quantile": lambda: rb.Quantile("1/2", [0, 10, 20, 30], "answer"),
    "ranking": lambda: rb.Ranking(["a", "b", "c"], first=2),
}


def content(kind: str, **more: Any) -> dict[str, Any]:
    return {"kind": kind, **PROMISE, **ASKED[kind], **more}


@pytest.mark.parametrize("kind", asking.KINDS)
def test_what_is_told_is_what_the_library_says(kind: str) -> None:
    told = asking.answer(content(kind))
    assert json.loads(json.dumps(told, allow_nan=False)) == told
    question = MADE[kind]()
    mechanism = rb.best(question, rb.DP(1))
    names = [name for name, _ in question.groups]
    table = dict(zip(names, ASKED[kind]["counts"], strict=True))
    assert {each["answer"]: each["chance"] for each in told["chances"]} == mechanism[table]
    margins = question.margins(table)
    assert margins[told["truth"]] == 0
    assert told["margin"] == min(m for a, m in margins.items() if a != told["truth"])
    for each in told["by_margin"]:
        ((_, low, high),) = mechanism.by_margin([each["margin"]])
        assert (each["least"], each["most"]) == (low, high)
    assert told["proves"] == mechanism.proves().in_words()
    assert told["mechanism"] == mechanism.name


@pytest.mark.parametrize("kind", asking.KINDS)
@pytest.mark.parametrize("more", [{}, {"relation": "added or removed"}])
def test_the_python_and_the_command_do_the_same(kind: str, more: dict[str, Any]) -> None:
    if kind == "ranking" and more:
        more = {}
    told = asking.answer(content(kind, **more))
    found: dict[str, Any] = {}
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(told["python"], found)
    assert told["proves"] in printed.getvalue()
    assert found["mechanism"].name == told["mechanism"]
    program, *arguments = shlex.split(told["command"])
    assert program == "rainbow"
    arguments = arguments[: arguments.index("--ledger")]
    run = CliRunner().invoke(app, [*arguments, "--explain", "--json"])
    assert run.exit_code == 0, run.output
    explained = json.loads(run.output)
    assert explained["mechanism"] == told["mechanism"]
    question = found["question"].describe()
    assert explained["question"] == json.loads(json.dumps(question))


def test_ties_are_exported() -> None:
    told = asking.answer(content("winner", ties="any leader"))
    assert "ties='any leader'" in told["python"]
    assert "--ties 'any leader'" in told["command"]


def test_how_sure_gives_the_epsilon() -> None:
    wanted = content("winner", by="target", sure="0.99", margin=5)
    told = asking.answer(wanted)
    made = rb.plan(
        {"q": rb.Target(rb.Winner(["red", "green"]), sure="0.99", margin=5)}, currency="epsilon"
    )
    assert told["guarantee"] == str(made.guarantee)
    at_five = next(each for each in told["by_margin"] if each["margin"] == 5)
    assert at_five["least"] >= 0.99
    assert told["sure_from"] == 5


def test_answers_are_drawn_from_the_row() -> None:
    asked = content("winner", counts=[60, 0], draws=20)
    drawn = asking.draw(asked)
    assert [each["answer"] for each in drawn["answers"]] == ["red"] * 20
    assert drawn["tally"] == {"red": 20}
    wavering = content("winner", counts=[6, 6], draws=20, epsilon="0.1")
    seen = [each["answer"] for _ in range(15) for each in asking.draw(wavering)["answers"]]
    share = seen.count("red") / len(seen)  # 300 draws of 0.525: 7 standard deviations
    assert abs(share - 0.525) < 0.2
    assert "red" in asking.draw(content("winner", counts=[60, 0]))["proves"]


def test_the_file_loads_and_has_the_same_chances() -> None:
    from rainbowdp.rules.files import from_text

    loaded = from_text(asking.mechanism_file(content("winner")), "winner.json")
    chance = asking.answer(content("winner"))["chances"][0]["chance"]
    assert float(loaded[{"red": 7, "green": 5}]["red"]) == pytest.approx(chance, rel=1e-12)


def test_a_budget_is_divided_as_plan_does() -> None:
    given = [
        content("threshold", name="many", weight="2"),
        content("winner", name="who", by="target", sure="0.95", margin=9),
    ]
    told = asking.divide({"questions": given, "epsilon": "2"})
    made = rb.plan(
        {
            "many": rb.Target(rb.Threshold(10, "answer", equals="yes"), weight=2),
            "who": rb.Target(rb.Winner(["red", "green"], "answer"), sure="0.95", margin=9),
        },
        rb.DP(2),
    )
    assert told["way"] == made.way.name
    assert {each["name"]: each["buys"] for each in told["questions"]} == made.in_words()
    shown = {each["name"]: each["guarantee"] for each in told["questions"]}
    assert shown == {name: str(made[name].guarantee) for name in made.names}


@pytest.mark.parametrize(
    ("field", "change"),
    [
        ("kind", {"kind": "magic"}),
        ("kind", {"kind": ["winner"]}),
        ("options", {"options": ["red"]}),
        ("options", {"options": ["red", "red"]}),
        ("options", {"options": ["a,b", "c"]}),
        ("options", {"options": [1, 2]}),
        ("options", {"options": ["a" * 41, "c"]}),
        ("relation", {"relation": "moved"}),
        ("ties", {"ties": "nobody"}),
        ("counts", {"counts": [1]}),
        ("counts", {"counts": [-1, 2]}),
        ("counts", {"counts": [True, 2]}),
        ("counts", {"counts": [10**400, 2]}),
        ("epsilon", {"epsilon": "much"}),
        ("epsilon", {"epsilon": "-1"}),
        ("epsilon", {"epsilon": 1}),
        ("epsilon", {"delta": "2"}),
        ("sure", {"by": "target", "sure": "1", "margin": 5}),
        ("margin", {"by": "target", "sure": "0.9", "margin": 0}),
        ("at_least", {"kind": "share", "at_least": "2", "counts": [1, 2]}),
        ("at_least", {"kind": "threshold", "counts": [1]}),
        ("bins", {"kind": "quantile", "bins": ["0", "1"], "counts": [1]}),
        ("bins", {"kind": "quantile", "bins": ["3", "2", "1"], "counts": [1, 1]}),
        ("first", {"kind": "ranking", "first": 2}),
    ],
)
def test_what_is_wrong_is_said_of_its_field(field: str, change: dict[str, Any]) -> None:
    with pytest.raises(Wrong) as wrong:
        asking.answer({**content("winner"), **change})
    assert wrong.value.field == field
    assert len(str(wrong.value)) < 250
    again = pickle.loads(pickle.dumps(wrong.value))
    assert (again.field, str(again)) == (wrong.value.field, str(wrong.value))


@pytest.mark.parametrize(
    "given",
    [
        {"questions": []},
        {"questions": 3},
        {"questions": [3]},
        {"questions": [content("winner", name="a"), content("winner", name="a")]},
        {"questions": [content("winner", by="target", sure="0.999999", margin=1)], "epsilon": "1"},
    ],
)
def test_a_plan_that_cannot_be_is_refused(given: dict[str, Any]) -> None:
    with pytest.raises(Wrong) as wrong:
        asking.divide({"epsilon": "2", **given})
    assert wrong.value.field == "plan"


def test_too_many_draws_are_refused() -> None:
    for many in (0, 21, "1", True):
        with pytest.raises(Wrong, match="draws must be from 1 to 20"):
            asking.draw(content("winner", draws=many))
