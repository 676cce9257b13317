"""Ctrl-C on a terminal at every stage: nothing drawn or spent unless paid, and a word on which."""

from __future__ import annotations

import random
import signal
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from interrupting import Ended, after, entries, judge, run
from rainbowdp.ledger import Ledger

VOTES = "vote,who\n" + "red,1\ngreen,2\nblue,3\nred,4\n" * 5


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "votes.csv"
    path.write_text(VOTES)
    return path


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    Ledger.create(tmp_path / "budget.db", dataset="votes", epsilon=1000)
    return tmp_path / "budget.db"


def question(table: Path, ledger: Path, among: str = "red,green", *more: str) -> list[str]:
    asked = ["ask", "winner", str(table), "--column", "vote", "--among", among, "--epsilon", "1"]
    return [*asked, "--ledger", str(ledger), "--json", *more]


def said(ended: Ended) -> str:
    return " ".join((ended.terminal + ended.output).split())


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_while_the_package_is_imported(table: Path, ledger: Path, number: int, code: int) -> None:
    ended = run(question(table, ledger), lambda _, out, __: "started" in out, number=number)
    assert judge(ended, 0, ledger, code) == "nothing spent"


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.slow
def test_while_a_margin_table_is_made(
    table: Path,
    ledger: Path,
    number: int,
    code: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("RAINBOWDP_CACHE", str(tmp_path / "kept"))
    asked = question(table, ledger, "red,green,blue,white,black")
    asked.remove("--json")
    asked[asked.index("--epsilon") + 1] = "1.01"  # no table for it comes with the package
    asked += ["--ties", "any leader"]  # else it is a crowd table, for which nothing is solved
    ended = run(asked, lambda terminal, *_: "Making a margin table" in terminal, number=number)
    assert ended.code == code, ended
    assert "rainbow: Interrupted; nothing was spent." in said(ended)
    assert "Reading" not in ended.terminal
    assert "iteration" not in ended.terminal
    assert entries(ledger) == []
    assert list((tmp_path / "kept").iterdir()) == []


@pytest.mark.slow
def test_while_the_table_is_read(tmp_path: Path) -> None:
    ledger = tmp_path / "people.db"
    Ledger.create(ledger, dataset="votes", epsilon=1000, person="who")
    path = tmp_path / "many.csv"
    with path.open("w") as file:
        file.write("vote,who\n")
        for start in range(0, 3_000_000, 100_000):
            file.write(
                "".join(f"red,{n * 7919 % 2_999_999}\n" for n in range(start, start + 100_000))
            )
    asked = question(path, ledger, "red,green", "--person", "who")
    ended = run(asked, lambda terminal, *_: "Reading the table" in terminal)
    assert judge(ended, 0, ledger) == "nothing spent"


@pytest.fixture
def locked(ledger: Path) -> Iterator[sqlite3.Connection]:
    """A ledger that can be read, and paid only when somebody else lets go of it."""
    connection = sqlite3.connect(ledger, isolation_level=None)
    connection.execute("BEGIN IMMEDIATE")
    yield connection
    connection.close()


@pytest.mark.slow
def test_while_the_payment_waits(table: Path, ledger: Path, locked: sqlite3.Connection) -> None:
    read = "Reading the table"
    seen: list[float] = []

    def some_time_after_reading(terminal: str, _: str, seconds: float) -> bool:
        if read in terminal:
            seen.append(seconds)
        return bool(seen) and seconds - seen[0] > 1

    ended = run(
        question(table, ledger), some_time_after_reading, then=lambda: locked.execute("ROLLBACK")
    )
    assert judge(ended, 0, ledger) == "nothing spent"


@pytest.mark.slow
@pytest.mark.parametrize("times", [2, pytest.param(6, marks=pytest.mark.slow)])
def test_at_random_moments(table: Path, ledger: Path, times: int) -> None:
    dice = random.Random(16)
    for _ in range(times):
        before = len(entries(ledger))
        ended = run(question(table, ledger), after(dice.uniform(0.3, 1.1)))
        judge(ended, before, ledger)


def test_a_planted_silent_payment_is_found(ledger: Path) -> None:
    with sqlite3.connect(ledger) as connection:
        connection.execute(
            "INSERT INTO rainbow_records "
            "VALUES (7, '', 'payment', NULL, NULL, '{\"entry\": 1}', '')"
        )
    silent = Ended(130, "rainbow: Interrupted; nothing was spent.\n", "")
    with pytest.raises(AssertionError):
        judge(silent, 0, ledger)
    with pytest.raises(AssertionError):
        judge(Ended(0, "", '{"answer": "red"}'), 1, ledger)
