"""Writers of one ledger that are killed again and again, and what must be true afterwards.

The writers are forks of this process, so that each lives from its first millisecond on, and a kill
hits the middle of its work. ``killed`` must run in a process without threads of its own.
"""

from __future__ import annotations

import os
import random
import secrets
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import rainbowdp as rb
from rainbowdp.errors import BudgetExceeded
from rainbowdp.ledger import Ledger

CURRENCIES: dict[str, tuple[dict[str, Any], Any]] = {
    "epsilon": ({"epsilon": 4}, rb.DP("0.01")),
    "mu": ({"mu": 2}, rb.GaussianDP("0.1")),
    "rho": ({"rho": 4}, rb.ZeroConcentrated("0.01")),
}
"""Budgets for 400 answers."""


@dataclass(frozen=True)
class Found:
    """What became of it."""

    kills: int
    entries: int
    shown: int
    lost: int


def killed(place: str, currency: str, kills: int, writers: int = 8, seed: int = 0) -> Found:
    """Lets writers pay, answer and show until so many of them were killed, and the rest is spent.

    Raises
    ------
    AssertionError
        If more was spent than there was, an answer was shown without its entry, or the chain
        does not hold.

    """
    dice = random.Random(seed)
    budget, guarantee = CURRENCIES[currency]
    ledger = Ledger.create(place, dataset="kills", **budget)
    signed = {"signed_by": "the tests", "reason": "more kills"}
    with tempfile.NamedTemporaryFile() as answers:
        shown = os.open(answers.name, os.O_WRONLY | os.O_APPEND)

        def write() -> None:
            _write(place, guarantee, shown)

        done, alive = 0, [_fork(write) for _ in range(writers)]
        while done < kills:
            time.sleep(dice.uniform(0, 0.08))
            number = dice.randrange(writers)
            os.kill(alive[number], signal.SIGKILL)
            status = os.waitstatus_to_exitcode(os.waitpid(alive[number], 0)[1])
            if status == -signal.SIGKILL:
                done += 1
            else:  # it had come to the end of the budget
                assert status == 0, "a writer failed"
                ledger.renew(**budget, **signed)
            alive[number] = _fork(write)
        for child in alive:
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0, "a writer failed"
        os.close(shown)
        lines = [line.split() for line in Path(answers.name).read_text().splitlines()]
    balance = ledger.balance()
    assert balance.spent == balance.total, "overspent, or less than everything"
    ledger.verify(*(head for _, _, head in lines))
    entries = {entry.number: entry for entry in ledger.entries()}
    assert len(entries) == balance.entries
    assert len({written for written, _, _ in lines}) == len(lines), "one entry, two answers"
    for written, answer, head in lines:
        assert entries[int(written)].answer == answer, "an answer without its entry"
        assert str(entries[int(written)].head) == head
    return Found(done, len(entries), len(lines), len(entries) - balance.answers)


def _write(place: str, guarantee: Any, shown: int) -> None:
    ledger = Ledger.open(place)
    while True:
        try:
            entry = ledger.spend(
                guarantee,
                question={"kind": "winner"},
                unit=ledger.unit,
                neighbors=ledger.neighbors,
            )
        except BudgetExceeded:
            return
        answer = secrets.choice(["red", "green", "blue"])
        recorded = ledger.record(entry, answer)
        # one write, which a kill cannot split
        os.write(shown, f"{entry.number} {answer} {recorded.head}\n".encode())


def _fork(work: Callable[[], None]) -> int:
    child = os.fork()
    if child:
        return child
    try:
        work()
        os._exit(0)
    except BaseException:
        sys.excepthook(*sys.exc_info())
        os._exit(1)


if __name__ == "__main__":
    sys.stdout.write(f"{killed(sys.argv[1], sys.argv[2], int(sys.argv[3]))}\n")
