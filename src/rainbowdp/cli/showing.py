"""An answer as a person or a program reads it, and what is said of a mechanism beside it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import typer

from rainbowdp.answering.askable import Askable
from rainbowdp.answering.coverage import percent
from rainbowdp.answering.grouped import GroupedMechanism
from rainbowdp.answering.mechanism import QuestionMechanism
from rainbowdp.answering.release import Release, Statement
from rainbowdp.cli.output import print_facts, print_json, warn
from rainbowdp.cli.wanting import Promised
from rainbowdp.errors import LedgerError
from rainbowdp.guarantees.descriptions import describe_guarantee, warning_about
from rainbowdp.questions.keys import Keys
from rainbowdp.questions.posed import Posed
from rainbowdp.questions.relations import PersonRule
from rainbowdp.questions.units import unit_of
from rainbowdp.sessions.buying import least

SURE = Fraction(99, 100)
_PEOPLE = ("person", "people")

if TYPE_CHECKING:
    from rainbowdp.ledger import Entry, Ledger


def show(
    mechanism: Askable, promised: Promised, release: Release, book: Ledger | None, as_json: bool
) -> None:
    """Print an answer, what it promises and proves, and then what is left of the budget."""
    entry = release.entry
    drawn_by = _drawn_by(mechanism, release)
    in_groups = release.answer if isinstance(mechanism, GroupedMechanism) else None
    about = release.answer if in_groups is None else None
    if as_json:
        print_json(
            {
                "answer": release.answer,
                "question": mechanism.question.describe(),
                "unit": unit_of(mechanism.question).describe(),
                "guarantee": describe_guarantee(mechanism.guarantee),
                **promised.as_json(),
                **worth_as_json(mechanism),
                "mechanism": drawn_by,
                "proof": None if release.recalled else mechanism.proof_in_words,
                "proves": proved(release.proves, about),
                "recalled": release.recalled,
                "drawn": None if entry is None else entry.time,
                "entry": None if entry is None else entry.number,
                "head": None if entry is None else str(entry.head),
                "source": None if entry is None else entry.source,
                **_balance_as_json(book),
            }
        )
        return
    if in_groups is not None:
        print_facts({"group": "answer", **{name: str(a) for name, a in in_groups.items()}})
        typer.echo()
    facts: dict[str, str | Callable[[], str]] = {
        **({"answer": answer_in_words(release.answer)} if in_groups is None else {}),
        **promised.facts(),
        "guarantee": f"{mechanism.guarantee}, {change_in_words(mechanism.question)}",
        "in words": mechanism.guarantee.in_words(unit_of(mechanism.question).whom),
        "mechanism": kind_in_words(mechanism),
        **workings(mechanism),
        **counted_rows(mechanism.question),
        **each_group(mechanism),
    }
    if isinstance(inner_of(mechanism), QuestionMechanism):  # found once the answer is out
        facts["sure"] = lambda: sureness(mechanism)
    if release.proves is not None:
        each = "" if in_groups is None else "for each group, "
        facts["proves"] = f"{each}{release.proves.in_words(about)}"
    if drawn_by != mechanism.name:
        facts["mechanism"] = f"{drawn_by}, which drew the recorded answer"
        facts = {name: fact for name, fact in facts.items() if name not in ("how", "sure")}
    if entry is None or book is None:
        facts["ledger"] = "none: this answer is not recorded anywhere"
    else:
        facts["head"] = entry.head.short
        facts["ledger"] = lambda: _left(book, entry, recalled=release.recalled)
    print_facts(facts)
    warn(mechanism.guarantee, unit_of(mechanism.question).whom)


def _left(book: Ledger, entry: Entry, *, recalled: bool) -> str:
    """What is left of the budget, read once the answer is out: trouble must not hide that."""
    drawn = datetime.fromisoformat(entry.time).strftime("%Y-%m-%d %H:%M UTC")
    try:
        balance = book.balance()
    except LedgerError as error:
        return f"recorded as entry {entry.number}, but what is left is unknown now: {error}"
    rest = balance.left.out_of(balance.total)
    if recalled:
        return f"{book.where}: recalled, drawn {drawn}, nothing spent; {rest}"
    return f"{book.where}: {rest}"


def _balance_as_json(book: Ledger | None) -> dict[str, Any]:
    """The balance, or why it cannot be read."""
    if book is None:
        return {"balance": None}
    try:
        return {"balance": book.balance().as_dict()}
    except LedgerError as error:
        return {"balance": None, "balance_unknown": str(error)}


def answer_in_words(answer: Any) -> str:
    """An answer, or several of them."""
    if isinstance(answer, tuple):
        return ", ".join(answer) or "none"
    return str(answer)


def proved(proves: Statement | None, answer: object = None) -> dict[str, Any] | None:
    """What an answer proves, ready for JSON."""
    return None if proves is None else {**proves.describe(), "in_words": proves.in_words(answer)}


def worth_as_json(mechanism: Askable) -> dict[str, Any]:
    """What the guarantee is worth, and a warning where it is worth little."""
    about = unit_of(mechanism.question).whom
    return {
        "in_words": mechanism.guarantee.in_words(about),
        "best_guess": mechanism.guarantee.best_guess(),
        "warning": warning_about(mechanism.guarantee, about),
    }


def kind_in_words(mechanism: Askable) -> str:
    """The kind of mechanism, and what is known of it."""
    return ", ".join(filter(None, [mechanism.name, mechanism.claim, "proved exactly"]))


def workings(mechanism: Askable) -> dict[str, str]:
    """What the mechanism does, in a few words, where there are several kinds to tell apart."""
    inner = inner_of(mechanism)
    return {"how": inner.family.summary} if isinstance(inner, QuestionMechanism) else {}


def sureness(mechanism: Askable) -> str:
    """From which margin on the true answer is said 99 times in 100; about no data at all."""
    inner = inner_of(mechanism)
    assert isinstance(inner, QuestionMechanism)
    rule, question = inner.exact().rule, inner.question
    margin = least(lambda many: rule.chances(question, many)[0] >= SURE)
    each = "" if inner is mechanism else "in each group, "
    if margin is None:
        return f"{each}at no margin right {percent(SURE)} of the time"
    one, several = ("record", "records") if unit_of(question).whom == "one record" else _PEOPLE
    return (
        f"{each}right at least {percent(SURE)} of the time from a margin of "
        f"{margin:,} {one if margin == 1 else several} on"
    )


def inner_of(mechanism: Askable) -> Askable:
    """The mechanism itself, or the one that answers in each group."""
    return mechanism.inner if isinstance(mechanism, GroupedMechanism) else mechanism


def change_in_words(question: Posed) -> str:
    """What one change of the data is, in words."""
    change = f"{unit_of(question)} {question.neighbors}"
    if question.person is None:
        return change
    if question.person_rule == PersonRule.ONE_VOTE:
        return f"{change}, one vote each"
    if isinstance(question, Keys):
        limit = question.keys_per_person
        return f"{change}, up to {limit} {'key' if limit == 1 else 'keys'} each"
    limit = question.rows_per_person
    return f"{change}, a sample of up to {limit} {'row' if limit == 1 else 'rows'} each"


def each_group(mechanism: Askable) -> dict[str, str]:
    """What is promised in each group, where there are such."""
    if not isinstance(mechanism, GroupedMechanism):
        return {}
    moves = mechanism.moves
    why = "a change is inside one group" if moves == 1 else f"a change moves up to {moves} rows"
    return {"each group": f"{mechanism.inner.guarantee}: {why}"}


def counted_rows(question: Posed) -> dict[str, str]:
    """Which rows are counted, where a condition says it."""
    return {} if question.where is None else {"counted": f"rows where {question.where}"}


def _drawn_by(mechanism: Askable, release: Release) -> str:
    """The kind of mechanism that drew an answer: a recalled one may be of another kind."""
    recorded = None if release.entry is None else release.entry.mechanism
    return mechanism.name if recorded is None else str(recorded["kind"])
