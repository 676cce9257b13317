"""Finding fields in many lines: what ``lines.plainly`` does, compiled by Numba for large files.

Each line is looked at alone, from its first byte to its last, with nothing remembered from the
line before. Indices are unsigned: a signed one makes Numba add code for counting from the end.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rainbowdp.numeric.compiling import kernel

U = np.uint64
ZERO, ONE, TWO, THREE, FOUR, SEVEN = U(0), U(1), U(2), U(3), U(4), U(7)
NEWLINE, RETURN = np.uint8(10), np.uint8(13)
HIGH = np.uint8(0x80)


@kernel
def skipped(data: Any, place: Any, end: Any, delimiter: Any, quote: Any) -> Any:
    """Where the field that begins at ``place`` ends: at a delimiter or at the end of the line."""
    if place < end and data[place] == quote:
        place += ONE
        while place < end:
            if data[place] == quote:
                place += ONE
                if place >= end or data[place] != quote:
                    break
            place += ONE
    while place < end and data[place] != delimiter:
        place += ONE
    return place


@kernel
def taken(
    data: Any, place: Any, end: Any, delimiter: Any, quote: Any, out: Any, filled: Any
) -> Any:
    """Write the field that begins at ``place`` to ``out``: where it ends, and what is filled."""
    if place < end and data[place] == quote:
        place += ONE
        while place < end:
            byte = data[place]
            place += ONE
            if byte == quote:
                if place >= end or data[place] != quote:
                    break
                place += ONE
            out[filled] = byte
            filled += ONE
    while place < end and data[place] != delimiter:
        out[filled] = data[place]
        filled += ONE
        place += ONE
    return place, filled


@kernel
def is_utf8(text: Any, place: Any, end: Any) -> bool:
    """Whether bytes are UTF-8: no overlong forms, no surrogates, nothing past U+10FFFF."""
    while place < end:
        lead = text[place]
        place += ONE
        if lead < HIGH:
            continue
        low, high = np.uint8(0x80), np.uint8(0xBF)  # what may follow the lead
        if lead < 0xC2:
            return False
        if lead < 0xE0:
            more = ONE
        elif lead < 0xF0:
            more = TWO
            if lead == 0xE0:
                low = np.uint8(0xA0)
            elif lead == 0xED:
                high = np.uint8(0x9F)
        elif lead < 0xF5:
            more = THREE
            if lead == 0xF0:
                low = np.uint8(0x90)
            elif lead == 0xF4:
                high = np.uint8(0x8F)
        else:
            return False
        if place + more > end:
            return False
        for _ in range(more):
            if text[place] < low or text[place] > high:
                return False
            low, high = np.uint8(0x80), np.uint8(0xBF)
            place += ONE
    return True


@kernel
def recode(text: Any, place: Any, end: Any, table: Any, out: Any, filled: Any) -> Any:
    """Write bytes of a single-byte encoding as UTF-8; whether all are known, and what is filled.

    A row of ``table`` is the length and the bytes of one character, length 0 where there is none.
    """
    for i in range(place, end):
        row = U(text[i]) * FOUR
        length = table[row]
        if length == 0:
            return False, filled
        for byte in range(U(length)):
            out[filled] = table[row + ONE + byte]
            filled += ONE
    return True, filled


@kernel
def find_fields(
    data: Any,
    size: Any,
    delimiter: Any,
    quote: Any,
    wanted: Any,
    table: Any,
    scratch: Any,
    offsets: Any,
    texts: Any,
    there: Any,
) -> None:
    """The ``wanted`` fields of every line, rising by place in the line.

    The last of ``size`` bytes must be a newline. A ``delimiter`` or ``quote`` of 256 is none. An
    empty ``table`` stands for UTF-8; otherwise fields pass through ``scratch``.
    """
    place, row = ZERO, ZERO
    single = len(table) > 0
    while place < size:
        end = place
        while data[end] != NEWLINE:
            end += ONE
        after = end + ONE
        if end > place and data[end - ONE] == RETURN:
            end -= ONE
        column, inside = ZERO, True
        for k in range(U(len(wanted))):
            while inside and column < wanted[k]:
                place = skipped(data, place, end, delimiter, quote)
                if place < end:
                    place += ONE
                    column += ONE
                else:
                    inside = False
            start = U(offsets[k, row])
            filled = start
            if inside:
                if single:
                    place, used = taken(data, place, end, delimiter, quote, scratch, ZERO)
                    known, filled = recode(scratch, ZERO, used, table, texts[k], start)
                else:
                    place, filled = taken(data, place, end, delimiter, quote, texts[k], start)
                    known = is_utf8(texts[k], start, filled)
                if known and filled > start:
                    there[k, row >> THREE] |= np.uint8(ONE << (row & SEVEN))
                else:
                    filled = start
                if place < end:
                    place += ONE
                    column += ONE
                else:
                    inside = False
            offsets[k, row + ONE] = filled
        row += ONE
        place = after
