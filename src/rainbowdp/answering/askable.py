"""What every mechanism that answers a question has, so that ``ask`` can pay and draw for it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from rainbowdp.aliases import Dataset
from rainbowdp.answering.release import Release, Statement
from rainbowdp.exact.check import Check
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.questions.posed import Posed

if TYPE_CHECKING:
    from rainbowdp.ledger import Entry


class Askable(ABC):
    """A mechanism for tables, whose answers may be drawn, paid for and remembered."""

    question: Posed
    guarantee: Guarantee

    @property
    @abstractmethod
    def name(self) -> str:
        """The kind of mechanism."""

    @property
    @abstractmethod
    def claim(self) -> str | None:
        """What is known of how good it is for this question."""

    @property
    @abstractmethod
    def statement(self) -> type[Statement]:
        """What its answers prove is of this type."""

    @property
    @abstractmethod
    def proof(self) -> Check:
        """The exact proof of the guarantee."""

    @abstractmethod
    def ready(
        self, table: Dataset, progress: Callable[[float], None] | None = None
    ) -> Callable[[], Any]:
        """A function that draws an answer for a table; all that can fail has happened.

        Parameters
        ----------
        table
            A file, a frame, a database table or counts.
        progress
            Called with numbers from 0 to 1 while files are read.

        Returns
        -------
        callable
            Takes nothing and returns an answer, a new one each time.

        """

    @abstractmethod
    def options(self) -> dict[str, Any]:
        """What a ledger records of the kind of mechanism besides its name.

        Returns
        -------
        dict
            What makes it another one, ready for JSON.

        """

    @abstractmethod
    def proves(self) -> Statement:
        """What an answer of this mechanism proves, whatever the table: it costs no budget.

        Returns
        -------
        Statement
            How far from the truth the answer can be.

        """

    @property
    def proof_in_words(self) -> str:
        """What was proved, in one sentence."""
        return self.proof.statement

    def describe(self) -> dict[str, Any]:
        """What a ledger keeps of the mechanism.

        Returns
        -------
        dict
            Its kind, its options, and what its answers prove.

        """
        return {"kind": self.name, **self.options(), "proves": self.proves().describe()}

    def to_text(self, answer: Any) -> str:
        """The answer as a ledger keeps it.

        Parameters
        ----------
        answer
            An answer.

        Returns
        -------
        str
            The answer as text.

        """
        return str(answer)

    def from_text(self, text: str) -> Any:
        """The answer that a ledger kept.

        Parameters
        ----------
        text
            What ``to_text`` made.

        Returns
        -------
        Answer
            The answer.

        """
        return text

    def released(
        self,
        answer: Any,
        entry: Entry | None = None,
        *,
        recalled: bool = False,
        proves: Statement | None = None,
    ) -> Release:
        """The answer with what can be said of it.

        Parameters
        ----------
        answer
            What was drawn.
        entry
            The ledger's entry for it, if there is one.
        recalled
            Whether it was drawn at an earlier time.
        proves
            What it proves.

        Returns
        -------
        Release
            An answer that may go out.

        """
        return Release(answer, entry, recalled=recalled, proves=proves)
