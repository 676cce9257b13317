"""What the commands about maps share: sites as they are written, and counts in words."""

from __future__ import annotations

from typing import Any

from rainbowdp.errors import RainbowError


def sites_from(text: str, named: bool) -> dict[Any, int | str]:
    """Names and nodes from ``17,5000`` or ``Bellevue=17,Sinai=5000``; nodes may have names."""
    found: dict[Any, int | str] = {}
    for part in text.split(","):
        name, _, last = (word.strip() for word in part.rpartition("="))
        if not (last if named else last.isdigit()):
            kind = "" if named else ", a whole number"
            raise RainbowError(f"a site must be a node or NAME=NODE{kind}, got {part.strip()!r}")
        node = last if named else int(last)
        key = name or node
        if key in found:
            raise RainbowError(f"sites must be different, got {key!r} twice")
        found[key] = node
    return found


def counted(number: int, noun: str) -> str:
    """``1 node``, ``1,000 nodes``."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
