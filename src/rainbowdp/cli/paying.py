"""Which ledger pays for a question, and what one that was cut off has paid."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from rainbowdp.cli.interrupts import check
from rainbowdp.cli.project import Project, named_ledger
from rainbowdp.errors import LedgerError, RainbowError
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.questions.posed import Posed

if TYPE_CHECKING:
    from rainbowdp.ledger import Entry, Ledger


@dataclass(frozen=True)
class Payment:
    """One question's payment, made or not: what is in the ledger now and was not before."""

    place: str
    ledger: Ledger
    guarantee: Guarantee
    question: Posed
    name: str | None
    before: int

    @classmethod
    def of(
        cls, place: str, ledger: Ledger, guarantee: Guarantee, question: Posed, name: str | None
    ) -> Payment:
        """The payment of a question that is about to be asked."""
        return cls(place, ledger, guarantee, question, name, ledger.balance().entries)

    def in_words(self, what: str) -> str:
        """What was paid when ``what`` happened, and where the answer is."""
        try:
            entry = self._entry()
        except LedgerError:
            return (
                f"{what}, and {self.place} cannot be read now. Look at its history before you "
                "ask again, because the question may have been paid."
            )
        if entry is None:
            return f"{what}; nothing was spent."
        paid = f"{what} after the payment: entry {entry.number} was paid"
        if entry.answer is None:
            return f"{paid} and has no answer. Ask again, under another name if you gave one."
        return f"{paid} and its answer is in the ledger. See: rainbow ledger history {self.place}"

    def _entry(self) -> Entry | None:
        """The entry that this question paid for, if there is one."""
        asked = self.question.describe().items()
        new = self.ledger.balance().entries - self.before
        for entry in self.ledger.history(last=new):
            same = entry.guarantee == self.guarantee and entry.name == self.name
            if same and asked <= entry.question.items():
                return entry
        return None


def watched(ledger: Ledger) -> Ledger:
    """The same ledger, which pays nothing once a signal has come."""
    from rainbowdp.ledger import Ledger as Plain

    class Watched(Plain):
        def spend(self, *arguments: Any, **options: Any) -> Entry:
            check()
            return super().spend(*arguments, **options)

    return Watched(**{field.name: getattr(ledger, field.name) for field in fields(ledger)})


def paying_ledger(
    ledger: str | None, no_ledger: bool, explain: bool, settings: Project
) -> str | None:
    """The ledger that pays, or none where none is wanted."""
    if ledger is not None and no_ledger:
        raise RainbowError("Give either --ledger or --no-ledger, not both.")
    if explain or no_ledger:
        return None
    place = ledger or named_ledger(settings)
    if place is None:
        raise RainbowError(
            "An answer must be paid for. Give --ledger PLACE, which rainbow ledger create makes, "
            "or --no-ledger to keep no record."
        )
    return place


def cut_off(payment: Payment | None, error: BaseException) -> str:
    """What became of a question that was interrupted, or whose answer nobody could read."""
    interrupted = isinstance(error, KeyboardInterrupt)
    what = "Interrupted" if interrupted else "Standard output cannot be written"
    if payment is not None:
        return payment.in_words(what)
    return f"{what}; no answer was given." if interrupted else f"{what}; the answer is lost."
