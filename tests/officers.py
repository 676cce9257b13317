"""A ledger to which everything happened that can happen to one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import rainbowdp as rb
from rainbowdp.ledger import Ledger
from rainbowdp.questions import Unit, in_words

WINNER = rb.Winner(["red", "green"], "choice", where="age > 65")
GROUPED = rb.Grouped(WINNER, "district", ["north", "south", "east"])
FOREIGN = {"kind": "mean", "column": "age", "bounds": [0, 100]}
EVIL = "=1+1 <script>alert(1)</script> \N{LATIN SMALL LETTER U WITH DIAERESIS}"


def paid(
    place: str | Path, by: str, epsilon: str, question: Any, answer: str | None, **options: Any
) -> None:
    """One answer, or a payment without one."""
    ledger = Ledger.open(place, by=by)
    described = question if isinstance(question, dict) else question.describe()
    entry = ledger.spend(
        rb.DP(epsilon),
        question=described,
        unit=Unit(),
        neighbors="substituted",
        words=None if isinstance(question, dict) else in_words(described),
        **options,
    )
    if answer is not None:
        ledger.record(entry, answer)


def eventful(folder: Path, **budget: Any) -> Ledger:
    """Questions of several people, notes, an extension, limits, a renewal, a link, a closing."""
    place = folder / "budget.db"
    amounts = budget or {"epsilon": "6.9", "delta": "1e-6"}
    ledger = Ledger.create(
        place,
        dataset="town-2026",
        title="Town poll",
        purpose=EVIL,
        contact="privacy@town.example",
        by="dpo",
        **amounts,
    )
    kind = {"dp": "epsilon", "gaussian": "mu", "zero-concentrated": "rho"}[ledger.kind]
    amount: Any = {kind: "1.25"} | ({"delta": "1e-7"} if ledger.kind == "dp" else {})
    ledger.link(Ledger.create(folder / "old.db", dataset="town-2025", epsilon=1, by="dpo"))
    paid(place, "ann", "0.1", WINNER, "red", name="busiest", source="votes.csv")
    paid(
        place, "ben", "0.2", GROUPED, json.dumps({"north": "red", "south": "green", "east": "red"})
    )
    ledger.note(EVIL, about=1)
    ledger.extend(**amount, signed_by="A. Officer", reason="The second wave of the survey")
    paid(place, "ann", "0.3", FOREIGN, "=17", mechanism={"kind": "laplace"})
    ledger.limit("ben", **amount, signed_by="A. Officer")
    paid(place, "ben", "1/3", WINNER, None)
    ledger.note("Published in May.", about=1)
    ledger.note("Audited, no findings.")
    ledger.renew(**amount, signed_by="A. Officer", reason="The data of 2027")
    ledger.close(signed_by="A. Officer", reason="The survey is over")
    return ledger
