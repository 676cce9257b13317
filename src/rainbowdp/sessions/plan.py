"""A plan: several questions whose guarantees are fixed beforehand, as one mechanism."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from rainbowdp.aliases import Dataset
from rainbowdp.answering.askable import Askable
from rainbowdp.answering.coverage import Coverage
from rainbowdp.answering.intervals import Precision
from rainbowdp.answering.mechanism import QuestionMechanism
from rainbowdp.answering.naming import Naming
from rainbowdp.answering.release import Release, Statement
from rainbowdp.answering.testing import Significance
from rainbowdp.display import cards
from rainbowdp.errors import InvalidMechanism, InvalidQuestion, RainbowError
from rainbowdp.exact.check import Check
from rainbowdp.expecting import brief
from rainbowdp.guarantees.descriptions import describe_guarantee
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.questions.groups import Group
from rainbowdp.questions.posed import Posed
from rainbowdp.questions.relations import Neighbors, PersonRule
from rainbowdp.questions.units import unit_of
from rainbowdp.sessions.buying import Bought, bought, in_words, quick_mechanism
from rainbowdp.sessions.offers import Offer, buys
from rainbowdp.sessions.targets import Target
from rainbowdp.sessions.together import Added, keeps
from rainbowdp.sessions.ways import Way
from rainbowdp.tables import read_once

if TYPE_CHECKING:  # a ledger brings SQLAlchemy, which only those who have one load
    from rainbowdp.ledger import Entry

_STATEMENTS: dict[str, type[Statement]] = {
    statement.__name__: statement for statement in (Coverage, Naming, Precision, Significance)
}


@dataclass(frozen=True)
class PlannedQuestions:
    """The questions of a plan as one: of one unit and one neighbor relation."""

    questions: Mapping[str, Posed]
    promises: tuple[Guarantee, ...]

    @property
    def _first(self) -> Posed:
        return next(iter(self.questions.values()))

    @property
    def neighbors(self) -> Neighbors:
        """What one change of the table is."""
        return self._first.neighbors

    @property
    def groups(self) -> tuple[Group, ...]:
        """Which records are counted by any of the questions."""
        return tuple(group for question in self.questions.values() for group in question.groups)

    @property
    def where(self) -> None:
        """Each question has its own condition."""
        return

    @property
    def person(self) -> str | None:
        """The column that says whose record it is."""
        return self._first.person

    @property
    def rows_per_person(self) -> int:
        """How many records one person may have; with a column each question has its own limit."""
        return self._first.rows_per_person

    @property
    def person_rule(self) -> PersonRule:
        """Which of them count."""
        return self._first.person_rule

    def describe(self) -> dict[str, Any]:
        """Every question with its guarantee, ready for JSON.

        Returns
        -------
        dict
            The same for equal plans.

        """
        asked = [
            {
                "name": name,
                "question": question.describe(),
                "guarantee": describe_guarantee(promise),
            }
            for (name, question), promise in zip(self.questions.items(), self.promises, strict=True)
        ]
        return {"kind": "plan", "questions": asked}


@dataclass(frozen=True)
class Together:
    """What the answers of a plan prove, each for itself.

    Attributes
    ----------
    statements : dict
        What the answer of each name proves.

    """

    statements: Mapping[str, Statement]

    def in_words(self, answer: Any = None) -> str:
        """What each answer proves, in plain words."""
        answers = answer if isinstance(answer, Mapping) else {}
        return "; ".join(
            f"{name}: {proves.in_words(answers.get(name))}"
            for name, proves in self.statements.items()
        )

    def describe(self) -> dict[str, Any]:
        """The statements, ready for JSON."""
        return {
            name: {"statement": type(proves).__name__, **proves.describe()}
            for name, proves in self.statements.items()
        }

    @classmethod
    def restore(cls, description: dict[str, Any]) -> Together:
        """The statements that ``describe`` described."""
        found = {}
        for name, described in description.items():
            given = dict(described)
            found[name] = _STATEMENTS[given.pop("statement")].restore(given)
        return cls(found)


@dataclass(frozen=True)
class PlanRelease(Release):
    """The answers of a plan.

    Attributes
    ----------
    answer : dict
        The answer of each question, by its name.
    releases : dict
        The same, with what each answer proves: ``release["mode"].proves``.

    """

    releases: Mapping[str, Release] | None = None

    def __getitem__(self, name: str) -> Release:
        """The answer of one question."""
        if self.releases is None or name not in self.releases:
            known = ", ".join(self.releases or ())
            raise RainbowError(f"this plan has answers named {known}, got {brief(name)}")
        return self.releases[name]

    def _repr_html_(self) -> str:
        rows = [
            (name, each.answer, "" if each.proves is None else each.proves.in_words(each.answer))
            for name, each in (self.releases or {}).items()
        ]
        cost = None if self.entry is None else f"{self.entry.cost}, entry {self.entry.number}"
        paid = () if cost is None else (f"cost {cost} of the ledger",)
        return cards.card(
            f"{len(rows)} answers",
            cards.table(("question", "answer", "proves"), rows, len(rows)),
            *paid,
        )


@dataclass(frozen=True)
class Plan(Askable):
    """Questions with a guarantee each, all of which together keep a total.

    Made by ``rb.plan``; it reads nothing and spends nothing. Give it to ``rb.ask`` to ask all
    questions in one scan, paid for as one entry of a ledger.

    Attributes
    ----------
    targets : tuple of Target
        The questions, and how sure each answer should be.
    mechanisms : tuple
        What answers each of them: ``rb.best`` under its guarantee.
    guarantee : DP, GaussianDP or ZeroConcentrated
        What all answers keep together, which is what a ledger is charged.
    way : Way
        How the guarantees of the answers add up to it.
    offers : tuple of Offer
        What the ways to pay would have given, the chosen one first.

    Raises
    ------
    InvalidMechanism
        If the guarantees of the mechanisms do not certainly keep the total.

    """

    targets: tuple[Target, ...]
    mechanisms: tuple[Askable, ...]
    guarantee: Guarantee
    way: Way
    offers: tuple[Offer, ...] = ()

    def __post_init__(self) -> None:
        units = {(unit_of(each.question), each.question.neighbors) for each in self.mechanisms}
        if len(units) != 1:
            raise InvalidQuestion("the questions of a plan must protect the same unit")
        promises = [mechanism.guarantee for mechanism in self.mechanisms]
        if self.way.added == Added.RANGES and not all(map(_has_a_range, self.mechanisms)):
            raise InvalidMechanism("composed ranges are for exponential mechanisms, got another")
        if not keeps(promises, self.way.added, self.guarantee):
            raise InvalidMechanism(
                f"the answers of a plan must keep {self.guarantee} together, but may not"
            )

    @property
    def names(self) -> tuple[str, ...]:
        """What the questions are called."""
        return tuple(str(target.name) for target in self.targets)

    def __getitem__(self, name: str) -> Askable:
        """The mechanism of one question."""
        if name not in self.names:
            raise RainbowError(
                f"this plan has questions named {', '.join(self.names)}, got {brief(name)}"
            )
        return self.mechanisms[self.names.index(name)]

    @property
    def question(self) -> PlannedQuestions:  # type: ignore[override]
        """All questions as one."""
        asked = {
            name: mechanism.question
            for name, mechanism in zip(self.names, self.mechanisms, strict=True)
        }
        return PlannedQuestions(asked, tuple(each.guarantee for each in self.mechanisms))

    @property
    def name(self) -> str:
        """The kind of mechanism."""
        return "plan"

    @property
    def claim(self) -> str | None:
        """How its guarantees add up."""
        return f"paid by {self.way.name}"

    @property
    def statement(self) -> type[Together]:
        """What its answers prove is of this type."""
        return Together

    @property
    def proof(self) -> Check:
        """The exact proofs of all mechanisms, and how they add up."""
        return self._proof

    @cached_property
    def _proof(self) -> Check:
        proofs = [mechanism.proof for mechanism in self.mechanisms]
        pairs = sum(proof.pairs for proof in proofs)
        return Check.proved(
            self.guarantee,
            pairs,
            f"{len(proofs)} mechanisms, each proved, whose guarantees add up by {self.way.added}",
        )

    @cached_property
    def bought(self) -> dict[str, Bought]:
        """What each question gets, by its name."""
        return {
            name: buys(target, mechanism.guarantee, self.way.kind)
            for name, target, mechanism in zip(
                self.names, self.targets, self.mechanisms, strict=True
            )
        }

    def ready(
        self, table: Dataset, progress: Callable[[float], None] | None = None
    ) -> Callable[[], dict[str, Any]]:
        """A function that draws all answers for a table; all that can fail has happened.

        Parameters
        ----------
        table
            A file, which is read once, a frame or a database table; or counts for each question by
            its name.
        progress
            Called with numbers from 0 to 1 while files are read.

        Returns
        -------
        callable
            Takes nothing and returns an answer for each name, new ones each time.

        """
        asked = dict(zip(self.names, self.mechanisms, strict=True))
        for mechanism in asked.values():
            mechanism.proof  # noqa: B018  made and proved before any data is read
        if isinstance(table, Mapping):
            if set(table) != set(asked):
                raise InvalidQuestion(
                    f"counts for a plan must be given for each of {', '.join(asked)}, got others"
                )
            draws = {name: each.ready(table[name]) for name, each in asked.items()}
        else:
            counted = [each.question for each in asked.values() if each.question.groups]
            with read_once(table, counted, progress) as held:
                draws = {
                    name: each.ready(held if each.question.groups else table)
                    for name, each in asked.items()
                }
        return lambda: {name: draw() for name, draw in draws.items()}

    def options(self) -> dict[str, Any]:
        """What a ledger records of the plan besides its name.

        Returns
        -------
        dict
            How its guarantees add up, and the kind of mechanism of each question.

        """
        kinds = {
            name: {"kind": mechanism.name, **mechanism.options()}
            for name, mechanism in zip(self.names, self.mechanisms, strict=True)
        }
        return {"added": str(self.way.added), "mechanisms": kinds}

    def proves(self) -> Together:
        """What each answer proves, whatever the table: it costs no budget.

        Returns
        -------
        Together
            A statement for each name.

        """
        pairs = zip(self.names, self.mechanisms, strict=True)
        return Together({name: mechanism.proves() for name, mechanism in pairs})

    def to_text(self, answer: Mapping[str, Any]) -> str:
        """The answers as a ledger keeps them.

        Parameters
        ----------
        answer
            The answers by name.

        Returns
        -------
        str
            The answers as text.

        """
        told = {name: self[name].to_text(found) for name, found in answer.items()}
        return json.dumps(told, ensure_ascii=False)

    def from_text(self, text: str) -> dict[str, Any]:
        """The answers that a ledger kept.

        Parameters
        ----------
        text
            What ``to_text`` made.

        Returns
        -------
        dict
            The answers by name.

        """
        return {name: self[name].from_text(found) for name, found in json.loads(text).items()}

    def released(
        self,
        answer: Any,
        entry: Entry | None = None,
        *,
        recalled: bool = False,
        proves: Statement | None = None,
    ) -> PlanRelease:
        """The answers with what can be said of them.

        Parameters
        ----------
        answer
            What was drawn, by name.
        entry
            The ledger's entry for all of them, if there is one.
        recalled
            Whether they were drawn at an earlier time.
        proves
            What they prove.

        Returns
        -------
        PlanRelease
            Answers that may go out.

        """
        told = proves.statements if isinstance(proves, Together) else {}
        releases = {
            name: self[name].released(found, entry, recalled=recalled, proves=told.get(name))
            for name, found in answer.items()
        }
        return PlanRelease(answer, entry, recalled, proves, releases)

    def in_words(self) -> dict[str, str]:
        """What each question gets, in plain words.

        Returns
        -------
        dict of str to str
            By the names of the questions.

        """
        return {
            name: in_words(target, self[name], self.bought[name])
            for name, target in zip(self.names, self.targets, strict=True)
        }

    def comparison(self) -> list[tuple[str, str, str]]:
        """What the first question would get from the other ways to pay.

        Where a margin table would have to be made for it, the best kind that is built at once
        stands in for the table.

        Returns
        -------
        list of (way, guarantee, words)
            The better ones first.

        """
        target, rows = self.targets[0], []
        for offer in self.offers[1:]:
            promise = offer.promises[0]
            mechanism = quick_mechanism(target, promise, offer.way.kind)
            words = in_words(target, mechanism, bought(target, mechanism))
            rows.append((offer.way.name, str(promise), words))
        return rows

    def as_dict(self) -> dict[str, Any]:
        """The plan in JSON values.

        Returns
        -------
        dict
            The total, the currency, each question with what it gets, and the other offers.

        """
        asked = [
            {
                "name": name,
                "question": mechanism.question.describe(),
                "wanted": target.describe(),
                "guarantee": describe_guarantee(mechanism.guarantee),
                "mechanism": mechanism.name,
                "bought": {**self.bought[name].as_dict(), "in_words": words},
            }
            for (name, words), target, mechanism in zip(
                self.in_words().items(), self.targets, self.mechanisms, strict=True
            )
        ]
        return {
            "total": describe_guarantee(self.guarantee),
            "currency": self.way.name,
            "added": str(self.way.added),
            "questions": asked,
            "offers": [offer.as_dict() for offer in self.offers],
        }

    def _repr_html_(self) -> str:
        rows = [
            (name, mechanism.guarantee, mechanism.name, words)
            for (name, words), mechanism in zip(
                self.in_words().items(), self.mechanisms, strict=True
            )
        ]
        head = ("question", "guarantee", "mechanism", "buys")
        return cards.card(
            f"Plan: {self.guarantee}, paid by {self.way.name}",
            cards.table(head, rows, len(rows)),
            "Nothing was read and nothing was spent.",
        )


def _has_a_range(mechanism: Askable) -> bool:
    """Whether a mechanism's proof is that of a range."""
    return isinstance(mechanism, QuestionMechanism) and mechanism.name == "exponential"
