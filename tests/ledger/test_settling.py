"""Nothing is told that a crash of the server could still undo."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import Engine, event

import rainbowdp as rb
from ledgers import QUESTION, SOURCE, new_ledger
from postgres import Server, connect, fresh_schema, killable_server
from rainbowdp.errors import LedgerError, Unavailable
from rainbowdp.ledger import Charge, Ledger, settling
from rainbowdp.questions import Unit

CHARGE = Charge(rb.DP("0.1"), QUESTION, Unit(), "substituted", SOURCE, {"kind": "x"}, "a")


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """A server that brings nothing to disk by itself, and would not wait for it by default."""
    with killable_server("fsync=off", "wal_writer_delay=10s", "synchronous_commit=off") as found:
        yield found


@pytest.fixture
def place(server: Server) -> str:
    """Of a ledger with a budget of ε = 1."""
    found = fresh_schema(server.url)
    new_ledger(found, epsilon=1)
    return found


def killed(server: Server) -> None:
    """As by a power cut."""
    server.kill()
    assert server.start()


def written_and_not_settled(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer that a process has committed when it was killed before it waited for the disk."""
    with monkeypatch.context() as patch:
        patch.setattr(settling, "SETTLE", "SELECT 1")
        Ledger.open(place).draw(CHARGE, lambda: "red")


def test_a_commit_that_is_not_settled_is_lost(
    server: Server, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without which the tests below would show nothing."""
    written_and_not_settled(place, monkeypatch)
    killed(server)
    assert Ledger.open(place).history() == ()


@pytest.mark.parametrize("connections", [0, 2])
def test_what_was_drawn_is_there_after_a_crash(
    server: Server, place: str, connections: int
) -> None:
    ledger = Ledger.open(place, connections=connections)
    drawn = ledger.draw(CHARGE, lambda: "red").entry
    killed(server)
    assert Ledger.open(place).history() == (drawn,)
    assert ledger.draw(CHARGE, lambda: "green").entry == drawn  # over a new connection
    ledger.disconnect()


def test_what_an_officer_wrote_is_there_after_a_crash(server: Server, place: str) -> None:
    head = Ledger.open(place).note("seen", signed_by="Ann").head
    killed(server)
    Ledger.open(place).verify(head)


LOOKS: dict[str, Callable[[Ledger], Any]] = {
    "named": lambda ledger: ledger.named("a"),
    "find": lambda ledger: ledger.find(CHARGE),
    "draw": lambda ledger: ledger.draw(CHARGE, lambda: "green"),
    "recall": lambda ledger: ledger.recall(
        "a", question=QUESTION, guarantee=CHARGE.guarantee, source=SOURCE
    ),
    "balance": lambda ledger: ledger.balance(),
    "history": lambda ledger: ledger.history(),
    "open": lambda ledger: Ledger.open(ledger.where),
}


@pytest.mark.parametrize("look", LOOKS)
def test_what_another_process_saw_is_there_after_a_crash(
    server: Server, place: str, look: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An answer that is recalled, or a head, while whoever drew it still waits for the disk."""
    ledger = Ledger.open(place, connections=2)
    written_and_not_settled(place, monkeypatch)
    LOOKS[look](ledger)
    killed(server)
    ledger.disconnect()
    [entry] = Ledger.open(place).history()
    assert entry.answer == "red"


def test_a_look_at_what_is_settled_writes_nothing(server: Server, place: str) -> None:
    ledger = Ledger.open(place)
    with connect(server.url) as other:
        before = other.execute("SELECT pg_current_wal_insert_lsn()").fetchone()
        ledger.balance()
        assert other.execute("SELECT pg_current_wal_insert_lsn()").fetchone() == before


def test_synchronous_standbys_are_waited_for_by_those_who_look() -> None:
    condition = settling.SETTLE_IF_NEEDED.partition("WHERE")[2]
    assert "current_setting('synchronous_standby_names') <> ''" in condition


def test_a_server_that_is_killed_between_commit_and_disk(
    server: Server, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody is told, nothing is remembered, and the name may be asked for again."""
    ledger = Ledger.open(place, connections=2)
    told: list[object] = []

    def ask() -> None:
        try:
            told.append(ledger.draw(CHARGE, lambda: "red"))
        except LedgerError as error:
            told.append(error)

    with monkeypatch.context() as patch:
        patch.setattr(settling, "SETTLE", "SELECT pg_sleep(60)")
        thread = threading.Thread(target=ask)
        thread.start()
        with connect(place) as other:
            while other.execute("SELECT number FROM rainbow_ledger").fetchone() != (3,):
                pass  # until it is committed and can be seen
        assert told == []
        killed(server)
        thread.join()
    [error] = told
    assert isinstance(error, Unavailable)
    assert "Nothing was spent" not in str(error)
    again = ledger.draw(CHARGE, lambda: "green").entry
    assert (again.answer, again.number) == ("green", 1)
    assert Ledger.open(place).history() == (again,)
    ledger.verify()
    ledger.disconnect()


def test_others_pay_while_one_waits_for_the_disk(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = Ledger.open(place)
    with monkeypatch.context() as patch:
        patch.setattr(settling, "SETTLE", "SELECT pg_advisory_xact_lock(1)")
        with connect(place) as gate:
            gate.execute("SELECT pg_advisory_lock(1)")
            thread = threading.Thread(target=lambda: first.draw(CHARGE, lambda: "red"))
            thread.start()
            while gate.execute("SELECT number FROM rainbow_ledger").fetchone() != (3,):
                pass
            patch.undo()
            other = Ledger.open(place).draw(replace(CHARGE, name="b"), lambda: "blue")
            assert other.entry.number == 2
            assert thread.is_alive()
        thread.join()
    assert first.balance().answers == 2


def test_what_was_paid_and_cannot_be_settled_is_not_said_to_cost_nothing(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = Ledger.open(place)
    with monkeypatch.context() as patch:
        patch.setattr(settling, "SETTLE", "SELECT pg_read_file('nothing', 1/0, 1)")
        with pytest.raises(Unavailable, match="could not bring it to disk") as caught:
            ledger.draw(CHARGE, lambda: "red")
    assert "may have been paid for" in str(caught.value)
    assert "Nothing was spent" not in str(caught.value)
    assert ledger.draw(CHARGE, lambda: "green").entry.answer == "red"


def test_what_was_paid_is_not_said_to_cost_nothing_where_the_connection_was_cut_either(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = Ledger.open(place)
    with monkeypatch.context() as patch:
        patch.setattr(settling, "SETTLE", "SELECT pg_terminate_backend(pg_backend_pid())")
        with pytest.raises(Unavailable, match=r"The connection to .* was lost: ") as caught:
            ledger.draw(CHARGE, lambda: "red")
    assert "may have been paid for" in str(caught.value)
    assert "Nothing was spent" not in str(caught.value)
    assert ledger.draw(CHARGE, lambda: "green").entry.answer == "red"


@pytest.mark.parametrize("look", LOOKS)
def test_a_look_ends_with_what_settles_it(place: str, look: str) -> None:
    ledger = Ledger.open(place)
    ledger.draw(CHARGE, lambda: "red")
    sent: list[str] = []
    listened: Any = ledger._store.engine if look != "open" else Engine

    def note(*given: Any) -> None:
        sent.append(given[2])

    event.listen(listened, "before_cursor_execute", note)
    try:
        LOOKS[look](ledger)
    finally:
        event.remove(listened, "before_cursor_execute", note)
    assert sent[0].startswith("BEGIN ")
    assert sent[-1] == f"{settling.SETTLE_IF_NEEDED}; COMMIT"


def test_what_cannot_be_written_costs_nothing(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = Ledger.open(place)
    with connect(place) as other:
        other.execute("ALTER TABLE rainbow_records ADD CHECK (number < 3)")
        with pytest.raises(Unavailable, match=r"could not be read or written: .*_number_check"):
            ledger.draw(CHARGE, lambda: "red")
        other.execute("ALTER TABLE rainbow_records DROP CONSTRAINT rainbow_records_number_check")
    assert ledger.history() == ()
    assert ledger.draw(CHARGE, lambda: "green").entry.answer == "green"
