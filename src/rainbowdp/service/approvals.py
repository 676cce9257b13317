"""Questions that wait for a curator: asked, approved or refused with a reason, then answered once.

A question to a dataset with ``approval = true`` is kept as a request, by its asker and
``Idempotency-Key``. A decision is a signed note in the ledger's chain, written before the decision
counts, so that nothing is answered of which the chain does not say who allowed it. The asker then
asks again with the same key: the ledger's entry has the name ``<person>/<key>``, and a name is paid
for and answered once, so one approval is one answer.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import RowMapping, insert, select, update
from sqlalchemy.exc import IntegrityError

from rainbowdp.ledger.chain import canonical
from rainbowdp.service.people.store import REQUESTS, Store
from rainbowdp.service.problems import Code, NotDone

WAITING, APPROVED, REFUSED = "waiting", "approved", "refused"
_LONGEST_REASON = 1000
_PLAN = "plan"  # how it was asked for, in what is kept of a request


@dataclass(frozen=True, slots=True)
class Request:
    """A question that needs or needed a decision.

    Attributes
    ----------
    id : str
        By which it is decided on.
    dataset, person, key : str
        What was asked by whom, with which ``Idempotency-Key``.
    asked : str
        When.
    body : str
        The question and its guarantee as canonical JSON: what is approved is exactly this. Of a
        plan also how it was asked for, so that its asker can ask again from anywhere.
    words, price, certainty : str
        The question, what it costs, and how sure its answer will be, for the curator.
    status : str
        ``waiting``, ``approved`` or ``refused``.
    decided, decided_by, reason : str or None
        The decision.

    """

    id: str
    dataset: str
    person: str
    key: str
    asked: str
    body: str
    words: str
    price: str
    certainty: str | None
    status: str
    decided: str | None = None
    decided_by: str | None = None
    reason: str | None = None

    @property
    def exactly(self) -> str:
        """What is approved: the question and its guarantee, in whatever words it was asked for."""
        said = json.loads(self.body)
        return canonical({name: said[name] for name in said if name != _PLAN}, "request")

    def as_dict(self) -> dict[str, Any]:
        """In JSON values, for the curator and the asker."""
        said = json.loads(self.body)
        plan = said.pop(_PLAN, None)
        return {
            "request": self.id,
            "dataset": self.dataset,
            "person": self.person,
            "key": self.key,
            "asked": self.asked,
            **said,
            "plan": None if plan is None else json.loads(plan),
            "words": self.words,
            "price": self.price,
            "certainty": self.certainty,
            "status": self.status,
            "decided": self.decided,
            "decided_by": self.decided_by,
            "reason": self.reason,
        }


@dataclass(frozen=True)
class Approvals:
    """The requests in a store."""

    store: Store

    def submit(
        self,
        *,
        dataset: str,
        person: str,
        key: str,
        body: Mapping[str, Any],
        plan: Mapping[str, Any] | None = None,
        describe: Callable[[], tuple[str, str, str | None]],
    ) -> Request:
        """The request of this asker and key, as it was decided, or a new one that waits.

        Parameters
        ----------
        dataset, person, key
            What is asked by whom, with which ``Idempotency-Key``.
        body
            The question and its guarantee in JSON values.
        plan
            How a plan was asked for, in JSON values. Two that come to the same are the same.
        describe
            The words, the price and the certainty; called for a new request only.

        Raises
        ------
        NotDone
            If the key belongs to another question.

        """
        asked = {} if plan is None else {_PLAN: json.dumps(plan)}  # its questions have an order
        known = self._of_key(dataset, person, key)
        if known is None:
            words, price, certainty = describe()
            row = {
                "id": secrets.token_hex(8),
                "dataset": dataset,
                "person": person,
                "key": key,
                "asked": _now(),
                "body": canonical({**body, **asked}, "request"),
                "words": _line(words),
                "price": price,
                "certainty": None if certainty is None else _line(certainty),
                "status": WAITING,
            }
            try:
                with self.store.write() as connection:
                    connection.execute(insert(REQUESTS), row)
            except IntegrityError:  # the same was asked a moment ago, through another connection
                pass
            known = self._of_key(dataset, person, key)
            assert known is not None
        if known.exactly != canonical(body, "request"):
            raise NotDone(
                Code.NAME_TAKEN,
                "This Idempotency-Key belongs to another question of yours. Repeat that one as it "
                "was, or choose another key.",
            )
        return known

    def listed(self, *, person: str | None = None, status: str | None = None) -> list[Request]:
        """All requests, or those of a person or of a status, oldest first."""
        query = select(REQUESTS).order_by(REQUESTS.c.asked, REQUESTS.c.id)
        if person is not None:
            query = query.where(REQUESTS.c.person == person)
        if status is not None:
            query = query.where(REQUESTS.c.status == status)
        return [_request(row) for row in self.store.look(query)]

    def find(self, number: str) -> Request:
        """The request of an id."""
        found = self.store.look(select(REQUESTS).where(REQUESTS.c.id == number))
        if not found:
            raise _no_request()
        return _request(found[0])

    def decide(
        self,
        number: str,
        *,
        approve: bool,
        by: str,
        reason: str | None,
        note: Callable[[str], object],
    ) -> Request:
        """Approve or refuse a request that waits, once and for all.

        Parameters
        ----------
        number
            The id of the request.
        approve
            Whether its question may be answered.
        by
            Who decides.
        reason
            Why; a refusal needs one.
        note
            Writes a signed note into the ledger of the dataset. What it raises leaves the request
            as it was.

        Raises
        ------
        NotDone
            If there is no such request, it is decided, it is the decider's own, or a refusal has
            no reason.

        """
        said = _reason(reason, needed=not approve)
        status = APPROVED if approve else REFUSED
        query = select(REQUESTS).where(REQUESTS.c.id == number).with_for_update()
        with self.store.write() as connection:
            row = connection.execute(query).mappings().one_or_none()
            if row is None:
                raise _no_request()
            request = _request(row)
            if request.person == by:
                raise NotDone(
                    Code.FORBIDDEN,
                    "Nobody decides on a question of their own. Another curator must do it.",
                )
            if request.status != WAITING:
                raise NotDone(
                    Code.CONFLICT,
                    f"This request was {request.status} by {request.decided_by} already, and a "
                    "decision is not changed.",
                )
            cells = {"status": status, "decided": _now(), "decided_by": by, "reason": said}
            connection.execute(update(REQUESTS).where(REQUESTS.c.id == number), cells)
            note(_note(request, status, said))  # before it counts: the block ends after it
        return self.find(number)

    def _of_key(self, dataset: str, person: str, key: str) -> Request | None:
        this = (
            (REQUESTS.c.dataset == dataset)
            & (REQUESTS.c.person == person)
            & (REQUESTS.c.key == key)
        )
        found = self.store.look(select(REQUESTS).where(this))
        return _request(found[0]) if found else None


def _request(row: RowMapping) -> Request:
    return Request(**{name: row[name] for name in Request.__slots__})


def _note(request: Request, status: str, reason: str | None) -> str:
    why = "" if reason is None else f" Reason: {reason}"
    return (
        f"{status.capitalize()} the request {request.id} of {request.person}, to be answered as "
        f"{request.person}/{request.key} for {request.price}: {request.words}{why}"
    )


def _reason(reason: str | None, *, needed: bool) -> str | None:
    text = "" if reason is None else " ".join(reason.split())
    if not text and not needed:
        return None
    if not text or not text.isprintable() or len(text) > _LONGEST_REASON:
        raise NotDone(
            Code.INVALID_REQUEST,
            "A refusal needs a reason, and a reason is a sentence of up to "
            f"{_LONGEST_REASON} characters: it is recorded, and the asker reads it.",
        )
    return text


def _line(text: str) -> str:
    """On one line, as a ledger keeps notes."""
    return "".join(sign if sign.isprintable() else " " for sign in text)


def _no_request() -> NotDone:
    return NotDone(
        Code.UNKNOWN_REQUEST, "There is no request of this id. See the list of requests."
    )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")
