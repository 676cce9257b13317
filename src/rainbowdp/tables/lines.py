r"""A text file as lines, each read alone, so that no line can change how another is read.

A line ends at ``\n`` and nowhere else; a ``\r`` before that is not part of it. Quotes are resolved
within the line: a quote that is still open at its end ends with it. A field that is empty, missing
or not valid in the file's encoding has no value. Of a line longer than ``LONGEST`` only so much is
looked at, so that memory is bounded whatever a line holds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import BinaryIO, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rainbowdp.tables.arrow_stream import Texts

CHUNK = 1 << 20  # bytes that are read at a time; larger pieces fall out of the processor's cache
LONGEST = 1 << 24
COMPILED_FROM = 1 << 24  # a file of so many bytes is worth loading Numba for
QUOTE = b'"'
UTF_8 = "utf-8"
_NONE = 256  # no byte: a delimiter or a quote that a file does not have

Batch: TypeAlias = Sequence[Texts]


@dataclass(frozen=True)
class Fields:
    """Which fields of a line are wanted, and how it is cut into them.

    Without a ``delimiter`` the whole line is one field and a quote is a byte like any other.
    """

    wanted: tuple[int, ...]
    delimiter: bytes | None = b","
    encoding: str = UTF_8


def chunks(
    stream: BinaryIO, start: bytes = b"", *, size: int = CHUNK, longest: int = LONGEST
) -> Iterator[bytearray]:
    """The lines of a stream in pieces of about ``size`` bytes that end with a line.

    ``start`` is what has been read of the first line; ``longest`` must be at least ``size``.
    """
    carried = bytearray(start)
    while True:
        piece = bytearray(len(carried) + size)
        piece[: len(carried)] = carried
        filled, ended = _fill(stream, piece, len(carried))
        del piece[filled:]
        if ended and piece and not piece.endswith(b"\n"):
            piece += b"\n"
        if len(piece) > longest:  # only the first line can be that long, the rest is just read
            first = piece.find(b"\n")
            del piece[longest : len(piece) if first < 0 else max(first, longest)]
        whole = piece.rfind(b"\n") + 1
        carried = piece[whole:]
        if whole:
            del piece[whole:]
            yield piece
        if ended:
            return


def _fill(stream: BinaryIO, piece: bytearray, filled: int) -> tuple[int, bool]:
    """Read until the piece is full or the stream ends: how full it is, and which of both."""
    with memoryview(piece) as view:
        while filled < len(piece):
            read = stream.readinto(view[filled:])  # type: ignore[attr-defined]
            if not read:
                return filled, True
            filled += read
    return filled, False


def plainly(fields: Fields, piece: bytearray) -> list[Texts]:
    """The wanted fields of every line of a piece."""
    columns: list[list[bytes | None]] = [[] for _ in fields.wanted]
    most = max(fields.wanted) + 1
    for ended in bytes(piece).split(b"\n")[:-1]:
        line = ended.removesuffix(b"\r")
        found = [line] if fields.delimiter is None else split(line, fields.delimiter, most)
        for column, place in zip(columns, fields.wanted, strict=True):
            column.append(_in_utf8(found[place], fields.encoding) if place < len(found) else None)
    return [Texts.of(column) for column in columns]


def split(line: bytes, delimiter: bytes, most: int) -> list[bytes]:
    """The first fields of a line, at least as many as ``most`` if it has them.

    >>> split(b'1,"a, b",5" pipe,"open, to the end', b",", 9)
    [b'1', b'a, b', b'5" pipe', b'open, to the end']
    """
    if QUOTE not in line:
        return line.split(delimiter, most)
    fields: list[bytes] = []
    place = 0
    while len(fields) < most:
        text = bytearray()  # to join millions of pieces takes a hundred times their memory
        if line.startswith(QUOTE, place):
            place += 1
            while True:
                close = line.find(QUOTE, place)
                text += line[place:] if close < 0 else line[place:close]
                place = len(line) if close < 0 else close + 1
                if close < 0 or not line.startswith(QUOTE, place):
                    break
                text += QUOTE
                place += 1
        stop = line.find(delimiter, place)
        fields.append(bytes(text) + (line[place:] if stop < 0 else line[place:stop]))
        if stop < 0:
            break
        place = stop + 1
    return fields


def _in_utf8(field: bytes, encoding: str) -> bytes | None:
    try:
        text = field.decode(encoding)
    except UnicodeDecodeError:
        return None
    return text.encode() or None


def quickly(fields: Fields, piece: bytearray) -> list[Texts]:
    """The same as ``plainly``, compiled."""
    from rainbowdp.tables.kernels import find_fields

    data = np.frombuffer(piece, dtype=np.uint8)
    rows = int(np.count_nonzero(data == ord("\n")))
    columns, table = len(fields.wanted), _table(fields.encoding)
    order = np.argsort(fields.wanted)
    offsets = np.zeros((columns, rows + 1), dtype=np.int32)
    texts = np.empty((columns, len(data) * (3 if len(table) else 1)), dtype=np.uint8)
    there = np.zeros((columns, rows // 8 + 1), dtype=np.uint8)
    find_fields(
        data,
        np.uint64(len(data)),
        np.uint16(_NONE if fields.delimiter is None else ord(fields.delimiter)),
        np.uint16(_NONE if fields.delimiter is None else ord(QUOTE)),
        np.array(fields.wanted, dtype=np.uint64)[order],
        table,
        np.empty(len(data) if len(table) else 0, dtype=np.uint8),
        offsets,
        texts,
        there,
    )
    return [Texts(offsets[k], texts[k], there[k]) for k in np.argsort(order)]


@cache
def _table(encoding: str) -> NDArray[np.uint8]:
    """For each byte of an encoding the length and the bytes of its character in UTF-8."""
    if encoding == UTF_8:
        return np.empty(0, dtype=np.uint8)
    table = np.zeros((256, 4), dtype=np.uint8)
    for byte in range(256):
        character = _in_utf8(bytes([byte]), encoding)
        if character is not None:
            table[byte, 0] = len(character)
            table[byte, 1 : 1 + len(character)] = list(character)
    return table.ravel()
