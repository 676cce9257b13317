"""Limits of an analyst, of a source and of a window of time, decided where a payment is made."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from itertools import count
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rainbowdp as rb
from ledgers import QUESTION, new_ledger, says
from limited_writers import attempt, pay
from rainbowdp.errors import BudgetExceeded, LedgerError, LimitExceeded
from rainbowdp.ledger import Charge, DPCost, Ledger, Limit, book
from rainbowdp.ledger.balance import restored, stored
from rainbowdp.ledger.report import page

NOON = datetime(2026, 11, 17, 12, tzinfo=UTC)  # a Tuesday
SIGNED: dict[str, Any] = {"signed_by": "A. Officer"}


class Clock:
    """What every writer takes for the time."""

    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    found = Clock()
    monkeypatch.setattr(book, "_clock", found)
    return found


def test_a_day_has_its_own_amount(place: str, clock: Clock) -> None:
    new_ledger(place, epsilon=10)
    ann, ben = Ledger.open(place, by="ann"), Ledger.open(place, by="ben")
    ben.limit("ann", epsilon="0.5", per="day", **SIGNED)
    pay(ann, "0.3")
    message = says(
        f"This question costs ε = 0.3, but ann in {ann.where} has ε = 0.2 left until 2026-11-18 "
        "00:00 UTC. Use a smaller epsilon, wait, or repeat an earlier question by its name for "
        "free."
    )
    with pytest.raises(LimitExceeded, match=message):
        pay(ann, "0.3")
    with pytest.raises(LimitExceeded, match=message):
        ann.must_fit(rb.DP("0.3"), unit=ann.unit, neighbors=ann.neighbors)
    pay(ben, "0.3")
    clock.now += timedelta(hours=11, minutes=59)
    with pytest.raises(LimitExceeded):
        pay(ann, "0.3")
    clock.now += timedelta(minutes=1)
    pay(ann, "0.5")
    with pytest.raises(LimitExceeded):
        pay(ann, "0.01")
    assert ann.balance().limits[0].spent == DPCost(Fraction(1, 2), Fraction(0))
    assert ann.balance().limits[0].at(clock.now + timedelta(days=1)).left == DPCost.of(rb.DP("0.5"))
    ann.verify()
    assert Ledger.open(place).balance() == ann.balance()


def test_a_clock_that_is_set_back_opens_no_window_again(place: str, clock: Clock) -> None:
    ledger = new_ledger(place, epsilon=10, by="ann")
    ledger.limit("ann", epsilon="0.5", per="day", **SIGNED)
    pay(ledger, "0.5")
    clock.now += timedelta(days=1)
    pay(ledger, "0.5")
    for back in (timedelta(days=1), timedelta(days=400)):
        clock.now = NOON - back
        with pytest.raises(LimitExceeded):
            pay(ledger, "0.1")
        other = Ledger.open(place, by="ann")
        with pytest.raises(LimitExceeded):
            pay(other, "0.1")
    ledger.note("The clock is wrong.")
    times = [record.time for record in ledger.records()]
    assert times == sorted(times)
    assert times[-1] == "2026-11-18T12:00:00+00:00"


def test_a_clock_that_is_set_forward_opens_a_window_once(place: str, clock: Clock) -> None:
    ledger = new_ledger(place, epsilon=10, by="ann")
    ledger.limit("ann", epsilon="0.5", per="day", **SIGNED)
    clock.now = NOON + timedelta(days=1)
    pay(ledger, "0.5")  # tomorrow's, today
    clock.now = NOON
    with pytest.raises(LimitExceeded):
        pay(ledger, "0.1")
    clock.now = NOON + timedelta(days=1, hours=1)
    with pytest.raises(LimitExceeded):
        pay(ledger, "0.1")
    clock.now = NOON + timedelta(days=2)
    pay(ledger, "0.5")


def test_no_payment_takes_a_limit_back_to_an_earlier_window() -> None:
    """Not even in a chain whose times fall, as one that another program wrote might."""
    cost = DPCost.of(rb.DP("0.5"))
    limit = Limit("ann", cost, cost - cost, None, "day", NOON.isoformat())
    later = limit.after(cost, NOON + timedelta(days=3))
    assert later.window == 3
    for back in (NOON, NOON + timedelta(days=2), NOON - timedelta(days=9)):
        assert later.at(back) == later
        assert later.after(cost, back).spent == cost + cost


@pytest.mark.parametrize("role", [None, "readers"])
def test_whom_a_limit_holds_for(role: str | None) -> None:
    """A file has no roles, a server always has one; everybody is everybody in both."""
    cost = DPCost.of(rb.DP(1))
    everybody, ann, votes = (
        Limit(None, cost, cost, per="day"),
        Limit("ann", cost, cost),
        Limit(None, cost, cost, "votes"),
    )
    assert everybody.holds("ben", role, None)
    assert everybody.holds("ben", role, "votes")
    assert ann.holds("ann", role, "votes")
    assert ann.holds("ben", "ann", None)
    assert not ann.holds("ben", role, None)
    assert votes.holds("ben", role, "votes")
    assert not votes.holds("ben", role, "visits")
    assert not votes.holds("ben", role, None)


@pytest.mark.parametrize("windows", [{"per": "day"}, {"since": NOON.isoformat()}])
def test_a_limit_without_a_period_or_a_start_has_no_windows(windows: dict[str, Any]) -> None:
    cost = DPCost.of(rb.DP(1))
    limit = Limit("ann", cost, cost, **windows)
    assert limit.at(NOON + timedelta(days=9)) == limit
    assert limit.until() is None


def test_a_source_has_its_own_limit(place: str, clock: Clock) -> None:
    new_ledger(place, epsilon=10)
    ann, ben = Ledger.open(place, by="ann"), Ledger.open(place, by="ben")
    ann.limit(source="votes", epsilon="0.5", **SIGNED)
    ann.limit("ann", source="visits", per="month", epsilon="0.2", **SIGNED)
    pay(ann, "0.3")
    whom = f"everybody together on this source in {ann.where} has ε = 0.2 left. Use"
    with pytest.raises(LimitExceeded, match=re.escape(whom)):
        pay(ben, "0.3")
    pay(ben, "0.2")
    pay(ben, "1", "visits")
    with pytest.raises(LimitExceeded, match="but ann on this source in "):
        pay(ann, "0.3", "visits")
    pay(ann, "0.3", "elsewhere")


def test_everybody_shares_a_window(place: str, clock: Clock) -> None:
    new_ledger(place, epsilon=10)
    ann, ben = Ledger.open(place, by="ann"), Ledger.open(place, by="ben")
    ann.limit(per="12 hours", epsilon=1, **SIGNED)
    pay(ann, "0.6")
    with pytest.raises(LimitExceeded, match=r"everybody together in .* until 2026-11-18 00:00 UTC"):
        pay(ben, "0.6")
    clock.now += timedelta(hours=12)
    pay(ben, "0.6")


def test_several_payments_at_once_count_where_they_belong(place: str, clock: Clock) -> None:
    ledger = new_ledger(place, epsilon=10, by="ann")
    ledger.limit("ann", source="votes", epsilon="0.5", per="week", **SIGNED)
    about: Any = {"question": QUESTION, "unit": ledger.unit, "neighbors": ledger.neighbors}

    def charges(votes: int) -> list[Charge]:
        sources = ["votes"] * votes + ["visits"] * 9
        return [Charge(rb.DP("0.1"), source=source, **about) for source in sources]

    with pytest.raises(LimitExceeded, match=r"These 6 questions cost ε = 0\.6, but ann on this"):
        ledger.spend_all(charges(6))
    assert ledger.balance().entries == 0
    assert len(ledger.spend_all(charges(5))) == 14
    assert ledger.balance().limits[0].left == DPCost(Fraction(0), Fraction(0))


def test_all_limits_and_the_budget_hold_at_once(place: str, clock: Clock) -> None:
    ledger = new_ledger(place, epsilon=1, by="ann")
    ledger.limit("ann", epsilon="0.9", **SIGNED)
    ledger.limit("ann", epsilon="0.5", per="day", **SIGNED)
    pay(ledger, "0.5")
    clock.now += timedelta(days=1)
    with pytest.raises(LimitExceeded, match=r"ε = 0\.4 left\. Use"):
        pay(ledger, "0.45")
    pay(ledger, "0.4")
    clock.now += timedelta(days=1)
    ledger.limit("ann", **SIGNED)  # only the one without windows
    assert [limit.per for limit in ledger.balance().limits] == ["day"]
    with pytest.raises(BudgetExceeded) as caught:
        pay(ledger, "0.2")
    assert not isinstance(caught.value, LimitExceeded)
    pay(ledger, "0.1")


@pytest.mark.slow
@settings(max_examples=15)
@given(
    limits=st.lists(
        st.tuples(
            st.sampled_from([None, "ann", "ben"]),
            st.sampled_from([None, "votes", "visits"]),
            st.sampled_from(["hour", "day", "2 days", "week", "month"]),
            st.integers(1, 6),
        ),
        min_size=1,
        max_size=3,
    ),
    steps=st.lists(
        st.tuples(
            st.sampled_from(["ann", "ben"]),
            st.sampled_from(["votes", "visits"]),
            st.integers(1, 4),
            st.sampled_from([0, 0, 1, 7, 24, 24 * 8, -1, -30, -24 * 40, 24 * 40]),
        ),
        max_size=12,
    ),
)
def test_no_window_ever_pays_more_than_its_limit(
    tmp_path_factory: pytest.TempPathFactory,
    limits: list[tuple[str | None, str | None, str, int]],
    steps: list[tuple[str, str, int, int]],
) -> None:
    """Whatever the clock does; and nothing is refused that fits. The oracle counts by itself."""
    place = tmp_path_factory.mktemp("ledger") / "budget.db"
    clock = Clock()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(book, "_clock", clock)
        new_ledger(place, epsilon=1000)
        handles = {name: Ledger.open(place, by=name) for name in ("ann", "ben")}
        held = {limit[:3]: limit[3] for limit in limits}
        for (analyst, source, per), most in held.items():
            handles["ann"].limit(analyst, source=source, per=per, epsilon=most, **SIGNED)
        spent: dict[Any, int] = defaultdict(int)
        latest = clock.now
        for who, source, cost, hours in steps:
            clock.now += timedelta(hours=hours)
            now = max(latest, clock.now)  # what was refused left no record of its time
            mine = [
                ((*key, calendar(key[2], now)), most)
                for key, most in held.items()
                if key[0] in (None, who) and key[1] in (None, source)
            ]
            fits = all(spent[window] + cost <= most for window, most in mine)
            try:
                pay(handles[who], str(cost), source)
            except LimitExceeded:
                assert not fits
            else:
                assert fits
                latest = now
                for window, _ in mine:
                    spent[window] += cost
        handles["ann"].verify()


def calendar(per: str, when: datetime) -> str:
    """A name for the window, by the calendar of Python; two days are counted from noon's day."""
    if per == "2 days":
        return str((when.date() - NOON.date()).days // 2)
    return when.strftime(
        {"hour": "%Y%m%d%H", "day": "%Y%m%d", "week": "%G-%V", "month": "%Y%m"}[per]
    )


def eight_writers(place: str, pool: Executor) -> None:
    new_ledger(place, epsilon=100)
    Ledger.open(place).limit(source="votes", epsilon="1.3", per="900 weeks", **SIGNED)
    Ledger.open(place).limit("w0", epsilon="0.1", per="900 weeks", **SIGNED)
    done = list(pool.map(attempt, [place] * 8, [f"w{n}" for n in range(8)], [4] * 8))
    assert sum(done) == 13
    assert done[0] <= 1
    ledger = Ledger.open(place)
    assert ledger.balance().spent == DPCost(Fraction(13, 10), Fraction(0))
    ledger.verify()


def test_eight_writers_stay_within_a_window(place: str) -> None:
    with ThreadPoolExecutor(8) as pool:
        eight_writers(place, pool)


def test_eight_people_of_a_service_stay_within_a_window(place: str) -> None:
    """A service does what its threads want at one time in one transaction."""
    new_ledger(place, epsilon=100)
    service = Ledger.open(place, connections=4)
    service.limit(source="votes", epsilon="1.3", per="900 weeks", **SIGNED)
    service.limit("w0", epsilon="0.1", per="900 weeks", **SIGNED)

    def draw(number: int) -> tuple[int, bool]:
        who = number % 8
        ledger = service.on_behalf_of(f"w{who}", "the ledger")
        about: Any = {"question": QUESTION, "unit": ledger.unit, "neighbors": ledger.neighbors}
        charge = Charge(rb.DP("0.1"), source="votes", name=f"w{who}/{number}", **about)
        try:
            ledger.draw(charge, lambda: "red")
        except LimitExceeded:
            return who, False
        return who, True

    try:
        with ThreadPoolExecutor(8) as pool:
            done = list(pool.map(draw, range(40)))
        assert sum(paid for _, paid in done) == 13
        assert sum(paid for who, paid in done if who == 0) <= 1
        assert service.balance().spent == DPCost(Fraction(13, 10), Fraction(0))
        service.verify()
    finally:
        service.disconnect()


@pytest.mark.slow
def test_eight_processes_stay_within_a_window(place: str) -> None:
    with ProcessPoolExecutor(8, mp_context=get_context("spawn")) as pool:
        eight_writers(place, pool)


@pytest.mark.slow
def test_eight_writers_cross_the_borders_of_windows(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The clock jumps over a border every few payments, and goes back now and then."""
    ticks = count()

    def clock() -> datetime:
        tick = next(ticks)
        return NOON + timedelta(minutes=9 * tick - (200 if tick % 7 == 3 else 0))

    monkeypatch.setattr(book, "_clock", clock)
    new_ledger(place, epsilon=100)
    Ledger.open(place).limit(epsilon="0.3", per="hour", **SIGNED)
    with ThreadPoolExecutor(8) as pool:
        done = list(pool.map(attempt, [place] * 8, [f"w{n}" for n in range(8)], [6] * 8))
    ledger = Ledger.open(place)
    hours: dict[str, int] = defaultdict(int)
    for entry in ledger.entries():
        hours[entry.time[:13]] += 1
    assert sum(hours.values()) == sum(done)
    assert max(hours.values()) <= 3
    assert len(hours) > 1
    ledger.verify()


def test_what_is_no_limit_is_refused(place: str) -> None:
    ledger = new_ledger(place, epsilon=1)
    with pytest.raises(LedgerError, match="Name one of them"):
        ledger.limit(epsilon=1, **SIGNED)
    with pytest.raises(LedgerError, match="A limit is per hour, day, week or month"):
        ledger.limit("ann", per="moon", epsilon=1, **SIGNED)
    with pytest.raises(LedgerError, match="The source must be printable text"):
        ledger.limit(source="\n", epsilon=1, **SIGNED)
    ledger.limit("ann", per="1 day", epsilon=1, **SIGNED)
    message = says(
        f"ann has no limit in {ledger.where} that could be lifted. There are limits of ann per day."
    )
    with pytest.raises(LedgerError, match=message):
        ledger.limit("ann", **SIGNED)
    ledger.limit("ann", per="day", **SIGNED)
    assert ledger.balance().limits == ()


def test_limits_are_told_in_words(tmp_path: Path, clock: Clock) -> None:
    ledger = new_ledger(tmp_path / "budget.db", epsilon=10, by="ann")
    ledger.limit("ann", epsilon="0.5", per="day", **SIGNED)
    ledger.limit(source="votes <1>", epsilon=3, **SIGNED)
    pay(ledger, "0.1")
    ledger.limit("ann", per="day", **SIGNED)
    ledger.limit("ann", epsilon="0.5", per="12 hours", **SIGNED)
    said = [event.in_words() for event in ledger.events() if event.record.kind == "limit"]
    assert said == [
        "Limited ann to ε 0.5 per day, from this moment on.",
        "Limited everybody together on votes <1> to ε 3, from this moment on.",
        "Lifted the limit of ann per day.",
        "Limited ann to ε 0.5 per 12 hours, from this moment on.",
    ]
    pay(ledger, "0.1")
    found = {limit.whose: limit for limit in ledger.balance().limits}
    cost = ledger.price(rb.DP("0.1"))
    assert found["ann"].in_words(cost, clock.now) == (
        "epsilon 0.5, delta 0 per 12 hours; spent epsilon 0.1, delta 0, left epsilon 0.4, delta 0 "
        "until 2026-11-18 00:00 UTC: 4 more answers"
    )
    assert found["everybody together on votes <1>"].in_words() == (
        "epsilon 3, delta 0; spent epsilon 0, delta 0, left epsilon 3, delta 0"
    )
    text = page(ledger)
    assert "per 12 hours, left" in text
    assert "votes &lt;1&gt;" in text
    assert "votes <1>" not in text


def test_answers_left_are_those_of_the_tightest_limit(tmp_path: Path, clock: Clock) -> None:
    ledger = new_ledger(tmp_path / "budget.db", epsilon=1, by="ann")
    ledger.limit("ann", epsilon="0.5", per="day", **SIGNED)
    ledger.limit(source="votes", epsilon="0.3", per="day", **SIGNED)
    pay(ledger, "0.1")
    balance, cost = ledger.balance(), ledger.price(rb.DP("0.1"))
    left: Callable[..., int | None] = balance.answers_left
    assert left(cost) == 9
    assert left(cost, by="ann", now=clock.now) == 4
    assert left(cost, by="ann", source="votes", now=clock.now) == 2
    assert left(cost, by="ann", source="votes", now=clock.now + timedelta(days=1)) == 3
    assert left(cost, by="ben", now=clock.now) == 9
    assert left(cost - cost, by="ann", now=clock.now) is None


def test_a_balance_from_before_windows_is_read(tmp_path: Path) -> None:
    ledger = new_ledger(tmp_path / "budget.db", epsilon=1)
    ledger.limit("ann", epsilon="0.5", **SIGNED)
    now = ledger.balance()
    said = json.loads(json.dumps(stored(now)))
    assert restored(said, now.head) == now
    for limit in said["limits"]:
        for name in ("source", "per", "since", "window"):
            del limit[name]
    assert restored(said, now.head) == now
