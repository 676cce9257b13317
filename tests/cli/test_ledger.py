"""``rainbow ledger``, and what ``rainbow ask`` says of it: units, datasets, sources, recall."""

from __future__ import annotations

import json
import re
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

import rainbowdp as rb
from rainbowdp.cli import app

WINNER = ["--column", "ward", "--among", "north,south", "--epsilon", "1"]


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def told(*arguments: object) -> Any:
    """What a command that succeeds says in JSON."""
    result = run(*arguments, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.output)


def refused(*arguments: object, code: int = 5) -> str:
    """The one line that a command that fails says."""
    result = run(*arguments)
    assert result.exit_code == code, result.output
    (line,) = result.output.splitlines()
    return line


@pytest.fixture
def budget(tmp_path: Path) -> str:
    place = str(tmp_path / "budget.db")
    told("ledger", "create", place, "--dataset", "ward-visits-2026", "--epsilon", "3")
    return place


@pytest.fixture
def hospitals(tmp_path: Path) -> list[Path]:
    """Two hospitals with a file of the same name; in one everybody is in the north."""
    folders = []
    for hospital, ward in (("a", "north"), ("b", "south")):
        folder = tmp_path / hospital
        folder.mkdir()
        rows = [f"{number},{ward}\n" for number in range(100)]
        (folder / "visits.csv").write_text("patient,ward\n" + "".join(rows))
        folders.append(folder)
    return folders


# creating


def test_a_ledger_shows_what_it_is_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    made = run(
        *("ledger", "create", "--dataset", "ward-visits-2026", "--person", "patient"),
        *("--epsilon", "0.7", "--delta", "1e-6", "--neighbors", "added or removed"),
    )
    assert made.output.splitlines() == [
        "ledger     budget.db",
        "dataset    ward-visits-2026",
        "unit       one person (column 'patient')",
        "neighbors  added or removed",
        "total      epsilon 0.7, delta 0.000001",
        "spent      epsilon 0, delta 0, in 0 answers",
        "left       epsilon 0.7, delta 0.000001",
    ]
    assert run("ledger", "balance").output == made.output


@pytest.mark.parametrize(
    ("options", "unit"),
    [
        ([], {"kind": "record"}),
        (["--person", "patient"], {"kind": "person", "column": "patient"}),
        (["--rows-per-person", "3"], {"kind": "promise", "rows_per_person": 3}),
    ],
    ids=["record", "person", "promise"],
)
def test_each_unit_can_be_chosen(tmp_path: Path, options: list[str], unit: Any) -> None:
    place = tmp_path / "budget.db"
    made = told("ledger", "create", place, "--dataset", "visits", "--mu", "1", *options)
    assert made["unit"] == unit
    assert (made["dataset"], made["sources"]) == ("visits", [])


def test_a_dataset_must_be_named(tmp_path: Path) -> None:
    assert refused("ledger", "create", tmp_path / "budget.db", "--epsilon", "1") == (
        "rainbow: A ledger is for one dataset, whose people its budget protects. Name it, as in "
        "--dataset ward-visits-2026."
    )
    assert list(tmp_path.iterdir()) == []


def test_a_person_column_and_a_promise_exclude_each_other(tmp_path: Path) -> None:
    both = ["--person", "patient", "--rows-per-person", "2"]
    said = refused(
        "ledger", "create", tmp_path / "b.db", "--dataset", "d", "--epsilon", 1, *both, code=2
    )
    assert "Leave out rows_per_person" in said
    assert list(tmp_path.iterdir()) == []


# a budget in rho


def test_a_budget_in_rho_pays_for_all_three(tmp_path: Path, hospitals: list[Path]) -> None:
    place, table = tmp_path / "budget.db", hospitals[0] / "visits.csv"
    made = told("ledger", "create", place, "--dataset", "visits", "--rho", "1")
    assert (made["kind"], made["total"]) == (
        "zero-concentrated",
        {"rho": "1", "delta": "0"},
    )
    asked = ("ask", "winner", table, "--column", "ward", "--among", "north,south,west")
    answer = told(*asked, "--rho", "1/8", "--ledger", place)
    assert answer["answer"] == "north"
    assert answer["mechanism"] == "exponential"
    assert answer["guarantee"] == {"kind": "zero-concentrated", "rho": "1/8"}
    told(*asked, "--mu", "1", "--ledger", place)
    told(*asked, "--epsilon", "1/2", "--ledger", place)
    said = refused(*asked, "--epsilon", "1/2", "--delta", "1e-9", "--ledger", place, code=4)
    assert "costs δ = 1e-9, but" in said
    assert "has δ = 0 left. Ask without delta" in said
    said = refused(*asked, "--epsilon", "1", "--ledger", place, code=4)
    assert "Use a smaller epsilon" in said
    assert len(told("ledger", "history", place)) == 3
    assert "left       rho ≈0.25254" in run("ledger", "balance", place).output


@pytest.mark.parametrize(
    "question",
    [
        ["threshold", "visits.csv", "--at-least", "3", "--column", "ward", "--equals", "north"],
        ["winner", "visits.csv", "--column", "ward", "--among", "north,south"],
    ],
    ids=lambda question: question[0],
)
def test_rho_is_explained(question: list[str]) -> None:
    said = run("ask", *question, "--rho", "1/2", "--explain")
    assert said.exit_code == 0, said.output
    assert "mechanism  exponential, proved exactly" in said.output
    assert "0.5-zCDP, one record substituted" in said.output
    assert "at most 74 % of the time" in said.output


# units


@pytest.mark.parametrize(
    ("kept", "asked"),
    [
        ([], ["--person", "patient"]),
        ([], ["--rows-per-person", "2"]),
        (["--person", "patient"], []),
        (["--person", "patient"], ["--person", "ward"]),
        (["--rows-per-person", "3"], ["--rows-per-person", "2"]),
        (["--rows-per-person", "3"], ["--person", "patient", "--rows-per-person", "3"]),
    ],
    ids=" ".join,
)
def test_a_question_of_another_unit_is_refused(
    tmp_path: Path, hospitals: list[Path], kept: list[str], asked: list[str]
) -> None:
    place, table = tmp_path / "budget.db", hospitals[0] / "visits.csv"
    told("ledger", "create", place, "--dataset", "visits", "--epsilon", "3", *kept)
    told("ask", "winner", table, *WINNER, *kept, "--ledger", place)
    said = refused("ask", "winner", table, *WINNER, *asked, "--ledger", place)
    unit, other = (
        re.escape(str(rb.Ledger.open(place).unit)),
        "one (record|person [^,]*) substituted",
    )
    pattern = f"rainbow: This question protects {other}, but .* is for {unit} substituted, and "
    assert re.match(pattern, said)
    assert told("ledger", "balance", place)["spent"]["epsilon"] == "1"


def test_different_limits_of_one_person_column_share_a_ledger(
    tmp_path: Path, hospitals: list[Path]
) -> None:
    place, table = tmp_path / "budget.db", hospitals[0] / "visits.csv"
    told("ledger", "create", place, "--dataset", "d", "--epsilon", "3", "--person", "patient")
    for limit in (1, 2, 5):
        options = ["--person", "patient", "--rows-per-person", limit, "--ledger", place]
        answer = told("ask", "winner", table, *WINNER, *options)
        assert answer["unit"] == {"kind": "person", "column": "patient"}
    history = told("ledger", "history", place)
    assert [entry["question"]["rows_per_person"] for entry in history] == [1, 2, 5]
    assert told("ledger", "balance", place)["left"]["epsilon"] == "0"


# sources and recall


def test_hospital_b_is_not_told_the_answer_of_hospital_a(
    budget: str, hospitals: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = ["ask", "winner", "visits.csv", *WINNER, "--ledger", budget, "--name", "busiest"]
    monkeypatch.chdir(hospitals[0])
    assert told(*asked)["answer"] == "north"
    monkeypatch.chdir(hospitals[1])
    said = refused(*asked)
    for hospital in hospitals:
        assert repr(str(hospital / "visits.csv")) in said
    assert "north" not in said
    assert told("ledger", "balance", budget)["spent"]["epsilon"] == "1"
    assert told(*asked[:-1], "busiest in b")["answer"] == "south"
    monkeypatch.chdir(hospitals[0].parent)
    again = told(*asked[:2], "a/visits.csv", *asked[3:])
    assert (again["answer"], again["recalled"]) == ("north", True)
    assert told("ledger", "balance", budget)["spent"]["epsilon"] == "2"


def test_a_second_source_is_shown(budget: str, hospitals: list[Path]) -> None:
    files = [str(hospital / "visits.csv") for hospital in hospitals]
    for file in files:
        run("ask", "winner", file, *WINNER, "--ledger", budget)
    lines = run("ledger", "balance", budget).output.splitlines()
    assert lines[-4] == "spent      epsilon 2, delta 0, in 2 answers"
    assert lines[-1] == f"sources    {files[0]}; {files[1]}"
    assert told("ledger", "balance", budget)["sources"] == files
    assert [entry["source"] for entry in told("ledger", "history", budget)] == files


def test_one_answer_is_one_answer(budget: str, hospitals: list[Path]) -> None:
    run("ask", "winner", hospitals[0] / "visits.csv", *WINNER, "--ledger", budget)
    assert "in 1 answer\n" in run("ledger", "balance", budget).output


def test_a_recalled_answer_says_when_and_by_what_it_was_drawn(
    budget: str, hospitals: list[Path]
) -> None:
    asked = ["ask", "winner", hospitals[0] / "visits.csv", *WINNER, "--ledger", budget]
    named = [*asked, "--name", "busiest"]
    first = told(*named)
    assert (first["recalled"], first["mechanism"]) == (False, "homogeneous")
    moment = rb.Ledger.open(budget).history()[0].time
    drawn = f"{moment[:10]} {moment[11:16]} UTC"
    shown = run(*named, "--mechanism", "permute-and-flip").output.splitlines()
    assert shown[3] == "mechanism  homogeneous, which drew the recorded answer"
    assert shown[4].startswith("proves     with 95 % confidence: ")
    assert shown[5] == f"head       {rb.Ledger.open(budget).head().short}"
    assert shown[6] == (
        f"ledger     {budget}: recalled, drawn {drawn}, nothing spent; 2 of 3 ε left"
    )
    again = told(*named, "--mechanism", "permute-and-flip")
    assert (again["recalled"], again["mechanism"], again["drawn"]) == (True, "homogeneous", moment)
    assert again["proof"] is None
    assert run(*named).output.splitlines()[3].startswith("mechanism  homogeneous, optimal")


def test_a_file_that_moved_is_the_same_source_if_its_owner_says_so(
    budget: str, hospitals: list[Path]
) -> None:
    named = [*WINNER, "--ledger", budget, "--name", "busiest"]
    old, new = hospitals[0] / "visits.csv", hospitals[0] / "archive.csv"
    told("ask", "winner", old, *named)
    old.rename(new)
    assert f"give source={str(old)!r}" in refused("ask", "winner", new, *named)
    assert told("ask", "winner", new, *named, "--source", old)["recalled"]


def test_history_shows_the_unit_and_numbers_the_sources(budget: str, hospitals: list[Path]) -> None:
    for hospital in (*hospitals, hospitals[0]):
        run("ask", "winner", hospital / "visits.csv", *WINNER, "--ledger", budget)
    lines = run("ledger", "history", budget).output.splitlines()
    assert lines[:6] == [
        f"ledger     {budget}",
        "dataset    ward-visits-2026",
        "unit       one record",
        "neighbors  substituted",
        f"source 1   {hospitals[0] / 'visits.csv'}",
        f"source 2   {hospitals[1] / 'visits.csv'}",
    ]
    rows = re.findall(r"^   (\d)  2.* of source (\d)$", "\n".join(lines), re.MULTILINE)
    assert rows == [("1", "1"), ("2", "2"), ("3", "1")]


def test_an_entry_in_json_carries_unit_dataset_and_source(
    budget: str, hospitals: list[Path]
) -> None:
    file = hospitals[0] / "visits.csv"
    answer = told("ask", "winner", file, *WINNER, "--ledger", budget)
    (entry,) = told("ledger", "history", budget)
    for key, value in {
        "unit": {"kind": "record"},
        "dataset": "ward-visits-2026",
        "source": str(file),
        "neighbors": "substituted",
        "mechanism": {
            "kind": "homogeneous",
            "proves": {
                "confidence": "19/20",
                "within": 2,
                "short": "changes",
                "unit": "records",
                "evidence": None,
            },
        },
    }.items():
        assert entry[key] == value
    assert answer["source"] == str(file)
    assert answer["balance"]["dataset"] == "ward-visits-2026"


@pytest.mark.parametrize("as_json", [False, True])
def test_an_answer_is_shown_even_if_the_balance_cannot_be_read(
    budget: str, hospitals: list[Path], monkeypatch: pytest.MonkeyPatch, as_json: bool
) -> None:
    """A lock that comes after the answer was recorded must not hide it."""
    record, balance = rb.Ledger.record, rb.Ledger.balance
    locked: list[bool] = []

    def recorded(ledger: rb.Ledger, *arguments: Any) -> Any:
        locked.append(True)
        return record(ledger, *arguments)

    def looked(ledger: rb.Ledger) -> Any:
        if locked:
            raise rb.LedgerError("It is locked.")
        return balance(ledger)

    monkeypatch.setattr(rb.Ledger, "record", recorded)
    monkeypatch.setattr(rb.Ledger, "balance", looked)
    asked = ["ask", "winner", hospitals[0] / "visits.csv", *WINNER, "--ledger", budget]
    if as_json:
        said = told(*asked)
        assert (said["answer"], said["balance"]) == ("north", None)
        assert said["balance_unknown"] == "It is locked."
        return
    done = run(*asked)
    assert done.exit_code == 0
    assert done.output.startswith("answer     north\n")
    unknown = "recorded as entry 1, but what is left is unknown now: It is locked."
    assert f"ledger     {unknown}" in done.output


def test_heads_are_kept_and_compared(budget: str, tmp_path: Path) -> None:
    kept = run("ledger", "head", budget).output.strip()
    assert told("ledger", "head", budget)["head"] == kept
    run("ledger", "note", budget, "hello")
    witness = tmp_path / "heads.txt"
    assert told("ledger", "verify", budget, "--head", kept, "--witness", witness)["records"] == 2
    assert witness.read_text().startswith("2:")
    said = refused("ledger", "verify", budget, "--head", f"1:{'0' * 16}")
    assert "is not in the past of" in said


def test_an_old_ledger_is_migrated(tmp_path: Path) -> None:
    place = tmp_path / "old.db"
    script = Path(__file__).parents[1] / "ledger" / "old" / "version-3-dp.sql"
    database = sqlite3.connect(place)
    database.executescript(script.read_text())
    database.close()
    assert "rainbow ledger migrate" in refused("ledger", "balance", place)
    assert told("ledger", "migrate", place)["entries"] == 3
    assert len(told("ledger", "history", place, "--last", "2")) == 2
