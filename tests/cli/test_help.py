"""How help is laid out, what a shell completes, and what people read after an answer."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.main import get_command
from typer.testing import CliRunner

from rainbowdp.cli import app
from rainbowdp.cli.arranging import PANELS, RARE
from rainbowdp.cli.commands import COMMANDS

ELECTION = str(Path(__file__).parents[2] / "examples" / "data" / "election.csv")


def run(*arguments: str) -> str:
    return CliRunner().invoke(app, list(arguments)).output


def panels_of(text: str) -> list[str]:
    return [line.strip("╭╮─ ") for line in text.splitlines() if line.startswith("╭")]


def completed(words: str) -> list[str]:
    """What bash would offer after these words."""
    script = "from rainbowdp.cli import main; main()"
    environment = {
        "_RAINBOW_COMPLETE": "complete_bash",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split(" ")) - 1),
    }
    found = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=False
    )
    assert not found.stderr
    return found.stdout.split()


def test_asking_and_ledgers_come_first() -> None:
    assert list(COMMANDS)[:2] == ["ask", "ledger"]
    assert panels_of(run("--help"))[1] == "Ask a table"


def test_options_stand_in_groups() -> None:
    shown = panels_of(run("ask", "winner", "--help-all"))
    assert shown[:4] == ["Arguments", "Question", "Privacy", "Budget"]
    assert shown[-1] == "Output"
    assert "Options" not in shown
    assert panels_of(run("ledger", "create", "--help"))[1:3] == ["Privacy", "Budget"]


def test_every_option_that_has_a_panel_exists() -> None:
    root: Any = get_command(app)
    known = set()
    for name in PANELS:
        _, command, _ = root.resolve_command(typer.Context(root), [name])
        for each in [command, *getattr(command, "commands", {}).values()]:
            known |= {param.name for param in each.params}
    wanted = {option for panels in PANELS.values() for names in panels.values() for option in names}
    assert wanted <= known, wanted - known


def test_rare_options_exist_are_named_and_explained_when_asked_for() -> None:
    root: Any = get_command(app)
    _, asking, _ = root.resolve_command(typer.Context(root), ["ask"])
    params = [param for each in asking.commands.values() for param in each.params]
    assert set(RARE["ask"]) <= {param.name for param in params}
    for name, command in asking.commands.items():
        brief, full = (run("ask", name, flag) for flag in ("--help", "--help-all"))
        assert len(brief.splitlines()) < len(full.splitlines()) - 20
        for param in command.params:
            if param.param_type_name == "option" and not param.hidden:
                assert max(param.opts, key=len) in brief
                assert max(param.opts, key=len) in full
    told = run("ask", "winner", "--help")
    assert len(told.splitlines()) <= 75
    assert panels_of(told) == ["Arguments", "Question", "Privacy", "Budget", "Output"]
    assert told == run("ask", "winner", "--help")  # nothing stays folded


def test_an_example_is_directly_below_the_first_sentence() -> None:
    lines = [line.strip() for line in run("check", "--help").splitlines() if line.strip()]
    assert lines[2].startswith("Example: rainbow check")


def test_only_mechanisms_that_may_apply_are_listed() -> None:
    told = " ".join(run("ask", "threshold", "--help-all").replace("│", " ").split())
    assert "best, homogeneous, proximity, margin-flip, exponential." in told
    assert "crowd-table" in run("ask", "winner", "--help-all")
    assert "--mechanism" not in run("ask", "count", "--help-all")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("rainbow ", ["ask", "ledger", "look"]),
        ("rainbow ask quanti", ["quantile", "quantiles"]),
        ("rainbow ask winner --ties ", ["first-listed", "any-leader"]),
        ("rainbow ask winner --neighbors add", ["added-or-removed"]),
        ("rainbow ask threshold --mechanism ma", ["margin-flip"]),
    ],
)
def test_a_shell_completes_commands_and_choices(words: str, offered: list[str]) -> None:
    assert completed(words)[: len(offered)] == offered


def test_a_choice_may_be_written_with_hyphens() -> None:
    asked = ["ask", "winner", ELECTION, "--column", "vote", "--among", "Clinton,Dole"]
    more = ["--epsilon", "1", "--no-ledger", "--ties", "any-leader"]
    told = run(*asked, *more, "--neighbors", "added-or-removed")
    assert "1-DP, one record added or removed" in told
    refused = run(*asked, *more, "--neighbors", "swapped-out")
    assert "neighbors must be 'substituted' or 'added or removed', got neighbors='swapped-out'" in (
        refused
    )


def test_an_answer_says_how_sure_it_is_and_what_drew_it() -> None:
    told = run(
        "ask", "winner", ELECTION, "--column", "vote", "--among", "Clinton,Dole", "--epsilon", "5",
        "--no-ledger",
    )  # fmt: skip
    assert (
        "how        by the distance to the nearest other answer, all rivals treated alike\n" in told
    )
    assert "sure       right at least 99 % of the time from a margin of 1 record on\n" in told


@pytest.mark.parametrize(("among", "passed"), [("a,b", False), ("a,b,c", True)])
def test_an_explanation_says_where_another_kind_has_the_better_worst_case(
    among: str, passed: bool
) -> None:
    told = run(
        "ask",
        "winner",
        "votes.csv",
        "--column",
        "x",
        "--among",
        among,
        "--epsilon",
        "1",
        "--explain",
    )
    assert ("These are worst cases." in told) == passed


def test_too_many_histograms_say_how_many_records_work() -> None:
    asked = ["compare", "winner", "--among", "a,b,c,d,e", "--epsilon", "1", "--records"]
    assert "the most records that work here are 44" in run(*asked, "500")
    assert "the most records that work here are 44" in run(*asked, "45")
    assert "either --answers or --among" in run(*asked, "9", "--answers", "3")
