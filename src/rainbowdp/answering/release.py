"""An answer that may go out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from rainbowdp.aliases import Answer
from rainbowdp.answering.coverage import Coverage
from rainbowdp.answering.intervals import Precision
from rainbowdp.answering.testing import Significance
from rainbowdp.display import cards

if TYPE_CHECKING:  # a ledger brings SQLAlchemy, which only those who have one load
    from rainbowdp.ledger import Entry

Statement: TypeAlias = Coverage | Precision | Significance


@dataclass(frozen=True)
class Release:
    """An answer that may go out.

    Attributes
    ----------
    answer : Answer
        What was drawn.
    entry : Entry or None
        The ledger's entry for it: what it cost, when and by which mechanism it was drawn.
    recalled : bool
        Whether it was drawn at an earlier time, so that nothing was spent.
    proves : Coverage, Precision, Significance or None
        How far from the truth the answer is at most, with 95 % confidence; none where a recalled
        answer was recorded without.

    """

    answer: Answer
    entry: Entry | None = None
    recalled: bool = False
    proves: Statement | None = None

    def _repr_html_(self) -> str:
        named: dict[str, object] = {}
        if self.proves is not None:
            named["proves"] = self.proves.in_words(self.answer)
        if self.entry is not None:
            named["cost"] = f"{self.entry.cost}, entry {self.entry.number} of the ledger"
        return cards.card(f"Answer: {self.answer}", cards.facts(named))
