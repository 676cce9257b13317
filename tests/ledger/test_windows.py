"""Windows of time: every moment is in one, in the order of the calendar."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledgers import says
from rainbowdp.errors import LedgerError
from rainbowdp.ledger.windows import Period, moment

MOMENTS = st.datetimes(datetime(2000, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC))
PERIODS = st.builds(Period, st.integers(1, 30), st.sampled_from(["hour", "day", "week", "month"]))


@given(PERIODS, MOMENTS, MOMENTS)
def test_every_moment_is_in_exactly_one_window(
    period: Period, since: datetime, now: datetime
) -> None:
    window = period.window(since, now)
    assert period.start(since, window) <= now < period.start(since, window + 1)
    assert period.window(since, since) == 0
    assert Period.parse(str(period)) == period


@given(PERIODS, MOMENTS, MOMENTS, MOMENTS)
def test_a_later_moment_is_never_in_an_earlier_window(
    period: Period, since: datetime, one: datetime, other: datetime
) -> None:
    first, second = sorted([one, other])
    assert period.window(since, first) <= period.window(since, second)


@given(MOMENTS, MOMENTS)
def test_single_windows_are_those_of_the_calendar(one: datetime, other: datetime) -> None:
    same = {
        "hour": f"{one:%Y%m%d%H}" == f"{other:%Y%m%d%H}",
        "day": one.date() == other.date(),
        "week": one.isocalendar()[:2] == other.isocalendar()[:2],
        "month": (one.year, one.month) == (other.year, other.month),
    }
    for unit, together in same.items():
        assert (Period(1, unit).window(one, other) == 0) is together


@pytest.mark.parametrize("text", ["", "0 days", "fortnight", "-1 day", "1.5 hours", "99999 weeks"])
def test_other_words_are_refused(text: str) -> None:
    message = says("A limit is per hour, day, week or month, or per several of them as in", ".")
    with pytest.raises(LedgerError, match=message):
        Period.parse(text)


def test_moments_are_read_in_utc() -> None:
    noon = datetime(2026, 11, 17, 12, tzinfo=UTC)
    assert moment("2026-11-17T12:00:00+00:00") == noon == moment("2026-11-17T12:00:00")
    assert moment("2026-11-17T13:00:00+01:00") == noon
    assert moment("2026-11-17T13:00:00+01:00") - noon == timedelta(0)
