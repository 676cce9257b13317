"""A writer that spends under limits until they stop it, to be run by several processes at once."""

from __future__ import annotations

from typing import Any

import rainbowdp as rb
from ledgers import QUESTION
from rainbowdp.errors import LimitExceeded
from rainbowdp.ledger import Entry, Ledger


def pay(ledger: Ledger, epsilon: str, source: str = "votes") -> Entry:
    """One payment from a source."""
    about: Any = {"unit": ledger.unit, "neighbors": ledger.neighbors, "source": source}
    return ledger.spend(rb.DP(epsilon), question=QUESTION, **about)


def attempt(place: str, who: str, times: int) -> int:
    """So many payments of 0.1; how many were made."""
    ledger, done = Ledger.open(place, by=who), 0
    for _ in range(times):
        try:
            pay(ledger, "0.1")
            done += 1
        except LimitExceeded:
            pass
    return done
