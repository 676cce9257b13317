"""A reader of text files that shares no code with the package: slow, and short enough to see."""

from __future__ import annotations

import json
from collections.abc import Sequence


def fields_of(line: bytes, delimiter: int) -> list[bytes]:
    """The fields of a line, byte by byte."""
    line = line[:-1] if line[-1:] == b"\r" else line
    fields, field, state = [], bytearray(), "start"
    for byte in line:
        if state == "start" and byte == ord('"'):
            state = "inside"
        elif state == "inside":
            if byte == ord('"'):
                state = "closing"
            else:
                field.append(byte)
        elif state == "closing" and byte == ord('"'):
            field.append(byte)
            state = "inside"
        elif byte == delimiter:
            fields.append(bytes(field))
            field, state = bytearray(), "start"
        else:
            field.append(byte)
            state = "plain"
    return [*fields, bytes(field)]


def text_of(field: bytes, encoding: str) -> str | None:
    """The text of a field; none if it is empty or not in the encoding."""
    try:
        return field.decode(encoding) or None
    except UnicodeDecodeError:
        return None


def column(lines: Sequence[bytes], place: int, delimiter: int, encoding: str) -> list[str | None]:
    """One field of every line."""
    found = []
    for line in lines:
        fields = fields_of(line, delimiter)
        found.append(text_of(fields[place], encoding) if place < len(fields) else None)
    return found


def json_column(lines: Sequence[bytes], name: str) -> list[str | None]:
    """The texts under one name in every line that is a JSON object."""
    found: list[str | None] = []
    for line in lines:
        try:
            value = json.loads(line.decode(), parse_constant=_refuse).get(name)
        except (ValueError, AttributeError, RecursionError):
            value = None
        found.append(value if isinstance(value, str) else None)
    return found


def _refuse(constant: str) -> object:
    raise ValueError(constant)


def neighbors(here: dict[str, int], there: dict[str, int]) -> bool:
    """Whether at most one record left and at most one came."""
    changes = [there[name] - here[name] for name in here]
    return sum(c for c in changes if c > 0) <= 1 and sum(-c for c in changes if c < 0) <= 1
