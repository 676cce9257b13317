"""Whoever has questions answered: what a session and a dataset of a service share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, Self, TypeAlias

from rainbowdp.answering.release import Release
from rainbowdp.errors import InvalidGuarantee
from rainbowdp.guarantees.dp import DP
from rainbowdp.guarantees.gaussian import GaussianDP
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.guarantees.zero_concentrated import ZeroConcentrated
from rainbowdp.questions import ProportionTest
from rainbowdp.questions.by import By
from rainbowdp.sessions.asking import Questions
from rainbowdp.sessions.face import Asking
from rainbowdp.sessions.needing import guarantee_for
from rainbowdp.sessions.targets import Asked

Progress: TypeAlias = Callable[[float], None]
_PROMISES = ("guarantee", "epsilon", "delta", "mu", "rho", "sure", "margin", "currency")
_WISHES = ("margin", "currency")
_HOW = ("name", "records", "progress")


class Asker(Asking[Release]):
    """Something whose questions are answered: a session, or a dataset of a service."""

    questions: Questions
    guarantee: Guarantee | None

    @abstractmethod
    def ask(self, question: Any, **options: Any) -> Release:
        """Answer a question."""

    @abstractmethod
    def _with(self, questions: Questions) -> Self:
        """The same, which makes other questions."""

    def _made(self, kind: Any, *given: Any, **options: Any) -> Release:
        promise, how, rest = split(options)
        if kind is ProportionTest:  # how many there are is what it asks about
            rest["records"] = how.pop("records", None)
        return self.ask(self.questions._made(kind, *given, **rest), **promise, **how)

    def by(
        self, column: str, groups: Iterable[str], *, public: bool = False, apply: str | None = None
    ) -> Self:
        """The same, in which every question is asked in each group, at one price for all.

        Parameters
        ----------
        column
            The column that says which group a record belongs to.
        groups
            Its values to ask about.
        public
            Whether everybody knows which group each record is in, and that cannot change.
        apply
            A function of the column's values that says the group.

        Returns
        -------
        Session
            ``session.by("district", ["north", "south"]).winner(...)`` has an answer for each.

        """
        return self._with(replace(self.questions, groups=By(column, groups, apply), public=public))


def split(options: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """What is promised, how it is asked, and what the question is made of."""
    promise = {name: options[name] for name in _PROMISES if name in options}
    how = {name: options[name] for name in _HOW if options.get(name) is not None}
    rest = {name: value for name, value in options.items() if name not in (*_PROMISES, *_HOW)}
    return promise, how, rest


def asked_how(options: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """What is promised and how it is asked, and nothing else."""
    promise, how, rest = split(options)
    if rest:
        raise InvalidGuarantee(
            f"ask takes {', '.join((*_PROMISES, *_HOW))}, got {', '.join(rest)}: leave it out"
        )
    return promise, how


def guarantee_of(
    promise: dict[str, Any],
    default: Guarantee | None,
    question: Asked,
    records: int | None = None,
) -> Guarantee:
    """The one guarantee that is given or wished for, or the session's."""
    given = {name: value for name, value in promise.items() if value is not None}
    delta = given.pop("delta", 0)
    wishes = {name: given.pop(name) for name in _WISHES if name in given}
    if len(given) > 1:
        raise InvalidGuarantee(f"a guarantee is either {' or '.join(given)}: leave out all but one")
    if wishes and "sure" not in given:
        raise InvalidGuarantee(f"{' and '.join(wishes)} belongs to sure: give sure='0.99' as well")
    if delta and not {"epsilon", "sure"} & set(given):
        raise InvalidGuarantee("delta belongs to epsilon: give both, or leave it out")
    if "sure" in given:
        return guarantee_for(question, sure=given["sure"], people=records, delta=delta, **wishes)
    if "epsilon" in given:
        return DP(given["epsilon"], delta)
    if "mu" in given:
        return GaussianDP(given["mu"])
    if "rho" in given:
        return ZeroConcentrated(given["rho"])
    chosen: Guarantee | None = given.get("guarantee", default)
    if chosen is None:
        raise InvalidGuarantee(
            "an answer needs a guarantee: give epsilon=, mu= or rho=, or sure= and margin=, or "
            "guarantee= to the session"
        )
    return chosen
