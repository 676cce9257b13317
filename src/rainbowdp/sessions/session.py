"""``rb.Session``: the data, the unit and the ledger once, then questions."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from rainbowdp.aliases import Dataset
from rainbowdp.answering.ask import ask
from rainbowdp.answering.askable import Askable
from rainbowdp.answering.best import best
from rainbowdp.answering.release import Release
from rainbowdp.display import cards
from rainbowdp.errors import LedgerError
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.numeric.quantity import Number
from rainbowdp.questions import Question
from rainbowdp.questions.units import Unit, unit_of
from rainbowdp.sessions.asker import Asker, Progress, asked_how, guarantee_of
from rainbowdp.sessions.asking import Questions
from rainbowdp.sessions.paying import left_of
from rainbowdp.sessions.plan import Plan, PlanRelease
from rainbowdp.sessions.planning import Wanted
from rainbowdp.sessions.planning import plan as planned
from rainbowdp.sessions.targets import Asked

if TYPE_CHECKING:  # a ledger brings SQLAlchemy, which only those who have one load
    from rainbowdp.ledger import Balance, Cost, Ledger


@dataclass(frozen=True)
class Explanation:
    """What a question would do and cost; nothing was read or spent.

    Attributes
    ----------
    mechanism
        What would answer it.
    cost : Cost or None
        What it would cost the ledger.
    answers_left : int or None
        How many answers at this price are left; none without a ledger.

    """

    mechanism: Askable
    cost: Cost | None
    answers_left: int | None

    def facts(self) -> dict[str, str]:
        """What can be said of it, in words.

        Returns
        -------
        dict of str to str
            One fact a line.

        """
        asked = self.mechanism
        whom = unit_of(asked.question).whom
        said = {
            "mechanism": ", ".join(filter(None, [asked.name, asked.claim])),
            "guarantee": str(asked.guarantee),
            "in words": asked.guarantee.in_words(whom),
            "proves": asked.proves().in_words(),
        }
        if self.cost is not None:
            many = "any number" if self.answers_left is None else f"{self.answers_left:,}"
            said["price"] = f"{self.cost}; {many} left at this price"
        return said

    def __str__(self) -> str:
        facts = self.facts()
        width = max(map(len, facts))
        return "\n".join(f"{name:<{width}}  {value}" for name, value in facts.items())

    def _repr_html_(self) -> str:
        kind = self.mechanism.question.describe().get("kind", "question")
        return cards.card(f"Question: {kind}", cards.facts(self.facts()))


@dataclass(frozen=True, init=False)
class Session(Asker):
    """A table and the ledger that pays for its answers; data, unit and relation are said once.

    ``session.winner([...], "vote", epsilon="0.1")`` asks at once; ``session.questions.winner(...)``
    makes the same question without asking it, for ``plan``, ``price`` or ``explain``.

    Parameters
    ----------
    table
        A file, a frame, a database table or counts.
    ledger
        The ledger that pays: an open one, or its location. ``None`` keeps no record, and you have
        to add up what was spent.
    person
        The column that says whose record it is; the ledger's, if left out.
    rows_per_person
        How many rows of one person count, unless a question says otherwise; the ledger's promise,
        if left out.
    person_rule
        Which of them: a random ``"sample"``, or ``"one vote"`` per person.
    neighbors
        What one change is; the ledger's, if left out.
    source
        What to call the data in the ledger, if not by its path.
    guarantee
        What each answer keeps, unless a question says otherwise.

    Raises
    ------
    LedgerError
        If the ledger is for another unit or relation, or cannot be opened.
    InvalidQuestion
        If the unit makes no sense.

    Examples
    --------
    >>> import polars as pl
    >>> from rainbowdp import DP
    >>> votes = pl.DataFrame({"vote": ["red"] * 90 + ["green"] * 10})
    >>> session = Session(votes, None, guarantee=DP(5))
    >>> session.winner(["red", "green"], "vote").answer
    'red'

    """

    table: Dataset
    ledger: Ledger | None
    questions: Questions
    source: str | None
    guarantee: Guarantee | None

    def __init__(
        self,
        table: Dataset,
        ledger: Ledger | str | PathLike[str] | None,
        *,
        person: str | None = None,
        rows_per_person: int | None = None,
        person_rule: str = "sample",
        neighbors: str | None = None,
        source: str | None = None,
        guarantee: Guarantee | None = None,
    ) -> None:
        book = _opened(ledger)
        if book is not None:
            person = book.unit.person if person is None else person
            neighbors = book.neighbors if neighbors is None else neighbors
            if rows_per_person is None:
                rows_per_person = book.unit.rows_per_person
        limit = 1 if rows_per_person is None else rows_per_person
        relation = "substituted" if neighbors is None else neighbors
        if book is not None:
            unit = Unit(person=person) if person is not None else Unit(rows_per_person=limit)
            if (unit, relation) != (book.unit, book.neighbors):
                raise LedgerError(
                    f"This session is for {unit} {relation}, but {book.where} is for {book.unit} "
                    f"{book.neighbors}. Leave out person, rows_per_person and neighbors, or take "
                    "another ledger."
                )
        made = Questions(relation, person, limit, person_rule)
        for name, value in (
            ("table", table),
            ("ledger", book),
            ("questions", made),
            ("source", source),
            ("guarantee", guarantee),
        ):
            object.__setattr__(self, name, value)

    def _with(self, questions: Questions) -> Self:
        session = object.__new__(type(self))
        for name in ("table", "ledger", "source", "guarantee"):
            object.__setattr__(session, name, getattr(self, name))
        object.__setattr__(session, "questions", questions)
        return session

    def ask(self, question: Asked | Askable, **options: Any) -> Release:
        """Answer a question, or what a mechanism or plan asks, paid for by the ledger.

        Parameters
        ----------
        question
            A question, such as ``session.questions.winner(...)``, or its mechanism.
        **options
            A guarantee, as ``epsilon`` (with ``delta``), ``mu``, ``rho`` or ``guarantee``; or how
            sure the answer has to be, as ``sure`` and ``margin`` (and ``currency``), from which
            ``rb.guarantee_for`` finds one. Also ``name``, ``records`` and ``progress`` as for
            ``rb.ask`` and ``rb.best``.

        Returns
        -------
        Release
            The answer and its entry, both on disk.

        Raises
        ------
        BudgetExceeded
            If it costs more than is left.
        InvalidGuarantee
            If there is no guarantee.

        """
        promise, how = asked_how(options)
        records = how.pop("records", None)
        mechanism = (
            question
            if isinstance(question, Askable)
            else self._mechanism(question, promise, records)
        )
        return ask(mechanism, self.table, ledger=self.ledger, source=self.source, **how)

    def _mechanism(
        self, question: Asked, promise: dict[str, Any], records: int | None = None
    ) -> Askable:
        guarantee = guarantee_of(promise, self.guarantee, question, records)
        size = {} if records is None or not isinstance(question, Question) else {"records": records}
        made: Askable = best(question, guarantee, **size)
        return made

    def price(self, question: Asked, **promise: Any) -> Cost:
        """What an answer would cost the ledger; nothing is read or spent.

        Parameters
        ----------
        question
            A question of this session.
        **promise
            A guarantee, as for ``ask``.

        Returns
        -------
        Cost
            In the currency of the ledger.

        Raises
        ------
        LedgerError
            If the session has no ledger, or it cannot pay for such a guarantee.

        """
        if self.ledger is None:
            raise LedgerError("This session has no ledger, so that nothing has a price.")
        from rainbowdp.ledger.cost import price

        unit, relation = unit_of(question), question.neighbors
        if (unit, relation) != (self.ledger.unit, self.ledger.neighbors):
            raise LedgerError(
                f"This question protects {unit} {relation}, but {self.ledger.where} is for "
                f"{self.ledger.unit} {self.ledger.neighbors}. Make it by session.questions."
            )
        chosen = guarantee_of(promise, self.guarantee, question)
        return price(chosen, self.ledger.kind, self.ledger.where)

    def explain(self, question: Asked, **promise: Any) -> Explanation:
        """What a question would do and cost, and how many such answers are left.

        Parameters
        ----------
        question
            A question of this session.
        **promise
            A guarantee, as for ``ask``.

        Returns
        -------
        Explanation
            Nothing was read or spent.

        """
        mechanism = self._mechanism(question, promise)
        if self.ledger is None:
            return Explanation(mechanism, None, None)
        cost = self.price(question, **promise)
        return Explanation(mechanism, cost, self.ledger.balance().answers_left(cost))

    def balance(self) -> Balance:
        """The ledger's budget: in total, spent and left.

        Returns
        -------
        Balance
            At this moment.

        Raises
        ------
        LedgerError
            If the session has no ledger.

        """
        if self.ledger is None:
            raise LedgerError("This session has no ledger, so that there is no balance.")
        return self.ledger.balance()

    def plan(
        self,
        questions: Wanted,
        total: Guarantee | None = None,
        *,
        delta: Number = "1e-6",
        currency: str | None = None,
    ) -> Plan:
        """Divide what is left, or a part of it, among questions that are known beforehand.

        Parameters
        ----------
        questions
            Targets or questions of this session, as for ``rb.plan``.
        total
            What all answers keep together; what is left in the ledger, if left out.
        delta, currency
            As for ``rb.plan``.

        Returns
        -------
        Plan
            For ``session.run``; nothing was read or spent.

        """
        if total is None and self.ledger is not None:
            total = left_of(self.ledger.balance())
        return planned(questions, total, delta=delta, currency=currency)

    def run(
        self, plan: Plan, *, name: str | None = None, progress: Progress | None = None
    ) -> PlanRelease:
        """Ask all questions of a plan: one scan, one payment, one entry.

        Parameters
        ----------
        plan
            What ``plan`` made.
        name
            Remembers the answers.
        progress
            Called with numbers from 0 to 1 while files are read.

        Returns
        -------
        PlanRelease
            An answer for each question, by its name.

        """
        release = self.ask(plan, name=name, progress=progress)
        assert isinstance(release, PlanRelease)
        return release

    def _repr_html_(self) -> str:
        asked = self.questions
        unit = Unit(asked.person, 1 if asked.person else asked.rows_per_person)
        named = {"protects": f"{unit} {asked.neighbors}"}
        if self.ledger is not None:
            balance = self.ledger.balance()
            named |= {"ledger": self.ledger.where, "left": f"{balance.left} of {balance.total}"}
        if self.guarantee is not None:
            named["each answer"] = str(self.guarantee)
        return cards.card("Session", cards.facts(named))


def _opened(ledger: Ledger | str | PathLike[str] | None) -> Ledger | None:
    if not isinstance(ledger, str | PathLike):
        return ledger
    from rainbowdp.ledger import Ledger as Book

    return Book.open(ledger if isinstance(ledger, str) else Path(ledger))
