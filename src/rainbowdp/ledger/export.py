"""A ledger as CSV, for a spreadsheet, and as JSON, for anybody who wants to check it.

The JSON has the whole chain. Its seals can be made again with nothing but Python's standard
library: ``docs/how-to/officer.md`` has the twenty lines, and ``SEALS`` says it in a sentence.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator
from decimal import Context, Decimal
from fractions import Fraction

from rainbowdp.ledger.chain import Record
from rainbowdp.ledger.cost import KINDS, Cost
from rainbowdp.ledger.events import Event
from rainbowdp.ledger.ledger import Ledger

SEALS = (
    "The seal of a record is the SHA-256, in hexadecimal digits, of the JSON text [seal before, "
    "number, time, kind, name, subject, content] as Python's json.dumps writes it. The seal before "
    "the first record is the text 'rainbowdp ledger'; content is itself a text: the JSON of the "
    "content with sorted keys and without spaces."
)
_FORMULAS = ("=", "+", "-", "@", "\t", "\r")  # what a spreadsheet takes for one at the start
_EXACT, _NEAREST = 30, 17  # digits


def as_csv(ledger: Ledger) -> Iterator[str]:
    """One line for each event, oldest first, under a line of names.

    Amounts are decimals, exact where thirty digits are enough; the JSON has all of them exactly. A
    text that a spreadsheet would take for a formula has an apostrophe before it.
    """
    parts = KINDS[ledger.kind].names()
    amounts = [f"{what}_{part}" for what in ("cost", "added", "left") for part in parts]
    names = [
        *("record", "time", "kind", "entry", "name", "by", "role", "signed_by", "words", "answer"),
        *(*amounts, "reason", "notes", "source", "mechanism", "software", "seal"),
    ]
    yield _line(names)
    for event in ledger.events():
        yield _line(map(_cell, _row(event)))


def as_json(ledger: Ledger) -> Iterator[str]:
    """The balance and the whole chain, one record a line."""
    balance = ledger.balance()
    about = {
        "format": "rainbowdp ledger",
        "version": 1,
        "seals": SEALS,
        "head": str(balance.head),
        "balance": balance.as_dict(),
    }
    yield json.dumps(about, indent=2).removesuffix("\n}") + ',\n  "records": [\n'
    for record in ledger.records():
        if record.number <= balance.head.number:  # others may go on writing
            yield f"    {_written(record)}{',' if record.number < balance.head.number else ''}\n"
    yield "  ]\n}\n"


def decimal_text(value: Fraction) -> str:
    """A number for a spreadsheet: exact where thirty digits are enough, else the nearest of 17.

    >>> [decimal_text(Fraction(*value)) for value in ((69, 10), (1, 10**7), (1, 3))]
    ['6.9', '0.0000001', '0.33333333333333333']
    """
    numbers = Decimal(value.numerator), Decimal(value.denominator)
    context = Context(prec=_EXACT)  # not that of the program, which may have fewer digits
    exact = context.divide(*numbers)
    found = exact if Fraction(exact) == value else Context(prec=_NEAREST).divide(*numbers)
    return f"{found.normalize(context):f}"


def _written(record: Record) -> str:
    said = record.as_dict()
    try:
        text = json.dumps(said, ensure_ascii=False)
        text.encode()
    except UnicodeEncodeError:  # half a character, from a name that was none
        return json.dumps(said)
    return text


def _row(event: Event) -> list[str | int | Fraction | None]:
    record, entry = event.record, event.entry
    content = record.content
    mechanism = None if entry is None else entry.mechanism
    return [
        record.number,
        record.time,
        record.kind,
        None if entry is None else entry.number,
        record.name,
        content["by"],
        content.get("role"),
        content.get("signed_by"),
        event.in_words(),
        None if entry is None else entry.answer,
        *_amounts(event, content.get("cost")),
        *_amounts(event, content.get("added")),
        *event.left.parts,
        event.reason,
        " | ".join(note.content["text"] for note in event.notes),
        content.get("source"),
        None if mechanism is None else mechanism.get("kind"),
        content["software"],
        record.seal,
    ]


def _amounts(event: Event, described: dict[str, str] | None) -> list[Fraction | None]:
    cost = KINDS[event.kind]
    if described is None:
        return [None] * len(cost.names())
    restored: Cost = cost.restore(described)
    return list(restored.parts)


def _cell(value: str | int | Fraction | None) -> str | int | None:
    if isinstance(value, Fraction):
        return decimal_text(value)
    risky = isinstance(value, str) and value.startswith(_FORMULAS)
    return f"'{value}" if risky else value


def _line(cells: Iterable[str | int | None]) -> str:
    text = io.StringIO()
    csv.writer(text).writerow(cells)
    return text.getvalue()
