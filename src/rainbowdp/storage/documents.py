"""JSON files with a format, a version and a checksum, written whole or not at all.

Read strictly, so that every reader of JSON sees the same in a file: no key twice, no number that a
double would round, no text that is not Unicode, and no deeper than any of ours.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from rainbowdp.errors import InvalidFile
from rainbowdp.expecting import brief
from rainbowdp.storage.integers import LARGEST_NUMBER
from rainbowdp.storage.whole_file import whole_file

MOST_BYTES = 1 << 29
_PART = 1 << 20  # bytes read at a time
_READABLE = 1 << 22  # bytes up to which a file is spread over lines
MOST_DEPTH = 24  # lists and objects inside each other


@dataclass(frozen=True)
class Sealed:
    """The text of a document, and the checksum in it, by which other files name it."""

    text: str
    checksum: str


def write_document(
    content: Mapping[str, Any], path: str | PathLike[str], *, compact: bool = False
) -> Path:
    """Write ``content`` with its checksum, whole or not at all."""
    return write_sealed(sealed(content, compact=compact), path)


def write_sealed(document: Sealed, path: str | PathLike[str]) -> Path:
    """Write a document, whole or not at all."""
    target = Path(path)
    with whole_file(target, "the mechanism file", InvalidFile) as draft:
        draft.write_text(document.text, encoding="utf-8")
    return target


def checksummed(content: Mapping[str, Any], *, compact: bool = False) -> str:
    """The text of ``sealed`` alone."""
    return sealed(content, compact=compact).text


def sealed(content: Mapping[str, Any], *, compact: bool = False) -> Sealed:
    """``content`` with its checksum as text, compact for machines, or readable.

    Nobody reads a long one, and to spread it over lines takes several times its memory.
    """
    canonical = _canonical(content)
    total = hashlib.sha256(canonical).hexdigest()
    whole = {**content, "checksum": total}
    _must_be_exact(whole)
    if compact or len(canonical) > _READABLE:
        text = json.dumps(whole, separators=(",", ":"), ensure_ascii=False)
    else:
        text = json.dumps(whole, indent=1, ensure_ascii=False)
    return Sealed(text + "\n", total)


def _must_be_exact(content: Any) -> None:
    """Refuse to write a number that not every reader of JSON has exactly."""
    if isinstance(content, dict | list):
        parts = content.values() if isinstance(content, dict) else content
        if {*map(type, parts)} == {str}:  # a row of weights, of which there may be millions
            return
        for part in parts:
            if type(part) is not str:
                _must_be_exact(part)
    elif isinstance(content, float) or (isinstance(content, int) and abs(content) > LARGEST_NUMBER):
        raise InvalidFile(
            f"a file can hold whole numbers up to 2^53 − 1, got {brief(content)}; use a smaller one"
        )


def read_text(path: str | PathLike[str]) -> str:
    """The text of a file; raises ``InvalidFile`` if it cannot be read."""
    try:
        parts, size = [], 0
        with Path(path).open("rb") as file:  # to ask for all at once would take as much memory
            while part := file.read(_PART):
                parts.append(part)
                size += len(part)
                if size > MOST_BYTES:
                    raise InvalidFile(
                        f"the mechanism file {path} is larger than {MOST_BYTES >> 20} MB"
                    )
        return b"".join(parts).decode()
    except OSError as error:
        raise InvalidFile(f"cannot read the mechanism file {path}: {error.strerror}") from error
    except ValueError as error:
        raise InvalidFile(f"the mechanism file {path} is not JSON: {error}") from error


def parse_document(
    text: str, path: str | PathLike[str], wanted: str, version: int
) -> dict[str, Any]:
    """The content of ``text``, read from ``path``, after checking format, version and checksum."""
    content = parse(text, path)
    if not isinstance(content, dict) or content.get("format") != wanted:
        raise InvalidFile(f"{path} is not a mechanism file: its format is not {brief(wanted)}")
    found = content.get("version")
    if type(found) is not int or found != version:
        raise InvalidFile(
            f"the mechanism file {path} has version {brief(found)}, but this release reads version "
            f"{version}; save the mechanism again"
        )
    claimed = content.pop("checksum", None)
    try:
        sealed = claimed == checksum(content)
    except UnicodeEncodeError:  # half a character, which JSON can spell
        sealed = False
    if not sealed:
        raise InvalidFile(
            f"the mechanism file {path} does not match its checksum, so it was changed or damaged; "
            "get the original, or save the mechanism again"
        )
    return content


def parse(text: str, path: str | PathLike[str]) -> Any:
    """What ``text``, read from ``path``, says, if all readers of JSON agree about it."""
    try:
        content = json.loads(
            text,
            object_pairs_hook=_once,
            parse_int=_exactly,
            parse_float=_no_float,
            parse_constant=_no_float,
        )
        _must_be_flat(content)
        if "\\u" in text:  # only an escape can make half of a surrogate pair
            json.dumps(content, ensure_ascii=False).encode()
    except RecursionError:
        raise InvalidFile(f"the mechanism file {path} is nested too deeply") from None
    except UnicodeEncodeError:
        raise InvalidFile(f"the mechanism file {path} has text that is not Unicode") from None
    except ValueError as error:
        raise InvalidFile(f"the mechanism file {path} is not JSON as it must be: {error}") from None
    return content


def _must_be_flat(content: Any) -> None:
    """Refuse what is nested deeper than any file of ours, before anything walks into it."""
    level = [content] if isinstance(content, dict | list) else []
    for _ in range(MOST_DEPTH):
        level = [
            part
            for whole in level
            for part in (whole.values() if isinstance(whole, dict) else whole)
            if isinstance(part, dict | list)
        ]
    if level:
        raise ValueError("it is nested too deeply")


def _exactly(digits: str) -> int:
    if len(digits) > 17 or abs(int(digits)) > LARGEST_NUMBER:
        raise ValueError("a number above 2^53 must stand as text")
    return int(digits)


def _no_float(digits: str) -> float:
    raise ValueError(f"a number must be a whole one, got {digits[:20]}")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key appears twice")
    return found


def checksum(content: Mapping[str, Any]) -> str:
    """The SHA-256 of the content in canonical form."""
    return hashlib.sha256(_canonical(content)).hexdigest()


def _canonical(content: Mapping[str, Any]) -> bytes:
    return json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
