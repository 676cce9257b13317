"""One answer out of one table, paid for before it is drawn and recorded before it is seen.

The order is what makes it safe. Whether the question fits the ledger is decided before any data
is read; a table that cannot be read leaves the ledger as it was; the payment is on disk before
the draw; the answer is on disk before it is returned. A crash anywhere costs budget at most.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any

from rainbowdp.aliases import Answer, Dataset
from rainbowdp.answering.mechanism import QuestionMechanism
from rainbowdp.errors import LedgerError, RainbowError
from rainbowdp.tables import SQLTable

if TYPE_CHECKING:  # a ledger brings SQLAlchemy, which only those who have one load
    from rainbowdp.ledger import Entry, Ledger


@dataclass(frozen=True)
class Release:
    """An answer that may go out, and the ledger's entry for it."""

    answer: Answer
    entry: Entry | None = None
    recalled: bool = False


def ask(
    mechanism: QuestionMechanism,
    table: Dataset,
    *,
    ledger: Ledger | None,
    name: str | None = None,
    progress: Callable[[float], None] | None = None,
) -> Release:
    """Answer the mechanism's question from ``table``, entered in ``ledger``.

    A ``name`` makes the answer memorable: asked again under the same name, the same question
    gets the recorded answer for free, and a different question is refused. ``ledger=None`` keeps
    no record; then adding up what is spent is up to the caller.

    >>> from rainbowdp import DP, Winner, best
    >>> poll = best(Winner(["red", "green"]), DP(20))
    >>> ask(poll, {"red": 1000, "green": 7}, ledger=None).answer
    'red'
    """
    if not isinstance(mechanism, QuestionMechanism):
        raise RainbowError(
            "ask needs a question's mechanism such as best(question, DP(1)), "
            f"got {type(mechanism).__name__}; a graph's mechanism has release(dataset)"
        )
    if isinstance(ledger, str | PathLike):
        raise LedgerError(f"ask needs an open ledger, got {str(ledger)!r}; use Ledger.open(...)")
    exact = mechanism.exact()
    description = {**_description(mechanism), "table": _source(table)}
    neighbors = mechanism.question.neighbors
    if ledger is not None:
        if name is not None:
            past = ledger.recall(name, description, guarantee=mechanism.guarantee)
            if past is not None:
                return _remembered(past, name)
        ledger.must_fit(mechanism.guarantee, neighbors=neighbors)
    draw = exact.ready(mechanism.counts(table, progress))
    if ledger is None:
        return Release(draw())
    entry = ledger.spend(mechanism.guarantee, question=description, neighbors=neighbors, name=name)
    answer = draw()
    return Release(answer, ledger.record(entry, str(answer)))


def _remembered(past: Entry, name: str) -> Release:
    if past.answer is None:
        raise LedgerError(
            f"a name stands for one answer, but the answer of name={name!r} was paid for and never "
            "recorded; ask again under another name"
        )
    return Release(past.answer, past, recalled=True)


def _source(table: Dataset) -> str | None:
    """Where the data is, so that a name stands for one question to one table."""
    if isinstance(table, SQLTable):
        return ".".join(part for part in (table.schema, table.table) if part is not None)
    return str(table) if isinstance(table, str | PathLike) else None


def _description(mechanism: QuestionMechanism) -> dict[str, Any]:
    """The question and what answers it, as the ledger keeps them."""
    described = mechanism.question.describe()
    return {**described, "mechanism": mechanism.name, **mechanism.family.options()}
