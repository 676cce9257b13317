"""What happened to a ledger, in lines for a terminal of eighty columns."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from datetime import datetime
from textwrap import TextWrapper
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rainbowdp.ledger import Event

_NARROWEST, _WIDEST = 40, 100
_MARGIN = 6  # columns for the number of an entry
_LONGEST = 400  # characters of an answer or of words that somebody else chose
_FIXED = "\N{NO-BREAK SPACE}"  # stays in its line, and is printed as a plain space


def told(event: Event, sources: Sequence[str | None]) -> str:
    """One event: a line on when and by whom, then what it was, each on lines of its own."""
    entry = event.entry
    width = min(max(shutil.get_terminal_size().columns, _NARROWEST), _WIDEST)
    number = "·" if entry is None else str(entry.number)
    lines = _wrapped(f"{number:>{_MARGIN - 2}}  ", _heading(event, sources), width)
    lines += _wrapped(" " * _MARGIN, _shown(event.in_words()), width)
    for name, text in _facts(event):
        lines += _wrapped(f"{'':{_MARGIN}}{name:<8}", _shown(text), width)
    return "\n".join(lines)


def moment(time: str) -> str:
    """A time as people read it."""
    return datetime.fromisoformat(time).strftime("%Y-%m-%d %H:%M UTC")


def _heading(event: Event, sources: Sequence[str | None]) -> str:
    parts = [moment(event.record.time).replace(" ", _FIXED), f"by {_shown(event.who)}"]
    entry = event.entry
    if entry is not None:
        if entry.name is not None:
            parts.append(f"named {_shown(entry.name)}")
        if len(sources) > 1 and entry.source in sources:
            parts.append(f"of source{_FIXED}{sources.index(entry.source) + 1}")
    return ", ".join(parts)


def _facts(event: Event) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    left = _fixed(event.left_in_symbols)
    if event.entry is not None:
        found.append(("answer", event.answer_in_words))
        cost = event.entry.cost.in_symbols(with_delta=event.total.parts[-1] > 0)
        found.append(("cost", f"{_fixed(cost)}; left: {left}"))
    elif event.record.kind == "extension":
        found.append(("left", left))
    if event.reason is not None:
        found.append(("reason", event.reason))
    for note in event.notes:
        content = note.content
        found.append(("note", f"{content['text']} ({content['by']}, {moment(note.time)})"))
    return found


def _fixed(amounts: str) -> str:
    """Amounts of which none is broken between its symbol and its number."""
    return amounts.replace(" ", _FIXED).replace("," + _FIXED, ", ")


def _shown(text: str) -> str:
    """Text that cannot steer a terminal, of bounded length."""
    short = text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
    safe = (c if c.isprintable() or c == _FIXED else repr(c)[1:-1] for c in short)
    return "".join(safe)


def _wrapped(start: str, text: str, width: int) -> list[str]:
    """Lines of at most ``width`` characters, those after the first indented below its text."""
    wrapper = TextWrapper(
        width,
        initial_indent=start,
        subsequent_indent=" " * len(start),
        break_on_hyphens=False,
    )
    return [line.replace(_FIXED, " ") for line in wrapper.wrap(text)]
