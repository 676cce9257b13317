"""Forge files of tiles, so that only their content can tell."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rainbowdp.storage.documents import checksummed


def forged(folder: Path, name: str, forge: Callable[[dict[str, Any]], Any]) -> None:
    """Change a file of tiles, with checksums that fit everywhere."""
    path = folder / name
    content = json.loads(path.read_text())
    content.pop("checksum")
    forge(content)
    path.write_text(checksummed(content))
    index = json.loads((folder / "index.json").read_text())
    index.pop("checksum")
    for number, entry in enumerate(index["tiles"]):
        keys = json.loads((folder / f"{number}.json").read_text())["checksum"]
        joined = json.loads((folder / f"{number}.edges.json").read_text())
        joined.pop("checksum")
        joined["keys"] = keys
        (folder / f"{number}.edges.json").write_text(checksummed(joined))
        entry["keys"], entry["edges"] = keys, json.loads(checksummed(joined))["checksum"]
    (folder / "index.json").write_text(checksummed(index))
