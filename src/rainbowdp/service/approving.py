"""Whether a question of a dataset may be answered, or waits for a curator."""

from __future__ import annotations

from rainbowdp.answering.askable import Askable
from rainbowdp.guarantees.descriptions import describe_guarantee
from rainbowdp.questions.words import in_words
from rainbowdp.service import schema
from rainbowdp.service.approvals import REFUSED, WAITING, Approvals, Request
from rainbowdp.service.asking import entry_name
from rainbowdp.service.datasets import Dataset
from rainbowdp.service.people.roles import Person
from rainbowdp.service.problems import Code, Problem


def requested(
    approvals: Approvals,
    dataset: Dataset,
    person: Person,
    mechanism: Askable,
    key: str | None,
    plan: schema.Plan | None = None,
) -> Request | None:
    """The request that waits for a curator, or nothing if the question may be answered.

    ``plan`` is how a plan was asked for.
    """
    if key is None:
        raise Problem(
            Code.INVALID_REQUEST,
            "Questions to this dataset wait for a curator: send an Idempotency-Key, and ask again "
            "with it later.",
        )
    ledger = dataset.ledger_for(person)
    if ledger.find(dataset.charge(mechanism, entry_name(person, key))) is not None:
        return None  # answered before, and recalled for free
    asked = mechanism.question.describe()

    def describe() -> tuple[str, str, str | None]:
        proves = mechanism.proves()
        price = ledger.price(mechanism.guarantee).in_symbols()
        return in_words(asked), price, None if proves is None else proves.in_words(None)

    request = approvals.submit(
        dataset=dataset.name,
        person=person.name,
        key=key,
        body={"question": asked, "guarantee": describe_guarantee(mechanism.guarantee)},
        plan=None if plan is None else plan.model_dump(mode="json", exclude_unset=True),
        describe=describe,
    )
    if request.status == REFUSED:
        raise Problem(Code.REFUSED, f"{request.decided_by} refused this question: {request.reason}")
    return request if request.status == WAITING else None
