"""Each line is read alone: by the plain reader, the compiled one and the oracle alike."""

from __future__ import annotations

import io
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from line_oracle import column, text_of
from rainbowdp.tables.arrow_stream import Texts
from rainbowdp.tables.lines import Fields, chunks, plainly, quickly
from strategies import lines

ENCODINGS = ["utf-8", "latin-1", "cp1252", "ascii", "mac-roman", "koi8-r"]
SIZES = st.integers(1, 40)


def values(texts: Texts) -> list[str | None]:
    """A column out of its buffers."""
    data = texts.data.tobytes()
    return [
        data[texts.offsets[i] : texts.offsets[i + 1]].decode()
        if texts.there[i // 8] >> (i % 8) & 1
        else None
        for i in range(len(texts))
    ]


@settings(max_examples=150)
@given(
    st.lists(lines(), min_size=1, max_size=12),
    st.sampled_from(",;\t|"),
    st.sampled_from(ENCODINGS),
    st.lists(st.integers(0, 4), min_size=1, max_size=2, unique=True),
)
@example([b'a,"b', b'red","'], ",", "utf-8", [0])
@example([b"red,\r", b"\r", b'"red"\r', b"red\r\r"], ",", "utf-8", [0])
def test_the_wanted_fields_of_any_lines(
    listed: list[bytes], delimiter: str, encoding: str, wanted: list[int]
) -> None:
    fields = Fields(tuple(wanted), delimiter.encode(), encoding)
    piece = bytearray(b"\n".join(listed) + b"\n")
    expected = [column(listed, place, ord(delimiter), encoding) for place in wanted]
    assert [values(texts) for texts in plainly(fields, piece)] == expected
    assert [values(texts) for texts in quickly(fields, piece)] == expected


@settings(max_examples=50)
@given(st.lists(lines(), min_size=1, max_size=12), st.sampled_from(ENCODINGS))
def test_whole_lines(listed: list[bytes], encoding: str) -> None:
    fields = Fields((0,), None, encoding)
    piece = bytearray(b"\n".join(listed) + b"\n")
    expected = [text_of(line.removesuffix(b"\r"), encoding) for line in listed]
    for read in (plainly, quickly):
        assert [values(texts) for texts in read(fields, piece)] == [expected]


class Dribble(io.BytesIO):
    """Gives at most two bytes at a time, as a stream may."""

    def readinto(self, buffer: Any) -> int:
        return super().readinto(memoryview(buffer)[:2])


@settings(max_examples=200)
@given(st.lists(lines(), max_size=9), st.booleans(), SIZES, st.integers(0, 80), st.data())
def test_chunks_are_whole_lines_whatever_their_size(
    listed: list[bytes], ended: bool, size: int, more: int, data: st.DataObject
) -> None:
    content = b"\n".join(listed) + (b"\n" if ended else b"")
    start = data.draw(st.integers(0, min(3, len(content))))
    longest = size + 3 + more
    stream = Dribble(content[start:]) if data.draw(st.booleans()) else io.BytesIO(content[start:])
    pieces = list(chunks(stream, content[:start], size=size, longest=longest))
    assert all(piece.endswith(b"\n") for piece in pieces)
    expected = content.split(b"\n")
    if expected[-1] == b"":
        expected.pop()
    assert b"".join(pieces).split(b"\n")[:-1] == [line[:longest] for line in expected]
    assert all(len(piece) <= longest + size + 1 for piece in pieces)


@pytest.mark.parametrize("read", [plainly, quickly])
def test_every_sequence_of_two_and_some_of_four_bytes_is_utf8_or_has_no_value(read: object) -> None:
    """Against Python's own decoder, around every border of the encoding."""
    edges = [0x00, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1]
    edges += [0xEC, 0xED, 0xEE, 0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xF8, 0xFE, 0xFF]
    tails = [b"", b"\x80", b"\xbf", b"\x80\x80", b"\xbf\x7f", b"a", b"\x80\x80\x80"]
    texts = [bytes([a, b]) + tail for a in edges for b in edges for tail in tails]
    texts += [bytes([a, b]) for a in range(128, 256) for b in range(256)]
    texts = [text for text in texts if not {10, 13, 34, 44} & set(text)]
    piece = bytearray(b"\n".join(texts) + b"\n")
    assert callable(read)
    assert values(read(Fields((0,)), piece)[0]) == [text_of(text, "utf-8") for text in texts]
