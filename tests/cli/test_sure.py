"""``rainbow ask --sure 99% --margin 5``: how sure the answer has to be, in place of an ε."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

import rainbowdp as rb
from rainbowdp.cli import app
from rainbowdp.guarantees.descriptions import describe_guarantee
from rainbowdp.ledger import Ledger

WINNER = ("ask", "winner", "votes.csv", "--column", "vote", "--among", "red,green")
SURE = ("--sure", "99%", "--margin", "5")


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def told(*arguments: object) -> Any:
    result = run(*arguments, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.output)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a table and a ledger, which is the current one."""
    (tmp_path / "votes.csv").write_text("vote\n" + "red\n" * 90 + "green\n" * 10)
    Ledger.create(tmp_path / "budget.db", dataset="votes", epsilon=1)
    monkeypatch.chdir(tmp_path)
    for variable in ("RAINBOW_LEDGER", "RAINBOW_SERVICE", "RAINBOW_TOKEN_FILE"):
        monkeypatch.delenv(variable, raising=False)
    return tmp_path


@pytest.mark.parametrize("sure", ["99%", "0.99", "99/100"])
def test_it_is_explained_before_anything_is_spent(sure: str) -> None:
    shown = run(*WINNER, "--sure", sure, "--margin", 5, "--explain")
    assert shown.exit_code == 0, shown.output
    assert "wanted     99 % sure at a margin of 5 records: ε = 0.8499 is enough\n" in shown.output
    assert (
        "sure       right at least 99 % of the time from a margin of 5 records on" in shown.output
    )
    assert "No data was read and nothing was spent." in shown.output
    said = told(*WINNER, "--sure", sure, "--margin", 5, "--explain")
    assert said["guarantee"] == {"kind": "dp", "epsilon": "8499/10000", "delta": "0"}
    assert said["wanted"]["sure"] == "99/100"
    assert said["wanted"]["margin"] == 5
    assert said["wanted"]["chance"] == pytest.approx(0.99, abs=1e-5)
    assert Ledger.open("budget.db").balance().entries == 0


def test_the_ledger_pays_what_was_found_and_refuses_what_is_more_than_it_has() -> None:
    shown = run(*WINNER, *SURE, "--ledger", "budget.db")
    assert shown.exit_code == 0, shown.output
    assert "ε = 0.8499 is enough" in shown.output
    assert "budget.db: 0.1501 of 1 ε left" in shown.output
    again = run(*WINNER, *SURE, "--ledger", "budget.db")
    assert again.exit_code == 4
    assert " ".join(again.output.split()).endswith(
        "costs ε = 0.8499, but budget.db has ε = 0.1501 left. Name a larger --margin or a smaller "
        "--sure, or repeat an earlier question by its name for free."
    )
    plain = run(*WINNER, "--epsilon", "0.8", "--ledger", "budget.db")
    assert "Use a smaller epsilon" in " ".join(plain.output.split())


@pytest.mark.parametrize(
    ("currency", "letter", "guarantee"),
    [("mu", "μ = 0.517", rb.GaussianDP("0.517")), ("rho", "ρ = ", rb.ZeroConcentrated("1"))],
)
def test_other_currencies(currency: str, letter: str, guarantee: Any) -> None:
    asked = (*WINNER, *SURE, "--no-ledger", "--currency", currency)
    assert f"records: {letter}" in run(*asked).output
    assert told(*asked)["guarantee"].keys() == describe_guarantee(guarantee).keys()


def test_a_count_keys_groups_and_people_in_words() -> None:
    count = ("ask", "count", "votes.csv", "--column", "vote", "--equals", "red", "--explain")
    assert (
        "wanted     99 % sure to be at most 5 off: ε = 0.8224 is enough"
        in run(*count, *SURE).output
    )
    keys = ("ask", "keys", "votes.csv", "--column", "vote", "--delta", "1e-6", "--explain")
    shown = run(*keys, "--sure", "90%", "--margin", 30).output
    assert (
        "wanted     90 % sure to name a key that 30 people have: ε = 0.9987 at δ = 1e-06" in shown
    )
    by = ("--by", "district", "--groups", "north,south", "--explain")
    assert "in each group, 99 % sure at a margin of 5 records: " in run(*WINNER, *by, *SURE).output
    person = run(*WINNER, "--person", "who", "--sure", "0.9", "--margin", 1, "--explain").output
    assert "90 % sure at a margin of 1 person: " in person


def test_a_kind_that_is_named_needs_its_own() -> None:
    best = told(*WINNER, *SURE, "--explain")["guarantee"]["epsilon"]
    flip = told(*WINNER, *SURE, "--explain", "--mechanism", "permute-and-flip")["guarantee"]
    assert rb.DP(flip["epsilon"]).epsilon > rb.DP(best).epsilon


def test_it_takes_the_place_of_the_project_files_number(folder: Path) -> None:
    (folder / "rainbow.toml").write_text('epsilon = 3\ndelta = "1e-6"\n')
    assert told(*WINNER, *SURE, "--explain")["guarantee"]["epsilon"] == "8499/10000"
    assert told(*WINNER, "--explain")["guarantee"]["epsilon"] == "3"
    assert told(*WINNER, "--explain")["wanted"] is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((*SURE, "--epsilon", 1), "--sure finds the number that --epsilon gives. Leave out one of"),
        ((*SURE, "--mu", 1), "--sure finds the number that --mu gives."),
        (("--sure", "99%"), "Give --margin as well"),
        (("--margin", 5), "--margin belongs to --sure. Give --sure 99% as well."),
        (("--epsilon", 1, "--currency", "mu"), "--currency belongs to --sure."),
        ((*SURE, "--currency", "nu"), "currency must be epsilon, mu or rho, got 'nu'"),
        (("--sure", "much", "--margin", 5), "sure must be a finite number"),
        (("--sure", "50%", "--margin", 5), "sure must be above 50 %"),
        (("--sure", "99%", "--margin", 0), "margin must be a whole number of at least 1"),
    ],
)
def test_one_sentence_says_what_is_wrong(options: tuple[object, ...], message: str) -> None:
    result = run(*WINNER, "--no-ledger", *options)
    assert result.exit_code == 2
    (line,) = result.output.splitlines()
    assert message in line


def test_a_test_has_a_power_instead() -> None:
    test = ("ask", "test", "votes.csv", "--column", "vote", "--equals", "red", "--above", "50%")
    result = run(*test, "--sample-size", 100, *SURE, "--no-ledger")
    assert result.exit_code == 2
    assert "A test has a power at a share, not at a margin." in result.output
