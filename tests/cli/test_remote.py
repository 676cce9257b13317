"""``rainbow ask``, ``plan`` and ``ledger`` with a service instead of data and a ledger."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

import rainbowdp as rb
from rainbowdp.cli import app
from rainbowdp.client.remote import Remote
from rainbowdp.ledger import Ledger
from service_server import listening
from services import TOKENS, make_app

WINNER = ["ask", "winner", "--column", "diagnosis", "--among", "flu,cold,fracture"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("service")
    (made / "token").write_text(TOKENS["ann"] + "\n")
    return made


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    with listening(make_app(folder, budget={"epsilon": "690", "delta": "1"})) as found:
        yield found


@pytest.fixture
def ledger(folder: Path, address: str) -> Ledger:
    return Ledger.open(folder / "visits.db")


@pytest.fixture
def service(address: str, folder: Path) -> list[str]:
    return ["--service", address, "--token-file", str(folder / "token"), "--dataset", "visits"]


@pytest.fixture(autouse=True)
def _nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for variable in ("RAINBOW_SERVICE", "RAINBOW_TOKEN_FILE", "RAINBOW_LEDGER"):
        monkeypatch.delenv(variable, raising=False)


def run(*arguments: str) -> Result:
    found = CliRunner().invoke(app, list(arguments))
    assert TOKENS["ann"] not in found.output
    return found


def said(*arguments: str) -> Any:
    found = run(*arguments, "--json")
    return json.loads(found.stdout)


def test_an_answer_for_people_and_for_programs(
    service: list[str], ledger: Ledger, address: str
) -> None:
    found = run(*WINNER, *service, "--epsilon", "5")
    assert found.exit_code == 0, found.output
    (entry,) = ledger.history(last=1)
    assert f"answer     {entry.answer}" in found.stdout
    assert f"service    {address}, visits: " in found.stdout
    assert " ε, 1 of 1 δ left\n" in found.stdout
    assert entry.head.short in found.stdout
    told = said(*WINNER, *service, "--epsilon", "0.5")
    (entry,) = ledger.history(last=1)
    assert told["answer"] == entry.answer
    assert told["entry"] == entry.number
    assert told["head"] == str(entry.head)
    assert told["question"] == entry.question
    assert told["guarantee"] == {"kind": "dp", "epsilon": "1/2", "delta": "0"}
    assert told["balance"]["left"] == ledger.balance().left.as_dict()
    assert told["proves"]["in_words"]
    assert told["proof"]


def test_the_json_has_the_names_of_a_local_answer(
    service: list[str], folder: Path, tmp_path: Path
) -> None:
    local = said(*WINNER, str(folder / "visits.csv"), "--epsilon", "1", "--no-ledger")
    there = said(*WINNER, *service, "--epsilon", "1")
    assert set(local) - {"source"} <= set(there)
    assert there["question"] == local["question"]
    assert there["unit"] == local["unit"]
    assert there["proves"].keys() == local["proves"].keys()


def test_a_named_answer_is_free(service: list[str], ledger: Ledger) -> None:
    asked = [*WINNER, *service, "--epsilon", "1", "--name", "illness"]
    first = said(*asked)
    paid = ledger.balance()
    again = said(*asked)
    assert again["recalled"]
    assert again["answer"] == first["answer"]
    assert ledger.balance() == paid
    assert "recalled, drawn" in run(*asked).stdout


def test_how_sure_it_has_to_be_is_turned_into_an_epsilon_here(
    service: list[str], ledger: Ledger
) -> None:
    two = ["ask", "winner", "--column", "diagnosis", "--among", "flu,cold"]
    wanted = [*two, *service, "--sure", "99%", "--margin", "5"]
    paid = ledger.balance().entries
    shown = run(*wanted, "--explain")
    assert "99 % sure at a margin of 5 records: ε = 0.8499 is enough" in shown.stdout
    assert said(*wanted, "--explain")["wanted"]["margin"] == 5
    assert ledger.balance().entries == paid
    told = said(*wanted)
    (entry,) = ledger.history(last=1)
    assert told["guarantee"] == {"kind": "dp", "epsilon": "8499/10000", "delta": "0"}
    assert entry.guarantee == rb.DP("0.8499")
    assert "ε = 0.8499 is enough" in run(*wanted).stdout


def test_groups_conditions_and_keys(service: list[str], ledger: Ledger) -> None:
    grouped = [*WINNER, "--by", "district", "--groups", "north,south"]
    found = run(*grouped, *service, "--epsilon", "9", "--where", "wait >= 10")
    assert found.exit_code == 0, found.output
    assert "north" in found.stdout
    assert ledger.history(last=1)[0].question["by"]["groups"] == ["north", "south"]
    keys = said(
        "ask", "keys", "--column", "diagnosis", *service, "--epsilon", "5", "--delta", "0.1"
    )
    assert set(keys["answer"]) <= {"flu", "cold", "fracture"}


def test_it_is_explained_for_nothing(service: list[str], ledger: Ledger) -> None:
    before = ledger.balance()
    found = run(*WINNER, *service, "--epsilon", "0.5", "--explain")
    assert found.exit_code == 0, found.output
    assert "left at this price" in found.stdout
    assert "nothing was spent" in found.stdout
    assert said(*WINNER, *service, "--epsilon", "0.5", "--explain")["cost"]["epsilon"] == "1/2"
    assert ledger.balance() == before


def test_the_service_is_said_once(
    address: str, folder: Path, ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = folder / "token"
    (tmp_path / "rainbow.toml").write_text(
        f'service = "{address}"\ntoken_file = "{token}"\ndataset = "visits"\nepsilon = 1\n'
    )
    assert run(*WINNER).exit_code == 0
    local = run(*WINNER, str(folder / "visits.csv"), "--no-ledger")  # the command comes first
    assert "not recorded anywhere" in local.stdout
    (tmp_path / "rainbow.toml").unlink()
    monkeypatch.setenv("RAINBOW_SERVICE", address)
    monkeypatch.setenv("RAINBOW_TOKEN_FILE", str(token))
    before = ledger.balance().entries
    assert run(*WINNER, "--dataset", "visits", "--epsilon", "1").exit_code == 0
    assert ledger.balance().entries == before + 1
    which = run(*WINNER, "--epsilon", "1")
    assert which.exit_code == 2
    assert "There are visits" in which.output
    (tmp_path / "rainbow.toml").write_text(f'service = "{address}"\nledger = "budget.db"\n')
    both = run(*WINNER, "--dataset", "visits", "--epsilon", "1")
    assert "both a service and ledger" in both.output


@pytest.mark.parametrize(
    ("more", "code", "message"),
    [
        (["--epsilon", "1", "--ledger", "x.db"], 2, "Leave out --ledger"),
        (["--epsilon", "1", "--no-ledger"], 2, "Leave out --no-ledger"),
        (["--epsilon", "1", "--records", "5"], 2, "Leave out --records"),
        (["--epsilon", "1", "--mechanism", "exponential"], 2, "Leave out --mechanism"),
        (["--epsilon", "1", "--person", "who"], 2, "Leave out --person"),
        (["--epsilon", "1", "--name", "two words"], 2, "names of up to 128"),
        (["--epsilon", "1", "--where", "age > 3"], 2, "age"),
        (["--epsilon", "700"], 4, "left"),
        (["--mu", "1"], 5, "cannot pay"),
    ],
)
def test_what_is_refused(service: list[str], more: list[str], code: int, message: str) -> None:
    found = run(*WINNER, *service, *more)
    assert found.exit_code == code, found.output
    assert message in " ".join(found.output.split())


def test_trouble_with_the_service_has_its_own_code(
    service: list[str], folder: Path, tmp_path: Path
) -> None:
    asked = [*WINNER, "--epsilon", "1", "--dataset", "visits"]
    wrong = tmp_path / "wrong"
    wrong.write_text("rb_nobody")
    found = run(*asked, *service[:2], "--token-file", str(wrong), "--json")
    assert found.exit_code == 7
    assert json.loads(found.stdout)["error"]["kind"] == "service"
    assert run(*asked, *service[:2], "--token-file", str(tmp_path / "no")).exit_code == 7
    assert run(*asked, *service[:2]).exit_code == 2  # no token at all
    open_ = run(*asked, "--service", "http://answers.example.org", "--token-file", str(wrong))
    assert open_.exit_code == 7
    assert "in the open" in open_.output


def test_a_plan_is_shown_and_run(service: list[str], ledger: Ledger, tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text(
        """
[[question]]
name = "illness"
kind = "winner"
column = "diagnosis"
among = ["flu", "cold", "fracture"]

[[question]]
name = "waits"
kind = "quantile"
column = "wait"
q = "0.5"
bins = [0, 10, 20, 40]
"""
    )
    before = ledger.balance()
    shown = run("plan", str(plan), *service, "--epsilon", "4")
    assert shown.exit_code == 0, shown.output
    assert "illness" in shown.stdout
    assert "nothing was spent" in shown.stdout
    assert [one["name"] for one in said("plan", str(plan), *service, "--epsilon", "4")["questions"]]
    assert ledger.balance() == before
    answers = said("plan", str(plan), *service, "--epsilon", "4", "--run", "--name", "both")
    assert set(answers["answers"]) == {"illness", "waits"}
    assert ledger.balance().entries == before.entries + 1
    again = run("plan", str(plan), *service, "--epsilon", "4", "--run", "--name", "both")
    assert "illness proves" in again.stdout
    assert ledger.balance().entries == before.entries + 1


def test_balance_and_history(service: list[str], ledger: Ledger) -> None:
    run(*WINNER, *service, "--epsilon", "1")
    found = ledger.balance()
    shown = run("ledger", "balance", *service)
    assert f"left     {found.left}" in shown.stdout
    assert said("ledger", "balance", *service)["entries"] == found.entries
    listed = said("ledger", "history", *service, "--last", "1")
    assert listed[0]["head"] == str(ledger.history(last=1)[0].head)
    told = run("ledger", "history", *service, "--last", "1").stdout
    assert "Which of flu, cold and fracture" in told


def test_an_interrupted_question_is_asked_again_by_its_key(
    service: list[str], ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = [*WINNER, *service, "--epsilon", "0.5"]
    answer = Remote.ask_json

    def cut(*given: Any, **options: Any) -> Any:
        answer(*given, **options)
        raise KeyboardInterrupt

    before = ledger.balance().entries
    with monkeypatch.context() as patch:
        patch.setattr(Remote, "ask_json", cut)
        found = run(*asked)
    assert found.exit_code == 130
    key = re.search(r"Ask it again with --name ([0-9a-f-]{36}): then it is paid once", found.output)
    assert key is not None, found.output
    assert said(*asked, "--name", key[1])["recalled"]
    assert ledger.balance().entries == before + 1


def test_waiting_for_a_curator_has_its_own_code(tmp_path: Path) -> None:
    (tmp_path / "token").write_text(TOKENS["ann"])
    with listening(make_app(tmp_path, dataset={"approval": True})) as address:
        there = ["--service", address, "--token-file", "token", "--dataset", "visits"]
        found = run(*WINNER, *there, "--epsilon", "1", "--json")
    assert found.exit_code == 8
    error = json.loads(found.stdout)["error"]
    assert error["kind"] == "waiting"
    assert "nothing is paid before" in error["message"]
