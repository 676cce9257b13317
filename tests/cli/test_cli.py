from __future__ import annotations

import dataclasses
import inspect
import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest
import typer
from typer.testing import CliRunner, Result

import rainbowdp as rb
from rainbowdp.cli import app
from rainbowdp.cli.commands import COMMANDS
from rainbowdp.paper import reproduce

SLOW = ["duckdb", "matplotlib", "numba", "pydantic", "scipy", "sqlalchemy", "starlette"]
OURS = ["numpy", "flint", "rainbowdp.cli.output", "rainbowdp.guarantees", "rainbowdp.questions"]


def test_version() -> None:
    result = CliRunner().invoke(app, ["--version"])
    assert result.output == f"rainbow {rb.__version__}\n"


def test_help_waits_for_nothing_heavy() -> None:
    commands = ["", "ask winner", "ledger", "reproduce", "studio"]
    script = (
        "import sys\n"
        "from rainbowdp.cli import main\n"
        f"for command in {commands!r}:\n"
        "    sys.argv = ['rainbow', *command.split(), '--help']\n"
        "    try: main()\n"
        "    except SystemExit as end: assert end.code == 0\n"
        f"    heavy = {SLOW!r} if command else {[*SLOW, *OURS]!r}\n"
        "    print(command, [m for m in heavy if m in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    lines = [line.strip() for line in run.stdout.splitlines()]
    for command in commands:
        assert any(line.startswith(f"Usage: rainbow {command}".strip()) for line in lines)
        assert f"{command} []".strip() in lines


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_is_listed_by_the_first_sentence_of_its_help(name: str) -> None:
    command = COMMANDS[name]()
    own = command.info.help if isinstance(command, typer.Typer) else inspect.getdoc(command)
    assert isinstance(own, str)
    assert inspect.getdoc(COMMANDS[name]) == own.partition("\n\n")[0]
    shown = " ".join(run("--help").output.replace("│", " ").split())
    assert f"{name} {own.partition('.')[0]}." in shown
    usage = run(name, "--help").output.split()
    assert usage[1:3] == ["root", name] or usage[1:3] == ["rainbow", name]


def test_reproduce_prints_every_claim() -> None:
    result = CliRunner().invoke(app, ["reproduce"])
    assert result.exit_code == 0
    assert "38, 22, 7, 1," in result.output
    assert "37 of 37 as due" in result.output


def test_reproduce_as_json() -> None:
    result = CliRunner().invoke(app, ["reproduce", "--json"])
    claims = json.loads(result.output)
    assert len(claims) == 37
    assert all(claim["holds"] for claim in claims)


@pytest.mark.slow
def test_reproduce_draws_the_figures_and_says_where(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["reproduce", "--out", str(tmp_path / "paper")])
    assert result.exit_code == 0
    assert result.output.endswith(f"figures: {tmp_path / 'paper' / 'index.html'}\n")
    assert (tmp_path / "paper" / "figure-5.svg").exists()
    file = tmp_path / "file"
    file.touch()
    result = CliRunner().invoke(app, ["reproduce", "--out", str(file)])
    assert result.exit_code == 2
    assert result.stderr.startswith("rainbow: cannot write figures to the folder")


def test_reproduce_fails_when_a_number_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    first, *rest = reproduce.reproduce()
    changed = (dataclasses.replace(first, ours="17, 31"), *rest)
    monkeypatch.setattr(reproduce, "reproduce", lambda: changed)
    result = CliRunner().invoke(app, ["reproduce"])
    assert result.exit_code == 1
    assert "CHANGED" in result.output


ELECTION = str(Path(__file__).parents[2] / "examples" / "data" / "election.csv")
SURE = ["--column", "vote", "--equals", "Clinton", "--at-least", "300", "--epsilon", "1"]


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


@pytest.fixture
def budget(tmp_path: Path) -> str:
    place = str(tmp_path / "budget.db")
    named = ["--dataset", "election-1996"]
    assert run("ledger", "create", place, *named, "--epsilon", "2").exit_code == 0
    return place


def test_three_questions_and_their_answers(budget: str) -> None:
    asked = run("ask", "threshold", ELECTION, *SURE, "--ledger", budget)
    assert asked.exit_code == 0
    assert asked.output.splitlines()[0].split() == ["answer", "yes"]
    wins = ["--column", "vote", "--among", "Clinton,Dole", "--epsilon", "1/2"]
    assert "Clinton" in run("ask", "winner", ELECTION, *wins, "--ledger", budget).output
    half = ["--column", "income", "--bins", "0,20000,200000", "--epsilon", "0.5"]
    assert "≥ 20000" in run("ask", "quantile", ELECTION, *half, "--ledger", budget).output
    entries = json.loads(run("ledger", "history", budget, "--json").output)
    assert [entry["answer"] for entry in entries] == ["yes", "Clinton", "≥ 20000"]
    left = json.loads(run("ledger", "balance", budget, "--json").output)["left"]
    assert left["epsilon"] == "0"


@pytest.mark.parametrize(
    ("bins", "options", "answers"),
    [
        ("0,5,10,15", [], ["< 5", "[5, 10)", "≥ 10"]),
        (",5,10,", [], ["< 5", "[5, 10)", "≥ 10"]),
        ("-inf,5,10,inf", [], ["< 5", "[5, 10)", "≥ 10"]),
        ("0,5,10", ["--closed-ends"], ["[0, 5)", "[5, 10]"]),
        ("0, 5, 10,", ["--closed-ends"], ["[0, 5)", "[5, 10)", "≥ 10"]),
        (
            "2024-01-01,2024-04-01,2024-07-01T12:00",
            ["--closed-ends"],
            ["[2024-01-01, 2024-04-01)", "[2024-04-01, 2024-07-01 12:00]"],
        ),
    ],
)
def test_the_ends_of_bins(
    bins: str, options: list[str], answers: list[str], tmp_path: Path
) -> None:
    """Every value of the column is far ahead in its bin, where it has one."""
    asked = ["--column", "x", "--bins", bins, *options, "--epsilon", "20", "--no-ledger", "--json"]
    for place, answer in enumerate(answers):
        first = ["2", "7", "12"] if "-01-" not in bins else ["2024-02-01", "2024-05-01"]
        (tmp_path / "t.csv").write_text("x\n" + f"{first[place]}\n" * 200)
        found = json.loads(run("ask", "quantile", str(tmp_path / "t.csv"), *asked).output)
        assert found["answer"] == answer
    (tmp_path / "t.csv").write_text("x\n" + "99999\n" * 200 + "7\n")  # beyond all edges
    if "-01-" not in bins:
        found = json.loads(run("ask", "quantile", str(tmp_path / "t.csv"), *asked).output)
        assert found["answer"] == answers[-1]


def test_a_question_that_cannot_match_is_not_paid_for(budget: str, tmp_path: Path) -> None:
    pyarrow.parquet.write_table(pa.table({"x": [1, 2, 3]}), tmp_path / "t.parquet")
    options = ["--column", "x", "--among", "red,green", "--epsilon", "1", "--ledger", budget]
    result = run("ask", "winner", str(tmp_path / "t.parquet"), *options)
    assert result.exit_code == 3
    assert "holds whole numbers (BIGINT), so no record can match 'red', 'green'" in result.output
    left = json.loads(run("ledger", "balance", budget, "--json").output)["left"]
    assert left["epsilon"] == "2"


def test_nothing_that_is_said_depends_on_the_data_but_the_answer(tmp_path: Path) -> None:
    for counts in ((400, 10), (900, 3)):
        table = tmp_path / f"{counts[0]}.csv"
        table.write_text("vote\n" + "Clinton\n" * counts[0] + "Dole\n" * counts[1])
    said = [
        run("ask", "threshold", str(tmp_path / f"{n}.csv"), *SURE, "--no-ledger", *more).output
        for more in ([], ["--json"])
        for n in (400, 900)
    ]
    assert said[0] == said[1]
    assert said[2] == said[3]
    assert json.loads(said[2])["answer"] == "yes"


def test_a_named_answer_is_remembered_and_a_changed_question_refused(budget: str) -> None:
    named = ["--ledger", budget, "--name", "poll"]
    assert run("ask", "threshold", ELECTION, *SURE, *named).exit_code == 0
    again = json.loads(run("ask", "threshold", ELECTION, *SURE, *named, "--json").output)
    assert again["recalled"]
    assert again["balance"]["spent"]["epsilon"] == "1"
    other = [*SURE[:-3], "200", *SURE[-2:]]
    changed = run("ask", "threshold", ELECTION, *other, *named)
    assert changed.exit_code == 5
    assert "'poll' belongs to a different question" in changed.output


def test_explain_reads_and_spends_nothing() -> None:
    told = run("ask", "threshold", "no-such-file.csv", *SURE, "--explain")
    assert told.exit_code == 0
    assert "homogeneous                73.11 %  90.11 %" in told.output
    assert "sure       right at least 99 % of the time from a margin of 5 records on" in told.output
    table = json.loads(run("ask", "threshold", "x.csv", *SURE, "--explain", "--json").output)
    assert table["probability_of_true_answer"][0]["margin"] == 1
    many = ["--column", "mode", "--among", "a,b,c", "--epsilon", "1"]
    assert "  at most  " in run("ask", "winner", "x.csv", *many, "--explain").output
    few = ["--column", "age", "--bins", ",1,2,3,4,5,6,7,", "--epsilon", "1.95", "--explain"]
    few += ["--rows-per-person", "3"]
    assert "mechanism  proximity" in run("ask", "quantile", "x.csv", *few).output
    told = run("ask", "quantile", "x.csv", *few, "--records", "8")
    assert "mechanism  homogeneous" in told.output


def test_a_share_and_its_spellings() -> None:
    asked = ["ask", "share", ELECTION, "--column", "vote", "--equals", "Clinton", "--epsilon", "90"]
    for share, answer in (("58%", "yes"), ("0.58", "yes"), ("59 %", "no"), ("551/944", "yes")):
        told = json.loads(run(*asked, "--at-least", share, "--no-ledger", "--json").output)
        assert told["answer"] == answer
    assert told["question"]["at_least"] == "551/944"
    assert told["proves"]["within"] == 0


def test_the_mode_is_a_winner_and_others_may_win() -> None:
    asked = [ELECTION, "--column", "vote", "--among", "Dole", "--other", "else", "--epsilon", "90"]
    asked += ["--no-ledger", "--json"]
    both = [json.loads(run("ask", name, *asked).output) for name in ("mode", "winner")]
    assert both[0] == both[1]
    assert both[0]["answer"] == "else"


def test_the_median_is_a_quantile() -> None:
    asked = [ELECTION, "--column", "income", "--bins", "0,15000,25000,50000,200000"]
    asked += ["--epsilon", "90", "--no-ledger", "--json"]
    both = [json.loads(run("ask", name, *asked).output) for name in ("median", "quantile")]
    assert both[0] == both[1]


WINNER = ["ask", "winner", ELECTION, "--column", "vote"]
AMONG = ["--among", "Clinton,Dole"]
BAD: list[tuple[list[str], str]] = [
    ([*WINNER, *AMONG, "--epsilon", "1"], "--ledger PLACE, which rainbow ledger create makes"),
    ([*WINNER, *AMONG, "--no-ledger"], "Give one, such as --epsilon 1"),
    ([*WINNER, *AMONG, "--no-ledger"], "--sure 99% --margin 5"),
    ([*WINNER, *AMONG, "--sure", "99", "--margin", "5", "--no-ledger"], "write 99 % as 0.99"),
    ([*WINNER, *AMONG, "--sure", "1", "--margin", "5", "--no-ledger"], "no ε makes an answer"),
    ([*WINNER, *AMONG, "--epsilon", "1", "--mu", "1", "--no-ledger"], "--epsilon or --mu. Leave"),
    ([*WINNER, *AMONG, "--rho", "1", "--mu", "1", "--no-ledger"], "--mu or --rho. Leave out all"),
    ([*WINNER, *AMONG, "--rho", "1", "--delta", "1/9", "--no-ledger"], "--delta belongs to"),
    ([*WINNER, *AMONG, "--mu", "1", "--delta", "1e-6", "--no-ledger"], "belongs to --epsilon"),
    ([*WINNER, *AMONG, "--epsilon", "1", "--no-ledger", "--ledger", "x"], "not both"),
    ([*WINNER[:2], "postgresql://h/d", *WINNER[3:], *AMONG, "--epsilon", "1", "--no-ledger"],
     "--table"),
    ([*WINNER, "--epsilon", "1"], "Missing option '--among'. See: rainbow ask winner --help"),
    ([*WINNER, *AMONG, "--epsilon"], "requires an argument. See: rainbow"),
    ([*WINNER, *AMONG, "--colour", "1"], "No such option: --colour"),
    (["asks"], "No such command 'asks'. Did you mean 'ask'? See: rainbow --help"),
    ([*WINNER, *AMONG, "--epsilon", "0", "--no-ledger"], "use a larger epsilon"),
    ([*WINNER, *AMONG, "--epsilon", "-1", "--no-ledger"], "epsilon=-1"),
    ([*WINNER, "--among", "Dole,Dole", "--epsilon", "1", "--no-ledger"], "'Dole' twice"),
    ([*WINNER, "--among", "a,b,c,d", "--epsilon", "1", "--no-ledger", "--mechanism", "proximity"],
     "holds from epsilon = 1.0986"),
    ([*WINNER, *AMONG, "--other", "Dole", "--epsilon", "1", "--no-ledger"],
     "--other names an answer of its own, got 'Dole'"),
    (["ask", "share", *WINNER[2:], "--equals", "Dole", "--at-least", "120%", "--epsilon", "1",
      "--no-ledger"], "a share must lie between 0 and 1"),
    (["ask", "share", *WINNER[2:], "--equals", "Dole", "--at-least", "many%", "--epsilon", "1",
      "--no-ledger"], "at_least"),
    ([*WINNER, *AMONG, "--epsilon", "1", "--no-ledger", "--records", "0"],
     "records must be a whole number of at least 1"),
    ([*WINNER, *AMONG, "--epsilon", "1", "--no-ledger", "--records", "9", "--mechanism",
      "proximity"], "--records helps to choose a mechanism"),
    (["ask", "quantile", ELECTION, "--column", "income", "--bins", "0,5,5", "--epsilon", "1",
      "--no-ledger"], "5"),
]  # fmt: skip


ENDINGS: list[tuple[list[str], str, str, int]] = [
    *((words, said, "usage", 2) for words, said in BAD),
    ([*WINNER[:4], "party_", *AMONG, "--epsilon", "1", "--no-ledger"], "party_", "unreadable", 3),
    (["ask", "winner", "none.csv", *WINNER[3:], *AMONG, "--epsilon", "1", "--no-ledger"],
     "none.csv", "unreadable", 3),
    (["check", ELECTION], "election.csv", "unreadable", 3),
    ([*WINNER, *AMONG, "--epsilon", "1", "--ledger", "no.db"], "rainbow ledger create", "ledger",
     5),
    ([*WINNER, *AMONG, "--epsilon", "1", "--ledger", ELECTION], "election.csv", "ledger", 5),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "said", "kind", "code"), ENDINGS)
def test_bad_input_is_one_sentence_and_an_exit_code_of_its_kind(
    arguments: list[str], said: str, kind: str, code: int
) -> None:
    result = run(*arguments)
    assert result.exit_code == code, result.output
    assert said in result.output
    assert result.stdout == ""
    assert result.stderr.startswith("rainbow: ")
    assert len(result.stderr.splitlines()) == 1
    told = run(*arguments, "--json")
    if not arguments[-1].startswith("--"):
        message = result.stderr.removeprefix("rainbow: ").strip()
        assert json.loads(told.stdout) == {
            "error": {"kind": kind, "message": message, "exit_code": code}
        }
        assert told.stderr == ""
        assert told.exit_code == code


def test_an_error_nobody_expected_shows_where_and_not_what(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object, **__: object) -> None:
        raise ZeroDivisionError("Ann, 12 Mill Lane")

    monkeypatch.setattr("rainbowdp.cli.ask.show", fails)
    result = run(*WINNER, *AMONG, "--epsilon", "1", "--no-ledger")
    assert result.exit_code == 1
    assert "ZeroDivisionError at cli/ask.py, line " in result.stderr
    assert "Mill Lane" not in result.output


def shell(words: str, **more: Any) -> subprocess.CompletedProcess[str]:
    """The command in a shell, as its users have it."""
    code = "from rainbow_command import main; main()"
    line = words.replace("rainbow", shlex.join([sys.executable, "-c", code]), 1)
    return subprocess.run(["bash", "-c", line], capture_output=True, text=True, **more)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("to", "paid"),
    [("> /dev/full", True), ("| head -c 0; exit ${PIPESTATUS[0]}", True), (">&-", False)],
)
def test_an_answer_that_nobody_could_read_is_in_the_ledger(
    budget: str, to: str, paid: bool
) -> None:
    asked = shlex.join(["ask", "threshold", ELECTION, *SURE, "--ledger", budget])
    ended = shell(f"rainbow {asked} {to}")
    assert ended.returncode == 6, ended
    assert "Traceback" not in ended.stderr
    assert len(ended.stderr.splitlines()) == 1
    entries = json.loads(run("ledger", "history", budget, "--json").output)
    assert len(entries) == paid
    word = "entry 1 was paid and its answer is in the ledger" if paid else "nothing was spent"
    assert word in ended.stderr


def test_what_a_promise_is_worth_is_said_and_a_weak_one_warned_of(tmp_path: Path) -> None:
    weak = [*SURE[:-1], "5", "--no-ledger"]
    for words in ([*SURE, "--no-ledger"], [*SURE, "--explain"]):
        asked = run("ask", "threshold", ELECTION, *words)
        assert "guess about one record is right at most 74 % of the time" in asked.stdout
        assert asked.stderr == ""
    for more in ([], ["--explain"]):
        asked = run("ask", "threshold", ELECTION, *weak, *more)
        assert "can become nearly certain" in asked.stdout
        assert asked.stderr.startswith("Warning: 5-DP protects little")
        assert len(asked.stderr.splitlines()) == 1
        told = run("ask", "threshold", ELECTION, *weak, *more, "--json")
        assert json.loads(told.stdout)["warning"] == asked.stderr[9:].strip()
        assert told.stderr == ""
    person = run("ask", "threshold", ELECTION, *SURE, "--no-ledger", "--person", "age")
    assert "guess about one person" in person.stdout
    path = tmp_path / "poll.json"
    rb.best(rb.Winner(["red", "green"]), rb.DP(4)).save(str(path))
    checked = run("check", str(path))
    assert "at most 99 %" in checked.stdout
    assert checked.stderr.startswith("Warning: 4-DP protects little")
    assert json.loads(run("check", str(path), "--json").stdout)["warning"]
    compared = run("compare", "threshold", "--records", "4", "--epsilon", "4")
    assert compared.stderr.startswith("Warning: 4-DP protects little")


def test_a_question_that_does_not_fit_is_refused_before_data_is_read(
    budget: str, tmp_path: Path
) -> None:
    unreadable = tmp_path / "votes.csv"
    unreadable.write_text("no such column\n")
    dear = [*SURE[:-1], "2.5"]
    result = run("ask", "threshold", str(unreadable), *dear, "--ledger", budget)
    assert result.exit_code == 4
    assert "This question costs ε = 2.5, but " in result.output
    assert " has ε = 2 left. Use a smaller epsilon" in result.output


def test_a_table_that_cannot_be_read_leaves_the_ledger_as_it_was(budget: str) -> None:
    assert run("ask", "threshold", "no-such-file.csv", *SURE, "--ledger", budget).exit_code == 3
    assert json.loads(run("ledger", "balance", budget, "--json").output)["entries"] == 0


def test_check_proves_a_file_again_and_refuses_a_changed_one(tmp_path: Path) -> None:
    path = tmp_path / "poll.json"
    rb.best(rb.Winner(["red", "green", "blue"]), rb.DP(1)).save(str(path))
    assert "proved" in run("check", str(path)).output
    assert json.loads(run("check", str(path), "--json").output)["holds"]
    path.write_text(path.read_text().replace("blue", "navy"))
    refused = run("check", str(path))
    assert refused.exit_code == 3
    assert "checksum" in refused.output


@pytest.mark.parametrize(
    "command",
    [[], ["ask"], ["ask", "winner"], ["ask", "threshold"], ["ask", "quantile"], ["check"],
     ["compare"], ["design"], ["ledger"], ["ledger", "create"], ["ledger", "balance"],
     ["ledger", "history"], ["reproduce"]],
)  # fmt: skip
def test_every_command_has_help(command: list[str]) -> None:
    result = run(*command, "--help")
    assert result.exit_code == 0
    assert "Usage: rainbow" in result.output
