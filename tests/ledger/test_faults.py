"""A ledger on a disk that fails: each seed is one session, and replays one fault."""

from __future__ import annotations

import random
import sqlite3
from collections import Counter
from pathlib import Path

import pytest

from faulty_disk import FaultyDisk, Plan
from faulty_sessions import KINDS, LIES, campaign
from ledgers import new_ledger


@pytest.mark.parametrize(
    "seeds", [range(11), pytest.param(range(11, 161), marks=pytest.mark.slow)], ids=len
)
def test_no_overspend_and_no_silent_old_balance_whatever_fails(
    tmp_path: Path, seeds: range
) -> None:
    found = campaign(seeds, tmp_path)
    kinds = Counter(kind for kind, _, _ in found.elements())
    assert set(kinds) == set(KINDS)
    honest = set(KINDS) - set(LIES) - {"swapped inside", "swapped between", "another ledger"}
    assert {kind for kind, result, _ in found if result == "noticed"}.isdisjoint(honest)
    assert any(result == "noticed" for _, result, _ in found)
    assert any(errors for _, _, errors in found)


def test_the_disk_does_what_it_is_told(tmp_path: Path) -> None:
    """A fault that never struck would prove nothing."""
    place = tmp_path / "plain.db"
    with FaultyDisk().mounted() as disk:
        database = sqlite3.connect(place)
        database.execute("CREATE TABLE t (x)")
        database.commit()

        def insert() -> None:
            for number in range(9):
                database.execute("INSERT INTO t VALUES (?)", (number,))
                database.commit()

        for fault in ("error", "full", "crash"):
            disk.plan = plan = Plan(fault, 3, random.Random(1))
            with pytest.raises(sqlite3.OperationalError):
                insert()
            assert plan.done
            assert plan.off == (fault == "crash")
            disk.plan = None
            database.close()
            database = sqlite3.connect(place)
        database.close()
    assert new_ledger(tmp_path / "budget.db", epsilon=1).verify().number == 1
