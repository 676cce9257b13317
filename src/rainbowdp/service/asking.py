"""A question of a dataset for a person: its guarantee, its price, its answer."""

from __future__ import annotations

from typing import Any

from rainbowdp.answering.askable import Askable
from rainbowdp.guarantees.descriptions import describe_guarantee, warning_about
from rainbowdp.guarantees.dp import DP
from rainbowdp.guarantees.gaussian import GaussianDP
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.guarantees.zero_concentrated import ZeroConcentrated
from rainbowdp.ledger import Drawn
from rainbowdp.questions import unit_of
from rainbowdp.service import schema
from rainbowdp.service.datasets import Dataset
from rainbowdp.service.people.roles import Person
from rainbowdp.service.state import Deadline
from rainbowdp.service.telling import proved
from rainbowdp.sessions.session import Explanation


def guarantee_of(given: schema.Guarantee) -> Guarantee:
    """The guarantee that a request asks for."""
    if isinstance(given, schema.Epsilon):
        return DP(given.epsilon, given.delta)
    return GaussianDP(given.mu) if isinstance(given, schema.Mu) else ZeroConcentrated(given.rho)


def description_of(question: Any) -> dict[str, Any]:
    """A question of a request as its description; what was left out is left out."""
    found: dict[str, Any] = question.model_dump(exclude_unset=True)
    for name in ("neighbors", "rows_per_person", "by"):
        if found.get(name, "") is None:
            del found[name]
    if found.get("by") is None and found.get("groups_are_public") is False:
        del found["groups_are_public"]
    if found["kind"] == "threshold" and found.get("weight") is None:
        number = found["at_least"]
        found["at_least"] = int(number) if number.isascii() and number.isdigit() else number
    return found


def entry_name(person: Person, key: str) -> str:
    """The name of a person's answer in the ledger."""
    return answer_name(person.name, key)


def answer_name(person: str, key: str) -> str:
    """The same, of somebody of this name."""
    return f"{person}/{key}"


def answered(
    dataset: Dataset, person: Person, mechanism: Askable, name: str | None, deadline: Deadline
) -> Drawn:
    """Answer a question from the data, or recall its answer; paid for and on disk."""
    ledger, charge = dataset.ledger_for(person), dataset.charge(mechanism, name)
    found = ledger.find(charge)
    if found is not None:
        return found
    draw = dataset.ready(mechanism, deadline.progress)
    deadline.check()  # the last moment at which nothing was spent
    return ledger.draw(charge, lambda: mechanism.to_text(draw()))


def explained(mechanism: Askable, price: dict[str, Any], words: Explanation) -> dict[str, Any]:
    """What a question would do and cost, ready for JSON."""
    whom = unit_of(mechanism.question).whom
    return {
        **price,
        "facts": words.facts(),
        "mechanism": mechanism.name,
        "claim": mechanism.claim,
        "proof": mechanism.proof_in_words,
        "proves": proved(mechanism.proves()) or {},
        "guarantee": describe_guarantee(mechanism.guarantee),
        "in_words": mechanism.guarantee.in_words(whom),
        "best_guess": float(mechanism.guarantee.best_guess()),
        "warning": warning_about(mechanism.guarantee, whom),
    }
