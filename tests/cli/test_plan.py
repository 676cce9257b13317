"""``rainbow plan``, the project file, and where the ledger is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

import rainbowdp as rb
from rainbowdp.cli import app

PLAN = """
data = "votes.csv"

[[question]]
name = "vote"
kind = "winner"
column = "vote"
among = ["red", "green"]

[[question]]
name = "old"
kind = "threshold"
column = "age"
minimum = 50
at_least = 40
sure = 0.95
margin = 10
"""


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def told(*arguments: object) -> Any:
    result = run(*arguments, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.output)


def refused(*arguments: object, code: int) -> str:
    result = run(*arguments)
    assert result.exit_code == code, result.output
    (line,) = result.output.splitlines()
    return line


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a table and a plan, which is the current one."""
    rows = "".join(f"{'red' if n % 4 else 'green'},{n % 100}\n" for n in range(200))
    (tmp_path / "votes.csv").write_text("vote,age\n" + rows)
    (tmp_path / "plan.toml").write_text(PLAN)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RAINBOW_LEDGER", raising=False)
    return tmp_path


@pytest.fixture
def ledger(folder: Path) -> str:
    told("ledger", "create", "budget.db", "--dataset", "votes", "--epsilon", 30, "--delta", "1e-6")
    return str(folder / "budget.db")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("none.toml", "There is no file none.toml."),
        ("\ud800", "cannot be read as TOML: it is not a text file in UTF-8."),
        (".", "cannot be read as TOML: it is not a text file in UTF-8."),
    ],
)
def test_what_is_no_file_is_one_sentence(name: str, said: str) -> None:
    result = CliRunner().invoke(app, ["plan", name])
    assert result.exit_code == 3
    assert result.output.endswith(f"{said}\n")
    assert len(result.output.splitlines()) == 1


def test_a_plan_is_shown_and_nothing_is_spent(folder: Path, ledger: str) -> None:
    shown = run("plan", "plan.toml", "--epsilon", 2)
    assert shown.exit_code == 0
    assert "95.00 % sure at a margin of 10" in shown.output
    assert "paid by   epsilon (the ε add up)" in shown.output
    assert "nothing was spent" in shown.output
    said = told("plan", "plan.toml", "--epsilon", 2)
    assert said["total"] == {"kind": "dp", "epsilon": "2", "delta": "0"}
    assert [asked["name"] for asked in said["questions"]] == ["vote", "old"]
    assert told("ledger", "balance")["entries"] == 0


@pytest.mark.slow
def test_a_plan_of_what_is_left_is_run_in_one_entry(folder: Path, ledger: str) -> None:
    said = told("plan", "plan.toml", "--run", "--ledger", ledger, "--name", "all")
    assert said["answers"]["vote"] == "red"
    assert said["answers"]["old"] == "yes"
    assert said["entry"] == 1
    balance = told("ledger", "balance", ledger)
    assert balance["entries"] == 1
    again = told("plan", "plan.toml", "--run", "--ledger", ledger, "--name", "all", "--epsilon", 30)
    assert again["recalled"]
    history = run("ledger", "history", ledger).output
    assert "plan" in history
    assert run("plan", "plan.toml", "--run", "--no-ledger", "--epsilon", 30).exit_code == 0


def test_answers_as_text(folder: Path, ledger: str) -> None:
    shown = run("plan", "plan.toml", "--run", "--ledger", ledger, "--epsilon", 9).output
    assert "vote      red" in shown
    assert "together" in shown
    assert "left epsilon 21" in shown


def test_a_plan_says_which_total_it_needs(folder: Path) -> None:
    (folder / "plan.toml").write_text(
        PLAN.partition('[[question]]\nname = "old"')[0] + "sure = 0.99\nmargin = 5\n"
    )
    said = told("plan", "plan.toml", "--currency", "epsilon")
    assert said["total"]["epsilon"] == "8499/10000"


def test_a_plan_that_does_not_fit(folder: Path) -> None:
    line = refused("plan", "plan.toml", "--epsilon", "0.1", code=4)
    assert "leaves nothing" in line


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "needs questions"),
        ("[[question]\n", "cannot be read as TOML"),
        ("question = 3", "needs questions"),
        ("epsilon = 3\n[[question]]\nkind = 'winner'", "epsilon is part of the total"),
        ("nonsense = 3\n[[question]]\nkind = 'winner'", "no key 'nonsense'"),
        ("[[question]]\nkind = 'nonsense'", "question 1: kind must be one of"),
        ("[[question]]\nkind = 'winner'\nnonsense = 1", "has no key 'nonsense'"),
        ("[[question]]\nkind = 'winner'\ncolumn = 'x'", "among is missing"),
        ("[[question]]\nname = 'a'\nkind = 'winner'\ncolumn = 'x'\namong = ['y']", "question 'a'"),
        ("[[question]]\nkind = 'winner'\ncolumn = 'x'\namong = 3", "question 1"),
        ("total = 3\n[[question]]\nkind = 'keys'\ncolumn = 'x'", "total must be"),
        ("total = {mu = -1}\n[[question]]\nkind = 'keys'\ncolumn = 'x'", "total: mu must be"),
        ("rows_per_person = 'x'\n[[question]]\nkind = 'keys'", "must be a whole number"),
    ],
)
def test_a_bad_plan_is_one_sentence_with_file_and_key(
    folder: Path, text: str, message: str
) -> None:
    (folder / "plan.toml").write_text(text)
    line = refused("plan", "plan.toml", "--epsilon", 1, code=3)
    assert "plan.toml" in line
    assert message in line


def test_what_a_plan_needs_to_run(folder: Path, ledger: str) -> None:
    assert "Give --ledger" in refused("plan", "plan.toml", "--epsilon", 9, "--run", code=2)
    both = refused("plan", "plan.toml", "--ledger", ledger, "--no-ledger", code=2)
    assert "not both" in both
    text = PLAN.replace('data = "votes.csv"', "")
    (folder / "plan.toml").write_text(text)
    line = refused("plan", "plan.toml", "--epsilon", 9, "--run", "--no-ledger", code=2)
    assert "Which table?" in line


def test_all_kinds_of_questions_can_be_in_a_file(folder: Path) -> None:
    (folder / "plan.toml").write_text(
        """
        total = { epsilon = 60, delta = "1e-3" }
        data = "votes.csv"
        neighbors = "added or removed"
        [[question]]
        kind = "mode"
        column = "lower(vote)"
        among = ["red", "green"]
        where = "age > 3"
        [[question]]
        kind = "ranking"
        column = "vote"
        among = ["red", "green", "blue"]
        first = 2
        [[question]]
        kind = "share"
        column = "vote"
        equals = "red"
        at_least = 0.6
        [[question]]
        kind = "count"
        column = "age"
        minimum = 50
        by = "vote"
        groups = ["red", "green"]
        [[question]]
        kind = "quantile"
        column = "age"
        q = 0.5
        bins = [0, 20, 80, 100]
        weigh = { column = "age", limit = 100 }
        [[question]]
        kind = "quantiles"
        column = "age"
        q = [0.25, 0.75]
        bins = [0, 50, 100]
        [[question]]
        kind = "keys"
        column = "vote"
        """
    )
    said = told("plan", "plan.toml", "--run", "--no-ledger", "--currency", "epsilon and delta")
    assert said["answers"]["1"] == "red"
    assert said["answers"]["3"] == "yes"
    assert set(said["answers"]["4"]) == {"red", "green"}
    assert set(said["answers"]["7"]) <= {"red", "green"}


# the project file


def test_a_project_file_says_the_rest(folder: Path, ledger: str) -> None:
    (folder / "rainbow.toml").write_text(
        'data = "votes.csv"\nledger = "budget.db"\nepsilon = 0.5\nsource = "votes, frozen"\n'
    )
    inside = folder / "deep" / "below"
    inside.mkdir(parents=True)
    import os

    os.chdir(inside)  # the fixture's monkeypatch goes back
    said = told("ask", "winner", "--column", "vote", "--among", "red,green")
    assert said["guarantee"] == {"kind": "dp", "epsilon": "1/2", "delta": "0"}
    assert said["source"] == "votes, frozen"
    more = told("ask", "winner", "--column", "vote", "--among", "red,green", "--epsilon", 2)
    assert more["balance"]["spent"]["epsilon"] == "5/2"
    balance = run("ledger", "balance")
    assert "left at" in balance.output
    assert told("plan", folder / "plan.toml", "--epsilon", 9, "--run")["entry"] == 3


def test_the_environment_comes_before_the_project(
    folder: Path, ledger: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "rainbow.toml").write_text('ledger = "nowhere.db"\n')
    monkeypatch.setenv("RAINBOW_LEDGER", ledger)
    ask = ("ask", "winner", "votes.csv", "--column", "vote", "--among", "red,green")
    assert told(*ask, "--epsilon", 1)["entry"] == 1
    assert told("ledger", "balance")["entries"] == 1
    other = folder / "other.db"
    told("ledger", "create", other, "--dataset", "x", "--epsilon", 1)
    assert told("ledger", "balance", other)["entries"] == 0  # what is given comes first
    assert told(*ask, "--epsilon", 1, "--ledger", other)["entry"] == 1


def test_the_unit_of_a_project(folder: Path) -> None:
    (folder / "rainbow.toml").write_text(
        'data = "votes.csv"\nperson = "age"\nrows_per_person = 2\nneighbors = "added or removed"\n'
        "mu = 2\n"
    )
    said = told("ask", "winner", "--column", "vote", "--among", "red,green", "--no-ledger")
    assert said["unit"] == {"kind": "person", "column": "age"}
    assert said["question"]["rows_per_person"] == 2
    assert said["question"]["neighbors"] == "added or removed"
    assert said["guarantee"] == {"kind": "gaussian", "mu": "2"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("data = 3", "data must be a text"),
        ("nonsense = 3", "no key 'nonsense'"),
        ("epsilon = true", "epsilon must be a number"),
        ("rows_per_person = 1.5", "rows_per_person must be a whole number"),
        ("data = ", "cannot be read as TOML"),
    ],
)
def test_a_bad_project_file_is_one_sentence_with_file_and_key(
    folder: Path, text: str, message: str
) -> None:
    (folder / "rainbow.toml").write_text(text)
    line = refused("ask", "winner", "--column", "vote", "--among", "red,green", code=3)
    assert "rainbow.toml" in line
    assert message in line


def test_without_a_project_a_table_is_asked_for(folder: Path) -> None:
    line = refused(
        "ask", "winner", "--column", "vote", "--among", "a,b", "--epsilon", 1, "--no-ledger", code=2
    )
    assert "Which table?" in line


# what is left at a price


@pytest.mark.parametrize(
    ("budget", "at", "many"),
    [
        (["--epsilon", "3"], "0.1", 30),
        (["--mu", "1"], "0.1", 100),
        (["--rho", "1/2"], "1/200", 100),
        (["--rho", "1/2"], "mu 0.1", 100),
        (["--epsilon", "3"], "epsilon=0.5", 6),
    ],
)
def test_how_many_answers_are_left_at_a_price(
    folder: Path, budget: list[str], at: str, many: int
) -> None:
    told("ledger", "create", "b.db", "--dataset", "x", *budget)
    assert told("ledger", "balance", "b.db")["answers_left"] is None  # nothing was paid yet
    assert told("ledger", "balance", "b.db", "--at", at)["answers_left"]["answers"] == many
    shown = run("ledger", "balance", "b.db", "--at", at).output
    assert f"{many} more answers" in shown


def test_the_last_price_is_the_one(folder: Path, ledger: str) -> None:
    book = rb.Ledger.open(ledger)
    for epsilon in ("1", "0.5"):
        rb.ask(rb.best(rb.Threshold(3), rb.DP(epsilon)), {"matching": 9}, ledger=book)
    shown = run("ledger", "balance", ledger).output
    assert "epsilon 0.5, delta 0: 57 more answers" in shown
    assert "write 0.1" in refused("ledger", "balance", ledger, "--at", "much 0.1", code=5)
    assert "is none" in refused("ledger", "balance", ledger, "--at", "x", code=5)
