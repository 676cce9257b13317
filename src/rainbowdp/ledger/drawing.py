"""Pay, draw and record in one transaction, so that a name has one answer whatever happens.

For services, whose clients ask again when they hear nothing. A name stands for one answer:

* the payment and the answer are on disk together before the answer leaves, or neither ever was;
* an entry that was paid for by ``spend`` and has no answer never showed anything, so that its name
  may still get one, at no new price;
* *the draw happens under the lock that lets nobody else write*. Of two who ask under one name, who
  draws is decided before anything is drawn, and the other one finds that answer. If both drew and
  the first recorded counted, the answer would be the one that was drawn faster, and how long a draw
  takes may depend on what is drawn.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from rainbowdp.errors import NameTaken
from rainbowdp.expecting import brief
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.ledger.balance import Balance
from rainbowdp.ledger.chain import Draft, Record, canonical
from rainbowdp.ledger.cost import Cost
from rainbowdp.ledger.entry import Charge, Entry, entry_of
from rainbowdp.ledger.together import Found, Job

if TYPE_CHECKING:
    from rainbowdp.ledger.book import Book


class Priced(NamedTuple):
    """A charge with its cost and the record of its payment, without its number."""

    charge: Charge
    cost: Cost
    draft: Draft


@dataclass(frozen=True, slots=True)
class Drawn:
    """An entry with its answer, and the budget after it.

    Attributes
    ----------
    entry : Entry
        On disk, with its answer.
    recalled : bool
        Whether it was answered at an earlier time, so that nothing was drawn now.
    balance : Balance
        At the moment of the transaction.

    """

    entry: Entry
    recalled: bool
    balance: Balance


class Drawer(ABC):
    """The part of a ledger that answers under a name, once."""

    where: str

    @abstractmethod
    def _done(self, job: Job[Found], *, writing: bool) -> Found:
        """What a job comes to, in a transaction."""

    @abstractmethod
    def _priced(self, charges: Sequence[Charge]) -> list[Priced]:
        """What is to be paid, or raise where it can never be."""

    @abstractmethod
    def _pay(self, book: Book, priced: Sequence[Priced]) -> list[Record]:
        """Pay for answers inside a transaction, or raise."""

    @abstractmethod
    def _seems_new(self, priced: Priced) -> bool:
        """Whether a look that takes no transaction finds nothing to recall or to refuse."""

    @abstractmethod
    def _must_pay(
        self, book: Book, payments: Sequence[tuple[Cost, str | None]], guarantee: Guarantee
    ) -> str | None:
        """Raise unless so much is left for payments from their sources."""

    def find(self, charge: Charge) -> Drawn | None:
        """The answer of a name, or raise what ``draw`` would raise of the budget as it is now.

        For refusing a question, or answering it for free, before its data is read. Only ``draw``
        decides: a ledger that keeps connections looks for the name, and at the budget as it last
        saw it, and into the ledger where either is in the way.

        Parameters
        ----------
        charge
            What is to be paid for.

        Returns
        -------
        Drawn or None
            ``None`` where there is something to be drawn.

        Raises
        ------
        BudgetExceeded
            If it costs more than is left.
        NameTaken
            If the name belongs to another question, guarantee or source.
        LedgerError
            If the ledger is for another unit or closed.

        """
        [priced] = self._priced([charge])
        if self._seems_new(priced):
            return None

        def look(book: Book) -> Drawn | None:
            past = self._past(book, charge)
            if past is None:
                self._must_pay(book, [(priced.cost, charge.source)], charge.guarantee)
            if past is None or past.answer is None:
                return None
            return Drawn(past, True, book.balance)

        return self._done(Job(look, charge.name), writing=False)

    def named(self, name: str) -> Drawn | None:
        """The entry of a name, if it has an answer.

        Parameters
        ----------
        name
            What the answer was named.

        Returns
        -------
        Drawn or None
            ``None`` if there is no such name, or no answer yet.

        """
        if not name.isprintable():  # nor could a payment have it, nor does every database take it
            return None

        def look(book: Book) -> Drawn | None:
            past = book.named(name)
            return None if past is None or past.answer is None else Drawn(past, True, book.balance)

        return self._done(Job(look, name), writing=False)

    def answered(self, names: Sequence[str]) -> set[str]:
        """Those names that have an answer.

        Parameters
        ----------
        names
            What answers may have been named.

        Returns
        -------
        set of str
            Some of them.

        """
        if not names:
            return set()

        def look(book: Book) -> set[str]:
            return book.answered(names)

        return self._done(Job(look), writing=False)

    def draw(self, charge: Charge, answer: Callable[[], str]) -> Drawn:
        """Pay for an answer, draw it and record it, all on disk when this returns.

        Parameters
        ----------
        charge
            What is to be paid for. If its name has an answer already, that is returned; if it was
            paid for and never answered, it is answered now and nothing is paid.
        answer
            Draws an answer, as text. It is called at most once, while nobody else can write, and
            must neither fail nor take long.

        Returns
        -------
        Drawn
            The entry with its answer.

        Raises
        ------
        BudgetExceeded
            If it costs more than is left.
        NameTaken
            If the name belongs to another question, guarantee or source.
        LedgerError
            If the ledger is for another unit or closed, or cannot be written.

        """
        priced = self._priced([charge])

        def pay_and_draw(book: Book) -> Callable[[], Drawn]:
            past = self._past(book, charge)
            if past is not None and past.answer is not None:
                found = Drawn(past, True, book.balance)
                return lambda: found
            paid = self._pay(book, priced)[0] if past is None else past
            number = paid.number if isinstance(paid, Record) else paid.paid.number
            drawn = answer()
            [answered] = book.add([Draft("answer", {"answer": drawn}, subject=number)])
            now = book.balance

            def told() -> Drawn:
                entry = entry_of(now, paid, None) if isinstance(paid, Record) else paid
                return Drawn(replace(entry, answer=drawn, answered=answered.head), False, now)

            return told

        # What can be put together without the lock is put together after it.
        return self._done(Job(pay_and_draw, charge.name), writing=True)()

    def _past(self, book: Book, charge: Charge) -> Entry | None:
        """The entry of the charge's name, which must be for the same."""
        past = None if charge.name is None else book.named(charge.name)
        if past is not None:
            must_be_the_same(past, charge, self.where)
        return past


def must_be_the_same(entry: Entry, charge: Charge, where: str) -> None:
    """Refuse a charge whose name belongs to something else."""
    name, other = entry.name, f"choose another name to ask {where} anew"
    if entry.question_text != canonical(charge.question, "question"):
        raise NameTaken(
            f"The name {brief(name)} belongs to a different question. Repeat that one as it was, "
            f"or {other}."
        )
    if entry.guarantee != charge.guarantee:
        raise NameTaken(
            f"The answer named {brief(name)} was drawn under {entry.guarantee}, not "
            f"{charge.guarantee}. "
            f"Ask under {entry.guarantee}, or {other}."
        )
    if entry.source != charge.source:
        raise NameTaken(
            f"The answer named {brief(name)} was drawn from {brief(entry.source)}, not from "
            f"{brief(charge.source)}. If that is the same data, give "
            f"source={brief(entry.source)}; if not, "
            f"{other}."
        )
