"""``rainbow ledger`` as a data protection officer uses it: history, decisions, reports, exports."""

from __future__ import annotations

import csv
import json
import os
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner, Result

import rainbowdp as rb
from officers import WINNER, eventful, paid
from rainbowdp.cli import app

SIGNED = ["--signed-by", "A. Officer", "--reason", "The second wave"]


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def told(*arguments: object) -> Any:
    result = run(*arguments, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.output)


def refused(*arguments: object, code: int = 5) -> str:
    result = run(*arguments)
    assert result.exit_code == code, result.output
    (line,) = result.output.splitlines()
    return line.removeprefix("rainbow: ")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    eventful(tmp_path)
    return tmp_path / "budget.db"


@pytest.fixture
def fresh(tmp_path: Path) -> Path:
    rb.Ledger.create(tmp_path / "fresh.db", dataset="town", epsilon=3, delta="1e-6", by="ann")
    return tmp_path / "fresh.db"


# history


def test_history_is_readable_at_eighty_columns(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    shown = run("ledger", "history", place).output
    past_facts = shown.split("\n\n", 1)[1]
    assert max(map(len, past_facts.splitlines())) <= 80
    assert "δ 0.000001" in shown
    assert not re.search(r"δ\s*\n", shown)
    assert "69/10" not in shown
    assert "1/1000000" not in shown
    block = next(part for part in shown.split("\n\n") if part.startswith("   1  "))
    first, *rest = block.splitlines()
    assert re.fullmatch(r"   1  20\S+ \S+ UTC, by ann, named busiest, of source 1", first)
    assert rest[0] == (
        "      Which of red and green is most frequent in column choice, where age > 65?"
    )
    assert rest[1] == "      answer  red"
    assert rest[2] == "      cost    ε 0.1, δ 0; left: ε 6.8, δ 0.000001"
    assert rest[-1].startswith("      note    Published in May. (dpo, 2")


def test_history_tells_decisions_in_their_place(place: Path) -> None:
    shown = run("ledger", "history", place).output
    parts = [part.splitlines()[1].strip() for part in shown.split("\n\n")[1:]]
    assert parts[0] == "Created the ledger with a budget of ε 6.9, δ 0.000001."
    assert "Extended the budget by ε 1.25, δ 1e-7." in parts
    assert parts[-1] == "Closed the ledger."
    assert "      reason  The survey is over" in shown


@pytest.mark.parametrize("last", [0, 1, 2, 9])
def test_the_last_entries(place: Path, last: int) -> None:
    every = told("ledger", "history", place)
    assert told("ledger", "history", place, "--last", last) == every[len(every) - min(last, 4) :]
    shown = run("ledger", "history", place, "--last", last).output
    assert len(re.findall("^   [0-9]  ", shown, re.MULTILINE)) == min(last, 4)


def test_an_entry_in_json_has_words_notes_and_what_was_left(place: Path) -> None:
    first, _, third, _ = told("ledger", "history", place)
    assert first["words"] == rb.Ledger.open(place).history()[0].words
    assert third["words"] == "mean: bounds 0 and 100, column age"
    assert [note["by"] for note in first["notes"]] == ["dpo", "dpo"]
    assert first["left"] == {"epsilon": "34/5", "delta": "1/1000000"}


def test_words_of_others_cannot_steer_a_terminal(tmp_path: Path) -> None:
    ledger = rb.Ledger.create(tmp_path / "budget.db", dataset="d", epsilon=3)
    question = {"kind": "x", "column": "\x1b[2J"}
    ledger.spend(
        rb.DP(1),
        question=question,
        unit=ledger.unit,
        neighbors=ledger.neighbors,
        words="clear \x1b[2J it",
    )
    shown = run("ledger", "history", tmp_path / "budget.db").output
    assert "\x1b" not in shown
    assert "clear \\x1b[2J it" in shown


# decisions


def test_an_extension_says_what_came_of_it(fresh: Path) -> None:
    lines = run("ledger", "extend", fresh, "--epsilon", "0.5", *SIGNED, "--by", "ann").output
    *shown, head = lines.splitlines()
    assert shown == [
        "Extended the budget by ε 0.5.",
        "by      A. Officer, entered by ann",
        "reason  The second wave",
        "total   epsilon 3.5, delta 0.000001",
        "spent   epsilon 0, delta 0",
        "left    epsilon 3.5, delta 0.000001",
    ]
    assert re.fullmatch("head    2:[0-9a-f]{16}", head)


@pytest.mark.parametrize(
    ("command", "says"),
    [
        (["extend", *SIGNED], "Say how much to add, in epsilon and delta."),
        (["renew", *SIGNED], "Say how much is to be left, in epsilon and delta."),
        (["extend", "--epsilon", "-1", *SIGNED], "An amount must be above 0, got -1."),
        (["extend", "--rho", "1", *SIGNED], "rho cannot be mixed with it"),
        (
            ["extend", "--epsilon", "1", "--signed-by", " ", "--reason", "x"],
            "The signature must be printable text, got ' '.",
        ),
        (
            ["extend", "--epsilon", "1", "--signed-by", "A", "--reason", ""],
            "The reason must be printable text, got ''.",
        ),
    ],
    ids=lambda value: str(value)[:40],
)
def test_what_cannot_be_signed_changes_nothing(fresh: Path, command: list[str], says: str) -> None:
    before = rb.Ledger.open(fresh).head()
    first, *options = command
    assert says in refused("ledger", first, fresh, *options)
    assert rb.Ledger.open(fresh).head() == before


@pytest.mark.parametrize("missing", ["--signed-by", "--reason"])
def test_nothing_is_extended_without_a_name_and_a_reason(fresh: Path, missing: str) -> None:
    place = SIGNED.index(missing)
    options = SIGNED[:place] + SIGNED[place + 2 :]
    said = refused("ledger", "extend", fresh, "--epsilon", "1", *options, code=2)
    assert said.startswith(f"Missing option '{missing}'.")


def test_a_limit_of_a_stranger_is_kept_and_doubted(fresh: Path) -> None:
    paid(fresh, "ann", "0.1", WINNER, "red")
    limits = ["--epsilon", "1", "--signed-by", "A. Officer"]
    assert "Note: " not in run("ledger", "limit", fresh, "ann", *limits).output
    shown = run("ledger", "limit", fresh, "anne", *limits).output
    assert shown.startswith("Limited anne to ε 1, from this moment on.")
    assert "Note: anne has not asked anything yet (who has: ann)." in shown
    assert len(told("ledger", "balance", fresh)["limits"]) == 2


def test_a_limit_that_is_not_there_cannot_be_lifted(fresh: Path) -> None:
    signed = ["--signed-by", "A. Officer"]
    assert "Nobody has one." in refused("ledger", "limit", fresh, "ann", *signed)
    run("ledger", "limit", fresh, "ben", "--epsilon", "1", *signed)
    assert "There are limits of ben." in refused("ledger", "limit", fresh, "ann", *signed)
    shown = run("ledger", "limit", fresh, "ben", *signed).output
    assert shown.startswith("Lifted the limit of ben.")


def test_a_closed_ledger_stays_closed(fresh: Path) -> None:
    shown = run("ledger", "close", fresh, *SIGNED).output
    assert shown.startswith("Closed the ledger.")
    for again in (
        ["close", fresh, *SIGNED],
        ["extend", fresh, "--epsilon", "1", *SIGNED],
        ["limit", fresh, "ann", "--epsilon", "1", "--signed-by", "A"],
    ):
        said = refused("ledger", *again)
        assert "was closed on " in said
        assert said.endswith("Create the next ledger and link it to this one.")
    assert run("ledger", "note", fresh, "Archived.").exit_code == 0
    assert "closed " in run("ledger", "balance", fresh).output


def test_a_note_and_a_link_are_said_back(fresh: Path, place: Path) -> None:
    assert run("ledger", "note", fresh, "Hello.").output.startswith("Noted: Hello.")
    assert "There is no entry 7" in refused("ledger", "note", fresh, "Hello.", "--entry", 7)
    shown = run("ledger", "link", fresh, place).output
    assert shown.startswith("Linked the ledger of the time before: town-2026 at ")
    assert "cannot be its own predecessor" in refused("ledger", "link", fresh, fresh)
    paid(fresh, "ann", "0.1", WINNER, "red")
    shown = run("ledger", "note", fresh, "Good.", "--entry", "1").output
    assert shown.startswith("Noted about entry 1: Good.")


def test_a_ledger_shows_its_title_purpose_and_contact(place: Path) -> None:
    for command in ("balance", "history"):
        shown = run("ledger", command, place).output.splitlines()
        assert shown[1].split(None, 1) == ["title", "Town poll"]
        assert shown[3].split(None, 1) == ["contact", "privacy@town.example"]


# reports and exports


def test_a_report_is_written_whole_and_never_over_another_file(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(place.parent)
    assert run("ledger", "report", place).output == "Wrote report.html.\n"
    text = Path("report.html").read_text(encoding="utf-8")
    assert text.startswith("<!DOCTYPE html>")
    said = refused("ledger", "report", place, code=2)
    assert said.startswith("report.html is there already and was left as it was.")
    assert Path("report.html").read_text(encoding="utf-8") == text
    shown = run("ledger", "report", place, "--overwrite").output
    assert shown == "Wrote report.html, in place of the file that was there.\n"
    assert told("ledger", "report", place, "-o", "b.html") == {
        "written": "b.html",
        "replaced": False,
    }
    kept = sorted(path.name for path in Path().iterdir() if not path.name.startswith("budget"))
    assert kept == ["b.html", "old.db", "report.html"]


def test_a_ledger_is_never_replaced(place: Path) -> None:
    before = place.read_bytes()
    disguised = place.with_name("ledger.html")
    os.link(place, disguised)
    for target in (place, disguised):
        for command in ("export", "report"):
            arguments = ["ledger", command, place, "-o", target, "--overwrite"]
            said = run(*arguments).output
            assert "never replaced" in said or "A report is HTML or PDF" in said or "link" in said
    assert place.read_bytes() == before


def test_a_target_must_be_a_file_in_a_folder(place: Path, tmp_path: Path) -> None:
    assert "There is no folder" in refused(
        "ledger", "export", place, "-o", tmp_path / "no" / "x.csv", code=2
    )
    assert "is a folder" in refused("ledger", "export", place, "-o", tmp_path, code=2)
    assert "end its name in .html or .pdf" in refused(
        "ledger", "report", place, "-o", tmp_path / "report.doc", code=2
    )


@pytest.mark.parametrize("form", ["csv", "json", "registry"])
def test_an_export_is_the_same_in_a_file_and_on_the_output(
    place: Path, tmp_path: Path, form: str
) -> None:
    target = tmp_path / f"out.{form}"
    shown = run("ledger", "export", place, "--format", form)
    assert shown.exit_code == 0
    wrote = run("ledger", "export", place, "--format", form, "-o", target).output
    assert wrote == f"Wrote {target}.\n"
    written = target.read_bytes().decode()
    assert written == shown.stdout_bytes.decode()
    if form == "csv":
        assert len(list(csv.reader(written.splitlines()))) == 12
    elif form == "json":
        assert json.loads(written)["head"] == str(rb.Ledger.open(place).head())
    else:
        assert yaml.safe_load(written)["url_slug"] == "town-poll"


def test_a_damaged_ledger_is_not_exported(place: Path, tmp_path: Path) -> None:
    import sqlite3

    with sqlite3.connect(place) as database:
        database.execute("UPDATE rainbow_records SET time = '2000' WHERE number = 4")
    database.close()
    target = tmp_path / "out.json"
    for command in (["export", "--format", "json"], ["report"]):
        said = run("ledger", command[0], place, *command[1:], "-o", tmp_path / "out.html")
        assert said.exit_code == 5
    assert not target.exists()
    assert not (tmp_path / "out.html").exists()


def test_the_commands_of_the_report_can_be_typed(place: Path) -> None:
    from rainbowdp.ledger.report import page

    found = re.findall("<pre>(rainbow ledger [^<]*)</pre>", page(rb.Ledger.open(place)))
    assert len(found) == 2
    verify = run(*shlex.split(found[0])[1:])
    assert verify.exit_code == 0
    assert "is whole" in verify.output
