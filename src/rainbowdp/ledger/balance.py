"""The balance: what all records of a ledger come to.

``after`` takes the balance before a record to the balance after it, so the balance of a ledger is
a fold over its chain, and ``verify`` folds it again. The row that every payment locks holds the
last one, which makes a payment as fast after a million records as after ten.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from rainbowdp.display import cards
from rainbowdp.expecting import brief
from rainbowdp.ledger.chain import Head, Record
from rainbowdp.ledger.cost import KINDS, Cost
from rainbowdp.ledger.limits import Limit, limited, paid, restored_limit
from rainbowdp.ledger.remaining import answers_left
from rainbowdp.questions.units import Unit

_MOST_SOURCES = 100  # kept by name, so that the row stays small whatever is asked


@dataclass(frozen=True, slots=True)
class Balance:
    """A budget at one moment, and what it is for.

    Attributes
    ----------
    identity : str
        Drawn at random when the ledger was created: no other ledger has it.
    title, purpose, contact : str or None
        What the owner said of the ledger.
    dataset : str
        The name of the data whose people the budget protects.
    unit : Unit
        Whose data one change is: a record, or a person.
    neighbors : str
        What one change is: ``substituted`` or ``added or removed``.
    kind : str
        ``dp`` for a budget in ε and δ, ``gaussian`` for one in μ, ``zero-concentrated`` in ρ.
    given : dict
        The budget as it was given, before it was converted.
    total, spent, left : Cost
        Exact amounts; ``left`` is never negative.
    entries : int
        How many answers were paid for.
    answers : int
        How many of these were recorded; the others were lost, or are being drawn.
    sources : tuple of str or None
        Where the data of those answers was, in the order of their first use, up to a hundred.
    other_sources : int
        How many answers came from still other sources.
    limits : tuple of Limit
        What single analysts, or all of them, may spend, of some data or in some time.
    closed : str or None
        When the ledger was closed, if it is.
    witness : str or None
        Where heads are kept besides, if that was said at creation.
    head : Head
        The last record and its seal: stands for all of the past.

    """

    identity: str
    title: str | None
    purpose: str | None
    contact: str | None
    dataset: str
    unit: Unit
    neighbors: str
    kind: str
    given: Mapping[str, str]
    total: Cost
    spent: Cost
    entries: int
    answers: int
    sources: tuple[str | None, ...]
    other_sources: int
    limits: tuple[Limit, ...]
    closed: str | None
    witness: str | None
    head: Head

    @property
    def left(self) -> Cost:
        """What may still be spent."""
        return self.total - self.spent

    def answers_left(
        self,
        cost: Cost,
        *,
        by: str | None = None,
        source: str | None = None,
        now: datetime | None = None,
    ) -> int | None:
        """How many more answers at this price there are; none where they cost nothing.

        With ``by`` and ``source``, for this analyst and of this data, within all limits that hold
        now.
        """
        if self.closed is not None:
            return 0
        time = datetime.now(UTC) if now is None else now
        limits = [limit.at(time).left for limit in self.limits_of(by, source=source)]
        found = [answers_left(left, cost) for left in (self.left, *limits)]
        return min((many for many in found if many is not None), default=None)

    def limits_of(
        self, by: str | None, role: str | None = None, source: str | None = None
    ) -> tuple[Limit, ...]:
        """The limits that a payment by this user, with this role, from this source falls under."""
        return tuple(limit for limit in self.limits if limit.holds(by, role, source))

    def _repr_html_(self) -> str:
        many = "1 question" if self.entries == 1 else f"{self.entries:,} questions"
        named: dict[str, object] = {
            "dataset": self.dataset,
            "protects": f"{self.unit}, {self.neighbors}",
            "left": self.left.in_symbols(with_delta=True),
            "spent": f"{self.spent.in_symbols(with_delta=True)}, by {many}",
            "total": self.total.in_symbols(with_delta=True),
            **{
                f"limit of {limit.whose}": limit.in_words()
                for limit in self.limits[: cards.MOST_ROWS]
            },
        }
        if self.closed is not None:
            named["closed"] = self.closed[:10]
        named["head"] = self.head.short
        return cards.card(f"Balance: {self.title or self.dataset}", cards.facts(named))

    def as_dict(self) -> dict[str, Any]:
        """The balance in JSON values; fractions as text."""
        return {**stored(self), "left": self.left.as_dict(), "head": str(self.head)}


def stored(balance: Balance) -> dict[str, Any]:
    """What the row of the balance says, besides the head."""
    return {
        "identity": balance.identity,
        "title": balance.title,
        "purpose": balance.purpose,
        "contact": balance.contact,
        "dataset": balance.dataset,
        "unit": balance.unit.describe(),
        "neighbors": str(balance.neighbors),
        "kind": balance.kind,
        "given": dict(balance.given),
        "total": balance.total.as_dict(),
        "spent": balance.spent.as_dict(),
        "entries": balance.entries,
        "answers": balance.answers,
        "sources": list(balance.sources),
        "other_sources": balance.other_sources,
        "limits": [limit.as_dict() for limit in balance.limits],
        "closed": balance.closed,
        "witness": balance.witness,
    }


def restored(said: Mapping[str, Any], head: Head) -> Balance:
    """The balance that ``stored`` laid down."""
    cost = KINDS[said["kind"]]
    amounts = {name: cost.restore(said[name]) for name in ("total", "spent")}
    limits = tuple(restored_limit(one, cost) for one in said["limits"])
    whole: dict[str, Any] = {
        **said,
        **amounts,
        "unit": Unit.restore(said["unit"]),
        "sources": tuple(said["sources"]),
        "limits": limits,
        "head": head,
    }
    return Balance(**whole)


def after(balance: Balance | None, record: Record) -> Balance:
    """The balance after one more record; ``None`` is the balance before the creation."""
    if balance is None:
        if record.kind != "creation":
            raise ValueError("not created yet")
        return _created(record.content, record.head)
    if record.kind == "answer":
        return replace(balance, head=record.head, answers=balance.answers + 1)
    cost, head, content = KINDS[balance.kind], record.head, record.content
    if record.kind == "payment":
        paid_now = cost.restore(content["cost"])
        return replace(balance, head=head, **_paid(balance, paid_now, content, record.time))
    if record.kind in ("extension", "renewal"):
        total: Cost = balance.total + cost.restore(content["added"])
        return replace(balance, head=head, total=total)
    if record.kind == "limit":
        limits = limited(balance.limits, content, record.time, cost)
        return replace(balance, head=head, limits=limits)
    if record.kind == "closing":
        return replace(balance, head=head, closed=record.time)
    if record.kind in ("note", "link"):
        return replace(balance, head=head)
    raise ValueError(f"no kind {brief(record.kind)} here")


def _created(content: Mapping[str, Any], head: Head) -> Balance:
    said = {
        name: content[name]
        for name in ("identity", "title", "purpose", "contact", "dataset", "neighbors", "witness")
    }
    cost = KINDS[content["kind"]]
    total: Cost = cost.restore(content["total"])
    return Balance(
        **said,
        unit=Unit.restore(content["unit"]),
        kind=content["kind"],
        given=content["given"],
        total=total,
        spent=total - total,
        entries=0,
        answers=0,
        sources=(),
        other_sources=0,
        limits=(),
        closed=None,
        head=head,
    )


def _paid(balance: Balance, cost: Cost, content: Mapping[str, Any], time: str) -> dict[str, Any]:
    """What a payment changes."""
    source, others, sources = content["source"], balance.other_sources, balance.sources
    if source not in sources:
        if len(sources) < _MOST_SOURCES:
            sources = (*sources, source)
        else:
            others += 1
    return {
        "spent": balance.spent + cost,
        "entries": balance.entries + 1,
        "sources": sources,
        "other_sources": others,
        "limits": paid(balance.limits, cost, content, time),
    }
