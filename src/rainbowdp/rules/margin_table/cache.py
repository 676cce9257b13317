"""Margin tables on disk: made once for each shape, then at hand at once.

A table depends on how many answers there are, the guarantee, the neighbors and how ties are seen,
never on data. It is kept in the user's cache folder, and proved again when it is taken from there.
A file that is damaged, of another version, about something else or not private is said so and made
again; a folder that cannot be written only costs the time to make a table anew.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

from rainbowdp.errors import InvalidFile, RainbowError
from rainbowdp.exact.rule import Progress
from rainbowdp.guarantees.descriptions import describe_guarantee
from rainbowdp.guarantees.dp import DP
from rainbowdp.numeric.linear_programs import terminal_progress
from rainbowdp.numeric.quantity import exact
from rainbowdp.rules.margin_table.program import make_table, shape_for
from rainbowdp.rules.margin_table.proof import prove_table
from rainbowdp.rules.margin_table.rule import MarginTable
from rainbowdp.storage.documents import read_document, write_document

FORMAT = "rainbowdp margin table"
VERSION = 4  # of the way tables are made and proved
FOLDER = "RAINBOWDP_CACHE"  # the variable that names another folder

_kept: dict[str, tuple[MarginTable, Fraction]] = {}


def fetch_table(
    answers: int, guarantee: DP, neighbors: str, ties: str, progress: Progress | None = None
) -> tuple[MarginTable, Fraction]:
    """The proved table of a shape and its mixing: from memory, from disk, or made and kept.

    While one is made a terminal is told, unless ``progress`` is given. Cost: from 0.1 s for two
    answers to about a minute for six; from disk some milliseconds.
    """
    wanted = {
        "answers": answers,
        "guarantee": describe_guarantee(guarantee),
        "neighbors": neighbors,
        "ties": ties,
    }
    key = hashlib.sha256(json.dumps(wanted, sort_keys=True).encode()).hexdigest()[:32]
    if key in _kept:
        return _kept[key]
    path = cache_folder() / f"{key}.json"
    found = _from_disk(path, wanted, guarantee) if path.exists() else None
    if found is None:
        say = progress or terminal_progress(f"making a margin table for {answers} answers")
        found = make_table(answers, guarantee, neighbors, ties, say)
        _to_disk(path, wanted, *found)
    _kept[key] = found
    return found


def cache_folder() -> Path:
    """Where tables are kept: ``$RAINBOWDP_CACHE``, else the user's cache folder."""
    if FOLDER in os.environ:
        return Path(os.environ[FOLDER])
    if os.name == "nt":
        return Path(os.environ.get("LOCALAPPDATA", Path.home())) / "rainbowdp"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "rainbowdp"


def _from_disk(
    path: Path, wanted: dict[str, Any], guarantee: DP
) -> tuple[MarginTable, Fraction] | None:
    try:
        content = read_document(path, FORMAT, VERSION)
        if content["wanted"] != wanted:
            raise InvalidFile(f"a kept table must be for {wanted}, got {content['wanted']}")
        table = MarginTable.restore(content)
        shape = shape_for(wanted["answers"], guarantee.epsilon, wanted["neighbors"], wanted["ties"])
        if table.shape != shape:
            raise InvalidFile(f"a kept table must have the knots {shape.knots}, got others")
        prove_table(guarantee, table.shape, table.total, table.rows)
        return table, exact(content["mixing"], "mixing", InvalidFile)
    except (RainbowError, ArithmeticError, LookupError, TypeError, ValueError) as error:
        _say(f"A margin table is made again, as the kept one is of no use: {error}")
        return None


def _to_disk(path: Path, wanted: dict[str, Any], table: MarginTable, mixing: Fraction) -> None:
    content = {
        "format": FORMAT,
        "version": VERSION,
        "wanted": wanted,
        "mixing": str(mixing),
        **table.describe(),
    }
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_document(content, path)
    except (OSError, InvalidFile) as error:
        _say(f"A margin table is not kept for the next time: {error}")


def _say(sentence: str) -> None:
    print(sentence, file=sys.stderr)  # noqa: T201
