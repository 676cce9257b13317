"""An answer that may go out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, Self

from rainbowdp.aliases import Answer
from rainbowdp.display import cards

if TYPE_CHECKING:  # a ledger brings SQLAlchemy, which only those who have one load
    from rainbowdp.ledger import Entry


class Statement(Protocol):
    """What an answer proves, whatever the table."""

    def in_words(self, answer: Any = None) -> str:
        """The statement in plain words, about an answer or any."""

    def describe(self) -> dict[str, Any]:
        """The statement, ready for JSON."""

    @classmethod
    def restore(cls, description: dict[str, Any]) -> Self:
        """The statement that ``describe`` described."""


@dataclass(frozen=True)
class Release:
    """An answer that may be published.

    Attributes
    ----------
    answer : Answer
        What was drawn; in groups, a dict with the answer of each.
    entry : Entry or None
        The ledger's entry for it: what it cost, when and by which mechanism it was drawn.
    recalled : bool
        Whether it was drawn at an earlier time, so that nothing was spent.
    proves : Coverage, Precision, Significance or None
        How far from the truth the answer (or that of each group) is at most, with 95 % confidence;
        None if a recalled answer was recorded without it.

    """

    answer: Answer
    entry: Entry | None = None
    recalled: bool = False
    proves: Statement | None = None

    def _repr_html_(self) -> str:
        named: dict[str, object] = {}
        title, about = str(self.answer), self.answer
        if isinstance(self.answer, dict):
            title, about, named = f"{len(self.answer)} groups", None, dict(self.answer)
        if self.proves is not None:
            named["proves"] = self.proves.in_words(about)
        if self.entry is not None:
            named["cost"] = f"{self.entry.cost}, entry {self.entry.number} of the ledger"
        return cards.card(f"Answer: {title}", cards.facts(named))
