"""What a column may hold, and the values that a question's texts and ends are in it.

Each kind of column is a value with two functions: a text to the value that it spells there, and a
range to a range of such values. The rules are in ``values.py``.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any, NamedTuple, Protocol

from rainbowdp.questions import Between
from rainbowdp.questions.ends import Kind, moment

_MOST_DIGITS = 100  # more than any number a column can hold
_MOST_WRITTEN = 10_000  # digits of one that is written out
_FORMATS = {16: "e", 32: "f"}
_EPOCH = datetime(1970, 1, 1)
_MICROSECOND = timedelta(microseconds=1)
DAILY = Fraction(1, 86_400_000_000)  # ticks a microsecond
TICKS = {"s": Fraction(1, 10**6), "ms": Fraction(1, 1000), "us": Fraction(1), "ns": Fraction(1000)}


class Range(NamedTuple):
    """The values of one group: low ≤ value < high, or ≤ high where it is closed.

    Both ends are always there, ±inf where they are open, so NaN lies in no range of an engine that
    takes it for unequal to everything, nor of one that puts it above infinity.
    """

    low: Any
    high: Any
    closed: bool
    group: int


class Held(Protocol):
    """What a column holds."""

    @property
    def name(self) -> str:
        """What it holds, in a word."""

    @property
    def example(self) -> str:
        """A text that spells such a value."""

    @property
    def measured(self) -> Kind | None:
        """The ranges that it can be asked for, if any."""

    def value(self, text: str) -> object:
        """The value that a text spells in such a column; ``None`` if there is none."""

    def range(self, rule: Between, group: int) -> Range | None:
        """The range as values of the column; ``None`` if it can hold none of them."""


@dataclass(frozen=True)
class _Unmeasured:
    name: str
    example: str
    measured: None = None

    def range(self, rule: Between, group: int) -> Range | None:
        """No range of such values is known."""
        return None


@dataclass(frozen=True)
class _Text(_Unmeasured):
    def value(self, text: str) -> object:
        """The text itself."""
        return text


@dataclass(frozen=True)
class _Truths(_Unmeasured):
    def value(self, text: str) -> object:
        """True or False, in capitals or not."""
        return {"true": True, "false": False}.get(text.lower())


TEXT = _Text("texts", "red")
TRUTHS = _Truths("truth values", "true")


@dataclass(frozen=True)
class Whole:
    """Whole numbers from ``low`` to ``high``.

    >>> Whole(-128, 127).value("3.0"), Whole(-128, 127).value("3.5"), Whole(-128, 127).value("red")
    (3, None, None)
    >>> Whole(-128, 127).range(Between(0.5, 1000), 0)
    Range(low=1, high=127, closed=True, group=0)
    """

    low: int | float
    high: int | float
    name: str = "whole numbers"
    example: str = "3"
    measured: Kind = Kind.NUMBERS

    def value(self, text: str) -> object:
        """The whole number, if it is one and the column can hold it."""
        number = _decimal(text)
        if number is None or number.adjusted() > _MOST_DIGITS:
            return None
        if number != number.to_integral_value() or not self.low <= number <= self.high:
            return None
        return int(number)

    def range(self, rule: Between, group: int) -> Range | None:
        """The same whole numbers with both ends included and within the column's own."""
        return self.within(_fraction(rule.low), _fraction(rule.high), rule.closed, group)

    def within(
        self, least: Fraction | None, most: Fraction | None, closed: bool, group: int
    ) -> Range | None:
        """The whole numbers from ``least`` to ``most``, both included."""
        low, high = self.low, self.high
        if least is not None:
            low = max(low, math.ceil(least))
        if most is not None:
            high = min(high, math.floor(most) if closed else math.ceil(most) - 1)
        return Range(low, high, True, group) if low <= high else None


@dataclass(frozen=True)
class Fixed:
    """Decimals of so many digits, ``scale`` of them after the point; compared exactly.

    >>> Fixed(4, 2).value("2.5"), Fixed(4, 2).value("2.505"), Fixed(4, 2).value("123")
    (Decimal('2.50'), None, None)
    >>> Fixed(4, 2).range(Between(0.125, 1000), 0)
    Range(low=Decimal('0.13'), high=Decimal('99.99'), closed=True, group=0)
    """

    digits: int
    scale: int
    name: str = "decimals"
    example: str = "2.5"
    measured: Kind = Kind.NUMBERS

    def value(self, text: str) -> object:
        """The decimal, if the column can hold it."""
        number = _decimal(text)
        if number is None or abs(number.adjusted()) > _MOST_DIGITS:
            return None
        units = Fraction(number) * 10**self.scale
        if units.denominator != 1 or abs(units) >= 10**self.digits:
            return None
        return self._decimal(units.numerator)

    def range(self, rule: Between, group: int) -> Range | None:
        """The same decimals with both ends included and within the column's own."""
        most = 10**self.digits - 1
        low, high = (
            None if end is None else _fraction(end) * 10**self.scale
            for end in (rule.low, rule.high)
        )
        found = Whole(-most, most).within(low, high, rule.closed, group)
        if found is None:
            return None
        return Range(self._decimal(found.low), self._decimal(found.high), True, group)

    def _decimal(self, units: int) -> Decimal:
        return Decimal(f"{units}E-{self.scale}")  # exact, whatever the context's precision


@dataclass(frozen=True)
class _Decimals:
    """Decimals of any size, compared exactly."""

    name: str = "decimals"
    example: str = "2.5"
    measured: Kind = Kind.NUMBERS

    def value(self, text: str) -> object:
        """The decimal that the text spells."""
        number = _decimal(text)
        return None if number is None or abs(number.adjusted()) > _MOST_WRITTEN else number

    def range(self, rule: Between, group: int) -> Range | None:
        """The range between the decimals that the ends are written as."""
        low = -math.inf if rule.low is None else Decimal(repr(rule.low))
        if rule.high is None:
            return Range(low, math.inf, True, group)
        return Range(low, Decimal(repr(rule.high)), rule.closed, group)


DECIMALS = _Decimals()


@dataclass(frozen=True)
class Real:
    """Floats of 64, 32 or 16 bits; a number stands for the nearest one that the column can hold.

    >>> Real(32).value("0.1"), Real(64).value("0.1"), Real(64).value("nan")
    (0.10000000149011612, 0.1, None)
    """

    bits: int
    name: str = "numbers"
    example: str = "2.5"
    measured: Kind = Kind.NUMBERS

    def value(self, text: str) -> object:
        """The nearest float, if it is finite."""
        number = _decimal(text)
        nearest = math.inf if number is None else self._nearest(float(number))
        return nearest if math.isfinite(nearest) else None

    def range(self, rule: Between, group: int) -> Range | None:
        """The range between the nearest floats; an open end takes in infinity."""
        low = -math.inf if rule.low is None else self._nearest(_float(rule.low))
        if rule.high is None:
            return Range(low, math.inf, True, group)
        return Range(low, self._nearest(_float(rule.high)), rule.closed, group)

    def _nearest(self, number: float) -> float:
        if self.bits == 64:
            return number
        code = _FORMATS[self.bits]
        try:
            nearest: float = struct.unpack(code, struct.pack(code, number))[0]
        except OverflowError:
            return math.copysign(math.inf, number)
        return nearest


@dataclass(frozen=True)
class _Dates:
    """Days, for engines that know infinite ones."""

    name: str = "dates"
    example: str = "2024-12-31"
    measured: Kind = Kind.TIMES

    def value(self, text: str) -> object:
        """The day of 2024-12-31."""
        time = moment(text)
        whole = time is not None and time.tzinfo is None and time == _midnight(time)
        return time.date() if whole and time is not None else None

    def range(self, rule: Between, group: int) -> Range | None:
        """The days whose midnight lies in the range."""
        low: date | float = -math.inf
        if isinstance(rule.low, datetime):
            try:
                low = (rule.low + timedelta(days=1, microseconds=-1)).date()
            except OverflowError:  # in the last day of the year 9999
                return None
        if not isinstance(rule.high, datetime):
            return Range(low, math.inf, True, group)
        high, closed = rule.high.date(), rule.closed or rule.high != _midnight(rule.high)
        empty = isinstance(low, date) and (low > high or (low == high and not closed))
        return None if empty else Range(low, high, closed, group)


DATES = _Dates()


@dataclass(frozen=True)
class Times:
    """Times, for engines that know infinite ones; within ``first`` and ``last`` if there are such.

    >>> Times(Kind.INSTANTS).value("2024-12-31T23:59+01:00")
    datetime.datetime(2024, 12, 31, 22, 59, tzinfo=datetime.timezone.utc)
    """

    measured: Kind
    first: datetime | None = None
    last: datetime | None = None

    @property
    def name(self) -> str:
        """Whether they have a zone."""
        return _times(self.measured)

    @property
    def example(self) -> str:
        """A time with or without a zone."""
        return _example(self.measured)

    def value(self, text: str) -> object:
        """The time, if it has a zone or not as the column has, and the column can hold it."""
        time = moment(text)
        if time is None or (time.tzinfo is not None) != (self.measured == Kind.INSTANTS):
            return None
        return None if self._early(time) or self._late(time) else time

    def range(self, rule: Between, group: int) -> Range | None:
        """The range within what the column can hold; an open end takes in infinity."""
        low: datetime | float = -math.inf
        if isinstance(rule.low, datetime):
            if self._late(rule.low):
                return None
            low = -math.inf if self._early(rule.low) else rule.low
        if not isinstance(rule.high, datetime) or self._late(rule.high):
            return Range(low, math.inf, True, group)
        return None if self._early(rule.high) else Range(low, rule.high, rule.closed, group)

    def _early(self, time: datetime) -> bool:
        return self.first is not None and time.replace(tzinfo=None) < self.first

    def _late(self, time: datetime) -> bool:
        return self.last is not None and time.replace(tzinfo=None) > self.last


@dataclass(frozen=True)
class Ticks:
    """Days or times as whole numbers: so many ticks a microsecond since 1970, from ``whole``.

    >>> Ticks(Kind.TIMES, Fraction(1, 10**6), Whole(-100, 100)).value("1970-01-01T00:01")
    60
    """

    measured: Kind
    rate: Fraction
    whole: Whole

    @property
    def name(self) -> str:
        """Whether they are days, and else whether they have a zone."""
        return DATES.name if self.rate == DAILY else _times(self.measured)

    @property
    def example(self) -> str:
        """A day, or a time with or without a zone."""
        return DATES.example if self.rate == DAILY else _example(self.measured)

    def value(self, text: str) -> object:
        """The tick, if the time is at one and has a zone or not as the column has."""
        time = moment(text)
        if time is None or (time.tzinfo is not None) != (self.measured == Kind.INSTANTS):
            return None
        tick = self._at(time)
        held = tick.denominator == 1 and self.whole.low <= tick <= self.whole.high
        return tick.numerator if held else None

    def range(self, rule: Between, group: int) -> Range | None:
        """The ticks in the range with both ends included and within the column's own."""
        low, high = (
            self._at(end) if isinstance(end, datetime) else None for end in (rule.low, rule.high)
        )
        return self.whole.within(low, high, rule.closed, group)

    def _at(self, time: datetime) -> Fraction:
        since = time.replace(tzinfo=None) - _EPOCH
        return Fraction(since // _MICROSECOND) * self.rate


def integers(bits: int, signed: bool = True) -> Whole:
    """Whole numbers of so many bits."""
    return Whole(-(1 << bits - 1), (1 << bits - 1) - 1) if signed else Whole(0, (1 << bits) - 1)


def _times(kind: Kind) -> str:
    return "times with a time zone" if kind == Kind.INSTANTS else "times without a time zone"


def _example(kind: Kind) -> str:
    return "2024-12-31 23:59Z" if kind == Kind.INSTANTS else "2024-12-31 23:59"


def _midnight(time: datetime) -> datetime:
    return time.replace(hour=0, minute=0, second=0, microsecond=0)


def _fraction(end: Any) -> Any:
    """The exact number that an end is written as: one tenth for 0.1."""
    return None if end is None else Fraction(repr(end))


def _decimal(text: str) -> Decimal | None:
    """The finite number that a text spells."""
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


def _float(number: Any) -> float:
    try:
        return float(number)
    except OverflowError:  # a whole number beyond every float
        return math.inf if number > 0 else -math.inf
