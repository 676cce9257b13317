"""Margin tables on disk: shipped, or made once for each shape, then at hand at once.

A table depends on how many answers there are, the guarantee, the neighbors and how ties are seen,
never on data. Some come with the package. The others are kept in the user's cache folder. A table
is proved again wherever it is taken from.
A file that is damaged, of another version, about something else or not private is said so and made
again; a folder that cannot be written only costs the time to make a table anew.

Whoever makes a table holds a lock beside its place, and others who need the same one wait for it.
The lock is the operating system's and ends with the process that holds it, however that ends; where
there are no locks everyone makes the table.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from fractions import Fraction
from pathlib import Path
from typing import Any

from rainbowdp.display.progress import announced, timed
from rainbowdp.errors import InvalidFile, RainbowError
from rainbowdp.exact.rule import Progress
from rainbowdp.guarantees.descriptions import describe_guarantee
from rainbowdp.guarantees.dp import DP
from rainbowdp.numeric.quantity import exact
from rainbowdp.rules.margin_table.program import make_table, shape_for
from rainbowdp.rules.margin_table.proof import prove_table
from rainbowdp.rules.margin_table.rule import MarginTable
from rainbowdp.rules.margin_table.shipped import EPSILONS, shipped
from rainbowdp.storage.documents import parse_document, read_text, write_document

FORMAT = "rainbowdp margin table"
VERSION = 4  # of the way tables are made and proved
FOLDER = "RAINBOWDP_CACHE"  # the variable that names another folder

MAKING = "Making a margin table for {} answers"
WAITING = "Waiting for another process that is making the margin table for this ε."

_OF_NO_USE = "A margin table is made again, as the kept one is of no use: {}"

_kept: dict[str, tuple[MarginTable, Fraction]] = {}


def fetch_table(
    answers: int,
    guarantee: DP,
    neighbors: str,
    ties: str,
    progress: Progress | None = None,
    *,
    take_shipped: bool = True,
) -> tuple[MarginTable, Fraction]:
    """The proved table of a shape and its mixing: from memory, as shipped, from disk, or made.

    While one is made a terminal shows what is being done and for how long, unless ``progress`` is
    given. Cost: from 0.1 s for two answers to some ten seconds for six, and more with δ; from disk
    some milliseconds.
    """
    wanted = _wanted(answers, guarantee, neighbors, ties)
    path = kept_at(answers, guarantee, neighbors, ties)
    key = path.stem
    if key in _kept:
        return _kept[key]
    found = _from_package(path.name, wanted, guarantee) if take_shipped else None
    if found is None:
        found = _from_disk(path, wanted, guarantee)
    if found is None:
        with _alone(path.with_suffix(".lock")):  # meanwhile somebody else may have made it
            found = _from_disk(path, wanted, guarantee, say=_say)
            if found is None:
                near = _nearest(answers, guarantee, neighbors, ties)
                with timed(MAKING.format(answers)) as stage:
                    said = progress or (lambda line: stage(line.split(",")[0]))
                    found = make_table(answers, guarantee, neighbors, ties, said, near)
                _to_disk(path, wanted, *found)
    _kept[key] = found
    return found


def kept_at(answers: int, guarantee: DP, neighbors: str, ties: str) -> Path:
    """Where the table of a shape is kept."""
    wanted = json.dumps(_wanted(answers, guarantee, neighbors, ties), sort_keys=True)
    return cache_folder() / f"{hashlib.sha256(wanted.encode()).hexdigest()[:32]}.json"


def _wanted(answers: int, guarantee: DP, neighbors: str, ties: str) -> dict[str, Any]:
    return {
        "answers": answers,
        "guarantee": describe_guarantee(guarantee),
        "neighbors": str(neighbors),
        "ties": str(ties),
    }


def cache_folder() -> Path:
    """Where tables are kept: ``$RAINBOWDP_CACHE``, else the user's cache folder."""
    if FOLDER in os.environ:
        return Path(os.environ[FOLDER])
    if os.name == "nt":
        return Path(os.environ.get("LOCALAPPDATA", Path.home())) / "rainbowdp"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "rainbowdp"


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Hold the lock at ``path`` inside, once whoever has it now is done; where it can be held."""
    try:
        import fcntl

        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        file = path.open("ab")
    except (ImportError, OSError):
        yield
        return
    with file:
        with suppress(OSError):  # a file system without locks
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                with announced(WAITING):
                    fcntl.flock(file, fcntl.LOCK_EX)
        try:
            yield
        finally:
            # Whoever waits has this file open and finds the table; who comes later makes a new one.
            with suppress(OSError):
                path.unlink()


def _from_package(
    name: str, wanted: dict[str, Any], guarantee: DP
) -> tuple[MarginTable, Fraction] | None:
    """The table that comes with the package, proved again; none if there is none of use."""
    text = shipped(name)
    return None if text is None else _proved(text, Path(name), wanted, guarantee, _say)


def _nearest(
    answers: int, guarantee: DP, neighbors: str, ties: str
) -> tuple[MarginTable, float] | None:
    """The table with the same knots that comes with the package for the nearest ε, and its e^ε.

    It is not proved, as it only tells where to begin.
    """
    shape = shape_for(answers, guarantee.epsilon, neighbors, ties)
    for other in sorted(
        map(DP, EPSILONS), key=lambda one: abs(math.log(one.ratio / guarantee.ratio))
    ):
        beside = shape_for(answers, other.epsilon, neighbors, ties)
        name = kept_at(answers, other, neighbors, ties).name
        text = shipped(name)
        if text is not None and (beside.knots, beside.labeled) == (shape.knots, shape.labeled):
            content = parse_document(text, Path(name), FORMAT, VERSION)
            return MarginTable.restore(content), other.ratio
    return None


def _from_disk(
    path: Path, wanted: dict[str, Any], guarantee: DP, say: Progress | None = None
) -> tuple[MarginTable, Fraction] | None:
    """The table at ``path``, proved again; none if there is none of use."""
    if not path.exists():
        return None
    try:
        text = read_text(path)
    except InvalidFile as error:
        if say is not None:
            say(_OF_NO_USE.format(error))
        return None
    return _proved(text, path, wanted, guarantee, say)


def _proved(
    text: str, path: Path, wanted: dict[str, Any], guarantee: DP, say: Progress | None
) -> tuple[MarginTable, Fraction] | None:
    """The table that a text holds, if it is for what is wanted and its proof holds."""
    try:
        content = parse_document(text, path, FORMAT, VERSION)
        if content["wanted"] != wanted:
            raise InvalidFile(f"a kept table must be for {wanted}, got {content['wanted']}")
        table = MarginTable.restore(content)
        shape = shape_for(wanted["answers"], guarantee.epsilon, wanted["neighbors"], wanted["ties"])
        if table.shape != shape:
            raise InvalidFile(f"a kept table must have the knots {shape.knots}, got others")
        prove_table(guarantee, table.shape, table.total, table.rows)
        return table, exact(content["mixing"], "mixing", InvalidFile)
    except (RainbowError, ArithmeticError, LookupError, TypeError, ValueError) as error:
        if say is not None:
            say(_OF_NO_USE.format(error))
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
    print(sentence, file=sys.stderr)  # noqa: T201  for who waits at a terminal
