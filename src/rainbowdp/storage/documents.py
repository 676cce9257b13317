"""JSON files with a format, a version and a checksum, written whole or not at all."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

from rainbowdp.errors import InvalidFile
from rainbowdp.storage.whole_file import whole_file


def write_document(content: Mapping[str, Any], path: str | PathLike[str]) -> Path:
    """Write ``content`` with its checksum, whole or not at all."""
    target = Path(path)
    with whole_file(target, "the mechanism file", InvalidFile) as draft:
        draft.write_text(checksummed(content), encoding="utf-8")
    return target


def checksummed(content: Mapping[str, Any]) -> str:
    """The text of a document: ``content`` and its checksum."""
    whole = {**content, "checksum": checksum(content)}
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


def read_text(path: str | PathLike[str]) -> str:
    """The text of a file; raises ``InvalidFile`` if it cannot be read."""
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise InvalidFile(f"cannot read the mechanism file {path}: {error.strerror}") from error
    except ValueError as error:
        raise InvalidFile(f"the mechanism file {path} is not JSON: {error}") from error


def parse_document(
    text: str, path: str | PathLike[str], wanted: str, version: int
) -> dict[str, Any]:
    """The content of ``text``, read from ``path``, after checking format, version and checksum."""
    try:
        content = json.loads(text, object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:
        raise InvalidFile(f"the mechanism file {path} is not JSON: {error}") from error
    if not isinstance(content, dict) or content.get("format") != wanted:
        raise InvalidFile(f"{path} is not a mechanism file: its format is not {wanted!r}")
    found = content.get("version")
    if type(found) is not int or found != version:
        raise InvalidFile(
            f"the mechanism file {path} has version {found!r}, but this release reads version "
            f"{version}; save the mechanism again"
        )
    claimed = content.pop("checksum", None)
    if claimed != checksum(content):
        raise InvalidFile(
            f"the mechanism file {path} does not match its checksum, so it was changed or damaged; "
            "get the original, or save the mechanism again"
        )
    return content


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key appears twice")
    return found


def checksum(content: Mapping[str, Any]) -> str:
    """The SHA-256 of the content in canonical form."""
    canonical = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(canonical.encode()).hexdigest()
