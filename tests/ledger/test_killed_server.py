"""A ledger whose server is killed has all that it said it had."""

from __future__ import annotations

import pytest

import rainbowdp as rb
from ledgers import new_ledger, spend
from postgres import fresh_schema, killable_server
from rainbowdp.errors import LedgerError


@pytest.mark.slow
def test_what_was_paid_is_there_after_the_server_was_killed() -> None:
    with killable_server() as server:
        ledger = new_ledger(fresh_schema(server.url), epsilon=3)
        for _ in range(3):
            entry = spend(ledger, rb.DP("0.1"))
            server.kill()
            with pytest.raises(LedgerError, match="cannot be reached"):
                ledger.record(entry, "red")
            assert server.start()
            assert ledger.record(entry, "red").answer == "red"
        assert ledger.verify().number == 7
