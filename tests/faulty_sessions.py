"""A session with a ledger on a disk that fails, by a seed that replays it.

Checked throughout: what is spent never exceeds the budget, a balance that is shown is the true
one, whatever went wrong is one of our errors, and a disk that did not lie leaves a whole ledger
with every payment and answer that was reported.
"""

from __future__ import annotations

import random
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from unittest.mock import patch

import rainbowdp as rb
from faulty_disk import FAULTS, FaultyDisk, Plan
from rainbowdp.errors import BudgetExceeded, LedgerError
from rainbowdp.ledger import Cost, Entry, Ledger
from rainbowdp.ledger.cost import price

KINDS = (*FAULTS, "swapped inside", "swapped between", "another ledger", "two names", "clock")
LIES = ("lost write", "torn write", "lost transaction")
"""After these a ledger may be damaged for good, and must say so."""
CURRENCIES: dict[str, tuple[dict[str, Any], Any]] = {
    "epsilon": ({"epsilon": 1}, rb.DP("0.3")),
    "mu": ({"mu": 1}, rb.GaussianDP("0.55")),
    "rho": ({"rho": 1}, rb.ZeroConcentrated("0.3")),
}
_STEPS = 7


class Clock:
    """A clock that jumps back and forth, in the place of ``datetime``."""

    def __init__(self, dice: random.Random) -> None:
        self.dice = dice

    def now(self, _zone: object) -> datetime:
        return datetime(2026, 11, 17, tzinfo=UTC) + timedelta(days=self.dice.randint(-9000, 9000))


@dataclass
class Session:
    """One run."""

    seed: int
    kind: str
    disk: FaultyDisk
    folder: Path
    dice: random.Random
    paid: dict[int, Entry] = field(default_factory=dict)
    answers: dict[int, str] = field(default_factory=dict)
    heads: list[str] = field(default_factory=list)
    maybe: int = 0
    """Payments of which nobody knows whether they stand."""
    errors: int = 0

    def __post_init__(self) -> None:
        self.place, self.heads_file = self.folder / "budget.db", self.folder / "heads.txt"
        budget, self.guarantee = CURRENCIES[self.dice.choice(sorted(CURRENCIES))]
        witness = self.heads_file
        self.ledger = Ledger.create(self.place, dataset="faults", witness=witness, **budget)
        self.total = self.ledger.balance().total
        self.cost = price(self.guarantee, self.ledger.kind, "")

    def run(self) -> str:
        """What came of it: ``whole`` or ``noticed``."""
        struck = self.dice.randrange(_STEPS)
        clock = Clock(self.dice) if self.kind == "clock" else datetime
        with patch("rainbowdp.ledger.book.datetime", clock):
            for step in range(_STEPS):
                if step == struck:
                    self.break_something()
                self.step()
                if self.disk.plan is not None and self.disk.plan.off:
                    self.disk.plan = None  # started again
                    self.reopen()
        self.disk.plan = None
        return self.judged()

    def break_something(self) -> None:
        if self.kind in FAULTS:
            self.disk.plan = Plan(self.kind, self.dice.randrange(45), self.dice)
        elif self.kind == "swapped inside":
            copy = self.folder / "copy"
            shutil.copy(self.place, copy)
            swap = Plan("swap", self.dice.randrange(45), self.dice)
            swap.action = lambda: copy.replace(self.place)
            self.disk.plan = swap
        elif self.kind == "swapped between":
            shutil.copy(self.place, self.folder / "copy")
            for _ in range(self.dice.randint(1, 3)):
                self.step()
            (self.folder / "copy").replace(self.place)
        elif self.kind == "another ledger":
            budget, _ = CURRENCIES[self.dice.choice(sorted(CURRENCIES))]
            Ledger.create(self.folder / "another.db", dataset="faults", **budget)
            (self.folder / "another.db").replace(self.place)
        elif self.kind == "two names":
            other = self.folder / "other.db"
            other.hardlink_to(self.place)
            for _ in range(3):
                assert self.attempt(lambda: Ledger.open(other)) is None
                assert self.attempt(self.pay) is None
            self.maybe = 0  # refused before anything
            other.unlink()

    def step(self) -> None:
        work = self.dice.choice([self.pay, self.pay, self.pay, self.look, self.reopen, self.list])
        self.attempt(work)

    def attempt(self, work: Callable[[], Any]) -> Any:
        """Does something; whatever goes wrong must be one of our errors."""
        try:
            return work()
        except BudgetExceeded:
            return None
        except LedgerError:
            self.errors += 1
            return None

    def pay(self) -> Entry:
        number = self.dice.choice([None, f"name {self.dice.randrange(10**9)}"])
        self.maybe += 1
        try:
            entry = self.ledger.spend(
                self.guarantee,
                question={"kind": "winner", "column": "x" * self.dice.randrange(3000)},
                unit=self.ledger.unit,
                neighbors=self.ledger.neighbors,
                source="here",
                name=number,
            )
        except BudgetExceeded:
            self.maybe -= 1
            raise
        self.maybe -= 1
        assert entry.number not in self.paid, "two payments under one number"
        self.paid[entry.number] = entry
        self.heads.append(str(entry.head))
        answered = self.ledger.record(entry, f"answer {entry.number}")
        self.answers[entry.number] = f"answer {entry.number}"
        self.heads.append(str(answered.head))
        return answered

    def look(self) -> None:
        balance = self.ledger.balance()
        assert len(self.paid) <= balance.entries <= len(self.paid) + self.maybe, "an old balance"
        assert all(part >= 0 for part in balance.left.parts), "overspent"

    def list(self) -> None:
        self.compare(self.ledger.history())

    def compare(self, entries: tuple[Entry, ...]) -> None:
        found = {entry.number: entry for entry in entries}
        assert len(found) <= len(self.paid) + self.maybe
        for number, entry in self.paid.items():
            assert found[number].paid == entry.paid, "a payment is gone"
        for number, answer in self.answers.items():
            assert found[number].answer == answer, "an answer is gone"

    def reopen(self) -> None:
        self.ledger = Ledger.open(self.place, witness=self.heads_file)

    def spent(self) -> Cost:
        spent = self.total - self.total
        for entry in self.paid.values():
            spent = spent + entry.cost
        return spent

    def judged(self) -> str:
        assert all(part >= 0 for part in (self.total - self.spent()).parts), "overspent"
        try:
            ledger = Ledger.open(self.place, witness=self.heads_file)
            ledger.verify(*self.heads)
        except LedgerError:
            assert self.kind in LIES or "swap" in self.kind or self.kind == "another ledger"
            return "noticed"
        self.ledger = ledger
        self.look()
        self.compare(ledger.history())
        while True:  # what is left can be spent, and no more
            try:
                self.pay()
            except BudgetExceeded:
                break
        self.look()
        ledger.verify(*self.heads)
        return "whole"


def simulate(seed: int, disk: FaultyDisk, folder: Path) -> tuple[str, str, int]:
    """One session: what went wrong, what came of it, and how many errors were reported."""
    dice = random.Random(seed)
    kind = KINDS[seed % len(KINDS)]
    with tempfile.TemporaryDirectory(dir=folder, ignore_cleanup_errors=True) as inside:
        session = Session(seed, kind, disk, Path(inside), dice)
        return kind, session.run(), session.errors


def campaign(seeds: range, folder: Path) -> Counter[tuple[str, str, bool]]:
    """Many sessions: how often each kind of fault ended whole or noticed, with errors or without.

    Raises
    ------
    AssertionError
        With the seed, where a promise was broken.

    """
    found: Counter[tuple[str, str, bool]] = Counter()
    with FaultyDisk().mounted() as disk:
        for seed in seeds:
            try:
                kind, result, errors = simulate(seed, disk, folder)
            except BaseException as error:
                raise AssertionError(
                    f"seed {seed}, {KINDS[seed % len(KINDS)]}: {error!r}"
                ) from error
            found[kind, result, errors > 0] += 1
    return found
