"""Year, month, day and hour of dates and times that are counted in ticks, and what they can be.

A date or time outside the years 1 to 9999 has none of them, in any engine: some cannot compute
them there, and others fail.
"""

from __future__ import annotations

from datetime import date

import numpy as np
from numpy.typing import NDArray

from rainbowdp.errors import UnreadableTable
from rainbowdp.expecting import brief
from rainbowdp.questions.ends import Kind
from rainbowdp.questions.functions import FIELDS, LETTERS, ROUNDED
from rainbowdp.tables.asked import Asked
from rainbowdp.tables.held import DAILY, TEXT, Held, Ticks, Whole

FIRST_DAY, LAST_DAY = (d.toordinal() - date(1970, 1, 1).toordinal() for d in (date.min, date.max))
DAY_IN_MICROSECONDS = 86_400_000_000
HOURS = 24
HELD = {
    "year": Whole(1, 9999),
    "month": Whole(1, 12),
    "day": Whole(1, 31),
    "hour": Whole(0, HOURS - 1),
}
_EPOCH = date(1970, 1, 1).toordinal()
_LARGEST = (1 << 63) - 1


def applied(asked: Asked, held: Held, type_: object) -> Held:
    """What the function that is asked about makes of what a column holds, or an error."""
    function = asked.apply
    if function in FIELDS and held.measured in (Kind.TIMES, Kind.INSTANTS):
        return HELD[function]
    if function is None or (function in LETTERS and held is TEXT):
        return held
    if function in ROUNDED and held.measured == Kind.NUMBERS:
        return held
    needed = "texts" if function in LETTERS else "numbers"
    raise UnreadableTable(
        f"{function} needs a column of {'dates or times' if function in FIELDS else needed}, got "
        f"column {brief(asked.column)} of {held.name} ({type_}): choose another column or function"
    )


def ticks_a_day(held: Ticks) -> int:
    """How many ticks a day has."""
    return int(held.rate / DAILY)


def dated(held: Ticks) -> tuple[int, int]:
    """The first and the last tick of the years 1 to 9999 that 64 bits hold."""
    day = ticks_a_day(held)
    return max(-_LARGEST, FIRST_DAY * day), min(_LARGEST, (LAST_DAY + 1) * day - 1)


def field(name: str, ticks: int, held: Ticks) -> int | None:
    """A field of one time.

    >>> from rainbowdp.tables.held import TICKS
    >>> seconds = Ticks(Kind.TIMES, TICKS["s"], Whole(-100, 100))
    >>> field("year", -1, seconds), field("hour", -1, seconds), field("year", 10**15, seconds)
    (1969, 23, None)
    """
    a_day = ticks_a_day(held)
    day, rest = divmod(ticks, a_day)
    if not FIRST_DAY <= day <= LAST_DAY:
        return None
    if name == "hour":
        return rest * HOURS // a_day
    found: int = getattr(date.fromordinal(day + _EPOCH), name)
    return found


def fields(name: str, ticks: NDArray[np.int64], held: Ticks) -> NDArray[np.float64]:
    """A field of each time, NaN where it has none."""
    first, last = dated(held)
    inside = (ticks >= first) & (ticks <= last)
    safe, a_day = np.where(inside, ticks, 0), ticks_a_day(held)
    day = safe // a_day
    months = day.astype("datetime64[D]").astype("datetime64[M]")
    if name == "hour":
        found = safe % a_day // max(1, a_day // HOURS)
    elif name == "day":
        found = day - months.astype("datetime64[D]").astype(np.int64) + 1
    elif name == "month":
        found = months.astype(np.int64) % 12 + 1
    else:
        found = months.astype("datetime64[Y]").astype(np.int64) + 1970
    return np.where(inside, found.astype(np.float64), np.nan)
