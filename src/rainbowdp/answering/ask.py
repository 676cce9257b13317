"""One answer out of one table, paid for before it is drawn and recorded before it is seen.

The order is what makes it safe. Whether the question fits the ledger is decided before a mechanism
is made or any data is read; a table that cannot be read leaves the ledger as it was; the payment is
on disk before the draw; the answer is on disk before it is returned. A crash anywhere costs budget
at most.
"""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from typing import TYPE_CHECKING, Any, overload

from rainbowdp.aliases import Dataset
from rainbowdp.answering.askable import Askable
from rainbowdp.answering.counting import CountMechanism, CountRelease
from rainbowdp.answering.release import Release
from rainbowdp.answering.sources import source_of
from rainbowdp.errors import LedgerError, RainbowError
from rainbowdp.expecting import brief
from rainbowdp.questions.units import unit_of
from rainbowdp.questions.words import in_words
from rainbowdp.tables import must_exist

if TYPE_CHECKING:  # a ledger brings SQLAlchemy, which only those who have one load
    from rainbowdp.ledger import Entry, Ledger


@overload
def ask(
    mechanism: CountMechanism,
    table: Dataset,
    *,
    ledger: Ledger | None,
    name: str | None = None,
    source: str | None = None,
    progress: Callable[[float], None] | None = None,
) -> CountRelease: ...


@overload
def ask(
    mechanism: Askable,
    table: Dataset,
    *,
    ledger: Ledger | None,
    name: str | None = None,
    source: str | None = None,
    progress: Callable[[float], None] | None = None,
) -> Release: ...


def ask(
    mechanism: Askable,
    table: Dataset,
    *,
    ledger: Ledger | None,
    name: str | None = None,
    source: str | None = None,
    progress: Callable[[float], None] | None = None,
) -> Release:
    """Answer the mechanism's question from a table, entered in a ledger.

    Parameters
    ----------
    mechanism
        A question's mechanism, such as ``best(question, DP(1))``, in groups or not.
    table
        A file, a frame, a database table or counts.
    ledger
        The ledger that pays; its unit and neighbor relation must be the question's. ``None`` keeps
        no record, and you have to add up what was spent.
    name
        Remembers the answer. Asked again by this name, the same question of the same source under
        the same guarantee gets the recorded answer for free, whichever mechanism drew it, and
        anything else is refused.
    source
        What to call the data in the ledger. A file is called by its resolved path, a database
        table by its place; a frame or counts have no source unless you declare one, and
        without one nothing is recalled.
    progress
        Called with numbers from 0 to 1 while files are read.

    Returns
    -------
    Release
        The answer and its entry, both on disk.

    Raises
    ------
    BudgetExceeded
        If the question costs more than is left. No data was read.
    LedgerError
        If the ledger is for another unit, or the name belongs to another question.
    UnreadableTable
        If the table cannot be read. Nothing was spent.

    Examples
    --------
    >>> from rainbowdp import DP, Winner, best
    >>> poll = best(Winner(["red", "green"]), DP(20))
    >>> ask(poll, {"red": 1000, "green": 7}, ledger=None).answer
    'red'

    """
    if not isinstance(mechanism, Askable):
        raise RainbowError(
            "ask needs a question's mechanism such as best(question, DP(1)), "
            f"got {type(mechanism).__name__}; a graph's mechanism has release(dataset)"
        )
    if isinstance(ledger, str | PathLike):
        raise LedgerError(
            f"ask needs an open ledger, got {brief(str(ledger))}. Use Ledger.open(...)."
        )
    if ledger is not None and not hasattr(ledger, "must_fit"):
        raise LedgerError(f"ask needs a Ledger or None, got {type(ledger).__name__}")
    question, guarantee = mechanism.question, mechanism.guarantee
    unit, neighbors = unit_of(question), question.neighbors
    described, origin = question.describe(), source_of(table, source)
    if ledger is not None:
        if name is not None:
            past = ledger.recall(name, question=described, guarantee=guarantee, source=origin)
            if past is not None:
                return _remembered(mechanism, past)
        ledger.must_fit(guarantee, unit=unit, neighbors=neighbors, source=origin, name=name)
    if question.groups:  # otherwise a table is whatever the question takes
        must_exist(table)
    # What can be refused at once was refused; making a mechanism may take a while.
    draw = mechanism.ready(table, progress)
    proves = mechanism.proves()
    if ledger is None:
        return mechanism.released(draw(), proves=proves)
    entry = ledger.spend(
        guarantee,
        question=described,
        unit=unit,
        neighbors=neighbors,
        source=origin,
        mechanism=mechanism.describe(),
        name=name,
        words=in_words(described),
    )
    answer: Any = draw()
    recorded = ledger.record(entry, mechanism.to_text(answer))
    return mechanism.released(answer, recorded, proves=proves)


def _remembered(mechanism: Askable, past: Entry) -> Release:
    if past.answer is None:
        raise LedgerError(
            f"The answer named {brief(past.name)} was paid for but never recorded, so it is "
            "lost. Ask "
            "again under another name."
        )
    told = (past.mechanism or {}).get("proves")
    proves = None if told is None else mechanism.statement.restore(told)
    answer = mechanism.from_text(past.answer)
    return mechanism.released(answer, past, recalled=True, proves=proves)
