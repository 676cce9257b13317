"""Spans of time over which a limit holds: an hour, a day, a week, a month, or several of them.

Windows follow the calendar in UTC, a week begins on Monday, and several hours, days, weeks or
months are counted from the one in which the limit was set. So every moment is in exactly one
window, windows are numbered from 0, and a later moment is never in an earlier window.

The clock is that of the chain: the time of a record is what the clock of its writer says, and never
before the time of the record before it (``book.py``). A clock that is set back therefore stays in
the window that has begun, and no window is opened twice. A clock that is set forward opens a window
before its time; that window is then the one that counts until its time is over, so that no window
pays more than once either way.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Self

from rainbowdp.errors import LedgerError
from rainbowdp.expecting import brief

_WORDS = re.compile(r"(?:([1-9][0-9]{0,3}) +)?(hour|day|week|month)s?")
_FIRST = datetime(1, 1, 1, tzinfo=UTC)  # a Monday


@dataclass(frozen=True, slots=True)
class Period:
    """The length of a window: so many hours, days, weeks or months.

    >>> print(Period.parse("day"), "|", Period.parse(" 12 hours"), "|", Period.parse("1 week"))
    day | 12 hours | week
    """

    count: int
    unit: str

    @classmethod
    def parse(cls, text: str) -> Self:
        """The period of ``day``, ``week``, ``month`` or ``12 hours``.

        Raises
        ------
        LedgerError
            If it is none.

        """
        found = _WORDS.fullmatch(text.strip().lower()) if isinstance(text, str) else None
        if found is None:
            raise LedgerError(
                "A limit is per hour, day, week or month, or per several of them as in "
                f"'12 hours', got {brief(str(text)[:40])}."
            )
        return cls(int(found[1] or 1), found[2])

    def __str__(self) -> str:
        return self.unit if self.count == 1 else f"{self.count} {self.unit}s"

    def window(self, since: datetime, now: datetime) -> int:
        """The number of the window that ``now`` is in, counted from the one of ``since``.

        >>> since = datetime(2026, 11, 17, 15, 30, tzinfo=UTC)
        >>> Period(12, "hour").window(since, since + timedelta(hours=12))
        1
        """
        return (_count(self.unit, now) - _count(self.unit, since)) // self.count

    def start(self, since: datetime, window: int) -> datetime:
        """When a window begins.

        >>> print(Period(1, "month").start(datetime(2026, 11, 17, tzinfo=UTC), 2))
        2027-01-01 00:00:00+00:00
        """
        return _moment(self.unit, _count(self.unit, since) + window * self.count)


def moment(text: str) -> datetime:
    """The moment that a record names, in UTC."""
    found = datetime.fromisoformat(text)
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)


def _count(unit: str, when: datetime) -> int:
    """How many hours, days, weeks or months began since the year 1."""
    if unit == "month":
        return 12 * when.year + when.month - 1
    passed = when - _FIRST
    if unit == "hour":
        return 24 * passed.days + passed.seconds // 3600
    return passed.days if unit == "day" else passed.days // 7


def _moment(unit: str, count: int) -> datetime:
    """The moment at which the so-many-th hour, day, week or month begins."""
    if unit == "month":
        return datetime(count // 12, count % 12 + 1, 1, tzinfo=UTC)
    return _FIRST + timedelta(**{f"{unit}s": count})
