"""What somebody may spend, of some data, in some time: limits within the budget.

A limit narrows the budget and never widens it. It is for one analyst or for everybody together, of
one source or of all, once and for all or in each window of time. What was spent under it is part of
the balance, a fold over the chain, so that it is decided and recorded in the transaction that pays.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from rainbowdp.errors import LimitExceeded
from rainbowdp.guarantees.guarantee import Guarantee
from rainbowdp.ledger.cost import Cost, must_fit
from rainbowdp.ledger.remaining import answers_left, in_words
from rainbowdp.ledger.windows import Period, moment


@dataclass(frozen=True, slots=True)
class Limit:
    """What may be spent since a limit was set, or in each window of time.

    Attributes
    ----------
    analyst : str or None
        Who: a user, a service or a role of the database; ``None`` for everybody together.
    total, spent : Cost
        Exact amounts; ``spent`` in the window of the last payment that fell under the limit.
    source : str or None
        Of which data, as it stands in entries; ``None`` for all of it.
    per : str or None
        ``day``, ``week``, ``month``, ``12 hours``, …; ``None`` for a limit once and for all.
    since : str or None
        When a limit with windows was set.
    window : int
        The number of the window that ``spent`` is about.

    """

    analyst: str | None
    total: Cost
    spent: Cost
    source: str | None = None
    per: str | None = None
    since: str | None = None
    window: int = 0

    @property
    def key(self) -> tuple[str | None, str | None, str | None]:
        """What there is one limit for."""
        return self.analyst, self.source, self.per

    @property
    def left(self) -> Cost:
        """What may still be spent, in the window of the last payment."""
        return self.total - self.spent

    @property
    def whose(self) -> str:
        """Whose limit it is, of which data, in words."""
        return whose(self.analyst, self.source)

    def holds(self, by: str | None, role: str | None, source: str | None) -> bool:
        """Whether a payment by this user, with this role, from this source falls under it."""
        who = self.analyst is None or self.analyst in (by, role)
        return who and (self.source is None or self.source == source)

    def at(self, now: datetime) -> Limit:
        """The limit at a moment: as it is, or with nothing spent in a window that is new."""
        if self.per is None or self.since is None:
            return self
        window = Period.parse(self.per).window(moment(self.since), now)
        if window <= self.window:  # also where the clock was set back: no window opens twice
            return self
        return replace(self, window=window, spent=self.spent - self.spent)

    def after(self, cost: Cost, now: datetime) -> Limit:
        """The limit after a payment at a moment."""
        there = self.at(now)
        return replace(there, spent=there.spent + cost)

    def until(self) -> str | None:
        """When its window ends and the next one begins, if it has windows."""
        if self.per is None or self.since is None:
            return None
        end = Period.parse(self.per).start(moment(self.since), self.window + 1)
        return f"{end:%Y-%m-%d %H:%M} UTC"

    def in_words(self, cost: Cost | None = None, now: datetime | None = None) -> str:
        """The amounts now, and how many answers at a price there are left in them."""
        there = self.at(datetime.now(UTC) if now is None else now)
        per = "" if self.per is None else f" per {self.per}"
        until = "" if self.per is None else f" until {there.until()}"
        said = f"{self.total}{per}; spent {there.spent}, left {there.left}{until}"
        many = "" if cost is None else f": {in_words(answers_left(there.left, cost))}"
        return said + many

    def as_dict(self) -> dict[str, Any]:
        """The limit in JSON values; fractions as text."""
        return {
            "analyst": self.analyst,
            "source": self.source,
            "per": self.per,
            "since": self.since,
            "window": self.window,
            "total": self.total.as_dict(),
            "spent": self.spent.as_dict(),
        }


def restored_limit(said: Mapping[str, Any], cost: type[Cost]) -> Limit:
    """The limit that ``as_dict`` laid down."""
    return Limit(
        said["analyst"],
        cost.restore(said["total"]),
        cost.restore(said["spent"]),
        said.get("source"),
        said.get("per"),
        said.get("since"),
        said.get("window", 0),
    )


def limited(
    limits: tuple[Limit, ...], content: Mapping[str, Any], time: str, cost: type[Cost]
) -> tuple[Limit, ...]:
    """The limits after a record that sets, changes or lifts one."""
    key = (content["analyst"], content.get("source"), content.get("per"))
    others = tuple(limit for limit in limits if limit.key != key)
    if content["total"] is None:
        return others
    total = cost.restore(content["total"])
    analyst, source, per = key
    since = None if per is None else time
    return (*others, Limit(analyst, total, total - total, source, per, since))


def paid(
    limits: tuple[Limit, ...], cost: Cost, content: Mapping[str, Any], time: str
) -> tuple[Limit, ...]:
    """The limits after a payment."""
    who, now = (content["by"], content["role"], content["source"]), moment(time)
    return tuple(limit.after(cost, now) if limit.holds(*who) else limit for limit in limits)


def must_fit_limits(
    limits: Iterable[Limit],
    payments: Iterable[tuple[Cost, str | None]],
    now: datetime,
    *,
    by: str,
    role: str | None,
    where: str,
    guarantee: Guarantee | None = None,
) -> None:
    """Raises ``LimitExceeded`` where payments from their sources are more than a limit leaves."""
    planned = list(payments)
    for limit in limits:
        costs = [cost for cost, source in planned if limit.holds(by, role, source)]
        if not costs:
            continue
        total = costs[0]
        for cost in costs[1:]:
            total = total + cost
        there = limit.at(now)
        must_fit(
            total,
            there.left,
            f"{whose(there.analyst, there.source and 'this source')} in {where}",
            guarantee,
            questions=len(costs),
            until=there.until(),
            error=LimitExceeded,
        )


def whose(analyst: str | None, source: str | None) -> str:
    """Whom and what a limit is for, in words.

    >>> whose("ann", None), whose(None, "votes.csv")
    ('ann', 'everybody together on votes.csv')
    """
    who = "everybody together" if analyst is None else analyst
    return who if source is None else f"{who} on {source}"
