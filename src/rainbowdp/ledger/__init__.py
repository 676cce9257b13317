"""The ledger: the durable record of what privacy has been spent.

A ledger holds one budget for the people of one dataset, one privacy unit and one neighbor
relation. A question is paid before its answer is drawn, and its answer is recorded before anyone
sees it:

    entry = ledger.spend(guarantee, question=question, unit=unit, neighbors="substituted")
    answer = …                                  # draw
    ledger.record(entry, answer)                # then show it

A crash in between costs budget and never privacy. One code path serves SQLite (a file) and
PostgreSQL (an address); `store.py` says what each promises.
"""

from rainbowdp.ledger.balance import Balance
from rainbowdp.ledger.chain import Head, Record
from rainbowdp.ledger.cost import Cost, DPCost, GaussianCost, ZeroConcentratedCost
from rainbowdp.ledger.drawing import Drawn
from rainbowdp.ledger.entry import Charge, Entry
from rainbowdp.ledger.events import Event
from rainbowdp.ledger.ledger import Ledger
from rainbowdp.ledger.limits import Limit

__all__ = [
    "Balance",
    "Charge",
    "Cost",
    "DPCost",
    "Drawn",
    "Entry",
    "Event",
    "GaussianCost",
    "Head",
    "Ledger",
    "Limit",
    "Record",
    "ZeroConcentratedCost",
]
