"""Requests wait, are decided once by somebody else, and the decision is in the chain first."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from rainbowdp.errors import LedgerError
from rainbowdp.ledger import Ledger
from rainbowdp.service.approvals import Approvals, Request
from rainbowdp.service.people.store import Store
from rainbowdp.service.problems import Code, NotDone

BODY: dict[str, Any] = {
    "question": {"kind": "winner", "column": "vote"},
    "guarantee": {"epsilon": "1"},
}


@pytest.fixture
def approvals(place: str) -> Approvals:
    return Approvals(Store.at(place))


def described() -> tuple[str, str, str | None]:
    return "Which of red and green is most\nfrequent?", "ε 1", "95 % sure at a margin of 20"


def ask(approvals: Approvals, person: str = "ann", key: str = "k1", **changed: Any) -> Request:
    body = {**BODY, **changed}
    about: Any = {"dataset": "votes", "person": person, "key": key}
    return approvals.submit(**about, body=body, describe=described)


def decide(approvals: Approvals, number: str, **changed: Any) -> Request:
    said: dict[str, Any] = {
        "approve": True,
        "by": "cora",
        "reason": None,
        "note": lambda text: None,
    }
    return approvals.decide(number, **(said | changed))


def test_a_request_waits_until_somebody_decides(approvals: Approvals) -> None:
    request = ask(approvals)
    assert request.status == "waiting"
    assert request.words == "Which of red and green is most frequent?"
    assert ask(approvals) == request  # asked again, it is the same
    assert approvals.listed(status="waiting") == [request]
    assert approvals.listed(person="ben") == []
    notes: list[str] = []
    done = decide(approvals, request.id, reason="For the  May\nreport", note=notes.append)
    assert (done.status, done.decided_by, done.reason) == ("approved", "cora", "For the May report")
    assert ask(approvals) == done == approvals.find(request.id)
    assert notes == [
        f"Approved the request {request.id} of ann, to be answered as ann/k1 for ε 1: Which of red "
        "and green is most frequent? Reason: For the May report"
    ]
    assert approvals.listed(status="waiting") == []


def test_what_was_approved_is_exactly_one_question(approvals: Approvals) -> None:
    decide(approvals, ask(approvals).id)
    with pytest.raises(NotDone, match="belongs to another question") as caught:
        ask(approvals, guarantee={"epsilon": "2"})
    assert caught.value.code == Code.NAME_TAKEN
    assert ask(approvals, key="k2").status == "waiting"
    assert ask(approvals, person="ben").status == "waiting"


def test_a_refusal_needs_a_reason(approvals: Approvals) -> None:
    number = ask(approvals).id
    for reason in (None, "", " \n", "\0", "x" * 1001):
        with pytest.raises(NotDone, match="A refusal needs a reason"):
            decide(approvals, number, approve=False, reason=reason)
    refused = decide(approvals, number, approve=False, reason="Too narrow")
    assert (refused.status, refused.reason) == ("refused", "Too narrow")
    assert ask(approvals).status == "refused"


def test_nobody_decides_on_their_own(approvals: Approvals) -> None:
    number = ask(approvals).id
    for approve in (True, False):
        with pytest.raises(NotDone, match="Nobody decides on a question of their own") as caught:
            decide(approvals, number, by="ann", approve=approve, reason="Because")
        assert caught.value.code == Code.FORBIDDEN
    assert approvals.find(number).status == "waiting"


def test_a_decision_is_not_changed(approvals: Approvals) -> None:
    number = ask(approvals).id
    decide(approvals, number)
    for approve in (True, False):
        with pytest.raises(NotDone, match="was approved by cora already") as caught:
            decide(approvals, number, by="dora", approve=approve, reason="Because")
        assert caught.value.code == Code.CONFLICT
    with pytest.raises(NotDone, match="There is no request of this id"):
        decide(approvals, "0" * 16)
    with pytest.raises(NotDone, match="There is no request of this id"):
        approvals.find("0" * 16)


def test_what_the_chain_does_not_say_is_not_approved(approvals: Approvals) -> None:
    number = ask(approvals).id

    def fails(text: str) -> None:
        raise LedgerError("The disk is full.")

    with pytest.raises(LedgerError):
        decide(approvals, number, note=fails)
    assert approvals.find(number).status == "waiting"


def test_one_of_eight_deciders_decides(places: Any) -> None:
    approvals = Approvals(Store.at(places()))
    book = Ledger.create(places(), dataset="votes", epsilon=1)
    number = ask(approvals).id

    def attempt(who: int) -> bool:
        try:
            decide(
                approvals,
                number,
                by=f"c{who}",
                approve=who % 2 == 0,
                reason="Because",
                note=lambda text: book.note(text, signed_by=f"c{who}"),
            )
        except NotDone:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        done = list(pool.map(attempt, range(8)))
    assert sum(done) == 1
    notes = [record for record in book.records() if record.kind == "note"]
    assert [note.content["signed_by"] for note in notes] == [f"c{done.index(True)}"]
    assert approvals.find(number).decided_by == f"c{done.index(True)}"


def test_eight_at_once_make_one_request(approvals: Approvals) -> None:
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: ask(approvals), range(8)))
    assert len(set(found)) == 1
    assert len(approvals.listed()) == 1
