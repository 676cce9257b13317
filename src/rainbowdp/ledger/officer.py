"""What the owner of a ledger may do besides: notes, more budget, limits, closing, linking.

All of it is added to the chain, by a named person, and nothing is ever edited.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from rainbowdp.errors import InvalidGuarantee, LedgerError
from rainbowdp.ledger.balance import Balance
from rainbowdp.ledger.budget import as_given, budget
from rainbowdp.ledger.chain import Draft, Record
from rainbowdp.ledger.cost import KINDS, Cost
from rainbowdp.ledger.entry import check_label
from rainbowdp.ledger.limits import whose
from rainbowdp.ledger.software import SOFTWARE
from rainbowdp.ledger.windows import Period
from rainbowdp.numeric.quantity import Number, exact

if TYPE_CHECKING:
    from rainbowdp.ledger.book import Book

_UNCHANGED = "Nothing was changed."


class Officer(ABC):
    """The part of a ledger that its owner uses."""

    where: str
    identity: str
    kind: str
    by: str

    @abstractmethod
    def balance(self) -> Balance:
        """Look at the budget."""

    @abstractmethod
    def _writing(self, otherwise: str = ...) -> AbstractContextManager[Book]:
        """A transaction."""

    def note(self, text: str, *, about: int | None = None, signed_by: str | None = None) -> Record:
        """Add a note, about the ledger or about one entry.

        Parameters
        ----------
        text
            What is to be said.
        about
            The number of the entry that it is about.
        signed_by
            The person who answers for it, if it is a decision.

        Returns
        -------
        Record
            The note in the chain.

        Raises
        ------
        LedgerError
            If there is no such entry.

        """
        check_label(text, "note")
        content: dict[str, Any] = {"text": text, "entry": about}
        if signed_by is not None:
            check_label(signed_by, "signature")
            content["signed_by"] = signed_by
        with self._writing(_UNCHANGED) as book:
            subject = None if about is None else self._record_of(book, about)
            return book.add([self._signed("note", content, subject)])[0]

    def extend(
        self,
        *,
        epsilon: Number | None = None,
        delta: Number = 0,
        mu: Number | None = None,
        rho: Number | None = None,
        signed_by: str,
        reason: str,
    ) -> Record:
        """Add budget to what there is, in the currency of the ledger.

        Parameters
        ----------
        epsilon, delta, mu, rho
            How much more; μ adds by squares, as payments do.
        signed_by
            The person who answers for it.
        reason
            Why.

        Returns
        -------
        Record
            The extension in the chain.

        Raises
        ------
        LedgerError
            If the amount is in another currency, or nobody signs.

        """
        return self._more("extension", (epsilon, delta, mu, rho), signed_by, reason)

    def renew(
        self,
        *,
        epsilon: Number | None = None,
        delta: Number = 0,
        mu: Number | None = None,
        rho: Number | None = None,
        signed_by: str,
        reason: str,
    ) -> Record:
        """Set what is left to an amount, as at the start of a new period.

        What was spent stays in the sum: the total becomes what is spent and the amount.

        Parameters
        ----------
        epsilon, delta, mu, rho
            How much is to be left, in the currency of the ledger.
        signed_by
            The person who answers for it.
        reason
            Why.

        Returns
        -------
        Record
            The renewal in the chain.

        Raises
        ------
        LedgerError
            If the amount is in another currency, or nobody signs.

        """
        return self._more("renewal", (epsilon, delta, mu, rho), signed_by, reason)

    def limit(
        self,
        analyst: str | None = None,
        *,
        source: str | None = None,
        per: str | None = None,
        epsilon: Number | None = None,
        delta: Number = 0,
        mu: Number | None = None,
        rho: Number | None = None,
        signed_by: str,
    ) -> Record:
        """Limit what may be spent from now on; without an amount, lift the limit.

        There is one limit for each analyst, source and period; all that hold for a question must
        have enough left for it.

        Parameters
        ----------
        analyst
            The user, the service or the role of the database, as it stands in entries; everybody
            together if not given.
        source
            Of which data, as it stands in entries; of all if not given.
        per
            ``hour``, ``day``, ``week``, ``month``, or several as in ``12 hours``: so much in each.
            They follow the calendar in UTC, and several are counted from the present one. Once and
            for all if not given.
        epsilon, delta, mu, rho
            How much, in the currency of the ledger.
        signed_by
            The person who answers for it.

        Returns
        -------
        Record
            The limit in the chain.

        Raises
        ------
        LedgerError
            If the amount is in another currency, or nobody signs, or there is no limit to lift, or
            it would be one of everybody, of everything and for ever.

        """
        for text, what in ((analyst, "analyst"), (source, "source")):
            if text is not None:
                check_label(text, what)
        check_label(signed_by, "signature")
        period = None if per is None else str(Period.parse(per))
        if (analyst, source, period) == (None, None, None):
            raise LedgerError(
                "A limit is for an analyst, for a source or per a time; the budget itself limits "
                "everything else. Name one of them."
            )
        lifted = epsilon is None and mu is None and rho is None
        amount = None if lifted else self._amount(epsilon, delta, mu, rho)
        content = {
            "analyst": analyst,
            "source": source,
            "per": period,
            "total": None if amount is None else amount.as_dict(),
            "signed_by": signed_by,
        }
        with self._writing(_UNCHANGED) as book:
            self._must_be_open(book)
            keys = [limit.key for limit in book.balance.limits]
            if lifted and (analyst, source, period) not in keys:
                others = ", ".join(map(_limit_in_words, keys))
                raise LedgerError(
                    f"{_limit_in_words((analyst, source, period))} has no limit in {self.where} "
                    "that could be lifted. "
                    + (f"There are limits of {others}." if others else "Nobody has one.")
                )
            return book.add([self._signed("limit", content)])[0]

    def close(self, *, signed_by: str, reason: str) -> Record:
        """Close the ledger: nothing more can be spent; answers are recalled as before.

        Parameters
        ----------
        signed_by
            The person who answers for it.
        reason
            Why.

        Returns
        -------
        Record
            The closing in the chain.

        Raises
        ------
        LedgerError
            If it is closed already, or nobody signs.

        """
        check_label(signed_by, "signature")
        check_label(reason, "reason")
        with self._writing(_UNCHANGED) as book:
            self._must_be_open(book)
            content = {"signed_by": signed_by, "reason": reason}
            return book.add([self._signed("closing", content)])[0]

    def link(self, predecessor: Officer) -> Record:
        """Link the ledger of the time before, by its identity and head.

        Parameters
        ----------
        predecessor
            An open ledger.

        Returns
        -------
        Record
            The link in the chain.

        Raises
        ------
        LedgerError
            If it is this ledger itself.

        """
        if predecessor.identity == self.identity:
            raise LedgerError(
                f"{self.where} cannot be its own predecessor. Give the ledger of the time before."
            )
        draft = predecessor.as_link(self.by)
        with self._writing(_UNCHANGED) as book:
            return book.add([draft])[0]

    def as_link(self, by: str) -> Draft:
        """The record by which another ledger links this one."""
        now = self.balance()
        content = {
            "identity": now.identity,
            "head": str(now.head),
            "place": self.where,
            "dataset": now.dataset,
            "spent": now.spent.as_dict(),
            "kind": now.kind,
            "by": by,
            "software": SOFTWARE,
        }
        return Draft("link", content)

    def _more(
        self,
        kind: str,
        numbers: tuple[Number | None, Number, Number | None, Number | None],
        signed_by: str,
        reason: str,
    ) -> Record:
        check_label(signed_by, "signature")
        check_label(reason, "reason")
        self._must_add(kind, numbers)
        amount = self._amount(*numbers)
        given = as_given(*numbers, spend_in=None, delta_apart=0)
        with self._writing(_UNCHANGED) as book:
            self._must_be_open(book)
            added = amount if kind == "extension" else amount - book.balance.left
            content = {
                "added": added.as_dict(),
                "given": given,
                "signed_by": signed_by,
                "reason": reason,
            }
            return book.add([self._signed(kind, content)])[0]

    def _must_add(
        self, kind: str, numbers: tuple[Number | None, Number, Number | None, Number | None]
    ) -> None:
        """Refuse an amount that is missing, or that would take something away."""
        given = [number for number in (numbers[0], *numbers[2:]) if number is not None]
        if not given:
            how = "how much is to be left" if kind == "renewal" else "how much to add"
            raise LedgerError(f"Say {how}, in {KINDS[self.kind].amounts}.")
        for number in given:
            if exact(number, "the amount", InvalidGuarantee) <= 0:
                raise LedgerError(
                    f"An amount must be above 0, got {number}. Nothing is taken from a budget by "
                    "an extension; to lower what is left renew it, to end it close the ledger."
                )

    def _amount(
        self, epsilon: Number | None, delta: Number, mu: Number | None, rho: Number | None
    ) -> Cost:
        """An amount in the currency of the ledger."""
        amount = budget(epsilon, delta, mu, rho)
        if amount.kind != self.kind:
            raise LedgerError(
                f"The budget of {self.where} is in {KINDS[self.kind].amounts}, and "
                f"{amount.amounts} cannot be mixed with it. Give the amount in "
                f"{KINDS[self.kind].amounts}."
            )
        return amount

    def _signed(self, kind: str, content: dict[str, Any], subject: int | None = None) -> Draft:
        return Draft(kind, {**content, "by": self.by, "software": SOFTWARE}, subject=subject)

    def _must_be_open(self, book: Book) -> None:
        closed = book.balance.closed
        if closed is not None:
            raise LedgerError(
                f"{self.where} was closed on {closed[:10]}. Create the next ledger and link it to "
                "this one."
            )

    def _record_of(self, book: Book, entry: int) -> int:
        """The number of the record that paid for an entry."""
        found = book.payment_of(entry)
        if found is None:
            raise LedgerError(f"There is no entry {entry} in {self.where}. See its history.")
        return found


def _limit_in_words(key: tuple[str | None, str | None, str | None]) -> str:
    analyst, source, per = key
    return whose(analyst, source) + ("" if per is None else f" per {per}")
