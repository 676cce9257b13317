"""What the ledger hands out: entries and the balance."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rainbowdp.errors import LedgerError
from rainbowdp.guarantees.descriptions import describe_guarantee
from rainbowdp.guarantees.dp import DP
from rainbowdp.guarantees.gaussian import GaussianDP
from rainbowdp.ledger.cost import Cost


@dataclass(frozen=True, slots=True)
class Entry:
    """One question that was paid, and its answer once that is recorded.

    ``answer`` is None between payment and recording; an entry that stays so was cut off by a
    crash, its answer was never shown, and its name is used up. ``time`` is when it was paid, in
    UTC by ISO 8601. Nothing but the answer depends on the data.
    """

    number: int
    time: str
    name: str | None
    question_text: str
    guarantee: DP | GaussianDP
    cost: Cost
    answer: str | None

    @property
    def question(self) -> dict[str, Any]:
        """The question as it was described."""
        described: dict[str, Any] = json.loads(self.question_text)
        return described

    def as_dict(self) -> dict[str, Any]:
        """The entry in JSON values; fractions as text."""
        return {
            "number": self.number,
            "time": self.time,
            "name": self.name,
            "question": self.question,
            "guarantee": describe_guarantee(self.guarantee),
            "cost": self.cost.as_dict(),
            "answer": self.answer,
        }


@dataclass(frozen=True, slots=True)
class Balance:
    """A budget: in total, spent and left, exactly; ``left`` is never negative."""

    kind: str
    neighbors: str
    total: Cost
    spent: Cost
    left: Cost
    entries: int

    def as_dict(self) -> dict[str, Any]:
        """The balance in JSON values; fractions as text."""
        return {
            "kind": self.kind,
            "neighbors": self.neighbors,
            "total": self.total.as_dict(),
            "spent": self.spent.as_dict(),
            "left": self.left.as_dict(),
            "entries": self.entries,
        }


def canonical(question: Mapping[str, Any]) -> str:
    """A question's description as canonical JSON: equal descriptions, equal text.

    >>> canonical({"column": "choice", "among": ("red", "blue")})
    '{"among":["red","blue"],"column":"choice"}'
    """
    try:
        if not isinstance(question, Mapping):
            raise TypeError
        return json.dumps(dict(question), sort_keys=True, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        raise LedgerError(
            "a question must be described by a mapping of JSON values, "
            f"got {type(question).__name__} {_brief(question)}"
        ) from None


def check_name(name: str) -> None:
    """Refuses a name that a database might not keep as it is."""
    if not (isinstance(name, str) and name.strip() and name.isprintable()):
        raise LedgerError(f"a name must be printable text, got name={name!r}")


def _brief(value: object) -> str:
    try:
        text = repr(value)
    except (ValueError, RecursionError):
        return "that cannot be shown"
    return text if len(text) <= 80 else text[:77] + "..."
