"""What the owner of a ledger does: every change is one more record, signed, and never an edit."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import rainbowdp as rb
from ledgers import new_ledger, says, spend
from rainbowdp.errors import BudgetExceeded, LedgerError
from rainbowdp.ledger import DPCost, GaussianCost, Ledger, Limit

SIGNED: dict[str, Any] = {"signed_by": "A. Officer", "reason": "the second wave"}


def test_an_extension_adds_to_the_total(place: str) -> None:
    ledger = new_ledger(place, epsilon=1)
    spend(ledger, rb.DP(1))
    with pytest.raises(BudgetExceeded):
        spend(ledger, rb.DP("0.5"))
    record = ledger.extend(epsilon="0.5", delta="1e-6", **SIGNED)
    assert record.content["signed_by"] == "A. Officer"
    assert record.content["reason"] == "the second wave"
    assert record.content["given"] == {"epsilon": "1/2", "delta": "1/1000000"}
    assert ledger.balance().total == DPCost(Fraction(3, 2), Fraction(1, 10**6))
    spend(ledger, rb.DP("0.5"))
    assert ledger.balance().left.parts[0] == 0
    assert Ledger.open(place).verify(record.head) == ledger.head()


def test_mu_is_extended_by_squares(tmp_path: Path) -> None:
    ledger = new_ledger(tmp_path / "budget.db", mu=3)
    ledger.extend(mu=4, **SIGNED)
    assert ledger.balance().total == GaussianCost(Fraction(25))


def test_a_renewal_sets_what_is_left_and_forgets_nothing(place: str) -> None:
    ledger = new_ledger(place, epsilon=3)
    spend(ledger, rb.DP(2))
    ledger.renew(epsilon=3, **SIGNED)
    balance = ledger.balance()
    assert (balance.total, balance.spent, balance.left) == (
        DPCost(Fraction(5), Fraction(0)),
        DPCost(Fraction(2), Fraction(0)),
        DPCost(Fraction(3), Fraction(0)),
    )
    ledger.verify()


def test_a_limit_holds_for_one_analyst_from_now_on(place: str) -> None:
    new_ledger(place, epsilon=3, by="owner")
    ann, ben = Ledger.open(place, by="ann"), Ledger.open(place, by="ben")
    spend(ann, rb.DP("0.5"))
    ben.limit("ann", epsilon="0.4", signed_by="A. Officer")
    spend(ann, rb.DP("0.3"))
    message = says(
        f"This question costs ε = 0.2, but ann in {ann.where} has ε = 0.1 left. Use a smaller "
        "epsilon, or repeat an earlier question by its name for free."
    )
    with pytest.raises(BudgetExceeded, match=message):
        spend(ann, rb.DP("0.2"))
    with pytest.raises(BudgetExceeded, match=message):
        ann.must_fit(rb.DP("0.2"), unit=ann.unit, neighbors=ann.neighbors)
    spend(ben, rb.DP("0.2"))
    zero = Fraction(0)
    assert ann.balance().limits == (
        Limit("ann", DPCost(Fraction(2, 5), zero), DPCost(Fraction(3, 10), zero)),
    )
    assert Ledger.open(place).balance() == ann.balance()
    ben.limit("ann", signed_by="A. Officer")
    assert ann.balance().limits == ()
    spend(ann, rb.DP("0.2"))
    ann.verify()


def test_a_limit_of_a_role_holds_for_everybody_who_has_it(postgres_url: str) -> None:
    from postgres import fresh_schema

    ledger = new_ledger(fresh_schema(postgres_url), epsilon=3, by="ann")
    ledger.limit("postgres", epsilon="0.1", signed_by="A. Officer")
    with pytest.raises(BudgetExceeded, match="but postgres in "):
        spend(ledger, rb.DP(1))
    assert spend(ledger, rb.DP("0.1")).role == "postgres"


def test_a_closed_ledger_pays_nothing_and_recalls(place: str) -> None:
    ledger = new_ledger(place, epsilon=3)
    paid, lost = spend(ledger, rb.DP(1), "poll"), spend(ledger, rb.DP(1))
    ledger.record(paid, "red")
    ledger.close(**SIGNED)
    message = r"was closed on \d{4}-\d\d-\d\d, and nothing more can be spent there\. Recall"
    for work in (
        lambda: spend(ledger, rb.DP(0)),
        lambda: ledger.must_fit(rb.DP(0), unit=ledger.unit, neighbors=ledger.neighbors),
    ):
        with pytest.raises(LedgerError, match=message):
            work()
    changes: list[Callable[[], object]] = [
        lambda: ledger.extend(epsilon=1, **SIGNED),
        lambda: ledger.renew(epsilon=1, **SIGNED),
        lambda: ledger.close(**SIGNED),
    ]
    for change in changes:
        with pytest.raises(LedgerError, match="Create the next ledger and link it to this one"):
            change()
    ledger.record(lost, "green")  # what was paid for before may still be recorded
    ledger.note("The report is out.")
    assert ledger.balance().closed is not None
    assert [entry.answer for entry in ledger.history()] == ["red", "green"]


def test_a_note_is_about_the_ledger_or_an_entry(place: str) -> None:
    ledger = new_ledger(place, epsilon=3)
    entries = [spend(ledger, rb.DP("0.1")) for _ in range(9)]
    for entry in entries[::2]:
        ledger.record(entry, "red")
    for entry in entries:
        record = ledger.note(f"about {entry.number}", about=entry.number)
        assert record.subject == entry.paid.number
        assert record.content["entry"] == entry.number
    assert ledger.note("about all").subject is None
    for none in (0, 10, -1):
        with pytest.raises(LedgerError, match=f"There is no entry {none} in "):
            ledger.note("about none", about=none)
    assert len(ledger.history()) == 9
    ledger.verify()


def test_a_decision_is_a_signed_note(place: str) -> None:
    ledger = new_ledger(place, epsilon=1, by="desk")
    note = ledger.note("Approved the question.", signed_by="A. Officer")
    assert note.content["signed_by"] == "A. Officer"
    assert [event.who for event in ledger.events()][-1] == "A. Officer, entered by desk"
    with pytest.raises(LedgerError, match="The signature must be printable text"):
        ledger.note("Approved the question.", signed_by=" ")


def test_last_years_ledger_is_linked_by_its_head(tmp_path: Path) -> None:
    last = new_ledger(tmp_path / "2026.db", epsilon=1)
    spend(last, rb.DP(1))
    this = new_ledger(tmp_path / "2027.db", epsilon=1, predecessor=last)
    link = list(this.records())[1]
    assert link.kind == "link"
    assert link.content["identity"] == last.identity
    last.verify(link.content["head"])
    assert this.link(last).content["spent"] == {"epsilon": "1", "delta": "0"}


def test_two_currencies_are_not_mixed(place: str) -> None:
    ledger = new_ledger(place, epsilon=1)
    before = ledger.head()
    message = says(
        f"The budget of {ledger.where} is in epsilon and delta, and rho cannot be mixed with it. "
        "Give the amount in epsilon and delta."
    )
    mixed: list[Callable[[], object]] = [
        lambda: ledger.extend(rho=1, **SIGNED),
        lambda: ledger.renew(rho=1, **SIGNED),
        lambda: ledger.limit("ann", rho=1, signed_by="A. Officer"),
    ]
    for work in mixed:
        with pytest.raises(LedgerError, match=message):
            work()
    with pytest.raises(rb.InvalidGuarantee, match="Leave out all but one"):
        ledger.extend(epsilon=1, rho=1, **SIGNED)
    assert ledger.head() == before


@pytest.mark.parametrize("missing", ["signed_by", "reason"])
def test_nothing_is_extended_without_a_name_and_a_reason(tmp_path: Path, missing: str) -> None:
    ledger = new_ledger(tmp_path / "budget.db", epsilon=1)
    options = {**SIGNED, missing: " "}
    unsigned: list[Callable[[], object]] = [
        lambda: ledger.extend(epsilon=1, **options),
        lambda: ledger.close(**options),
    ]
    for work in unsigned:
        with pytest.raises(LedgerError, match=r"The (signature|reason) must be printable text"):
            work()
    assert ledger.head().number == 1


def test_who_asked_is_the_user_or_the_service(tmp_path: Path) -> None:
    place = tmp_path / "budget.db"
    ledger = new_ledger(place, epsilon=1)
    assert spend(ledger, rb.DP("0.1")).by == ledger.by != ""
    service = Ledger.open(place, by="report service")
    assert spend(service, rb.DP("0.1")).by == "report service"
    with pytest.raises(LedgerError, match="The name of who asks must be printable text"):
        Ledger.open(place, by="\n")


def test_only_an_amount_above_nothing_is_added(tmp_path: Path) -> None:
    ledger = new_ledger(tmp_path / "budget.db", epsilon=1)
    with pytest.raises(LedgerError, match=says("Say how much to add, in epsilon and delta.")):
        ledger.extend(**SIGNED)
    message = says("Say how much is to be left, in epsilon and delta.")
    with pytest.raises(LedgerError, match=message):
        ledger.renew(delta="1e-6", **SIGNED)
    wrong: list[tuple[dict[str, Any], int]] = [
        *(({"epsilon": 0}, 0), ({"epsilon": -1}, -1), ({"mu": 0}, 0), ({"rho": -1}, -1)),
        *(({"epsilon": 1, "mu": -1}, -1), ({"epsilon": -2, "rho": 1}, -2)),
    ]
    for amount, number in wrong:
        message = says(
            f"An amount must be above 0, got {number}. Nothing is taken from a budget by an "
            "extension; to lower what is left renew it, to end it close the ledger."
        )
        with pytest.raises(LedgerError, match=message):
            ledger.extend(**amount, **SIGNED)
    assert ledger.head().number == 1


@pytest.mark.parametrize("budget", [{"mu": 1}, {"rho": 1}, {"epsilon": 1}], ids=str)
def test_a_limit_is_set_in_every_currency_and_lifted_without_an_amount(
    tmp_path: Path, budget: dict[str, Any]
) -> None:
    ledger = new_ledger(tmp_path / "budget.db", **budget)
    for _ in range(2):  # the second time it is changed, and not lifted
        ledger.limit("ann", **budget, signed_by="A. Officer")
    [limit] = ledger.balance().limits
    assert limit.total == ledger.balance().total
    ledger.limit("ann", signed_by="A. Officer")
    assert ledger.balance().limits == ()


def test_what_an_officer_signs_is_printable_and_changes_no_closed_ledger(tmp_path: Path) -> None:
    ledger = new_ledger(tmp_path / "budget.db", epsilon=1)
    refused: list[tuple[Callable[[], object], str]] = [
        (lambda: ledger.note("\n"), "The note must be printable text, got '\\n'."),
        (
            lambda: ledger.limit("\n", epsilon=1, signed_by="A. Officer"),
            "The analyst must be printable text, got '\\n'.",
        ),
        (
            lambda: ledger.limit("ann", epsilon=1, signed_by=" "),
            "The signature must be printable text, got ' '.",
        ),
        (
            lambda: ledger.link(ledger),
            f"{ledger.where} cannot be its own predecessor. Give the ledger of the time before.",
        ),
    ]
    for work, message in refused:
        with pytest.raises(LedgerError, match=says(message)):
            work()
    assert ledger.head().number == 1
    ledger.close(**SIGNED)
    with pytest.raises(LedgerError, match="Create the next ledger and link it to this one"):
        ledger.limit("ann", epsilon="0.1", signed_by="A. Officer")
