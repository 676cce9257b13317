"""A service's answer as the release that a session would have given."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rainbowdp.answering.best import best
from rainbowdp.answering.counting import CountRelease
from rainbowdp.answering.coverage import Coverage
from rainbowdp.answering.intervals import Precision
from rainbowdp.answering.naming import Naming
from rainbowdp.answering.release import Release, Statement
from rainbowdp.answering.testing import Significance
from rainbowdp.errors import ServiceError
from rainbowdp.guarantees.descriptions import restore_guarantee
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.ledger.chain import canonical
from rainbowdp.ledger.entry import Entry
from rainbowdp.questions import Count, Grouped, Keys, ProportionTest
from rainbowdp.questions.restoring import from_description
from rainbowdp.sessions.plan import PlanRelease, Together
from rainbowdp.sessions.targets import Asked


def release_of(reply: Mapping[str, Any], described: Mapping[str, Any] | None = None) -> Release:
    """The release that a reply holds; of the question that was described, if one was.

    What was asked, promised and proved is taken from the entry, which is what the ledger's chain
    has sealed.
    """
    entry, recalled = Entry.restore(reply["entry"]), bool(reply["recalled"])
    if described is not None and canonical(described, "question") != entry.question_text:
        raise ServiceError(
            f"The service answered another question than was asked: entry {entry.number} is "
            f"{entry.in_words!r}. Tell who runs it.",
            code="unexpected",
        )
    proves = (entry.mechanism or {}).get("proves")
    if entry.question.get("kind") == "plan":
        return _planned(reply["answer"], entry, recalled, proves)
    question: Any = from_description(entry.question)
    return _single(question, entry.guarantee, reply["answer"], entry, recalled, proves)


def _single(
    question: Asked,
    guarantee: Guarantee,
    answer: Any,
    entry: Entry,
    recalled: bool,
    proves: Mapping[str, Any] | None,
) -> Release:
    told = None if proves is None else _statement(question).restore(dict(proves))
    if isinstance(question, Count):  # its law is public, and with it intervals and p-values
        mechanism = best(question, guarantee)
        return CountRelease(
            answer=int(answer), entry=entry, recalled=recalled, proves=told, mechanism=mechanism
        )
    found = tuple(answer) if isinstance(question, Keys) else answer
    return Release(found, entry, recalled, told)


def _planned(
    answers: Mapping[str, Any], entry: Entry, recalled: bool, proves: Mapping[str, Any] | None
) -> PlanRelease:
    releases, told = {}, {} if proves is None else proves
    for asked in entry.question["questions"]:
        name, question = asked["name"], from_description(asked["question"])
        said = {key: value for key, value in told[name].items() if key != "statement"}
        promise = restore_guarantee(asked["guarantee"])
        releases[name] = _single(question, promise, answers[name], entry, recalled, said)
    answer = {name: release.answer for name, release in releases.items()}
    together = None if proves is None else Together.restore(dict(proves))
    return PlanRelease(answer, entry, recalled, together, releases)


def _statement(question: Asked) -> type[Statement]:
    asked = question.question if isinstance(question, Grouped) else question
    if isinstance(asked, Count):
        return Precision
    if isinstance(asked, ProportionTest):
        return Significance
    return Naming if isinstance(asked, Keys) else Coverage
