"""An entry of the ledger as a reply: its answer read, and what it proves in words.

By the kind of its question alone, so that an answer can be told without making its mechanism again.
"""

from __future__ import annotations

import json
from typing import Any

from rainbowdp.answering.coverage import Coverage
from rainbowdp.answering.intervals import Precision
from rainbowdp.answering.naming import Naming
from rainbowdp.answering.release import Statement
from rainbowdp.answering.testing import Significance
from rainbowdp.ledger import Drawn, Entry
from rainbowdp.sessions.plan import Together

_OURS = ("source", "role")  # where the data is, and the login of the service
_STATEMENTS: dict[str, type[Statement]] = {
    "count": Precision,
    "proportion-test": Significance,
    "keys": Naming,
    "plan": Together,
}


def told_entry(entry: Entry) -> dict[str, Any]:
    """An entry without what is the curator's own."""
    return {key: value for key, value in entry.as_dict().items() if key not in _OURS}


def told_answer(drawn: Drawn, proof: str | None = None) -> dict[str, Any]:
    """An answer with what it proves, ready for JSON."""
    entry = drawn.entry
    answer = read_answer(entry.question, entry.answer or "")
    grouped = entry.question.get("by") is not None
    proves = (entry.mechanism or {}).get("proves")
    statement = _STATEMENTS.get(str(entry.question.get("kind")), Coverage)
    restored = None if proves is None else statement.restore(proves)
    return {
        "answer": answer,
        "proves": proved(restored, None if grouped else answer),
        "proof": proof,
        "entry": told_entry(entry),
        "recalled": drawn.recalled,
        "head": str(entry.head),
        "left": drawn.balance.left.as_dict(),
    }


def proved(proves: Statement | None, answer: object = None) -> dict[str, Any] | None:
    """What an answer proves, ready for JSON."""
    return None if proves is None else {**proves.describe(), "in_words": proves.in_words(answer)}


def read_answer(question: dict[str, Any], text: str) -> Any:
    """The answer that a ledger keeps as text, by the kind of its question."""
    kind = question.get("kind")
    if kind == "plan":
        told = json.loads(text)
        asked = {one["name"]: one["question"] for one in question["questions"]}
        return {name: read_answer(asked[name], found) for name, found in told.items()}
    if question.get("by") is not None or kind == "keys":
        return json.loads(text)
    return int(text) if kind == "count" else text
