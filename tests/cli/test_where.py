"""``--where`` and ``--apply``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from rainbowdp.cli import app


def run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, list(arguments))
    return result.exit_code, result.output


@pytest.fixture
def visits(tmp_path: Path) -> str:
    file = tmp_path / "visits.csv"
    lines = ["ward,age,visited", *["X,70,2024-03-01"] * 400, *["Y,30,2024-07-01"] * 900]
    file.write_text("\n".join(lines) + "\n")
    return str(file)


def test_an_answer_and_its_ledger_say_it(visits: str, tmp_path: Path) -> None:
    book = str(tmp_path / "budget.db")
    run("ledger", "create", book, "--dataset", "visits", "--epsilon", "9")
    asked = ("ask", "winner", visits, "--column", "ward", "--among", "X,Y", "--epsilon", "4")
    code, printed = run(*asked, "--where", "age > 65", "--ledger", book)
    assert code == 0
    assert "answer     X" in printed
    assert "counted    rows where age > 65" in printed
    code, printed = run(*asked, "--ledger", book, "--json", "--where", "65 < age", "--name", "old")
    assert json.loads(printed)["question"]["where"] == "age > 65"
    code, printed = run("ledger", "history", book, "--json")
    assert json.loads(printed)[0]["question"]["where"] == "age > 65"
    assert "where" in run("ledger", "history", book)[1]


def test_a_name_recalls_the_same_condition_alone(visits: str, tmp_path: Path) -> None:
    book = str(tmp_path / "budget.db")
    run("ledger", "create", book, "--dataset", "visits", "--epsilon", "9")
    asked = ("ask", "winner", visits, "--column", "ward", "--among", "X,Y", "--epsilon", "4")
    named = (*asked, "--ledger", book, "--name", "old")
    assert run(*named, "--where", "age > 65")[0] == 0
    assert "recalled" in run(*named, "--where", "not (age <= 65)")[1]
    code, printed = run(*named, "--where", "age >= 65")
    assert code != 0
    assert "old" in printed


def test_a_function_of_the_column(visits: str) -> None:
    asked = ("ask", "winner", visits, "--column", "visited", "--among", "3,7", "--epsilon", "9")
    code, printed = run(*asked, "--apply", "month", "--no-ledger")
    assert code == 0
    assert "answer     7" in printed
    code, printed = run(*asked, "--apply", "month", "--where", "ward = 'X'", "--explain")
    assert "counted  " in printed


def test_a_column_may_be_called_like_a_function(tmp_path: Path) -> None:
    file = tmp_path / "odd.csv"
    file.write_text("month(visited),visited\n" + "a,2024-01-01\n" * 9)
    asked = ("look", str(file), "--among", "a,b", "--column", "month(visited)", "--json")
    assert json.loads(run(*asked)[1])["matched"] == {"a": 9, "b": 0}
    code, printed = run("look", str(file), "--among", "1,2", "--column", "year(visited)")
    assert code != 0
    assert "name the column 'visited' and apply 'year' to it" in " ".join(printed.split())


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ("count(*) > 1", "aggregate count"),
        ("nobody = 1", "no column 'nobody'"),
        ("age = 1; drop table x", "several statements"),
    ],
)
def test_nothing_is_paid_for_a_condition_that_is_refused(
    visits: str, tmp_path: Path, where: str, said: str
) -> None:
    book = str(tmp_path / "budget.db")
    run("ledger", "create", book, "--dataset", "visits", "--epsilon", "9")
    asked = ("ask", "winner", visits, "--column", "ward", "--among", "X,Y", "--epsilon", "4")
    code, printed = run(*asked, "--ledger", book, "--where", where)
    assert code != 0
    assert said in " ".join(printed.split())
    assert "in 0 answers" in run("ledger", "balance", book)[1]
