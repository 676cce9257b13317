"""What a column of any database holds, by the type that SQLAlchemy reflects for it.

The declared type decides how every value is read. A driver may give a value in another form than
that of its type, such as the text ``0000-00-00`` for a date: that value is not counted, alone.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias
from uuid import UUID

from rainbowdp.questions.ends import Kind
from rainbowdp.tables.held import (
    DAILY,
    DECIMALS,
    TEXT,
    TICKS,
    TRUTHS,
    Held,
    Real,
    Ticks,
    Whole,
)

if TYPE_CHECKING:
    import sqlalchemy as sa

Read: TypeAlias = Callable[[Any], Any]  # to a plain value; None, or an error, if it is none

MYSQL = ("mysql", "mariadb")
_ANY = Whole(-math.inf, math.inf)
_DAYS = Ticks(Kind.TIMES, DAILY, _ANY)
_TIMES = Ticks(Kind.TIMES, TICKS["us"], _ANY)
_INSTANTS = Ticks(Kind.INSTANTS, TICKS["us"], _ANY)
_EPOCH = datetime(1970, 1, 1)
_MICROSECOND = timedelta(microseconds=1)
_DOUBLE_REALS = ("sqlite", "oracle", *MYSQL)  # what they call REAL has more than 32 bits


class Declared(NamedTuple):
    """A type: its word, what may be counted in it, how a value is read, whether it tells people."""

    name: str
    held: Held | None
    read: Read
    identifies: bool = True

    @property
    def is_single(self) -> bool:
        """Whether it holds floats of 32 bits."""
        return isinstance(self.held, Real) and self.held.bits == 32


def declared(type_: sa.types.TypeEngine[Any], dialect: str) -> Declared | None:
    """What a reflected type holds; ``None`` for a type that has neither values nor people.

    >>> import sqlalchemy as sa
    >>> declared(sa.VARCHAR(9), "mysql").held.name, declared(sa.JSON(), "mysql")
    ('texts', None)
    """
    import sqlalchemy as sa

    name = str(type_.__visit_name__).upper()
    if isinstance(type_, sa.Boolean):
        return Declared(name, TRUTHS, _truth)
    if isinstance(type_, sa.Float):
        single = _is_single(name, dialect)
        return Declared(name, Real(32 if single else 64), _single if single else _real, False)
    if isinstance(type_, sa.Numeric):
        return Declared(name, DECIMALS, _decimal)
    if isinstance(type_, sa.Integer) or name == "YEAR":
        return Declared(name, _ANY, _whole)
    if isinstance(type_, sa.CHAR | sa.NCHAR):
        return Declared(name, TEXT, _padded)
    if isinstance(type_, sa.String):
        return Declared(name, TEXT, _text)
    if isinstance(type_, sa.Uuid):
        return Declared(name, TEXT, _uuid)
    if isinstance(type_, sa.Date):
        return Declared(name, _DAYS, _day)
    if isinstance(type_, sa.DateTime):
        instants = type_.timezone or name == "DATETIMEOFFSET"
        return Declared(name, _INSTANTS if instants else _TIMES, _instant if instants else _time)
    if _holds_bytes(type_):
        return Declared(name, None, _bytes)
    return None


def _is_single(name: str, dialect: str) -> bool:
    if name == "REAL":
        return dialect not in _DOUBLE_REALS
    return name == "BINARY_FLOAT" or (name == "FLOAT" and dialect in MYSQL)


def _holds_bytes(type_: sa.types.TypeEngine[Any]) -> bool:
    try:
        return type_.python_type is bytes
    except NotImplementedError:  # most types of one dialect alone
        return False


def _truth(value: Any) -> bool | None:
    return bool(value) if isinstance(value, int) and value in (0, 1) else None


def _whole(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _real(value: Any) -> float | None:
    if not isinstance(value, float | int | Decimal) or isinstance(value, bool):
        return None
    number = float(value)
    return None if math.isnan(number) else number


def _single(value: Any) -> float | None:
    number = _real(value)
    if number is None:
        return None
    nearest: float = struct.unpack("f", struct.pack("f", number))[0]
    return nearest


def _decimal(value: Any) -> Decimal | float | None:
    """The exact number; infinity, which some databases have, as a float."""
    if isinstance(value, float):
        value = Decimal(repr(value))
    elif isinstance(value, int) and not isinstance(value, bool):
        value = Decimal(value)
    if not isinstance(value, Decimal):
        return None
    return value if value.is_finite() else _real(value)


def _text(value: Any) -> str | None:
    if not isinstance(value, str):
        return None
    value.encode()  # half of a surrogate pair is no text
    return value


def _padded(value: Any) -> str | None:
    """A text of fixed length without its padding, which some drivers give and some do not."""
    text = _text(value)
    return None if text is None else text.rstrip(" ")


def _uuid(value: Any) -> str | None:
    return str(value) if isinstance(value, UUID) else _text(value)


def _bytes(value: Any) -> bytes | None:
    return bytes(value) if isinstance(value, bytes | bytearray | memoryview) else None


def _day(value: Any) -> int | None:
    """Days since 1970; some drivers give a date as the text of it."""
    if isinstance(value, str):
        day = date.fromisoformat(value)
        value = day if day.isoformat() == value else None
    if not isinstance(value, date) or isinstance(value, datetime):
        return None
    return value.toordinal() - _EPOCH.toordinal()


def _time(value: Any) -> int | None:
    if not isinstance(value, datetime) or value.tzinfo is not None:
        return None
    return (value - _EPOCH) // _MICROSECOND


def _instant(value: Any) -> int | None:
    if not isinstance(value, datetime) or value.utcoffset() is None:
        return None
    return (value - _EPOCH.replace(tzinfo=UTC)) // _MICROSECOND
