"""What a report says, gathered in one pass over the chain."""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass, field
from datetime import datetime

from rainbowdp.ledger.balance import Balance
from rainbowdp.ledger.cost import Cost
from rainbowdp.ledger.events import Event
from rainbowdp.ledger.ledger import Ledger
from rainbowdp.ledger.report.picture import Point

MOST_ENTRIES = 1000  # that a report lists; all of them are in the picture and in the sums


@dataclass
class Asker:
    """What one analyst has asked, in all."""

    entries: int
    spent: Cost


@dataclass
class Summary:
    """The balance, the sums of all entries, and the latest of them."""

    balance: Balance
    where: str
    points: list[Point] = field(default_factory=list)
    subjects: dict[str, Cost] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    askers: dict[str, Asker] = field(default_factory=dict)
    entries: deque[Event] = field(default_factory=lambda: deque(maxlen=MOST_ENTRIES))
    others: list[Event] = field(default_factory=list)

    @classmethod
    def of(cls, ledger: Ledger) -> Summary:
        """Read a ledger, checking its chain and its sums on the way."""
        found = cls(ledger.balance(), ledger.where)
        for event in ledger.events():
            if event.record.number > found.balance.head.number:
                continue  # others may go on writing
            found._add(event)
        return found

    def _add(self, event: Event) -> None:
        spent = event.total - event.left
        time = datetime.fromisoformat(event.record.time).timestamp()
        main, whole = float(spent.parts[0]), float(event.total.parts[0])
        if event.record.kind in ("creation", "payment", "extension", "renewal"):
            self.points.append(Point(time, main, whole, event.entry is not None))
        if event.entry is None:
            self.others.append(event)
            return
        cost, words = event.entry.cost, event.in_words()
        self.subjects[words] = self.subjects[words] + cost if words in self.subjects else cost
        self.counts[words] += 1
        asker = self.askers.setdefault(event.who, Asker(0, cost - cost))
        asker.entries, asker.spent = asker.entries + 1, asker.spent + cost
        self.entries.append(event)
