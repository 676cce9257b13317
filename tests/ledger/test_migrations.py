"""Ledgers that older releases made, stored as they wrote them, come up to this version whole."""

from __future__ import annotations

import hashlib
import random
import re
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import rainbowdp as rb
from ledgers import QUESTION, execute, new_ledger, says, spend
from postgres import connect, fresh_schema
from rainbowdp.errors import LedgerError
from rainbowdp.ledger import DPCost, Ledger, migrations
from rainbowdp.ledger.book import fill
from rainbowdp.ledger.cost import price

OLD = Path(__file__).parent / "old"
NAMES = sorted(path.stem for path in OLD.glob("*.sql"))
PAID: dict[str, list[Any]] = {
    "dp": [rb.DP("0.3", "1e-6"), rb.DP("1/7"), rb.DP.from_ratio("6/5")],
    "gaussian": [rb.GaussianDP("0.5"), rb.GaussianDP("1/3")],
    "rho": [rb.ZeroConcentrated("1/8"), rb.GaussianDP("1/2"), rb.DP("0.1")],
}


def restore(name: str, place: str) -> None:
    """Lays an old ledger into a fresh place."""
    script = (OLD / f"{name}.sql").read_text()
    if "://" in place:
        with connect(place) as connection:
            connection.execute(script.encode())
    else:
        database = sqlite3.connect(place)
        database.executescript(script)
        database.close()


def content(place: str) -> list[Any]:
    """The rows of the old tables."""
    found: list[Any] = []
    for table in ("rainbow_budget", "rainbow_entries"):
        query = f"SELECT * FROM {table}"
        if "://" in place:
            with connect(place) as connection:
                found += connection.execute(query.encode()).fetchall()
        else:
            database = sqlite3.connect(place)
            found += database.execute(query).fetchall()
            database.close()
    return found


def options(name: str) -> dict[str, Any]:
    return {"dataset": "town-2026", "person": "voter"} if name.startswith("version-1") else {}


def test_every_version_before_this_one_is_stored() -> None:
    versions = {name.split("-")[1][0] for name in NAMES}
    assert versions == {str(version) for version in migrations.OLD}


@pytest.mark.parametrize("name", NAMES)
def test_an_old_ledger_is_refused_then_migrated_whole(place: str, name: str) -> None:
    restore(name, place)
    with pytest.raises(LedgerError, match=r"Bring it up to that with: rainbow ledger migrate"):
        Ledger.open(place)
    ledger = Ledger.migrate(place, **options(name))
    kind = name.split("-")[2]
    entries = ledger.history()
    assert [entry.guarantee for entry in entries] == PAID[kind]
    assert [entry.cost for entry in entries] == [
        price(guarantee, ledger.kind, "") for guarantee in PAID[kind]
    ]
    assert [entry.name for entry in entries] == ["poll 0", None, "poll 2"][: len(entries)]
    lost = None if kind == "dp" else "red"
    assert [entry.answer for entry in entries] == ["red", "grün", lost][: len(entries)]
    assert all(entry.question == QUESTION for entry in entries)
    assert (ledger.dataset, ledger.unit.person) == ("town-2026", "voter")
    assert ledger.neighbors == "added or removed"
    if name.startswith("version-1"):
        assert {entry.source for entry in entries} == {None}
    else:
        assert [entry.source for entry in entries][:2] == [
            "votes, final count",
            "votes, first count",
        ]
    assert ledger.verify() == Ledger.open(place).head()
    first = next(ledger.records())
    assert first.content["migrated_from"] == int(name.split("-")[1][0])
    spend(ledger, rb.GaussianDP("1/9") if kind != "dp" else rb.DP("1/9"), "new")
    with pytest.raises(LedgerError, match="is of version 4 already"):
        Ledger.migrate(place)


def test_the_sum_of_an_old_ledger_is_what_it_was(place: str) -> None:
    restore("version-2-dp", place)
    spent = Ledger.migrate(place).balance().spent
    was = "7445805068304047801273845977179042083443/11909882842232846221218111260111887400960"
    assert isinstance(spent, DPCost)
    assert 0 <= spent.epsilon - Fraction(was) < Fraction("1e-100")


@pytest.mark.parametrize("name", ["version-1b-dp", "version-3-rho"])
def test_a_migration_that_fails_half_way_changes_nothing(
    place: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    restore(name, place)
    before = content(place)
    with monkeypatch.context() as patched:
        patched.setattr("rainbowdp.ledger.migrations.fill", broken(fill))
        with pytest.raises(KeyboardInterrupt):
            Ledger.migrate(place, **options(name))
    assert content(place) == before
    Ledger.migrate(place, **options(name)).verify()


def broken(work: Callable[..., object]) -> Callable[..., None]:
    """Writes everything, and is interrupted before the old tables are dropped."""

    def interrupted(*arguments: Any) -> None:
        work(*arguments)
        raise KeyboardInterrupt

    return interrupted


@pytest.mark.parametrize("kills", [1, pytest.param(15, marks=pytest.mark.slow)])
def test_a_migration_that_is_killed_leaves_the_old_ledger_or_the_new(
    tmp_path: Path, kills: int
) -> None:
    dice = random.Random(kills)
    code = "import sys\nfrom rainbowdp.ledger import Ledger\nprint(flush=True)\n"
    code += "Ledger.migrate(sys.argv[1])"
    for number in range(kills):
        place = str(tmp_path / f"{number}.db")
        restore("version-3-dp", place)
        before = content(place)
        child = subprocess.Popen([sys.executable, "-c", code, place], stdout=subprocess.PIPE)
        assert child.stdout is not None
        child.stdout.readline()
        time.sleep(dice.uniform(0, 0.05))
        child.send_signal(signal.SIGKILL)
        child.communicate()
        try:
            ledger = Ledger.open(place)
        except LedgerError:
            assert content(place) == before
            ledger = Ledger.migrate(place)
        assert len(ledger.history()) == 3
        ledger.verify()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE rainbow_entries SET epsilon = '1/2' WHERE number = 2",
        "UPDATE rainbow_budget SET total_epsilon = '30'",
        "DELETE FROM rainbow_entries WHERE number = 3",
        "DELETE FROM rainbow_budget",
    ],
)
def test_a_damaged_old_ledger_is_not_migrated(place: str, statement: str) -> None:
    restore("version-3-dp", place)
    execute(place, statement)
    before = content(place)
    with pytest.raises(LedgerError, match="is damaged"):
        Ledger.migrate(place)
    assert content(place) == before


def test_whose_data_it_is_must_be_said_of_the_first_version_alone(tmp_path: Path) -> None:
    first, third = str(tmp_path / "1.db"), str(tmp_path / "3.db")
    restore("version-1a-dp", first)
    message = says(
        f"{first} is a ledger of version 1, which did not say whose data it is about. Name the "
        "dataset, as in --dataset ward-visits-2026, and --person or --rows-per-person if one "
        "change was not one record."
    )
    with pytest.raises(LedgerError, match=message):
        Ledger.migrate(first)
    restore("version-3-dp", third)
    with pytest.raises(LedgerError, match=r"knows its dataset and unit\. Leave them out\."):
        Ledger.migrate(third, dataset="city")


def test_a_ledger_that_is_not_there_is_not_migrated(place: str) -> None:
    with pytest.raises(LedgerError, match="There is no ledger at "):
        Ledger.migrate(place)
    new_ledger(place, epsilon=1)


def resealed(place: str, table: str, row_number: int, changed: dict[str, Any]) -> None:
    """Changes a row, and seals it as releases of that time did."""
    database = sqlite3.connect(place)
    database.row_factory = sqlite3.Row
    key = "id" if table == "rainbow_budget" else "number"
    [row] = database.execute(f"SELECT * FROM {table} WHERE {key} = ?", [row_number]).fetchall()
    cells = {**dict(row), **changed}
    del cells["seal"]
    cells["seal"] = hashlib.sha256(ascii(sorted(cells.items())).encode()).hexdigest()
    names = ", ".join(f"{name} = :{name}" for name in cells)
    database.execute(f"UPDATE {table} SET {names} WHERE {key} = {row_number}", cells)
    database.commit()
    database.close()


@pytest.mark.parametrize(
    ("table", "number", "changed"),
    [
        ("rainbow_budget", 1, {"spent_epsilon": "1/7"}),
        ("rainbow_budget", 1, {"spent_delta": "0"}),
        ("rainbow_budget", 1, {"entries": 4}),
        ("rainbow_budget", 1, {"entries": 2}),
        ("rainbow_entries", 3, {"number": 4}),
        ("rainbow_entries", 1, {"epsilon": "2/10"}),
    ],
    ids=str,
)
def test_an_old_ledger_whose_rows_do_not_add_up_is_not_migrated(
    tmp_path: Path, table: str, number: int, changed: dict[str, Any]
) -> None:
    """Though every one of them has its seal."""
    place = str(tmp_path / "budget.db")
    restore("version-3-dp", place)
    before = content(place)
    resealed(place, table, number, {})
    assert content(place) == before
    resealed(place, table, number, changed)
    after = content(place)
    assert before != after
    with pytest.raises(LedgerError, match="is damaged"):
        Ledger.migrate(place)
    assert content(place) == after


@pytest.mark.parametrize("column", ["time", "name", "source", "question", "answer", "seal"])
@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_cell_that_was_altered_is_not_migrated(tmp_path: Path, column: str, number: int) -> None:
    place = str(tmp_path / "budget.db")
    restore("version-3-dp", place)
    execute(place, f"UPDATE rainbow_entries SET {column} = 'x' WHERE number = {number}")
    with pytest.raises(LedgerError, match="is damaged"):
        Ledger.migrate(place)


@pytest.mark.parametrize(
    ("name", "budget"),
    [
        ("version-1a-dp", {"epsilon": "3", "delta": "1/100000"}),
        ("version-2-gaussian", {"mu_squared": "4"}),
        ("version-3-rho", {"rho": "1/2"}),
    ],
)
def test_what_an_old_ledger_becomes(tmp_path: Path, name: str, budget: dict[str, str]) -> None:
    place = str(tmp_path / "budget.db")
    restore(name, place)
    database = sqlite3.connect(place)
    times = [time for (time,) in database.execute("SELECT time FROM rainbow_entries")]
    database.close()
    ledger = Ledger.migrate(place, **options(name))
    balance = ledger.balance()
    assert balance.given == budget
    assert {part: text for part, text in balance.total.as_dict().items() if text != "0"} == budget
    assert re.fullmatch("[0-9a-f]{32}", balance.identity)
    assert [entry.time for entry in ledger.entries()] == times
    assert [record.time for record in ledger.records() if record.kind == "payment"] == times
    database = sqlite3.connect(place)
    tables = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    database.close()
    assert {table for (table,) in tables} == {"rainbow_ledger", "rainbow_records"}


@pytest.mark.parametrize("known", [{"dataset": "a"}, {"person": "b"}, {"rows_per_person": 1}])
def test_what_a_ledger_knows_is_not_said_again(tmp_path: Path, known: dict[str, Any]) -> None:
    place = str(tmp_path / "budget.db")
    restore("version-2-dp", place)
    with pytest.raises(LedgerError, match=r"knows its dataset and unit\. Leave them out\."):
        Ledger.migrate(place, **known)


def test_a_dataset_that_is_no_name_is_not_migrated(tmp_path: Path) -> None:
    place = str(tmp_path / "budget.db")
    restore("version-1a-dp", place)
    with pytest.raises(LedgerError, match=r"The dataset must be printable text, got '\\n'\."):
        Ledger.migrate(place, dataset="\n")


def test_a_table_that_is_in_the_way_is_not_written_to(tmp_path: Path) -> None:
    place = str(tmp_path / "budget.db")
    restore("version-2-dp", place)
    columns = "number, time, kind, name, subject, content, seal"
    execute(place, f"CREATE TABLE rainbow_records ({columns})")
    before = content(place)
    with pytest.raises(LedgerError):
        Ledger.migrate(place)
    assert content(place) == before


def test_a_ledger_whose_locks_do_not_work_is_not_migrated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = str(tmp_path / "budget.db")
    restore("version-2-dp", place)
    monkeypatch.setattr("fcntl.fcntl", lambda *_: 0)
    with pytest.raises(LedgerError, match="is on a file system that grants one lock to two"):
        Ledger.migrate(place)


def test_an_old_ledger_on_a_server_is_in_the_way_of_a_new_one(postgres_url: str) -> None:
    place = fresh_schema(postgres_url)
    restore("version-2-dp", place)
    with pytest.raises(LedgerError, match="already exists and was left as it was"):
        new_ledger(place, epsilon=1)
    assert len(Ledger.migrate(place).history()) == 3


def test_an_old_ledger_with_two_budgets_is_damaged(tmp_path: Path) -> None:
    """Though both have their seal."""
    place = str(tmp_path / "budget.db")
    restore("version-3-dp", place)
    execute(place, "ALTER TABLE rainbow_budget RENAME TO one")
    both = "SELECT * FROM one UNION ALL SELECT * FROM one"
    execute(place, f"CREATE TABLE rainbow_budget AS {both}")
    with pytest.raises(LedgerError, match="is damaged"):
        Ledger.migrate(place)


def test_a_ledger_without_its_row_is_damaged_and_of_no_version(tmp_path: Path) -> None:
    place = str(tmp_path / "budget.db")
    new_ledger(place, epsilon=1)
    execute(place, "DELETE FROM rainbow_ledger")
    for work in (Ledger.open, Ledger.migrate):
        with pytest.raises(LedgerError, match="is damaged"):
            work(place)
