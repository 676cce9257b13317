"""Which values belong to a group: one value, a range, all others, or none at all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from rainbowdp.questions.ends import End, GivenEnd, Kind, end, kind_of, shown


@dataclass(frozen=True)
class Equals:
    """A record belongs to the group when its value is the one that this text spells.

    >>> str(Equals("red"))
    "is 'red'"
    """

    value: str

    def __str__(self) -> str:
        return f"is {self.value!r}"


@dataclass(frozen=True, init=False)
class Between:
    """A record belongs to the group when low ≤ value < high, or ≤ high where it is ``closed``.

    Both ends are numbers, or both are dates or times; one that is ``None`` is open.

    >>> str(Between(0, 10)), str(Between(None, 10, closed=True)), str(Between(50, None))
    ('[0, 10)', '≤ 10', '≥ 50')
    >>> str(Between("2024-01-01", "2024-07-01T12:00"))
    '[2024-01-01, 2024-07-01 12:00)'
    """

    low: End | None
    high: End | None
    closed: bool = False

    def __init__(self, low: GivenEnd | None, high: GivenEnd | None, closed: bool = False) -> None:
        ends = [None if given is None else end(given, "an end") for given in (low, high)]
        kind_of(*ends)
        for name, value in zip(("low", "high", "closed"), (*ends, closed), strict=True):
            object.__setattr__(self, name, value)

    @property
    def kind(self) -> Kind:
        """What the ends are."""
        return kind_of(self.low, self.high)

    def __str__(self) -> str:
        if self.low is None:
            if self.high is None:
                return "any number"
            return f"{'≤' if self.closed else '<'} {shown(self.high)}"
        if self.high is None:
            return f"≥ {shown(self.low)}"
        return f"[{shown(self.low)}, {shown(self.high)}{']' if self.closed else ')'}"


@dataclass(frozen=True)
class OtherValue:
    """A record belongs to the group when it has a value that belongs to no group before.

    >>> str(OtherValue())
    'is something else'
    """

    def __str__(self) -> str:
        return "is something else"


@dataclass(frozen=True)
class NoValue:
    """A record belongs to the group when it has no value: null, NaN, or not what is asked for.

    >>> str(NoValue())
    'is missing'
    """

    def __str__(self) -> str:
        return "is missing"


ValueGroup: TypeAlias = tuple[str, Equals | Between]
Group: TypeAlias = tuple[str, Equals | Between | OtherValue | NoValue]
