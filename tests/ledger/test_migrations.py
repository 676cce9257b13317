"""Ledgers that older releases made, stored as they wrote them, come up to this version whole."""

from __future__ import annotations

import random
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
from postgres import connect
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
