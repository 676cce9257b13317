"""Plans of a dataset: many questions in one payment."""

from __future__ import annotations

import json

from rainbowdp.service import schema
from rainbowdp.service.asking import description_of, guarantee_of
from rainbowdp.service.datasets import Dataset
from rainbowdp.service.problems import Code, Problem
from rainbowdp.service.state import Service
from rainbowdp.sessions.paying import left_of
from rainbowdp.sessions.plan import Plan
from rainbowdp.sessions.planning import plan
from rainbowdp.sessions.targets import Target

_WISHES = ("weight", "sure", "margin", "shares", "people")


def planned(service: Service, dataset: Dataset, given: schema.Plan) -> Plan:
    """The plan that a request asks for; without a total, of what is left in the ledger."""
    targets = {name: _target(dataset, one) for name, one in given.questions.items()}
    if given.total is not None:
        total = guarantee_of(given.total)
        dataset.ledger.price(total)  # refused before anything is planned
    elif all(target.demanding for target in targets.values()):
        total = None
    else:
        total = left_of(dataset.ledger.balance())
    asked = [target.question.describe() for target in targets.values()]
    key = json.dumps([given.model_dump(mode="json"), asked, repr(total)], sort_keys=True)
    made = service.mechanisms.made(
        key, lambda: plan(targets, total, delta=given.delta, currency=given.currency)
    )
    assert isinstance(made, Plan)
    return made


def must_have_a_total(given: schema.Plan) -> None:
    """A plan that is asked says its total, so that a retry is of the same plan."""
    if given.total is None:
        raise Problem(
            Code.INVALID_REQUEST,
            "A plan that is asked needs a total, what all answers keep together: take the one that "
            "/plan replied.",
        )


def _target(dataset: Dataset, given: schema.Target) -> Target:
    question = dataset.question(description_of(given.question))
    wishes = given.model_dump(include=set(_WISHES), exclude_unset=True)
    return Target(question, **wishes)
