"""What a ledger is asked to pay for, and the entries that it hands out."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from rainbowdp.display import cards
from rainbowdp.errors import LedgerError
from rainbowdp.expecting import brief
from rainbowdp.guarantees.descriptions import describe_guarantee, restore_guarantee
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.ledger.balance import Balance
from rainbowdp.ledger.chain import Draft, Head, Record, canonical
from rainbowdp.ledger.cost import KINDS, Cost, Payable, restore_cost
from rainbowdp.questions.units import Unit
from rainbowdp.questions.words import in_words


@dataclass(frozen=True, slots=True)
class Charge:
    """One answer that is to be paid for, as ``Ledger.spend_all`` takes it.

    Parameters
    ----------
    guarantee
        What the answer keeps, as ``DP``, ``GaussianDP`` or ``ZeroConcentrated``.
    question
        A description of the question in JSON values.
    unit, neighbors
        What the guarantee is about; they must be those of the ledger.
    source
        Where the data is: a path, a database and its table, or a name you give it.
    mechanism
        The kind of mechanism that draws, with its options, in JSON values.
    name
        A name to recall the answer by; needs a source.
    words
        The question as a person would say it.

    """

    guarantee: Guarantee
    question: Mapping[str, Any]
    unit: Unit
    neighbors: str
    source: str | None = None
    mechanism: Mapping[str, Any] | None = None
    name: str | None = None
    words: str | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """One question that was paid for, and its answer once that is recorded.

    Nothing but the answer depends on the data.

    Attributes
    ----------
    number : int
        1 for the first question of the ledger, and so on.
    time : str
        When it was paid for, just before the answer was drawn: UTC, in ISO 8601.
    name : str or None
        The name by which the answer is recalled.
    dataset, unit, neighbors
        What the ledger is for.
    source : str or None
        Where the data was: a path, a database and its table, or what the caller declared.
    question_text : str
        The question's description as canonical JSON.
    words : str or None
        The question as a person would say it.
    mechanism_text : str or None
        The kind of mechanism that drew the answer, with its options, as JSON.
    guarantee : DP, GaussianDP or ZeroConcentrated
        What was promised.
    cost : Cost
        What it cost.
    by, role : str or None
        Who asked: the user of the operating system or the service, and the role of the database.
    software : str or None
        The release that asked.
    paid : Head
        The record of the payment.
    answer : str or None
        ``None`` between payment and recording. If it stays ``None``, a crash came in between: the
        answer was never shown, and the name is used up.
    answered : Head or None
        The record of the answer.

    """

    number: int
    time: str
    name: str | None
    dataset: str
    unit: Unit
    neighbors: str
    source: str | None
    question_text: str
    words: str | None
    mechanism_text: str | None
    guarantee: Payable
    cost: Cost
    by: str | None
    role: str | None
    software: str | None
    paid: Head
    answer: str | None = None
    answered: Head | None = None

    @property
    def head(self) -> Head:
        """The head of the chain once all that is known of this entry was in it."""
        return self.paid if self.answered is None else self.answered

    @property
    def question(self) -> dict[str, Any]:
        """The question as it was described."""
        described: dict[str, Any] = json.loads(self.question_text)
        return described

    @property
    def mechanism(self) -> dict[str, Any] | None:
        """The kind of mechanism that drew the answer, with its options."""
        return None if self.mechanism_text is None else json.loads(self.mechanism_text)

    @property
    def in_words(self) -> str:
        """The question as it was put into words, or as we put it where nobody did."""
        return in_words(self.question) if self.words is None else self.words

    def _repr_html_(self) -> str:
        named: dict[str, object] = {
            "answer": "none yet" if self.answer is None else self.answer,
            "cost": self.cost.in_symbols(),
            "guarantee": f"{self.guarantee}, {self.unit} {self.neighbors}",
            "asked": f"{self.time[:16].replace('T', ' ')} UTC, by {self.by}",
        }
        named |= {"name": self.name} if self.name is not None else {}
        named |= {"source": self.source} if self.source is not None else {}
        named["head"] = self.head.short
        words = cards.text(self.in_words, 300)
        return cards.card(f"Entry {self.number} of {self.dataset}", words, cards.facts(named))

    def as_dict(self) -> dict[str, Any]:
        """The entry in JSON values; fractions as text."""
        return {
            "number": self.number,
            "time": self.time,
            "name": self.name,
            "dataset": self.dataset,
            "unit": self.unit.describe(),
            "neighbors": str(self.neighbors),
            "source": self.source,
            "question": self.question,
            "words": self.words,
            "mechanism": self.mechanism,
            "guarantee": describe_guarantee(self.guarantee),
            "cost": self.cost.as_dict(),
            "by": self.by,
            "role": self.role,
            "software": self.software,
            "answer": self.answer,
            "paid": str(self.paid),
            "head": str(self.head),
        }

    @classmethod
    def restore(cls, said: Mapping[str, Any]) -> Entry:
        """The entry that ``as_dict`` described, as a service says it: the source may be left out.

        Parameters
        ----------
        said
            What ``as_dict`` made.

        Returns
        -------
        Entry
            An equal one.

        """
        mechanism, answer = said["mechanism"], said["answer"]
        return cls(
            number=said["number"],
            time=said["time"],
            name=said["name"],
            dataset=said["dataset"],
            unit=Unit.restore(said["unit"]),
            neighbors=said["neighbors"],
            source=said.get("source"),
            question_text=canonical(said["question"], "question"),
            words=said["words"],
            mechanism_text=None if mechanism is None else canonical(mechanism, "mechanism"),
            guarantee=_guarantee(canonical(said["guarantee"], "guarantee")),
            cost=restore_cost(said["cost"]),
            by=said["by"],
            role=said.get("role"),
            software=said.get("software"),
            paid=Head.parse(said["paid"]),
            answer=answer,
            answered=None if answer is None else Head.parse(said["head"]),
        )


def payment(
    charge: Charge, cost: Cost, number: int, by: str | None, role: str | None, software: str | None
) -> Draft:
    """The record of a payment, to be added."""
    mechanism = charge.mechanism
    return Draft(
        "payment",
        {
            "entry": number,
            "source": charge.source,
            "question": json.loads(canonical(charge.question, "question")),
            "words": charge.words,
            "mechanism": None
            if mechanism is None
            else json.loads(canonical(mechanism, "mechanism")),
            "guarantee": _described(charge.guarantee),
            "cost": cost.as_dict(),
            "by": by,
            "role": role,
            "software": software,
        },
        name=charge.name,
    )


def entry_of(balance: Balance, paid: Record, answered: Record | None) -> Entry:
    """The entry of a payment and of its answer, if there is one."""
    said = paid.content
    mechanism = said["mechanism"]
    return Entry(
        number=said["entry"],
        time=paid.time,
        name=paid.name,
        dataset=balance.dataset,
        unit=balance.unit,
        neighbors=balance.neighbors,
        source=said["source"],
        question_text=canonical(said["question"], "question"),
        words=said["words"],
        mechanism_text=None if mechanism is None else canonical(mechanism, "mechanism"),
        guarantee=_guarantee(canonical(said["guarantee"], "guarantee")),
        cost=_cost(balance.kind, canonical(said["cost"], "cost")),
        by=said["by"],
        role=said["role"],
        software=said["software"],
        paid=paid.head,
        answer=None if answered is None else answered.content["answer"],
        answered=None if answered is None else answered.head,
    )


@lru_cache(maxsize=1024)  # a million entries have few guarantees, and reading one takes longest
def _guarantee(text: str) -> Payable:
    guarantee = restore_guarantee(json.loads(text))
    assert isinstance(guarantee, Payable)
    return guarantee


@lru_cache(maxsize=1024)
def _cost(kind: str, text: str) -> Cost:
    return KINDS[kind].restore(json.loads(text))


def _described(guarantee: Guarantee) -> dict[str, Any]:
    try:
        return describe_guarantee(guarantee)
    except ValueError:  # Python prints numbers of 4300 digits at most
        raise LedgerError(
            "A ledger keeps guarantees of up to 4300 digits, and this one is longer. Give epsilon, "
            "delta, mu and rho as short decimals."
        ) from None


def check_label(label: str, what: str) -> None:
    """Refuses a label that a database or a terminal might not show as it is."""
    if not (isinstance(label, str) and label.strip() and label.isprintable()):
        raise LedgerError(f"The {what} must be printable text, got {brief(label)}.")


def check_name(name: str | None, source: str | None) -> None:
    """Refuses a name for an answer that could never be recalled, and labels that are none."""
    if source is not None:
        check_label(source, "source")
    if name is None:
        return
    check_label(name, "name")
    if source is None:
        raise LedgerError(
            f"The name {brief(name)} needs a source: a named answer is recalled only for the "
            "data that "
            "it was drawn from, and a frame or counts do not say what they are. Declare it, "
            "as in source='visits, frozen 2026-11-01', or ask without a name."
        )
