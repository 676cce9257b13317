"""Rows that somebody wrote down: a mapping, a frame, a CSV or a JSON file.

A file or frame has a line for each dataset and answer:

==================  =========================================================
over a question     a column for each group of the question, with its count
on a graph          a column ``dataset``
always              the columns ``answer`` and ``probability``
==================  =========================================================

A JSON file may also be a list of ``{"dataset": …, "probabilities": {…}}``, or an object that has it
as ``rows``, the described question as ``question`` and neighboring datasets as ``pairs``. What is
written as a decimal or as a fraction such as ``1/3`` is taken exactly as it is written.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

from rainbowdp.aliases import Answer, Dataset
from rainbowdp.errors import InvalidFile, InvalidMechanism, RainbowError
from rainbowdp.expecting import brief
from rainbowdp.graphs.graph import RainbowGraph
from rainbowdp.questions import Count, Question, from_description

World: TypeAlias = Question | Count | RainbowGraph | None
_MOST_BYTES = 200_000_000


@dataclass(frozen=True)
class Written:
    """The datasets and the row of each, and what a file says besides."""

    datasets: tuple[Dataset, ...]
    rows: tuple[Mapping[Answer, Any], ...]
    world: World = None
    pairs: tuple[tuple[Dataset, Dataset], ...] | None = None


def from_mapping(rows: Mapping[Any, Any], world: World) -> Written:
    """The rows of a mapping from datasets to distributions.

    Over a question a dataset is a tuple of counts in the order of its groups, or one count.
    """
    if not rows:
        raise InvalidMechanism("a table of rows must have at least two of them, got none")
    found = [(_dataset(key, world), _row(row, world, key)) for key, row in rows.items()]
    return Written(tuple(d for d, _ in found), tuple(row for _, row in found))


def from_frame(frame: Any, world: World) -> Written:
    """The rows of a pandas, Polars or PyArrow frame, one line for each dataset and answer."""
    import narwhals as nw

    held = nw.from_native(frame, eager_only=True)
    return _from_lines(held.iter_rows(named=True), list(held.columns), world, "the frame")


def from_file(path: str | PathLike[str], text: str | None, world: World) -> Written:
    """The rows of a file; ``text`` is its content, if it has been read already."""
    where = Path(path)
    if text is None:
        text = read(where)
    if where.suffix.lower() == ".csv":
        try:
            lines = csv.DictReader(text.splitlines(), strict=True)
            columns = list(lines.fieldnames or ())
            return _from_lines(lines, columns, world, str(path))
        except csv.Error as error:
            raise InvalidFile(f"{path} is not a CSV file: {error}") from error
    try:
        content = json.loads(text, parse_float=Decimal)
    except (ValueError, RecursionError) as error:
        raise InvalidFile(f"{path} is not JSON: {error}") from error
    return _from_json(content, world, path)


def read(path: Path) -> str:
    """The text of a file of rows."""
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise InvalidFile(f"{path} must have at most {_MOST_BYTES:,} bytes to be audited")
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise InvalidFile(f"cannot read {path}: {error.strerror}") from error
    except ValueError as error:
        raise InvalidFile(f"{path} is not text in UTF-8") from error


def _from_lines(
    lines: Iterable[Mapping[str, Any]], columns: Sequence[str], world: World, where: str
) -> Written:
    names = ["dataset"]
    if world is not None and not isinstance(world, RainbowGraph):
        names = [name for name, _ in world.groups]
    wanted = [*names, "answer", "probability"]
    if len(set(wanted)) < len(wanted):
        raise InvalidMechanism(
            "a group of the question is called 'answer' or 'probability', so its columns cannot be "
            "told apart; give the rows as a mapping"
        )
    missing = [name for name in wanted if name not in columns]
    if missing:
        raise InvalidFile(
            f"{where} must have the columns {', '.join(wanted)}, got none called "
            f"{brief(missing[0])}"
        )
    found: dict[Any, dict[Answer, Any]] = {}
    for number, line in enumerate(lines, 1):
        if any(line[name] is None for name in wanted):
            raise InvalidFile(f"{where}, record {number}: a value is missing")
        key = line["dataset"] if names == ["dataset"] else tuple(line[name] for name in names)
        row = found.setdefault(key, {})
        if line["answer"] in row:
            raise InvalidFile(
                f"{where}, record {number}: the dataset has the answer {brief(line['answer'])} "
                "twice"
            )
        row[line["answer"]] = line["probability"]
    try:
        return from_mapping(found, world)
    except InvalidMechanism as error:
        raise InvalidFile(f"{where}: {error}") from None


def _from_json(content: Any, world: World, path: Any) -> Written:
    said = content if isinstance(content, dict) else {"rows": content}
    rows = said.get("rows")
    unknown = set(said) - {"rows", "question", "pairs"}
    if not isinstance(rows, list) or unknown:
        raise InvalidFile(
            f"{path} must be a mechanism file, or hold rows: a list of objects with a dataset and "
            "its probabilities"
        )
    try:
        if said.get("question") is not None:
            asked = from_description(said["question"])
            if not isinstance(asked, Question | Count):
                raise InvalidFile(f"{path} has a question whose answers are not finitely many")
            world = asked
        found: dict[Any, Any] = {}
        for row in rows:
            key = _key(row["dataset"], world)
            if key in found:
                raise InvalidFile(f"{path} has two rows for {brief(row['dataset'])}")
            found[key] = row["probabilities"]
        written = from_mapping(found, world)
        pairs = said.get("pairs")
        if pairs is not None:
            pairs = tuple(
                (_dataset(_key(one, world), world), _dataset(_key(other, world), world))
                for one, other in pairs
            )
    except InvalidFile:
        raise
    except RainbowError as error:
        raise InvalidFile(f"{path}: {error}") from None
    except (TypeError, ValueError, LookupError, AttributeError) as error:
        raise InvalidFile(f"{path} must hold rows, got something else: {brief(error)}") from error
    return Written(written.datasets, written.rows, world, pairs)


def _key(dataset: Any, world: World) -> Any:
    """What is hashable of a dataset in JSON: counts by their names become a tuple."""
    if isinstance(dataset, dict):
        if world is None or isinstance(world, RainbowGraph):
            return tuple(sorted(dataset.items()))
        names = [name for name, _ in world.groups]
        if other := set(dataset) - set(names):
            raise InvalidFile(f"a dataset has a count of {brief(min(other))}, which is no group")
        return tuple(dataset.get(name, 0) for name in names)
    return tuple(dataset) if isinstance(dataset, list) else dataset


def _dataset(key: Any, world: World) -> Dataset:
    if isinstance(world, RainbowGraph):
        if key not in world and isinstance(key, str) and key.lstrip("-").isdigit():
            return int(key)
        return key
    if world is None:
        return key
    names = [name for name, _ in world.groups]
    counts = key if isinstance(key, tuple) else (key,)
    if len(counts) != len(names):
        raise InvalidMechanism(
            f"a dataset must have a count for each of {', '.join(names)}, got {brief(key)}"
        )
    return {name: _count(n, key) for name, n in zip(names, counts, strict=True)}


def _count(value: Any, key: Any) -> int:
    try:
        whole = int(value)
        if whole == (Decimal(value) if isinstance(value, str) else value) and whole >= 0:
            return whole
    except (TypeError, ValueError, ArithmeticError):
        pass
    raise InvalidMechanism(
        f"a count must be a whole number from 0, got {brief(value)} in {brief(key)}"
    )


def _row(row: Any, world: World, key: Any) -> Mapping[Answer, Any]:
    if isinstance(row, Mapping):
        return row
    answers = getattr(world, "answers", None)
    if answers is None or isinstance(row, str) or not hasattr(row, "__len__"):
        raise InvalidMechanism(
            f"a row must be {{answer: probability}}, got {brief(row)} at {brief(key)}"
        )
    if len(row) != len(answers):
        raise InvalidMechanism(
            f"a row must have a probability for each of the {len(answers)} answers, got {len(row)} "
            f"at {brief(key)}"
        )
    return dict(zip(answers, row, strict=True))
