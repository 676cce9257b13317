"""What the ledger hands out: entries and the balance."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rainbowdp.errors import LedgerError
from rainbowdp.guarantees.descriptions import describe_guarantee
from rainbowdp.ledger.cost import Cost, Payable
from rainbowdp.questions.units import Unit


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
    mechanism_text : str or None
        The kind of mechanism that drew the answer, with its options, as JSON.
    guarantee : DP, GaussianDP or ZeroConcentrated
        What was promised.
    cost : Cost
        What it cost.
    answer : str or None
        ``None`` between payment and recording. If it stays ``None``, a crash came in between: the
        answer was never shown, and the name is used up.

    """

    number: int
    time: str
    name: str | None
    dataset: str
    unit: Unit
    neighbors: str
    source: str | None
    question_text: str
    mechanism_text: str | None
    guarantee: Payable
    cost: Cost
    answer: str | None

    @property
    def question(self) -> dict[str, Any]:
        """The question as it was described."""
        described: dict[str, Any] = json.loads(self.question_text)
        return described

    @property
    def mechanism(self) -> dict[str, Any] | None:
        """The kind of mechanism that drew the answer, with its options."""
        return None if self.mechanism_text is None else json.loads(self.mechanism_text)

    def as_dict(self) -> dict[str, Any]:
        """The entry in JSON values; fractions as text."""
        return {
            "number": self.number,
            "time": self.time,
            "name": self.name,
            "dataset": self.dataset,
            "unit": self.unit.describe(),
            "neighbors": self.neighbors,
            "source": self.source,
            "question": self.question,
            "mechanism": self.mechanism,
            "guarantee": describe_guarantee(self.guarantee),
            "cost": self.cost.as_dict(),
            "answer": self.answer,
        }


@dataclass(frozen=True, slots=True)
class Balance:
    """A budget at one moment, and what it is for.

    Attributes
    ----------
    dataset : str
        The name of the data whose people the budget protects.
    unit : Unit
        Whose data one change is: a record, or a person.
    neighbors : str
        What one change is: ``substituted`` or ``added or removed``.
    kind : str
        ``dp`` for a budget in ε and δ, ``gaussian`` for one in μ, ``zero-concentrated`` in ρ.
    total, spent, left : Cost
        Exact amounts; ``left`` is never negative.
    entries : int
        How many answers were paid for.
    sources : tuple of str or None
        Where the data of those answers was, in the order of their first use.

    """

    dataset: str
    unit: Unit
    neighbors: str
    kind: str
    total: Cost
    spent: Cost
    left: Cost
    entries: int
    sources: tuple[str | None, ...]

    def as_dict(self) -> dict[str, Any]:
        """The balance in JSON values; fractions as text."""
        return {
            "dataset": self.dataset,
            "unit": self.unit.describe(),
            "neighbors": self.neighbors,
            "kind": self.kind,
            "total": self.total.as_dict(),
            "spent": self.spent.as_dict(),
            "left": self.left.as_dict(),
            "entries": self.entries,
            "sources": list(self.sources),
        }


def canonical(described: Mapping[str, Any], what: str) -> str:
    """A description as canonical JSON: equal descriptions, equal text.

    >>> canonical({"column": "choice", "among": ("red", "blue")}, "question")
    '{"among":["red","blue"],"column":"choice"}'
    """
    try:
        if not isinstance(described, Mapping):
            raise TypeError
        return json.dumps(dict(described), sort_keys=True, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        raise LedgerError(
            f"The {what} must be described by a mapping of JSON values, "
            f"got {type(described).__name__} {_brief(described)}."
        ) from None


def check_label(label: str, what: str) -> None:
    """Refuses a label that a database or a terminal might not show as it is."""
    if not (isinstance(label, str) and label.strip() and label.isprintable()):
        raise LedgerError(f"The {what} must be printable text, got {_brief(label)}.")


def check_name(name: str | None, source: str | None) -> None:
    """Refuses a name for an answer that could never be recalled, and labels that are none."""
    if source is not None:
        check_label(source, "source")
    if name is None:
        return
    check_label(name, "name")
    if source is None:
        raise LedgerError(
            f"The name {name!r} needs a source: a named answer is recalled only for the data that "
            "it was drawn from, and a frame or counts do not say what they are. Declare it, "
            "as in source='visits, frozen 2026-11-01', or ask without a name."
        )


def _brief(value: object) -> str:
    try:
        text = repr(value)
    except (ValueError, RecursionError):
        return "that cannot be shown"
    return text if len(text) <= 80 else text[:77] + "..."
